package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"glassbox/steps"
	"glassbox/steps/modmap"
	"glassbox/trace/file"
)

// modmapCmd draws a module map.
type modmapCmd struct {
	Src        string   `required:"" placeholder:"DIR" help:"Python: the folder that holds the package; Go: the root of the module."`
	Package    string   `placeholder:"NAME" help:"The Python package: vllm."`
	Go         bool     `help:"The source is a Go module; its packages are the modules of the map."`
	Entry      []string `placeholder:"MODULE" help:"A module that is started; may be given several times. Known for engines with a catalogue here."`
	Recording  string   `placeholder:"FILE" help:"A recording: its route goes over the map, and what ran in it is on it."`
	Out        string   `short:"o" placeholder:"OUT.json" help:"Where the map goes; without it the counts are printed alone."`
	Lazy       bool     `help:"Put on the map what functions would import, too."`
	Who        string   `placeholder:"MODULE" help:"Print who imports this module, with the lines."`
	Path       []string `placeholder:"A,B" help:"Print the shortest chain of imports from one module to another."`
	Statements bool     `help:"Print every import statement as JSON, a line a file, and nothing else."`
	Release    string   `placeholder:"VERSION" help:"The version of the source, where it is not the one of the catalogue."`
}

// Run reads the source, and prints what is asked for.
func (c *modmapCmd) Run() error {
	if c.Go == (c.Package != "") {
		return &usageError{"wanted one of --package NAME (Python) and --go"}
	}
	if info, err := os.Stat(c.Src); err != nil || !info.IsDir() {
		return &usageError{fmt.Sprintf("--src %s: wanted a folder with source code", c.Src)}
	}
	tree, err := c.tree()
	if err != nil {
		return fmt.Errorf("--src %s: %w", c.Src, err)
	}
	switch {
	case c.Statements:
		return printStatements(tree)
	case c.Who != "":
		return printLines(tree.Who(c.Who))
	case len(c.Path) > 0:
		if len(c.Path) != 2 {
			return &usageError{fmt.Sprintf("--path: wanted two modules, A,B, found %d", len(c.Path))}
		}
		return printLines(tree.Path(c.Path[0], c.Path[1]))
	}
	o, err := c.options(tree)
	if err != nil {
		return err
	}
	m, err := modmap.New(tree, o)
	if err != nil {
		return err
	}
	return c.write(m)
}

func (c *modmapCmd) tree() (*modmap.Tree, error) {
	if c.Go {
		return modmap.ReadGo(c.Src)
	}
	return modmap.ReadPython(os.DirFS(c.Src), c.Package)
}

// options are what is known of the program: from the catalogue of its engine, the recording and the command line.
func (c *modmapCmd) options(tree *modmap.Tree) (modmap.Options, error) {
	o := modmap.Options{Engine: tree.Name, Title: tree.Name, Language: "python", Entries: c.Entry, Lazy: c.Lazy, Version: c.Release}
	if c.Go {
		o.Language = "go"
	}
	if e, err := steps.EngineOf(tree.Name); err == nil && !c.Go {
		o.Title, o.Repo = e.Title, e.Repo
		if e.Root != "" {
			o.Prefix = e.Root + "/"
		}
		if c.Release == "" {
			o.Version, o.Commit = e.Version, e.Commit
		}
		if len(o.Entries) == 0 {
			o.Entries = e.Entries
		}
	}
	if len(o.Entries) == 0 && c.Go && slices.Contains(tree.Names(), tree.Name+"/cmd/"+tree.Name) {
		o.Entries = []string{tree.Name + "/cmd/" + tree.Name}
	}
	if c.Recording == "" {
		return o, nil
	}
	rec, err := file.Read(c.Recording)
	if err != nil {
		return o, fmt.Errorf("--recording: %w", err)
	}
	if rec.Engine.Name != o.Engine {
		return o, fmt.Errorf("--recording %s: engine.name: wanted %q, found %q", c.Recording, o.Engine, rec.Engine.Name)
	}
	o.Recording = rec
	o.Version = cmp.Or(o.Version, rec.Engine.Version)
	o.RecordingID = strings.TrimSuffix(filepath.Base(c.Recording), filepath.Ext(c.Recording))
	return o, nil
}

// write prints the counts and writes the map beside its final name first.
func (c *modmapCmd) write(m *modmap.Map) error {
	fmt.Printf("%s: %d modules, %d lines\n", strings.TrimSpace(m.Title+" "+m.Version), m.Files, m.Lines)
	for _, r := range m.Rules {
		fmt.Printf("%6d  %s\n", r.Modules, r.Rule)
	}
	if m.Recording != "" {
		fmt.Printf("%6d  stops of the route of %s: stretches of its walk inside one module\n", m.Stops(), m.Recording)
	}
	if c.Out == "" {
		return nil
	}
	part := c.Out + ".part"
	f, err := os.Create(part)
	if err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	if err = errors.Join(m.Write(f), f.Close()); err == nil {
		err = os.Rename(part, c.Out)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("-o %s: %w", c.Out, err), os.Remove(part))
	}
	fmt.Println(c.Out)
	return nil
}

func printLines(out []string, err error) error {
	for _, l := range out {
		fmt.Println(l)
	}
	return err
}

// printStatements writes, for each file in order, [path, [[line, level, module or null, names, kind], ...]].
func printStatements(tree *modmap.Tree) error {
	all := tree.Statements()
	var paths []string
	for p := range all {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	w := json.NewEncoder(os.Stdout)
	for _, p := range paths {
		if err := w.Encode([]any{p, modmap.Rows(all[p])}); err != nil {
			return err
		}
	}
	return nil
}
