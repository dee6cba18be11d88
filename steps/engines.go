package steps

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"glassbox/trace/file"
)

// Engine is what is known of another engine: where its source lies, how its processes and threads become lanes, and which
// of its functions is one pass and one layer. The walk itself is its catalogue.
type Engine struct {
	Name    string // "vllm": of its catalogue, its recordings and its page
	Title   string // "vLLM"
	Repo    string // "github.com/vllm-project/vllm"
	Version string // that the pages' lines are of
	Commit  string // of that version: a tag, or 40 hex
	Native  bool   // machine code, and not Python

	Packages []string   // Python: whose functions are recorded; native: the names of its files, program and libraries
	Root     string     // Python: the repository's folder that holds the packages, "" = its root
	Skip     []string   // functions that are left out: those that spin while they wait, and helpers without number
	Nodes    []NodeRule // native: functions that compute a node of a graph
	Lanes    []LaneRule
	Pass     string // symbol of one run of the model, with its path: "vllm/x.py:Runner.execute"
	Layer    string // symbol of one layer

	Entries []string // modules that its processes start in, for the map of its modules

	URL    string // where it listens unless told otherwise
	Health string // path that answers 200 when it can serve
}

// LaneRule says which threads are a lane. The first rule that fits is taken; an empty expression fits all.
type LaneRule struct {
	file.Lane
	Process string // regular expression over the process's name, title and arguments
	Thread  string // over the thread's name; of the main thread it is "main"
}

// NodeRule says how to read the name of the node that a function computes, when the function is entered. The first rule that
// fits is taken.
type NodeRule struct {
	Prefix string // of the function's name
	Arg    int    // which argument, from 1, points to the node
	Offset int    // of the name, an array of characters, in the node
}

// engines are the other engines with a catalogue here.
var engines = []Engine{llamacpp, sglang, vllm}

// Engines returns the other engines.
func Engines() []Engine { return slices.Clone(engines) }

// EngineOf returns an engine by its name.
func EngineOf(name string) (Engine, error) {
	var names []string
	for _, e := range engines {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Engine{}, fmt.Errorf("engine %q: wanted one of %v", name, names)
}

// Catalogue returns the engine's catalogue.
func (e Engine) Catalogue() (*Catalogue, error) {
	c, err := Load(catalog, e.Name)
	if err != nil {
		return nil, err
	}
	return c, c.For(e)
}

// For makes the catalogue that of another engine: every page needs a path and a line, and no function may belong to two.
func (c *Catalogue) For(e Engine) error {
	c.foreign = &e
	type key struct {
		rule
		lane string
	}
	owner := map[key]*Step{}
	for _, s := range c.Steps {
		if s.Path == "" || s.Line == 0 {
			return fmt.Errorf("%s: wanted the keys path and line: where the symbol is in %s", s.File, e.Repo)
		}
		for _, r := range s.rules() {
			k := key{r, s.Lane}
			if other := owner[k]; other != nil {
				return s.fail("match", "functions of no other page; "+other.File+" has it too", r.String())
			}
			owner[k] = s
		}
	}
	return nil
}

// InRepo is the path in the repository of a file that is known from its package on.
func (e Engine) InRepo(file string) string { return path.Join(e.Root, file) }

// Checkout are the files of a checkout, or of an unpacked package, by their paths in the repository.
func (e Engine) Checkout(files fs.FS) fs.FS {
	if e.Root == "" {
		return files
	}
	if _, err := fs.Stat(files, e.Root); err == nil {
		return files
	}
	return below{e.Root, files}
}

// LaneOf returns the lane of a thread.
func (e Engine) LaneOf(process, thread string) file.Lane {
	for _, r := range e.Lanes {
		if fits(r.Process, process) && fits(r.Thread, thread) {
			return r.Lane
		}
	}
	return file.Lane{ID: thread, Title: thread, Note: process}
}

func fits(expression, s string) bool {
	if expression == "" {
		return true
	}
	ok, err := regexp.MatchString(expression, s)
	return err == nil && ok
}
