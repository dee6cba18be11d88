package view

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"glassbox/steps"
	"glassbox/trace/file"
)

// drawPasses puts the passes side by side as long as they took.
func drawPasses(f *Figure, _ *steps.Chapter, rec *file.Recording) {
	if len(rec.Passes) == 0 {
		return
	}
	words := map[int]string{}
	for _, t := range rec.Request.OutputTokens {
		if t.Pass != nil {
			words[*t.Pass] += Piece(t)
		}
	}
	from, to := rec.Passes[0].StartNs, int64(0)
	for _, p := range rec.Passes {
		to = max(to, p.StartNs+p.DurNs)
	}
	whole := float64(max(to-from, 1))
	f.Span = timed(rec, to-from, "from the start of the first pass to the end of the last").Text()
	for _, p := range rec.Passes {
		f.Passes = append(f.Passes, PassBar{Index: p.Index, Kind: p.Kind, X: 1000 * float64(p.StartNs-from) / whole, W: 1000 * float64(p.DurNs) / whole,
			Tokens: p.Tokens, Batch: max(p.BatchTokens, p.Tokens), Requests: p.Requests, Time: timed(rec, p.DurNs, "the span of this pass"), Text: words[p.Index],
			Href: fmt.Sprintf("/trace/%s?view=pass&pass=%d", rec.ID, p.Index)})
	}
}

// drawStack follows one op of the first pass, in the middle layer, from the model's line to the cores.
func drawStack(f *Figure, c *steps.Chapter, rec *file.Recording) {
	op := opSpan(rec, c.Step)
	if op == nil {
		f.Missing = "This recording has no span of this op."
		return
	}
	var w *file.Step
	for i := range rec.Walk {
		if rec.Walk[i].ID == c.Step {
			w = &rec.Walk[i]
		}
	}
	var busy []int64
	for _, v := range listOf(op.Attrs["busy_ns"], nil) {
		if n, ok := number64(v); ok {
			busy = append(busy, n)
		}
	}
	add := func(label, text string, n Number, ns int64, src *file.Source) {
		b := FigureBar{Key: label, Label: label, Stage: "C", Number: n, Text: text, Share: 100 * float64(ns) / float64(max(op.DurNs, 1)), Href: fmt.Sprintf("/trace/%s?view=pass&pass=%d&step=%s&layer=%d", rec.ID, op.Pass, c.Step, op.Layer)}
		if src != nil && src.Path != "" {
			b.Place = &Place{Path: src.Path, Symbol: src.Symbol, Line: src.Line, Lines: around(*src, 5)}
		}
		f.Bars = append(f.Bars, b)
	}
	f.Title = fmt.Sprintf("%s of layer %d in pass %d, level by level", w.Title, op.Layer, op.Pass)
	sources := append([]file.Source{w.Source}, w.Sources...)
	add("Framework", "The line of the model that puts the op into the graph. It ran once, when the model was loaded.", NotMeasured, 0, &sources[0])
	add("Op", fmt.Sprintf("%s, %s: %s.", op.Name, work(op), w.Out), timed(rec, op.DurNs, "the span of this op"), op.DurNs, nil)
	add("Kernel", "The function that this processor runs for it: "+op.Kernel+".", timed(rec, most(busy), "the longest of the workers' own times"), most(busy), &sources[len(sources)-1])
	if addCalls(rec, op, add) {
		return
	}
	if gap := before(rec, op); gap >= 0 {
		add("Runtime", "Between the op before and this one: a barrier that all workers pass, and the next op handed out.", derived(rec, gap, "this op's start less the end of the op before"), gap, nil)
	}
	for i, ns := range busy {
		add(fmt.Sprintf("Thread %d", i), "One worker's share of the rows, on a core that the operating system gave it.", timed(rec, ns, "read by the worker itself"), ns, nil)
	}
	add("Device", against(rec, op), clocked(rec, rateOr(float64(op.Bytes)/float64(max(op.DurNs, 1)), "GB/s", "bytes of the op over its time")), 0, nil)
}

// addCalls draws the levels below the kernel where a device is reached through a driver: the calls, the driver, the device's time.
func addCalls(rec *file.Recording, op *file.Span, add func(label, text string, n Number, ns int64, src *file.Source)) bool {
	var host, wait, from, to int64
	n, api := 0, ""
	for i := range rec.Calls {
		c := &rec.Calls[i]
		if c.Span != op.ID || c.Device == nil {
			continue
		}
		if n == 0 {
			from, wait, api = c.Device.StartNs, c.Device.StartNs-c.StartNs, c.API
		}
		n, host, to = n+1, host+c.DurNs, c.Device.StartNs+c.Device.DurNs
	}
	if n == 0 {
		return false
	}
	add("Launch call", Plural(n, "call")+" of "+api+": the host puts the kernel into the device's stream and goes on.", timed(rec, host, "around the calls, on the host's clock"), host, nil)
	add("Driver", cmp.Or(rec.Device.Driver, "The device's driver")+" takes it from the stream to the device.", derived(rec, max(wait, 0), "from the call to the start on the device; the two clocks are tied at the ends of the pass"), max(wait, 0), nil)
	add("Device", against(rec, op), derived(rec, to-from, "from the start of the first kernel to the event behind the last"), to-from, nil)
	return true
}

func derived(rec *file.Recording, ns int64, how string) Number {
	n := timed(rec, ns, how)
	if n.Known() {
		n.Prov = "derived"
	}
	return n
}

func most(ns []int64) int64 {
	if len(ns) == 0 {
		return 0
	}
	return slices.Max(ns)
}

// opSpan is the op of the first pass, in the middle layer.
func opSpan(rec *file.Recording, step string) *file.Span {
	for i := range rec.Spans {
		if s := &rec.Spans[i]; s.Step == step && s.Layer == rec.Model.Layers/2 {
			return s
		}
	}
	return nil
}

// before is the time between the op before this one in its pass and its start; -1 where it is the first.
func before(rec *file.Recording, op *file.Span) int64 {
	end := int64(-1)
	for i := range rec.Spans {
		if s := &rec.Spans[i]; s.Op != "" && s.Pass == op.Pass && s.StartNs < op.StartNs {
			end = max(end, s.EndNs())
		}
	}
	if end < 0 {
		return -1
	}
	return max(op.StartNs-end, 0)
}

// work is what the op moves and computes, in words.
func work(s *file.Span) string {
	return Bytes(s.Bytes, "derived", "").Text() + " moved, " + Sig3(float64(s.Flops)/1e6) + " million operations"
}

// against holds the op's rates against what the machine was measured to do.
func against(rec *file.Recording, s *file.Span) string {
	rate := Sig3(float64(s.Flops)/float64(max(s.DurNs, 1))) + " G operations a second."
	r := rec.Device.Roof
	if r == nil || len(r.Reads) == 0 {
		return rate + " What the machine can do was not measured."
	}
	last := r.Reads[len(r.Reads)-1]
	return fmt.Sprintf("%s Measured on this machine: %s GB/s from memory, %s G operations a second on 8-bit integers.", rate, Sig3(last.GBPerS.Median), Sig3(r.Int8.Median))
}

// drawShards compares the work of the first decode pass with the sums in it, all layers together.
func drawShards(f *Figure, _ *steps.Chapter, rec *file.Recording) {
	pass := file.None
	for _, p := range rec.Passes {
		if p.Kind == "decode" {
			pass = p.Index
			break
		}
	}
	type total struct {
		ns, bytes int64
		n         int
	}
	by := map[string]*total{}
	for i := range rec.Spans {
		s := &rec.Spans[i]
		if s.Pass != pass || s.Op == "" {
			continue
		}
		if by[s.Step] == nil {
			by[s.Step] = &total{}
		}
		t := by[s.Step]
		t.ns, t.bytes, t.n = t.ns+s.DurNs, t.bytes+s.Bytes, t.n+1
	}
	for i := range rec.Walk {
		w := &rec.Walk[i]
		t := by[w.ID]
		if t == nil {
			continue
		}
		b := stepBar(rec, w)
		b.Number = timed(rec, t.ns, Plural(t.n, "span")+" of one decode pass, summed")
		b.Text = fmt.Sprintf("%s, %s", Plural(t.n, "time"), Bytes(t.bytes, "derived", "").Text())
		f.Bars = append(f.Bars, b)
	}
	scale(f.Bars, func(i int) int64 { return by[f.Bars[i].Key].ns })
}

// DrawFigure is the draw of the answer's first token: the leading candidates of the real logits, before and after the
// request's own temperature.
type DrawFigure struct {
	Rows        []Candidate
	Temperature float64
	Vocab       int
	Array       string // address of all logits
	Taken       int    // id that was drawn
	LogSum      float64
}

// Candidate is a token that could have come.
type Candidate struct {
	ID    int
	Text  string // "" where the recording has no text for it
	Logit float64
	Share float64 // in per cent, at temperature 1
	Taken bool
}

// candidates is how many leaders the figure shows.
const candidates = 10

func drawSample(f *Figure, _ *steps.Chapter, rec *file.Recording) {
	a := rec.Arrays["logits"]
	logits := make([]float64, a.Shape[0])
	top := math.Inf(-1)
	for i := range logits {
		logits[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(a.Raw[4*i:])))
		top = max(top, logits[i])
	}
	sum := 0.0
	ids := make([]int, len(logits))
	for i, v := range logits {
		ids[i] = i
		sum += math.Exp(v - top)
	}
	slices.SortFunc(ids, func(x, y int) int {
		switch {
		case logits[x] > logits[y]:
			return -1
		case logits[x] < logits[y]:
			return 1
		}
		return x - y
	})
	texts := knownTexts(rec)
	first := rec.Request.OutputTokens[0].ID
	d := &DrawFigure{Vocab: len(logits), Array: "/api/traces/" + rec.ID + "/arrays/logits", Taken: first, LogSum: top + math.Log(sum)}
	if t, ok := rec.Request.Params["temperature"].(float64); ok {
		d.Temperature = t
	}
	for _, id := range ids[:min(candidates, len(ids))] {
		d.Rows = append(d.Rows, Candidate{ID: id, Text: texts[id], Logit: logits[id], Share: 100 * math.Exp(logits[id]-d.LogSum), Taken: id == first})
	}
	f.Draw = d
}

// knownTexts are the texts of tokens that a recording names anywhere: it does not hold the whole vocabulary.
func knownTexts(rec *file.Recording) map[int]string {
	out := map[int]string{}
	for _, t := range slices.Concat(rec.Request.PromptTokens, rec.Request.OutputTokens) {
		out[t.ID] = Piece(t)
		for _, alt := range t.Top {
			out[alt.ID] = Signs(alt.Text)
		}
	}
	if a := rec.Arrays["lens_words"]; a != nil && a.DType == "i4" && len(a.Raw) == 4*len(a.AttrNames) {
		for i, name := range a.AttrNames {
			out[int(binary.LittleEndian.Uint32(a.Raw[4*i:]))] = Signs(name)
		}
	}
	return out
}

// drawNumbers works the three numbers out.
func drawNumbers(f *Figure, _ *steps.Chapter, rec *file.Recording) {
	n := rec.Numbers
	after := n.OutputTokens - 1
	ms := func(ns int64) string { return Sig3(float64(ns)/1e6) + " ms" }
	f.Sums = append(f.Sums, Sum{"TTFT", "first token on the socket − first byte received", ms(n.TTFTNs) + " − 0", durationOr(n.TTFTNs, "measured", howTTFT)})
	tpot := Sum{Name: "TPOT", Formula: "(last token − first token) ÷ (tokens − 1)", Filled: "the answer has one token", Number: NotMeasured}
	if after > 0 && n.TPOTNs > 0 {
		tpot.Filled, tpot.Number = fmt.Sprintf("%s ÷ %d", ms(n.TPOTNs*int64(after)), after), Duration(n.TPOTNs, "derived", howTPOT)
	}
	f.Sums = append(f.Sums, tpot)
	rate := Sum{Name: "Throughput", Formula: "tokens of all answers ÷ time", Filled: "the request has not ended", Number: NotMeasured}
	if n.E2ENs > 0 {
		v := float64(n.OutputTokens) / (float64(n.E2ENs) / 1e9)
		rate.Filled, rate.Number = fmt.Sprintf("%d ÷ %s, with this request alone", n.OutputTokens, ms(n.E2ENs)), rateOr(v, "tokens/s", "tokens of the answer over the time of the whole request")
	}
	f.Sums = append(f.Sums, rate)
	if !rec.Clocked() {
		for i := range f.Sums {
			f.Sums[i].Filled, f.Sums[i].Number = "an emulated device measures no time", NotMeasured
		}
	}
}
