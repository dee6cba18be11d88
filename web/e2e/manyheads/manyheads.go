// Package manyheads makes a recording of many attention heads, for tests and measurements of the page that draws them. Its
// weights are the causal softmax of random linear maps of random vectors: a model of random weights, not an engine, and
// its engine name says so. It is never shipped.
//
// It does not know about the page or the browser.
package manyheads

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Name is the recording's id.
const Name = "many-heads"

// Layers, Heads and Tokens are the shape of the attention: 1,024 maps of 41 x 41.
const Layers, Heads, Tokens = 32, 32, 41

// Write writes Name.gbx into dir, from the checkout's root: the shipped recording's walk and tokens, cut to Tokens positions, with random attention.
func Write(root, dir string) error {
	trace, err := shipped(filepath.Join(root, "static", "recordings", "why-is-the-sky-blue.gbx"))
	if err != nil {
		return err
	}
	request := trace["request"].(map[string]any)
	prompt, output := request["prompt_tokens"].([]any), request["output_tokens"].([]any)
	request["output_tokens"] = output[:Tokens-len(prompt)+1] // the last token is never read
	model := trace["model"].(map[string]any)
	model["layers"], model["heads"], model["kv_heads"] = Layers, Heads, Heads/4
	trace["engine"] = map[string]any{"name": "random weights", "version": "0", "commit": "unknown"}
	delete(trace, "id")
	shape := []int{Layers, Heads, Tokens, Tokens}
	trace["arrays"] = map[string]any{"attention": map[string]any{"shape": shape, "dtype": "f4", "axes": []string{"layer", "head", "query", "key"}, "meaning": "softmax rows of a model of random weights"}}
	text, err := json.Marshal(trace)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, raw := range map[string][]byte{"trace.json": text, "attention.npy": npy(shape, attention())} {
		w, err := z.Create(name)
		if err != nil {
			return err
		}
		if _, err := w.Write(raw); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, Name+".gbx"), b.Bytes(), 0o644)
}

func shipped(path string) (map[string]any, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open("trace.json")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, 256<<20))
	d.UseNumber()
	trace := map[string]any{}
	return trace, d.Decode(&trace)
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
	out := make([]float32, Layers*Heads*Tokens*Tokens)
	for g := range Layers * Heads {
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
