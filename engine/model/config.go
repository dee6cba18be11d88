// Package model reads a checkpoint's shape and weights from a GGUF file and writes each architecture's forward pass once,
// as a list of named ops. One architecture is one file: the checkpoint map beside the forward.
//
// It does not know about devices, batches or requests.
package model

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"glassbox/engine/gguf"
)

// Config is the shape of a model, as declared in its file.
type Config struct {
	Arch     string
	Name     string
	Quant    string // of most weights: "Q4_1"
	Layers   int
	Width    int // of the residual stream
	Heads    int
	KVHeads  int
	HeadDim  int
	FFN      int // width of the feed-forward
	Vocab    int
	Context  int // positions the model was trained for
	Eps      float32
	RopeBase float64
	RopeDim  int
	Scaling  RopeScaling
}

// limits keep hostile counts from being multiplied or allocated for.
const (
	maxLayers  = 1 << 12
	maxWidth   = 1 << 20
	maxHeads   = 1 << 12
	maxContext = 1 << 27
)

// readConfig reads "ARCH.*" keys and checks every number before anything is divided, multiplied or allocated by it.
func readConfig(f *gguf.File) (*Config, error) {
	arch, err := f.String("general.architecture")
	if err != nil {
		return nil, err
	}
	if _, ok := architectures[arch]; !ok {
		return nil, fmt.Errorf("%s: general.architecture: wanted one of %s, found %q: this architecture is not supported", f.Name, known(), arch)
	}
	r := configReader{f: f, arch: arch}
	c := &Config{Arch: arch}
	c.Name = r.text("general.name")
	c.Layers = r.count("block_count", -1, maxLayers)
	c.Width = r.count("embedding_length", -1, maxWidth)
	c.FFN = r.count("feed_forward_length", -1, maxWidth)
	c.Heads = r.count("attention.head_count", -1, maxHeads)
	c.KVHeads = r.count("attention.head_count_kv", c.Heads, maxHeads)
	c.Context = r.count("context_length", -1, maxContext)
	if r.err != nil {
		return nil, r.err
	}
	if c.Width%c.Heads != 0 && r.count("attention.key_length", 0, maxWidth) == 0 {
		return nil, r.fail("embedding_length", fmt.Sprintf("a multiple of the %d heads", c.Heads), c.Width)
	}
	if c.Heads%c.KVHeads != 0 {
		return nil, r.fail("attention.head_count_kv", fmt.Sprintf("a divisor of the %d heads", c.Heads), c.KVHeads)
	}
	c.HeadDim = r.count("attention.key_length", c.Width/c.Heads, maxWidth)
	c.RopeDim = r.count("rope.dimension_count", c.HeadDim, maxWidth)
	if v := r.count("attention.value_length", c.HeadDim, maxWidth); r.err == nil && v != c.HeadDim {
		return nil, r.fail("attention.value_length", fmt.Sprintf("%d, as attention.key_length", c.HeadDim), v)
	}
	c.RopeBase = r.float("rope.freq_base", 10000)
	c.Scaling = r.scaling(c.Context)
	c.Eps = float32(r.float("attention.layer_norm_rms_epsilon", math.NaN()))
	if r.err != nil {
		return nil, r.err
	}
	if c.HeadDim > 1<<12 || c.HeadDim%2 != 0 {
		return nil, r.fail("attention.key_length", "an even number up to 4096", c.HeadDim)
	}
	if c.RopeDim > c.HeadDim || c.RopeDim%2 != 0 {
		return nil, r.fail("rope.dimension_count", fmt.Sprintf("an even number up to the head's %d", c.HeadDim), c.RopeDim)
	}
	if !(c.RopeBase > 0) || math.IsInf(c.RopeBase, 0) {
		return nil, r.fail("rope.freq_base", "a positive number", c.RopeBase)
	}
	if !(c.Eps > 0) || c.Eps > 1 {
		return nil, r.fail("attention.layer_norm_rms_epsilon", "a number above 0 and up to 1", c.Eps)
	}
	if err := c.Scaling.check(&r, c.RopeBase); err != nil {
		return nil, err
	}
	return c, r.unsupported()
}

// configReader reads keys of one architecture and keeps the first error.
type configReader struct {
	f    *gguf.File
	arch string
	err  error
}

// fail words a refusal: file, key, wanted, found.
func (r *configReader) fail(key, wanted string, found any) error {
	return fmt.Errorf("%s: %s.%s: wanted %s, found %v: the file is damaged or not for this engine", r.f.Name, r.arch, key, wanted, found)
}

// count reads a number from 1 to most; def is used when the key is absent, -1 meaning that it must be there.
func (r *configReader) count(key string, def, most int) int {
	if r.err != nil {
		return 0
	}
	full := r.arch + "." + key
	var n uint64
	var err error
	if def >= 0 {
		if n, err = r.f.UintOr(full, uint64(def)); err == nil && n == uint64(def) {
			return def
		}
	} else {
		n, err = r.f.Uint(full)
	}
	if err != nil {
		r.err = err
		return 0
	}
	if n < 1 || n > uint64(most) {
		r.err = r.fail(key, fmt.Sprintf("1 to %d", most), n)
		return 0
	}
	return int(n)
}

// float reads a number; a NaN default means that the key must be there.
func (r *configReader) float(key string, def float64) float64 {
	if r.err != nil {
		return 0
	}
	full := r.arch + "." + key
	var v float64
	if math.IsNaN(def) {
		v, r.err = r.f.Float(full)
	} else {
		v, r.err = r.f.FloatOr(full, def)
	}
	return v
}

// text reads a string that may be absent.
func (r *configReader) text(key string) string {
	if r.err != nil {
		return ""
	}
	var s string
	s, r.err = r.f.StringOr(key, "")
	return s
}

// changers are keys that change the arithmetic of architectures near to those here, where they are not 0.
var changers = []string{"attn_logit_softcapping", "final_logit_softcapping", "attention.scale", "attention.clamp_kqv",
	"attention.max_alibi_bias", "logit_scale", "residual_scale", "embedding_scale"}

// unsupported refuses keys whose meaning this engine does not compute: a wrong answer would look like a right one.
func (r *configReader) unsupported() error {
	if n, err := r.f.UintOr(r.arch+".expert_count", 0); err != nil {
		return err
	} else if n != 0 {
		return r.fail("expert_count", "0 (mixtures of experts are not supported)", n)
	}
	for _, key := range changers {
		if v, err := r.f.FloatOr(r.arch+"."+key, 0); err != nil {
			return err
		} else if v != 0 {
			return r.fail(key, "none: this is not computed", v)
		}
	}
	return nil
}

// known lists the architectures.
func known() string {
	names := make([]string, 0, len(architectures))
	for n := range architectures {
		names = append(names, n)
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}
