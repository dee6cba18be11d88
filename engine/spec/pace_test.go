package spec

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// play decodes n tokens with a clock that is made up: a pass takes plain, each guessed token adds check and guess, and each is
// right with probability rate. It returns the time over that of plain decoding.
func play(p *Pace, rate float64, plain, check, guess int64, n, most int) float64 {
	r := rand.New(rand.NewPCG(3, 3))
	l, took := NewLuck(), int64(0)
	for done := 0; done < n; {
		k := p.Tokens(l, 1, most)
		if k == 0 {
			p.Plain(1, plain)
			took += plain
			done++
			continue
		}
		right := 0
		for right < k && r.Float64() < rate {
			right++
		}
		l.Saw(k, right)
		p.Guessed(k, guess*int64(k))
		p.Checked(1, k, plain+check*int64(k))
		took += plain + (check+guess)*int64(k)
		done += right + 1
	}
	return float64(took) / float64(plain*int64(n))
}

func TestGuessingNeverCostsMuchAndGainsWhereItCan(t *testing.T) {
	for _, c := range []struct {
		name         string
		rate         float64
		check, guess int64
		least, most  float64 // of the time of plain decoding
	}{
		{"always right, cheap to check", 1, 50, 0, 0, 0.30},
		{"always right, dear to check", 1, 500, 0, 0, 0.70},
		{"mostly right", 0.8, 50, 0, 0, 0.50},
		{"never right", 0, 300, 0, 1, 1.05},
		{"never right and dear to guess", 0, 300, 400, 1, 1.06},
		{"right too seldom for what it costs", 0.3, 700, 0, 0.99, 1.06},
		{"right, but checking costs what it saves", 1, 1200, 0, 0.99, 1.06},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := play(NewPace(false), c.rate, 1000, c.check, c.guess, 3000, 8)
			require.GreaterOrEqual(t, got, c.least)
			require.LessOrEqual(t, got, c.most)
		})
	}
}

func TestGuessingStartsAgainWhenTheTextRepeats(t *testing.T) {
	p, l := NewPace(false), NewLuck()
	p.Plain(1, 1000)
	p.Checked(1, 8, 3400)
	for range 200 { // nothing fits
		if k := p.Tokens(l, 1, 8); k > 0 {
			l.Saw(k, 0)
		}
	}
	require.Less(t, l.Rate(), 0.2)
	turns := 0
	for k := 0; k < 8 && turns < 200; turns++ {
		if k = p.Tokens(l, 1, 8); k > 0 {
			l.Saw(k, k)
		}
	}
	require.Less(t, turns, 90, "a run of right tries brings long guesses back")
}

func TestNothingIsGuessedBeforeAPlainPassWasMeasured(t *testing.T) {
	p := NewPace(false)
	require.Zero(t, p.Tokens(NewLuck(), 1, 8))
	p.Plain(1, 1000)
	require.Positive(t, p.Tokens(NewLuck(), 1, 8))
	require.Zero(t, p.Tokens(NewLuck(), 2, 8), "two at once are another pass")
}

func TestOneOddTimeMovesTheMeanLittle(t *testing.T) {
	m := &mean{}
	for range 20 {
		m.add(100)
	}
	m.add(1e6)
	require.Less(t, m.v, 125.0)
}
