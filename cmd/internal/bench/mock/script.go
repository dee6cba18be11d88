// Package mock is a server of known truth: it answers like the servers that a benchmark client must survive, with delays
// and counts that are written down beside each answer. A script can be served over HTTP, or laid out as bytes with the
// times at which they are read, so that a client's arithmetic is checked without a clock.
//
// It does not know about the client.
package mock

import (
	"net/http"
	"time"
)

// Step is a write of the server: after a pause it sends Data and flushes.
type Step struct {
	After     time.Duration
	Data      string
	Tokens    int  // how many output tokens it carries
	Events    int  // events with tokens among them; 0 = 1
	Reasoning bool // they are reasoning
	Finish    bool // it carries finish_reason
	Break     bool // the connection is cut after it
	Hang      bool // nothing ever follows it, and the connection stays open
}

// Script is one answer, with what is true of it.
type Script struct {
	Name    string
	Says    string // which server's habit it is
	Status  int    // 0 = 200
	Header  http.Header
	Before  time.Duration // from the request to the headers; the first step's pause follows
	Steps   []Step
	Scatter int  // the network delivers so many bytes at a time; 0 = a step at once
	Lines   bool // newline-delimited JSON
	Truth   Truth
}

// Truth is what a client must find.
type Truth struct {
	Error      string // part of the error; "" = the request succeeds
	Prompt     int    // by usage; -1 = there is none
	Output     int    // by usage; -1 = there is none
	Cached     int    // -1 = not said
	FirstChunk int    // k of the formula for TPOT: known from running counts, else 1
	Finish     string
	Marks      []string
	RetryAfter time.Duration
	Prefill    float64 // the server's own, ms; 0 = none
	Decode     float64
	Joined     int // chunks that came in one read with the one before
}

// Read is what a client reads at once.
type Read struct {
	At   time.Duration // since the request was sent
	Data []byte
}

// Reads lays the answer out in time.
func (s Script) Reads() []Read {
	var out []Read
	at := s.Before
	for _, step := range s.Steps {
		at += step.After
		data := step.Data
		for s.Scatter > 0 && len(data) > s.Scatter {
			out = append(out, Read{at, []byte(data[:s.Scatter])})
			data = data[s.Scatter:]
		}
		out = append(out, Read{at, []byte(data)})
	}
	return out
}

// FirstToken, FirstText and LastToken are the moments the steps define, 0 where there is none.
func (s Script) FirstToken() time.Duration {
	return s.when(func(x Step) bool { return x.Tokens > 0 }, true)
}

// FirstText is the first moment with a token that is not reasoning.
func (s Script) FirstText() time.Duration {
	return s.when(func(x Step) bool { return x.Tokens > 0 && !x.Reasoning }, true)
}

// LastToken is the last moment with a token.
func (s Script) LastToken() time.Duration {
	return s.when(func(x Step) bool { return x.Tokens > 0 }, false)
}

func (s Script) when(is func(Step) bool, first bool) (found time.Duration) {
	at := s.Before
	for _, x := range s.Steps {
		at += x.After
		if is(x) {
			if found = at; first {
				return found
			}
		}
	}
	return found
}

// TPOT is (last - first) / (tokens - k), in milliseconds; 0 where it is not defined.
func (s Script) TPOT() float64 {
	n := 0
	for _, x := range s.Steps {
		n += x.Tokens
	}
	if n <= s.Truth.FirstChunk || s.LastToken() == s.FirstToken() {
		return 0
	}
	return float64(s.LastToken()-s.FirstToken()) / 1e6 / float64(n-s.Truth.FirstChunk)
}

// Chunks counts the events that carry tokens.
func (s Script) Chunks() int {
	n := 0
	for _, x := range s.Steps {
		if x.Tokens > 0 {
			n += max(1, x.Events)
		}
	}
	return n
}

const ms = time.Millisecond

func sse(json string) string { return "data: " + json + "\n\n" }

func delta(fields string) string {
	return `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}`
}

func content(text string) string { return delta(`"content":"` + text + `"`) }

func finish(reason string) string {
	return `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":` + reason + `}]}`
}

func usage(prompt, output string) string {
	return `{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":` + prompt + `,"completion_tokens":` + output + `,"total_tokens":0}}`
}

// done ends a stream in order: finish_reason, usage in a chunk without choices, the mark.
func done(output string) []Step {
	return []Step{{Data: sse(finish(`"length"`)), Finish: true}, {Data: sse(usage("9", output))}, {Data: "data: [DONE]\n\n"}}
}

// words are n steps of one token, the first after a pause, the others after another.
func words(n int, first, gap time.Duration, make func(i int) string) []Step {
	var out []Step
	for i := range n {
		pause := gap
		if i == 0 {
			pause = first
		}
		out = append(out, Step{After: pause, Data: make(i), Tokens: 1})
	}
	return out
}

func say(int) string { return sse(content(" word")) }

func join(parts ...[]Step) (out []Step) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

var plain = Truth{Prompt: 9, Output: 4, Cached: -1, FirstChunk: 1, Finish: "length"}

func with(change func(*Truth)) Truth {
	t := plain
	change(&t)
	return t
}

func failing(text string) Truth {
	return with(func(t *Truth) { t.Error, t.Prompt, t.Output, t.Finish = text, -1, -1, "" })
}
