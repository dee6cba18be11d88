package anchor

import (
	"regexp"
	"strings"
)

var pythonDef = regexp.MustCompile(`^(\s*)(?:async\s+)?(def|class)\s+([A-Za-z_]\w*)`)

// pythonDefs finds functions and classes by their indentation; a function inside a function is named as Python names it,
// outer.<locals>.inner.
func pythonDefs(text string) []Def {
	type open struct {
		indent int
		symbol string
		class  bool
	}
	var out []Def
	var stack []open
	decorated := 0 // line of the first decorator above, 0 for none
	depth := 0     // of brackets that are open
	for i, line := range codeOnly(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		inside := depth > 0
		for _, c := range line {
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(0, depth-1)
			}
		}
		if inside {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if strings.HasPrefix(trimmed, "@") {
			if decorated == 0 {
				decorated = i + 1
			}
			continue
		}
		m := pythonDef.FindStringSubmatch(line)
		if m != nil {
			for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
				stack = stack[:len(stack)-1]
			}
			symbol := m[3]
			if n := len(stack); n > 0 {
				between := "."
				if !stack[n-1].class {
					between = ".<locals>."
				}
				symbol = stack[n-1].symbol + between + symbol
			}
			stack = append(stack, open{indent, symbol, m[2] == "class"})
			d := Def{symbol, i + 1}
			if decorated > 0 {
				d.Line = decorated
			}
			out = append(out, d)
		} else {
			for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
				stack = stack[:len(stack)-1]
			}
		}
		decorated = 0
	}
	return out
}

// codeOnly returns the lines of a Python file with strings and comments blanked out.
func codeOnly(text string) []string {
	b := []byte(text)
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '#':
			for ; i < len(b) && b[i] != '\n'; i++ {
				b[i] = ' '
			}
		case '"', '\'':
			i = blankString(b, i, c)
		}
	}
	return strings.Split(string(b), "\n")
}

// blankString blanks the string that begins at i, quotes too, and returns the place of its last byte.
func blankString(b []byte, i int, quote byte) int {
	triple := i+2 < len(b) && b[i+1] == quote && b[i+2] == quote
	n := 1
	if triple {
		n = 3
	}
	for j := i; j < i+n; j++ {
		b[j] = '_'
	}
	for j := i + n; j < len(b); j++ { // spaces, so that lines inside a string have no indentation
		switch {
		case b[j] == '\\' && j+1 < len(b):
			b[j] = ' '
			if j++; b[j] != '\n' {
				b[j] = ' '
			}
		case b[j] == quote && (!triple || j+2 < len(b) && b[j+1] == quote && b[j+2] == quote):
			for k := j; k < j+n; k++ {
				b[k] = ' '
			}
			return j + n - 1
		case b[j] == '\n' && !triple:
			return j // the string does not end: take up again on the next line
		case b[j] != '\n':
			b[j] = ' '
		}
	}
	return len(b)
}
