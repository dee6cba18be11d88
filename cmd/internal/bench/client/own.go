package client

import (
	"encoding/json"

	"glassbox/engine/openai/wire"
)

// timings are llama.cpp's own times, in the last chunk of a stream.
type timings struct {
	CacheN      *int    `json:"cache_n"`
	PromptN     int     `json:"prompt_n"`
	PromptMS    float64 `json:"prompt_ms"`
	PredictedN  int     `json:"predicted_n"`
	PredictedMS float64 `json:"predicted_ms"`
	DraftN      int     `json:"draft_n"`
	DraftOK     int     `json:"draft_n_accepted"`
}

// server makes comparable numbers. predicted_ms runs from the first token to the last, while predicted_n counts the first
// too, so the time per token divides by one less; llama.cpp's own predicted_per_second does not.
func (t *timings) server() *Server {
	s := &Server{Source: "llama.cpp timings", Prefill: &t.PromptMS, Decode: &t.PredictedMS, PrefillN: t.PromptN, DecodeN: t.PredictedN,
		DraftN: t.DraftN, DraftOK: t.DraftOK}
	if t.PredictedN > 1 {
		x := t.PredictedMS / float64(t.PredictedN-1)
		s.TPOT = &x
	}
	return s
}

// ollama are the fields of Ollama's own API (POST /api/chat): one JSON object a line, durations in nanoseconds.
type ollama struct {
	Done        bool   `json:"done"`
	DoneReason  string `json:"done_reason"`
	PromptCount *int   `json:"prompt_eval_count"`
	Count       *int   `json:"eval_count"`
	PromptTime  int64  `json:"prompt_eval_duration"`
	Time        int64  `json:"eval_duration"`
	LoadTime    int64  `json:"load_duration"`
	TotalTime   int64  `json:"total_duration"`
}

// native reads an event of Ollama's own API: text or thinking in "message", and counts and times when it is done.
func (s *Stream) native(c *chunk) (token, text bool) {
	if kind(c.Message) == '{' {
		var m struct {
			Content  json.RawMessage `json:"content"`
			Thinking json.RawMessage `json:"thinking"`
		}
		if json.Unmarshal(c.Message, &m) == nil {
			text = s.sample(m.Content)
			token = s.sample(m.Thinking) || text
		}
	}
	if !c.Done {
		return token, text
	}
	s.done = true
	if s.row.Finish = c.DoneReason; c.DoneReason == "" {
		s.row.Finish = "stop"
	}
	if c.Count != nil {
		s.usage = &wire.Usage{CompletionTokens: *c.Count}
	}
	own := &Server{Source: "Ollama durations", Prefill: nanos(c.PromptTime), Decode: nanos(c.Time), Load: nanos(c.LoadTime), E2E: nanos(c.TotalTime)}
	if c.Count != nil {
		own.DecodeN = *c.Count
		if *c.Count > 1 && c.Time > 0 {
			x := float64(c.Time) / 1e6 / float64(*c.Count-1)
			own.TPOT = &x
		}
	}
	if c.PromptCount != nil {
		own.PrefillN = *c.PromptCount
		if s.usage != nil {
			s.usage.PromptTokens = *c.PromptCount
		}
	}
	s.row.Server = own
	return token, text
}

func nanos(n int64) *float64 {
	if n == 0 {
		return nil
	}
	x := float64(n) / 1e6
	return &x
}
