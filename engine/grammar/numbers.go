package grammar

import (
	"math"
	"strconv"
	"strings"
)

// limits of a number: without one, low or high is missing.
type limits struct {
	low, high         int64
	hasLow, hasHigh   bool
	openLow, openHigh bool // the limit itself is out
}

// digitsMost is how many digits are written before the point.
const digitsMost = 16

func (s *schema) numberOf(integer bool, v *value, path string) (expr, error) {
	var l limits
	for _, k := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"} {
		in := v.by[k]
		if in == nil {
			continue
		}
		n, ok := in.integer()
		if !ok || n > 1e15 || n < -1e15 {
			return nil, lacking(join(path, k), "wanted a whole number up to 1e15, found %s: other bounds are not supported", in.compact())
		}
		open := strings.HasPrefix(k, "exclusive")
		if strings.HasSuffix(strings.ToLower(k), "minimum") {
			if !l.hasLow || n > l.low || n == l.low && open {
				l.low, l.hasLow, l.openLow = n, true, open
			}
		} else if !l.hasHigh || n < l.high || n == l.high && open {
			l.high, l.hasHigh, l.openHigh = n, true, open
		}
	}
	var list []expr
	switch {
	case !l.hasLow && !l.hasHigh && integer:
		return call(s.integer), nil
	case !l.hasLow && !l.hasHigh:
		return call(s.number), nil
	case integer:
		list = l.integers()
	default:
		list = l.decimals()
	}
	if len(list) == 0 {
		return nil, wrong(path, "no number lies within the bounds")
	}
	return s.own("a number in bounds", alt(list...)), nil
}

// integers are the whole numbers in the limits, as -n and n.
func (l limits) integers() (list []expr) {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if l.hasLow {
		if low = l.low; l.openLow {
			low++
		}
	}
	if l.hasHigh {
		if high = l.high; l.openHigh {
			high--
		}
	}
	if low < 0 {
		from, to := max(1, -min(high, 0)), int64(math.MaxInt64)
		if l.hasLow {
			to = -low
		}
		if e := between(from, to); e != nil {
			list = append(list, seq(text("-"), e))
		}
	}
	if e := between(max(0, low), high); high >= 0 && e != nil {
		list = append(list, e)
	}
	return list
}

// decimals are the numbers in the limits, with a point and up to 16 digits after it, without exponent.
func (l limits) decimals() (list []expr) {
	from, to := max(0, l.low), l.high
	if !l.hasLow {
		from = 0
	}
	if !l.hasHigh {
		to = math.MaxInt64
	}
	list = append(list, magnitudes(from, to, l.hasLow && l.low >= 0 && l.openLow, l.hasHigh && l.openHigh)...)
	if l.hasLow && l.low >= 0 {
		return list
	}
	from, to = 0, math.MaxInt64
	if l.hasHigh && l.high <= 0 {
		from = -l.high
	}
	if l.hasLow {
		to = -l.low
	}
	for _, e := range magnitudes(from, to, l.hasHigh && l.high <= 0 && l.openHigh, l.hasLow && l.openLow) {
		list = append(list, seq(text("-"), e))
	}
	return list
}

// magnitudes are the decimals from one whole number to another, the ends out where they are open.
func magnitudes(from, to int64, openFrom, openTo bool) (list []expr) {
	if from > to || from == to && (openFrom || openTo) {
		return nil
	}
	digits := bytesOf("09")
	fraction := opt(seq(text("."), rep(digits, 1, 16)))
	first := from
	if openFrom {
		some := seq(text("."), rep(digits, 0, 7), bytesOf("19"), rep(digits, 0, 7)) // not zero
		list = append(list, seq(text(strconv.FormatInt(from, 10)), some))
		first++
	}
	last := to
	if to != math.MaxInt64 {
		if last--; !openTo {
			list = append(list, seq(text(strconv.FormatInt(to, 10)), opt(seq(text("."), rep(text("0"), 1, 3)))))
		}
	}
	if e := between(first, last); e != nil {
		list = append(list, seq(e, fraction))
	}
	return list
}

// between is the numbers from low to high, both from 0 on, in decimal; MaxInt64 stands for no limit but that of digits.
// Nil is an empty range.
func between(low, high int64) expr {
	if low > high {
		return nil
	}
	var list []expr
	for n := 1; n <= digitsMost; n++ {
		first, last := int64(math.Pow10(n-1)), int64(math.Pow10(n))-1
		if n == 1 {
			first = 0
		}
		if first, last = max(first, low), min(last, high); first <= last {
			list = append(list, sameLength(strconv.FormatInt(first, 10), strconv.FormatInt(last, 10)))
		}
	}
	if list == nil {
		return nil
	}
	return alt(list...)
}

// sameLength is the numbers between two of as many digits.
func sameLength(low, high string) expr {
	if low == "" {
		return seq()
	}
	n := len(low) - 1
	if low[0] == high[0] {
		return seq(text(low[:1]), sameLength(low[1:], high[1:]))
	}
	if strings.Trim(low, "0") == "" && strings.Trim(high, "9") == "" {
		return rep(bytesOf("09"), n+1, n+1)
	}
	list := []expr{
		seq(text(low[:1]), sameLength(low[1:], strings.Repeat("9", n))),
		seq(text(high[:1]), sameLength(strings.Repeat("0", n), high[1:])),
	}
	if low[0]+1 < high[0] {
		list = append(list, seq(bytesOf(string([]byte{low[0] + 1, high[0] - 1})), rep(bytesOf("09"), n, n)))
	}
	return alt(list...)
}
