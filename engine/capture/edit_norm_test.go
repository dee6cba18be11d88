package capture_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/capture"
	"glassbox/engine/gguf"
	"glassbox/engine/golden"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// What a branch that is switched off adds is nothing, or the mean of what is added: not of what its norm takes.
func TestABranchIsSwitchedOffAfterItsNorm(t *testing.T) {
	models, err := golden.LoadTiny()
	require.NoError(t, err)
	g := models[len(models)-1]
	require.Equal(t, "gemma3", g.Arch)
	f, err := gguf.Parse(g.Name, testmodel.Reference(t, g))
	require.NoError(t, err)
	e := open(t, f, engine.Options{Backend: "ref"})
	const n = 20
	for op, part := range map[trace.OpID]string{trace.OpAttnPostNorm: "L2.attn", trace.OpFFNPostNorm: "L2.ffn"} {
		// added is what the residual add of layer 2 takes beside the stream, at the last position of a prompt.
		added := func(ids []int32, off capture.Ablation) []float32 {
			a := ask(t, e, request(wide(ids), 1, trace.CaptureSpec{Values: true}, off))
			add := map[trace.OpID]string{trace.OpAttnPostNorm: "attn_residual", trace.OpFFNPostNorm: "ffn_residual"}[op]
			in, out := a.f4(t, "tape_in/2/"+add, 128), a.f4(t, "tape_out/2/"+add, 64)
			branch := in[64:]
			for j := range out {
				require.Equal(t, in[j]+branch[j], out[j])
			}
			return branch
		}
		mean := make([]float64, 64)
		for i := range n {
			for j, v := range added(g.IDs[:i+1], capture.Ablation{}) {
				mean[j] += float64(v) / n
			}
		}
		for j, v := range added(g.IDs[:n], off(t, e, part+"=mean")) {
			require.InDelta(t, mean[j], v, 1e-5, part)
		}
		for _, v := range added(g.IDs[:n], off(t, e, part)) {
			require.Zero(t, v, part)
		}
	}
}
