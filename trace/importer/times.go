package importer

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Times that are accepted, in nanoseconds: the difference of two never exceeds what a recording may hold.
const (
	earliest = -(int64(1) << 57)
	latest   = int64(1)<<61 - int64(1)<<57
)

var (
	errNoTime  = errors.New("wanted a number of microseconds")
	errNoRange = errors.New("wanted a time within some 60 years")
)

// microseconds reads a number of microseconds, as a JSON number or in a string, as nanoseconds: digit by digit, since a
// float64 has lost up to 250 ns of a time since 1970. What is finer than a nanosecond is rounded.
func microseconds(raw json.RawMessage) (int64, error) {
	s := strings.TrimSpace(string(raw))
	if len(s) > 1 && s[0] == '"' {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	if s == "" || len(s) > 64 {
		return 0, errNoTime
	}
	if strings.ContainsAny(s, "eExXpP_") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, errNoTime
		}
		if f = math.Round(f * 1000); !(f >= float64(earliest) && f <= float64(latest)) {
			return 0, errNoRange
		}
		return int64(f), nil
	}
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole == "" && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, errNoTime
	}
	if len(strings.TrimLeft(whole, "0")) > 16 {
		return 0, errNoRange
	}
	up := len(fraction) > 3 && fraction[3] >= '5'
	n, err := strconv.ParseInt("0"+whole+(fraction + "000")[:3], 10, 64)
	if err != nil {
		return 0, errNoRange
	}
	if up {
		n++
	}
	if negative {
		n = -n
	}
	if n < earliest || n > latest {
		return 0, errNoRange
	}
	return n, nil
}
