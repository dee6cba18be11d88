package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"glassbox/engine"
	"glassbox/engine/openai"
	"glassbox/engine/spec"
	"glassbox/trace/file"
	"glassbox/web"
)

// experiments runs requests on a second engine over the model's file that is already open, with one setting changed. Their
// recordings are kept beside those of the server.
type experiments struct {
	flags engineFlags
	o     *opened
	store *file.Store
	one   sync.Mutex
}

// experimentLimit is how long an experiment may take.
const experimentLimit = 60 * time.Second

// Run implements web.Experiments.
func (x *experiments) Run(ctx context.Context, e web.Experiment) (*web.ExperimentResult, error) {
	if !x.one.TryLock() {
		return nil, web.ErrExperimentRuns
	}
	defer x.one.Unlock()
	ctx, cancel := context.WithTimeout(ctx, experimentLimit)
	defer cancel()
	options, plan, err := x.plan(e)
	if err != nil {
		return nil, err
	}
	running, err := engine.Open(x.o.file, options)
	if err != nil {
		return nil, &web.ExperimentError{Text: err.Error()}
	}
	defer running.Close()
	mine := *x.o
	mine.engine = running
	api, err := newAPI(&mine, openai.Config{Tracer: x.store.As(mine.head())})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: api}
	openai.Prepare(srv)
	go func() { _ = srv.Serve(openai.Listener(l)) }()
	defer func() {
		over, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		_ = api.Shutdown(over)
		_ = srv.Shutdown(over)
	}()
	return x.measure(ctx, plan, "http://"+l.Addr().String())
}

// plannedRun is what an experiment asks of its engine.
type plannedRun struct {
	settings string
	prompt   string
	tokens   int
	batch    int
}

// Prompts of experiments: one short, one long enough for several chunks, one whose answer repeats what it reads.
var (
	shortPrompt  = "Why is the sky blue?"
	longPrompt   = "Summarize: " + strings.Repeat("The light of the sun meets the molecules of the air and is scattered, the blue part of it more than the red. ", 24)
	repeatPrompt = "Repeat this list exactly, twice:\n" + strings.Repeat("red, orange, yellow, green, blue, indigo, violet\n", 3)
)

// plan turns what the reader chose into flags and requests. Exactly one setting is given.
func (x *experiments) plan(e web.Experiment) (engine.Options, plannedRun, error) {
	f := x.flags.options(nil)
	f.Slots, f.Draft, f.NoPrefix = 8, spec.Off, true // every prompt is computed in full
	p := plannedRun{prompt: shortPrompt, tokens: 48, batch: 1}
	number := func(name, v string, most int, to *int) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > most {
			return &web.ExperimentError{Text: fmt.Sprintf("%s: wanted 1 to %d, found %q", name, most, v)}
		}
		*to = n
		return nil
	}
	var err error
	set := 0
	for _, c := range []struct {
		name, v string
		do      func() error
	}{
		{"chunk", e.Chunk, func() error {
			p.prompt = longPrompt
			return number("chunk", e.Chunk, 4096, &f.Budget)
		}},
		{"KV", e.KV, func() error {
			f.KV = e.KV
			return nil
		}},
		{"shards", e.Shards, func() error { return number("shards", e.Shards, 64, &f.Shards) }},
		{"draft", e.Draft, func() error {
			if e.Draft != spec.Off && e.Draft != spec.Ngram {
				return &web.ExperimentError{Text: fmt.Sprintf("draft: wanted off or ngram, found %q", e.Draft)}
			}
			f.Draft, p.prompt, p.tokens = e.Draft, repeatPrompt, 96
			return nil
		}},
		{"threads", e.Threads, func() error { return number("threads", e.Threads, 64, &f.Threads) }},
		{"batch", e.Batch, func() error { return number("batch", e.Batch, 8, &p.batch) }},
	} {
		if c.v == "" {
			continue
		}
		set++
		p.settings = c.name + " " + c.v
		if err == nil {
			err = c.do()
		}
	}
	if err == nil && set != 1 {
		err = &web.ExperimentError{Text: fmt.Sprintf("wanted one setting to change, found %d", set)}
	}
	return f, p, err
}

// measure sends the requests at once, the last of them traced, and works the three numbers out of what came back.
func (x *experiments) measure(ctx context.Context, p plannedRun, url string) (*web.ExperimentResult, error) {
	if _, err := x.ask(ctx, p, url, false); err != nil { // a first request pays for pages of memory touched the first time
		return nil, err
	}
	type answer struct {
		trace string
		err   error
	}
	answers := make(chan answer, p.batch)
	from := time.Now()
	for i := range p.batch {
		go func() {
			id, err := x.ask(ctx, p, url, i == p.batch-1)
			answers <- answer{id, err}
		}()
	}
	out := &web.ExperimentResult{Settings: p.settings}
	var failed error
	for range p.batch {
		a := <-answers
		if a.err != nil {
			failed = a.err
		}
		out.Trace += a.trace
	}
	took := time.Since(from)
	if failed != nil {
		return nil, failed
	}
	rec, err := x.store.Wait(ctx, out.Trace)
	if err != nil {
		return nil, err
	}
	fillResult(out, rec, float64(p.batch*p.tokens)/took.Seconds())
	return out, nil
}

// fillResult takes the numbers from the recording. The times of an emulated device measure nothing, so its result has none.
func fillResult(out *web.ExperimentResult, rec *file.Recording, tokensPerS float64) {
	if m := rec.Memory; m != nil {
		out.KVBytesPerToken = float64(m.BytesPerToken)
	}
	if !rec.Clocked() {
		return
	}
	out.TTFTMs, out.TPOTMs = float64(rec.Numbers.TTFTNs)/1e6, float64(rec.Numbers.TPOTNs)/1e6
	out.TokensPerS = tokensPerS
}

// ask sends one request for exactly p.tokens tokens and reads its stream to the end; it returns the id of the recording.
func (x *experiments) ask(ctx context.Context, p plannedRun, url string, traced bool) (string, error) {
	body := map[string]any{"model": x.o.name, "messages": []map[string]string{{"role": "user", "content": p.prompt}}, "stream": true, "temperature": 0,
		"max_tokens": p.tokens, "ignore_eos": true, "glassbox": map[string]any{"trace": traced}}
	raw, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	resp, err := post(ctx, url+"/v1/chat/completions", raw)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", answerError(resp)
	}
	return resp.Header.Get("X-Glassbox-Trace-Id"), copyAnswer(new(bytes.Buffer), resp.Body)
}
