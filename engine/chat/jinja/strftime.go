package jinja

import (
	"fmt"
	"strings"
	"time"
)

// strftime formats t like C's strftime in the C locale, with glibc's flags
// "-" (no padding), "_" (blanks), "0" (zeros), "^" (upper case). An unknown
// directive stays as it is.
func strftime(t time.Time, f Str) Str {
	var b strBuf
	for i := 0; i < len(f.s); i++ {
		if f.s[i] != '%' || i+1 >= len(f.s) {
			b.add(f.cut(i, i+1))
			continue
		}
		start := i
		i++
		flag := byte(0)
		if strings.IndexByte("-_0^#", f.s[i]) >= 0 && i+1 < len(f.s) {
			flag = f.s[i]
			i++
		}
		text, ok := directive(t, f.s[i], flag)
		if !ok {
			b.add(f.cut(start, i+1))
			continue
		}
		if flag == '^' || flag == '#' {
			text = strings.ToUpper(text)
		}
		b.put(text, f.isUser(start))
	}
	return b.str()
}

func directive(t time.Time, c, flag byte) (string, bool) {
	if text, ok := dateNumber(t, c, flag); ok {
		return text, true
	}
	layouts := map[byte]string{
		'A': "Monday", 'a': "Mon", 'B': "January", 'b': "Jan", 'h': "Jan", 'p': "PM", 'P': "pm",
		'Z': "MST", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05", 'X': "15:04:05", 'R': "15:04",
		'D': "01/02/06", 'x': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006", 'r': "03:04:05 PM",
	}
	if l, ok := layouts[c]; ok {
		return t.Format(l), true
	}
	switch c {
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	}
	return "", false
}

// dateNumber handles the numeric directives, which take padding flags.
func dateNumber(t time.Time, c, flag byte) (string, bool) {
	hour12 := (t.Hour()+11)%12 + 1
	isoYear, isoWeek := t.ISOWeek()
	wday, yday := int(t.Weekday()), t.YearDay()-1
	type num struct {
		v, width int
		pad      byte
	}
	n, ok := map[byte]num{
		'Y': {t.Year(), 1, '0'}, 'C': {t.Year() / 100, 2, '0'}, 'y': {t.Year() % 100, 2, '0'},
		'm': {int(t.Month()), 2, '0'}, 'd': {t.Day(), 2, '0'}, 'e': {t.Day(), 2, ' '},
		'H': {t.Hour(), 2, '0'}, 'k': {t.Hour(), 2, ' '}, 'I': {hour12, 2, '0'}, 'l': {hour12, 2, ' '},
		'M': {t.Minute(), 2, '0'}, 'S': {t.Second(), 2, '0'}, 'f': {t.Nanosecond() / 1000, 6, '0'},
		'j': {yday + 1, 3, '0'}, 'w': {wday, 1, '0'}, 'u': {(wday+6)%7 + 1, 1, '0'},
		'G': {isoYear, 1, '0'}, 'g': {isoYear % 100, 2, '0'}, 'V': {isoWeek, 2, '0'},
		'U': {(yday + 7 - wday) / 7, 2, '0'}, 'W': {(yday + 7 - (wday+6)%7) / 7, 2, '0'},
		's': {int(t.Unix()), 1, '0'},
	}[c]
	if !ok {
		return "", false
	}
	pad := n.pad
	switch flag {
	case '-':
		return fmt.Sprint(n.v), true
	case '_':
		pad = ' '
	case '0':
		pad = '0'
	}
	if pad == ' ' {
		return fmt.Sprintf("%*d", n.width, n.v), true
	}
	return fmt.Sprintf("%0*d", n.width, n.v), true
}
