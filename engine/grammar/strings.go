package grammar

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// year, leap years and months of the Gregorian calendar, so that a date is one.
const (
	datePattern = `([12]\d{3}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))` +
		`|([12]\d(0[48]|[2468][048]|[13579][26])|(1[26]|2[048])00)-02-29)`
	timePattern = `([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)`
	ipPart      = `(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`
	label       = `[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?`
)

// formats as patterns. What is written in one is valid by its RFC; not all that an RFC allows is written.
var formats = map[string]string{
	"date": datePattern, "time": timePattern, "date-time": datePattern + "T" + timePattern,
	"uuid": `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "ipv4": `(` + ipPart + `\.){3}` + ipPart,
	"email": `[A-Za-z0-9_+-]{1,20}(\.[A-Za-z0-9_+-]{1,20}){0,2}@` + label + `(\.` + label + `){1,4}`,
}

func (s *schema) stringOf(v *value, path string) (expr, error) {
	pattern, format := v.by["pattern"], v.by["format"]
	for _, own := range []struct {
		key string
		in  *value
	}{{"pattern", pattern}, {"format", format}} {
		if own.in == nil {
			continue
		}
		at := join(path, own.key)
		if own.in.kind != '"' {
			return nil, wrong(at, "wanted a string, found %s", own.in.compact())
		}
		for _, k := range []string{"minLength", "maxLength", "pattern", "format"} {
			if k != own.key && v.by[k] != nil {
				return nil, lacking(join(path, k), "%q beside %q is not supported", k, own.key)
			}
		}
		source := own.in.text
		if own.key == "format" {
			body, ok := formats[source]
			if !ok {
				return nil, lacking(at, "wanted date, time, date-time, uuid, ipv4 or email, found %q", source)
			}
			source = "^" + body + "$"
		}
		e, err := patternOf(source)
		if err != nil {
			return nil, lacking(at, "%v", err)
		}
		return s.own("a string with a "+own.key, seq(text(`"`), e, text(`"`))), nil
	}
	low, high, err := bounds(v, path, "minLength", "maxLength", maxLength)
	if err != nil {
		return nil, err
	}
	if low == 0 && high < 0 {
		return call(s.str), nil
	}
	return s.own("a string", seq(text(`"`), rep(anyChar(), low, high), text(`"`))), nil
}

// patternOf compiles a regular expression over the characters of a string, which are written as JSON writes them. It is not
// anchored unless it says so, as JSON Schema has it.
func patternOf(source string) (expr, error) {
	if strings.Contains(source, `\S`) || strings.Contains(source, `\b`) || strings.Contains(source, `\B`) {
		return nil, fmt.Errorf(`\S, \b and \B are not supported in a pattern, found %q`, source)
	}
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is not supported: %v", source, err)
	}
	branches := []*syntax.Regexp{re}
	if re.Op == syntax.OpAlternate {
		branches = re.Sub
	}
	var list []expr
	for _, one := range branches {
		e, err := anchored(one)
		if err != nil {
			return nil, fmt.Errorf("the pattern %q is not supported: %v", source, err)
		}
		list = append(list, e)
	}
	return alt(list...), nil
}

// anchored compiles a branch of a pattern; where it is not held at an end, any characters may be there.
func anchored(re *syntax.Regexp) (expr, error) {
	subs := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		subs = slices.Clone(re.Sub)
	}
	anything := rep(anyChar(), 0, -1)
	var list []expr
	if len(subs) > 0 && subs[0].Op == syntax.OpBeginText {
		subs = subs[1:]
	} else {
		list = append(list, anything)
	}
	tail := anything
	if n := len(subs); n > 0 && subs[n-1].Op == syntax.OpEndText {
		subs, tail = subs[:n-1], seq()
	}
	for _, sub := range subs {
		e, err := regular(sub)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return seq(append(list, tail)...), nil
}

func regular(re *syntax.Regexp) (expr, error) {
	if re.Flags&syntax.FoldCase != 0 && re.Op == syntax.OpLiteral {
		return nil, fmt.Errorf("(?i) is not one of JSON Schema's flags")
	}
	var subs []expr
	for _, sub := range re.Sub {
		e, err := regular(sub)
		if err != nil {
			return nil, err
		}
		subs = append(subs, e)
	}
	switch re.Op {
	case syntax.OpEmptyMatch:
		return seq(), nil
	case syntax.OpLiteral:
		var list []expr
		for _, r := range re.Rune {
			list = append(list, written([2]rune{r, r}))
		}
		return seq(list...), nil
	case syntax.OpCharClass:
		var ranges [][2]rune
		for i := 0; i+1 < len(re.Rune); i += 2 {
			ranges = append(ranges, [2]rune{re.Rune[i], re.Rune[i+1]})
		}
		return written(ranges...), nil
	case syntax.OpAnyChar:
		return written([2]rune{0, utf8.MaxRune}), nil
	case syntax.OpAnyCharNotNL: // JSON Schema's expressions are ECMAScript's, whose dot leaves out four line ends
		return written([2]rune{0, '\n' - 1}, [2]rune{'\n' + 1, '\r' - 1}, [2]rune{'\r' + 1, 0x2027}, [2]rune{0x202A, utf8.MaxRune}), nil
	case syntax.OpCapture, syntax.OpConcat:
		return seq(subs...), nil
	case syntax.OpAlternate:
		return alt(subs...), nil
	case syntax.OpStar:
		return rep(subs[0], 0, -1), nil
	case syntax.OpPlus:
		return rep(subs[0], 1, -1), nil
	case syntax.OpQuest:
		return opt(subs[0]), nil
	case syntax.OpRepeat:
		return rep(subs[0], re.Min, re.Max), nil
	}
	return nil, fmt.Errorf("%q: anchors may stand at the beginning and the end only", re)
}

// written is one character of the ranges as a JSON string has it: as it is, or escaped where it must be.
func written(ranges ...[2]rune) expr {
	var list []expr
	for _, r := range ranges {
		for _, plain := range plainRunes {
			if lo, hi := max(r[0], plain[0]), min(r[1], plain[1]); lo <= hi {
				list = append(list, runes([2]rune{lo, hi}))
			}
		}
		for c := range rune(0x20) {
			if r[0] <= c && c <= r[1] {
				list = append(list, text(strings.Trim(quote(string(c)), `"`)))
			}
		}
		if r[0] <= '"' && '"' <= r[1] {
			list = append(list, text(`\"`))
		}
		if r[0] <= '\\' && '\\' <= r[1] {
			list = append(list, text(`\\`))
		}
	}
	return alt(list...)
}

// keyExcept is a key that is none of the names: it follows them as a tree of characters and must leave it. Keys are written
// without escapes, so that no name can come in another spelling.
func keyExcept(names []string) expr {
	return func(b *builder, from, to int32) {
		free, at := b.add(), b.add()
		text(`"`)(b, from, at)
		rep(runes(plainRunes...), 0, -1)(b, free, free)
		text(`"`)(b, free, to)
		exceptFrom(b, names, at, free, to)
	}
}

// exceptFrom goes one character on; rests are what remains of the names that begin with what was read.
func exceptFrom(b *builder, rests []string, at, free, to int32) {
	if !slices.Contains(rests, "") {
		text(`"`)(b, at, to)
	}
	next := map[rune][]string{}
	var first []rune
	for _, rest := range rests {
		if rest == "" {
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		if next[r] == nil {
			first = append(first, r)
		}
		next[r] = append(next[r], rest[n:])
	}
	slices.Sort(first)
	for _, r := range first {
		if quote(string(r)) != `"`+string(r)+`"` {
			continue // it needs an escape: no key has it
		}
		on := b.add()
		runes([2]rune{r, r})(b, at, on)
		exceptFrom(b, next[r], on, free, to)
	}
	for _, plain := range plainRunes {
		lo := plain[0]
		for _, r := range first {
			if r >= lo && r <= plain[1] {
				if lo < r {
					runes([2]rune{lo, r - 1})(b, at, free)
				}
				lo = r + 1
			}
		}
		if lo <= plain[1] {
			runes([2]rune{lo, plain[1]})(b, at, free)
		}
	}
}
