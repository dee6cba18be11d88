// Package golden holds what independent readers of the built-in GGUF file compute, so that every backend can be compared
// with someone else's arithmetic: logits, answers and the residual stream from transformers on PyTorch (float32), and
// answers and log-probabilities from llama.cpp. The data and the programs that made it stand beside it: prompts.json,
// make.py, witness.py, testdata. It is read by tests only.
//
// At every position of a prompt the logits are kept in four ways, because 49,152 numbers a position would be too many:
// the 32 leading words, a fixed set of 256 words, three sums over the vocabulary, and a sketch (see Sketch) from which
// the distance over the whole vocabulary follows. At three positions of each prompt all logits are kept.
//
// Beside it stand tiny models of every architecture, made up from a formula, with all logits of one sequence each: tiny.py,
// tiny_witness.py.
//
// It does not know about backends, models, GGUF or any other package of the engine.
package golden

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed testdata
var testdata embed.FS

// Set is the whole of the golden data.
type Set struct {
	Model struct {
		File   string `json:"file"`
		SHA256 string `json:"sha256"`
		Layers int    `json:"layers"`
		Width  int    `json:"width"`
		Vocab  int    `json:"vocab"`
	} `json:"model"`
	MadeBy       map[string]string `json:"made_by"` // command and versions
	Top          int               `json:"top"`     // leading words kept a position
	Bins         int               `json:"bins"`    // length of a sketch
	AnswerTokens int               `json:"answer_tokens"`
	Traced       string            `json:"traced"`    // the prompt that has Residuals
	FixedIDs     []int32           `json:"fixed_ids"` // the words of Row.Fixed
	Prompts      []*Prompt         `json:"prompts"`

	// WitnessDistance is llama.cpp's own mean |Δlogprob| of its five leading words over all answers.
	WitnessDistance float64 `json:"-"`
	WitnessMadeBy   map[string]string
	sketch          *Sketch
}

// Prompt is one conversation: its ids, the reference's greedy answer, and the logits along both.
type Prompt struct {
	Name           string    `json:"name"`
	Messages       []Message `json:"messages"`
	Rendered       string    `json:"rendered"`        // by the file's chat template, with the assistant's opening
	PromptIDs      []int32   `json:"prompt_ids"`      // n ids
	AnswerIDs      []int32   `json:"answer_ids"`      // AnswerTokens greedy ids; an end-of-turn id does not end it
	Answer         string    `json:"answer"`          // text of AnswerIDs, special tokens included
	EndsAt         int       `json:"ends_at"`         // index of the first end-of-turn id in AnswerIDs, or -1
	SmallestMargin float64   `json:"smallest_margin"` // least lead of first over second word along the answer, in logits

	// Float32ToFloat64 is how far the reference (float32) is from the same model computed in float64 throughout.
	Float32ToFloat64 struct {
		MaxAbs float64 `json:"max_abs"`
		RMS    float64 `json:"rms"`
	} `json:"float32_to_float64"`
	SameWordsInFloat64 bool `json:"same_words_in_float64"`

	Positions []Row      `json:"-"` // one a prompt position: the logits after reading PromptIDs[:i+1]
	Answers   []Row      `json:"-"` // Answers[k] chose AnswerIDs[k]; no Fixed and no Sketch. Answers[0] is Positions[n-1]
	Full      []Full     `json:"-"` // all logits at three positions of Forced()
	Residuals *Residuals `json:"-"` // nil except for Set.Traced
	Witness   *Witness   `json:"-"` // llama.cpp on the same prompt
}

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Row is what is kept of the logits at one position.
type Row struct {
	TopIDs []int32   // [Top] the leading words, best first
	Top    []float32 // [Top] their logits
	LSE    float32   // log of the sum of exp(logit) over the vocabulary; logprob = logit - LSE
	L2     float32   // Euclidean length of the logits
	Fixed  []float32 // [len(FixedIDs)] logits of the fixed words
	Sketch []float32 // [Bins], see Sketch
}

// Margin is the lead of the best word over the second, in logits.
func (r *Row) Margin() float64 { return float64(r.Top[0]) - float64(r.Top[1]) }

// Full is every logit at one position of Prompt.Forced.
type Full struct {
	Position int
	Logits   []float32 // [vocab]
}

// Residuals is the residual stream of one prompt: row 0 before the first block, row l+1 after block l.
type Residuals struct {
	Norm    [][]float32 // [layers+1][n] Euclidean length at every position
	MidNorm [][]float32 // [layers][n] after attention, before feed-forward
	Last    [][]float32 // [layers+1][width] the stream itself at the last position
	MidLast [][]float32 // [layers][width]
}

// Witness is llama.cpp on the same prompt and file.
type Witness struct {
	Name        string      `json:"name"`
	TokenizeIDs []int32     `json:"tokenize"`             // its ids of Rendered
	GreedyIDs   []int32     `json:"greedy_ids"`           // its own whole answer, at most 256 ids
	GreedyText  string      `json:"greedy_text"`          // without special tokens
	Stop        string      `json:"stop"`                 // "eos" or "limit"
	ForcedIDs   []int32     `json:"forced_ids"`           // [AnswerTokens] its best word along the reference's answer
	TopIDs      [][]int32   `json:"forced_top_ids"`       // [AnswerTokens][5], or [0] where a word ends inside a character
	TopLogprobs [][]float32 `json:"forced_top_logprobs"`  // of TopIDs
	Distance    float64     `json:"mean_abs_dlogprob"`    // to the reference, over those words
	SameTopWord int         `json:"same_top_word"`        // positions of AnswerTokens
	Beyond      int         `json:"words_beyond_the_top"` // of those words, not among the reference's 32 leaders; not counted
}

// Forced is the sequence that is fed to reach every kept position in one pass: the prompt and all but the last id of the
// answer. The logits at index len(PromptIDs)-1+k belong to Answers[k].
func (p *Prompt) Forced() []int32 {
	ids := append([]int32(nil), p.PromptIDs...)
	return append(ids, p.AnswerIDs[:len(p.AnswerIDs)-1]...)
}

// Load reads the golden data that is compiled into this package. An error names the file and the array at fault.
func Load() (*Set, error) {
	var s Set
	if err := readJSON("index.json", &s); err != nil {
		return nil, err
	}
	s.sketch = NewSketch(s.Model.Vocab, s.Bins)
	for _, p := range s.Prompts {
		if err := s.loadPrompt(p); err != nil {
			return nil, err
		}
	}
	var w struct {
		MadeBy   map[string]string `json:"made_by"`
		Distance float64           `json:"mean_abs_dlogprob"`
		Prompts  []*Witness        `json:"prompts"`
	}
	if err := readJSON("witness.json", &w); err != nil {
		return nil, err
	}
	s.WitnessDistance, s.WitnessMadeBy = w.Distance, w.MadeBy
	for _, one := range w.Prompts {
		p := s.Prompt(one.Name)
		if p == nil {
			return nil, fmt.Errorf("golden: witness.json: prompt %q: not in index.json; run make.py, then witness.py", one.Name)
		}
		p.Witness = one
	}
	return &s, nil
}

// Prompt finds a prompt by name; nil if there is none.
func (s *Set) Prompt(name string) *Prompt {
	for _, p := range s.Prompts {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func readJSON(name string, into any) error {
	data, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		return fmt.Errorf("golden: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("golden: %s: %w", name, err)
	}
	return nil
}

func (s *Set) loadPrompt(p *Prompt) error {
	data, err := testdata.ReadFile("testdata/" + p.Name + ".npz")
	if err != nil {
		return fmt.Errorf("golden: %w", err)
	}
	a, err := readNPZ(p.Name+".npz", data)
	if err != nil {
		return err
	}
	n, v := len(p.PromptIDs), s.Model.Vocab
	p.Positions = a.rows("prompt_", n, s.Top)
	a.fill("prompt_fixed", n, len(s.FixedIDs), func(i int, x []float32) { p.Positions[i].Fixed = x })
	a.fill("prompt_sketch", n, s.Bins, func(i int, x []float32) { p.Positions[i].Sketch = x })
	p.Answers = a.rows("answer_", s.AnswerTokens, s.Top)
	at := a.ints("full_positions", 1, 3)[0]
	p.Full = make([]Full, len(at))
	a.fill("full", len(at), v, func(i int, x []float32) { p.Full[i] = Full{int(at[i]), x} })
	if p.Name == s.Traced {
		l, d := s.Model.Layers, s.Model.Width
		p.Residuals = &Residuals{
			Norm: a.floats("residual_norm", l+1, n), MidNorm: a.floats("residual_mid_norm", l, n),
			Last: a.floats("residual_last", l+1, d), MidLast: a.floats("residual_mid_last", l, d),
		}
	}
	return a.err
}
