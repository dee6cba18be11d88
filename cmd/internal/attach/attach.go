// Package attach records one request inside another engine: it starts the engine, waits until it serves, sends a request,
// and puts what ran in all its processes together into one recording.
//
// Read attach.go for the order of things, process.go for the engine's processes, folder.go for how Python processes are
// told to record, events.go and merge.go for how their files become spans, native*.go for machine code, and request.go for
// the request. sitecustomize.py is the recorder inside Python.
//
// It does not know about which engine it is, beyond a steps.Engine, nor how a recording is shown.
package attach

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"glassbox/steps"
	"glassbox/trace/file"
)

// Options say what is recorded.
type Options struct {
	Engine    steps.Engine
	Catalogue *steps.Catalogue
	Command   []string      // starts the engine; empty: it runs already, at URL
	PIDs      []int         // native engines that run already: what is recorded
	URL       string        // "" = the engine's own
	Request   []byte        // body of a streamed chat completion
	Healthy   time.Duration // how long the engine may take to serve
	Answer    time.Duration // how long one answer may take
	Warm      int           // requests before anything is measured
	Plain     int           // requests that are measured without a recording
	Log       io.Writer     // progress
	Keep      string        // folder for the raw files; "" = none are kept
}

// recorder is one way to record processes.
type recorder interface {
	prepare(o *Options, cmd *command) error     // before the engine starts
	arm(ctx context.Context, p *process) error  // record from now on
	stop(ctx context.Context) ([]thread, error) // no longer; what ran
	describe() (method string, facts []string)  // how it was recorded
	close()
}

// Run records one request. The engine's processes are ended when it returns, whatever happens.
func Run(ctx context.Context, o Options) (*file.Recording, error) {
	o.defaults()
	body, err := streamed(o.Request)
	if err != nil {
		return nil, err
	}
	var r recorder = newFolder()
	if o.Engine.Native {
		r = newNative()
	}
	defer r.close()
	cmd := &command{args: o.Command}
	if err := r.prepare(&o, cmd); err != nil {
		return nil, err
	}
	var p *process
	if len(o.Command) > 0 {
		o.say("starting %s", o.Command[0])
		if p, err = start(cmd); err != nil {
			return nil, err
		}
		defer p.end()
	} else {
		p = running(o.PIDs)
	}
	if err := healthy(ctx, &o, p); err != nil {
		return nil, err
	}
	return record(ctx, &o, p, r, body)
}

func (o *Options) defaults() {
	if o.URL == "" {
		o.URL = o.Engine.URL
	}
	if o.Healthy == 0 {
		o.Healthy = 10 * time.Minute
	}
	if o.Answer == 0 {
		o.Answer = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
}

func (o *Options) say(format string, args ...any) {
	fmt.Fprintf(o.Log, "glassbox attach: "+format+"\n", args...)
}

// record sends the requests: some to warm up, some to be measured as they are, one to be recorded.
func record(ctx context.Context, o *Options, p *process, r recorder, body []byte) (*file.Recording, error) {
	var plain []answer
	for i := range o.Warm + o.Plain {
		a, err := ask(ctx, o, p, body)
		if err != nil {
			return nil, err
		}
		if i >= o.Warm {
			plain = append(plain, a)
		}
	}
	o.say("recording one request")
	if err := r.arm(ctx, p); err != nil {
		return nil, p.blame(err)
	}
	a, err := ask(ctx, o, p, body)
	if err != nil {
		return nil, err
	}
	threads, err := r.stop(ctx)
	if err != nil {
		return nil, p.blame(err)
	}
	rec, err := merge(o, &a, threads)
	if err != nil {
		return nil, err
	}
	method, facts := r.describe()
	rec.Clock = file.Clock{Name: "monotonic, " + method, ResolutionNs: 1}
	describe(o, rec, method, facts, plain, &a)
	o.Catalogue.Match(rec)
	rec.Numbers = numbers(rec, &a)
	o.Catalogue.Apply(rec)
	return rec, nil
}

// describe puts into the recording how it was made, and how much slower the recorded request was.
func describe(o *Options, rec *file.Recording, method string, facts []string, plain []answer, a *answer) {
	p := rec.Request.Params
	p["recorded_by"] = "glassbox attach, " + method
	p["command"] = PlainCommand(o.Command)
	p["recorded_ms"] = ms(a.total())
	if a.build != "" {
		p["build"] = a.build
	}
	rec.Device.Features = append(rec.Device.Features, facts...)
	if len(plain) == 0 {
		o.say("slowdown: not measured (--plain 0)")
		return
	}
	slices.SortFunc(plain, func(x, y answer) int { return int(x.total() - y.total()) })
	mid := plain[len(plain)/2]
	p["plain_ms"] = ms(mid.total())
	p["plain_runs"] = int64(len(plain))
	if rate := mid.decodeRate(); rate > 0 {
		rec.Untraced = &file.Untraced{DecodeTokensPerS: rate}
	}
	o.say("recorded: %.1f ms; plain: %.1f ms, the median of %d; %.2f times slower",
		ms(a.total()), ms(mid.total()), len(plain), float64(a.total())/float64(mid.total()))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// PlainCommand is a command as a recording holds it: of paths on this machine only the last part.
func PlainCommand(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if filepath.IsAbs(a) {
			out[i] = filepath.Base(a)
		}
	}
	return out
}
