package spec

// longest and shortest are the lengths of the n-grams that are looked up: a longer one that was there before says more.
const (
	longest  = 4
	shortest = 2
)

// gram is an n-gram; the places after its end are -1.
type gram [longest]int32

// NGram guesses by looking the last tokens up in what the sequence has said before: prompt lookup decoding (Saxena 2023;
// Yang et al. 2023, "Inference with reference"). It keeps an index, so that a guess costs a few look-ups however long the
// context is.
type NGram struct {
	next map[gram]int32 // where what follows the n-gram begins, for its last occurrence that something follows
	read int            // tokens that are in the index
}

// NewNGram returns an empty index.
func NewNGram() *NGram { return &NGram{next: map[gram]int32{}} }

// Guess appends to dst at most k tokens that may follow tokens, and returns it with the length of the n-gram that was
// found, 0 for none. Calls must pass the same sequence, which only ever grows.
func (g *NGram) Guess(dst, tokens []int32, k int) ([]int32, int) {
	// An n-gram that ends at i is entered when token i is there to follow it: the last one is not yet.
	for i := max(g.read, shortest); i < len(tokens); i++ {
		for n := shortest; n <= min(longest, i); n++ {
			g.next[gramOf(tokens[i-n:i])] = int32(i)
		}
	}
	g.read = max(g.read, len(tokens))
	for n := min(longest, len(tokens)); n >= shortest; n-- {
		at, ok := g.next[gramOf(tokens[len(tokens)-n:])]
		if !ok {
			continue
		}
		// What follows may run into the end: it then goes on with itself, as text that repeats does.
		period := len(tokens) - int(at)
		for i := range k {
			dst = append(dst, tokens[int(at)+i%period])
		}
		return dst, n
	}
	return dst, 0
}

func gramOf(t []int32) gram {
	g := gram{-1, -1, -1, -1}
	copy(g[:], t)
	return g
}
