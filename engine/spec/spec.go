// Package spec guesses the next tokens of an answer, so that one pass of the model can check several of them (speculative
// decoding: Leviathan et al. 2023, Chen et al. 2023). A guess comes from the context itself (NGram) or from a smaller model
// (Model); Pace decides how many tokens a guess is worth.
//
// What is drawn never depends on a guess. The verifying pass gives the logits after each guessed token; the request's own
// sampler draws from them in turn, with the random number that plain decoding would take at that place, and a guess is
// accepted if it is the token that was drawn. For a guess of one token x that is the rejection rule of the papers: x is
// accepted with probability p(x), and what is drawn in its place is distributed as p without x. But it keeps more than the
// distribution: the same seed gives the same answer with and without guesses, though how much is guessed depends on times.
//
// It does not know about HTTP, the scheduler's queues or how a backend computes.
package spec

// Kinds of drafting.
const (
	Off     = "off"
	Ngram   = "ngram"
	ByModel = "model"
)

// DefaultTokens is the most tokens that are guessed at once, unless another number is asked for.
const DefaultTokens = 8

// MaxTokens is the largest number that can be asked for.
const MaxTokens = 64
