// Package bench measures any OpenAI-compatible endpoint from outside: time to first token, time per output token,
// throughput at rising concurrency, prefill by slope, decoding at depth, in closed and open loop.
//
// Definitions are those that MLPerf, vLLM and OpenTelemetry agree on, in Formulas; tokens are counted by the server's
// usage and never by chunks; what was not measured is nil.
//
// It does not know about the engine beyond the wire structs, nor about how results are written or shown.
package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"glassbox/cmd/internal/bench/client"
)

// Progress is where a run stands. It is passed on by value, one call at a time.
type Progress struct {
	Phase    string        // what is done now, in words
	Step     int           // of Steps
	Steps    int           // phases and levels of the plan; may grow
	Done     int           // requests of this step
	Total    int           // requests planned for this step
	Flying   int           // requests in flight
	Errors   int           // of this step
	Elapsed  time.Duration // of the run
	Left     time.Duration // an estimate; 0 = unknown
	TTFT     float64       // ms, median of this step so far; 0 = none yet
	TPOT     float64       // ms, likewise
	Rate     float64       // output tokens/s of this step so far
	Endpoint *client.Endpoint
	Row      *client.Row // the request that has just ended, nil between requests
	Message  string      // something the user should read
}

// Version is the release that reports name; the command sets it.
var Version = "dev"

// run is a benchmark under way.
type run struct {
	cfg     Config
	c       *client.Client
	e       *client.Endpoint
	maker   *client.Maker
	started time.Time
	res     *Result
	report  func(Progress)

	idMu sync.Mutex
	ids  *rand.Rand

	tellMu sync.Mutex
	told   time.Time // when percentiles were last computed for it
	last   Progress
	step   int
	steps  int
	each   time.Duration // e2e of one request alone
}

// now is nanoseconds since the run began, from 1.
func (r *run) now() int64 { return int64(time.Since(r.started)) + 1 }

// Run measures. progress, if not nil, is called as requests end, never twice at a time, and must return soon. When ctx ends
// the run stops and the result holds what was measured until then, with Stopped saying so; the error is nil as long as
// one request of a level succeeded.
func Run(ctx context.Context, cfg Config, progress func(Progress)) (*Result, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	r := &run{cfg: cfg, started: time.Now(), report: progress}
	if r.cfg.Seed == 0 {
		r.cfg.Seed = rand.Uint64() >> 11 // a JSON reader may take numbers for doubles
	}
	r.ids = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	var err error
	if r.c, err = client.New(cfg.URL, cfg.Key, r.now, time.Duration(r.cfg.Silence*float64(time.Second))); err != nil {
		return nil, err
	}
	defer r.c.Close()
	if cfg.Allow != nil {
		r.c.Only(cfg.Allow)
	}
	r.cfg.URL = r.c.Base
	if r.e, err = r.c.Discover(ctx, cfg.Model); err != nil {
		return nil, err
	}
	if cfg.API != "" {
		r.e.API = cfg.API
	}
	if len(r.e.Models) > 1 && cfg.Model == "" {
		r.message("measuring %s, the first of %d models; --model chooses among %s", r.e.Model, len(r.e.Models), strings.Join(r.e.Models, ", "))
	}
	return r.measure(ctx)
}

// measure runs the phases and puts the result together.
func (r *run) measure(ctx context.Context) (*Result, error) {
	r.res = &Result{Schema: Schema{SchemaName, SchemaVersion}, Started: r.started.UTC().Format(time.RFC3339), Tool: tool(Version),
		Env: machine(ctx, r.cfg.GPUs), Formulas: Formulas, Aliases: Aliases, Rows: []*client.Row{}, Prefill: []*client.Row{}, Warmup: []*client.Row{}}
	r.res.ID = fmt.Sprintf("%s-%05x", r.started.UTC().Format("20060102-150405"), r.cfg.Seed&0xfffff)
	r.res.Env.SameMachine = r.c.Local()
	lag := startLag()
	unwatch := watchGPUs(ctx, &r.res.Env, r.cfg.GPUs, gpuEvery)
	limited := ctx
	if r.cfg.Seconds > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, r.cfg.left(r.started), errTime)
		defer cancel()
	}
	err := r.phases(limited)
	r.res.Env.Lag, r.res.Env.ClockJumpMS = lag.end()
	unwatch(context.WithoutCancel(ctx))
	measured := false
	for _, v := range r.res.Summary.Levels {
		measured = measured || v.OK > 0
	}
	switch {
	case err == nil:
	case limited.Err() == nil:
		return nil, err
	case errors.Is(context.Cause(limited), errTime):
		r.res.Stopped = fmt.Sprintf("the time limit of %g s", r.cfg.Seconds)
	default:
		r.res.Stopped = Interrupted
	}
	if !measured && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.finish(context.WithoutCancel(ctx))
	if !measured {
		return r.res, fmt.Errorf("bench: no request of a level succeeded%s", r.whyNot())
	}
	return r.res, nil
}

// Interrupted is what Result.Stopped says of a run that the caller ended.
const Interrupted = "interrupted"

var errTime = errors.New("time limit")

func (r *run) whyNot() string {
	for _, row := range r.res.Rows {
		if row.Error != nil {
			return ": " + *row.Error
		}
	}
	if r.res.Stopped != "" {
		return ": " + r.res.Stopped
	}
	return ""
}

// finish computes what needs the whole run.
func (r *run) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	res := r.res
	r.hashModel(ctx)
	s := &res.Summary
	s.Prefill, s.Depths, s.Knee = prefillLine(res.Prefill), depths(res.Prefill), knee(s.Levels)
	headline(s)
	for _, row := range res.Rows {
		if row.Sample != "" {
			res.Sample = row.Sample
			break
		}
	}
	res.Config, res.Server = r.cfg, *r.e
	res.hidePaths()
	res.Config.Note, res.Config.ServerFlags = r.c.Hide(res.Config.Note), r.c.Hide(res.Config.ServerFlags)
	res.Health = health(res)
	res.Seconds = time.Since(r.started).Seconds()
}

// hidePaths shortens model names that are paths of the server's machine, as llama.cpp gives them, to the file's name: a
// report is made to be shared.
func (r *Result) hidePaths() {
	base := func(s string) string {
		if strings.HasPrefix(s, "/") || len(s) > 2 && s[1] == ':' && s[2] == '\\' {
			return s[strings.LastIndexAny(s, `/\`)+1:]
		}
		return s
	}
	r.Server.Model, r.Config.Model = base(r.Server.Model), base(r.Config.Model)
	r.Server.Models = slices.Clone(r.Server.Models)
	for i, m := range r.Server.Models {
		r.Server.Models[i] = base(m)
	}
}

// message tells the user something.
func (r *run) message(text string, args ...any) {
	r.tellMu.Lock()
	defer r.tellMu.Unlock()
	r.report(Progress{Message: fmt.Sprintf(text, args...), Elapsed: time.Since(r.started), Endpoint: r.e, Step: r.step, Steps: r.steps})
}
