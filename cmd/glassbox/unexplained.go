package main

import (
	"context"
	"errors"
	"slices"

	"glassbox/engine"
	"glassbox/trace"
	"glassbox/trace/file"
	"glassbox/trace/query"
)

// busyOf returns how long each worker was busy in an op, ns; nil where that was not recorded.
func busyOf(s *file.Span) []int64 {
	busy, _ := s.Attrs["busy_ns"].([]int64)
	return busy
}

// unexplained returns, for each decode pass, the part of its time that no op explains: what lies between ops, and the time
// that workers stood at barriers inside them, as a mean over workers.
func unexplained(rec *file.Recording) []float64 {
	var out []float64
	for _, p := range rec.Passes {
		e, ok := query.ExplainPass(rec, p.Index)
		if !ok || p.Kind != "decode" || p.DurNs <= 0 {
			continue
		}
		lost := float64(e.GapNs)
		for i := range rec.Spans {
			s := &rec.Spans[i]
			if s.Op == "" || s.Pass != p.Index {
				continue
			}
			busy := busyOf(s)
			for _, ns := range busy {
				lost += float64(max(0, s.DurNs-ns)) / float64(len(busy))
			}
		}
		out = append(out, lost/float64(p.DurNs))
	}
	return out
}

// unexplainedShare records one answer of n tokens and returns the median of its decode passes.
func unexplainedShare(ctx context.Context, o *opened, n int) (float64, error) {
	store, err := file.NewStore(file.StoreOptions{Head: o.head()})
	if err != nil {
		return 0, err
	}
	defer store.Close()
	rec, err := store.Start(trace.Now(), trace.CaptureSpec{})
	if err != nil {
		return 0, err
	}
	s, err := o.engine.Submit(ctx, engine.Request{ID: "explain", Tokens: []int{1, 2, 3}, MaxTokens: n, Logprobs: -1, IgnoreEOS: true, Trace: rec})
	if err != nil {
		rec.End()
		return 0, err
	}
	for {
		ev, err := s.Next(ctx)
		if err = errors.Join(err, ev.Err); err != nil {
			rec.End()
			return 0, err
		}
		if ev.Finish != "" {
			break
		}
	}
	rec.End()
	got, err := store.Wait(ctx, rec.ID)
	if err != nil {
		return 0, err
	}
	shares := unexplained(got)
	if len(shares) == 0 {
		return 0, errors.New("bench-local: wanted decode passes to explain, found none: ask for at least 2 output tokens")
	}
	slices.Sort(shares)
	return shares[len(shares)/2], nil
}
