package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"glassbox/cmd/internal/attach"
	"glassbox/steps"
	"glassbox/steps/anchor"
	"glassbox/trace/file"
)

// stepsCmd are the commands about catalogues.
type stepsCmd struct {
	Check stepsCheckCmd `cmd:"" help:"Find every anchor of another engine's catalogue in a checkout; says what moved."`
	Lay   stepsLayCmd   `cmd:"" help:"Lay the catalogue over a recording of another engine anew."`
}

// stepsCheckCmd compares a catalogue with source code.
type stepsCheckCmd struct {
	Engine string `arg:"" help:"Which catalogue: llamacpp, sglang or vllm."`
	Src    string `required:"" placeholder:"DIR" help:"Root of a checkout of the engine, or of an unpacked package."`
	Write  string `placeholder:"DIR" help:"Write new lines into the pages; DIR is the folder steps of this repository."`
	All    bool   `help:"Print the unchanged ones too."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Run prints what became of each anchor; a renamed or a missing one is a failure.
func (c *stepsCheckCmd) Run() error {
	e, err := steps.EngineOf(c.Engine)
	if err != nil {
		return &usageError{err.Error()}
	}
	cat, err := e.Catalogue()
	if err != nil {
		return err
	}
	if info, err := os.Stat(c.Src); err != nil || !info.IsDir() {
		return &usageError{fmt.Sprintf("--src %s: wanted the folder of a checkout of %s", c.Src, e.Repo)}
	}
	pins := append(cat.Pins(), steps.StagePins(steps.Stages(nil), e.Name)...)
	found := steps.LocatePins(anchor.NewTree(e.Checkout(os.DirFS(c.Src))), pins)
	count := map[anchor.State]int{}
	for _, l := range found {
		count[l.State]++
	}
	if c.JSON {
		if err := c.json(e, found, count); err != nil {
			return err
		}
	} else {
		c.print(e, found, count)
	}
	if c.Write != "" {
		changed, err := steps.Repin(c.Write, found)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "glassbox: %d pages written\n", len(changed))
	}
	if bad := count[anchor.Renamed] + count[anchor.Gone]; bad > 0 {
		return fmt.Errorf("%d of %d anchors of %s %s are renamed or gone in %s: read their pages again", bad, len(found), e.Title, e.Version, c.Src)
	}
	return nil
}

func (c *stepsCheckCmd) print(e steps.Engine, found []steps.Located, count map[anchor.State]int) {
	for _, l := range found {
		was := fmt.Sprintf("%s:%d %s", l.Place.Path, l.Place.Line, l.Place.Symbol)
		switch l.State {
		case anchor.Unchanged:
			if c.All {
				fmt.Printf("unchanged  %s:%d %s\n", l.Now.Path, l.Now.Line, l.Now.Symbol)
			}
		case anchor.Gone:
			fmt.Printf("gone       %s (%s)\n", was, filepath.Base(l.File))
		default:
			fmt.Printf("%-9s  %s -> %s:%d %s (%s)\n", l.State, was, l.Now.Path, l.Now.Line, l.Now.Symbol, filepath.Base(l.File))
		}
	}
	fmt.Printf("%s %s: %d anchors on %d pages: %d unchanged, %d moved, %d renamed, %d gone\n", e.Title, e.Version, len(found), len(pages(found)),
		count[anchor.Unchanged], count[anchor.Moved], count[anchor.Renamed], count[anchor.Gone])
}

func pages(found []steps.Located) map[string]bool {
	out := map[string]bool{}
	for _, l := range found {
		out[l.File] = true
	}
	return out
}

func (c *stepsCheckCmd) json(e steps.Engine, found []steps.Located, count map[anchor.State]int) error {
	type line struct {
		File  string       `json:"file"`
		Step  string       `json:"step,omitempty"`
		State anchor.State `json:"state"`
		Was   anchor.Place `json:"was"`
		Now   anchor.Place `json:"now"`
	}
	var lines []line
	for _, l := range found {
		step := ""
		if l.Step != nil {
			step = l.Step.ID
		}
		lines = append(lines, line{l.File, step, l.State, l.Place, l.Now})
	}
	w := json.NewEncoder(os.Stdout)
	w.SetIndent("", " ")
	return w.Encode(map[string]any{"engine": e.Name, "version": e.Version, "count": count, "anchors": lines})
}

// stepsLayCmd lays a catalogue over a recording that was made before.
type stepsLayCmd struct {
	File  string     `arg:"" help:"A recording of another engine."`
	Out   string     `short:"o" required:"" placeholder:"FILE" help:"Where to write: .gbx or .json."`
	Src   string     `placeholder:"DIR" help:"Put the code around each stop into the recording, from your own checkout; then keep it to yourself."`
	Model modelFlags `embed:"" prefix:"model-"`
}

// Run matches the spans with the catalogue's rules again.
func (c *stepsLayCmd) Run() error {
	rec, err := file.Read(c.File)
	if err != nil {
		return err
	}
	e, err := steps.EngineOf(rec.Engine.Name)
	if err != nil {
		return fmt.Errorf("%s: engine.name: %w", c.File, err)
	}
	cat, err := e.Catalogue()
	if err != nil {
		return err
	}
	if args, ok := rec.Request.Params["command"].([]string); ok {
		rec.Request.Params["command"] = attach.PlainCommand(args)
	}
	cat.Match(rec)
	c.Model.declare(rec)
	cat.Apply(rec)
	if c.Src != "" {
		if steps.ReadCode(rec, e.Checkout(os.DirFS(c.Src))) == 0 {
			return fmt.Errorf("--src %s: none of the walk's files is there: wanted the root of a checkout of %s", c.Src, e.Repo)
		}
	}
	return writeRecording(c.Out, rec)
}
