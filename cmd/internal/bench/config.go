package bench

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"glassbox/cmd/internal/bench/client"
)

// Config says what to measure. The zero value of each field but URL is a sensible default.
type Config struct {
	URL   string `json:"url"`
	Model string `json:"model,omitempty"` // "" = the server's first
	API   string `json:"api,omitempty"`   // chat, completions, ollama; "" = chat, else completions

	Concurrency  []int     `json:"concurrency,omitempty"`   // closed-loop levels; nil = 1, 2, 4, as the time allows
	PromptTokens int       `json:"prompt_tokens,omitempty"` // 0 = 128
	OutputTokens int       `json:"output_tokens,omitempty"` // 0 = 64
	Requests     int       `json:"requests,omitempty"`      // a level; 0 = as the time allows
	Rates        []float64 `json:"rates,omitempty"`         // open loop: requests/s, Poisson
	Sweep        int       `json:"sweep,omitempty"`         // double the concurrency up to this, until throughput stands still
	Prefill      []int     `json:"prefill,omitempty"`       // prompt lengths of the prefill phase; nil = three, none if NoPrefill
	NoPrefill    bool      `json:"no_prefill,omitempty"`
	SLO          []SLO     `json:"slo,omitempty"`        // nil = MLPerf's presets
	Seconds      float64   `json:"seconds,omitempty"`    // time limit of the whole run; 0 = 170, or none where Requests is given
	InFlight     int       `json:"in_flight,omitempty"`  // open loop: a level ends when so many requests are in flight; 0 = 2000
	MaxErrors    int       `json:"max_errors,omitempty"` // a level ends after so many errors; 0 = 10
	Silence      float64   `json:"silence_s,omitempty"`  // seconds without a byte after which a request is given up; 0 = 120
	Seed         uint64    `json:"seed,omitempty"`       // of prompts and arrivals; 0 = drawn
	Record       string    `json:"record,omitempty"`     // Glassbox: which requests are recorded: all, one (of each level), none; "" = one

	Allow func(netip.AddrPort) error `json:"-"` // asked about each address before it is dialled; nil = any, and proxies of the environment

	GPUs func(context.Context) ([]GPU, string) `json:"-"` // lists this machine's GPUs and says who told; nil = they are not asked for

	Key         string `json:"-"` // sent as a bearer token, never written anywhere
	Note        string `json:"note,omitempty"`
	ServerFlags string `json:"server_flags,omitempty"` // what the server was started with, as the user says
}

// SLO is a service level: a request is good when it meets every limit that is set. Milliseconds.
type SLO struct {
	Name string  `json:"name"`
	TTFT float64 `json:"ttft_ms,omitempty"`
	TPOT float64 `json:"tpot_ms,omitempty"`
	E2E  float64 `json:"e2e_ms,omitempty"`
}

// Presets are the 99th-percentile limits of MLPerf Inference's server scenarios (mlcommons/inference_policies).
var Presets = []SLO{
	{Name: "mlperf-llama2-70b", TTFT: 2000, TPOT: 200}, {Name: "mlperf-llama2-70b-interactive", TTFT: 450, TPOT: 40},
	{Name: "mlperf-llama3.1-8b", TTFT: 2000, TPOT: 100}, {Name: "mlperf-llama3.1-8b-interactive", TTFT: 500, TPOT: 30},
	{Name: "mlperf-llama3.1-405b", TTFT: 6000, TPOT: 175}, {Name: "mlperf-llama3.1-405b-interactive", TTFT: 4500, TPOT: 80},
	{Name: "mlperf-deepseek-r1", TTFT: 2000, TPOT: 80}, {Name: "mlperf-deepseek-r1-interactive", TTFT: 1500, TPOT: 15},
	{Name: "mlperf-gpt-oss-120b", TTFT: 3000, TPOT: 80}, {Name: "mlperf-gpt-oss-120b-interactive", TTFT: 2000, TPOT: 20},
}

// ParseSLO reads a preset's name, or limits such as "ttft=500,tpot=30" in milliseconds.
func ParseSLO(s string) (SLO, error) {
	for _, p := range Presets {
		if p.Name == s || p.Name == "mlperf-"+s {
			return p, nil
		}
	}
	out := SLO{Name: s}
	for _, part := range strings.Split(s, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		to := map[string]*float64{"ttft": &out.TTFT, "tpot": &out.TPOT, "e2e": &out.E2E}[key]
		var x float64
		if _, err := fmt.Sscanf(value, "%f", &x); to == nil || err != nil || x <= 0 {
			var names []string
			for _, p := range Presets {
				names = append(names, p.Name)
			}
			return SLO{}, fmt.Errorf("--slo %s: wanted limits in ms such as ttft=500,tpot=30,e2e=4000, or one of %s", s, strings.Join(names, ", "))
		}
		*to = x
	}
	return out, nil
}

// Meets tells whether a row is good. A latency that is limited but was not measured is not met, and neither is any by a
// failed request; an answer of one token has no TPOT, which then is not asked for.
func (s SLO) Meets(r *client.Row) bool {
	if r.Outcome != client.OK {
		return false
	}
	one := r.OutputTokens != nil && *r.OutputTokens == 1
	return within(r.TTFT, s.TTFT) && within(r.E2E, s.E2E) && (one || within(r.TPOT, s.TPOT))
}

func within(x *float64, limit float64) bool { return limit == 0 || x != nil && *x <= limit }

// UsageError is a Config that makes no sense.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// check fills in defaults and refuses what makes no sense.
func (c *Config) check() error {
	for _, n := range c.Concurrency {
		if n < 1 || n > 10000 {
			return usage("bench: concurrency %d: wanted 1 to 10000", n)
		}
	}
	for _, r := range c.Rates {
		if !(r > 0 && r <= 1e5) {
			return usage("bench: rate %v: wanted more than 0 requests/s", r)
		}
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"prompt tokens", c.PromptTokens}, {"output tokens", c.OutputTokens}, {"requests", c.Requests}, {"sweep", c.Sweep}, {"max errors", c.MaxErrors}, {"in flight", c.InFlight}} {
		if n.value < 0 || n.value > 10_000_000 {
			return usage("bench: %s %d: wanted 0 or more", n.name, n.value)
		}
	}
	if !slices.Contains([]string{"", "chat", "completions", "ollama"}, c.API) {
		return usage("bench: api %q: wanted chat, completions or ollama", c.API)
	}
	if !slices.Contains([]string{"", "all", "one", "none"}, c.Record) {
		return usage("bench: record %q: wanted all, one or none", c.Record)
	}
	if c.PromptTokens == 0 {
		c.PromptTokens = 128
	}
	if c.OutputTokens == 0 {
		c.OutputTokens = 64
	}
	if c.Seconds == 0 && c.Requests == 0 {
		c.Seconds = 170
	}
	if c.MaxErrors == 0 {
		c.MaxErrors = 10
	}
	if c.InFlight == 0 {
		c.InFlight = mostInFlight
	}
	if c.Silence == 0 {
		c.Silence = 120
	}
	if c.Record == "" {
		c.Record = "one"
	}
	if c.SLO == nil {
		c.SLO = Presets
	}
	return nil
}

// left is how much of the time limit remains; a run without a limit has plenty.
func (c *Config) left(started time.Time) time.Duration {
	if c.Seconds == 0 {
		return 24 * time.Hour
	}
	return time.Duration(c.Seconds*float64(time.Second)) - time.Since(started)
}
