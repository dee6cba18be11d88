package backend

import (
	"fmt"
	"strings"

	"glassbox/engine/tensor"
)

// KV are the number formats of the keys and values in the cache: F32, F16, Q8_0 or Q4_0 each. Q8_0 and Q4_0 share a scale
// among 32 numbers of a head (ggml's blocks), so the head's width must be a multiple of 32.
type KV struct{ Keys, Values tensor.Type }

var kvTypes = map[string]tensor.Type{"f32": tensor.F32, "f16": tensor.F16, "q8_0": tensor.Q8_0, "q4_0": tensor.Q4_0}

// KVNames are the settings that quality is compared of.
var KVNames = []string{"f32", "f16", "q8_0", "q8_0/f16", "f16/q4_0", "k8v4", "q4_0"}

// ParseKV reads a setting: the format of both, KEYS/VALUES, or k8v4 for q8_0/q4_0. "" gives nil: what the backend likes best.
func ParseKV(name string) (*KV, error) {
	if name == "" {
		return nil, nil
	}
	k, v, both := strings.Cut(strings.ToLower(name), "/")
	switch {
	case k == "k8v4" && !both:
		k, v = "q8_0", "q4_0"
	case !both:
		v = k
	}
	keys, ok := kvTypes[k]
	values, ok2 := kvTypes[v]
	if !ok || !ok2 {
		return nil, fmt.Errorf("kv-type: wanted f32, f16, q8_0, q4_0, k8v4 or KEYS/VALUES such as q8_0/f16, found %q", name)
	}
	return &KV{keys, values}, nil
}

// String is the setting's name.
func (t KV) String() string {
	name := func(t tensor.Type) string { return strings.ToLower(t.Name()) }
	switch {
	case t == KV{tensor.Q8_0, tensor.Q4_0}:
		return "k8v4"
	case t.Keys == t.Values:
		return name(t.Keys)
	}
	return name(t.Keys) + "/" + name(t.Values)
}

// Or returns the formats, or def where none were chosen. It refuses a width of heads that they cannot hold.
func (t *KV) Or(def KV, headDim int) (KV, error) {
	if t == nil {
		return def, nil
	}
	for _, f := range []tensor.Type{t.Keys, t.Values} {
		if n := f.BlockSize(); headDim%max(n, 1) != 0 {
			return def, fmt.Errorf("kv-type %s: wanted heads whose width is a multiple of %d, found %d: choose f16", t, n, headDim)
		}
	}
	return *t, nil
}
