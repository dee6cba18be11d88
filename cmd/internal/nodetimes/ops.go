package main

import (
	"regexp"
	"slices"

	"glassbox/trace/file"
)

// same says which ops here do what a node of llama.cpp's graph does, by the node's name without its layer, and its operation.
var same = []struct {
	name, op string
	nth      int // of several with this name in a layer
	ops      []string
	note     string
}{
	{name: "embd", op: "GET_ROWS", ops: []string{"embed"}},
	{name: "norm", op: "RMS_NORM", ops: []string{"attn_norm"}},
	{name: "norm", op: "RMS_NORM", nth: 1, ops: []string{"ffn_norm"}},
	{name: "attn_norm", op: "MUL", ops: []string{"attn_norm"}},
	{name: "Qcur", op: "MUL_MAT", ops: []string{"attn_q"}},
	{name: "Kcur", op: "MUL_MAT", ops: []string{"attn_k"}},
	{name: "Vcur", op: "MUL_MAT", ops: []string{"attn_v"}},
	{name: "Qcur", op: "ROPE", ops: []string{"rope"}},
	{name: "Kcur", op: "ROPE", ops: []string{"rope"}},
	{name: "cache_k", op: "SET_ROWS", ops: []string{"kv_write"}},
	{name: "cache_v", op: "SET_ROWS", ops: []string{"kv_write"}},
	{op: "FLASH_ATTN_EXT", ops: []string{"attn_scores", "attn_softmax", "attn_mix"}, note: "flash attention: scores and softmax nodes do not exist"},
	{name: "attn_out", op: "MUL_MAT", ops: []string{"attn_out"}},
	{name: "ffn_inp", op: "ADD", ops: []string{"attn_residual"}},
	{name: "ffn_norm", op: "MUL", ops: []string{"ffn_norm"}},
	{name: "ffn_gate", op: "MUL_MAT", ops: []string{"ffn_gate"}},
	{name: "ffn_up", op: "MUL_MAT", ops: []string{"ffn_up"}},
	{name: "ffn_swiglu", op: "SWIGLU", ops: []string{"ffn_swiglu"}},
	{name: "ffn_out", op: "MUL_MAT", ops: []string{"ffn_down"}},
	{name: "l_out", op: "ADD", ops: []string{"ffn_residual"}},
	{name: "result_norm", op: "MUL", ops: []string{"out_norm"}},
	{name: "result_output", op: "MUL_MAT", ops: []string{"lm_head"}},
}

// layered takes the layer and the mark of a view off a node's name; bare names that ggml gave (node_7) have none left.
var layered = regexp.MustCompile(`^(.*?)(?:-\d+|_l\d+)?(?: \([a-z]+\))*$`)

// opsOf returns the ops here that do what a node does, nil for none.
func opsOf(n *node) (base string, ops []string, note string) {
	base = layered.FindStringSubmatch(n.Name)[1]
	if base == "norm" && n.Name == "norm" { // outside the layers: the last one
		return base, []string{"out_norm"}, ""
	}
	for _, s := range same {
		if s.op == n.Op && (s.name == base || s.name == "") && s.nth == n.Nth {
			return base, s.ops, s.note
		}
	}
	return base, nil, "no op here does this: rows that give no logits are dropped, and copies"
}

// peer sums llama.cpp's nodes by op. Of its runs, as of ours, the one is taken whose decode passes were least disturbed.
func (c *config) peer(plain, timed []run) file.Peer {
	best := least(timed)
	p := file.Peer{
		Engine: file.Engine{Name: "llamacpp", Version: c.version, Commit: c.version}, Threads: c.threads, Passes: len(best.Passes),
		PassNs: median(least(plain).Passes), TimedNs: median(best.Passes),
		How: "ggml's graph callback (cb_eval): each node runs alone and is waited for, so none are fused",
	}
	for i := range best.Nodes {
		n := &best.Nodes[i]
		base, ops, note := opsOf(n)
		at := slices.IndexFunc(p.Ops, func(o file.PeerOp) bool { return slices.Equal(o.Ops, ops) })
		if at < 0 {
			at = len(p.Ops)
			p.Ops = append(p.Ops, file.PeerOp{Ops: ops, Note: note})
		}
		what := base + " " + n.Op
		if unnamed.MatchString(base) {
			what = n.Op
		}
		if !slices.Contains(p.Ops[at].Nodes, what) {
			p.Ops[at].Nodes = append(p.Ops[at].Nodes, what)
		}
		p.Ops[at].Ns += n.Ns
	}
	return p
}

func least(runs []run) *run {
	best := &runs[0]
	for i := range runs {
		if median(runs[i].Passes) < median(best.Passes) {
			best = &runs[i]
		}
	}
	return best
}

// unnamed are the names that ggml makes up.
var unnamed = regexp.MustCompile(`^(node_\d+|)$`)
