package steps

import (
	"cmp"
	"fmt"
	"slices"

	"glassbox/trace/file"
)

// CheckSpans compares what ran with what the pages say: each span is of a step that has a page, and each line and
// function that a span came from (the recording's raw sources, so not one read back from a finished file) lies inside a
// function that its page names. Nil means that the catalogue tells the truth about this recording.
func (c *Catalogue) CheckSpans(rec *file.Recording) []error {
	var bad []error
	missing := map[string]bool{}
	for i := range rec.Spans {
		step := rec.Spans[i].Step
		if missing[step] {
			continue
		}
		switch s := c.byID[step]; {
		case s == nil:
			missing[step] = true
			bad = append(bad, fmt.Errorf("spans[%d] (%s): step %q has no page in catalog/%s", i, rec.Spans[i].ID, step, c.Engine))
		case !s.In(rec.Model.Architecture) && !s.Sharded():
			missing[step] = true
			bad = append(bad, fmt.Errorf("spans[%d] (%s): %s says that %s has no such op, only %v", i, rec.Spans[i].ID, s.File, cmp.Or(rec.Model.Architecture, builtin), s.Models))
		case rec.Spans[i].Lane != s.Lane:
			missing[step] = true
			bad = append(bad, fmt.Errorf("spans[%d] (%s): ran in lane %s; %s says %s", i, rec.Spans[i].ID, rec.Spans[i].Lane, s.File, s.Lane))
		case len(rec.RawSources[step]) == 0:
			missing[step] = true
			bad = append(bad, fmt.Errorf("spans[%d] (%s): the recording does not say which line began it", i, rec.Spans[i].ID))
		}
	}
	v := ValuesOf(rec)
	for _, s := range c.Steps {
		for _, ref := range rec.RawSources[s.ID] {
			if err := c.checkRef(s, v, ref); err != nil {
				bad = append(bad, err)
			}
		}
	}
	return bad
}

// checkRef checks one place that a span of the step came from.
func (c *Catalogue) checkRef(s *Step, v Values, ref file.SourceRef) error {
	var wanted []string
	for _, symbol := range append([]string{s.Symbol}, s.Also...) {
		wanted = append(wanted, v.symbol(symbol))
	}
	dir, name, ours := cutSymbol(ref.Func)
	symbol := module + "/" + dir + "." + name
	if !ours || !slices.Contains(wanted, symbol) {
		return fmt.Errorf("%s: a span came from %s (%s:%d); the page names %v", s.File, ref.Func, ref.File, ref.Line, wanted)
	}
	if c.sources == nil {
		return nil
	}
	if around := c.sources.Enclosing(ref.Func, ref.File, ref.Line); around != symbol {
		return fmt.Errorf("%s: a span came from %s, line %d of %s, but that line is in %q: the sources are not those of this binary",
			s.File, ref.Func, ref.Line, ref.File, around)
	}
	return nil
}
