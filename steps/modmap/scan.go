package modmap

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"glassbox/steps/anchor"
)

// Kind says when an import statement runs. The numbers are those of the file.
type Kind int

// The kinds, from the surest to the least: an import that two statements of a file make has the first of them.
const (
	Top         Kind = iota // when the module is loaded
	Conditional             // when the module is loaded, inside an if, try, with or loop
	Lazy                    // when a function is called
	Typing                  // never: for type checkers
)

var kindNames = [...]string{"top", "conditional", "lazy", "typing"}

func (k Kind) String() string { return kindNames[k] }

// Statement is one import statement as it stands in the file.
type Statement struct {
	Line   int
	From   bool     // from Module import Names; else import Names
	Level  int      // leading dots
	Module string   // behind from; "" for dots alone
	Names  []string // dotted behind import; "*" is one
	Kind   Kind
}

// block is an open block: its header's indentation and what it makes of imports inside.
type block struct {
	indent               int
	lazy, typing, branch bool
}

// header is the first word of a compound statement, and what an inner import becomes.
var header = regexp.MustCompile(`^(async\s+def|async\s+for|async\s+with|def|class|if|elif|else|try|except|finally|for|while|with|match|case)\b`)

// Statements finds all import statements of a Python file, in order. Nothing is run.
func Statements(text string) []Statement {
	var out []Statement
	var stack []block
	chain := map[int]bool{} // indentation of an if: whether its later branches are for type checkers only
	for _, l := range anchor.PythonLines(text) {
		for len(stack) > 0 && stack[len(stack)-1].indent >= l.Indent {
			stack = stack[:len(stack)-1]
		}
		inside, from := stack, 0
		if word := header.FindString(l.Code); word != "" {
			if colon := headerColon(l.Code); colon >= 0 {
				inside, from = append(stack[:len(stack):len(stack)], opened(l, word, l.Code[len(word):colon], chain)), colon+1
				if strings.TrimSpace(l.Code[from:]) == "" {
					stack = inside
					continue
				}
			}
		}
		kind := kindOf(inside)
		for _, part := range split(l.Code, from) {
			if st, ok := parse(l.Code[part[0]:part[1]]); ok {
				st.Line, st.Kind = l.Number+strings.Count(l.Code[:part[0]], "\n"), kind
				out = append(out, st)
			}
		}
	}
	return out
}

// opened is the block of a header. The branches of an if are told apart by its test.
func opened(l anchor.PythonLine, word, test string, chain map[int]bool) block {
	b := block{indent: l.Indent}
	switch {
	case strings.HasSuffix(word, "def"):
		b.lazy = true
	case word == "class":
	case word == "if":
		b.branch, b.typing = true, typingOnly(test)
		chain[l.Indent] = runtimeOnly(test)
	case word == "elif":
		b.branch, b.typing = true, chain[l.Indent] || typingOnly(test)
		chain[l.Indent] = chain[l.Indent] || runtimeOnly(test)
	case word == "else":
		b.branch, b.typing = true, chain[l.Indent]
	default:
		b.branch, chain[l.Indent] = true, false // an else of a loop or a try
	}
	return b
}

func kindOf(stack []block) Kind {
	k := Top
	for _, b := range stack {
		switch {
		case b.typing:
			return Typing
		case b.lazy:
			k = Lazy
		case b.branch && k == Top:
			k = Conditional
		}
	}
	return k
}

var typeChecking = regexp.MustCompile(`^(?:[\w.]+\s*\.\s*)?TYPE_CHECKING$`)

// typingOnly tells whether a test holds for type checkers alone.
func typingOnly(test string) bool {
	test = unwrap(test)
	if typeChecking.MatchString(test) {
		return true
	}
	return len(words(test, "or")) == 1 && anyOf(words(test, "and"), typingOnly)
}

// runtimeOnly tells whether a test fails for type checkers alone: what is in its else is theirs.
func runtimeOnly(test string) bool {
	test = unwrap(test)
	if parts := words(test, "or"); len(parts) > 1 {
		return anyOf(parts, runtimeOnly)
	}
	rest, ok := strings.CutPrefix(test, "not")
	return ok && len(words(test, "and")) == 1 && typingOnly(rest) && (rest[0] == ' ' || rest[0] == '(')
}

func anyOf(parts []string, is func(string) bool) bool {
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		if is(p) {
			return true
		}
	}
	return false
}

// unwrap takes off white space and brackets around a whole expression.
func unwrap(s string) string {
	for {
		s = strings.TrimSpace(s)
		if !strings.HasPrefix(s, "(") || closing(s) != len(s)-1 {
			return s
		}
		s = s[1 : len(s)-1]
	}
}

// closing is the place of the bracket that closes the one at the start.
func closing(s string) int {
	depth := 0
	for i, c := range s {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// walk calls f with each place outside brackets; word is the name that begins there, or "".
func walk(s string, from int, f func(i int, c byte, word string)) {
	depth := 0
	for i := from; i < len(s); {
		switch c := s[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth = max(0, depth-1)
		case depth == 0:
			w := name(s[i:])
			f(i, c, w)
			if w != "" {
				i += len(w)
				continue
			}
		}
		i++
	}
}

// words cuts an expression at a word that stands outside brackets.
func words(s, word string) []string {
	var out []string
	last := 0
	walk(s, 0, func(i int, _ byte, w string) {
		if w == word {
			out = append(out, s[last:i])
			last = i + len(w)
		}
	})
	return append(out, s[last:])
}

// headerColon is the place of the colon that ends a header; one of a lambda does not.
func headerColon(s string) int {
	at, lambdas := -1, 0
	walk(s, 0, func(i int, c byte, w string) {
		switch {
		case at >= 0:
		case w == "lambda":
			lambdas++
		case c == ':' && lambdas > 0:
			lambdas--
		case c == ':' && !strings.HasPrefix(s[i:], ":="):
			at = i
		}
	})
	return at
}

// split gives the statements of a line from a place on, as pairs of where they begin and end, without white space before.
func split(s string, from int) [][2]int {
	var out [][2]int
	add := func(a, b int) {
		for a < b && (s[a] == ' ' || s[a] == '\t' || s[a] == '\n' || s[a] == '\f') {
			a++
		}
		if a < b {
			out = append(out, [2]int{a, b})
		}
	}
	walk(s, from, func(i int, c byte, _ string) {
		if c == ';' {
			add(from, i)
			from = i + 1
		}
	})
	add(from, len(s))
	return out
}

// name is the identifier at the start of s, or "".
func name(s string) string {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if r != '_' && !unicode.IsLetter(r) && (n == 0 || !unicode.IsDigit(r) && !unicode.IsMark(r)) {
			break
		}
		n += size
	}
	return s[:n]
}

// reader takes an import statement apart.
type reader struct{ s string }

func (r *reader) space() { r.s = strings.TrimLeft(r.s, " \t\n\f") }

func (r *reader) take(token string) bool {
	r.space()
	rest, ok := strings.CutPrefix(r.s, token)
	if ok {
		r.s = rest
	}
	return ok
}

func (r *reader) name() string {
	r.space()
	n := name(r.s)
	r.s = r.s[len(n):]
	return n
}

func (r *reader) word(w string) bool {
	r.space()
	if name(r.s) != w {
		return false
	}
	r.s = r.s[len(w):]
	return true
}

// dotted reads a.b.c, with white space where Python allows it.
func (r *reader) dotted() string {
	out := r.name()
	for out != "" && r.take(".") {
		out += "." + r.name()
	}
	return out
}

// list reads names, each perhaps with another name behind "as", up to the end or a bracket.
func (r *reader) list(one func() string) (out []string) {
	for {
		n := one()
		if n == "" {
			return out
		}
		out = append(out, n)
		if r.word("as") {
			r.name()
		}
		if !r.take(",") {
			return out
		}
	}
}

// parse reads one statement; false when it imports nothing.
func parse(s string) (Statement, bool) {
	r := reader{s}
	if r.word("import") {
		st := Statement{Names: r.list(r.dotted)}
		return st, len(st.Names) > 0
	}
	if !r.word("from") {
		return Statement{}, false
	}
	st := Statement{From: true}
	for r.take(".") {
		st.Level++
	}
	if r.space(); name(r.s) != "import" {
		st.Module = r.dotted()
	}
	if !r.word("import") || st.Module == "" && st.Level == 0 {
		return Statement{}, false
	}
	if r.take("*") {
		st.Names = []string{"*"}
		return st, true
	}
	r.take("(")
	st.Names = r.list(r.name)
	return st, len(st.Names) > 0
}
