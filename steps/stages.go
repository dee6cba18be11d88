package steps

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"glassbox/steps/anchor"
	"glassbox/trace/file"
)

//go:embed stages
var stagePages embed.FS

// Stage is one of the four parts of a request's life, compared over the engines: features, each with the places in the
// source that prove it, and the way through the code. How many steps an engine has there comes from its catalogue, how long
// they took from a recording (TimeOf); neither is written down.
type Stage struct {
	File   string // "stages/1-receive.md"
	Number int    // from 1

	ID    string // receive, schedule, compute, deliver
	Title string
	Short string // one line

	Body string // plain text
	HTML string // the body as safe HTML

	Features []Feature
	Columns  []Column // in the order of StageEngines
}

// Feature is one thing that engines do differently, or not at all.
type Feature struct {
	ID    string // "http"
	Title string // "HTTP stack"
	What  string // one sentence: what is compared
	Cells []Cell // in the order of StageEngines
}

// Cell is what one engine does.
type Cell struct {
	Engine string
	Has    string // yes, partly, no
	Text   string // plain text
	HTML   string // the text as safe HTML
	Proof  []Anchor
}

// Anchor is a place in an engine's source. Line is 0 where the engine's files were not given, for this engine alone.
type Anchor struct {
	file.Source
	Step string // the step of the catalogue that is there, "" where the place is no step's
}

// Column is one engine in one stage.
type Column struct {
	Engine  string // "vllm"; names the catalogue
	Title   string // "vLLM"
	Version string // that the lines are of; "" for this engine
	Steps   []*Step
	Path    []Anchor // the main way through the code
}

// StageEngines are the engines that stages compare, by the names of their catalogues and with their titles.
func StageEngines() [][2]string { return slices.Clone(stageEngines) }

var stageEngines = [][2]string{{"glassbox", "Glassbox"}, {"llamacpp", "llama.cpp"}, {"vllm", "vLLM"}, {"sglang", "SGLang"}}

// Column returns the column of an engine, nil if there is none.
func (s *Stage) Column(engine string) *Column {
	for i := range s.Columns {
		if s.Columns[i].Engine == engine {
			return &s.Columns[i]
		}
	}
	return nil
}

// Cell returns the cell of an engine, nil if there is none.
func (f *Feature) Cell(engine string) *Cell {
	for i := range f.Cells {
		if f.Cells[i].Engine == engine {
			return &f.Cells[i]
		}
	}
	return nil
}

// Stages returns the four stages. files is engine.Sources, as for Glassbox; with nil, places in this engine have no lines.
func Stages(files fs.FS) []*Stage {
	all, err := LoadStages(stagePages, files)
	if err != nil {
		panic(fmt.Sprintf("steps: the stages in this binary are broken: %v", err)) // the package's tests refuse such a build
	}
	return all
}

// LoadStages reads the folder stages of fsys: one file N-ID.md a stage. Errors name file, line, what was wanted and what
// was found.
func LoadStages(fsys, files fs.FS) ([]*Stage, error) {
	l, err := newStageLoader(files)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(fsys, "stages")
	if err != nil {
		return nil, err
	}
	var all []*Stage
	for i, e := range entries {
		s := &Stage{File: path.Join("stages", e.Name()), Number: i + 1}
		if i >= len(stages) || e.Name() != fmt.Sprintf("%d-%s.md", i+1, stages[i]) {
			return nil, fmt.Errorf("%s: wanted the files 1-receive.md, 2-schedule.md, 3-compute.md and 4-deliver.md", s.File)
		}
		s.ID = stages[i]
		if err := l.read(fsys, s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) != len(stages) {
		return nil, fmt.Errorf("stages: wanted a file for each of %s, found %d", strings.Join(stages, ", "), len(all))
	}
	return all, nil
}

// stageLoader knows the catalogues and, of this engine, the lines.
type stageLoader struct {
	catalogues map[string]*Catalogue
	engines    map[string]Engine
	own        *anchor.Tree // nil = no files
}

func newStageLoader(files fs.FS) (*stageLoader, error) {
	l := &stageLoader{catalogues: map[string]*Catalogue{"glassbox": Glassbox(files)}, engines: map[string]Engine{"glassbox": {Repo: module, Commit: commit()}}}
	if files != nil {
		l.own = anchor.NewTree(below{"engine", files})
	}
	for _, e := range Engines() {
		c, err := e.Catalogue()
		if err != nil {
			return nil, err
		}
		l.catalogues[e.Name], l.engines[e.Name] = c, e
	}
	return l, nil
}

// columns are those of a stage, without their paths.
func (l *stageLoader) columns(stage string) []Column {
	var out []Column
	for _, e := range stageEngines {
		c := Column{Engine: e[0], Title: e[1], Version: l.engines[e[0]].Version}
		if cat := l.catalogues[e[0]]; cat != nil {
			for _, s := range cat.Walk("") {
				if s.Stage == stage {
					c.Steps = append(c.Steps, s)
				}
			}
		}
		out = append(out, c)
	}
	return out
}
