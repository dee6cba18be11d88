package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"glassbox/cmd/internal/attach"
	"glassbox/steps"
	"glassbox/trace/file"
)

// attachCmd records one request inside another engine.
type attachCmd struct {
	Engine  string        `required:"" placeholder:"NAME" help:"Which engine it is: llamacpp, sglang or vllm."`
	Out     string        `short:"o" required:"" placeholder:"FILE" help:"Where the recording goes: .gbx or .json."`
	Request string        `placeholder:"FILE.json" help:"Body of the chat completion; by default a short question, 24 tokens, temperature 0."`
	URL     string        `placeholder:"URL" help:"Where the engine listens; by default the engine's own port on this machine."`
	PID     []int         `placeholder:"N" help:"Engines of machine code: record this process, which runs already, instead of starting one."`
	Timeout time.Duration `default:"10m" help:"How long the engine may take to serve."`
	Warm    int           `default:"2" help:"Requests before anything is measured."`
	Plain   int           `default:"3" help:"Requests measured without recording; the slowdown is told against their median."`
	Keep    string        `placeholder:"DIR" help:"Python engines: keep the raw files of all processes in this new folder."`
	Model   modelFlags    `embed:"" prefix:"model-"`
	Command []string      `arg:"" optional:"" passthrough:"" help:"What starts the engine, behind --."`
}

// modelFlags say what an engine does not tell of its model.
type modelFlags struct {
	Name         string `placeholder:"NAME" help:"What the recording calls the model; by default what the engine calls it."`
	Architecture string `placeholder:"NAME" help:"The model's architecture."`
	Quantization string `placeholder:"NAME" help:"The model's number format."`
	Layers       int    `placeholder:"N" help:"How many layers the model has."`
}

// Run records and writes the recording; the engine is ended in any case.
func (c *attachCmd) Run(ctx context.Context) error {
	e, err := steps.EngineOf(c.Engine)
	if err != nil {
		return &usageError{"--engine: " + err.Error()}
	}
	if !strings.HasSuffix(c.Out, ".gbx") && !strings.HasSuffix(c.Out, ".json") {
		return &usageError{fmt.Sprintf("-o %s: wanted a name that ends in .gbx or .json", c.Out)}
	}
	cat, err := e.Catalogue()
	if err != nil {
		return err
	}
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	if len(c.Command) == 0 && len(c.PID) == 0 {
		return &usageError{"wanted the engine's command behind --, or --pid of a native engine that runs"}
	}
	o := attach.Options{Engine: e, Catalogue: cat, Command: c.Command, PIDs: c.PID, URL: c.URL, Healthy: c.Timeout, Warm: c.Warm, Plain: c.Plain, Keep: c.Keep, Log: os.Stderr}
	if c.Request != "" {
		if o.Request, err = os.ReadFile(c.Request); err != nil {
			return fmt.Errorf("--request: %w", err)
		}
	}
	rec, err := attach.Run(ctx, o)
	if err != nil {
		return err
	}
	c.Model.declare(rec)
	return writeRecording(c.Out, rec)
}

// declare puts what the command line says of the model into the recording.
func (c *modelFlags) declare(rec *file.Recording) {
	m := &rec.Model
	m.Name = cmp.Or(c.Name, m.Name)
	m.Architecture = cmp.Or(c.Architecture, m.Architecture)
	m.Quantization = cmp.Or(c.Quantization, m.Quantization)
	for i := range rec.Spans {
		m.Layers = max(m.Layers, rec.Spans[i].Layer+1)
	}
	m.Layers = cmp.Or(c.Layers, m.Layers)
}

// writeRecording writes a recording of another engine and says what is in it.
func writeRecording(out string, rec *file.Recording) error {
	write := file.WriteGBX
	if strings.HasSuffix(out, ".json") {
		write = file.WriteJSON
	}
	part := out + ".new.part"
	err := into(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, write, rec)
	if err == nil {
		err = os.Rename(part, out)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("-o %s: %w", out, err), os.Remove(part))
	}
	reached := 0
	for _, w := range rec.Walk {
		if w.Count > 0 {
			reached++
		}
	}
	fmt.Fprintf(os.Stderr, "glassbox: %d spans in %d lanes, %d passes; %d of %d stops reached\n", len(rec.Spans), len(rec.Lanes), len(rec.Passes), reached, len(rec.Walk))
	fmt.Println(out)
	return nil
}
