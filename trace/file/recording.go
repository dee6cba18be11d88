// Package file is the recording of one traced request: its Go form, the two files it is kept in (.json and .gbx), the
// journal that is written while the request runs, the collector that fills it from a trace.Recorder, and the store that
// a server keeps its recordings in. docs/trace-format.md describes every field.
//
// It does not know about models, HTTP, step pages or how a recording is shown.
package file

import "encoding/json"

// Name and version of the schema this package writes. A reader accepts every minor of its major.
const (
	SchemaName    = "glassbox-trace"
	SchemaMajor   = 1
	SchemaVersion = "1.2"
)

// Recording is one request as one engine served it. All times in it are integer nanoseconds from the request's first
// byte. A Recording that a Store or Collector handed out is shared: read it, do not change it.
type Recording struct {
	ID       string
	Schema   Schema
	Engine   Engine
	Model    Model
	Device   Device
	Clock    Clock
	Started  string // wall clock of the first byte, RFC 3339
	Request  Request
	Numbers  Numbers
	Dropped  Dropped
	Untraced *Untraced // nil: not measured
	Peers    []Peer    // other engines on the same model, prompt, threads and machine
	Partial  bool      // the request was not over when the recording ended
	Missing  []string  // of a partial recording: what is not there
	Lanes    []Lane
	Loops    []Loop
	Passes   []Pass
	Calls    []Call // to the driver of a device, as the passes follow each other
	Turns    []Turn
	Memory   *Memory // of the KV cache; nil: not known
	Walk     []Step
	Spans    []Span // by start
	Modules  []Module
	Arrays   map[string]*Array

	// RawSources holds, for each step, the distinct source positions that ran: for an op the lines of the model first,
	// then the functions of the backend. It is kept in the journal and not in a finished file, whose walk has the
	// sources resolved.
	RawSources map[string][]SourceRef
}

// Clocked tells whether the recording's times measure anything: those of an emulated device do not.
func (r *Recording) Clocked() bool { return r.Device.Kind != "emulated" }

// Schema names the format.
type Schema struct {
	Name    string `json:"name"`
	Version string `json:"version"` // "1.N"
}

// Engine is the program that served the request.
type Engine struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit"` // 40 hex, or the version's tag, or "unknown"
}

// Model is the model that ran, as its file declares it.
type Model struct {
	Name         string `json:"name"`
	File         string `json:"file"`
	SHA256       string `json:"sha256"`
	Architecture string `json:"architecture"`
	Quantization string `json:"quantization"`
	Layers       int    `json:"layers"`
	Heads        int    `json:"heads"`
	KVHeads      int    `json:"kv_heads"`
	Width        int    `json:"width"`
	Vocab        int    `json:"vocab"`
	HeadDim      int    `json:"head_dim,omitempty"`
	FFN          int    `json:"ffn,omitempty"`
	Context      int    `json:"context,omitempty"`

	// Tensors are the weights in the order in which one pass reads them: one entry for each op that has any.
	Tensors []ModelTensor `json:"tensors,omitempty"`
}

// ModelTensor is a weight as an op reads it. The same tensor is there twice where two ops read it.
type ModelTensor struct {
	Op    string `json:"op"`
	Layer int    `json:"layer"` // -1 outside the layers
	Name  string `json:"name"`  // in the model's file
	Type  string `json:"type"`  // ggml's name of its number format
	Rows  int    `json:"rows"`
	Cols  int    `json:"cols"`
	Bytes int64  `json:"bytes"` // as stored
}

// Device is what did the arithmetic.
type Device struct {
	Kind     string   `json:"kind"` // "cpu", "cuda", "emulated" or "unknown"
	Name     string   `json:"name"`
	Driver   string   `json:"driver,omitempty"`
	Threads  int      `json:"threads"`
	Features []string `json:"features"`
	Roof     *Roof    `json:"roof,omitempty"` // nil: not measured
	// Before and After are the device's state when the request came and when it was over; nil: its driver does not tell.
	Before *DeviceState `json:"before,omitempty"`
	After  *DeviceState `json:"after,omitempty"`
	// InputTop is the largest code that kernels over quantised weights round their input to, in runs that share a scale;
	// 0: they use it as it is, or it is not known.
	InputTop int `json:"input_top,omitempty"`
}

// DeviceState is what the driver of a device says of it at one moment; nil = it does not say.
type DeviceState struct {
	SMMHz     *float64 `json:"sm_mhz,omitempty"`     // clock of the multiprocessors
	MemoryMHz *float64 `json:"memory_mhz,omitempty"` // clock of the memory
	PowerW    *float64 `json:"power_w,omitempty"`
	TempC     *float64 `json:"temp_c,omitempty"`
	UsedMB    *float64 `json:"used_mb,omitempty"` // MiB of memory in use, by all processes
}

// Roof is what the machine was measured to do, at another time than the request: what a kernel can be held against.
type Roof struct {
	Machine  string     `json:"machine"`
	Threads  int        `json:"threads"`
	Kernels  string     `json:"kernels"`    // variant of the engine's kernels
	Measured string     `json:"measured"`   // when, RFC 3339
	Reads    []ReadRoof `json:"reads"`      // by working set, ascending; the last does not fit a cache
	Int8     Spread     `json:"int8_gops"`  // 10^9 operations a second of 8-bit integers; a multiply and an add are 2
	Float32  Spread     `json:"f32_gflops"` // of 32-bit floats
}

// ReadRoof is how fast all threads together read a working set again and again.
type ReadRoof struct {
	Bytes  int64  `json:"bytes"`
	GBPerS Spread `json:"gb_per_s"` // 10^9 bytes a second
}

// Spread is a figure measured several times.
type Spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
	Runs   int     `json:"runs"`
	How    string  `json:"how,omitempty"` // instructions, streams
}

// Clock is the clock of all measured times.
type Clock struct {
	Name         string `json:"name"`
	ResolutionNs int64  `json:"resolution_ns"` // least difference of two readings, measured
}

// Request is what was asked and what came out.
type Request struct {
	Number       int64           `json:"number,omitempty"` // counted by the engine from 1; other requests of turns and memory have theirs
	ID           string          `json:"id"`               // x-request-id as received or given
	TraceID      string          `json:"trace_id"`         // W3C trace id, 32 hex: the caller's, else a new one
	TraceParent  string          `json:"traceparent,omitempty"`
	Endpoint     string          `json:"endpoint,omitempty"`
	Messages     json.RawMessage `json:"messages,omitempty"`
	Prompt       string          `json:"prompt,omitempty"`
	Params       Attrs           `json:"params"`
	Rendered     string          `json:"rendered"`
	PromptTokens []Token         `json:"prompt_tokens"`
	OutputTokens []Token         `json:"output_tokens"`
	Text         string          `json:"text"`
	FinishReason string          `json:"finish_reason"`
	Error        string          `json:"error,omitempty"`
	CaptureNs    int64           `json:"capture_ns,omitempty"` // after the last token: captured rows were read with the head
	Stops        []Halt          `json:"stops,omitempty"`      // where the engine stood still at a breakpoint of this request
	Edits        []Edit          `json:"edits,omitempty"`      // what was changed there, in order
}

// Token is a token of the prompt or of the answer.
type Token struct {
	ID      int           `json:"id"`
	Text    string        `json:"text"`
	Bytes   []byte        `json:"bytes,omitempty"` // where text is not whole UTF-8
	Special bool          `json:"special,omitempty"`
	TNs     int64         `json:"t_ns,omitempty"` // answer: when it was sampled
	Logprob *float64      `json:"logprob,omitempty"`
	Pass    *int          `json:"pass,omitempty"` // answer: the pass whose logits it was drawn from
	Top     []Alternative `json:"top,omitempty"`  // answer: the likeliest tokens here, where they were asked for
}

// Alternative is a token the model might have said. Logprob is nil where it is minus infinity.
type Alternative struct {
	ID      int      `json:"id"`
	Text    string   `json:"text"`
	Logprob *float64 `json:"logprob,omitempty"`
}

// Numbers are the derived figures of a request; docs/trace-format.md has the formulas. Zero is "not measured" and is
// left out of the file, except for the two counts.
type Numbers struct {
	TTFTNs             int64   `json:"ttft_ns,omitempty"`
	TPOTNs             int64   `json:"tpot_ns,omitempty"`
	E2ENs              int64   `json:"e2e_ns,omitempty"`
	PromptTokens       int     `json:"prompt_tokens"`
	OutputTokens       int     `json:"output_tokens"`
	PrefillTokensPerS  float64 `json:"prefill_tokens_per_s,omitempty"`
	DecodeTokensPerS   float64 `json:"decode_tokens_per_s,omitempty"`
	QueueNs            int64   `json:"queue_ns,omitempty"`
	FirstTokenSampleNs int64   `json:"first_token_ns,omitempty"` // first byte to first token sampled
	PausedNs           int64   `json:"paused_ns,omitempty"`      // in the passes of this request, at breakpoints
	Drafted            int     `json:"drafted,omitempty"`        // tokens that were guessed and checked
	Accepted           int     `json:"accepted,omitempty"`       // of them that were right
	TokensPerPass      float64 `json:"tokens_per_pass,omitempty"`
	DraftGain          float64 `json:"draft_gain,omitempty"` // of decoding speed, against this request's own plain passes
}

// Dropped counts the spans that could not be kept.
type Dropped struct {
	Spans int64  `json:"spans"`
	Why   string `json:"why,omitempty"`
}

// Untraced is the same request's speed without tracing.
type Untraced struct {
	DecodeTokensPerS float64 `json:"decode_tokens_per_s,omitempty"`
}

// Peer is what another engine took for the same prompt, op by op: the same model file, machine and number of threads, in turns.
type Peer struct {
	Engine  Engine   `json:"engine"`
	How     string   `json:"how"`     // how its ops were timed
	Threads int      `json:"threads"` // of both
	Passes  int      `json:"passes"`  // decode passes that the medians are of
	PassNs  int64    `json:"pass_ns"` // median decode pass, nothing being timed inside
	TimedNs int64    `json:"timed_ns"`
	Ops     []PeerOp `json:"ops"`
}

// PeerOp is a node of another engine's graph, or several, beside the ops here that do the same. Of none it is work that has no
// op here.
type PeerOp struct {
	Ops   []string `json:"ops"`
	Nodes []string `json:"nodes"` // as the other engine calls them
	Ns    int64    `json:"ns"`    // of a decode pass: the sum over layers of medians over passes
	Note  string   `json:"note,omitempty"`
}

// Lane is a thread of execution, in the order in which lanes are drawn.
type Lane struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
}

// Loop says that the walk goes round from step From to step To, over "layers" or "tokens".
type Loop struct {
	Over string `json:"over"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Pass is one run of the whole model over a batch of tokens.
type Pass struct {
	Index       int    `json:"index"`
	Kind        string `json:"kind"`                   // "prefill", "decode", "verify" or "draft"
	Tokens      int    `json:"tokens"`                 // of this request
	BatchTokens int    `json:"batch_tokens,omitempty"` // of all requests in the pass
	Requests    int    `json:"requests"`
	StartNs     int64  `json:"start_ns"`
	DurNs       int64  `json:"dur_ns"`
	CaptureNs   int64  `json:"capture_ns,omitempty"` // of DurNs: values were copied out or changed, between the ops
	PausedNs    int64  `json:"paused_ns,omitempty"`  // of DurNs: the engine stood still at a breakpoint, of any request of the pass
	// Of a pass on a device with a clock of its own: how well that clock was tied to the host's.
	Clocks *Clocks `json:"clocks,omitempty"`
}

// Step is a stop of the walk over this recording: a step page laid over the spans that ran.
type Step struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Stage   string   `json:"stage"` // "receive", "schedule", "compute" or "deliver"
	Text    string   `json:"text"`  // of a step never reached: why
	Lane    string   `json:"lane"`
	Source  Source   `json:"source"`
	Sources []Source `json:"sources,omitempty"` // from the model's line down to the kernel
	Spans   []int    `json:"spans"`             // indices into Recording.Spans
	TimeNs  int64    `json:"time_ns"`
	Count   int      `json:"count"`
	In      string   `json:"in"`
	Out     string   `json:"out"`
	// What an engine may add so that a map of the walk need not guess.
	Form    string `json:"form,omitempty"`     // what the request is here: bytes json text ids pages vector scores logits
	Role    string `json:"role,omitempty"`     // residual, add, op or plain
	Group   string `json:"group,omitempty"`    // steps of one group work on the same input
	Hand    *Hand  `json:"hand,omitempty"`     // the hand-over when the next step is in another lane
	Label   string `json:"label,omitempty"`    // for the map, at most 12 characters
	Short   string `json:"short,omitempty"`    // one line
	Body    string `json:"body,omitempty"`     // the text without what it hands on and what people get wrong
	HandsOn string `json:"hands_on,omitempty"` // what the next step gets
	Wrong   string `json:"wrong,omitempty"`    // what people get wrong
	Link    string `json:"link,omitempty"`
}

// Hand is a hand-over between two lanes.
type Hand struct {
	Name string `json:"name"`
	By   string `json:"by,omitempty"`
}

// Source is a place in the source code, with the code around it.
type Source struct {
	Repo   string `json:"repo"`
	Commit string `json:"commit"` // 40 hex, or the version's tag, or "unknown"
	Path   string `json:"path"`
	Symbol string `json:"symbol"`
	Line   int    `json:"line"` // from 1: where the lit line is
	Code   *Code  `json:"code,omitempty"`
}

// Code is a run of source lines; First is the number of the first one.
type Code struct {
	First int      `json:"first"`
	Lines []string `json:"lines"`
}

// Module is a node of a module map.
type Module struct {
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	Lines   int      `json:"lines"`
	Imports []string `json:"imports"`
	State   string   `json:"state"` // "ran", "imported", "by_name" or "none"
}
