package steps

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// Values are what the placeholders in a page stand for: the shape of the model and how it runs. Zero is "not known".
type Values struct {
	Layers, Heads, KVHeads, Width, HeadDim, FFN, Vocab int
	Threads, PageTokens                                int
	Backend                                            string // "cpu"
	Architecture                                       string // "llama"
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// lookUp returns a placeholder's value, or the letter that stands for it where it is not known.
func (v Values) lookUp(name string) (string, bool) {
	n, letter := 0, ""
	switch name {
	case "{layers}":
		n, letter = v.Layers, "L"
	case "{heads}":
		n, letter = v.Heads, "H"
	case "{kv_heads}":
		n, letter = v.KVHeads, "K"
	case "{width}":
		n, letter = v.Width, "D"
	case "{head_dim}":
		n, letter = v.HeadDim, "d"
	case "{ffn}":
		n, letter = v.FFN, "F"
	case "{vocab}":
		n, letter = v.Vocab, "V"
	case "{threads}":
		n, letter = v.Threads, "T"
	case "{page_tokens}":
		n, letter = v.PageTokens, "P"
	default:
		return "", false
	}
	if n == 0 {
		return letter, true
	}
	return thousands(n), true
}

// Fill puts the values into words of a page.
func (v Values) Fill(s string) string {
	if !strings.Contains(s, "{") {
		return s
	}
	return placeholder.ReplaceAllStringFunc(s, func(name string) string {
		if value, ok := v.lookUp(name); ok {
			return value
		}
		return name
	})
}

// symbol puts the names of backend and architecture into a symbol; where they are not known, those of the plain backend and
// of the built-in model.
func (v Values) symbol(s string) string {
	return strings.NewReplacer("{backend}", cmp.Or(v.Backend, "ref"), "{arch}", cmp.Or(v.Architecture, builtin)).Replace(s)
}

// unknownPlaceholder returns the first placeholder of s that Fill does not know, "" if there is none.
func unknownPlaceholder(s string) string {
	for _, name := range placeholder.FindAllString(s, -1) {
		if _, ok := (Values{}).lookUp(name); !ok {
			return name
		}
	}
	return ""
}

// thousands writes 49152 as 49,152.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Text is all that a page says, as one text: what happens and why, what it hands on, what people get wrong.
func (c *Catalogue) Text(s *Step, v Values) string {
	var b strings.Builder
	b.WriteString(v.Fill(s.Body))
	b.WriteString("\nHands on: " + v.Fill(s.HandsOn) + ".")
	b.WriteString("\nOften wrong: " + lowerFirst(v.Fill(s.Wrong)))
	return b.String()
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
