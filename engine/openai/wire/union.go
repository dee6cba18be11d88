package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// FieldError is a field of the wrong type. Wanted and Found are words for a person.
type FieldError struct{ Param, Wanted, Found string }

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: wanted %s, found %s", e.Param, e.Wanted, e.Found)
}

var intType = reflect.TypeFor[int]()

// Int is an integer; a number such as 10.0, as some clients write it, is one too.
type Int int64

// UnmarshalJSON reads an integer. encoding/json adds the field's name to the error.
func (n *Int) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	v, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(string(b), 64)
		if ferr != nil || f != float64(int64(f)) || f >= 1<<53 || f <= -(1<<53) {
			return &json.UnmarshalTypeError{Value: Describe(b), Type: intType}
		}
		v = int64(f)
	}
	*n = Int(v)
	return nil
}

// Messages are the messages of a chat; a wrong one is named by its index.
type Messages []Message

// UnmarshalJSON reads a list of messages.
func (m *Messages) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		*m = nil
		return nil
	}
	var raw []json.RawMessage
	if json.Unmarshal(b, &raw) != nil {
		return &FieldError{"messages", "a list of messages", Describe(b)}
	}
	*m = make(Messages, len(raw))
	for i, r := range raw {
		if err := (*m)[i].read(r); err != nil {
			err.Param = fmt.Sprintf("messages[%d]%s", i, err.Param)
			return err
		}
	}
	return nil
}

// read decodes one message; the error's Param is relative to it.
func (m *Message) read(b []byte) *FieldError {
	var raw map[string]json.RawMessage
	if json.Unmarshal(b, &raw) != nil || raw == nil {
		return &FieldError{"", "an object with role and content", Describe(b)}
	}
	for key, to := range map[string]*string{"role": &m.Role, "name": &m.Name, "tool_call_id": &m.ToolCallID} {
		if v, ok := raw[key]; ok && !isNull(v) && json.Unmarshal(v, to) != nil {
			return &FieldError{"." + key, "a string", Describe(v)}
		}
	}
	if v, ok := raw["tool_calls"]; ok && !isNull(v) {
		m.ToolCalls = v
	}
	if v, ok := raw["content"]; ok {
		if err := m.Content.read(v); err != nil {
			err.Param = ".content" + err.Param
			return err
		}
	}
	return nil
}

// Content is a message's content: a string, a list of parts, or neither (null or not sent).
type Content struct {
	Text  *string
	Parts []Part
}

// UnmarshalJSON reads a string, a list of parts or null.
func (c *Content) UnmarshalJSON(b []byte) error {
	if err := c.read(b); err != nil {
		err.Param = "content" + err.Param
		return err
	}
	return nil
}

func (c *Content) read(b []byte) *FieldError {
	switch kind(b) {
	case 'n':
		return nil
	case '"':
		c.Text = new(string)
		if json.Unmarshal(b, c.Text) == nil {
			return nil
		}
	case '[':
		var raw []json.RawMessage
		if json.Unmarshal(b, &raw) != nil {
			break
		}
		c.Parts = make([]Part, len(raw))
		for i, r := range raw {
			if kind(r) != '{' || json.Unmarshal(r, &c.Parts[i]) != nil {
				return &FieldError{fmt.Sprintf("[%d]", i), `a part such as {"type":"text","text":"..."}`, Describe(r)}
			}
		}
		return nil
	}
	return &FieldError{"", "a string or a list of parts", Describe(b)}
}

// MarshalJSON writes what UnmarshalJSON reads.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.Parts != nil {
		return json.Marshal(c.Parts)
	}
	return json.Marshal(c.Text)
}

// Prompt is the prompt of a completion: a string, a list of strings, a list of ids, or a list of lists of ids. One of
// Texts and IDs is set, with one entry a prompt.
type Prompt struct {
	Texts []string
	IDs   [][]int
}

// Len returns the number of prompts.
func (p *Prompt) Len() int { return len(p.Texts) + len(p.IDs) }

// UnmarshalJSON reads one of the four forms; a list that mixes them is refused.
func (p *Prompt) UnmarshalJSON(b []byte) error {
	*p = Prompt{}
	var one string
	var flat []Int
	var lists [][]Int
	switch {
	case isNull(b):
		return nil
	case kind(b) == '"' && json.Unmarshal(b, &one) == nil:
		p.Texts = []string{one}
	case firstOf(b) == ']':
		p.Texts = []string{}
	case firstOf(b) == '"' && json.Unmarshal(b, &p.Texts) == nil && !hasNull(b):
	case firstOf(b) == '[' && json.Unmarshal(b, &lists) == nil && !hasNull(b):
		for _, l := range lists {
			p.IDs = append(p.IDs, ints(l))
		}
	case firstOf(b) != '"' && json.Unmarshal(b, &flat) == nil && !hasNull(b):
		p.IDs = [][]int{ints(flat)}
	default:
		return &FieldError{"prompt", "a string, a list of strings, a list of token ids or a list of lists of token ids", Describe(b)}
	}
	return nil
}

// MarshalJSON writes the shortest of the four forms.
func (p Prompt) MarshalJSON() ([]byte, error) {
	switch {
	case len(p.Texts) == 1:
		return json.Marshal(p.Texts[0])
	case len(p.IDs) == 1 && len(p.IDs[0]) > 0: // [] would be no prompt
		return json.Marshal(p.IDs[0])
	case p.IDs != nil:
		return json.Marshal(p.IDs)
	}
	return json.Marshal(p.Texts)
}

func ints(l []Int) []int {
	out := make([]int, len(l))
	for i, v := range l {
		out[i] = int(v)
	}
	return out
}

// hasNull tells whether a list, or a list in it, holds null: Go would read it as a zero value.
func hasNull(b []byte) bool {
	var raw []json.RawMessage
	if json.Unmarshal(b, &raw) != nil {
		return false
	}
	for _, r := range raw {
		if isNull(r) || kind(r) == '[' && hasNull(r) {
			return true
		}
	}
	return false
}

// Stop are texts that end an answer: sent as a string, a list of strings or null.
type Stop []string

// UnmarshalJSON reads a string, a list of strings or null.
func (s *Stop) UnmarshalJSON(b []byte) error {
	*s = nil
	var one string
	switch {
	case isNull(b):
		return nil
	case kind(b) == '"' && json.Unmarshal(b, &one) == nil:
		*s = Stop{one}
		return nil
	case kind(b) == '[' && json.Unmarshal(b, (*[]string)(s)) == nil && !hasNull(b):
		return nil
	}
	return &FieldError{"stop", "a string or a list of strings", Describe(b)}
}

// MarshalJSON writes null where there are no counts.
func (u OptionalUsage) MarshalJSON() ([]byte, error) { return json.Marshal(u.Usage) }

// UnmarshalJSON reads counts or null.
func (u *OptionalUsage) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &u.Usage) }

func isNull(b []byte) bool { return string(bytes.TrimSpace(b)) == "null" }

// kind returns a JSON value's first character, 0 for none.
func kind(b []byte) byte {
	if b = bytes.TrimSpace(b); len(b) > 0 {
		return b[0]
	}
	return 0
}

// firstOf returns the first character in a list, or 0 if b is no list.
func firstOf(b []byte) byte {
	if kind(b) != '[' {
		return 0
	}
	return kind(bytes.TrimSpace(b)[1:])
}

// Describe says in a few words what a JSON value is, for error messages.
func Describe(b []byte) string {
	text := string(bytes.TrimSpace(b))
	if len(text) > 40 {
		text = strings.ToValidUTF8(text[:40], "") + "..."
	}
	switch kind(b) {
	case '"':
		return "the string " + text
	case '[':
		return "the list " + text
	case '{':
		return "an object"
	case 't', 'f':
		return "the boolean " + text
	case 'n':
		return "null"
	case 0:
		return "nothing"
	}
	return "the number " + text
}
