package steps

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"glassbox/steps/anchor"
	"glassbox/trace/file"
)

// A stage's file is front matter (title, short), a text, and then parts:
//
//	## http: HTTP stack
//	What is compared, in one sentence.
//	- vllm yes: What it does. [vllm/x.py:33 Class.method] [#step]
//
//	## path
//	- vllm: [#gate] [vllm/y.py:7 function]
//
// A bracket is a place: a path, a line and a symbol, without the line in this engine, or a step of the engine's catalogue.

var (
	placeText = regexp.MustCompile(`\s*\[(?:#([a-z0-9_]+)|([^\]\s:#]+)(?::(\d+))? ([^\]]+))\]`)
	cellText  = regexp.MustCompile(`^- ([a-z]+)(?: (yes|partly|no))?: (.*)$`)
	partText  = regexp.MustCompile(`^## ([a-z_]+)(?:: (.+))?$`)
)

// stagePart is a "## " part of a stage's file, its lines with their numbers.
type stagePart struct {
	id, title string
	n         int
	what      string
	cells     []stageLine
}

type stageLine struct {
	text string
	n    int
}

func (l *stageLoader) read(fsys fs.FS, s *Stage) error {
	key := func(line string, n int) error {
		k, v, ok := strings.Cut(line, ": ")
		switch {
		case ok && k == "title":
			s.Title = v
		case ok && k == "short":
			s.Short = v
		default:
			return fmt.Errorf("%s:%d: wanted \"title: …\" or \"short: …\", found %q", s.File, n, line)
		}
		return nil
	}
	body, at, err := frontMatter(fsys, s.File, key)
	if err != nil {
		return err
	}
	if s.Title == "" || s.Short == "" {
		return fmt.Errorf("%s:%d: wanted the keys title and short", s.File, at-1)
	}
	text, parts, err := stageParts(s.File, body, at)
	if err != nil {
		return err
	}
	if s.HTML, s.Body, err = markdown(text); err != nil {
		return fmt.Errorf("%s:%d: %w", s.File, at, err)
	}
	s.Columns = l.columns(s.ID)
	seen := map[string]bool{}
	for _, p := range parts {
		if seen[p.id] {
			return fmt.Errorf("%s:%d: %s is here twice", s.File, p.n, p.id)
		}
		seen[p.id] = true
		if err := l.part(s, p); err != nil {
			return err
		}
	}
	if !seen["path"] {
		return fmt.Errorf("%s: wanted a part \"## path\"", s.File)
	}
	return nil
}

// stageParts splits the text below the front matter; at is the number of its first line.
func stageParts(name, body string, at int) (text string, parts []stagePart, err error) {
	var lead []string
	for i, line := range strings.Split(body, "\n") {
		n := at + i
		switch m := partText.FindStringSubmatch(line); {
		case m != nil:
			parts = append(parts, stagePart{id: m[1], title: m[2], n: n})
		case strings.HasPrefix(line, "#"):
			return "", nil, fmt.Errorf("%s:%d: wanted \"## id: Title\", found %q", name, n, line)
		case len(parts) == 0:
			lead = append(lead, line)
		case strings.TrimSpace(line) == "":
		default:
			p := &parts[len(parts)-1]
			switch {
			case strings.HasPrefix(line, "- "):
				p.cells = append(p.cells, stageLine{line, n})
			case strings.HasPrefix(line, "  ") && len(p.cells) > 0:
				p.cells[len(p.cells)-1].text += " " + strings.TrimSpace(line)
			case len(p.cells) == 0:
				p.what = strings.TrimSpace(p.what + " " + line)
			default:
				return "", nil, fmt.Errorf("%s:%d: wanted \"- engine yes: …\", or two spaces before a line that goes on, found %q", name, n, line)
			}
		}
	}
	return strings.Join(lead, "\n"), parts, nil
}

// part reads one feature, or the paths.
func (l *stageLoader) part(s *Stage, p stagePart) error {
	f := Feature{ID: p.id, Title: p.title, What: p.what}
	if p.id != "path" && (p.title == "" || p.what == "") {
		return fmt.Errorf("%s:%d: %s: wanted a title, and a sentence below it", s.File, p.n, p.id)
	}
	for i, c := range p.cells {
		fail := func(wanted, found string) error {
			return fmt.Errorf("%s:%d: %s: wanted %s, found %q", s.File, c.n, p.id, wanted, found)
		}
		m := cellText.FindStringSubmatch(c.text)
		if m == nil || (m[2] == "") != (p.id == "path") {
			return fail("\"- engine yes: …\" (yes, partly or no; in the path none of them)", c.text)
		}
		if i >= len(stageEngines) || m[1] != stageEngines[i][0] {
			return fail(fmt.Sprint("the engines in the order of ", stageEngines), m[1])
		}
		places, err := l.places(m[1], s.ID, m[3])
		if err != nil {
			return fail(err.Error(), m[3])
		}
		if p.id == "path" {
			s.Columns[i].Path = places
			continue
		}
		cell := Cell{Engine: m[1], Has: m[2], Proof: places}
		if cell.HTML, cell.Text, err = markdown(placeText.ReplaceAllString(m[3], "")); err != nil {
			return fmt.Errorf("%s:%d: %w", s.File, c.n, err)
		}
		if cell.Text == "" || len(places) == 0 {
			return fail("words, and a place in the source that proves them: [path:line symbol] or [#step]", m[3])
		}
		f.Cells = append(f.Cells, cell)
	}
	if len(p.cells) != len(stageEngines) {
		return fmt.Errorf("%s:%d: %s: wanted a line for each of %v, found %d", s.File, p.n, p.id, stageEngines, len(p.cells))
	}
	if p.id != "path" {
		s.Features = append(s.Features, f)
	}
	return nil
}

// places are those in brackets. The error says what was wanted.
func (l *stageLoader) places(engine, stage, text string) (out []Anchor, err error) {
	e := l.engines[engine]
	for _, m := range placeText.FindAllStringSubmatch(text, -1) {
		a := Anchor{Source: file.Source{Repo: e.Repo, Commit: e.Commit, Path: m[2], Symbol: m[4]}}
		switch {
		case m[1] != "":
			if a, err = l.step(engine, m[1]); err != nil {
				return nil, err
			}
		case engine == "glassbox":
			if m[3] != "" {
				return nil, fmt.Errorf("no line in this engine: it is looked up")
			}
			a.Line = l.line(m[2], m[4])
		default:
			if a.Line, _ = strconv.Atoi(m[3]); a.Line < 1 {
				return nil, fmt.Errorf("a line from 1 behind the path")
			}
		}
		out = append(out, a)
	}
	return out, nil
}

// step is the place of a step of an engine's catalogue.
func (l *stageLoader) step(engine, id string) (Anchor, error) {
	cat := l.catalogues[engine]
	if cat == nil || cat.Step(id) == nil {
		return Anchor{}, fmt.Errorf("the id of a step of %s; there is no %s", engine, id)
	}
	s := cat.Step(id)
	if engine != "glassbox" {
		e := l.engines[engine]
		return Anchor{file.Source{Repo: e.Repo, Commit: e.Commit, Path: s.Path, Symbol: s.Symbol, Line: s.Line}, id}, nil
	}
	v := Values{Architecture: builtin, Backend: "cpu"}
	src, _ := cat.sources.Find(v.symbol(s.Symbol), "", 0)
	src.Code = nil
	return Anchor{src, id}, nil
}

// line looks a symbol of this engine up, 0 where it is not found.
func (l *stageLoader) line(path, symbol string) int {
	if l.own == nil {
		return 0
	}
	for _, d := range l.own.Defs(path) {
		if d.Symbol == symbol {
			return d.Line
		}
	}
	return 0
}

// StagePins are the places that the stages name in an engine, without those that are steps of its catalogue, whose own pins
// they are. Places in this engine have no line.
func StagePins(all []*Stage, engine string) []Pin {
	var out []Pin
	add := func(s *Stage, list []Anchor) {
		for _, a := range list {
			p := Pin{File: s.File, Place: anchor.Place{Path: a.Path, Symbol: a.Symbol, Line: a.Line}}
			if a.Step == "" && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	for _, s := range all {
		for i := range s.Features {
			if c := s.Features[i].Cell(engine); c != nil {
				add(s, c.Proof)
			}
		}
		if c := s.Column(engine); c != nil {
			add(s, c.Path)
		}
	}
	return out
}
