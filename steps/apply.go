package steps

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"glassbox/trace/file"
)

// pageTokens is how many positions a page of the KV cache holds in this engine; a recording does not say.
const pageTokens = 16

// ValuesOf reads what a recording's header says of the model and of what ran it.
func ValuesOf(rec *file.Recording) Values {
	v := Values{
		Layers: rec.Model.Layers, Heads: rec.Model.Heads, KVHeads: rec.Model.KVHeads, Width: rec.Model.Width,
		HeadDim: rec.Model.HeadDim, FFN: rec.Model.FFN, Vocab: rec.Model.Vocab, Threads: rec.Device.Threads, Backend: backendOf(rec), Architecture: rec.Model.Architecture,
	}
	if v.HeadDim == 0 && v.Heads > 0 {
		v.HeadDim = v.Width / v.Heads
	}
	if rec.Engine.Name == "glassbox" {
		v.PageTokens = pageTokens
	}
	return v
}

// backendOf returns the name of the backend that ran, from the functions that did, else from the device.
func backendOf(rec *file.Recording) string {
	for _, refs := range rec.RawSources {
		for _, r := range refs {
			if b := backendIn(r.File); b != "" {
				return b
			}
		}
	}
	if rec.Device.Kind == "emulated" {
		return "cuda"
	}
	return rec.Device.Kind
}

// backendIn returns the backend whose package a path or symbol is in, "" for none.
func backendIn(s string) string {
	_, rest, ok := strings.Cut(s, "engine/backend/")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/."); i > 0 && !strings.HasSuffix(rest[:i], "backend") {
		return rest[:i]
	}
	return ""
}

// Apply lays the catalogue over the recording: it sets the walk, one step for each page, and the loops. Pages of ops that
// the model's architecture does not have are left out. A step that the recording has no span of has count 0 and says why in
// its text.
func (c *Catalogue) Apply(rec *file.Recording) {
	v := ValuesOf(rec)
	spans := map[string][]int{}
	for i := range rec.Spans {
		spans[rec.Spans[i].Step] = append(spans[rec.Spans[i].Step], i)
	}
	var at map[string]int
	if c.foreign != nil {
		at = byID(rec)
	}
	walk := slices.DeleteFunc(slices.Clone(c.Steps), func(s *Step) bool {
		return !s.In(v.Architecture) && !(s.Sharded() && len(spans[s.ID]) > 0)
	})
	rec.Walk = make([]file.Step, len(walk))
	rec.Loops = nil
	before := ""
	for i, s := range walk {
		w := &rec.Walk[i]
		*w = c.words(s, v)
		w.Spans = spans[s.ID]
		w.Sources = c.sourcesOf(s, v, rec, w.Spans)
		w.Source = w.Sources[0]
		w.Count = len(w.Spans)
		for _, n := range w.Spans {
			w.TimeNs += rec.Spans[n].DurNs
		}
		if c.foreign != nil {
			w.TimeNs = topTime(rec, at, w.Spans)
		}
		if w.Count > 0 {
			w.In, w.Out = c.inOut(rec, w.Spans, s, v, before)
		} else {
			w.Text += "\nNot reached: " + whyNot(s, rec)
		}
		if over, to := cutPair(s.Loop); to != "" {
			rec.Loops = append(rec.Loops, file.Loop{Over: over, From: s.ID, To: to})
		}
		before = v.Fill(s.HandsOn)
	}
}

// Describe is the walk as the pages have it, without a recording: what an engine's page shows before anything has run.
func (c *Catalogue) Describe(v Values) []file.Step {
	steps := c.Walk(v.Architecture)
	walk := make([]file.Step, len(steps))
	for i, s := range steps {
		walk[i] = c.words(s, v)
		walk[i].Sources = c.sourcesOf(s, v, &file.Recording{}, nil)
		walk[i].Source = walk[i].Sources[0]
	}
	return walk
}

// words is the step as the page has it.
func (c *Catalogue) words(s *Step, v Values) file.Step {
	w := file.Step{
		ID: s.ID, Title: s.Title, Stage: s.Stage, Lane: s.Lane, Text: c.Text(s, v), Form: s.Form, Role: s.Role, Group: s.Group,
		Label: s.Label, Short: v.Fill(s.Short), Body: v.Fill(s.Body), HandsOn: v.Fill(s.HandsOn), Wrong: v.Fill(s.Wrong), Link: s.Link,
	}
	if name, by := cutPair(s.Hand); name != "" {
		w.Hand = &file.Hand{Name: name, By: by}
	}
	return w
}

// inOut returns what the step's first span took and handed on. An op's span has no words of its own: it takes and gives
// what the page says.
func (c *Catalogue) inOut(rec *file.Recording, spans []int, s *Step, v Values, before string) (in, out string) {
	first := &rec.Spans[spans[0]]
	in, _ = first.Attrs["in"].(string)
	out, _ = first.Attrs["out"].(string)
	if in == "" && s.Op != "" {
		if in = v.Fill(s.Takes); in == "" {
			in = before
		}
	}
	if out == "" && s.Op != "" {
		out = v.Fill(s.HandsOn)
	}
	return in, out
}

// whyNot says why the recording has no span of a step.
func whyNot(s *Step, rec *file.Recording) string {
	by, _ := rec.Request.Params["recorded_by"].(string)
	switch {
	case strings.HasPrefix(by, ImportedBy):
		return "The imported file has no event that is known to be this step."
	case s.Unreached != "":
		return s.Unreached
	case rec.Partial:
		return "The recording ends before this step."
	case rec.Request.Error != "":
		return "The request failed before this step."
	}
	return "This request did not come here."
}

// sourcesOf returns where the step was done. In a recording of this process these are the very lines that ran, the line
// in the page's own symbol first; then come the page's other functions, and the kernels. There is at least one.
func (c *Catalogue) sourcesOf(s *Step, v Values, rec *file.Recording, spans []int) []file.Source {
	if c.foreign != nil {
		return c.theirs(s, rec, spans)
	}
	refs := slices.Clone(rec.RawSources[s.ID])
	first := v.symbol(s.Symbol)
	slices.SortStableFunc(refs, func(a, b file.SourceRef) int { return rank(first, a) - rank(first, b) })
	var list []file.Source
	ranIn := map[string]bool{} // packages
	for _, r := range refs {
		src, _ := c.sources.Find(r.Func, r.File, r.Line)
		list = addSource(list, src, true)
		ranIn[path.Dir(r.File)] = true
	}
	for _, symbol := range append([]string{s.Symbol}, s.Also...) {
		symbol = v.symbol(symbol)
		dir, _, _ := cutSymbol(symbol)
		if b := backendIn(symbol); b != "" && b != v.Backend || s.Op != "" && ranIn[dir] {
			continue // of another backend; or it is known which of a package's models or ops ran, and perhaps it was another
		}
		src, _ := c.sources.Find(symbol, "", 0)
		list = addSource(list, src, false)
	}
	for _, k := range c.kernels(s, v, rec, spans) {
		list = addSource(list, k, false)
	}
	return list
}

// rank puts the lines of the page's symbol before others, and functions of a backend last.
func rank(symbol string, r file.SourceRef) int {
	dir, name, _ := cutSymbol(r.Func)
	switch {
	case module+"/"+dir+"."+name == symbol:
		return 0
	case backendIn(r.File) != "":
		return 2
	}
	return 1
}

// topTime sums the spans that are not inside another span of the same step; at finds a span by its id.
func topTime(rec *file.Recording, at map[string]int, spans []int) (ns int64) {
	for _, n := range spans {
		s := &rec.Spans[n]
		step, top := s.Step, true
		for s.Parent != "" && top {
			p, ok := at[s.Parent]
			if !ok || p >= n {
				break
			}
			s = &rec.Spans[p]
			top = s.Step != step
		}
		if top {
			ns += rec.Spans[n].DurNs
		}
	}
	return ns
}

// byID finds spans by their id.
func byID(rec *file.Recording) map[string]int {
	at := make(map[string]int, len(rec.Spans))
	for i := range rec.Spans {
		at[rec.Spans[i].ID] = i
	}
	return at
}

// theirs are the places of a step in another engine: the page's symbol, then the other functions that its spans are of,
// or would be. The line is that of the run, or else the pinned one. Their text is not here.
func (c *Catalogue) theirs(s *Step, rec *file.Recording, spans []int) []file.Source {
	ran := map[string]int{}
	for _, n := range spans {
		if line, ok := rec.Spans[n].Attrs.Int(AttrLine); ok {
			ran[rec.Spans[n].Name] = int(line)
		}
	}
	place := func(path, symbol string, line int) file.Source {
		return file.Source{Repo: c.foreign.Repo, Commit: cmp.Or(rec.Engine.Commit, c.foreign.Commit), Path: path, Symbol: symbol, Line: cmp.Or(ran[symbol], line)}
	}
	list := []file.Source{place(s.Path, s.Symbol, s.Line)}
	for _, r := range s.rules() {
		if r.symbol != s.Symbol || r.path != s.Path {
			list = addSource(list, place(r.path, r.symbol, 0), false)
		}
	}
	return list
}

// How many lines of code above and below a line ReadCode shows.
const (
	codeAbove = 2
	codeBelow = 18
)

// ReadCode puts code from the reader's own checkout of another engine into the sources of a walk. It returns how many of
// them it found. A recording with such code in it is for the reader alone.
func ReadCode(rec *file.Recording, files fs.FS) (found int) {
	text := map[string][]string{}
	read := func(s *file.Source) {
		lines, ok := text[s.Path]
		if !ok && fs.ValidPath(s.Path) {
			data, _ := fs.ReadFile(files, s.Path)
			lines = strings.Split(string(data), "\n")
			text[s.Path] = lines
		}
		if s.Line < 1 || s.Line > len(lines) {
			return
		}
		first, last := max(1, s.Line-codeAbove), min(len(lines), s.Line+codeBelow)
		s.Code = &file.Code{First: first, Lines: slices.Clone(lines[first-1 : last])}
		found++
	}
	for i := range rec.Walk {
		w := &rec.Walk[i]
		read(&w.Source)
		for k := range w.Sources {
			read(&w.Sources[k])
		}
	}
	return found
}

// addSource appends a source. A line that ran is added unless that line is there; a function unless any line of it is.
func addSource(list []file.Source, src file.Source, line bool) []file.Source {
	for _, have := range list {
		if have.Path == src.Path && have.Symbol == src.Symbol && (!line || have.Line == src.Line) {
			return list
		}
	}
	return append(list, src)
}

// kernels returns the routines that the step's spans name: "mvQ4_1 avx2" is mvQ4_1avx2 in assembly. Names that stand for
// a family of routines find nothing.
func (c *Catalogue) kernels(s *Step, v Values, rec *file.Recording, spans []int) []file.Source {
	if s.Op == "" || c.sources == nil {
		return nil
	}
	dir := path.Join("engine/backend", v.Backend, "kern")
	var out []file.Source
	seen := map[string]bool{}
	for _, i := range spans {
		k := rec.Spans[i].Kernel
		if k == "" || seen[k] {
			continue
		}
		seen[k] = true
		name, variant, _ := strings.Cut(k, " ")
		var src file.Source
		var ok bool
		switch variant {
		case "generic":
			src, ok = c.sources.Find(module+"/"+dir+"."+name+"Go", "", 0)
		case "avx2":
			src, ok = c.sources.Assembly(dir, name+"avx2")
		default:
			src, ok = c.sources.Assembly(dir, name)
		}
		if ok {
			out = append(out, src)
		}
	}
	return out
}
