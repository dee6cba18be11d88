package model

import (
	"glassbox/engine/gguf"
	"glassbox/engine/graph"
)

// architecture turns a config and a file's tensors into a forward pass.
type architecture func(b *graph.Builder, c *Config, l *loader)

// architectures by the name in general.architecture. To add one, write its file and add its line.
var architectures = map[string]architecture{
	"llama":  llama,
	"qwen2":  qwen2,
	"qwen3":  qwen3,
	"gemma3": gemma3,
}

// Model is a checkpoint, ready to be given to a backend. It refers to the file's memory: keep the file open.
type Model struct {
	Config Config
	Graph  *graph.Graph
	Bytes  int64 // of all weights as stored
}

// Load reads the shape, checks and collects the tensors, and builds the graph. Errors name file, key or tensor, what was
// wanted and what was found.
func Load(f *gguf.File) (*Model, error) {
	c, err := readConfig(f)
	if err != nil {
		return nil, err
	}
	l := &loader{f: f, used: map[string]bool{}}
	embed := l.matrix("token_embd.weight", -1, c.Width)
	if l.err != nil {
		return nil, l.err
	}
	c.Vocab = embed.Rows
	b := graph.NewBuilder()
	architectures[c.Arch](b, c, l)
	if l.err != nil {
		return nil, l.err
	}
	m := &Model{Config: *c, Graph: b.Graph()}
	m.Config.Quant, m.Bytes = census(f, l.used)
	return m, l.leftOver()
}

// leftOver refuses a file with tensors that the forward pass did not use: leaving one out gives wrong answers silently.
func (l *loader) leftOver() error {
	for _, t := range l.f.Tensors() {
		if !l.used[t.Name] {
			l.fail(t.Name, "no tensor beyond those of the architecture", "one that the forward pass does not use")
			break
		}
	}
	return l.err
}

// census returns the type that holds most of the used weights' bytes, and their sum.
func census(f *gguf.File, used map[string]bool) (quant string, total int64) {
	layers := map[string]int64{}
	for _, t := range f.Tensors() {
		if !used[t.Name] {
			continue
		}
		total += int64(len(t.Data))
		layers[t.Type.String()] += int64(len(t.Data))
	}
	best := int64(-1)
	for q, n := range layers {
		if n > best || n == best && q < quant {
			quant, best = q, n
		}
	}
	return quant, total
}
