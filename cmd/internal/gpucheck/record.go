//go:build cuda

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"glassbox/engine"
	"glassbox/engine/backend"
	"glassbox/engine/gpu"
	"glassbox/engine/graph"
	"glassbox/engine/tensor"
	"glassbox/steps"
	"glassbox/trace"
	"glassbox/trace/file"
)

// recorded is how many tokens the recorded request says.
const recorded = 6

// record keeps a request of one prompt and a few tokens, as the tracer opens it: every op, kernel and call of every pass. There is
// no server here and no text: prompt and answer are ids.
func record(be backend.Backend, g *graph.Graph, p plan, ty tensor.Type, context int, roof *file.Roof, folder string) error {
	r := trace.NewRecorder("gpu-check-"+strings.ToLower(ty.Name()), trace.Now(), trace.CaptureSpec{})
	word := func(id int32) trace.Token { return trace.Token{ID: int(id), Text: fmt.Sprintf(" %d", id)} }
	prompt := batchOf(1, 0, p.Context, context, p.Shape.Vocab)
	r.Update(func(f *trace.Facts) {
		f.RequestID, f.Endpoint, f.Prompt = r.ID, "gpu-check", fmt.Sprintf("%d ids, for weights of noise", p.Context)
		for _, id := range prompt.Tokens {
			f.PromptToks = append(f.PromptToks, word(id))
		}
	})
	var ops trace.PassOps
	loop := r.Writer(trace.LaneLoop)
	for i := range recorded {
		b, kind := prompt, trace.Prefill
		if i > 0 {
			b, kind = batchOf(1, p.Context+i-1, 1, context, p.Shape.Vocab), trace.Decode
		}
		loop.In(i, -1)
		start := trace.Now()
		if err := be.Run(b, &ops); err != nil {
			return err
		}
		shape := b.Shape(be.KV(), g.Window)
		for k, n := range g.Nodes {
			w := n.Work(g, shape)
			ops.Ops[k].Bytes, ops.Ops[k].Flops = w.Bytes, w.Flops
		}
		last := ops.Ops[len(ops.Ops)-1]
		launch := loop.BeginAt(trace.StepLaunch, start)
		launch.EndAt(ops.Ops[0].Start)
		r.Pass(&ops, trace.Pass{Index: i, Kind: kind, Tokens: len(b.Tokens), Batch: len(b.Tokens), Requests: 1, Start: start, Dur: last.Start + last.Dur - start})
		done := loop.BeginAt(trace.StepPassDone, last.Start+last.Dur)
		done.End()
		loop.In(i, i)
		pick := loop.Begin(trace.StepDraw)
		row := be.Logits(0)
		best := 0
		for id, v := range row {
			if v > row[best] {
				best = id
			}
		}
		pick.End()
		t := word(int32(best))
		t.TimeNs, t.Pass = trace.Now(), int32(i)
		r.AddToken(t)
	}
	r.Update(func(f *trace.Facts) { f.Finish = "length" })
	r.End()
	return write(r, be, g, p, ty, roof, folder)
}

func write(r *trace.Recorder, be backend.Backend, g *graph.Graph, p plan, ty tensor.Type, roof *file.Roof, folder string) error {
	d, s := be.Device(), p.Shape
	driver := d.Driver
	if d.Kind != "emulated" {
		if list, _ := gpu.Read(context.Background()); len(list) > 0 {
			driver = list[0].Driver + ", " + driver
		}
	}
	b := file.NewBuilder(r, file.Head{
		Engine: file.Engine{Name: "glassbox", Version: "gpu-check", Commit: "unknown"},
		Model: file.Model{Name: "random weights", Architecture: "llama", Quantization: ty.Name(), Layers: s.Layers, Heads: s.Heads, KVHeads: s.KVHeads, Width: s.Width,
			Vocab: s.Vocab, HeadDim: s.HeadDim, FFN: s.FFN},
		Device: file.Device{Kind: d.Kind, Name: d.Name, Driver: driver, Threads: d.Threads, Features: d.Features, Roof: roof},
		Clock:  file.Clock{Name: "monotonic", ResolutionNs: trace.Resolution()},
	})
	var batch trace.Batch
	r.Drain(&batch)
	b.Append(&batch)
	rec := b.Finish()
	steps.Glassbox(engine.Sources).Apply(rec)
	if len(rec.Calls) == 0 || len(rec.Passes) != recorded {
		return fmt.Errorf("recording: wanted calls and %d passes, found %d calls and %d passes", recorded, len(rec.Calls), len(rec.Passes))
	}
	return file.Write(filepath.Join(folder, r.ID+".gbx"), rec)
}
