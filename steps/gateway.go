package steps

import (
	"fmt"
	"io/fs"

	"glassbox/trace/file"
)

// Gateway returns the walk of a request as a gateway sees it: from outside the engine. files are the sources of
// cmd/internal/gateway; with nil the steps have symbols but no code.
func Gateway(files fs.FS) *Catalogue {
	c, err := Load(catalog, "gateway")
	if err != nil {
		panic(fmt.Sprintf("steps: the catalogue in this binary is broken: %v", err)) // the package's tests refuse such a build
	}
	if files != nil {
		c.sources = NewSources(below{"cmd/internal/gateway", files})
	}
	return c
}

// unseen is why a stop inside an engine has no time in a gateway's recording.
const unseen = "\nNot reached: It is inside the engine, and this request was recorded from outside. glassbox attach records an engine's functions."

// ApplyOutside lays this catalogue over a recording that was made from outside an engine, and beside it that of the engine,
// if there is one: in each stage what was seen comes first, then the stops inside, which say that they were not seen.
func (c *Catalogue) ApplyOutside(rec *file.Recording, inside *Catalogue) {
	c.Apply(rec)
	if inside == nil {
		return
	}
	seen, v := rec.Walk, ValuesOf(rec)
	within := inside.Describe(v)
	walk := make([]file.Step, 0, len(seen)+len(within))
	for _, stage := range stages {
		for _, s := range seen {
			if s.Stage == stage {
				walk = append(walk, s)
			}
		}
		for _, s := range within {
			if s.Stage == stage {
				s.Text += unseen
				s.Spans = []int{}
				walk = append(walk, s)
			}
		}
	}
	rec.Walk = walk
}
