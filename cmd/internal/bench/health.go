package bench

import (
	"fmt"
	"slices"
	"strings"

	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/stats"
)

// health looks for what makes numbers mean something else than they say.
func health(r *Result) []Flag {
	h := &checks{r: r}
	for _, row := range r.Rows {
		h.row(row)
	}
	h.answers()
	h.counts()
	h.stream()
	h.machine()
	h.plan()
	grade := map[string]int{"warn": 0, "note": 1, "ok": 2}
	slices.SortStableFunc(h.flags, func(a, b Flag) int { return grade[a.Grade] - grade[b.Grade] })
	return h.flags
}

type checks struct {
	r     *Result
	flags []Flag

	ok, failed, cancelled, noCount, early        int
	chunks, joined, tokens, cached, prompt, most int
	connects                                     []float64
	firstError                                   string
	saysCached                                   bool
	marks                                        map[string]int
}

func (h *checks) flag(bad bool, grade, id, text string, args ...any) {
	if bad {
		h.flags = append(h.flags, Flag{ID: id, Grade: grade, Text: fmt.Sprintf(text, args...)})
	}
}

func (h *checks) row(row *client.Row) {
	switch row.Outcome {
	case client.Cancelled:
		h.cancelled++
		return
	case client.Failed:
		h.failed++
		if h.firstError == "" {
			h.firstError = *row.Error
		}
		return
	}
	h.ok++
	h.chunks += row.Chunks
	h.joined += row.Joined
	if row.OutputTokens == nil {
		h.noCount++
	} else {
		h.tokens += *row.OutputTokens
		if *row.OutputTokens < row.AskedOutput {
			h.early++
		}
	}
	if row.PromptTokens != nil {
		h.prompt += *row.PromptTokens
	}
	if row.CachedTokens != nil {
		h.saysCached = true
		h.cached += *row.CachedTokens
		h.most = max(h.most, *row.CachedTokens)
	}
	add(&h.connects, row.Connect)
	for _, m := range row.Marks {
		if h.marks == nil {
			h.marks = map[string]int{}
		}
		h.marks[m]++
	}
}

// answers: failures and lengths.
func (h *checks) answers() {
	all := h.ok + h.failed
	h.flag(h.ok == 0, "warn", "nothing", "No request of a level succeeded: there are no numbers.")
	h.flag(h.failed > 0, "warn", "errors", "%d of %d requests failed and are in no latency. The first: %s", h.failed, all, h.firstError)
	h.flag(h.failed == 0 && h.ok > 0, "ok", "errors", "None of %d requests failed.", all)
	h.flag(h.cancelled > 0, "note", "cancelled", "%d requests were cut off by the client at the end and are in no number.", h.cancelled)
	h.flag(h.early > 0, "warn", "short", "%d of %d answers are shorter than the %d tokens asked for (the model ended them): their lengths vary, so compare runs with care.",
		h.early, h.ok, h.r.Config.OutputTokens)
	h.flag(h.early == 0 && h.ok > 0 && h.noCount == 0, "ok", "short", "Every answer has the length asked for.")
}

// counts: where tokens are counted, cached, or missing.
func (h *checks) counts() {
	h.flag(h.noCount > 0, "warn", "usage", "%d answers came without usage: their tokens were not counted, so TPOT and throughput are not measured. Chunks are not taken for tokens.", h.noCount)
	low, high, asked := 0, 0, h.r.Config.PromptTokens
	for _, row := range h.r.Rows {
		if row.Outcome == client.OK && row.PromptTokens != nil {
			if low == 0 || *row.PromptTokens < low {
				low = *row.PromptTokens
			}
			high = max(high, *row.PromptTokens)
		}
	}
	h.flag(high > 0 && (low != asked || high != asked), "note", "prompt", "Prompts have %d to %d tokens by the server's count; %d were asked for.", low, high, asked)
	h.flag(high > 0 && float64(high) < 0.8*float64(asked), "warn", "truncated", "Prompts of %d tokens were counted as %d at most: the server may cut them to its context without saying so.", asked, high)
	h.flag(h.ok > 0 && !h.saysCached, "note", "cache", "The server does not say how many prompt tokens came from its prefix cache. Each prompt starts with words drawn anew, so that only the template before them can.")
	if h.prompt > 0 && h.cached > 0 {
		share := float64(h.cached) / float64(h.prompt)
		h.flag(share > 0.05 && h.most > 64, "warn", "cached", "%.0f %% of the prompt tokens came from a cache (%d at most): TTFT and prefill look better than they are.", share*100, h.most)
		h.flag(share <= 0.05 || h.most <= 64, "note", "cached", "%d of %d prompt tokens came from a cache, %d at most in a request: the part of the template before the text.", h.cached, h.prompt, h.most)
	}
}

// stream: what the chunks say about buffering and batching.
func (h *checks) stream() {
	if h.chunks == 0 {
		return
	}
	per := float64(h.tokens) / float64(h.chunks)
	h.flag(h.tokens > 0 && per > 1.2, "note", "chunks", "A chunk holds %.2f tokens on average (speculation, or text held back and sent together): ICL is not TPOT here.", per)
	share := float64(h.joined) / float64(h.chunks)
	h.flag(share > 0.2, "warn", "buffered", "%.0f %% of the chunks came together with the one before: something between server and client collects them, so TTFT and ICL are not the server's.", share*100)
	for _, m := range []string{"no [DONE]", "no finish_reason", "events after the end", "usage that cannot be read", "reasoning"} {
		h.flag(h.marks[m] > 0, "note", "stream", "%d answers with this oddity: %s.", h.marks[m], m)
	}
	if len(h.connects) > h.mostAtOnce() {
		h.flag(true, "note", "connect", "%d requests had to open a connection of their own, which is in their TTFT (column connect_ms): %.2f ms each (median).",
			len(h.connects), stats.Median(h.connects))
	}
}

func (h *checks) mostAtOnce() int {
	n := 0
	for _, v := range h.r.Summary.Levels {
		n = max(n, v.MaxInFlight)
	}
	return n
}

// machine: is the client itself fit to measure?
func (h *checks) machine() {
	e := &h.r.Env
	if d := e.Lag; d.P99 != nil {
		h.flag(*d.P99 > 1, "warn", "lag", "The client woke up to %.2f ms late (p99; median %.2f ms): its machine is busy, and no time stamp is better than that.", *d.P99, *d.P50)
		h.flag(*d.P99 <= 1, "ok", "lag", "The client woke up at most %.2f ms late (p99).", *d.P99)
	}
	h.flag(e.ClockJumpMS > 20, "warn", "clock", "The wall clock jumped by %.0f ms during the run. Latencies are from the monotonic clock and do not change.", e.ClockJumpMS)
	for _, g := range e.GPUs {
		slow := g.Lowest != nil && g.MaxSMMHz > 0 && *g.Lowest < 0.9*g.MaxSMMHz
		h.flag(slow && e.SameMachine, "note", "clocks", "The GPU (%s) ran at %.0f MHz at times, its highest clock is %.0f MHz: heat, a power limit or a fixed clock slows it.", g.Name, or0(g.Lowest), g.MaxSMMHz)
	}
	h.flag(e.SameMachine, "note", "same", "Client and server shared one machine: they compete for it, and there is no network in between.")
	h.flag(e.Proxy && !e.SameMachine, "warn", "proxy", "The environment names a proxy: requests may have gone through it.")
	lag := false
	for _, v := range h.r.Summary.Levels {
		lag = lag || v.Loop == "open" && v.Wait.P95 != nil && *v.Wait.P95 > 5
	}
	h.flag(lag, "warn", "late", "In the open loop the client sent requests more than 5 ms late (p95). The wait is inside the latencies.")
}

func or0(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// plan: too few requests, and runs that ended early.
func (h *checks) plan() {
	var thin []string
	for _, v := range h.r.Summary.Levels {
		if v.OK > 0 && v.OK < 100 {
			name := fmt.Sprintf("c%d: %d", v.Concurrency, v.OK)
			if v.Loop == "open" {
				name = fmt.Sprintf("%g/s: %d", v.Rate, v.OK)
			}
			thin = append(thin, name)
		}
		h.flag(v.Stopped != "" && !strings.HasPrefix(v.Stopped, "its share"), "warn", "level", "Level %s ended early: %s.", levelName(&v), v.Stopped)
	}
	h.flag(len(thin) > 0, "note", "small", "Too few requests for a p99, which needs 100 a level (%s); it is left out rather than guessed.", strings.Join(thin, ", "))
	h.flag(h.r.Stopped != "", "note", "stopped", "The run ended before its plan was done: %s.", h.r.Stopped)
	h.flag(len(h.r.Server.Dropped) > 0, "note", "dropped", "The server refused these fields: %s.", strings.Join(h.r.Server.Dropped, ", "))
	recorded := 0
	for _, row := range h.r.Rows {
		if row.Recording != "" {
			recorded++
		}
	}
	h.flag(recorded > 0, "note", "recorded", "The server recorded %d of %d requests (--record); recording is part of their times.", recorded, len(h.r.Rows))
}

// levelName is c4 or 2/s.
func levelName(v *Level) string {
	if v.Loop == "open" {
		return fmt.Sprintf("%g/s", v.Rate)
	}
	return fmt.Sprintf("c%d", v.Concurrency)
}
