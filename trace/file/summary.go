package file

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// Summary is what a list shows of a recording.
type Summary struct {
	ID      string  `json:"id"`
	Started string  `json:"started"`
	Prompt  string  `json:"prompt"` // the start of what was asked
	Engine  string  `json:"engine"`
	Model   string  `json:"model"`
	Device  string  `json:"device"`
	Numbers Numbers `json:"numbers"`
	Bytes   int64   `json:"bytes"` // of the file, or an estimate in memory
	Running bool    `json:"running,omitempty"`
	Partial bool    `json:"partial,omitempty"`

	// Ablate names the parts of the model that were off, as in request.params.ablate.
	Ablate []string `json:"ablate,omitempty"`
}

// promptStart is how many bytes of a prompt a summary shows.
const promptStart = 160

// Summarize returns what a list shows of a recording.
func Summarize(rec *Recording) Summary {
	return Summary{
		ID: rec.ID, Started: rec.Started, Prompt: PromptStart(&rec.Request), Engine: rec.Engine.Name, Model: rec.Model.Name,
		Device: rec.Device.Name, Numbers: rec.Numbers, Bytes: memory(rec), Partial: rec.Partial, Ablate: ablated(rec.Request.Params),
	}
}

// ablated reads the list of switched-off parts: of the engine's type while in memory, of JSON's when it was read.
func ablated(p Attrs) []string {
	switch v := p["ablate"].(type) {
	case []string:
		return v
	case []any:
		var out []string
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// PromptStart returns the start of what was asked: of the prompt, or of the text of the last message.
func PromptStart(r *Request) string {
	text := r.Prompt
	var messages []struct {
		Content any `json:"content"`
	}
	if text == "" && json.Unmarshal(r.Messages, &messages) == nil && len(messages) > 0 {
		text = contentText(messages[len(messages)-1].Content)
	}
	if text == "" {
		text = r.Rendered
	}
	if len(text) <= promptStart {
		return text
	}
	cut := promptStart
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// contentText returns the text of a message's content: a string, or a list of parts.
func contentText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, part := range v {
			if m, ok := part.(map[string]any); ok {
				if t, ok := m["text"].(string); ok {
					return t
				}
			}
		}
	}
	return ""
}

// memory estimates what a recording takes in memory in bytes.
func memory(rec *Recording) int64 {
	const perSpan, perToken = 420, 160 // struct, id, attributes
	n := int64(len(rec.Spans))*perSpan + int64(len(rec.Request.PromptTokens)+len(rec.Request.OutputTokens))*perToken
	n += int64(len(rec.Request.Rendered) + len(rec.Request.Text) + len(rec.Request.Messages) + len(rec.Request.Prompt))
	for _, a := range rec.Arrays {
		n += int64(len(a.Raw))
	}
	for i := range rec.Walk {
		n += int64(len(rec.Walk[i].Spans))*8 + int64(len(rec.Walk[i].Text)) + 512
	}
	return n + 4096
}

// ReadSummary reads what a list shows of a file, without its spans: files of this package have them last.
func ReadSummary(path string) (Summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return Summary{}, fmt.Errorf("recording: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Summary{}, fmt.Errorf("recording: %w", err)
	}
	var start [2]byte
	f.ReadAt(start[:], 0)
	var r io.Reader = f
	if string(start[:]) == "PK" {
		z, err := zip.NewReader(f, info.Size())
		if err != nil {
			return Summary{}, fmt.Errorf("recording %s: %w", path, err)
		}
		m, err := z.Open(traceName)
		if err != nil {
			return Summary{}, fmt.Errorf("recording %s: %w", path, err)
		}
		defer m.Close()
		r = m
	}
	rec, err := readUntilSpans(io.LimitReader(r, DefaultLimits.JSON))
	if err != nil {
		return Summary{}, fmt.Errorf("recording %s: %w", path, err)
	}
	s := Summarize(rec)
	s.Bytes = info.Size()
	return s, nil
}

// readUntilSpans reads the top-level fields of the text form up to the first long list.
func readUntilSpans(r io.Reader) (*Recording, error) {
	rec := &Recording{}
	var schema *Schema
	into := map[string]any{
		"schema": &schema, "id": &rec.ID, "engine": &rec.Engine, "model": &rec.Model, "device": &rec.Device, "started": &rec.Started,
		"request": &rec.Request, "numbers": &rec.Numbers, "partial": &rec.Partial,
	}
	d := json.NewDecoder(r)
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		if (key == "spans" || key == "walk" || key == "passes") && schema != nil && rec.Started != "" {
			break
		}
		var skip json.RawMessage
		dst, known := into[key]
		if !known {
			dst = &skip
		}
		if err := d.Decode(dst); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return rec, checkSchema(schema)
}
