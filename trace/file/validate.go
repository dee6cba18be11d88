package file

import (
	"fmt"
	"slices"
)

// longest is the largest time and count accepted from a file: sums of two never overflow.
const longest = int64(1) << 61

var (
	provs  = []string{"measured", "derived", "declared"}
	stages = []string{"receive", "schedule", "compute", "deliver"}
	kinds  = []string{"prefill", "decode", "verify", "draft"}
)

// validate checks what the users of a recording rely on.
func validate(rec *Recording) error {
	for i := range rec.Spans {
		s := &rec.Spans[i]
		if s.DurNs < 0 || s.DurNs > longest || s.StartNs < 0 || s.StartNs > longest {
			return fmt.Errorf("spans[%d] (%.80q): start_ns and dur_ns: wanted 0 or more, found %d and %d", i, s.ID, s.StartNs, s.DurNs)
		}
		if s.Pass < None || s.Layer < None {
			return fmt.Errorf("spans[%d] (%.80q): pass and layer: wanted 0 or more, found %d and %d", i, s.ID, s.Pass, s.Layer)
		}
		if !slices.Contains(provs, s.Prov) {
			return fmt.Errorf("spans[%d] (%.80q).prov: wanted measured, derived or declared, found %.80q", i, s.ID, s.Prov)
		}
		if i > 0 && s.StartNs < rec.Spans[i-1].StartNs {
			return fmt.Errorf("spans[%d] (%.80q): wanted spans by start, found %d after %d", i, s.ID, s.StartNs, rec.Spans[i-1].StartNs)
		}
	}
	for i := range rec.Walk {
		s := &rec.Walk[i]
		if !slices.Contains(stages, s.Stage) {
			return fmt.Errorf("walk[%d] (%.80q).stage: wanted receive, schedule, compute or deliver, found %.80q", i, s.ID, s.Stage)
		}
		for k, n := range s.Spans {
			if n < 0 || n >= len(rec.Spans) {
				return fmt.Errorf("walk[%d] (%.80q).spans[%d]: wanted 0 to %d, found %d", i, s.ID, k, len(rec.Spans)-1, n)
			}
		}
	}
	for i, p := range rec.Passes {
		if !slices.Contains(kinds, p.Kind) {
			return fmt.Errorf("passes[%d].kind: wanted prefill, decode, verify or draft, found %.80q", i, p.Kind)
		}
		if p.DurNs < 0 || p.DurNs > longest || p.StartNs < 0 || p.StartNs > longest || p.Index < 0 || p.Tokens < 0 || p.Requests < 0 {
			return fmt.Errorf("passes[%d]: wanted index, counts and times of 0 or more, found %+v", i, p)
		}
	}
	if err := validateCalls(rec); err != nil {
		return err
	}
	return validateMemory(rec)
}
