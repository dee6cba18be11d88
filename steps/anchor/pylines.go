package anchor

import "strings"

// PythonLine is one logical line of Python: what Python takes for one line, however many lines of the file it lies on.
type PythonLine struct {
	Number int // of its first line in the file, from 1
	Indent int // columns of white space before it; a tab goes to the next multiple of 8
	// Code is the text behind the white space. Comments and the insides of strings are gone; line ends inside brackets, in
	// strings and behind a backslash are kept, so that places in it can be told as lines of the file.
	Code string
}

// PythonLines cuts a file's text into logical lines, without blank ones. It follows the language's lexical rules (The Python
// Language Reference, section 2), with the strings of version 3.12, in which a replacement field may hold any quote. What
// is no Python at all gives some lines, and never an endless loop.
func PythonLines(text string) []PythonLine {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	s := pySource{text: text, line: 1}
	var out []PythonLine
	for s.at < len(text) {
		indent := s.indent()
		if s.at < len(text) && (text[s.at] == '\n' || text[s.at] == '#') {
			s.restOfLine()
			continue
		}
		first := s.line
		if code := s.logical(); strings.TrimSpace(code) != "" {
			out = append(out, PythonLine{first, indent, code})
		}
	}
	return out
}

// pySource reads through a text. line is the number of the line that at is on.
type pySource struct {
	text     string
	at, line int
}

func (s *pySource) indent() int {
	n := 0
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		case '\f':
			n = 0
		default:
			return n
		}
	}
	return n
}

// restOfLine goes behind the next line end.
func (s *pySource) restOfLine() {
	if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
		s.at += i + 1
		s.line++
		return
	}
	s.at = len(s.text)
}

// logical reads to the end of a logical line and returns its code.
func (s *pySource) logical() string {
	var b strings.Builder
	from, depth := s.at, 0
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case '#':
			for s.at < len(s.text) && s.text[s.at] != '\n' {
				s.at++
			}
			continue
		case '"', '\'':
			end := pyString(s.text, s.at, isFormatted(s.text[from:s.at]))
			n := strings.Count(s.text[s.at:end], "\n")
			b.WriteString(`""` + strings.Repeat("\n", n))
			s.line += n
			s.at = end
			continue
		case '(', '[', '{':
			depth++
			b.WriteByte(c)
		case ')', ']', '}':
			depth = max(0, depth-1)
			b.WriteByte(c)
		case '\\':
			if s.at+1 < len(s.text) && s.text[s.at+1] == '\n' {
				b.WriteString(" \n")
				s.line++
				s.at++
			}
		case '\n':
			s.at++
			s.line++
			if depth == 0 {
				return b.String()
			}
			b.WriteByte('\n')
			continue
		default:
			b.WriteByte(c)
		}
		s.at++
	}
	return b.String()
}

// isFormatted tells whether the letters right before a quote make it a string with replacement fields: f"", rf"", t"".
func isFormatted(before string) bool {
	i := len(before)
	for i > 0 && isNameByte(before[i-1]) {
		i--
	}
	switch strings.ToLower(before[i:]) {
	case "f", "fr", "rf", "t", "tr", "rt":
		return true
	}
	return false
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// pyString returns the place behind the string that begins at i. One that does not end, ends with its line.
func pyString(s string, i int, formatted bool) int {
	quote := s[i : i+1]
	if strings.HasPrefix(s[i:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	for j := i + len(quote); j < len(s); {
		switch {
		case s[j] == '\\' && !(formatted && strings.HasPrefix(s[j+1:], "{")):
			j += 2
		case strings.HasPrefix(s[j:], quote):
			return j + len(quote)
		case s[j] == '\n' && len(quote) == 1:
			return j
		case formatted && s[j] == '{' && strings.HasPrefix(s[j:], "{{"):
			j += 2
		case formatted && s[j] == '{':
			j = pyField(s, j+1, quote)
		default:
			j++
		}
	}
	return len(s)
}

// pyField returns the place behind the replacement field whose expression begins at i, in a string ended by quote.
func pyField(s string, i int, quote string) int {
	depth := 0
	for j := i; j < len(s); {
		switch c := s[j]; {
		case c == '"' || c == '\'':
			j = pyString(s, j, isFormatted(s[i:j]))
			continue
		case c == '#': // in a string of several lines only
			for j < len(s) && s[j] != '\n' {
				j++
			}
			continue
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == '}' && depth == 0:
			return j + 1
		case c == ')' || c == ']' || c == '}':
			depth = max(0, depth-1)
		case c == ':' && depth == 0:
			return pyFormat(s, j+1, quote)
		}
		j++
	}
	return len(s)
}

// pyFormat returns the place behind the field whose format begins at i; a format is text, with fields of its own.
func pyFormat(s string, i int, quote string) int {
	for j := i; j < len(s); {
		switch {
		case s[j] == '{':
			j = pyField(s, j+1, quote)
		case s[j] == '}':
			return j + 1
		case strings.HasPrefix(s[j:], quote), s[j] == '\n' && len(quote) == 1:
			return j // the string ends here: it was no field
		default:
			j++
		}
	}
	return len(s)
}
