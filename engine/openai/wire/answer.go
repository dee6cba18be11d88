package wire

// ChatAnswer is the answer to a chat request that is not streamed; object "chat.completion".
type ChatAnswer struct {
	ID                string       `json:"id"`
	Object            string       `json:"object"`
	Created           int64        `json:"created"`
	Model             string       `json:"model"`
	Choices           []ChatChoice `json:"choices"`
	Usage             Usage        `json:"usage"`
	SystemFingerprint string       `json:"system_fingerprint"`
	ServiceTier       *string      `json:"service_tier"`
	Timings           *Timings     `json:"timings,omitempty"`
}

// ChatChoice is an answer of the model.
type ChatChoice struct {
	Index        int           `json:"index"`
	Message      ChatMessage   `json:"message"`
	Logprobs     *ChatLogprobs `json:"logprobs"`
	FinishReason string        `json:"finish_reason"`
}

// ChatMessage is the message that the model wrote.
type ChatMessage struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"`
}

// ChatChunk is one event of a streamed chat; object "chat.completion.chunk". Usage is left out, null or filled.
type ChatChunk struct {
	ID                string            `json:"id"`
	Object            string            `json:"object"`
	Created           int64             `json:"created"`
	Model             string            `json:"model"`
	Choices           []ChatChunkChoice `json:"choices"`
	SystemFingerprint string            `json:"system_fingerprint"`
	Usage             *OptionalUsage    `json:"usage,omitempty"`
	Timings           *Timings          `json:"timings,omitempty"`
}

// ChatChunkChoice is what an event adds to a choice. FinishReason is null until the last.
type ChatChunkChoice struct {
	Index        int           `json:"index"`
	Delta        Delta         `json:"delta"`
	Logprobs     *ChatLogprobs `json:"logprobs"`
	FinishReason *string       `json:"finish_reason"`
}

// Delta is new text. The reasoning fields are other servers'; ours leaves them out.
type Delta struct {
	Role             string  `json:"role,omitempty"`
	Content          *string `json:"content,omitempty"`
	ReasoningContent *string `json:"reasoning_content,omitempty"`
	Reasoning        *string `json:"reasoning,omitempty"`
}

// ChatLogprobs are the log-probabilities of a chat answer's tokens.
type ChatLogprobs struct {
	Content []TokenLogprob `json:"content"`
	Refusal []TokenLogprob `json:"refusal"`
}

// TokenLogprob is a token of the answer. Bytes are its own bytes, also where they are only part of a character.
type TokenLogprob struct {
	Token       string       `json:"token"`
	Logprob     float64      `json:"logprob"`
	Bytes       []int        `json:"bytes"`
	TopLogprobs []TopLogprob `json:"top_logprobs"`
}

// TopLogprob is a token that the model might have said.
type TopLogprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

// Completion is the answer to a completion request, and an event of a streamed one; object "text_completion" both ways.
type Completion struct {
	ID                string             `json:"id"`
	Object            string             `json:"object"`
	Created           int64              `json:"created"`
	Model             string             `json:"model"`
	Choices           []CompletionChoice `json:"choices"`
	SystemFingerprint string             `json:"system_fingerprint"`
	Usage             *OptionalUsage     `json:"usage,omitempty"`
	Timings           *Timings           `json:"timings,omitempty"`
}

// CompletionChoice is the text for one prompt, or what an event adds to it.
type CompletionChoice struct {
	Index        int                 `json:"index"`
	Text         string              `json:"text"`
	Logprobs     *CompletionLogprobs `json:"logprobs"`
	FinishReason *string             `json:"finish_reason"`
}

// CompletionLogprobs are lists with one entry a token. TokenLogprobs and TopLogprobs hold null for tokens whose
// log-probability was not computed, as those of an echoed prompt. TextOffset counts characters from the text's start.
type CompletionLogprobs struct {
	Tokens        []string             `json:"tokens"`
	TokenLogprobs []*float64           `json:"token_logprobs"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs"`
	TextOffset    []int                `json:"text_offset"`
}

// Usage counts a request's tokens.
type Usage struct {
	PromptTokens            int              `json:"prompt_tokens"`
	CompletionTokens        int              `json:"completion_tokens"`
	TotalTokens             int              `json:"total_tokens"`
	PromptTokensDetails     *PromptDetails   `json:"prompt_tokens_details"`
	CompletionTokensDetails *CompletionParts `json:"completion_tokens_details"`
}

// PromptDetails says how many prompt tokens came from a cache.
type PromptDetails struct {
	CachedTokens int `json:"cached_tokens"`
}

// CompletionParts says how many answer tokens were reasoning.
type CompletionParts struct {
	ReasoningTokens int `json:"reasoning_tokens"`
}

// Timings are what llama.cpp's server tells of a request, in its names: prompt from the first pass to the first token,
// predicted from the first token to the last. Rates of predicted tokens leave the first one out, which the prompt's pass made.
type Timings struct {
	CacheN             int     `json:"cache_n"`
	PromptN            int     `json:"prompt_n"` // without those from the cache
	PromptMS           float64 `json:"prompt_ms"`
	PromptPerTokenMS   float64 `json:"prompt_per_token_ms"`
	PromptPerSecond    float64 `json:"prompt_per_second"`
	PredictedN         int     `json:"predicted_n"`
	PredictedMS        float64 `json:"predicted_ms"`
	PredictedPerTokMS  float64 `json:"predicted_per_token_ms"`
	PredictedPerSecond float64 `json:"predicted_per_second"`
	QueueMS            float64 `json:"queue_ms"` // our own: from the request's hand-over to its first pass
}

// OptionalUsage is a field that is null while there are no counts: a nil *OptionalUsage leaves the field out, one with a
// nil Usage writes null.
type OptionalUsage struct{ *Usage }

// Model is an entry of GET /v1/models.
type Model struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	Root        string `json:"root"`
	MaxModelLen int    `json:"max_model_len"`
}

// Models is the answer of GET /v1/models; object "list".
type Models struct {
	Object string  `json:"object"`
	Data   []Model `json:"data"`
}

// ErrorBody is an answer, or an event in a stream, that says what went wrong.
type ErrorBody struct {
	Error Error `json:"error"`
}

// Error always has its four keys; Param and Code may be null.
type Error struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}
