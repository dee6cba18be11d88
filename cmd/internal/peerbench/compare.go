package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// side is everything measured of one engine.
type side struct {
	prefill, decode sample // tokens/s
	start           sample // s, process start to the first byte of the first word
	memory          sample // MB, peak resident set of the bench process
}

// bench is one comparison.
type bench struct {
	config
	progress     io.Writer
	ctx          context.Context
	ours, theirs side
	more         []speed
	oursServed   serving
	theirsServed serving
	traded       []traded // one a setting
	cost         sample   // of tracing a whole request, percent
	opCost       sample   // of recording each op of a pass, percent
	info         local    // the last answer of bench-local
	system       string   // the peer's system line
	disturbed    int      // runs kept although others used the machine
	warm         string   // why starts were not cold; "" when they were
	failed       []string
}

// compare runs everything and gives the table and the number of bounds that do not hold. What fails on our side becomes
// "not measured"; a missing peer or a missing model is an error.
func (b *bench) compare() (string, int, error) {
	file, err := os.Stat(b.Model)
	if err != nil {
		return "", 0, fmt.Errorf("--model: %w", err)
	}
	var p peer
	if b.beside() {
		if p, err = install(b.ctx, b.Venv, b.progress); err != nil {
			return "", 0, err
		}
	}
	dir, err := os.MkdirTemp("", "peerbench")
	if err != nil {
		return "", 0, err
	}
	defer os.RemoveAll(dir)
	if b.Ours == "" {
		b.say("building ./cmd/glassbox")
		if b.Ours, err = build(dir); err != nil {
			return "", 0, err
		}
	}
	if b.has("main") {
		if err := b.rounds(p, dir); err != nil {
			return "", 0, err
		}
		b.tracing()
	}
	if b.has("models") {
		if b.more, err = b.models(p); err != nil {
			return "", 0, err
		}
	}
	if b.has("serve") {
		if err := b.serve(p); err != nil {
			return "", 0, err
		}
	}
	if b.has("switches") {
		b.trades()
	}
	if b.ctx.Err() != nil {
		return "", 0, b.ctx.Err()
	}
	text, missed := b.report(file.Size())
	return text, missed, nil
}

// beside tells whether the peer is measured at all.
func (b *bench) beside() bool { return b.has("main") || b.has("models") || b.has("serve") }

// has tells whether the table has a part.
func (b *bench) has(part string) bool { return slices.Contains(b.Parts, part) }

// rounds measures the main file.
func (b *bench) rounds(p peer, dir string) error {
	for round := range b.Rounds {
		b.say("round %d of %d", round+1, b.Rounds)
		turns := []func() error{b.oursRound, func() error { return b.peerRound(p) },
			func() error { return b.oursStart(dir) }, func() error { return b.peerStart(p) }}
		if round%2 == 1 { // who goes first changes, so that heat and drift favour neither
			turns[0], turns[1], turns[2], turns[3] = turns[1], turns[0], turns[3], turns[2]
		}
		for _, turn := range turns {
			if err := turn(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.progress, format+"\n", args...) }

// quiet runs a program and again, up to three times in all, when other processes took too much of the machine meanwhile.
func (b *bench) quiet(prepare func(), name string, args ...string) (outcome, error) {
	for try := 1; ; try++ {
		if prepare != nil {
			prepare()
		}
		out, err := execute(b.ctx, name, args...)
		if err != nil || out.others <= b.Busy {
			return out, err
		}
		if try == 3 {
			b.disturbed++
			b.say("  %s: others used %.0f %% of the cores; kept after three tries", filepath.Base(name), 100*out.others)
			return out, nil
		}
	}
}

// lost notes a failure on our side once; the figure stays not measured.
func (b *bench) lost(err error) {
	text := err.Error()
	for _, f := range b.failed {
		if f == text {
			return
		}
	}
	b.failed = append(b.failed, text)
	b.say("  %s", text)
}

func (b *bench) oursRound() error {
	out, err := b.quiet(nil, b.Ours, b.oursArgs(1, false)...)
	if err == nil {
		b.info, err = parseLocal(out.stdout)
	}
	if err != nil {
		b.lost(err)
		return b.ctx.Err()
	}
	b.ours.prefill = append(b.ours.prefill, valid(b.info.Prefill)...)
	b.ours.decode = append(b.ours.decode, valid(b.info.Decode)...)
	b.ours.memory = append(b.ours.memory, valid([]float64{float64(b.info.PeakRSS) / 1e6})...) // before it reads the roof from large buffers of its own
	return nil
}

func (b *bench) peerRound(p peer) error {
	out, err := b.quiet(nil, p.bench, b.peerArgs()...)
	if err != nil {
		return err
	}
	prefill, decode, err := parsePeer(out.stdout)
	if err != nil {
		return err
	}
	b.theirs.prefill = append(b.theirs.prefill, valid(prefill)...)
	b.theirs.decode = append(b.theirs.decode, valid(decode)...)
	b.theirs.memory = append(b.theirs.memory, valid([]float64{float64(out.peak) / 1e6})...)
	return nil
}

// oursStart is a user's first minute: the built binary, its built-in model, a traced request, one word.
func (b *bench) oursStart(dir string) error {
	file := filepath.Join(dir, "start.gbx")
	out, err := b.quiet(func() { b.cold(b.Ours) }, b.Ours, "trace", "Why is the sky blue?", "--max-tokens", "1", "--temp", "0",
		"--threads", strconv.Itoa(b.Threads), "-o", file)
	if err == nil {
		if _, err = os.Stat(file); err == nil && out.first == 0 {
			err = fmt.Errorf("glassbox trace: nothing on stdout, wanted the first word")
		}
		os.Remove(file)
	}
	if err != nil {
		b.lost(err)
		return b.ctx.Err()
	}
	b.ours.start = append(b.ours.start, out.first.Seconds())
	return nil
}

func (b *bench) peerStart(p peer) error {
	out, err := b.quiet(func() { b.cold(b.Model) }, p.completion, b.peerStartArgs()...)
	if err != nil {
		return err
	}
	b.theirs.start = append(b.theirs.start, valid([]float64{out.first.Seconds()})...)
	for _, line := range strings.Split(out.stderr, "\n") {
		if _, s, found := strings.Cut(line, "system_info: "); found {
			b.system = strings.Trim(s, " |")
		}
	}
	return nil
}

func (b *bench) cold(path string) {
	if err := evict(path); err != nil {
		b.warm = err.Error()
	}
}

func (b *bench) tracing() {
	b.say("cost of tracing, %d pairs", b.Pairs)
	out, err := b.quiet(nil, b.Ours, b.oursArgs(b.Pairs, true)...)
	if err != nil {
		b.lost(err)
		return
	}
	l, err := parseLocal(out.stdout)
	if err != nil {
		b.lost(err)
		return
	}
	b.cost = tracingCost(l.Decode, l.DecodeTraced)
	b.opCost, b.info.Unexplained = l.OpCost, l.Unexplained
}

// share is a/b, or NaN.
func share(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
