package golden

import "fmt"

// Captures is what the reference sees inside the pass (captures.py).
type Captures struct {
	Heads   int               `json:"heads"`
	MadeBy  map[string]string `json:"made_by"`
	Prompts []*Captured       `json:"prompts"`

	// Words are the best and the second word after the prompt "sky"; Logit their logits, and Writers what embedding, heads
	// and feed-forwards add to them: embed, then of each layer its heads and its feed-forward.
	Words       [2]int32     `json:"words"`
	LogitFirst  float64      `json:"logit_first"`
	LogitSecond float64      `json:"logit_second"`
	Writers     [2][]float32 `json:"-"`

	// Ablate names parts of the model; Without[i] are the logits of Set.FixedIDs after the prompt "sky" without Ablate[i].
	Ablate  []string    `json:"ablate"`
	Without [][]float32 `json:"-"`
}

// Captured is one prompt seen from inside.
type Captured struct {
	Name      string      `json:"name"`
	Maps      [][2]int    `json:"maps"` // layer and head of the maps that are kept
	Rows      []int       `json:"rows"` // their queries
	Attention [][]float32 `json:"-"`    // by map and row: query+1 weights
	Signed    []float32   `json:"-"`    // [layer][head][query]: sum over keys of Sign(key) * weight
	Lens, Mid Lens        `json:"-"`
}

// Lens is the leading words of rows of the residual stream.
type Lens struct {
	IDs      [][]int32   // [layer*n + position][LensRanks], best first
	Logprobs [][]float32 // of IDs
}

// LensRanks is how many words are kept of each row.
const LensRanks = 5

// Sign is the factor of a key in Captured.Signed: -1 where bit 0 of splitmix64 of its position is set, else 1.
func Sign(key int) float64 {
	x := uint64(key) + 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	x ^= x >> 31
	return 1 - 2*float64(x&1)
}

// LoadCaptures reads the captures for the prompts of a set.
func (s *Set) LoadCaptures() (*Captures, error) {
	var c Captures
	if err := readJSON("captures.json", &c); err != nil {
		return nil, err
	}
	data, err := testdata.ReadFile("testdata/captures.npz")
	if err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	a, err := readNPZ("captures.npz", data)
	if err != nil {
		return nil, err
	}
	layers := s.Model.Layers
	for _, p := range c.Prompts {
		of := s.Prompt(p.Name)
		if of == nil {
			return nil, fmt.Errorf("golden: captures.json: prompt %q: not in index.json; run make.py, then captures.py", p.Name)
		}
		n := len(of.PromptIDs)
		p.Signed = a.floats(p.Name+"_attention_signed", 1, layers*c.Heads*n)[0]
		for key, l := range map[string]*Lens{"_lens_": &p.Lens, "_lens_mid_": &p.Mid} {
			l.IDs, l.Logprobs = a.ints(p.Name+key+"ids", layers*n, LensRanks), a.floats(p.Name+key+"logprob", layers*n, LensRanks)
		}
		p.readMaps(a)
	}
	for i, key := range []string{"first", "second"} {
		c.Writers[i] = a.floats("writers_"+key, 1, 1+layers*(c.Heads+1))[0]
	}
	c.Without = a.floats("ablate_fixed", len(c.Ablate), len(s.FixedIDs))
	return &c, a.err
}

// readMaps takes the kept rows of attention apart.
func (p *Captured) readMaps(a *arrays) {
	total := 0
	for _, q := range p.Rows {
		total += q + 1
	}
	all := a.floats(p.Name+"_attention", 1, total*len(p.Maps))[0]
	for range p.Maps {
		for _, q := range p.Rows {
			p.Attention = append(p.Attention, all[:q+1])
			all = all[q+1:]
		}
	}
}
