package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/stats"
)

// histograms of servers' /metrics that hold a time of ours, in seconds, the best first.
var histograms = []struct {
	name  string
	names []string
}{
	{"ttft", []string{"glassbox_time_to_first_token_seconds", "vllm:time_to_first_token_seconds", "sglang:time_to_first_token_seconds", "gen_ai_server_time_to_first_token_seconds"}},
	{"tpot", []string{"glassbox_time_per_output_token_seconds", "vllm:request_time_per_output_token_seconds", "vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds",
		"sglang:inter_token_latency_seconds", "sglang:time_per_output_token_seconds", "gen_ai_server_time_per_output_token_seconds"}},
	{"e2e", []string{"gen_ai_server_request_duration_seconds", "vllm:e2e_request_latency_seconds", "sglang:e2e_request_latency_seconds"}},
	{"queue", []string{"glassbox_request_queue_time_seconds", "vllm:request_queue_time_seconds", "sglang:queue_time_seconds"}},
	{"prefill", []string{"glassbox_request_prefill_time_seconds", "vllm:request_prefill_time_seconds"}},
}

// scrape is the sum and count of each histogram, over all its labels.
type scrape map[string][2]float64

// readMetrics reads Prometheus' text format (exposition format 0.0.4), as far as sums and counts of histograms go.
func readMetrics(text string) scrape {
	s := scrape{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest := line, ""
		if i := strings.IndexAny(line, "{ \t"); i >= 0 {
			name, rest = line[:i], line[i:]
		}
		part := -1
		base, ok := strings.CutSuffix(name, "_sum")
		if ok {
			part = 0
		} else if base, ok = strings.CutSuffix(name, "_count"); ok {
			part = 1
		}
		if part < 0 {
			continue
		}
		if i := strings.LastIndexByte(rest, '}'); i >= 0 {
			rest = rest[i+1:]
		}
		f := strings.Fields(rest)
		if len(f) == 0 {
			continue
		}
		if x, err := strconv.ParseFloat(f[0], 64); err == nil {
			v := s[base]
			v[part] += x
			s[base] = v
		}
	}
	return s
}

// scrapeNow reads the server's metrics, nil where it has none.
func (r *run) scrapeNow(ctx context.Context) scrape {
	if !r.e.Metrics {
		return nil
	}
	var text string
	if _, _, err := r.c.JSON(ctx, http.MethodGet, "/metrics", nil, &text); err != nil {
		return nil
	}
	return readMetrics(text)
}

// beside compares the client's means with those of the server: first of the same requests, then of the histograms that
// grew meanwhile, which also count requests of others.
func beside(v *Level, rows []*client.Row, before, after scrape) []Beside {
	out := rowsBeside(rows)
	of := map[string]stats.Dist{"ttft": v.TTFT, "tpot": v.TPOT, "e2e": v.E2E}
	for _, h := range histograms {
		for _, name := range h.names {
			a, b := before[name], after[name]
			n := b[1] - a[1]
			if n <= 0 || before == nil {
				continue
			}
			mean := (b[0] - a[0]) / n * 1000
			x := Beside{Name: h.name, Source: "/metrics " + name, N: int(n), Server: mean}
			if d := of[h.name]; d.Mean != nil {
				x.Client = d.Mean
				if int(n) == d.N || perToken(name) {
					x.Gap = ref(*d.Mean - mean)
				} else {
					x.Source += fmt.Sprintf(" (of %d requests, %d of which are the client's: others, or cut off)", int(n), d.N)
				}
				out = append(out, x)
			} else if h.name == "queue" || h.name == "prefill" {
				out = append(out, x)
			}
			break
		}
	}
	return out
}

// perToken tells histograms that count tokens from those that count requests.
func perToken(name string) bool {
	return strings.HasSuffix(name, "inter_token_latency_seconds") || strings.HasSuffix(name, ":time_per_output_token_seconds")
}

// rowsBeside compares the rows that carry times of the server.
func rowsBeside(rows []*client.Row) []Beside {
	type pair struct{ client, server []float64 }
	sums, order := map[string]*pair{}, []string{}
	source := ""
	note := func(name string, c, s *float64) {
		if c == nil || s == nil {
			return
		}
		if sums[name] == nil {
			sums[name] = &pair{}
			order = append(order, name)
		}
		sums[name].client, sums[name].server = append(sums[name].client, *c), append(sums[name].server, *s)
	}
	for _, r := range rows {
		s := r.Server
		if s == nil || r.Outcome != client.OK {
			continue
		}
		source = s.Source
		note("ttft", r.TTFT, s.TTFT)
		if s.TTFT == nil {
			note("ttft beside prefill", r.TTFT, s.Prefill)
		}
		note("tpot", r.TPOT, s.TPOT)
		note("e2e", r.E2E, s.E2E)
	}
	var out []Beside
	for _, name := range order {
		p := sums[name]
		c, s := stats.Mean(p.client), stats.Mean(p.server)
		out = append(out, Beside{Name: name, Source: source, N: len(p.client), Client: ref(c), Server: s, Gap: ref(c - s)})
	}
	return out
}

// recordings fetches the numbers of requests that a Glassbox server recorded, and joins them to their rows.
func (r *run) recordings(ctx context.Context, rows []*client.Row) {
	for _, row := range rows {
		if row.Recording == "" || row.Outcome != client.OK {
			continue
		}
		var rec struct {
			Model struct {
				File   string `json:"file"`
				SHA256 string `json:"sha256"`
			} `json:"model"`
			Device struct {
				Kind    string `json:"kind"`
				Name    string `json:"name"`
				Threads int    `json:"threads"`
			} `json:"device"`
			Numbers struct {
				TTFT  *int64 `json:"ttft_ns"`
				TPOT  *int64 `json:"tpot_ns"`
				E2E   *int64 `json:"e2e_ns"`
				Queue *int64 `json:"queue_ns"`
			} `json:"numbers"`
		}
		if s, _, err := r.c.JSON(ctx, http.MethodGet, "/api/traces/"+row.Recording+".json", nil, &rec); s != http.StatusOK || err != nil {
			continue
		}
		n := rec.Numbers
		row.Server = &client.Server{Source: "Glassbox recording", TTFT: toMS(n.TTFT), TPOT: toMS(n.TPOT), E2E: toMS(n.E2E), Queue: toMS(n.Queue)}
		r.e.ModelFile, r.e.SHA256 = filepath.Base(rec.Model.File), rec.Model.SHA256
		if d := rec.Device; d.Name != "" {
			r.e.Hardware = d.Kind + ", " + d.Name + ", " + strconv.Itoa(d.Threads) + " threads"
		}
	}
}

func toMS(ns *int64) *float64 {
	if ns == nil {
		return nil
	}
	x := float64(*ns) / 1e6
	return &x
}

// hashModel hashes the model file that a server on this machine says it has loaded, up to 16 GB. Only files that are
// models by their name are read.
func (r *run) hashModel(ctx context.Context) {
	path := r.e.ModelPath
	ext := filepath.Ext(path)
	if r.e.SHA256 != "" || !r.c.Local() || ext != ".gguf" && ext != ".safetensors" {
		return
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16e9 {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for ctx.Err() == nil {
		n, err := f.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			r.e.SHA256 = hex.EncodeToString(h.Sum(nil))
			return
		}
		if err != nil {
			return
		}
	}
}
