package trace

// StepID is a stop of the walk: one kind of thing that happens to a request. Its name is short and stable, and is the
// name of its page in steps/catalog/glassbox.
type StepID uint16

// The steps of the engine, in the order of the walk.
const (
	StepNone StepID = iota
	// receive: the HTTP goroutine
	StepFirstByte
	StepRoute
	StepReadBody
	StepDecodeJSON
	StepValidate
	StepRequestID
	StepTemplate
	StepRender
	StepSplitMarks
	StepPresplit
	StepMerge
	StepLookup
	StepFitContext
	StepSequence
	StepSubmit
	// schedule: the engine loop
	StepQueue
	StepDrain
	StepAdmit
	StepSlot
	StepMatch
	StepReserve
	StepDraft
	StepPlan
	StepBatch
	StepLaunch
	// compute: the workers, one step an op; a model's walk has those of its own ops
	StepEmbed
	StepAttnNorm
	StepAttnQ
	StepAttnK
	StepAttnV
	StepAttnQNorm
	StepAttnKNorm
	StepRope
	StepKVWrite
	StepScores
	StepSoftmax
	StepMix
	StepAttnOut
	StepAllReduce
	StepAttnPostNorm
	StepAttnResidual
	StepFFNNorm
	StepGate
	StepUp
	StepSwiGLU
	StepGeGLU
	StepDown
	StepFFNPostNorm
	StepFFNResidual
	StepOutNorm
	StepLMHead
	StepPassDone
	// deliver: the engine loop, then the HTTP goroutine
	StepVerify
	StepLogits
	StepGrammar
	StepPenalties
	StepTemperature
	StepTopK
	StepTopP
	StepMinP
	StepDraw
	StepAppend
	StepDetokenize
	StepStopCheck
	StepEmit
	StepAccept
	StepReject
	StepRelease
	StepFreePages
	StepChunk
	StepWrite
	StepFlush
	StepUsage
	StepEnd
	stepEnd
)

// StepInfo is what the engine itself knows of a step; title, text and symbol are in the catalogue.
type StepInfo struct {
	Name  string
	Stage Stage
	Lane  Lane
}

var stepTable = [stepEnd]StepInfo{
	StepFirstByte:    {"first_byte", Receive, LaneHTTP},
	StepRoute:        {"route", Receive, LaneHTTP},
	StepReadBody:     {"read_body", Receive, LaneHTTP},
	StepDecodeJSON:   {"decode_json", Receive, LaneHTTP},
	StepValidate:     {"validate", Receive, LaneHTTP},
	StepRequestID:    {"request_id", Receive, LaneHTTP},
	StepTemplate:     {"template", Receive, LaneHTTP},
	StepRender:       {"render", Receive, LaneHTTP},
	StepSplitMarks:   {"split_marks", Receive, LaneHTTP},
	StepPresplit:     {"presplit", Receive, LaneHTTP},
	StepMerge:        {"merge", Receive, LaneHTTP},
	StepLookup:       {"look_up", Receive, LaneHTTP},
	StepFitContext:   {"fit_context", Receive, LaneHTTP},
	StepSequence:     {"sequence", Receive, LaneHTTP},
	StepSubmit:       {"submit", Receive, LaneHTTP},
	StepQueue:        {"queue", Schedule, LaneLoop},
	StepDrain:        {"drain", Schedule, LaneLoop},
	StepAdmit:        {"admit", Schedule, LaneLoop},
	StepSlot:         {"pick_slot", Schedule, LaneLoop},
	StepMatch:        {"match_prefix", Schedule, LaneLoop},
	StepReserve:      {"reserve_pages", Schedule, LaneLoop},
	StepDraft:        {"draft", Schedule, LaneLoop},
	StepPlan:         {"plan_pass", Schedule, LaneLoop},
	StepBatch:        {"fill_batch", Schedule, LaneLoop},
	StepLaunch:       {"launch", Schedule, LaneLoop},
	StepEmbed:        {"embed", Compute, LaneWorkers},
	StepAttnNorm:     {"attn_norm", Compute, LaneWorkers},
	StepAttnQ:        {"attn_q", Compute, LaneWorkers},
	StepAttnK:        {"attn_k", Compute, LaneWorkers},
	StepAttnV:        {"attn_v", Compute, LaneWorkers},
	StepAttnQNorm:    {"attn_q_norm", Compute, LaneWorkers},
	StepAttnKNorm:    {"attn_k_norm", Compute, LaneWorkers},
	StepRope:         {"rope", Compute, LaneWorkers},
	StepKVWrite:      {"kv_write", Compute, LaneWorkers},
	StepScores:       {"attn_scores", Compute, LaneWorkers},
	StepSoftmax:      {"attn_softmax", Compute, LaneWorkers},
	StepMix:          {"attn_mix", Compute, LaneWorkers},
	StepAttnOut:      {"attn_out", Compute, LaneWorkers},
	StepAllReduce:    {"all_reduce", Compute, LaneWorkers},
	StepAttnPostNorm: {"attn_post_norm", Compute, LaneWorkers},
	StepAttnResidual: {"attn_residual", Compute, LaneWorkers},
	StepFFNNorm:      {"ffn_norm", Compute, LaneWorkers},
	StepGate:         {"ffn_gate", Compute, LaneWorkers},
	StepUp:           {"ffn_up", Compute, LaneWorkers},
	StepSwiGLU:       {"ffn_swiglu", Compute, LaneWorkers},
	StepGeGLU:        {"ffn_geglu", Compute, LaneWorkers},
	StepDown:         {"ffn_down", Compute, LaneWorkers},
	StepFFNPostNorm:  {"ffn_post_norm", Compute, LaneWorkers},
	StepFFNResidual:  {"ffn_residual", Compute, LaneWorkers},
	StepOutNorm:      {"out_norm", Compute, LaneWorkers},
	StepLMHead:       {"lm_head", Compute, LaneWorkers},
	StepPassDone:     {"pass_done", Compute, LaneLoop},
	StepVerify:       {"verify", Deliver, LaneLoop},
	StepLogits:       {"read_logits", Deliver, LaneLoop},
	StepGrammar:      {"grammar", Deliver, LaneLoop},
	StepPenalties:    {"penalties", Deliver, LaneLoop},
	StepTemperature:  {"temperature", Deliver, LaneLoop},
	StepTopK:         {"top_k", Deliver, LaneLoop},
	StepTopP:         {"top_p", Deliver, LaneLoop},
	StepMinP:         {"min_p", Deliver, LaneLoop},
	StepDraw:         {"draw", Deliver, LaneLoop},
	StepAppend:       {"append", Deliver, LaneLoop},
	StepDetokenize:   {"detokenize", Deliver, LaneLoop},
	StepStopCheck:    {"stop_check", Deliver, LaneLoop},
	StepEmit:         {"emit", Deliver, LaneLoop},
	StepAccept:       {"accept", Deliver, LaneLoop},
	StepReject:       {"reject", Deliver, LaneLoop},
	StepRelease:      {"release_slot", Deliver, LaneLoop},
	StepFreePages:    {"free_pages", Deliver, LaneLoop},
	StepChunk:        {"sse_chunk", Deliver, LaneHTTP},
	StepWrite:        {"sse_write", Deliver, LaneHTTP},
	StepFlush:        {"sse_flush", Deliver, LaneHTTP},
	StepUsage:        {"usage", Deliver, LaneHTTP},
	StepEnd:          {"end", Deliver, LaneHTTP},
}

// Steps returns all step ids in the order of the walk.
func Steps() []StepID {
	ids := make([]StepID, 0, stepEnd-1)
	for s := StepNone + 1; s < stepEnd; s++ {
		ids = append(ids, s)
	}
	return ids
}

// Info returns what the engine knows of the step.
func (s StepID) Info() StepInfo { return stepTable[s] }

// String returns the step's short stable name.
func (s StepID) String() string { return stepTable[s].Name }
