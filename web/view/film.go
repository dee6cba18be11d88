package view

import (
	"fmt"
	"slices"
	"strings"

	"glassbox/trace/file"
	"glassbox/trace/query"
)

// Film is the tour that plays by itself: scenes, each a stretch of a walk over a recording that ships, with a caption whose
// numbers come from that recording.
type Film struct {
	Scenes []Scene
	Length int // seconds
}

// Scene is a stretch of the film. From and To are the steps it walks; a sweep goes over layers or passes instead.
type Scene struct {
	At, For   int    // seconds
	Chapter   string // the mark that begins here; "" goes on with the last one
	Text      string
	Recording string
	View      string
	From, To  string
	Pass      int
	Layers    int // more than 0: the playhead goes through as many layers
	Passes    []int
}

// Mark is when the scene begins, as a link names it: "1:16".
func (s *Scene) Mark() string { return fmt.Sprintf("%d:%02d", s.At/60, s.At%60) }

// Chapters are the scenes that have a mark.
func (f *Film) Chapters() []Scene {
	return slices.DeleteFunc(slices.Clone(f.Scenes), func(s Scene) bool { return s.Chapter == "" })
}

// Recordings of the film, by their names among those that ship.
const (
	filmWalk   = "why-is-the-sky-blue"
	filmInside = "inside-the-pass"
	filmShared = "one-of-four"
	filmOther  = "chat-in-vllm"
)

// FilmOf makes the film. get returns a recording by its name, nil when it does not ship: its scenes are left out then.
func FilmOf(get func(string) *file.Recording) Film {
	f := Film{}
	if rec := get(filmWalk); rec != nil {
		f.receive(rec)
		f.compute(rec)
	}
	if rec := get(filmInside); rec != nil {
		f.inside(rec)
	}
	if rec := get(filmWalk); rec != nil {
		f.deliver(rec)
	}
	if rec := get(filmShared); rec != nil {
		f.shared(rec)
	}
	if rec := get(filmOther); rec != nil {
		f.other(rec)
	}
	if rec := get(filmWalk); rec != nil {
		f.numbers(rec)
	}
	return f
}

func (f *Film) add(rec *file.Recording, s Scene) {
	s.At, s.Recording = f.Length, rec.ID
	f.Length += s.For
	f.Scenes = append(f.Scenes, s)
}

// ends are the first and last step of a stage that ran; "" of all of them.
func ends(rec *file.Recording, stage string) (from, to string) {
	for i := range rec.Walk {
		if w := &rec.Walk[i]; w.Count > 0 && (stage == "" || w.Stage == stage) {
			if from == "" {
				from = w.ID
			}
			to = w.ID
		}
	}
	return from, to
}

// usual is the decode pass of median length, -1 when none decodes.
func usual(rec *file.Recording) *file.Pass {
	var all []*file.Pass
	for i := range rec.Passes {
		if rec.Passes[i].Kind == "decode" {
			all = append(all, &rec.Passes[i])
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b *file.Pass) int { return int(a.DurNs - b.DurNs) })
	return all[len(all)/2]
}

// stageNs is the time of a stage's steps together.
func stageNs(rec *file.Recording, stage string) (ns int64) {
	for i := range rec.Walk {
		if rec.Walk[i].Stage == stage {
			ns += rec.Walk[i].TimeNs
		}
	}
	return ns
}

func (f *Film) receive(rec *file.Recording) {
	from, to := ends(rec, "receive")
	f.add(rec, Scene{For: 8, Chapter: "Receive", View: "request", From: from, To: from,
		Text: fmt.Sprintf("This is one request, recorded by the engine that served it: “%s” It took %s, first byte to last.", Cut(file.PromptStart(&rec.Request), 60), total(rec).Text())})
	f.add(rec, Scene{For: 13, View: "request", From: from, To: to,
		Text: fmt.Sprintf("Bytes become JSON, JSON becomes text in the model's own template, and text becomes %d token ids. Each station is a function; the card shows its source.", len(rec.Request.PromptTokens))})
	from, to = ends(rec, "schedule")
	f.add(rec, Scene{For: 12, Chapter: "Schedule", View: "request", From: from, To: to,
		Text: fmt.Sprintf("A channel hands the request to the engine loop. It picks a slot, reserves pages of the KV cache and plans the pass: %s in all.", clocked(rec, Duration(stageNs(rec, "schedule"), "derived", "")).Text())})
}

func (f *Film) compute(rec *file.Recording) {
	from, to := ends(rec, "compute")
	p := usual(rec)
	if p == nil || len(rec.Passes) == 0 {
		return
	}
	f.add(rec, Scene{For: 20, Chapter: "Compute", View: "request", From: from, To: to, Pass: p.Index,
		Text: fmt.Sprintf("Now the model runs: %d layers, one after the other. The prompt went through in its first pass, %s; each later token takes a pass of its own, about %s.", rec.Model.Layers, clocked(rec, Duration(rec.Passes[0].DurNs, "measured", "")).Text(), clocked(rec, Duration(p.DurNs, "measured", "")).Text())})
	ops := query.Totals(rec, query.ByOp, query.OfPass(p.Index))
	if len(ops) == 0 {
		return
	}
	most := slices.MaxFunc(ops, func(a, b query.Group) int { return int(a.TotalNs - b.TotalNs) })
	f.add(rec, Scene{For: 18, Chapter: "One pass", View: "pass", From: from, To: to, Pass: p.Index,
		Text: fmt.Sprintf("One token, op by op, times summed over the layers. The longest op is “%s”: %s of the %s that this pass took.", titleOf(rec, most.Key), clocked(rec, Duration(most.TotalNs, "measured", "")).Text(), clocked(rec, Duration(p.DurNs, "measured", "")).Text())})
}

func titleOf(rec *file.Recording, step string) string {
	for i := range rec.Walk {
		if rec.Walk[i].ID == step {
			return rec.Walk[i].Title
		}
	}
	return step
}

func (f *Film) inside(rec *file.Recording) {
	p := usual(rec)
	if p == nil {
		return
	}
	var read int64
	for _, t := range rec.Model.Tensors {
		if t.Op == "embed" && t.Rows > 0 {
			read += t.Bytes / int64(t.Rows)
			continue
		}
		read += t.Bytes
	}
	if read > 0 {
		f.add(rec, Scene{For: 16, Chapter: "The tape", View: "tape", From: "ffn_up", To: "ffn_up", Pass: p.Index, Layers: rec.Model.Layers,
			Text: fmt.Sprintf("A token reads every weight once: %d matrices, %s, in this order. That is why a single answer is limited by memory and not by arithmetic.", len(rec.Model.Tensors), Bytes(read, "derived", "").Text())})
	}
	if a := rec.Arrays["attention"]; a != nil && len(a.Shape) == 4 {
		f.add(rec, Scene{For: 18, Chapter: "Attention", View: "attention", From: "attn_softmax", To: "attn_softmax", Pass: p.Index, Layers: rec.Model.Layers,
			Text: fmt.Sprintf("%d heads: %d layers down, %d across. A row is one token looking back at those before it, and adds up to one. The large map is the head under the playhead.", a.Shape[0]*a.Shape[1], a.Shape[0], a.Shape[1])})
	}
	if text := lensText(rec); text != "" {
		f.add(rec, Scene{For: 18, Chapter: "The lens", View: "lens", From: "ffn_residual", To: "ffn_residual", Layers: rec.Model.Layers, Text: text})
	}
}

// lensText tells from which layer on the first word of the answer leads, "" where the lens was not captured.
func lensText(rec *file.Recording) string {
	a := rec.Arrays["lens_ids"]
	if a == nil || len(a.Shape) != 3 || len(rec.Request.OutputTokens) == 0 || len(rec.Request.PromptTokens) == 0 {
		return ""
	}
	ids, err := a.Ints()
	layers, n, ranks := a.Shape[0], a.Shape[1], a.Shape[2]
	pos := len(rec.Request.PromptTokens) - 1
	if err != nil || pos >= n || len(ids) != layers*n*ranks {
		return ""
	}
	lead := func(layer int) int64 { return ids[(layer*n+pos)*ranks] }
	first := layers
	for first > 0 && lead(first-1) == int64(rec.Request.OutputTokens[0].ID) {
		first--
	}
	text := "The word that each layer would say if it were the last, below every token."
	if first < layers {
		text += fmt.Sprintf(" At the end of the prompt the answer's first word, “%s”, leads from layer %d of %d on.", strings.TrimSpace(rec.Request.OutputTokens[0].Text), first, layers)
	}
	return text
}

func (f *Film) deliver(rec *file.Recording) {
	from, to := ends(rec, "deliver")
	s := Scene{For: 17, Chapter: "Deliver", View: "request", From: from, To: to,
		Text: fmt.Sprintf("The sampler draws a token. Its bytes are held until they are whole characters and no stop string begins in them; then a piece leaves as an event. %d tokens went this way.", len(rec.Request.OutputTokens))}
	if p := usual(rec); p != nil {
		s.Pass = p.Index
	}
	f.add(rec, s)
}

func (f *Film) shared(rec *file.Recording) {
	others := map[int64]bool{}
	for _, t := range rec.Turns {
		for _, p := range t.Parts {
			others[p.Request] = true
		}
	}
	delete(others, rec.Request.Number)
	var passes []int
	for _, p := range rec.Passes {
		passes = append(passes, p.Index)
	}
	from, _ := ends(rec, "compute")
	if len(others) == 0 || len(passes) == 0 || rec.Memory == nil {
		return
	}
	f.add(rec, Scene{For: 17, Chapter: "Company", View: "memory", From: from, To: from, Passes: passes,
		Text: fmt.Sprintf("Requests share the loop. This one joined %d others: one pass computes a token for each of them, and each holds pages of its own in the cache.", len(others))})
}

func (f *Film) other(rec *file.Recording) {
	from, to := ends(rec, "")
	lanes := lanesOf(rec)
	f.add(rec, Scene{For: 18, Chapter: "Another engine", View: "request", From: from, To: to,
		Text: fmt.Sprintf("The same walk inside %s %s: %d steps in %s, recorded while it served a request. The views and the keys are the same.", strings.Replace(rec.Engine.Name, "vllm", "vLLM", 1), rec.Engine.Version, len(rec.Walk), Plural(len(lanes), "lane"))})
}

func (f *Film) numbers(rec *file.Recording) {
	_, to := ends(rec, "")
	n := &rec.Numbers
	f.add(rec, Scene{For: 12, Chapter: "Three numbers", View: "request", From: to, To: to,
		Text: fmt.Sprintf("First token after %s, each next after %s, %s. Pause anywhere and step: every moment of this film is a link.",
			durationOr(n.TTFTNs, "measured", howTTFT).Text(), durationOr(n.TPOTNs, "derived", howTPOT).Text(), rateOr(n.DecodeTokensPerS, "tokens/s", howRate).Text())})
}
