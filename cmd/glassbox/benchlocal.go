package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"glassbox/engine"
	"glassbox/engine/roof"
	"glassbox/trace"
	"glassbox/trace/file"
)

// benchLocalCmd measures the engine without HTTP: whole requests through Submit, sampling and detokenizing included.
type benchLocalCmd struct {
	engineFlags
	PromptTokens int  `default:"512" help:"Length of the prompt that prefill is measured on."`
	OutputTokens int  `default:"128" help:"Length of the answer that decode is measured on."`
	Repeat       int  `default:"5" help:"Runs of each."`
	Traced       bool `name:"trace" help:"Record the requests."`
	JSON         bool `name:"json" help:"Print JSON (the only form)."`

	prompts int         // so far
	store   *file.Store // recordings are made as a server makes them, and dropped
}

// benchLocal is what it prints. Entry i of each list is repetition i.
type benchLocal struct {
	Prefill      []float64 `json:"prefill_tokens_per_s"`
	Decode       []float64 `json:"decode_tokens_per_s"`
	DecodeTraced []float64 `json:"traced_decode_tokens_per_s,omitempty"`
	WeightsBytes int64     `json:"weights_bytes"`               // that one decoded token reads
	Roof         float64   `json:"roof_gbps,omitempty"`         // read bandwidth with these threads, 1e9 bytes/s; absent = not measured
	Unexplained  float64   `json:"unexplained,omitempty"`       // part of a traced decode pass that no op explains, barriers included; absent = not measured
	OpCost       []float64 `json:"op_recording_cost,omitempty"` // % that timed passes take longer than untimed ones
	PeakRSS      int64     `json:"peak_rss,omitempty"`          // bytes; absent = not measured on this system
	Version      string    `json:"version"`
	Kernels      string    `json:"kernels"`
}

// Run warms up once; then each repetition prefills and decodes from an empty cache, with --trace the decode twice in
// alternating order.
func (c *benchLocalCmd) Run(ctx context.Context) error {
	o, err := c.open()
	if err != nil {
		return err
	}
	defer o.close()
	if c.store, err = file.NewStore(file.StoreOptions{Head: o.head(), Finish: catalogue().Apply}); err != nil {
		return err
	}
	defer c.store.Close()
	d := o.engine.Device()
	out := benchLocal{WeightsBytes: o.engine.WeightBytes(), Version: version, Kernels: strings.Join(d.Features, " ")}
	for i := range c.Repeat + 1 {
		prefill, _, err := c.one(ctx, o.engine, c.PromptTokens, 1, false)
		if err != nil {
			return err
		}
		decode := map[bool]float64{}
		for turn := range 2 {
			traced := (turn+i)%2 == 1
			if traced && !c.Traced {
				continue
			}
			if _, decode[traced], err = c.one(ctx, o.engine, 1, c.OutputTokens, traced); err != nil {
				return err
			}
		}
		if i == 0 {
			continue
		}
		out.Prefill, out.Decode = append(out.Prefill, prefill), append(out.Decode, decode[false])
		if c.Traced {
			out.DecodeTraced = append(out.DecodeTraced, decode[true])
		}
	}
	out.PeakRSS = peakRSS()
	const farLargerThanCaches = 512 << 20
	read, err := roof.Memory(ctx, d.Threads, 12, farLargerThanCaches)
	if err != nil {
		return err
	}
	out.Roof = read.Max
	if c.Traced {
		if out.OpCost, err = opCost(o, 9); err != nil {
			return err
		}
		if out.Unexplained, err = unexplainedShare(ctx, o, 64); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// one runs a request and returns prompt tokens a second until the first token, and tokens a second after it.
func (c *benchLocalCmd) one(ctx context.Context, e *engine.Engine, prompt, output int, traced bool) (prefill, decode float64, err error) {
	r := engine.Request{ID: "bench", MaxTokens: output, Logprobs: -1, IgnoreEOS: true}
	c.prompts++ // each prompt begins with a token of its own, so that no page of an earlier one serves it
	for i := range prompt {
		r.Tokens = append(r.Tokens, 20+(i*7919+c.prompts)%(e.Config().Vocab-20))
	}
	if traced {
		if r.Trace, err = c.store.Start(trace.Now(), trace.CaptureSpec{}); err != nil {
			return 0, 0, err
		}
		defer c.drop(ctx, r.Trace)
	}
	start := time.Now()
	s, err := e.Submit(ctx, r)
	if err != nil {
		return 0, 0, err
	}
	var first time.Time
	for {
		ev, err := s.Next(ctx)
		if err != nil {
			return 0, 0, err
		}
		if ev.Err != nil {
			return 0, 0, ev.Err
		}
		if first.IsZero() {
			first = time.Now()
		}
		if ev.Finish != "" {
			break
		}
	}
	if n := s.Usage().Output; n != output {
		return 0, 0, fmt.Errorf("bench-local: wanted %d tokens, got %d", output, n)
	}
	return float64(prompt) / first.Sub(start).Seconds(), float64(output-1) / time.Since(first).Seconds(), nil
}

// drop ends a recording, waits until it is whole, and forgets it.
func (c *benchLocalCmd) drop(ctx context.Context, r *trace.Recorder) {
	r.End()
	if _, err := c.store.Wait(ctx, r.ID); err == nil {
		_ = c.store.Delete(r.ID)
	}
}

// peakRSS reads the most memory this process held, where Linux tells it.
func peakRSS() int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(b), "\n") {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}
