package capture_test

import (
	"testing"

	"glassbox/engine"
	"glassbox/engine/capture"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// BenchmarkCaptures tells what captures cost: a prompt of 36 tokens and an answer of 24 on the built-in model. in-pass is
// the time between the ops of all passes; after is the time from the last token to the answer's end.
func BenchmarkCaptures(b *testing.B) {
	e := open(b, testmodel.File(b), engine.Options{})
	ids := make([]int, 36)
	for i := range ids {
		ids[i] = i * 977 % 49152
	}
	for _, c := range []struct {
		name string
		spec trace.CaptureSpec
		off  capture.Ablation
	}{
		{"none", trace.CaptureSpec{}, capture.Ablation{}},
		{"attention", trace.CaptureSpec{Attention: true}, capture.Ablation{}},
		{"lens", trace.CaptureSpec{Lens: true}, capture.Ablation{}},
		{"values", trace.CaptureSpec{Values: true}, capture.Ablation{}},
		{"logits", trace.CaptureSpec{Logits: true}, capture.Ablation{}},
		{"all", everything, capture.Ablation{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var within, after, bytes int64
			for range b.N {
				r := request(ids, 24, c.spec, c.off)
				r.Trace = trace.NewRecorder("r", trace.Now(), c.spec)
				r.Logprobs = -1
				s, err := e.Submit(b.Context(), r)
				if err != nil {
					b.Fatal(err)
				}
				for end := false; !end; {
					ev, err := s.Next(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					end = ev.Finish != ""
				}
				var batch trace.Batch
				r.Trace.Drain(&batch)
				for _, p := range batch.Passes {
					within += p.Capture
				}
				after += r.Trace.Facts().CaptureNs
				for _, a := range r.Trace.TakeArrays() {
					n := int64(4)
					for _, d := range a.Shape {
						n *= int64(d)
					}
					bytes += n
				}
			}
			b.ReportMetric(float64(within)/1e6/float64(b.N), "ms-in-passes/op")
			b.ReportMetric(float64(after)/1e6/float64(b.N), "ms-after/op")
			b.ReportMetric(float64(bytes)/1e6/float64(b.N), "MB-arrays/op")
		})
	}
}
