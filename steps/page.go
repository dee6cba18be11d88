package steps

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Step is a page of the catalogue. Words may hold placeholders such as {width}; Fill puts values in.
type Step struct {
	File   string // "catalog/glassbox/01-first_byte.md"
	Number int    // from 1, in the order of the walk

	ID        string // short and stable; spans name it
	Title     string
	Stage     string   // receive, schedule, compute, deliver
	Lane      string   // the thread or process it runs in
	Op        string   // the op of the forward pass that this step is, or
	Span      string   // the kind of span that it is
	Models    []string // the architectures that have the op; none = all
	Symbol    string   // the function that does it, as Go's runtime writes it; {arch} and {backend} stand for their names
	Path      string   // of another engine: the file that the symbol is in
	Line      int      // where the symbol begins there, in the version that the engine's table names
	Match     []string // of another engine: the functions whose spans are this step; none = the symbol
	Also      []string // more functions that take part; for an op the backend's
	Form      string   // what the request is here: one of Forms
	Label     string   // for the map, at most 12 characters
	Short     string   // one line
	HandsOn   string   // what the next step gets
	Takes     string   // what it gets itself, where that is not what the step before hands on
	Wrong     string   // what people get wrong: "That …", and then what is the case
	Link      string   // where to go deeper
	Role      string   // on the map: residual, add, op or plain
	Group     string   // steps of one group work on the same input
	Hand      string   // the hand-over to the next lane, "queue, channel": its name, and by what
	Loop      string   // "tokens, plan_pass": over what the walk goes round, and the step it goes back to
	Unreached string   // why a request may pass this step by

	Body string // plain text
	HTML string // the body as safe HTML

	lines map[string]int // of the keys in the file
}

// Forms are what a request can be at a step.
var Forms = []string{"bytes", "json", "text", "ids", "pages", "vector", "scores", "logits", "piece"}

var (
	stages = []string{"receive", "schedule", "compute", "deliver"}
	roles  = []string{"", "residual", "add", "op", "plain"}
)

// maxLabel is how many characters of a label the map has room for.
const maxLabel = 12

// text keys of the front matter and where they go; those with must have to be there.
var keys = map[string]struct {
	must  bool
	field func(*Step) *string
}{
	"id":        {true, func(s *Step) *string { return &s.ID }},
	"title":     {true, func(s *Step) *string { return &s.Title }},
	"stage":     {true, func(s *Step) *string { return &s.Stage }},
	"lane":      {true, func(s *Step) *string { return &s.Lane }},
	"symbol":    {true, func(s *Step) *string { return &s.Symbol }},
	"form":      {true, func(s *Step) *string { return &s.Form }},
	"label":     {true, func(s *Step) *string { return &s.Label }},
	"short":     {true, func(s *Step) *string { return &s.Short }},
	"hands_on":  {true, func(s *Step) *string { return &s.HandsOn }},
	"wrong":     {true, func(s *Step) *string { return &s.Wrong }},
	"op":        {false, func(s *Step) *string { return &s.Op }},
	"span":      {false, func(s *Step) *string { return &s.Span }},
	"takes":     {false, func(s *Step) *string { return &s.Takes }},
	"link":      {false, func(s *Step) *string { return &s.Link }},
	"role":      {false, func(s *Step) *string { return &s.Role }},
	"group":     {false, func(s *Step) *string { return &s.Group }},
	"hand":      {false, func(s *Step) *string { return &s.Hand }},
	"loop":      {false, func(s *Step) *string { return &s.Loop }},
	"unreached": {false, func(s *Step) *string { return &s.Unreached }},
	"path":      {false, func(s *Step) *string { return &s.Path }},
}

// readPage reads one file: front matter between two lines of "---", then Markdown. Errors name file and line.
func readPage(fsys fs.FS, file string) (*Step, error) {
	s := &Step{File: file, lines: map[string]int{}}
	body, line, err := frontMatter(fsys, file, s.readKey)
	if err != nil {
		return nil, err
	}
	if s.HTML, s.Body, err = markdown(body); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, line, err)
	}
	return s, s.check(line - 1)
}

// frontMatter reads a file that begins with lines "key: value" between two lines of "---", calls key for each of them with
// its number, and returns the text below with the number of its first line.
func frontMatter(fsys fs.FS, file string, key func(line string, n int) error) (body string, at int, err error) {
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return "", 0, fmt.Errorf("%s: %w", file, err)
	}
	lines := strings.Split(string(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))), "\n")
	if lines[0] != "---" {
		return "", 0, fmt.Errorf("%s:1: wanted \"---\" and front matter, found %q", file, lines[0])
	}
	for i, line := range lines[1:] {
		if line == "---" {
			return strings.Join(lines[i+2:], "\n"), i + 3, nil
		}
		if err := key(line, i+2); err != nil {
			return "", 0, err
		}
	}
	return "", 0, fmt.Errorf("%s:%d: wanted \"---\" at the end of the front matter, found the end of the file", file, len(lines))
}

// readKey reads a line "key: value" of the front matter.
func (s *Step) readKey(line string, n int) error {
	key, value, ok := strings.Cut(line, ": ")
	value = strings.TrimSpace(value)
	if !ok || value == "" {
		return fmt.Errorf("%s:%d: wanted \"key: value\", found %q", s.File, n, line)
	}
	if _, twice := s.lines[key]; twice {
		return fmt.Errorf("%s:%d: key %s: is here twice; the first is on line %d", s.File, n, key, s.lines[key])
	}
	s.lines[key] = n
	if list := s.list(key); list != nil {
		*list = strings.Fields(strings.ReplaceAll(value, ",", " "))
		return nil
	}
	if key == "line" {
		var err error
		if s.Line, err = strconv.Atoi(value); err != nil || s.Line < 1 {
			return fmt.Errorf("%s:%d: line: wanted a number from 1, found %q", s.File, n, value)
		}
		return nil
	}
	k, known := keys[key]
	if !known {
		return fmt.Errorf("%s:%d: key %s: there is no such key; wanted one of %s", s.File, n, key, keyList())
	}
	*k.field(s) = value
	return nil
}

// list returns where the values of a key that has several go, nil for other keys.
func (s *Step) list(key string) *[]string {
	switch key {
	case "also":
		return &s.Also
	case "models":
		return &s.Models
	case "match":
		return &s.Match
	}
	return nil
}

// In tells whether the step is one of an architecture's walk. Where the architecture is not known, it is the built-in
// model's.
func (s *Step) In(architecture string) bool {
	return len(s.Models) == 0 || contains(s.Models, cmp.Or(architecture, builtin))
}

// sharded is the word of the key models for ops that a graph has only where it is cut for several devices, of any
// architecture: a recording's walk has them where they ran.
const sharded = "sharded"

// Sharded tells whether the step is such an op.
func (s *Step) Sharded() bool { return contains(s.Models, sharded) }

// builtin is the built-in model's architecture.
const builtin = "llama"

// check looks at the values; end is the line where the front matter ends.
func (s *Step) check(end int) error {
	for _, key := range sortedKeys() {
		if k := keys[key]; k.must && *k.field(s) == "" {
			return fmt.Errorf("%s:%d: key %s: is missing", s.File, end, key)
		}
	}
	switch {
	case s.Path != "" && (s.Op != "" || s.Span != ""):
		return fmt.Errorf("%s:%d: wanted no key op or span beside path: another engine's spans are found by match", s.File, end)
	case s.Path == "" && (s.Op == "") == (s.Span == ""):
		return fmt.Errorf("%s:%d: wanted one of the keys op and span", s.File, end)
	case len(s.Models) > 0 && s.Op == "":
		return s.fail("models", "none, on a page that is not of an op", strings.Join(s.Models, ", "))
	case !contains(stages, s.Stage):
		return s.fail("stage", "one of "+strings.Join(stages, ", "), s.Stage)
	case !contains(Forms, s.Form):
		return s.fail("form", "one of "+strings.Join(Forms, ", "), s.Form)
	case !contains(roles, s.Role):
		return s.fail("role", "one of residual, add, op, plain", s.Role)
	case s.Loop != "" && !strings.HasPrefix(s.Loop, "layers, ") && !strings.HasPrefix(s.Loop, "tokens, "):
		return s.fail("loop", "layers or tokens, and the id of a step", s.Loop)
	case len([]rune(s.Label)) > maxLabel:
		return s.fail("label", fmt.Sprintf("at most %d characters", maxLabel), s.Label)
	case s.Link != "" && !strings.HasPrefix(s.Link, "https://"):
		return s.fail("link", "an address that begins with https://", s.Link)
	case s.Body == "":
		return fmt.Errorf("%s:%d: the text is missing", s.File, end+1)
	}
	for key, n := range s.lines {
		if key == "symbol" || key == "line" || s.list(key) != nil {
			continue // these know {arch} and {backend} only; resolving them tells
		}
		if name := unknownPlaceholder(*keys[key].field(s)); name != "" {
			return fmt.Errorf("%s:%d: key %s: there is no placeholder %s", s.File, n, key, name)
		}
	}
	if name := unknownPlaceholder(s.Body); name != "" {
		return fmt.Errorf("%s:%d: there is no placeholder %s", s.File, end+1, name)
	}
	return nil
}

func (s *Step) fail(key, wanted, found string) error {
	return fmt.Errorf("%s:%d: %s: wanted %s, found %q", s.File, s.lines[key], key, wanted, found)
}
