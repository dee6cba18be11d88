package report

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/stats"
)

// hosted is an upload of the kind bench.report.v1, as Launch80 takes it: data only, numbers as texts ready to print, the
// service draws the page. Names beyond those that are publicly known are ours; a field that is empty drops its column.
type hosted struct {
	Schema      string           `json:"schema"`
	Harness     hostedHarness    `json:"harness"`
	System      hostedSystem     `json:"system"`
	Headline    []hostedNumber   `json:"headline"`
	Categories  []hostedCategory `json:"categories"`
	Concurrency []hostedLevel    `json:"concurrency,omitempty"`
	Prefill     []hostedPrefill  `json:"prefill,omitempty"`
	Caveats     []string         `json:"caveats"`
}

type hostedHarness struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Started string `json:"started"`
	RunID   string `json:"run_id"`
	Seed    string `json:"seed"`
}

type hostedSystem struct {
	Model  string `json:"model"`
	SHA256 string `json:"model_sha256,omitempty"`
	Engine string `json:"engine"`
	CPU    string `json:"cpu,omitempty"`
	GPU    string `json:"gpu,omitempty"`
	Memory string `json:"memory,omitempty"`
	OS     string `json:"os,omitempty"`
	Flags  string `json:"flags,omitempty"`
}

type hostedNumber struct {
	Label string `json:"label"`
	Value string `json:"value"`
	Unit  string `json:"unit"`
}

// hostedCategory has the speeds of one kind of request. Low is what the slowest one percent still reach ("1 % low").
type hostedCategory struct {
	Name         string `json:"name"`
	N            int    `json:"n"`
	P50          string `json:"p50,omitempty"`
	P99          string `json:"p99,omitempty"`
	Low          string `json:"low_1pct,omitempty"`
	Unit         string `json:"unit"`
	Undersampled bool   `json:"undersampled"`
}

type hostedLevel struct {
	Concurrency  string `json:"concurrency"`
	Output       string `json:"output_tokens_per_s,omitempty"`
	TTFT50       string `json:"ttft_ms_p50,omitempty"`
	TTFT99       string `json:"ttft_ms_p99,omitempty"`
	TPOT50       string `json:"tpot_ms_p50,omitempty"`
	TPOT99       string `json:"tpot_ms_p99,omitempty"`
	Errors       string `json:"errors"`
	Undersampled bool   `json:"undersampled"`
}

type hostedPrefill struct {
	Tokens string `json:"prompt_tokens"`
	TTFT   string `json:"ttft_ms_p50,omitempty"`
	Rate   string `json:"tokens_per_s,omitempty"`
}

var link = regexp.MustCompile(`https?://\S+`)

// MaxHosted is the service's limit.
const MaxHosted = 64 << 10

// Hosted makes the upload, at most MaxHosted bytes. Addresses and links are left out.
func Hosted(r *bench.Result) ([]byte, error) {
	h := hosted{Schema: "bench.report.v1", Caveats: []string{}, Categories: []hostedCategory{}, Headline: []hostedNumber{},
		Harness: hostedHarness{r.Tool.Name, r.Tool.Version, r.Started, r.ID, fmt.Sprint(r.Config.Seed)},
		System: hostedSystem{Model: clipText(r.Server.Model, 200), SHA256: r.Server.SHA256, Engine: clipText(serverName(r), 100), CPU: r.Env.CPU, GPU: gpuNames(r),
			Memory: memory(r.Env.MemoryBytes), OS: strings.TrimSpace(r.Env.OS + " " + r.Env.Kernel), Flags: clipText(r.Config.ServerFlags, 500)}}
	for _, b := range bigNumbers(r) {
		if b.Value != "n/m" {
			h.Headline = append(h.Headline, hostedNumber{b.Name, b.Value, b.Unit})
		}
	}
	for i := range r.Summary.Levels {
		v := &r.Summary.Levels[i]
		if len(h.Concurrency) == 100 {
			break
		}
		h.Concurrency = append(h.Concurrency, hostedLevel{levelLabel(v), text(v.OutputRate), text(v.TTFT.P50), text(v.TTFT.P99), text(v.TPOT.P50), text(v.TPOT.P99),
			fmt.Sprint(v.Errors), v.OK < stats.MinN(99)})
		h.Categories = append(h.Categories, decodeCategory(r, v))
	}
	if p := r.Summary.Prefill; p != nil {
		for _, pt := range p.Points {
			h.Prefill = append(h.Prefill, hostedPrefill{fmt.Sprintf("%.0f", pt.Tokens), text(pt.TTFT.P50), text(pt.Naive)})
		}
	}
	for _, f := range r.Health {
		if f.Grade != "ok" {
			h.Caveats = append(h.Caveats, clipText(link.ReplaceAllString(f.Text, "[address]"), 400))
		}
	}
	data, err := json.MarshalIndent(h, "", " ")
	if err == nil && len(data) > MaxHosted {
		err = fmt.Errorf("bench: the upload has %d bytes, wanted at most %d", len(data), MaxHosted)
	}
	return data, err
}

// decodeCategory has a level's decode speeds. The p99 of a speed is the one that only one request in a hundred falls
// below, so that larger is better throughout.
func decodeCategory(r *bench.Result, v *bench.Level) hostedCategory {
	var speeds []float64
	for _, row := range r.Rows {
		if row.Level == v.Index && row.Outcome == client.OK && row.TPOT != nil && *row.TPOT > 0 {
			speeds = append(speeds, 1000 / *row.TPOT)
		}
	}
	slices.Sort(speeds)
	c := hostedCategory{Name: "decode, " + levelLabel(v), N: len(speeds), Unit: "tokens/s", Undersampled: len(speeds) < stats.MinN(99)}
	if len(speeds) >= stats.MinN(50) {
		c.P50 = sig3(stats.Percentile(speeds, 50))
	}
	if !c.Undersampled {
		c.P99 = sig3(stats.Percentile(speeds, 1))
		c.Low = sig3(stats.Mean(speeds[:max(1, len(speeds)/100)]))
	}
	return c
}

func text(x *float64) string {
	if x == nil {
		return ""
	}
	return Num(x)
}

func clipText(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
