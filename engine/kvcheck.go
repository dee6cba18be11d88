package engine

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"glassbox/engine/backend"
	"glassbox/engine/gguf"
	"glassbox/engine/kv"
	"glassbox/engine/model"
	"glassbox/engine/token"
)

// KVText is what KVCheck reads unless it is given another text: our own words, free for any use.
//
//go:embed kvcheck.txt
var KVText string

// KVQuality is what a number format of the KV cache costs, over the positions of a text: each token was given, and the
// distribution of the next one compared with that of a float16 cache.
type KVQuality struct {
	Type          string  `json:"type"` // as --kv-type takes it
	BytesPerToken int64   `json:"bytes_per_token"`
	Positions     int     `json:"positions"`
	MeanKL        float64 `json:"mean_kl"` // nats: mean of sum p ln(p/q), p with float16, q with this format
	MaxKL         float64 `json:"max_kl"`
	SameTop       float64 `json:"same_top"` // part of the positions at which both find the same token likeliest
	Perplexity    float64 `json:"perplexity"`
}

// kvChunk is how many tokens of the text run at a time.
const kvChunk = 32

// KVCheck runs at most most tokens of a text through a model with each format of the cache. Backend, Threads and Features
// of the options are used.
func KVCheck(f *gguf.File, o Options, text string, types []string, most int) ([]KVQuality, error) {
	m, err := model.Load(f)
	if err != nil {
		return nil, err
	}
	tok, err := token.FromGGUF(f)
	if err != nil {
		return nil, err
	}
	if err := o.fill(m); err != nil {
		return nil, err
	}
	var ids []int32
	for _, id := range tok.Encode(text, token.Options{AddSpecial: true}) {
		ids = append(ids, int32(id))
	}
	ids = ids[:min(len(ids), most, o.Context)]
	if len(ids) < 2 {
		return nil, fmt.Errorf("kvcheck: wanted a text of 2 tokens or more, found %d", len(ids))
	}
	base, _, err := kvRun(m, o, ids, "f16")
	if err != nil {
		return nil, err
	}
	var out []KVQuality
	for _, name := range types {
		rows, bytes, err := kvRun(m, o, ids, name)
		if err != nil {
			return nil, err
		}
		q := KVQuality{Type: name, BytesPerToken: bytes}
		q.compare(base, rows, ids)
		out = append(out, q)
	}
	return out, nil
}

// kvRun returns the log-probabilities of every next token of the text with a format of the cache.
func kvRun(m *model.Model, o Options, ids []int32, name string) (rows [][]float32, bytesPerToken int64, err error) {
	types, err := backend.ParseKV(name)
	if err != nil {
		return nil, 0, err
	}
	open, ok := backends[o.Backend]
	if !ok {
		return nil, 0, fmt.Errorf("backend: wanted cpu or ref, found %q", o.Backend)
	}
	be, err := open(m.Graph, backend.Options{Threads: o.Threads, Features: o.Features, KV: types, MaxTokens: kvChunk, MaxOut: kvChunk, MaxScores: maxScores, Pages: kv.PagesFor(len(ids))})
	if err != nil {
		return nil, 0, err
	}
	defer be.Close()
	var pages []kv.Page
	for p := range kv.PagesFor(len(ids)) {
		pages = append(pages, kv.Page(p))
	}
	for from := 0; from < len(ids); from += kvChunk {
		b := &backend.Batch{Seqs: []backend.Seq{{Pages: pages}}}
		for i, id := range ids[from:min(from+kvChunk, len(ids))] {
			b.Tokens, b.Pos, b.Seq, b.Out = append(b.Tokens, id), append(b.Pos, int32(from+i)), append(b.Seq, 0), append(b.Out, int32(i))
		}
		if err := be.Run(b, nil); err != nil {
			return nil, 0, err
		}
		for i := range b.Out {
			rows = append(rows, logSoftmax(slices.Clone(be.Logits(i))))
		}
	}
	return rows, cacheOf(m, be.KV()).BytesPerToken, nil
}

// logSoftmax turns logits into log-probabilities, in place.
func logSoftmax(x []float32) []float32 {
	most, sum := float64(slices.Max(x)), 0.0
	for _, v := range x {
		sum += math.Exp(float64(v) - most)
	}
	lse := most + math.Log(sum)
	for i, v := range x {
		x[i] = float32(float64(v) - lse)
	}
	return x
}

// compare fills the figures from the log-probabilities p of the base and q of this format.
func (k *KVQuality) compare(p, q [][]float32, ids []int32) {
	k.Positions = len(q)
	same, sum, loss := 0, 0.0, 0.0
	for i := range q {
		kl := 0.0
		for j, lp := range p[i] {
			kl += math.Exp(float64(lp)) * (float64(lp) - float64(q[i][j]))
		}
		sum += kl
		k.MaxKL = max(k.MaxKL, kl)
		if slices.Index(p[i], slices.Max(p[i])) == slices.Index(q[i], slices.Max(q[i])) {
			same++
		}
		if i+1 < len(ids) {
			loss -= float64(q[i][ids[i+1]])
		}
	}
	k.MeanKL = sum / float64(len(q))
	k.SameTop = float64(same) / float64(len(q))
	k.Perplexity = math.Exp(loss / float64(len(ids)-1))
}

// KVTypes are the formats that KVCheck compares by default and that fit a model's heads.
func KVTypes(f *gguf.File) ([]string, error) {
	m, err := model.Load(f)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range backend.KVNames {
		types, err := backend.ParseKV(name)
		if err != nil {
			return nil, err
		}
		if _, err := types.Or(backend.KV{}, m.Graph.Attn.HeadDim); err == nil {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("kvcheck: wanted one of %s, found none that fits heads of %d numbers", strings.Join(backend.KVNames, ", "), m.Graph.Attn.HeadDim)
	}
	return out, nil
}
