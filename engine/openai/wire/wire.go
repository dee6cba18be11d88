// Package wire holds the JSON of OpenAI's API: requests, answers, stream events and errors, with the extra fields that
// other servers have made common (top_k, min_p, repeat_penalty, ignore_eos) and our own "glassbox".
//
// A server decodes requests and encodes answers; a client does the opposite with the same types. Fields that are not
// named here are ignored when decoding.
//
// It does not know about models, tokens, HTTP or what a valid value is: only types are checked.
package wire

import "encoding/json"

// ChatRequest is the body of POST /v1/chat/completions.
type ChatRequest struct {
	Messages            Messages `json:"messages"`
	MaxCompletionTokens *Int     `json:"max_completion_tokens,omitempty"`
	Logprobs            *bool    `json:"logprobs,omitempty"`
	TopLogprobs         *Int     `json:"top_logprobs,omitempty"`
	Tools               []any    `json:"tools,omitempty"`
	ToolChoice          any      `json:"tool_choice,omitempty"`
	Functions           []any    `json:"functions,omitempty"`
	Modalities          []string `json:"modalities,omitempty"`
	Common
}

// CompletionRequest is the body of POST /v1/completions.
type CompletionRequest struct {
	Prompt   *Prompt `json:"prompt,omitempty"`
	Logprobs *Int    `json:"logprobs,omitempty"` // how many of the likeliest tokens to list
	Echo     *bool   `json:"echo,omitempty"`
	Suffix   *string `json:"suffix,omitempty"`
	BestOf   *Int    `json:"best_of,omitempty"`
	Common
}

// Common are the fields that both kinds of request have. A nil pointer is a field that was not sent, or null.
type Common struct {
	Model            string             `json:"model,omitempty"`
	MaxTokens        *Int               `json:"max_tokens,omitempty"`
	Temperature      *float64           `json:"temperature,omitempty"`
	TopP             *float64           `json:"top_p,omitempty"`
	TopK             *Int               `json:"top_k,omitempty"`
	MinP             *float64           `json:"min_p,omitempty"`
	RepeatPenalty    *float64           `json:"repeat_penalty,omitempty"`     // llama.cpp's name
	RepetitionPen    *float64           `json:"repetition_penalty,omitempty"` // vLLM's name of the same
	PresencePenalty  *float64           `json:"presence_penalty,omitempty"`
	FrequencyPenalty *float64           `json:"frequency_penalty,omitempty"`
	LogitBias        map[string]float64 `json:"logit_bias,omitempty"` // by token id
	Samplers         []string           `json:"samplers,omitempty"`   // llama.cpp: the order of the sampler's stages
	Seed             *Int               `json:"seed,omitempty"`
	Stop             Stop               `json:"stop,omitempty"`
	N                *Int               `json:"n,omitempty"`
	ResponseFormat   *ResponseFormat    `json:"response_format,omitempty"`
	IgnoreEOS        *bool              `json:"ignore_eos,omitempty"`
	MinTokens        *Int               `json:"min_tokens,omitempty"`   // vLLM: the answer does not end before
	Priority         *Int               `json:"priority,omitempty"`     // vLLM: lower goes first; default 0
	CacheSalt        *string            `json:"cache_salt,omitempty"`   // vLLM: prompts share their cache only with the same salt
	CachePrompt      *bool              `json:"cache_prompt,omitempty"` // llama.cpp: false computes the whole prompt
	Stream           *bool              `json:"stream,omitempty"`
	StreamOptions    *StreamOptions     `json:"stream_options,omitempty"`
	Glassbox         *Glassbox          `json:"glassbox,omitempty"`
}

// StreamOptions is the field stream_options.
type StreamOptions struct {
	IncludeUsage    *bool `json:"include_usage,omitempty"`
	ContinuousUsage *bool `json:"continuous_usage_stats,omitempty"` // vLLM: counts so far in every event
}

// ResponseFormat is the field response_format: text, json_object or json_schema. Schema beside json_object is llama.cpp's.
type ResponseFormat struct {
	Type       string          `json:"type"`
	JSONSchema *JSONSchema     `json:"json_schema,omitempty"`
	Schema     json.RawMessage `json:"schema,omitempty"`
}

// JSONSchema is a schema with its name.
type JSONSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
}

// Glassbox asks for a recording of the request.
type Glassbox struct {
	Trace   bool     `json:"trace,omitempty"`
	Capture []string `json:"capture,omitempty"`   // attention, lens, values, logits, all
	Ablate  []string `json:"ablate,omitempty"`    // parts of the model to switch off: L10.H3, L4.ffn, L7, L2.attn=mean; with or without a recording
	Draft   string   `json:"draft,omitempty"`     // off: guess no tokens ahead for this request, whatever the server does
	Within  *Int     `json:"within_ms,omitempty"` // the answer breaks off with an error when it is not whole by then
	Stop    []Place  `json:"stop,omitempty"`      // where the engine stands still, for /api/stops to look and change; from this machine only
}

// Place is one inside a pass: after an op of a layer has run for the token at a position of the sequence.
type Place struct {
	Op    string `json:"op"`
	Layer *Int   `json:"layer,omitempty"` // from 0; none outside the layers
	Token *Int   `json:"token,omitempty"` // from 0; none: the last of the prompt
}

// Message is one message of a chat.
type Message struct {
	Role       string          `json:"role"`
	Content    Content         `json:"content"`
	Name       string          `json:"name,omitempty"`
	ToolCalls  json.RawMessage `json:"tool_calls,omitempty"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
}

// Part is one part of a message's content.
type Part struct {
	Type    string  `json:"type"`
	Text    *string `json:"text,omitempty"`
	Refusal *string `json:"refusal,omitempty"`
}

// TokenizeRequest is the body of POST /tokenize, in llama.cpp's words (content) or vLLM's (prompt or messages).
type TokenizeRequest struct {
	Content             *string  `json:"content,omitempty"`
	AddSpecial          *bool    `json:"add_special,omitempty"`   // default false
	ParseSpecial        *bool    `json:"parse_special,omitempty"` // default true
	Prompt              *string  `json:"prompt,omitempty"`
	Messages            Messages `json:"messages,omitempty"`
	AddSpecialTokens    *bool    `json:"add_special_tokens,omitempty"`    // default true with prompt, false with messages
	AddGenerationPrompt *bool    `json:"add_generation_prompt,omitempty"` // default true
	WithPieces          *bool    `json:"with_pieces,omitempty"`
}

// TokenizeAnswer is the answer of POST /tokenize. Tokens holds ids, or Piece values where pieces were asked for.
type TokenizeAnswer struct {
	Tokens      any `json:"tokens"`
	Count       int `json:"count"`
	MaxModelLen int `json:"max_model_len"`
}

// Piece is a token with its text: a string, or a list of byte values where it is not whole UTF-8.
type Piece struct {
	ID    int `json:"id"`
	Piece any `json:"piece"`
}

// DetokenizeRequest is the body of POST /detokenize.
type DetokenizeRequest struct {
	Tokens []Int `json:"tokens"`
}

// DetokenizeAnswer is the answer of POST /detokenize: the same text under llama.cpp's name and vLLM's.
type DetokenizeAnswer struct {
	Content string `json:"content"`
	Prompt  string `json:"prompt"`
}

// TemplateRequest is the body of POST /apply-template.
type TemplateRequest struct {
	Messages            Messages `json:"messages"`
	AddGenerationPrompt *bool    `json:"add_generation_prompt,omitempty"` // default true
}

// TemplateAnswer is the answer of POST /apply-template.
type TemplateAnswer struct {
	Prompt string `json:"prompt"`
}
