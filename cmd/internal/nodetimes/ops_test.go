package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
	"glassbox/trace/file"
)

func TestNodesAreFoundBesideOurOps(t *testing.T) {
	known := map[string]bool{}
	for _, op := range trace.Ops() {
		known[op.String()] = true
	}
	for _, s := range same {
		for _, op := range s.ops {
			require.True(t, known[op], op)
		}
	}
	for _, c := range []struct {
		n    node
		want []string
	}{
		{node{Name: "norm-3", Op: "RMS_NORM"}, []string{"attn_norm"}},
		{node{Name: "norm-3", Op: "RMS_NORM", Nth: 1}, []string{"ffn_norm"}},
		{node{Name: "norm", Op: "RMS_NORM"}, []string{"out_norm"}},
		{node{Name: "Qcur-29", Op: "ROPE"}, []string{"rope"}},
		{node{Name: "cache_v_l12 (reshaped) (view)", Op: "SET_ROWS"}, []string{"kv_write"}},
		{node{Name: "node_26", Op: "FLASH_ATTN_EXT"}, []string{"attn_scores", "attn_softmax", "attn_mix"}},
		{node{Name: "node_986", Op: "GET_ROWS"}, nil},
	} {
		_, ops, note := opsOf(&c.n)
		require.Equal(t, c.want, ops, c.n.Name)
		require.Equal(t, len(c.want) == 0 || len(c.want) == 3, note != "", c.n.Name)
	}
}

func TestRunsAreReadAndTheLeastDisturbedIsTaken(t *testing.T) {
	runs, err := readRuns([]byte(`{"timed":false,"tokens":[1],"passes":[3,1,2],"nodes":[]}
{"timed":true,"tokens":[1],"passes":[5,4,6],"nodes":[{"name":"Qcur-0","op":"MUL_MAT","nth":0,"calls":3,"ns":2},{"name":"Qcur-1","op":"MUL_MAT","nth":0,"calls":3,"ns":3}]}
`))
	require.NoError(t, err)
	slow := run{Passes: []int64{9}, Nodes: []node{{Name: "Qcur-0", Op: "MUL_MAT", Ns: 99}}}
	p := (&config{threads: 2, version: "b1"}).peer([]run{slow, runs[0]}, []run{slow, runs[1]})
	require.Equal(t, []int64{2, 5, 3}, []int64{p.PassNs, p.TimedNs, int64(p.Passes)})
	require.Equal(t, []file.PeerOp{{Ops: []string{"attn_q"}, Nodes: []string{"Qcur MUL_MAT"}, Ns: 5}}, p.Ops)
	for _, bad := range []string{"", "x", `{"timed":true,"passes":[1]}`, `{"timed":false,"passes":[]}`} {
		_, err := readRuns([]byte(bad))
		require.Error(t, err, bad)
	}
}
