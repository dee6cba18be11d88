package openai

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"glassbox/trace"
)

// metrics are the server's counters, in Prometheus' form. The names gen_ai_server_* and their buckets are those of the
// OpenTelemetry semantic conventions for generative AI (gen_ai.server.request.duration, .time_to_first_token,
// .time_per_output_token); the finer ones and the rest have our own prefix.
type metrics struct {
	handler                            http.Handler
	duration, ttft, tpot               *prometheus.HistogramVec
	fineTTFT, fineTPOT                 prometheus.Histogram
	promptLen, outputLen               prometheus.Histogram
	gap                                prometheus.Histogram
	queue, prefill, decode             prometheus.Histogram
	promptTokens, outputTokens, traced prometheus.Counter
	finished                           *prometheus.CounterVec
}

var (
	durationBuckets = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	ttftBuckets     = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
	tpotBuckets     = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5}
	fineBuckets     = prometheus.ExponentialBuckets(.0002, 1.5, 28) // 0.2 ms to 11 s
	lengthBuckets   = prometheus.ExponentialBuckets(1, 2, 18)       // 1 to 131072 tokens
	semanticLabels  = []string{"gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "error_type"}
)

func newMetrics(c Config) *metrics {
	m := &metrics{}
	vec := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "gen_ai_server_" + name, Help: help, Buckets: buckets}, semanticLabels)
	}
	hist := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "glassbox_" + name, Help: help, Buckets: buckets})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "glassbox_" + name, Help: help})
	}
	m.duration = vec("request_duration_seconds", "From a request's first byte to its answer's last.", durationBuckets)
	m.ttft = vec("time_to_first_token_seconds", "From a request's first byte to the first token.", ttftBuckets)
	m.tpot = vec("time_per_output_token_seconds", "(last token - first token) / (tokens - 1).", tpotBuckets)
	m.fineTTFT = hist("time_to_first_token_seconds", "As gen_ai_server_time_to_first_token_seconds, in finer buckets.", fineBuckets)
	m.fineTPOT = hist("time_per_output_token_seconds", "As gen_ai_server_time_per_output_token_seconds, in finer buckets.", fineBuckets)
	m.gap = hist("inter_token_latency_seconds", "Between two tokens of an answer, as its connection's goroutine sees them.", fineBuckets)
	m.queue = hist("request_queue_time_seconds", "From a request's hand-over to the engine to its first pass.", fineBuckets)
	m.prefill = hist("request_prefill_time_seconds", "From a request's first pass to its first token.", fineBuckets)
	m.decode = hist("request_decode_time_seconds", "From a request's first token to its last.", durationBuckets)
	m.promptLen = hist("request_prompt_tokens", "Prompt tokens of a request.", lengthBuckets)
	m.outputLen = hist("request_generation_tokens", "Answer tokens of a request.", lengthBuckets)
	m.promptTokens = counter("prompt_tokens_total", "Prompt tokens of requests that ended.")
	m.outputTokens = counter("generation_tokens_total", "Answer tokens of requests that ended.")
	m.traced = counter("recordings_total", "Requests that were recorded.")
	m.finished = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "glassbox_request_success_total", Help: "Requests that were answered to their end."}, []string{"finished_reason"})
	reg := prometheus.NewRegistry()
	reg.MustRegister(m.duration, m.ttft, m.tpot, m.fineTTFT, m.fineTPOT, m.gap, m.queue, m.prefill, m.decode, m.promptLen, m.outputLen, m.promptTokens, m.outputTokens, m.traced, m.finished)
	reg.MustRegister(gauges(c)...)
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
	return m
}

// gauges read the engine's counters when they are asked for.
func gauges(c Config) []prometheus.Collector {
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "glassbox_" + name, Help: help}, f)
	}
	counter := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "glassbox_" + name, Help: help}, f)
	}
	stats := c.Engine.Stats
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "glassbox_build_info", Help: "1.",
		ConstLabels: prometheus.Labels{"version": c.Version, "commit": c.Commit, "model": c.Model}})
	build.Set(1)
	return []prometheus.Collector{build,
		gauge("num_requests_running", "Requests in a slot.", func() float64 { return float64(stats().Running) }),
		gauge("num_requests_waiting", "Requests in the queue.", func() float64 { return float64(stats().Waiting) }),
		gauge("paused", "1 while a request stands still at a stop and the others wait.", func() float64 {
			if stats().Paused {
				return 1
			}
			return 0
		}),
		gauge("slots", "Requests that can run at once.", func() float64 { return float64(stats().Slots) }),
		gauge("kv_cache_usage_ratio", "Part of the KV cache's pages that requests hold.", func() float64 {
			st := stats()
			return float64(st.Pages-st.FreePages) / float64(max(st.Pages, 1))
		}),
		gauge("kv_pages", "Pages of the KV cache.", func() float64 { return float64(stats().Pages) }),
		gauge("kv_pages_free", "Pages that nobody holds, those kept included.", func() float64 { return float64(stats().FreePages) }),
		gauge("kv_pages_kept", "Pages that nobody holds and that are kept because a prompt may begin like them.", func() float64 { return float64(stats().KeptPages) }),
		gauge("kv_bytes_per_token", "Keys and values of one token, in all layers.", func() float64 { return float64(stats().BytesPerToken) }),
		counter("kv_pages_copied_total", "Pages copied because others held them when they were to be written.", func() float64 { return float64(stats().CopiedPages) }),
		counter("kv_pages_evicted_total", "Kept pages that were given away.", func() float64 { return float64(stats().Evictions) }),
		counter("prefix_cache_queries_total", "Prompt tokens that were looked for in the prefix cache.", func() float64 { return float64(stats().PromptTokens) }),
		counter("prefix_cache_hits_total", "Prompt tokens that were found there.", func() float64 { return float64(stats().CachedTokens) }),
		counter("num_preemptions_total", "Times that a running request lost its pages to another.", func() float64 { return float64(stats().Preemptions) }),
		counter("passes_total", "Runs of the whole model.", func() float64 { return float64(stats().Passes) }),
		counter("spec_decode_num_drafts_total", "Passes of a request that checked guessed tokens.", func() float64 { return float64(stats().Drafts) }),
		counter("spec_decode_num_draft_tokens_total", "Guessed tokens that were checked.", func() float64 { return float64(stats().Drafted) }),
		counter("spec_decode_num_accepted_tokens_total", "Guessed tokens that were right.", func() float64 { return float64(stats().Accepted) }),
		counter("engine_requests_total", "Prompts that the engine took.", func() float64 { return float64(stats().Requests) }),
		counter("engine_failures_total", "Prompts whose answer broke off, also because the client left.", func() float64 { return float64(stats().Failed) }),
	}
}

// done counts a request when it is over.
func (m *metrics) done(c *call) {
	if c.route == nil || !c.route.trace {
		return
	}
	errorType := c.errorType()
	labels := prometheus.Labels{"gen_ai_operation_name": c.route.name, "gen_ai_provider_name": provider, "gen_ai_request_model": c.s.c.Model, "error_type": errorType}
	m.duration.With(labels).Observe(seconds(trace.Now() - c.first))
	if c.rec != nil {
		m.traced.Inc()
	}
	f := &c.facts
	if f.started != 0 {
		m.queue.Observe(seconds(f.started - f.submitted))
	}
	if f.firstToken == 0 {
		return
	}
	if f.started != 0 && f.first != 0 {
		m.prefill.Observe(seconds(f.first - f.started))
		m.decode.Observe(seconds(max(f.lastToken-f.first, 0)))
	}
	ttft := seconds(f.firstToken - c.first)
	m.ttft.With(labels).Observe(ttft)
	m.fineTTFT.Observe(ttft)
	if f.output > 1 && f.choices == 1 {
		tpot := seconds(f.lastToken-f.firstToken) / float64(f.output-1)
		m.tpot.With(labels).Observe(tpot)
		m.fineTPOT.Observe(tpot)
	}
	m.promptLen.Observe(float64(f.prompt))
	m.outputLen.Observe(float64(f.output))
	m.promptTokens.Add(float64(f.prompt))
	m.outputTokens.Add(float64(f.output))
	if errorType == "" {
		m.finished.WithLabelValues(f.finish).Inc()
	}
}

// provider is who answers, in the words of the conventions.
const provider = "glassbox"

// errorType names why a request failed, "" for one that did not.
func (c *call) errorType() string {
	switch {
	case c.cancelled:
		return "cancelled"
	case c.err == nil:
		return ""
	}
	e := explain(c.err)
	if e.Code == "" {
		return strconv.Itoa(e.Status)
	}
	return e.Code
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
