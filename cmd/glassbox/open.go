package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"glassbox/engine"
	"glassbox/engine/backend/cpu/kern"
	"glassbox/engine/builtin"
	"glassbox/engine/chat"
	"glassbox/engine/gguf"
	"glassbox/engine/spec"
	"glassbox/trace"
	"glassbox/trace/file"
)

// engineFlags choose the model and how it runs; serve, trace and bench-local share them.
type engineFlags struct {
	Model        string `default:"builtin" placeholder:"FILE.gguf" help:"Model file, a name in the --models folder, or builtin: the one inside the binary."`
	Models       string `env:"GLASSBOX_MODELS" placeholder:"DIR" help:"Folder of model files; serve answers for all of them, each opened when a request first names it."`
	Backend      string `default:"cpu" enum:"cpu,cuda,ref" help:"What computes: cpu, cuda (an NVIDIA GPU, in a binary built for it), or ref (plain Go, the slow truth)."`
	Threads      int    `placeholder:"N" help:"Worker threads; one a core by default."`
	CPUFeatures  string `name:"cpu-features" placeholder:"NAME" help:"Use these kernels instead of the best: amx-bf16, avx512-vnni, avx2 or generic."`
	Context      int    `placeholder:"N" help:"Most tokens of prompt and answer together; the model's own by default."`
	ChatTemplate string `name:"chat-template" placeholder:"FILE" help:"Use this Jinja chat template instead of the one in the model's file."`
	Slots        int    `placeholder:"N" help:"Requests that run at once (default 8)."`
	Chunk        int    `placeholder:"N" help:"Most tokens of one pass: longer prompts go in chunks (default 512)."`
	KVType       string `name:"kv-type" placeholder:"TYPE" help:"Number format of keys and values: f32, f16, q8_0, q4_0, k8v4 (8-bit keys, 4-bit values) or KEYS/VALUES such as q8_0/f16. Default f16 (ref: f32)."`
	KVTokens     int    `name:"kv-tokens" placeholder:"N" help:"Tokens that the KV cache holds in all; by default one full context, or 2048 a slot if that is more."`
	PrefixCache  string `name:"prefix-cache" default:"on" enum:"on,off" help:"Share keys and values between prompts that begin alike: on or off. Answers stay the same."`
	Draft        string `default:"off" placeholder:"HOW" help:"Guess tokens ahead and check several in one pass: off, ngram (look the last ones up in the text so far), builtin, or a smaller model FILE.gguf with the same vocabulary. Answers stay the same."`
	Shards       int    `placeholder:"N" help:"Cut the model into N parts that compute together, each with its own threads, weights and cache (tensor parallel)."`
	AllReduce    string `name:"all-reduce" default:"auto" enum:"auto,direct,ring,nccl" help:"How shards sum up: direct, ring, or nccl (NVIDIA's library, between GPUs); auto is nccl where it can be had, else direct."`
	DraftTokens  int    `placeholder:"N" help:"Most tokens to guess at once (default 8)."`
}

// opened is a model that is ready to serve.
type opened struct {
	engine *engine.Engine
	file   *gguf.File
	name   string     // model id in the API
	title  string     // for people, "" = the name in the file
	base   string     // base name of the file
	draft  *gguf.File // of the draft model, nil = none
	sha    string     // of the file, "" = not computed yet

	templateFile string // "" = the template in the model's file
}

// find looks a model up: a path that is there, else a name in the models' folder, with or without .gguf, in any case.
func (f *engineFlags) find(model string) string {
	if _, err := os.Stat(model); err == nil || f.Models == "" {
		return model
	}
	list, _ := os.ReadDir(f.Models)
	for _, e := range list {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".gguf" && modelName(e.Name()) == modelName(model) {
			return filepath.Join(f.Models, e.Name())
		}
	}
	return model
}

// open maps the model's file and starts the engine.
func (f *engineFlags) open() (*opened, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	o := &opened{templateFile: f.ChatTemplate}
	var err error
	if f.Model == "builtin" {
		o.name, o.title, o.base, o.sha = builtin.Name, builtin.Title, builtin.File, builtin.SHA256
		o.file, err = gguf.Parse(builtin.File, builtin.Model())
	} else {
		f.Model = f.find(f.Model)
		o.base = filepath.Base(f.Model)
		o.name = modelName(o.base)
		o.file, err = gguf.Open(f.Model)
	}
	if err != nil {
		return nil, err
	}
	if err := o.openDraft(f.Draft); err != nil {
		return nil, errors.Join(err, o.file.Close())
	}
	o.engine, err = engine.Open(o.file, f.options(o.draft))
	if err != nil {
		return nil, errors.Join(err, o.closeFiles())
	}
	if f.Model != "builtin" { // what is odd about the one in the binary is known
		for _, w := range o.engine.Tokenizer().Warnings() {
			fmt.Fprintln(os.Stderr, "glassbox: warning:", w)
		}
	}
	return o, nil
}

// options are the flags as the engine takes them.
func (f *engineFlags) options(draft *gguf.File) engine.Options {
	return engine.Options{Backend: f.Backend, Threads: f.Threads, Features: f.CPUFeatures, Context: f.Context, Slots: f.Slots, Budget: f.Chunk, KV: f.KVType, KVTokens: f.KVTokens,
		NoPrefix: f.PrefixCache == "off", Draft: draftKind(f.Draft), DraftFile: draft, Drafts: f.DraftTokens, Shards: f.Shards, AllReduce: strings.TrimPrefix(f.AllReduce, "auto")}
}

// close ends the engine, then unmaps the file.
func (o *opened) close() error { return errors.Join(o.engine.Close(), o.closeFiles()) }

// closeFiles unmaps the model's file and the draft model's.
func (o *opened) closeFiles() error {
	err := o.file.Close()
	if o.draft != nil {
		err = errors.Join(err, o.draft.Close())
	}
	return err
}

// draftKind is the engine's word for what --draft says.
func draftKind(s string) string {
	if s == "" {
		return spec.Off
	}
	if s == spec.Off || s == spec.Ngram {
		return s
	}
	return spec.ByModel
}

// openDraft maps the draft model's file, where --draft names one.
func (o *opened) openDraft(s string) (err error) {
	switch {
	case draftKind(s) != spec.ByModel:
	case s == "builtin":
		o.draft, err = gguf.Parse(builtin.File, builtin.Model())
	default:
		o.draft, err = gguf.Open(s)
	}
	if err != nil {
		return fmt.Errorf("--draft: %w", err)
	}
	return nil
}

// template parses the file's chat template; a file without one serves completions only.
func (o *opened) template() (*chat.Template, error) {
	text, where := "", o.base+": tokenizer.chat_template"
	var err error
	if o.templateFile != "" {
		var b []byte
		b, err = os.ReadFile(o.templateFile)
		text, where = string(b), "--chat-template "+o.templateFile
	} else {
		text, err = o.file.StringOr("tokenizer.chat_template", "")
	}
	if err != nil {
		return nil, err
	}
	t, err := chat.New(text)
	if errors.Is(err, chat.ErrNoTemplate) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return t, nil
}

// inputTop is the largest code of a rounded input, 0 for a backend that rounds none.
func (o *opened) inputTop() int {
	if o.engine.Backend() == "cpu" {
		return kern.InputTop
	}
	return 0
}

// head is what recordings say of this process. The file's hash is computed here where it is not known.
func (o *opened) head() file.Head {
	c, d, m := o.engine.Config(), o.engine.Device(), o.engine.Cache()
	return file.Head{
		Engine: file.Engine{Name: "glassbox", Version: version, Commit: cmp.Or(commit(), "unknown")},
		Model: file.Model{Name: cmp.Or(o.title, c.Name, o.name), File: o.base, SHA256: cmp.Or(o.sha, o.file.SHA256()), Architecture: c.Arch, Quantization: c.Quant,
			Layers: c.Layers, Heads: c.Heads, KVHeads: c.KVHeads, Width: c.Width, Vocab: c.Vocab, HeadDim: c.HeadDim, FFN: c.FFN, Context: c.Context, Tensors: o.tensors()},
		Device: file.Device{Kind: d.Kind, Name: d.Name, Driver: driverOf(d), Threads: d.Threads, Features: d.Features, Roof: knownRoof(d), InputTop: o.inputTop()},
		Memory: &file.Memory{PageTokens: m.PageTokens, Pages: m.Pages, PageBytes: m.BytesPerToken * int64(m.PageTokens), BytesPerToken: m.BytesPerToken,
			Keys: m.Keys.Name(), Values: m.Values.Name(), PrefixCache: m.Prefixes},
		Clock: file.Clock{Name: "monotonic", ResolutionNs: trace.Resolution()},
	}
}
