// Package client sends one request to an OpenAI-compatible endpoint, and writes down when each part of the answer was
// read and what it held. It finds out what kind of server it talks to, which fields that server takes, and how to make a
// prompt of exactly N tokens without a tokenizer of its own.
//
// It does not know about load, phases, statistics or reports.
package client

import (
	"slices"
	"strings"
)

// Times are nanoseconds on the run's monotonic clock. 0 is a moment that was not reached; the clock starts at 1.
type Times struct {
	Scheduled  int64 `json:"scheduled"`             // open loop: when it was to be sent; closed loop: when its worker was free
	Sent       int64 `json:"sent"`                  // just before the request went to the connection
	Connected  int64 `json:"connected,omitempty"`   // a connection was there, new or kept
	Headers    int64 `json:"headers,omitempty"`     // first byte of the answer
	FirstEvent int64 `json:"first_event,omitempty"` // any event, also one without text
	FirstToken int64 `json:"first_token,omitempty"` // first with non-empty content, reasoning or tool call
	FirstText  int64 `json:"first_text,omitempty"`  // first that is not reasoning
	LastToken  int64 `json:"last_token,omitempty"`  // last with non-empty content, reasoning or tool call
	Finish     int64 `json:"finish,omitempty"`      // the event with finish_reason
	End        int64 `json:"end"`                   // the stream ended, or failed
}

// Outcomes of a request.
const (
	OK        = "ok"
	Failed    = "error"
	Cancelled = "cancelled" // by the user or the time limit, not by the server
)

// Row is one request. Milliseconds and counts are nil where they were not measured.
type Row struct {
	ID          string  `json:"id"`
	Phase       string  `json:"phase"` // load, open, prefill or warmup
	Level       int     `json:"level"` // index of the level it belongs to
	Concurrency int     `json:"concurrency"`
	Rate        float64 `json:"rate,omitempty"` // open loop: requests/s
	Outcome     string  `json:"outcome"`
	Error       *string `json:"error"`

	TTFT    *float64 `json:"ttft_ms"`
	TTFR    *float64 `json:"ttfr_ms"`
	TTFO    *float64 `json:"ttfo_ms"`
	TPOT    *float64 `json:"tpot_ms"`
	E2E     *float64 `json:"e2e_ms"`
	Wait    *float64 `json:"wait_ms"`    // scheduled to sent
	Connect *float64 `json:"connect_ms"` // nil on a kept connection
	ICL50   *float64 `json:"icl_p50_ms"`
	ICLMax  *float64 `json:"icl_max_ms"`

	PromptTokens    *int     `json:"prompt_tokens"`
	OutputTokens    *int     `json:"output_tokens"`
	CachedTokens    *int     `json:"cached_tokens"`
	ReasoningTokens *int     `json:"reasoning_tokens,omitempty"`
	CountSource     string   `json:"count_source"` // usage, running usage, or none
	AskedPrompt     int      `json:"asked_prompt_tokens,omitempty"`
	AskedOutput     int      `json:"asked_output_tokens,omitempty"`
	Chunks          int      `json:"chunks"` // events with a token
	TokensPerChunk  *float64 `json:"tokens_per_chunk"`
	FirstChunk      int      `json:"first_chunk_tokens"` // k of the formula
	CountAtLast     int      `json:"tokens_at_last,omitempty"`
	Joined          int      `json:"joined_chunks"` // chunks that came in one read with the one before

	Finish     string   `json:"finish_reason"`
	Status     int      `json:"status"`
	RequestID  string   `json:"request_id,omitempty"`
	TraceID    string   `json:"trace_id,omitempty"`  // of the traceparent sent
	Recording  string   `json:"recording,omitempty"` // id of the recording that the server made of it
	RetryAfter *float64 `json:"retry_after_ms,omitempty"`
	Marks      []string `json:"marks,omitempty"` // oddities of the stream
	Server     *Server  `json:"server,omitempty"`
	Times      Times    `json:"times_ns"`

	Arrivals []int64 `json:"-"` // when each chunk was read
	Sample   string  `json:"-"` // the answer's first words
}

// Server are a server's own times of one request.
type Server struct {
	Source   string   `json:"source"`
	TTFT     *float64 `json:"ttft_ms,omitempty"`
	TPOT     *float64 `json:"tpot_ms,omitempty"`
	E2E      *float64 `json:"e2e_ms,omitempty"`
	Prefill  *float64 `json:"prefill_ms,omitempty"`
	Decode   *float64 `json:"decode_ms,omitempty"`
	Queue    *float64 `json:"queue_ms,omitempty"`
	Load     *float64 `json:"load_ms,omitempty"`
	PrefillN int      `json:"prefill_tokens,omitempty"`
	DecodeN  int      `json:"decode_tokens,omitempty"`
	DraftN   int      `json:"draft_tokens,omitempty"`
	DraftOK  int      `json:"draft_accepted,omitempty"`
}

// Mark notes an oddity once.
func (r *Row) Mark(text string) {
	if !slices.Contains(r.Marks, text) {
		r.Marks = append(r.Marks, text)
	}
}

// Fail makes the row an error. The first reason stays.
func (r *Row) Fail(text string) {
	if r.Error == nil {
		text = strings.Join(strings.Fields(text), " ")
		r.Error, r.Outcome = &text, Failed
	}
}

// Cancel makes a row that has not failed one that was cut off by us.
func (r *Row) Cancel(why string) {
	if r.Error == nil {
		r.Error, r.Outcome = &why, Cancelled
	}
}

// Origin is where latencies start: the scheduled time in an open loop, so that a request that had to wait for the client
// or behind others counts its wait (coordinated omission); the send time in a closed loop.
func (r *Row) Origin() int64 {
	if r.Rate > 0 {
		return r.Times.Scheduled
	}
	return r.Times.Sent
}

// Derive computes every number that follows from the times and counts. A failed row keeps its times and counts, and has
// no latencies: an error after 3 ms is not a fast answer.
func (r *Row) Derive() {
	t := &r.Times
	r.TTFT, r.TTFR, r.TTFO, r.TPOT, r.E2E, r.ICL50, r.ICLMax, r.TokensPerChunk = nil, nil, nil, nil, nil, nil, nil, nil
	r.Wait = ms(t.Scheduled, t.Sent)
	if r.Error != nil {
		return
	}
	r.Outcome = OK
	o := r.Origin()
	r.TTFT, r.TTFR, r.TTFO, r.E2E = ms(o, t.FirstToken), ms(o, t.FirstEvent), ms(o, t.FirstText), ms(o, t.LastToken)
	if gaps := r.Gaps(); len(gaps) > 0 {
		slices.Sort(gaps)
		mid := (gaps[(len(gaps)-1)/2] + gaps[len(gaps)/2]) / 2
		r.ICL50, r.ICLMax = &mid, &gaps[len(gaps)-1]
	}
	if r.OutputTokens == nil {
		return
	}
	n := *r.OutputTokens
	if r.Chunks > 0 {
		x := float64(n) / float64(r.Chunks)
		r.TokensPerChunk = &x
	}
	if r.CountAtLast > 0 {
		n = r.CountAtLast
	}
	if n > r.FirstChunk && t.LastToken > t.FirstToken {
		x := float64(t.LastToken-t.FirstToken) / 1e6 / float64(n-r.FirstChunk)
		r.TPOT = &x
	}
}

// Gaps are the times between chunks, in milliseconds.
func (r *Row) Gaps() []float64 {
	var out []float64
	for i := 1; i < len(r.Arrivals); i++ {
		out = append(out, float64(r.Arrivals[i]-r.Arrivals[i-1])/1e6)
	}
	return out
}

// ms is the time between two moments, nil if one was not reached.
func ms(from, to int64) *float64 {
	if from == 0 || to == 0 {
		return nil
	}
	x := float64(to-from) / 1e6
	return &x
}
