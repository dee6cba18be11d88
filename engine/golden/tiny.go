package golden

import (
	"encoding/json"
	"fmt"
)

// Tiny is a tiny model of one architecture, made up by transformers from a formula, and the logits that it computes for a
// sequence of ids, in float64 (tiny.py). Package testmodel writes the same model as a GGUF file.
type Tiny struct {
	Name    string          `json:"name"`
	Arch    string          `json:"arch"`    // as in general.architecture
	Config  json.RawMessage `json:"config"`  // what transformers was given
	IDs     []int32         `json:"ids"`     // the sequence
	Tensors []string        `json:"tensors"` // names in transformers' checkpoint
	Logits  [][]float32     `json:"-"`       // by position

	Witness *TinyWitness `json:"-"` // nil before tiny_witness.py has run
}

// TinyWitness is llama.cpp on the file that package testmodel writes.
type TinyWitness struct {
	Name        string      `json:"name"`
	SHA256      string      `json:"sha256"`           // of the file
	Distance    float64     `json:"max_abs_dlogprob"` // to the reference, over all positions and words
	SameTopWord int         `json:"same_top_word"`    // positions
	TopIDs      [][]int32   `json:"top_ids"`          // [position][5]
	TopLogprobs [][]float32 `json:"top_logprobs"`
}

// TinyVocab is the vocabulary of each tiny model.
const TinyVocab = 288

// LoadTiny reads the tiny models' reference.
func LoadTiny() ([]*Tiny, error) {
	var index struct {
		Models []*Tiny `json:"models"`
	}
	var witness struct {
		Models []*TinyWitness `json:"models"`
	}
	if err := readJSON("tiny.json", &index); err != nil {
		return nil, err
	}
	if err := readJSON("tiny_witness.json", &witness); err != nil {
		return nil, err
	}
	data, err := testdata.ReadFile("testdata/tiny.npz")
	if err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	a, err := readNPZ("tiny.npz", data)
	if err != nil {
		return nil, err
	}
	for _, m := range index.Models {
		m.Logits = a.floats(m.Name, len(m.IDs), TinyVocab)
		for _, w := range witness.Models {
			if w.Name == m.Name {
				m.Witness = w
			}
		}
	}
	return index.Models, a.err
}
