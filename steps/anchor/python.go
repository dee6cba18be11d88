package anchor

import (
	"regexp"
	"strings"
)

var pythonDef = regexp.MustCompile(`^(?:async\s+)?(def|class)\s+([A-Za-z_]\w*)`)

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
	for _, l := range PythonLines(text) {
		if strings.HasPrefix(l.Code, "@") {
			if decorated == 0 {
				decorated = l.Number
			}
			continue
		}
		for len(stack) > 0 && stack[len(stack)-1].indent >= l.Indent {
			stack = stack[:len(stack)-1]
		}
		if m := pythonDef.FindStringSubmatch(l.Code); m != nil {
			symbol := m[2]
			if n := len(stack); n > 0 {
				between := "."
				if !stack[n-1].class {
					between = ".<locals>."
				}
				symbol = stack[n-1].symbol + between + symbol
			}
			stack = append(stack, open{l.Indent, symbol, m[1] == "class"})
			d := Def{symbol, l.Number}
			if decorated > 0 {
				d.Line = decorated
			}
			out = append(out, d)
		}
		decorated = 0
	}
	return out
}
