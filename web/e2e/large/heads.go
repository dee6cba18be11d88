// Package large makes recordings that are larger than those that ship, for tests and measurements of the pages that draw
// them. They are never shipped.
//
// It does not know about the pages or the browser.
package large

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
)

// Heads is the id of the recording that WriteHeads makes: of a model of random weights, not an engine, and its engine name
// says so.
const Heads = "many-heads"

// Layers, HeadsEach and Tokens are the shape of its attention: 1,024 maps of 41 x 41.
const Layers, HeadsEach, Tokens = 32, 32, 41

// WriteHeads writes Heads.gbx into dir, from the checkout's root: the shipped recording's walk and tokens, cut to Tokens
// positions, with attention that is the causal softmax of random linear maps of random vectors.
func WriteHeads(root, dir string) error {
	trace, err := shipped(filepath.Join(root, "static", "recordings", "why-is-the-sky-blue.gbx"))
	if err != nil {
		return err
	}
	request := trace["request"].(map[string]any)
	prompt, output := request["prompt_tokens"].([]any), request["output_tokens"].([]any)
	request["output_tokens"] = output[:Tokens-len(prompt)+1] // the last token is never read
	model := trace["model"].(map[string]any)
	model["layers"], model["heads"], model["kv_heads"] = Layers, HeadsEach, HeadsEach/4
	trace["engine"] = map[string]any{"name": "random weights", "version": "0", "commit": "unknown"}
	delete(trace, "id")
	shape := []int{Layers, HeadsEach, Tokens, Tokens}
	trace["arrays"] = map[string]any{"attention": map[string]any{"shape": shape, "dtype": "f4", "axes": []string{"layer", "head", "query", "key"}, "meaning": "softmax rows of a model of random weights"}}
	return write(dir, Heads, trace, map[string][]byte{"attention.npy": npy(shape, attention())})
}

// attention returns the maps in C order.
func attention() []float32 {
	const width = 16
	r := rand.New(rand.NewPCG(1, 2))
	vector := func() (v [width]float64) {
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return v
	}
	var x [Tokens][width]float64
	for i := range x {
		x[i] = vector()
	}
	out := make([]float32, Layers*HeadsEach*Tokens*Tokens)
	for g := range Layers * HeadsEach {
		var w [width][width]float64
		for i := range w {
			w[i] = vector()
		}
		for i := range Tokens {
			row, sum := out[(g*Tokens+i)*Tokens:][:i+1], 0.0
			for j := range row {
				s := 0.0
				for a := range width {
					for b := range width {
						s += x[i][a] * w[a][b] * x[j][b]
					}
				}
				e := math.Exp(s / (4 * width))
				row[j], sum = float32(e), sum+e
			}
			for j := range row {
				row[j] /= float32(sum)
			}
		}
	}
	return out
}

// npy is a NumPy 1.0 file.
func npy(shape []int, v []float32) []byte {
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d, %d), }", shape[0], shape[1], shape[2], shape[3])
	for (10+len(head)+1)%64 != 0 {
		head += " "
	}
	head += "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b, _ = binary.Append(append(b, head...), binary.LittleEndian, v)
	return b
}
