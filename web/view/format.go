package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"glassbox/trace/file"
)

// Sig3 writes v with three significant digits and no exponent, as the tracer does.
func Sig3(v float64) string {
	a := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case a >= 1000:
		return Count(int64(math.Round(v)))
	}
	digits := max(0, 2-int(math.Floor(math.Log10(a))))
	s := strconv.FormatFloat(a, 'f', digits, 64)
	if r, _ := strconv.ParseFloat(s, 64); digits > 0 && r >= math.Pow10(3-digits) {
		digits-- // 9.996 is 10.0
	}
	return strconv.FormatFloat(v, 'f', min(digits, 8), 64)
}

// Count writes a whole number with commas between thousands.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Plural is a count with its word: "1 step", "62 steps".
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(int64(n)) + " " + one + "s"
}

// duration splits a time in ns into three significant digits and their unit.
func duration(ns int64) (value, unit string) {
	a := math.Abs(float64(ns))
	switch {
	case a < 1000:
		return strconv.FormatInt(ns, 10), "ns"
	case a < 999_500:
		return Sig3(float64(ns) / 1e3), "µs"
	case a < 999_500_000:
		return Sig3(float64(ns) / 1e6), "ms"
	}
	return Sig3(float64(ns) / 1e9), "s"
}

// Duration is a time in ns.
func Duration(ns int64, prov, how string) Number {
	v, u := duration(ns)
	return Number{v, u, Count(ns) + " ns", prov, how}
}

// clocked is a time of a recording, or what follows from one. Each of them passes here: what an emulated device takes measures
// nothing.
func clocked(rec *file.Recording, n Number) Number {
	if !rec.Clocked() {
		return NotMeasured
	}
	return n
}

// durationOr is a time in ns that is not measured when it is zero.
func durationOr(ns int64, prov, how string) Number {
	if ns <= 0 {
		return NotMeasured
	}
	return Duration(ns, prov, how)
}

// rateOr is a rate that is not measured when it is zero.
func rateOr(v float64, unit, how string) Number {
	if v <= 0 {
		return NotMeasured
	}
	return Number{Sig3(v), unit, strconv.FormatFloat(v, 'f', -1, 64) + " " + unit, "derived", how}
}

// Bytes is a size in decimal units.
func Bytes(n int64, prov, how string) Number {
	out := Number{strconv.FormatInt(n, 10), "B", Count(n) + " bytes", prov, how}
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if float64(n) >= u.size*0.9995 {
			out.Value, out.Unit = Sig3(float64(n)/u.size), u.name
			break
		}
	}
	return out
}

// Share is a part of a whole in per cent.
func Share(part, whole int64) Number {
	if whole <= 0 {
		return NotMeasured
	}
	p := 100 * float64(part) / float64(whole)
	n := Number{Unit: "%", Exact: fmt.Sprintf("%s of %s ns", Count(part), Count(whole)), Prov: "derived", How: "the step's time over that of the request"}
	switch {
	case p == 0:
		n.Value = "0"
	case p < 0.1:
		n.Value = "<0.1"
	case p >= 10:
		n.Value = strconv.FormatFloat(p, 'f', 0, 64)
	default:
		n.Value = strconv.FormatFloat(p, 'f', 1, 64)
	}
	return n
}

// When writes a wall-clock time of a recording, "29 Nov 2026, 19:45 UTC".
func When(started string) string {
	t, err := time.Parse(time.RFC3339, started)
	if err != nil {
		return started
	}
	return t.UTC().Format("2 Jan 2006, 15:04 UTC")
}

// Signs shows white space as signs, so that no token is blank: a mid-dot for a leading or trailing space, signs for line
// ends and tabs, and <0A> for other control characters.
func Signs(s string) string {
	if s == "" {
		return "∅"
	}
	inner := strings.TrimLeft(s, " ")
	lead := len(s) - len(inner)
	trail := len(inner) - len(strings.TrimRight(inner, " "))
	var b strings.Builder
	b.WriteString(strings.Repeat("·", lead))
	for _, c := range inner[:len(inner)-trail] {
		switch {
		case c == '\n':
			b.WriteRune('↵')
		case c == '\r':
			b.WriteRune('␍')
		case c == '\t':
			b.WriteRune('⇥')
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, "<%02X>", c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteString(strings.Repeat("·", trail))
	return b.String()
}

// Piece is a token as a page shows it; one that is not whole UTF-8 as its bytes, <E4>.
func Piece(t file.Token) string {
	if len(t.Bytes) == 0 {
		return Signs(t.Text)
	}
	var b strings.Builder
	for _, c := range t.Bytes {
		fmt.Fprintf(&b, "<%02X>", c)
	}
	return b.String()
}

// Cut shortens s to n characters with an ellipsis at the end, and takes line ends out.
func Cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimRight(string(r[:n-1]), " ") + "…"
}
