package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/stats"
)

// phases runs the plan: find out what the server takes, warm up, prefill by slope, then the levels. The error is that of
// the context when it ended the run.
func (r *run) phases(ctx context.Context) error {
	r.steps = 2
	r.begin("warm-up")
	rows, err := r.c.Negotiate(ctx, r.e)
	r.res.Warmup = append(r.res.Warmup, rows...)
	if err != nil {
		return err
	}
	if err := r.warmUp(ctx); err != nil {
		return err
	}
	if err := r.prefill(ctx); err != nil {
		return err
	}
	if err := r.closedLevels(ctx); err != nil {
		return err
	}
	return r.openLevels(ctx)
}

// warmUp fits the prompt and sends two whole requests. The second tells how long one takes.
func (r *run) warmUp(ctx context.Context) error {
	r.maker = client.NewMaker(ctx, r.c, r.e, r.cfg.Seed)
	got, err := r.maker.Fit(ctx, r.cfg.PromptTokens)
	if err != nil {
		return err
	}
	for i := range 2 {
		row := r.single(ctx, fmt.Sprintf("w-%d", i), r.cfg.PromptTokens, r.cfg.OutputTokens, "warmup", 0)
		r.res.Warmup = append(r.res.Warmup, row)
		if row.Outcome == client.Failed {
			return fmt.Errorf("bench: the warm-up request failed: %s", *row.Error)
		}
		if row.PromptTokens != nil {
			r.maker.Verify(r.cfg.PromptTokens, *row.PromptTokens)
			got = *row.PromptTokens
		}
		if row.Times.End > 0 {
			r.each = time.Duration(row.Times.End - row.Times.Sent)
		}
	}
	if got != r.cfg.PromptTokens && got > 0 {
		r.message("a prompt of %d tokens cannot be made for this server's template; the nearest has %d", r.cfg.PromptTokens, got)
	}
	r.res.Warmup = append(r.res.Warmup, r.maker.Rows...)
	return ctx.Err()
}

// single sends one request by itself.
func (r *run) single(ctx context.Context, id string, prompt, output int, phase string, level int) *client.Row {
	row := &client.Row{ID: id, Phase: phase, Level: level, Concurrency: 1, AskedPrompt: prompt, AskedOutput: output}
	path, body, err := r.e.Body(r.maker.Prompt(prompt), output)
	if err != nil {
		row.Fail(err.Error())
		return row
	}
	call := client.Call{Path: path, Body: body, Lines: r.e.API == "ollama"}
	call.Traceparent, row.TraceID = r.traceparent()
	r.c.Do(ctx, call, row)
	return row
}

const (
	prefillRounds = 4  // requests a length
	prefillOutput = 16 // tokens, for decoding at depth
)

// prefill sends prompts of three lengths or more, one at a time, in turns so that a drift of the machine touches all alike.
func (r *run) prefill(ctx context.Context) error {
	if r.cfg.NoPrefill {
		return nil
	}
	lengths := r.lengths()
	r.begin("prefill and depth")
	until := time.Now().Add(r.prefillTime())
	usable := lengths[:0]
	for _, n := range lengths {
		if r.e.Context > 0 && n+prefillOutput > r.e.Context {
			r.message("no prompts of %d tokens: the server's context has %d", n, r.e.Context)
			continue
		}
		if _, err := r.maker.Fit(ctx, n); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.message("no prompts of %d tokens: %v", n, err)
			continue
		}
		usable = append(usable, n)
	}
	l := &load{r: r, level: &Level{Planned: len(usable) * prefillRounds, Concurrency: 1}, phase: "prefill"}
	for round := range prefillRounds {
		for i, n := range usable {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if round > 0 && time.Now().After(until) {
				return nil
			}
			row := r.single(ctx, fmt.Sprintf("p%d-%d", n, round), n, prefillOutput, "prefill", i)
			r.res.Prefill = append(r.res.Prefill, row)
			l.rows = append(l.rows, row)
			r.tell(l, row, len(l.rows))
		}
	}
	return ctx.Err()
}

// prefillTime is what the prefill phase may take: three tenths of what is left and at most 40 s; where the number of
// requests is given, half of what the levels will take, and 10 s at least.
func (r *run) prefillTime() time.Duration {
	t := min(r.cfg.left(r.started)*3/10, 40*time.Second)
	if r.cfg.Requests > 0 {
		t = min(t, max(10*time.Second, r.each*time.Duration(r.cfg.Requests*max(1, len(r.cfg.Concurrency)))/2))
	}
	return t
}

// lengths are those asked for, else three around the prompt's length, as far as the warm-up says that there is time.
func (r *run) lengths() []int {
	if r.cfg.Prefill != nil {
		return slices.Clone(r.cfg.Prefill)
	}
	n := max(r.cfg.PromptTokens, 96)
	out := []int{n / 2, n, 2 * n}
	if r.each*4*prefillRounds < r.prefillTime() {
		out = append(out, 4*n)
	}
	return out
}

// closedLevels runs the concurrencies asked for, or doubles until throughput stands still.
func (r *run) closedLevels(ctx context.Context) error {
	levels, sweeping := r.cfg.Concurrency, false
	switch {
	case r.cfg.Sweep > 0:
		sweeping = true
		for c := 1; c <= r.cfg.Sweep; c *= 2 {
			levels = append(levels, c)
		}
	case levels == nil && len(r.cfg.Rates) == 0:
		levels = []int{1, 2, 4, 8}
	}
	r.steps = r.step + len(levels) + len(r.cfg.Rates)
	best := 0.0
	for i, c := range levels {
		share := r.cfg.left(r.started) / time.Duration(len(levels)-i+len(r.cfg.Rates))
		v := &Level{Index: len(r.res.Summary.Levels), Loop: "closed", Concurrency: c, Planned: r.planned(c, share)}
		l := &load{r: r, level: v, phase: "load", prompt: r.cfg.PromptTokens, output: r.cfg.OutputTokens, until: time.Now().Add(share * 9 / 10)}
		r.level(ctx, l, l.closed)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if sweeping && v.OutputRate != nil {
			if *v.OutputRate < best*1.05 {
				r.message("throughput no longer grows at concurrency %d", c)
				r.steps = r.step + len(r.cfg.Rates)
				return nil
			}
			best = *v.OutputRate
		}
	}
	return nil
}

// planned is how many requests a level gets: those asked for, else as many as fit into its share of the time if requests
// did not slow each other down, at least three for each worker and at most a hundred and a few rounds.
func (r *run) planned(c int, share time.Duration) int {
	if r.cfg.Requests > 0 {
		return r.cfg.Requests
	}
	n := 1 << 20
	if r.each > 0 {
		n = int(share * 8 / 10 / r.each * time.Duration(c))
	}
	return max(3*c, min(n, 110+10*c))
}

func (r *run) openLevels(ctx context.Context) error {
	for i, rate := range r.cfg.Rates {
		share := r.cfg.left(r.started) / time.Duration(len(r.cfg.Rates)-i)
		n := r.cfg.Requests
		if n == 0 {
			n = max(5, min(200, int(rate*share.Seconds()*0.7)))
		}
		v := &Level{Index: len(r.res.Summary.Levels), Loop: "open", Rate: rate, Planned: n}
		l := &load{r: r, level: v, phase: "open", prompt: r.cfg.PromptTokens, output: r.cfg.OutputTokens, until: time.Now().Add(share * 9 / 10)}
		r.level(ctx, l, func(ctx context.Context) { l.open(ctx, r.cfg.Seed) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// level runs one level and books it, also when it was cut off.
func (r *run) level(ctx context.Context, l *load, loop func(context.Context)) {
	r.begin(l.level.title())
	before := r.scrapeNow(ctx)
	loop(ctx)
	after := context.WithoutCancel(ctx)
	r.recordings(after, l.rows)
	slices.SortFunc(l.rows, func(a, b *client.Row) int { return int(a.Times.Sent - b.Times.Sent) })
	summarise(l.level, l.rows, r.cfg.SLO, l.busy, l.idle)
	l.level.Server = beside(l.level, l.rows, before, r.scrapeNow(after))
	r.res.Rows = append(r.res.Rows, l.rows...)
	r.res.Summary.Levels = append(r.res.Summary.Levels, *l.level)
}

func (v *Level) title() string {
	if v.Loop == "open" {
		return fmt.Sprintf("open loop, %g requests/s", v.Rate)
	}
	return fmt.Sprintf("concurrency %d", v.Concurrency)
}

// begin starts a step of the plan.
func (r *run) begin(name string) {
	r.tellMu.Lock()
	defer r.tellMu.Unlock()
	r.step++
	r.steps = max(r.steps, r.step)
	r.report(Progress{Phase: name, Step: r.step, Steps: r.steps, Elapsed: time.Since(r.started), Endpoint: r.e})
}

// tell reports a row that has ended.
func (r *run) tell(l *load, row *client.Row, done int) {
	r.tellMu.Lock()
	defer r.tellMu.Unlock()
	p := Progress{Phase: l.level.title(), Step: r.step, Steps: r.steps, Done: done, Total: l.level.Planned, Flying: int(l.flying.Load()),
		Elapsed: time.Since(r.started), Endpoint: r.e, Row: row}
	if l.phase == "prefill" {
		p.Phase = "prefill and depth"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p.Errors = l.errors
	if done < l.level.Planned && time.Since(r.told) < 100*time.Millisecond {
		p.TTFT, p.TPOT, p.Rate, p.Left = r.last.TTFT, r.last.TPOT, r.last.Rate, r.last.Left
		r.report(p)
		return
	}
	r.told = time.Now()
	var ttft, tpot []float64
	tokens, from, to := 0, int64(0), int64(0)
	for _, x := range l.rows {
		add(&ttft, x.TTFT)
		add(&tpot, x.TPOT)
		if x.OutputTokens != nil {
			tokens += *x.OutputTokens
		}
		if from == 0 || x.Times.Sent < from {
			from = x.Times.Sent
		}
		to = max(to, x.Times.End)
	}
	if len(ttft) > 0 {
		p.TTFT = stats.Median(ttft)
	}
	if len(tpot) > 0 {
		p.TPOT = stats.Median(tpot)
	}
	if to > from {
		p.Rate = float64(tokens) / float64(to-from) * 1e9
	}
	p.Left = r.estimate(done, l.level.Planned, to-from)
	r.last = p
	r.report(p)
}

// estimate is the time left: the rest of this step at its pace, and for each step to come as much as this one takes.
func (r *run) estimate(done, total int, took int64) time.Duration {
	if done == 0 || took <= 0 {
		return 0
	}
	whole := time.Duration(float64(took) * float64(total) / float64(done))
	left := whole - time.Duration(took) + whole*time.Duration(r.steps-r.step)
	if r.cfg.Seconds > 0 {
		left = min(left, max(0, r.cfg.left(r.started)))
	}
	return max(0, left)
}
