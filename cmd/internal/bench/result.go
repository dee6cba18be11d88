package bench

import (
	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/stats"
)

// The schema of the JSON file. A reader refuses another name or major version and ignores fields it does not know.
const (
	SchemaName    = "glassbox-bench"
	SchemaVersion = "1.0"
)

// Result is a run: what was measured, of what, with what.
type Result struct {
	Schema  Schema          `json:"schema"`
	ID      string          `json:"id"`
	Started string          `json:"started"` // RFC 3339
	Seconds float64         `json:"seconds"`
	Stopped string          `json:"stopped,omitempty"` // why the run ended before its plan was done
	Tool    Tool            `json:"tool"`
	Config  Config          `json:"config"`
	Server  client.Endpoint `json:"server"`
	Env     Env             `json:"environment"`
	Summary Summary         `json:"summary"`
	Health  []Flag          `json:"health"`

	Formulas []Formula `json:"formulas"`
	Aliases  []Alias   `json:"aliases"`
	Sample   string    `json:"sample_answer,omitempty"` // the first words of one answer

	Rows    []*client.Row `json:"rows"`         // the requests of the levels
	Prefill []*client.Row `json:"prefill_rows"` // the requests of the prefill phase
	Warmup  []*client.Row `json:"warmup_rows"`  // kept, never part of a number
}

// Schema names the format.
type Schema struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Tool is the client.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// Summary are the numbers that the rows give.
type Summary struct {
	Headline Headline     `json:"headline"`
	Levels   []Level      `json:"levels"`
	Prefill  *PrefillLine `json:"prefill,omitempty"`
	Depths   []Depth      `json:"depths,omitempty"`
	Knee     *Knee        `json:"knee,omitempty"`
}

// Headline are the few numbers that go on top. nil = not measured.
type Headline struct {
	TTFT        *float64 `json:"ttft_ms_p50"`          // at the lowest concurrency
	TPOT        *float64 `json:"tpot_ms_p50"`          // at the lowest concurrency
	Decode      *float64 `json:"decode_tokens_per_s"`  // 1000/TPOT
	Prefill     *float64 `json:"prefill_tokens_per_s"` // by slope
	Peak        *float64 `json:"peak_output_tokens_per_s"`
	PeakAt      int      `json:"peak_at_concurrency"`
	Concurrency int      `json:"at_concurrency"`
}

// Level is a load that was held for a while.
type Level struct {
	Index       int     `json:"index"`
	Loop        string  `json:"loop"` // closed or open
	Concurrency int     `json:"concurrency"`
	Rate        float64 `json:"rate,omitempty"`
	Planned     int     `json:"planned"`
	OK          int     `json:"ok"`
	Errors      int     `json:"errors"`
	Cancelled   int     `json:"cancelled"`
	Stopped     string  `json:"stopped,omitempty"`
	Wall        float64 `json:"wall_s"` // first sent to last end

	RequestRate  *float64 `json:"requests_per_s"`
	OutputRate   *float64 `json:"output_tokens_per_s"`
	TotalRate    *float64 `json:"total_tokens_per_s"`
	SteadyRate   *float64 `json:"steady_output_tokens_per_s"` // while all workers were busy
	SteadyWindow float64  `json:"steady_window_s,omitempty"`
	MaxInFlight  int      `json:"max_in_flight"`

	TTFT   stats.Dist `json:"ttft_ms"`
	TPOT   stats.Dist `json:"tpot_ms"`
	E2E    stats.Dist `json:"e2e_ms"`
	ICL    stats.Dist `json:"icl_ms"` // gaps between chunks, pooled
	Wait   stats.Dist `json:"wait_ms"`
	Decode stats.Dist `json:"decode_tokens_per_s"`
	Prompt stats.Dist `json:"prompt_tokens"`
	Output stats.Dist `json:"output_tokens"`
	Cached stats.Dist `json:"cached_tokens"`
	Chunk  stats.Dist `json:"tokens_per_chunk"`

	Goodput []Goodput `json:"goodput"`
	Server  []Beside  `json:"server,omitempty"`
}

// Goodput is what of a level met a service level.
type Goodput struct {
	SLO   SLO      `json:"slo"`
	Good  int      `json:"good"`
	Share *float64 `json:"share"` // of the requests that were not cancelled
	Rate  *float64 `json:"requests_per_s"`
}

// Beside puts a server's own number next to the client's: means in milliseconds over the same requests where each row has
// both, else over the same span of time.
type Beside struct {
	Name   string   `json:"name"`
	Source string   `json:"source"`
	N      int      `json:"n"`
	Client *float64 `json:"client_ms"` // nil where the client cannot see it, as the server's queue
	Server float64  `json:"server_ms"`
	Gap    *float64 `json:"gap_ms"` // client - server: network, HTTP, queue before the server's clock starts; nil also where the server counted other requests too
}

// PrefillLine is TTFT over prompt length at concurrency 1: the slope is what a prompt token costs; network, template and
// the fixed costs of a request are in the intercept.
type PrefillLine struct {
	Points      []PrefillPoint `json:"points"`
	TokensPerS  *float64       `json:"tokens_per_s"` // 1000/slope
	CI          []float64      `json:"tokens_per_s_ci95,omitempty"`
	SlopeMS     float64        `json:"slope_ms_per_token"`
	InterceptMS float64        `json:"intercept_ms"`
	R2          float64        `json:"r2"`
	Note        string         `json:"note,omitempty"`
}

// PrefillPoint is one prompt length.
type PrefillPoint struct {
	Tokens  float64    `json:"prompt_tokens"` // mean of usage, without cached ones
	TTFT    stats.Dist `json:"ttft_ms"`
	Naive   *float64   `json:"quotient_tokens_per_s"` // tokens/TTFT, what other tools call prefill
	Server  *float64   `json:"server_tokens_per_s,omitempty"`
	Planned int        `json:"asked_prompt_tokens"`
}

// Depth is decoding behind a context of some length.
type Depth struct {
	Tokens float64    `json:"context_tokens"` // prompt
	TPOT   stats.Dist `json:"tpot_ms"`
	Rate   *float64   `json:"decode_tokens_per_s"` // 1000/median TPOT
}

// Knee is the level that has the most throughput for its latency: the largest output rate over median e2e (Kleinrock's
// power, 1979).
type Knee struct {
	Concurrency int     `json:"concurrency"`
	OutputRate  float64 `json:"output_tokens_per_s"`
	E2E         float64 `json:"e2e_ms_p50"`
	Note        string  `json:"note,omitempty"`
}

// Flag is something a reader must know before believing the numbers.
type Flag struct {
	ID    string `json:"id"`
	Grade string `json:"grade"` // ok, note or warn
	Text  string `json:"text"`
}

// Formula is how a number is computed.
type Formula struct {
	Name    string `json:"name"`
	Formula string `json:"formula"`
}

// Alias is what other tools call a number of ours.
type Alias struct {
	Ours     string `json:"ours"`
	VLLM     string `json:"vllm"`
	Guidellm string `json:"guidellm"`
	AIPerf   string `json:"aiperf"`
	MLPerf   string `json:"mlperf"`
}

// Formulas of this package, in the words the report prints.
var Formulas = []Formula{
	{"origin", "closed loop: sent; open loop: scheduled (so a late start counts as latency)"},
	{"ttft", "first event with non-empty content, reasoning or tool call - origin; a role-only event does not count"},
	{"ttfr", "first event of any kind - origin"},
	{"ttfo", "first event with content or tool call, not reasoning - origin"},
	{"e2e", "last event with content, reasoning or tool call - origin"},
	{"tpot", "(last token event - first token event) / (n - k); n = usage.completion_tokens, at the last token event where the server gives running counts; k = tokens in the first event from running counts, else 1"},
	{"icl", "gaps between events that carry tokens; a chunk may hold several tokens"},
	{"tokens_per_chunk", "n / events that carry tokens"},
	{"decode tok/s", "1000 / tpot, per request"},
	{"prefill tok/s", "1000 / slope of the least-squares line through the medians of TTFT over (prompt - cached) tokens, at least three lengths, concurrency 1"},
	{"prefill quotient", "(prompt - cached) / ttft: holds network, template, queue and the first decode step too"},
	{"output tok/s", "sum of n over the level's answers / (last end - first sent)"},
	{"steady tok/s", "tokens that arrived while all workers were busy / length of that window; an answer's tokens are spread evenly over its events"},
	{"goodput", "requests that met every limit / wall time"},
	{"knee", "the level with the largest (output tok/s / median e2e)"},
	{"percentiles", "linear interpolation (type 7, NumPy's default); refused below 3 (p50), 10 (p90), 20 (p95), 100 (p99) values"},
}

// Aliases of our names in other tools, from their sources.
var Aliases = []Alias{
	{"ttft", "TTFT (a role-only chunk counts)", "TTFT", "time_to_first_token", "TTFT"},
	{"ttfo", "-", "TTFOT", "-", "-"},
	{"ttfr", "TTFT where the role chunk comes first", "-", "stream_prefill_latency", "-"},
	{"tpot", "TPOT", "ITL", "inter_token_latency", "TPOT"},
	{"e2e / n", "-", "TPOT (holds the first token)", "-", "-"},
	{"icl", "ITL", "-", "inter_chunk_latency", "-"},
	{"e2e", "E2EL", "request latency", "request_latency", "-"},
	{"output tok/s", "Output token throughput", "output tokens per second", "output_token_throughput", "Tokens/s"},
	{"decode tok/s", "-", "-", "output_token_throughput_per_user", "-"},
	{"prefill quotient", "-", "-", "prefill_throughput_per_user", "-"},
}
