package capture

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a Part is of its layer.
type Kind uint8

// The kinds of part.
const (
	Head  Kind = iota // one query head's output, before it goes through the output projection
	Attn              // what attention adds to the residual stream
	FFN               // what feed-forward adds to the residual stream
	Layer             // both
)

// Part is one thing that is switched off.
type Part struct {
	Layer int
	Kind  Kind
	Head  int  // Kind Head only
	Mean  bool // it gives its mean over the prompt's tokens, of a run in which nothing is switched off; else zero
}

// String names the part as ParseAblate reads it.
func (p Part) String() string {
	s := "L" + strconv.Itoa(p.Layer)
	switch p.Kind {
	case Head:
		s += ".H" + strconv.Itoa(p.Head)
	case Attn:
		s += ".attn"
	case FFN:
		s += ".ffn"
	}
	if p.Mean {
		s += "=mean"
	}
	return s
}

// Ablation is the set of parts that a request switches off. The zero value is none.
type Ablation struct{ parts []Part }

// Any tells whether anything is switched off.
func (a Ablation) Any() bool { return len(a.parts) > 0 }

// Means tells whether a part is to give its mean, for which the prompt runs twice.
func (a Ablation) Means() bool {
	return slices.ContainsFunc(a.parts, func(p Part) bool { return p.Mean })
}

// Parts returns the parts in the order in which they were named.
func (a Ablation) Parts() []Part { return slices.Clone(a.parts) }

// Names returns the parts' names, in the same order.
func (a Ablation) Names() []string {
	names := make([]string, len(a.parts))
	for i, p := range a.parts {
		names[i] = p.String()
	}
	return names
}

// AblateError is a list with names of no part.
type AblateError struct {
	Wrong         []string
	Layers, Heads int
}

func (e *AblateError) Error() string {
	return fmt.Sprintf("ablate: found %s: wanted a layer from L0 to L%d, alone or with .H0 to .H%d, .attn or .ffn, each part once, and =mean where it shall give its mean over the prompt and not zero; such as L0.H%d, L0.ffn, L%d, L0.attn=mean",
		strings.Join(e.Wrong, ", "), e.Layers-1, e.Heads-1, e.Heads-1, e.Layers-1)
}

// ParseAblate reads the names of parts, such as L10.H3, L4.ffn, L7, L2.attn=mean; one entry may hold several with commas
// between. Layers and heads count from 0. The error is an *AblateError with all names that are wrong, or there twice.
func ParseAblate(list []string, layers, heads int) (Ablation, error) {
	var a Ablation
	bad := &AblateError{Layers: layers, Heads: heads}
	seen := map[Part]bool{}
	for _, entry := range list {
		for _, name := range strings.Split(entry, ",") {
			p, ok := parsePart(strings.TrimSpace(name))
			ok = ok && p.Layer < layers && p.Head < heads
			for _, one := range p.split() {
				one.Mean = false
				ok = ok && !seen[one]
				seen[one] = true
			}
			if !ok {
				bad.Wrong = append(bad.Wrong, fmt.Sprintf("%.40q", name))
				continue
			}
			a.parts = append(a.parts, p)
		}
	}
	if len(bad.Wrong) > 0 {
		return Ablation{}, bad
	}
	return a, nil
}

// split gives the branches of a whole layer, and any other part as it is.
func (p Part) split() []Part {
	if p.Kind != Layer {
		return []Part{p}
	}
	return []Part{{Layer: p.Layer, Kind: Attn, Mean: p.Mean}, {Layer: p.Layer, Kind: FFN, Mean: p.Mean}}
}

// parsePart reads one name, without regard to how many layers and heads there are.
func parsePart(name string) (p Part, ok bool) {
	name, how, given := strings.Cut(name, "=")
	if given && how != "mean" && how != "zero" {
		return p, false
	}
	p.Mean = how == "mean"
	layer, part, inside := strings.Cut(name, ".")
	if p.Layer, ok = number(layer, "L"); !ok {
		return p, false
	}
	switch {
	case !inside:
		p.Kind = Layer
	case part == "attn":
		p.Kind = Attn
	case part == "ffn":
		p.Kind = FFN
	default:
		p.Kind = Head
		p.Head, ok = number(part, "H")
	}
	return p, ok
}

// number reads digits after a letter.
func number(s, letter string) (int, bool) {
	digits, ok := strings.CutPrefix(s, letter)
	if !ok || digits == "" || len(digits) > 6 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}
