package steps

import (
	"testing"

	"glassbox/engine"
	"glassbox/trace/file"
)

// The first recording of a process pays for parsing the sources; the others do not.
func BenchmarkFirstApply(b *testing.B) {
	for b.Loop() {
		Glassbox(engine.Sources).Apply(&file.Recording{Device: file.Device{Kind: "cpu"}})
	}
}

func BenchmarkApply(b *testing.B) {
	c := Glassbox(engine.Sources)
	rec := &file.Recording{Device: file.Device{Kind: "cpu"}}
	for range 100_000 {
		rec.Spans = append(rec.Spans, file.Span{Step: "attn_q", Op: "attn_q", Kernel: "mvQ4_1 avx2"})
	}
	for b.Loop() {
		c.Apply(rec)
	}
}
