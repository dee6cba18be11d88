package file

import (
	"cmp"
	"slices"

	"glassbox/trace"
)

// Finish puts the spans of a recording that was not made by a Collector in order, links them and computes the numbers.
func Finish(rec *Recording) { finish(rec) }

// finish puts the spans in order, links them and computes the numbers. The slice of spans is replaced, not changed:
// deltas may still point into the old one.
func finish(rec *Recording) {
	rec.Spans = sortSpans(rec.Spans)
	linkParents(rec.Spans)
	rec.Passes = slices.Clone(rec.Passes)
	slices.SortStableFunc(rec.Passes, func(a, b Pass) int { return cmp.Compare(a.Index, b.Index) })
	rec.Numbers = Measure(rec)
}

// sortSpans returns the spans by start; of two that start together the longer one comes first. Spans arrive in the order
// in which they ended, so of two with the same interval the later one is around the other and comes first.
func sortSpans(spans []Span) []Span {
	order := make([]int32, len(spans))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &spans[i], &spans[j]
		if c := cmp.Compare(a.StartNs, b.StartNs); c != 0 {
			return c
		}
		if c := cmp.Compare(b.DurNs, a.DurNs); c != 0 {
			return c
		}
		if a.DurNs > 0 && a.Lane == b.Lane {
			return cmp.Compare(j, i)
		}
		return cmp.Compare(i, j)
	})
	out := make([]Span, len(spans))
	for k, i := range order {
		out[k] = spans[i]
	}
	return out
}

// deepest bounds how far up linkParents looks: spans of one lane nest, so this only matters for files that are wrong.
const deepest = 64

// linkParents sets each span's parent to the innermost span around it on its lane. An op is on a lane of its own; it
// gets the launch of its pass. The spans are in the order of sortSpans.
func linkParents(spans []Span) {
	open := map[string][]*Span{}
	launch := map[int]string{}
	for i := range spans {
		s := &spans[i]
		if s.Step == trace.StepLaunch.String() && s.Pass >= 0 {
			launch[s.Pass] = s.ID
		}
		stack := open[s.Lane]
		for len(stack) > 0 && stack[len(stack)-1].EndNs() <= s.StartNs {
			stack = stack[:len(stack)-1]
		}
		for k := len(stack) - 1; k >= max(0, len(stack)-deepest) && s.Parent == ""; k-- {
			if stack[k].EndNs() >= s.EndNs() {
				s.Parent = stack[k].ID
			}
		}
		open[s.Lane] = append(stack, s)
	}
	for i := range spans {
		if s := &spans[i]; s.Op != "" && s.Parent == "" {
			s.Parent = launch[s.Pass]
		}
	}
}

// brokeOff tells whether the client left or the request failed: the engine may have worked on after the last thing that
// the HTTP side did.
func brokeOff(finish string) bool { return finish == "cancelled" || finish == "error" }

// Measure computes the numbers of a recording from its spans, passes and tokens:
//
//	ttft_ns               end of the first sse_flush span of an output token; without one, when the first token was sampled
//	first_token_ns        when the first token was sampled
//	tpot_ns               (t_last - t_first) / (n - 1) over the sampling times of the n output tokens
//	decode_tokens_per_s   (n - 1) / (t_last - t_first)
//	e2e_ns                latest end of a span on the HTTP lane; without one, or where the answer broke off, of any span.
//	                      Not of a partial recording
//	prefill_tokens_per_s  tokens of the prefill passes / sum of their durations
//	queue_ns              sum of the queue spans
//	paused_ns             sum of the passes' paused_ns
//	drafted, accepted     sums of these attributes of the verify spans
//	tokens_per_pass       output tokens of the decode and verify passes / the number of these passes; where any is a verify
//	                      pass
//	draft_gain            output tokens of these passes * median duration of the decode passes / sum of the durations of the
//	                      decode and verify passes and of the draft spans; where both kinds of pass are there
//
// On an emulated device the counts alone: its times measure nothing.
func Measure(rec *Recording) Numbers {
	n := measure(rec)
	if !rec.Clocked() {
		n = Numbers{PromptTokens: n.PromptTokens, OutputTokens: n.OutputTokens, Drafted: n.Drafted, Accepted: n.Accepted, TokensPerPass: n.TokensPerPass}
	}
	return n
}

func measure(rec *Recording) Numbers {
	out := rec.Request.OutputTokens
	n := Numbers{PromptTokens: len(rec.Request.PromptTokens), OutputTokens: len(out)}
	if len(out) > 0 {
		n.FirstTokenSampleNs = out[0].TNs
		n.TTFTNs = out[0].TNs
	}
	var flushed, http, any int64
	for i := range rec.Spans {
		s := &rec.Spans[i]
		any = max(any, s.EndNs())
		if s.Lane == trace.LaneHTTP.String() {
			http = max(http, s.EndNs())
		}
		switch s.Step {
		case trace.StepQueue.String():
			n.QueueNs += s.DurNs
		case trace.StepVerify.String():
			d, _ := s.Attrs.Int("drafted")
			a, _ := s.Attrs.Int("accepted")
			n.Drafted, n.Accepted = n.Drafted+int(d), n.Accepted+int(a)
		case trace.StepFlush.String():
			if _, ok := s.Attrs.Int("token"); ok && (flushed == 0 || s.EndNs() < flushed) {
				flushed = s.EndNs()
			}
		}
	}
	if flushed > 0 {
		n.TTFTNs = flushed
	}
	if n.E2ENs = http; http == 0 || brokeOff(rec.Request.FinishReason) {
		n.E2ENs = any
	}
	if rec.Partial {
		n.E2ENs = 0
	}
	if k := int64(len(out) - 1); k > 0 && out[k].TNs > out[0].TNs {
		d := out[k].TNs - out[0].TNs
		n.TPOTNs = (d + k/2) / k
		n.DecodeTokensPerS = float64(k) / (float64(d) / 1e9)
	}
	var tokens, dur int64
	for _, p := range rec.Passes {
		n.PausedNs += p.PausedNs
		if p.Kind == trace.Prefill.String() {
			tokens += int64(p.Tokens)
			dur += p.DurNs
		}
	}
	n.drafting(rec)
	if dur > 0 {
		n.PrefillTokensPerS = float64(tokens) / (float64(dur) / 1e9)
	}
	return n
}

// drafting computes what guessing ahead gained, where passes checked guesses.
func (n *Numbers) drafting(rec *Recording) {
	kinds := map[int]string{}
	var plain []int64
	var all int64
	passes, verify := 0, 0
	for _, p := range rec.Passes {
		kinds[p.Index] = p.Kind
		switch p.Kind {
		case trace.Decode.String():
			plain = append(plain, p.DurNs)
			passes++
		case trace.Verify.String():
			passes++
			verify++
		default:
			continue
		}
		all += p.DurNs
	}
	if verify == 0 {
		return
	}
	tokens := 0
	for _, t := range rec.Request.OutputTokens {
		if t.Pass != nil && (kinds[*t.Pass] == trace.Decode.String() || kinds[*t.Pass] == trace.Verify.String()) {
			tokens++
		}
	}
	n.TokensPerPass = float64(tokens) / float64(passes)
	for i := range rec.Spans {
		if s := &rec.Spans[i]; s.Step == trace.StepDraft.String() {
			all += s.DurNs
		}
	}
	if len(plain) > 0 && all > 0 {
		slices.Sort(plain)
		n.DraftGain = float64(tokens) * float64(plain[len(plain)/2]) / float64(all)
	}
}
