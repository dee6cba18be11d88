package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"glassbox/cmd/internal/bench/client"
)

// load is one level while it runs.
type load struct {
	r       *run
	level   *Level
	phase   string
	prompt  int
	output  int
	until   time.Time // no request starts after it
	rows    []*client.Row
	mu      sync.Mutex
	errors  int
	flying  atomic.Int32
	busy    int64 // all workers have sent their first request
	idle    int64 // the first worker has nothing more to do
	stopped string
}

var errTooMany = errors.New("too many errors")

// closed holds a concurrency: each worker sends its next request when its last has ended.
func (l *load) closed(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range l.level.Concurrency {
		wg.Add(1)
		go func() {
			defer wg.Done()
			first := true
			for {
				i := int(next.Add(1)) - 1
				if i >= l.level.Planned || ctx.Err() != nil || l.late(i) {
					break
				}
				row := l.one(ctx, i, 0, func(sent int64) {
					if first {
						l.mu.Lock()
						l.busy = max(l.busy, sent)
						l.mu.Unlock()
					}
					first = false
				})
				l.ended(row, cancel)
				if row.RetryAfter != nil {
					sleep(ctx, min(time.Duration(*row.RetryAfter*1e6), 10*time.Second))
				}
			}
			l.mu.Lock()
			if l.idle == 0 {
				l.idle = l.r.now()
			}
			l.mu.Unlock()
		}()
	}
	wg.Wait()
	l.note(ctx)
}

// late tells whether the level's time is up. The first request of each worker is always sent.
func (l *load) late(i int) bool {
	if i < l.level.Concurrency || time.Now().Before(l.until) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped == "" {
		l.stopped = fmt.Sprintf("its share of the time was up after %d of %d requests", i, l.level.Planned)
	}
	return true
}

// most requests that an open loop keeps in flight; a server that lets them pile up so high will not catch up.
const mostInFlight = 2000

// open sends requests at the times of a Poisson process, whatever the server does. The times are drawn beforehand.
func (l *load) open(ctx context.Context, seed uint64) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	gaps := rand.New(rand.NewPCG(seed, uint64(l.level.Index)))
	start, at := l.r.now(), 0.0
	var wg sync.WaitGroup
	for i := range l.level.Planned {
		at += gaps.ExpFloat64() / l.level.Rate
		due := start + int64(at*1e9)
		if !sleep(ctx, time.Duration(due-l.r.now())) || !time.Now().Before(l.until) {
			if l.stopped == "" && ctx.Err() == nil {
				l.stopped = fmt.Sprintf("its share of the time was up after %d of %d requests", i, l.level.Planned)
			}
			break
		}
		if n := l.r.cfg.InFlight; int(l.flying.Load()) >= n {
			l.stopped = fmt.Sprintf("saturated: %d requests in flight", n)
			break
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			l.ended(l.one(ctx, i, due, func(int64) {}), cancel)
		}()
	}
	wg.Wait()
	l.note(ctx)
}

// sleep waits, and tells whether ctx is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// one sends the level's i-th request. The prompt is made before the clock is read.
func (l *load) one(ctx context.Context, i int, due int64, sent func(int64)) *client.Row {
	r, v := l.r, l.level
	row := &client.Row{ID: fmt.Sprintf("%s%d-%04d", l.phase[:1], v.Index, i), Phase: l.phase, Level: v.Index, Concurrency: v.Concurrency, Rate: v.Rate,
		AskedPrompt: l.prompt, AskedOutput: l.output}
	path, body, err := r.e.Body(r.maker.Prompt(l.prompt), l.output)
	if err != nil {
		row.Fail(err.Error())
		return row
	}
	call := client.Call{Path: path, Body: body, Lines: r.e.API == "ollama", Record: r.records(i, v)}
	call.Traceparent, row.TraceID = r.traceparent()
	row.Times.Scheduled = due
	n := l.flying.Add(1)
	l.mu.Lock()
	v.MaxInFlight = max(v.MaxInFlight, int(n))
	l.mu.Unlock()
	sent(r.now())
	r.c.Do(ctx, call, row)
	l.flying.Add(-1)
	return row
}

// ended books a row and applies the stop rule for errors: too many, and more than half of all.
func (l *load) ended(row *client.Row, cancel context.CancelCauseFunc) {
	l.mu.Lock()
	l.rows = append(l.rows, row)
	if row.Outcome == client.Failed {
		l.errors++
	}
	tooMany := l.errors >= l.r.cfg.MaxErrors && 2*l.errors > len(l.rows)
	done := len(l.rows)
	l.mu.Unlock()
	if tooMany {
		cancel(errTooMany)
	}
	l.r.tell(l, row, done)
}

// note says why a level ended early.
func (l *load) note(ctx context.Context) {
	if errors.Is(context.Cause(ctx), errTooMany) {
		l.stopped = fmt.Sprintf("%d of %d requests failed", l.errors, len(l.rows))
	}
	l.level.Stopped = l.stopped
}

// records tells whether the server is asked to record this request: all, or one of each level, the first of its second
// round, when the load is on.
func (r *run) records(i int, v *Level) bool {
	if r.e.Kind != "glassbox" {
		return false
	}
	switch r.cfg.Record {
	case "all":
		return true
	case "one":
		return i == min(v.Concurrency, v.Planned-1)
	}
	return false
}

// traceparent makes a W3C trace context with random ids; flag 01 asks for the spans to be kept.
func (r *run) traceparent() (header, traceID string) {
	r.idMu.Lock()
	defer r.idMu.Unlock()
	traceID = fmt.Sprintf("%016x%016x", r.ids.Uint64()|1, r.ids.Uint64())
	return fmt.Sprintf("00-%s-%016x-01", traceID, r.ids.Uint64()|1), traceID
}
