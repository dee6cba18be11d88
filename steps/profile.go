package steps

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"glassbox/trace/file"
)

// ImportedBy begins request.params.recorded_by of a recording that was made from a file of another program.
const ImportedBy = "glassbox import"

// ProfileReport counts what a profile's events were known by.
type ProfileReport struct {
	Events    int            // spans in all
	ByStack   int            // Python functions that the catalogue has
	ByLaunch  int            // device work whose launch lies inside such a function
	ByName    int            // device work and operators known by their names
	Kernels   int            // device work in all
	Unknown   int            // of Kernels: no step
	UnknownNs int64          // how long they took
	Names     map[string]int // the unknown ones: how often each name
}

// A family of kernels: what their names have in common, and for each engine the step that is. docs/import.md has the table.
type family struct {
	name  string
	match *regexp.Regexp
	steps map[string]string
}

// families are looked through in this order; the first that fits is taken.
var families = []family{
	{"attention", regexp.MustCompile(`(?i)flash_?(fwd|attn)|flashattn|fmha|paged_attention|unified_attention|scaled_dot_product|sdpa|flash_attn_ext|batchdecodewithpaged|batchprefillwith`), map[string]string{"vllm": "attend"}},
	{"kv_write", regexp.MustCompile(`(?i)reshape_and_cache|store_kv_?cache|set_kv_buffer|concat_and_cache`), map[string]string{"vllm": "kv_update"}},
	{"norm", regexp.MustCompile(`(?i)rms_?norm|layer_?norm`), map[string]string{"vllm": "norm"}},
	{"rope", regexp.MustCompile(`(?i)rotary|\brope|_rope|rope_`), map[string]string{"vllm": "rope"}},
	{"activation", regexp.MustCompile(`(?i)silu|swiglu|gelu|act_and_mul`), map[string]string{"vllm": "silu"}},
	{"embed", regexp.MustCompile(`(?i)embedding|indexselect|vectorized_gather|get_rows`), map[string]string{"vllm": "embed"}},
	{"sample", regexp.MustCompile(`(?i)argmax`), map[string]string{"vllm": "greedy"}},
	{"draw", regexp.MustCompile(`(?i)multinomial|exponential|topk|top_k|top_p|radixsort|softmax_warp|gatherTopK`), map[string]string{"vllm": "top_k_top_p"}},
	{"all_reduce", regexp.MustCompile(`(?i)nccl|all_?reduce|all_?gather|reduce_?scatter`), nil},
	{"matmul", regexp.MustCompile(`(?i)gemm|gemv|cublas|cutlass|cudnn|xmma|wmma|nvjet|mul_mat|aten::(linear|addmm|mm|bmm|matmul|_scaled_mm)|marlin|machete`), nil},
	{"quantize", regexp.MustCompile(`(?i)quant`), nil},
	{"copy", regexp.MustCompile(`(?i)memcpy|memset|aten::(copy_|_to_copy|to|clone|contiguous|fill_|zero_)$|\bcpy_|_copy_`), nil},
	{"elementwise", regexp.MustCompile(`(?i)elementwise|vectorized|reduce_kernel|index_put|scatter|gather|\bcat|triton_|aten::(add|mul|sub|div|cat|sum|mean|index|slice|view|reshape|transpose|permute|expand|select|split|chunk|unsqueeze|squeeze|t|empty|as_strided|item|_local_scalar_dense)_?$`), nil},
}

// familyOf returns the family of a kernel's or operator's name, nil if it is of none.
func familyOf(name string) *family {
	for i := range families {
		if families[i].match.MatchString(name) {
			return &families[i]
		}
	}
	return nil
}

var (
	pythonCall = regexp.MustCompile(`^(.+)\((\d+)\): (.+)$`)
	moduleCall = regexp.MustCompile(`^nn\.Module: (\w+?)_\d+$`)
	contextOf  = regexp.MustCompile(`^execute_context_(\d+)\((\d+)\)`)
)

// Attributes of an imported span.
const (
	attrCat    = "cat"
	attrBy     = "known_by" // stack, launch or name
	attrFamily = "family"
	attrEvent  = "event" // the name in the file, where the span has that of the catalogue
)

// MatchProfile says of each span of an imported profile which step it is: Python functions by their file and name, device
// work by the function that launched it or else by its own name, operators outside known functions by their names.
func (c *Catalogue) MatchProfile(rec *file.Recording) ProfileReport {
	rep := ProfileReport{Events: len(rec.Spans), Names: map[string]int{}}
	at := byID(rec)
	c.qualify(rec, at)
	c.match(rec, func(string, string) bool { return true })
	for i := range rec.Spans {
		if s := &rec.Spans[i]; s.Step != "" {
			s.Attrs[attrBy] = "stack"
			rep.ByStack++
		}
	}
	launches := launchesOf(rec)
	for i := range rec.Spans {
		s := &rec.Spans[i]
		cat, _ := s.Attrs[attrCat].(string)
		switch cat {
		case "kernel", "gpu_memcpy", "gpu_memset":
			rep.Kernels++
			s.Kernel = s.Name
			c.kernel(rec, at, launches, s, &rep)
			if s.Step == "" {
				rep.Unknown++
				rep.UnknownNs += s.DurNs
				rep.Names[s.Name]++
			}
		case "cpu_op":
			c.named(s, around(rec, at, s) != "", &rep)
		}
	}
	contexts(rec)
	return rep
}

// kernel finds the step of device work: that of the nearest known function around its launch, else that of its name.
func (c *Catalogue) kernel(rec *file.Recording, at map[string]int, launches map[int64]int, s *file.Span, rep *ProfileReport) {
	if n, ok := s.Attrs.Int("correlation"); ok {
		if l, ok := launches[n]; ok {
			if step := around(rec, at, &rec.Spans[l]); step != "" {
				s.Step, s.Attrs[attrBy] = step, "launch"
				s.Pass, s.Layer = rec.Spans[l].Pass, rec.Spans[l].Layer
				rep.ByLaunch++
			}
		}
	}
	c.named(s, s.Step != "", rep)
}

// named gives a span its family, and the family's step where it has none yet.
func (c *Catalogue) named(s *file.Span, known bool, rep *ProfileReport) {
	f := familyOf(s.Name)
	if f == nil {
		return
	}
	s.Attrs[attrFamily] = f.name
	if s.Kernel != "" {
		s.Op = f.name
	}
	if step := f.steps[c.Engine]; !known && step != "" && c.byID[step] != nil {
		s.Step, s.Attrs[attrBy] = step, "name"
		rep.ByName++
	}
}

// around is the step of a span, or of the nearest one around it that has one.
func around(rec *file.Recording, at map[string]int, s *file.Span) string {
	for s.Step == "" && s.Parent != "" {
		i, ok := at[s.Parent]
		if !ok {
			return ""
		}
		s = &rec.Spans[i]
	}
	return s.Step
}

// launchesOf finds the calls of the runtime that put work on a device, by the number that both have.
func launchesOf(rec *file.Recording) map[int64]int {
	out := map[int64]int{}
	for i := range rec.Spans {
		s := &rec.Spans[i]
		if cat, _ := s.Attrs[attrCat].(string); cat != "cuda_runtime" && cat != "cuda_driver" {
			continue
		}
		if n, ok := s.Attrs.Int("correlation"); ok {
			out[n] = i
		}
	}
	return out
}

// qualify gives Python functions the names that the catalogue has: a profile writes "path(line): name". The class is that of
// the module whose call is around it; else of the functions of that file and name the one that begins nearest to the line.
// What is left over in a file with a known class is the one class around which nothing stands, if the catalogue has just one.
func (c *Catalogue) qualify(rec *file.Recording, at map[string]int) {
	symbols, places := c.Symbols(), c.places()
	seen, files := map[string]bool{}, map[string]bool{}
	var left []int
	rename := func(s *file.Span, to string) { s.Attrs[attrEvent], s.Name = s.Name, to }
	for i := range rec.Spans {
		s := &rec.Spans[i]
		m := pythonCall.FindStringSubmatch(s.Name)
		if m == nil || s.Attrs[attrCat] != "python_function" {
			continue
		}
		path, name := belowPackages(m[1]), m[3]
		line, _ := strconv.Atoi(m[2])
		s.Attrs[AttrFile], s.Attrs[AttrLine] = path, int64(line)
		class := classAround(rec, at, s)
		full := nearestTo(places[path], name, line)
		if symbols[class+"."+name] {
			full = class + "." + name
			seen[full], files[path] = true, true
		}
		switch {
		case full != "":
			rename(s, full)
		case class == "":
			left = append(left, i)
		}
	}
	rest := c.unseen(seen)
	for _, i := range left {
		s := &rec.Spans[i]
		path, _ := s.Attrs[AttrFile].(string)
		if files[path] && rest != "" && strings.HasSuffix(s.Name, "): "+rest[strings.LastIndexByte(rest, '.')+1:]) {
			rename(s, rest)
		}
	}
}

// unseen is the function that pages only ask for around others, and that no module's call told of; "" where there are none,
// or several.
func (c *Catalogue) unseen(seen map[string]bool) (only string) {
	for _, s := range c.Steps {
		for _, r := range s.rules() {
			if r.within == "" || seen[r.within] || r.within == only {
				continue
			}
			if only != "" {
				return ""
			}
			only = r.within
		}
	}
	return only
}

// belowPackages is a file's path as catalogues have it, below the folder that packages are installed in.
func belowPackages(path string) string {
	for _, folder := range []string{"site-packages/", "dist-packages/"} {
		if _, rest, ok := strings.Cut(path, folder); ok {
			return rest
		}
	}
	return path
}

// Telling returns what tells whether a Python event of a profile is a function that the catalogue has, or the call of a
// module, which tells functions of one name apart.
func (c *Catalogue) Telling() func(name string) bool {
	known := map[[2]string]bool{} // path and last part of the name
	for path, list := range c.places() {
		for _, p := range list {
			known[[2]string{path, p.symbol[strings.LastIndexByte(p.symbol, '.')+1:]}] = true
		}
	}
	for symbol := range c.Symbols() { // those around others are known without their file
		known[[2]string{"", symbol[strings.LastIndexByte(symbol, '.')+1:]}] = true
	}
	prefixes := []string{}
	if c.foreign != nil {
		prefixes = c.foreign.Packages
	}
	return func(name string) bool {
		if strings.HasPrefix(name, "nn.Module: ") {
			return true
		}
		end := strings.LastIndex(name, "): ")
		if end < 0 {
			return false
		}
		open := strings.LastIndexByte(name[:end], '(')
		if open < 0 {
			return false
		}
		path, function := belowPackages(name[:open]), name[end+3:]
		if known[[2]string{path, function}] {
			return true
		}
		for _, p := range prefixes {
			if strings.HasPrefix(path, p+"/") && known[[2]string{"", function}] {
				return true
			}
		}
		return false
	}
}

// place is a function of a file, and where it begins; 0 is not known.
type place struct {
	symbol string
	line   int
}

// places are the functions that the catalogue knows, by file.
func (c *Catalogue) places() map[string][]place {
	out := map[string][]place{}
	add := func(path, symbol string, line int) {
		if path != "" && symbol != "" {
			out[path] = append(out[path], place{symbol, line})
		}
	}
	for _, s := range c.Steps {
		add(s.Path, s.Symbol, s.Line)
		for _, r := range s.rules() {
			if r.symbol != s.Symbol || r.path != s.Path {
				add(r.path, r.symbol, 0)
			}
		}
	}
	if c.foreign != nil {
		for _, symbol := range []string{c.foreign.Pass, c.foreign.Layer} {
			if path, name, ok := strings.Cut(symbol, ":"); ok {
				add(path, name, 0)
			}
		}
	}
	return out
}

// nearestTo is the function of a name that begins nearest to a line; one whose line is not known goes last, and a method that
// every module has is not guessed at all.
func nearestTo(list []place, name string, line int) (best string) {
	least := 1 << 30
	for _, p := range list {
		if p.symbol != name && !strings.HasSuffix(p.symbol, "."+name) {
			continue
		}
		d := 1<<30 - 1
		if p.line > 0 {
			d = max(p.line-line, line-p.line)
		} else if name == "forward" || name == "__call__" {
			continue
		}
		if d < least {
			best, least = p.symbol, d
		}
	}
	return best
}

// classAround is the class of the module whose call is the nearest Python event around a span.
func classAround(rec *file.Recording, at map[string]int, s *file.Span) string {
	for range 8 {
		i, ok := at[s.Parent]
		if s.Parent == "" || !ok {
			return ""
		}
		s = &rec.Spans[i]
		if s.Attrs[attrCat] != "python_function" {
			continue
		}
		if m := moduleCall.FindStringSubmatch(s.Name); m != nil {
			return m[1]
		}
		if strings.Contains(s.Name, "torch/nn/modules/module.py") {
			continue // _call_impl and its like stand between
		}
		return ""
	}
	return ""
}

// contexts tells passes that read a prompt from those that do not, by vLLM's own annotations around them; without these they
// are all called decode.
func contexts(rec *file.Recording) {
	for i := range rec.Passes {
		rec.Passes[i].Kind, rec.Passes[i].Tokens = "decode", 0
	}
	for i := range rec.Spans {
		s := &rec.Spans[i]
		m := contextOf.FindStringSubmatch(s.Name)
		if m == nil || m[1] == "0" {
			continue
		}
		for k := range rec.Passes {
			if p := &rec.Passes[k]; p.StartNs < s.EndNs() && s.StartNs < p.StartNs+p.DurNs {
				p.Kind = "prefill"
				p.Tokens, _ = strconv.Atoi(m[2])
			}
		}
	}
}

// Families are the names of the families of kernels, in the order in which they are looked through.
func Families() []string {
	var out []string
	for _, f := range families {
		out = append(out, f.name)
	}
	return slices.Clip(out)
}
