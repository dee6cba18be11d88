package spec

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuessIsWhatFollowedTheLastTokensBefore(t *testing.T) {
	for _, c := range []struct {
		tokens, want []int32
		n, k         int
	}{
		{[]int32{1, 2, 3, 4, 5, 9, 2, 3}, []int32{4, 5, 9}, 2, 3},
		{[]int32{1, 2, 3, 4, 5, 9, 2, 3}, []int32{4}, 2, 1},
		{[]int32{7, 2, 3, 8, 6, 1, 2, 3, 4, 5, 9, 0, 7, 2, 3}, []int32{8, 6}, 3, 2},    // the longer match, though it is older
		{[]int32{2, 3, 8, 2, 3, 4, 2, 3}, []int32{4, 2}, 2, 2},                         // of equal ones the last
		{[]int32{5, 1, 2, 1, 2}, []int32{1, 2, 1, 2, 1}, 2, 5},                         // a period is gone on with
		{[]int32{4, 4, 4, 4, 4, 4}, []int32{4, 4, 4}, 4, 3},                            //
		{[]int32{1, 2, 3, 4, 5}, nil, 0, 4}, {[]int32{1}, nil, 0, 4}, {nil, nil, 0, 4}, // nothing repeats
	} {
		got, n := NewNGram().Guess(nil, c.tokens, c.k)
		require.Equal(t, c.want, got, "%v", c.tokens)
		require.Equal(t, c.n, n, "%v", c.tokens)
	}
}

// slow is the same by looking everywhere.
func slow(tokens []int32, k int) []int32 {
	for n := longest; n >= shortest; n-- {
		if len(tokens) <= n {
			continue
		}
		last := tokens[len(tokens)-n:]
		for i := len(tokens) - 1; i >= n; i-- {
			if slices.Equal(tokens[i-n:i], last) {
				var out []int32
				for j := range k {
					out = append(out, tokens[i+j%(len(tokens)-i)])
				}
				return out
			}
		}
	}
	return nil
}

func TestIndexFindsWhatASearchFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		g, tokens := NewNGram(), []int32{}
		for len(tokens) < 200 {
			for range 1 + r.IntN(5) {
				tokens = append(tokens, int32(r.IntN(6)))
			}
			got, _ := g.Guess(nil, tokens, 4)
			require.Equal(t, slow(tokens, 4), got, "%v", tokens)
		}
	}
}
