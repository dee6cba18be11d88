// Package modmap draws the modules of a program as a map: its files as boxes in their folders, with what each imports, and
// the way of a recorded request over them. Python is read as text and never run; Go's packages come from the go command.
//
// Read scan.go for the import statements of Python, tree.go for how they become edges between modules, modmap.go for what is
// on the map and why, layout.go for where it lies.
//
// It does not know about pages, or how a recording is made.
package modmap

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"glassbox/trace/file"
)

// SchemaName and Version are of the file form. A reader refuses another name or major.
const (
	SchemaName = "glassbox-modmap"
	Version    = "1.0"
)

// Map is a module map. Its lists are never nil in the file.
type Map struct {
	Schema    file.Schema `json:"schema"`
	Engine    string      `json:"engine"` // the name in recordings: "vllm"
	Title     string      `json:"title"`
	Version   string      `json:"version"`
	Repo      string      `json:"repo"` // where paths lead: repo/blob/commit/prefix+path
	Commit    string      `json:"commit"`
	Prefix    string      `json:"prefix,omitempty"`
	Language  string      `json:"language"` // "python": modules are files; "go": they are packages
	Package   string      `json:"package"`
	Entries   []string    `json:"entries"`
	Recording string      `json:"recording,omitempty"` // id of the recording whose route this is
	Files     int         `json:"files"`               // modules of the whole package, on the map or not
	Lines     int         `json:"lines"`               // of all of them
	Rules     []Rule      `json:"rules"`
	Width     float64     `json:"width"`
	Height    float64     `json:"height"`
	Folders   []Folder    `json:"folders"` // outer before inner
	Route     []Stop      `json:"route"`
	Modules   []Module    `json:"modules"`
}

// Rule is a way to say which modules belong to a request, and how many do.
type Rule struct {
	Rule    string `json:"rule"`
	Modules int    `json:"modules"`
}

// Box is a place on the map: x, y, width, height.
type Box [4]float64

// Folder is a frame around modules.
type Folder struct {
	Path string `json:"path"`
	Name string `json:"name"` // as it is written on the frame
	Box  Box    `json:"box"`
	Head bool   `json:"head"` // there is room for the name
}

// Module is a box.
type Module struct {
	Name    string   `json:"name"`
	Label   string   `json:"label,omitempty"` // in the file only where it is not the last part of the name
	Path    string   `json:"path"`
	Lines   int      `json:"lines"`
	State   State    `json:"state"`
	Calls   int      `json:"calls,omitempty"` // spans of the recording in it
	Box     Box      `json:"box"`
	Imports []Import `json:"imports"`
}

// State says what the recorded request had to do with a module.
type State string

// The states. ByName ran, but no import leads to it from the entries: something picked it by its name at run time.
const (
	Ran      State = "ran"
	Imported State = "imported"
	ByName   State = "by_name"
	None     State = "none"
)

// Import is an edge: module index, line, kind.
type Import [3]int

// Stop is a step of the walk and the module it is in.
type Stop struct {
	Step   string `json:"step"`
	Module int    `json:"module"`
}

// Options are what a map is of.
type Options struct {
	Engine, Title, Version, Repo, Commit, Prefix, Language string

	Entries     []string        // names of modules
	Recording   *file.Recording // nil: nothing ran
	RecordingID string
	Lazy        bool // put what functions would import on the map too
}

// New draws the map: what is loaded with the entries, and what the recording ran.
func New(t *Tree, o Options) (*Map, error) {
	m := &Map{Schema: file.Schema{Name: SchemaName, Version: Version}, Engine: o.Engine, Title: o.Title, Version: o.Version, Repo: o.Repo, Commit: o.Commit,
		Prefix: o.Prefix, Language: o.Language, Package: t.Name, Entries: o.Entries, Recording: o.RecordingID, Files: len(t.Modules), Lines: t.Lines()}
	var from []int
	for _, e := range o.Entries {
		i := t.at(e)
		if i < 0 {
			return nil, fmt.Errorf("entry %s: no such module in %s%s", e, t.Name, t.similar(e))
		}
		from = append(from, i)
	}
	if len(from) == 0 {
		return nil, fmt.Errorf("no entry: wanted the module that is started, such as %s", t.Modules[0].Name)
	}
	loaded, lazy, typed := t.closure(from, Conditional), t.closure(from, Lazy), t.closure(from, Typing)
	calls, ran := t.used(o.Recording)
	with := t.closure(append(slices.Clone(from), ran...), Conditional) // ran modules bring their own imports along
	on := slices.Clone(loaded)
	for _, i := range ran {
		on[i] = true
	}
	if o.Lazy {
		for i := range on {
			on[i] = on[i] || lazy[i] || with[i]
		}
	}
	states := make([]State, len(t.Modules))
	count := map[State]int{}
	for i := range t.Modules {
		switch {
		case calls[i] > 0 && lazy[i]:
			states[i] = Ran
		case calls[i] > 0:
			states[i] = ByName
		case with[i]:
			states[i] = Imported
		default:
			states[i] = None
		}
	}
	for i := range on {
		if on[i] {
			count[states[i]]++
		}
	}
	union := slices.Clone(lazy)
	for _, i := range ran {
		union[i] = true
	}
	m.Rules = []Rule{
		{"entries", len(from)},
		{"loaded with the entries (imports of modules and the packages around them)", loaded.len()},
		{"and what functions import, when they are called", lazy.len()},
		{"and what is imported for type checkers alone", typed.len()},
		{"loaded, or imported by functions, or seen running", union.len()},
		{"loaded with the entries, or with what was seen running", with.len()},
		{"on this map: loaded with the entries, or seen running", on.len()},
		{"of these, ran in the recording", count[Ran] + count[ByName]},
		{"of these, picked by name at run time: no import leads there", count[ByName]},
		{"of these, only touched by import", count[Imported]},
	}
	if o.Lazy {
		m.Rules[6].Rule = "on this map: all of these"
	}
	m.place(t, on, states, calls, o.Recording)
	return m, nil
}

// similar names a module that somebody may have meant.
func (t *Tree) similar(entry string) string {
	last := entry[strings.LastIndexAny(entry, "./")+1:]
	for _, m := range t.Modules {
		if strings.HasSuffix(m.Name, last) && last != "" {
			return "; there is " + m.Name
		}
	}
	return ""
}

// find is the index of the module that a path of a recording is in, -1 for none.
func (t *Tree) find(byPath map[string]int, p string) int {
	for p != "" && p != "." {
		if i, ok := byPath[p]; ok {
			return i
		}
		if i, ok := byPath[path.Dir(p)]; ok && t.Modules[i].pkg && path.Ext(p) != ".py" {
			return i
		}
		_, rest, more := strings.Cut(p, "/") // a repository may keep its package in a folder
		if !more {
			break
		}
		p = rest
	}
	return -1
}

func (t *Tree) byPath() map[string]int {
	out := make(map[string]int, len(t.Modules))
	for i, m := range t.Modules {
		out[m.Path] = i
	}
	return out
}

// used counts the spans of a recording in each module, and lists the modules that have any.
func (t *Tree) used(rec *file.Recording) (calls []int, ran []int) {
	calls = make([]int, len(t.Modules))
	if rec == nil {
		return calls, nil
	}
	byPath, known := t.byPath(), map[string]int{}
	add := func(p string, n int) {
		i, ok := known[p]
		if !ok {
			i = t.find(byPath, p)
			known[p] = i
		}
		if i >= 0 && n > 0 {
			calls[i] += n
		}
	}
	for _, s := range rec.Spans {
		if p, ok := s.Attrs["file"].(string); ok {
			add(p, 1)
		}
	}
	for _, w := range rec.Walk { // a recording of ours has its places in the walk
		if len(w.Spans) > 0 && rec.Spans[w.Spans[0]].Attrs["file"] != nil {
			continue
		}
		for _, s := range w.Sources {
			add(s.Path, w.Count)
		}
		if len(w.Sources) == 0 {
			add(w.Source.Path, w.Count)
		}
	}
	for i, n := range calls {
		if n > 0 {
			ran = append(ran, i)
		}
	}
	return calls, ran
}

// place fills in modules, folders and route. Indices become those of the map.
func (m *Map) place(t *Tree, on set, states []State, calls []int, rec *file.Recording) {
	now := make([]int, len(t.Modules))
	var kept []*Source
	for i := range t.Modules {
		now[i] = -1
		if on[i] {
			now[i] = len(kept)
			kept = append(kept, &t.Modules[i])
		}
	}
	m.Modules, m.Route = make([]Module, 0, len(kept)), []Stop{}
	for i, s := range t.Modules {
		if !on[i] {
			continue
		}
		b := Module{Name: s.Name, Label: s.label, Path: s.Path, Lines: s.Lines, State: states[i], Calls: calls[i], Imports: []Import{}}
		for _, e := range s.Edges {
			if on[e.To] {
				b.Imports = append(b.Imports, Import{now[e.To], e.Line, int(e.Kind)})
			}
		}
		m.Modules = append(m.Modules, b)
	}
	m.Width, m.Height = width, height
	m.Folders = layOut(kept, m.Modules)
	if rec == nil {
		return
	}
	byPath := t.byPath()
	for _, w := range rec.Walk {
		if i := t.find(byPath, w.Source.Path); w.Count > 0 && i >= 0 && now[i] >= 0 {
			m.Route = append(m.Route, Stop{w.ID, now[i]})
		}
	}
}

// Stops is how many times the route goes to another module.
func (m *Map) Stops() (n int) {
	for i, s := range m.Route {
		if i == 0 || s.Module != m.Route[i-1].Module {
			n++
		}
	}
	return n
}

// Write writes the map as JSON, a line a module, so that two versions can be compared.
func (m *Map) Write(w io.Writer) error {
	head := *m
	head.Modules = nil
	raw, err := json.Marshal(head)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(raw, []byte("null}")))
	b.WriteByte('[')
	for i, q := range m.Modules {
		if q.Label == lastPart(q.Name) {
			q.Label = ""
		}
		if raw, err = json.Marshal(q); err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(raw)
	}
	b.WriteString("]}\n")
	_, err = w.Write(b.Bytes())
	return err
}

func lastPart(name string) string { return name[strings.LastIndexAny(name, "./")+1:] }

// Read reads what Write wrote.
func Read(raw []byte) (*Map, error) {
	m := &Map{}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("module map: %w", err)
	}
	if major, _, _ := strings.Cut(m.Schema.Version, "."); m.Schema.Name != SchemaName || major != "1" {
		return nil, fmt.Errorf("module map: schema: wanted %s 1.x, found %q %q", SchemaName, m.Schema.Name, m.Schema.Version)
	}
	for i, mod := range m.Modules {
		m.Modules[i].Label = cmp.Or(mod.Label, lastPart(mod.Name))
		for _, e := range mod.Imports {
			if e[0] < 0 || e[0] >= len(m.Modules) {
				return nil, fmt.Errorf("module map: modules[%d].imports: wanted an index below %d, found %d", i, len(m.Modules), e[0])
			}
		}
	}
	for i, s := range m.Route {
		if s.Module < 0 || s.Module >= len(m.Modules) {
			return nil, fmt.Errorf("module map: route[%d].module: wanted an index below %d, found %d", i, len(m.Modules), s.Module)
		}
	}
	return m, nil
}
