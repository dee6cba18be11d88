package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"glassbox/steps"
	"glassbox/trace/file"
	"glassbox/trace/importer"
)

// importCmd makes a recording of what another program measured.
type importCmd struct {
	File   string     `arg:"" help:"A profile in Chrome's trace JSON (PyTorch's profiler, vLLM's and SGLang's /start_profile), OTLP JSON, or the timings of llama.cpp's server: an answer or its log. It may be packed with gzip."`
	Engine string     `required:"" placeholder:"NAME" help:"Whose walk is laid over it: vllm, sglang or llamacpp; none for no walk."`
	Out    string     `short:"o" placeholder:"FILE" help:"Where the recording goes: .gbx or .json; by default the file's name with .gbx."`
	Most   int        `default:"200000" placeholder:"N" help:"Spans that are kept; of more, the shortest and least telling are counted by name."`
	JSON   bool       `name:"json" help:"Print what was found as JSON."`
	Model  modelFlags `embed:"" prefix:"model-"`
}

// Run reads the file and writes the recording.
func (c *importCmd) Run(ctx context.Context) error {
	if c.Out == "" {
		c.Out = outName(c.File)
	}
	if !strings.HasSuffix(c.Out, ".gbx") && !strings.HasSuffix(c.Out, ".json") {
		return &usageError{fmt.Sprintf("-o %s: wanted a name that ends in .gbx or .json", c.Out)}
	}
	if c.Most < 1 {
		return &usageError{fmt.Sprintf("--most: wanted 1 or more, found %d", c.Most)}
	}
	if a, err := os.Stat(c.File); err == nil {
		if b, err := os.Stat(c.Out); err == nil && os.SameFile(a, b) {
			return &usageError{fmt.Sprintf("-o %s: wanted another file than the one that is read", c.Out)}
		}
	}
	engine, cat, err := walkOf(c.Engine)
	if err != nil {
		return err
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100) // the bound on memory goes before speed here
	}
	o := importer.Options{Most: c.Most}
	if cat != nil {
		o.Telling = cat.Telling()
	}
	rec, rep, err := importer.Read(untilDone{ctx, f}, c.File, o)
	if err != nil {
		return err
	}
	rec.ID = file.NewID()
	rec.Schema = file.Schema{Name: file.SchemaName, Version: file.SchemaVersion}
	rec.Engine = file.Engine{Name: c.Engine, Version: cmp.Or(engine.Version, "unknown"), Commit: cmp.Or(engine.Commit, "unknown")}
	rec.Request.Params["recorded_by"] = steps.ImportedBy + ", " + rep.Form
	rec.Request.Params["imported_from"] = filepath.Base(c.File)
	file.Finish(rec)
	known := steps.ProfileReport{Events: len(rec.Spans)}
	if cat != nil {
		known = cat.MatchProfile(rec)
		rec.Numbers = file.Measure(rec)
		cat.Apply(rec)
	}
	c.Model.declare(rec)
	rec.Request.Params["imported"] = countsOf(rep, &known)
	if err := c.print(rep, &known); err != nil {
		return err
	}
	return writeRecording(c.Out, rec)
}

// untilDone is a reader that ends with its context: a file of gigabytes takes minutes, and Ctrl-C must not wait for it.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// walkOf finds an engine and its catalogue; none is no walk.
func walkOf(name string) (steps.Engine, *steps.Catalogue, error) {
	if name == "none" {
		return steps.Engine{}, nil, nil
	}
	e, err := steps.EngineOf(name)
	if err != nil {
		return e, nil, &usageError{"--engine: " + err.Error() + ", or none"}
	}
	cat, err := e.Catalogue()
	return e, cat, err
}

func outName(in string) string {
	base := filepath.Base(in)
	for _, end := range []string{".gz", ".json", ".log", ".txt", ".trace", ".pt"} {
		base = strings.TrimSuffix(base, end)
	}
	return base + ".gbx"
}

// countsOf are the report's numbers as the recording keeps them.
func countsOf(rep *importer.Report, known *steps.ProfileReport) file.Attrs {
	out := file.Attrs{"form": rep.Form, "kernels": int64(known.Kernels), "kernels_unknown": int64(known.Unknown), "kernels_unknown_ns": known.UnknownNs,
		"known_by_stack": int64(known.ByStack), "known_by_launch": int64(known.ByLaunch), "known_by_name": int64(known.ByName)}
	for k, n := range map[string]int64{"events": rep.Events, "spans": rep.Spans, "ends": rep.Ends, "stray_ends": rep.Strays, "moments": rep.Moments, "counters": rep.Counts, "flows": rep.Flows,
		"metadata": rep.Names, "other_kinds": rep.Others, "refused": rep.Refused, "folded": rep.Folded, "folded_ns": rep.FoldedNs, "mended": rep.Mended, "open": rep.Open, "crowded": rep.Crowded} {
		out[k] = n
	}
	if rep.Why != "" {
		out["refused_first"] = rep.Why
	}
	return out
}

// print tells what was found: on stderr in words, or as JSON on stdout.
func (c *importCmd) print(rep *importer.Report, known *steps.ProfileReport) error {
	if c.JSON {
		return errors.Join(json.NewEncoder(os.Stdout).Encode(countsOf(rep, known)))
	}
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, "glassbox: "+format+"\n", args...) }
	say("%s: %d events: %d intervals and %d moments in %d lanes, %d ends, %d arrows, %d values of counters, %d names", rep.Form, rep.Events, rep.Spans, rep.Moments, rep.Lanes, rep.Ends,
		rep.Flows, rep.Counts, rep.Names+rep.Others)
	if rep.Folded > 0 {
		say("%d of them (%.1f ms, shortest first, functions of Python before operators) are counted by name alone: --most keeps more", rep.Folded, float64(rep.FoldedNs)/1e6)
	}
	if rep.Refused+rep.Mended+rep.Open+rep.Strays+rep.Crowded > 0 {
		say("warning: %d refused, %d without a length that is one, %d begins without end, %d ends without begin, %d in crowded lanes%s", rep.Refused, rep.Mended, rep.Open, rep.Strays, rep.Crowded, first(rep.Why))
	}
	say("steps: %d by the stack, %d by their launch, %d by name; %d of %d kernels unknown (%.1f ms)", known.ByStack, known.ByLaunch, known.ByName, known.Unknown, known.Kernels, float64(known.UnknownNs)/1e6)
	names := slices.SortedFunc(maps.Keys(known.Names), func(a, b string) int {
		return cmp.Or(cmp.Compare(known.Names[b], known.Names[a]), cmp.Compare(a, b))
	})
	for _, n := range names[:min(5, len(names))] {
		say("  unknown %d times: %.100s", known.Names[n], n)
	}
	return nil
}

func first(why string) string {
	if why == "" {
		return ""
	}
	return "; the first: " + why
}
