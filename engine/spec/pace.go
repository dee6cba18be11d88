package spec

import "math/bits"

// Pace decides how many tokens to guess, from measured times: what a pass that checks nothing takes, and what each guessed
// token adds. Where a guess is not worth its cost, nothing is guessed but for a rare try, so that drafting is never much
// slower than plain decoding. The engine loop uses it, for all requests.
type Pace struct {
	plain   map[int]*mean // ns of a pass of plain decoding, by the sequences in it
	checked [8]mean       // ns that a guessed token adds to a pass, by how many there are: 1, 2, 3-4, 5-8, ... see size
	guessed mean          // ns that guessing a token takes
	turns   int           // asked to Rest
	always  bool
}

// mean is a running mean that forgets. One odd time (another program had the processor) moves it little.
type mean struct {
	v float64
	n int
}

// add takes a value in, cut to within a factor of 3 of the mean once that is known.
func (m *mean) add(v float64) {
	const settled, share, far = 4, 0.1, 3
	if m.n++; m.n <= settled {
		m.v += (v - m.v) / float64(m.n)
		return
	}
	m.v += share * (min(max(v, m.v/far), m.v*far) - m.v)
}

// NewPace returns a Pace that has seen nothing. With always it finds every guess worth its cost: what is guessed then does
// not depend on times.
func NewPace(always bool) *Pace { return &Pace{plain: map[int]*mean{}, always: always} }

// plainEvery is how many passes go by until one checks nothing, so that it is known what such a pass takes now.
const plainEvery = 48

// Rest tells, once before each pass, whether nothing should be guessed in it for any sequence.
func (p *Pace) Rest() bool {
	p.turns++
	return p.turns%plainEvery == 0 && !p.always
}

// Plain notes the time of a pass in which seqs sequences decoded and nothing was checked.
func (p *Pace) Plain(seqs int, ns int64) {
	if p.plain[seqs] == nil {
		p.plain[seqs] = &mean{}
	}
	p.plain[seqs].add(float64(ns))
}

// Checked notes the time of a pass in which seqs sequences decoded and n guessed tokens of theirs were checked.
func (p *Pace) Checked(seqs, n int, ns int64) {
	if m := p.plain[seqs]; m != nil && n > 0 {
		p.checked[size(n)].add(max(float64(ns)-m.v, 0) / float64(n))
	}
}

// Guessed notes the time that guessing n tokens took.
func (p *Pace) Guessed(n int, ns int64) {
	if n > 0 {
		p.guessed.add(float64(ns) / float64(n))
	}
}

// size is the class of a count of tokens: 0 for 1, 1 for 2, 2 up to 4, 3 up to 8 and so on.
func size(n int) int { return min(bits.Len(uint(n-1)), 7) }

// cost is what a guessed token costs in a pass with n of them, from the nearest count that was measured. Before any was,
// it is nothing: to be found out.
func (p *Pace) cost(n int) float64 {
	at := size(n)
	for d := range len(p.checked) {
		for _, i := range [...]int{at - d, at + d} {
			if i >= 0 && i < len(p.checked) && p.checked[i].n > 0 {
				return p.checked[i].v + p.guessed.v
			}
		}
	}
	return p.guessed.v
}

// Luck is how well one sequence's guesses do.
type Luck struct {
	rate  float64 // part of the guessed tokens that were accepted, of those that were looked at
	idle  int     // turns without a guess since the last
	rest  int     // turns without a guess until the next try
	tried bool    // the last guess was a try
}

// How a sequence's luck is followed.
const (
	firstRate = 0.6 // before anything was seen
	luckShare = 0.12
	restFirst = 8
	restMost  = 64
	tryTokens = 2
)

// NewLuck returns the luck of a sequence that nothing was guessed for yet.
func NewLuck() *Luck { return &Luck{rate: firstRate, rest: restFirst} }

// Saw notes that of n guessed tokens the first accepted ones were right.
func (l *Luck) Saw(n, accepted int) {
	for range accepted {
		l.rate += luckShare * (1 - l.rate)
	}
	if accepted < n { // what comes after the first wrong one was not looked at
		l.rate -= luckShare * l.rate
	}
	switch {
	case !l.tried:
	case accepted == n && l.rate < firstRate:
		l.rest = 1 // luck may have turned: try again at once
	default:
		l.rest = min(2*max(l.rest, restFirst), restMost)
	}
}

// Rate returns the estimated part of guessed tokens that are accepted.
func (l *Luck) Rate() float64 { return l.rate }

// Tokens returns how many tokens to guess for a sequence in a pass with seqs sequences that decode: of 1, 2, 4, ... and
// most the count with the largest expected gain, 0 where none gains. A token that is accepted saves the sequence a pass,
// of which its share is what plain decoding takes by sequence.
func (p *Pace) Tokens(l *Luck, seqs, most int) int {
	if p.always {
		return max(most, 0)
	}
	plain := p.plain[seqs]
	if plain == nil || most < 1 {
		return 0 // what it saves is not known: the next pass will tell
	}
	best, gain := 0, 0.0
	for k := 1; ; k = min(2*k, most) {
		saved, all := 0.0, 1.0 // tokens expected to be accepted: r + r^2 + ... + r^k
		for range k {
			all *= l.rate
			saved += all
		}
		if g := saved*plain.v/float64(seqs) - float64(k)*p.cost(k*seqs); g > gain {
			best, gain = k, g
		}
		if k == most {
			break
		}
	}
	l.tried = false
	if best > 0 {
		l.idle, l.rest = 0, restFirst
		return best
	}
	if l.idle++; l.idle < l.rest {
		return 0
	}
	l.idle, l.tried = 0, true
	return min(tryTokens, most)
}
