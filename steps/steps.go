// Package steps is the catalogue: for each stop of a request's walk through an engine one page that says in words what
// happens there, and the source that does it. Catalogues lie in catalog/ENGINE, one Markdown file a step, numbered in
// the order of the walk; Apply lays a catalogue over a recording.
//
// Read page.go for what a page holds, load.go for how a folder is read, apply.go for how it meets a recording, and
// source.go and parse.go for how a symbol becomes lines of code.
//
// It does not know about HTTP, pages of HTML or how an engine works: engines are recordings and file trees to it.
package steps

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"glassbox/trace"
)

//go:embed catalog
var catalog embed.FS

// Catalogue is the walk of one engine.
type Catalogue struct {
	Engine string
	Steps  []*Step // in the order of the walk

	byID    map[string]*Step
	sources *Sources
	foreign *Engine // nil: this engine
}

// Glassbox returns the catalogue of this engine. files is engine.Sources, the engine's files by their paths below
// engine/; with nil the steps have symbols but no code.
func Glassbox(files fs.FS) *Catalogue {
	c, err := Load(catalog, "glassbox")
	if err == nil {
		err = c.checkEngine()
	}
	if err != nil {
		panic(fmt.Sprintf("steps: the catalogue in this binary is broken: %v", err)) // the package's tests refuse such a build
	}
	if files != nil {
		c.sources = NewSources(below{"engine", files})
	}
	return c
}

// Step returns the step of an id, nil if there is none.
func (c *Catalogue) Step(id string) *Step { return c.byID[id] }

// Walk returns the steps of an architecture's walk: all pages but those of ops that it does not have.
func (c *Catalogue) Walk(architecture string) []*Step {
	return slices.DeleteFunc(slices.Clone(c.Steps), func(s *Step) bool { return !s.In(architecture) })
}

// checkEngine compares the catalogue with the engine's own table of steps: ids, order, stage and lane.
func (c *Catalogue) checkEngine() error {
	want := trace.Steps()
	for i, s := range c.Steps {
		if i >= len(want) || want[i].String() != s.ID {
			wanted := "no more pages"
			if i < len(want) {
				wanted = want[i].String()
			}
			return fmt.Errorf("%s: id: wanted %s at place %d of the walk, found %s", s.File, wanted, i+1, s.ID)
		}
		info := want[i].Info()
		if s.Stage != info.Stage.String() {
			return fmt.Errorf("%s:%d: stage: wanted %s, found %s", s.File, s.lines["stage"], info.Stage, s.Stage)
		}
		if s.Lane != info.Lane.String() {
			return fmt.Errorf("%s:%d: lane: wanted %s, found %s", s.File, s.lines["lane"], info.Lane, s.Lane)
		}
	}
	if len(c.Steps) < len(want) {
		return fmt.Errorf("catalog/%s: wanted %d pages, found %d: the next is %s", c.Engine, len(want), len(c.Steps), want[len(c.Steps)])
	}
	return nil
}
