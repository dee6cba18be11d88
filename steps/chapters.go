package steps

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed chapters
var chapters embed.FS

// Chapter is one part of the walk through the stack: words, a figure driven by a recording, and something to try.
type Chapter struct {
	File   string
	Number int // from 1

	ID      string
	Title   string
	Short   string // one line
	Figure  string // one of Figures
	From    string // the first of the steps it tells of
	To      string // the last
	Step    string // the one its links lead to; From where it names none
	Try     string // one of Tries
	HandsOn string // what the next chapter gets
	Wrong   string // what people get wrong: "That …"

	Body string // plain text
	HTML string // the body as safe HTML
}

// Figures are the kinds of figure that a chapter can have: steps with their times, the prompt's tokens, the passes of the
// loop, one op through all levels, the pages of the cache, work and sums of several devices, the candidates of a draw, the
// turns of an answer, the three numbers.
var Figures = []string{"path", "tokens", "passes", "stack", "pages", "shards", "sample", "loop", "numbers"}

// Tries are the kinds of thing to try.
var Tries = []string{"refuse", "tokenize", "chunk", "threads", "kv", "shards", "temperature", "draft", "stop", "batch"}

// Chapters returns the walk through the stack, in order.
func Chapters() []*Chapter {
	all, err := LoadChapters(chapters, Glassbox(nil))
	if err != nil {
		panic(fmt.Sprintf("steps: the chapters in this binary are broken: %v", err)) // the package's tests refuse such a build
	}
	return all
}

// LoadChapters reads the folder chapters of fsys: one file NN-ID.md a chapter, numbered from 01 without gaps, whose steps
// are in the catalogue. Errors name file, line, what was wanted and what was found.
func LoadChapters(fsys fs.FS, c *Catalogue) ([]*Chapter, error) {
	entries, err := fs.ReadDir(fsys, "chapters")
	if err != nil {
		return nil, err
	}
	var all []*Chapter
	for i, e := range entries {
		ch := &Chapter{File: path.Join("chapters", e.Name()), Number: i + 1}
		if err := ch.read(fsys); err != nil {
			return nil, err
		}
		if want := fmt.Sprintf("%02d-%s.md", ch.Number, ch.ID); e.Name() != want {
			return nil, fmt.Errorf("%s: wanted the name %s: chapters are numbered in their order and named by their id", ch.File, want)
		}
		if err := ch.check(c); err != nil {
			return nil, err
		}
		all = append(all, ch)
	}
	return all, nil
}

func (ch *Chapter) fields() map[string]*string {
	return map[string]*string{"id": &ch.ID, "title": &ch.Title, "short": &ch.Short, "figure": &ch.Figure, "from": &ch.From, "to": &ch.To,
		"step": &ch.Step, "try": &ch.Try, "hands_on": &ch.HandsOn, "wrong": &ch.Wrong}
}

func (ch *Chapter) read(fsys fs.FS) error {
	fields := ch.fields()
	body, line, err := frontMatter(fsys, ch.File, func(line string, n int) error {
		key, value, _ := strings.Cut(line, ": ")
		field := fields[key]
		if field == nil || *field != "" || strings.TrimSpace(value) == "" {
			return fmt.Errorf("%s:%d: wanted \"key: value\" with a key that is not there yet, one of %s; found %q", ch.File, n, chapterKeys(), line)
		}
		*field = strings.TrimSpace(value)
		return nil
	})
	if err != nil {
		return err
	}
	if ch.HTML, ch.Body, err = markdown(body); err != nil {
		return fmt.Errorf("%s:%d: %w", ch.File, line, err)
	}
	return nil
}

func chapterKeys() string {
	var names []string
	for k := range (&Chapter{}).fields() {
		names = append(names, k)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// check holds a chapter against the rules for its text and against the catalogue.
func (ch *Chapter) check(c *Catalogue) error {
	if ch.Step == "" {
		ch.Step = ch.From
	}
	for key, v := range ch.fields() {
		if *v == "" {
			return fmt.Errorf("%s: key %s: wanted a value, found none", ch.File, key)
		}
	}
	for _, key := range []string{"from", "to", "step"} {
		if id := *ch.fields()[key]; c.Step(id) == nil {
			return fmt.Errorf("%s: key %s: wanted the id of a step, found %q", ch.File, key, id)
		}
	}
	if !slices.Contains(Figures, ch.Figure) {
		return fmt.Errorf("%s: key figure: wanted one of %s, found %q", ch.File, strings.Join(Figures, ", "), ch.Figure)
	}
	if !slices.Contains(Tries, ch.Try) {
		return fmt.Errorf("%s: key try: wanted one of %s, found %q", ch.File, strings.Join(Tries, ", "), ch.Try)
	}
	if !strings.HasPrefix(ch.Wrong, "That ") {
		return fmt.Errorf("%s: key wrong: wanted \"That …\", found %q", ch.File, ch.Wrong)
	}
	if n := len(strings.Fields(ch.Body)); n < 120 || n > 250 {
		return fmt.Errorf("%s: wanted 120 to 250 words, found %d", ch.File, n)
	}
	return nil
}
