package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// speed is a comparison on a further file: prefill and decode only.
type speed struct {
	name  string
	bench *bench
	bytes int64
}

// Bounds on further files, and what is aimed at. The memory roof is what this machine reads; see docs/kernels.md.
const (
	wantMoreDecode, wantMorePrefill = 1.1, 2.5
	goalMorePrefill, goalRoof       = 3.5, 90.0 // %
)

// models makes the random files where they are missing and compares each file, in turns.
func (b *bench) models(p peer) ([]speed, error) {
	files := append([]string(nil), b.More...)
	for _, kind := range b.Random {
		path, err := randomFile(b.ctx, b.Cache, kind, b.say)
		if err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	var out []speed
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return nil, fmt.Errorf("--more: %w", err)
		}
		c := b.config
		c.Model, c.Output = f, b.MoreOutput
		s := speed{strings.TrimSuffix(filepath.Base(f), ".gguf"), &bench{config: c, progress: b.progress, ctx: b.ctx}, info.Size()}
		for round := range b.MoreRounds {
			b.say("%s, round %d of %d", s.name, round+1, b.MoreRounds)
			turns := []func() error{s.bench.oursRound, func() error { return s.bench.peerRound(p) }}
			if round%2 == 1 {
				turns[0], turns[1] = turns[1], turns[0]
			}
			for _, turn := range turns {
				if err := turn(); err != nil {
					return nil, err
				}
			}
		}
		b.disturbed += s.bench.disturbed
		b.failed = append(b.failed, s.bench.failed...)
		out = append(out, s)
	}
	return out, nil
}

// randomFile is a 1.1B model of random weights in the cache folder.
func randomFile(ctx context.Context, cache, kind string, say func(string, ...any)) (string, error) {
	path := filepath.Join(cache, "tinyllama-1.1b-"+kind+".gguf")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	say("writing %s", path)
	text, err := exec.CommandContext(ctx, "go", "run", "./cmd/internal/randmodel", "--type", kind, "-o", path).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("randmodel --type %s: %w: %s", kind, err, lastLine(string(text)))
	}
	return path, nil
}

// rows of a further file: two bounds, and how near decoding comes to what memory gives.
func (s speed) rows() []row {
	o, t := s.bench.ours, s.bench.theirs
	return []row{
		{what: fmt.Sprintf("%s: prefill %d tokens, tokens/s", s.name, s.bench.Prompt), ours: o.prefill.text(), theirs: t.prefill.text(),
			got: share(o.prefill.median(), t.prefill.median()), unit: "×", least: wantMorePrefill, goal: goalMorePrefill},
		{what: fmt.Sprintf("%s: decode %d tokens, tokens/s", s.name, s.bench.Output), ours: o.decode.text(), theirs: t.decode.text(),
			got: share(o.decode.median(), t.decode.median()), unit: "×", least: wantMoreDecode},
		s.bench.roofRow(s.name + ": "),
	}
}

// roofRow is what decoding reads, as a part of what the same threads read when they do nothing else. It is aimed at, not held.
func (b *bench) roofRow(name string) row {
	read := b.ours.decode.median() * float64(b.info.WeightsBytes) / 1e9
	r := row{what: name + "decode, part of the read roof", ours: "not measured", theirs: "–", got: math.NaN(), unit: " %", goal: goalRoof, open: true}
	if read > 0 && b.info.Roof > 0 {
		r.ours, r.got = fmt.Sprintf("%.1f of %.1f GB/s", read, b.info.Roof), 100*read/b.info.Roof
	}
	return r
}
