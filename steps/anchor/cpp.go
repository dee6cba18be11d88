package anchor

import (
	"regexp"
	"strings"
)

var (
	cppNamespace = regexp.MustCompile(`\bnamespace\s+((?:[A-Za-z_]\w*(?:::)?)+)\s*$`)
	cppType      = regexp.MustCompile(`\b(?:class|struct|union)\s+(?:\w+\([^)]*\)\s+|\w+_API\s+)?([A-Za-z_]\w*)(?:\s+final)?(?:\s*:[^:(].*)?\s*$`)
	cppAnonymous = regexp.MustCompile(`\b(?:namespace|struct|union|class)\s*$|\bextern\s+__*\s*$`)
	cppName      = regexp.MustCompile(`((?:[A-Za-z_]\w*\s*(?:<[^<>()]*>)?\s*::\s*)*(?:operator\s*[^\s\w(]+|~?[A-Za-z_]\w*))\s*\($`)
	cppTemplate  = regexp.MustCompile(`<[^<>]*>`)
	cppAccess    = regexp.MustCompile(`^(?:\s*(?:public|private|protected)\s*:)+\s*`)
	cppGeneric   = regexp.MustCompile(`^\s*template\s*<[^{}]*?>\s*(?:requires\s[^{}]*?\s)?(?:(?:static|inline|constexpr|explicit|typename|const)\s+)*`)
)

// Words before a bracket that are no function.
var notFunctions = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "return": true, "catch": true, "sizeof": true, "alignas": true, "decltype": true, "__attribute__": true, "defined": true, "noexcept": true}

// cppDefs finds the functions that have a body, with the names of the namespaces and classes around them. Anonymous
// namespaces are left out of the name.
func cppDefs(text string) []Def {
	b := cppBlank(text)
	var out []Def
	var scopes []string // of open namespaces and types; "" for those without a name
	begin, line := 0, 1 // of the text since the last statement
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\n':
			line++
		case ';':
			begin = i + 1
		case '}':
			if len(scopes) > 0 {
				scopes = scopes[:len(scopes)-1]
			}
			begin = i + 1
		case '{':
			head := strings.TrimLeft(cppAccess.ReplaceAllString(string(b[begin:i]), ""), " \t\r\n")
			if name, ok := cppScope(strings.TrimSpace(head)); ok {
				scopes = append(scopes, name)
				begin = i + 1
				continue
			}
			end := cppClose(b, i)
			if bracesOfMember(strings.TrimSpace(head)) { // x{1} in a constructor's list: the body is still to come
				line += strings.Count(string(b[i:end]), "\n")
				i = end
				continue
			}
			if name := cppFunction(head); name != "" {
				out = append(out, Def{qualify(scopes, name), line - strings.Count(head, "\n")})
			}
			line += strings.Count(string(b[i:min(end+1, len(b))]), "\n")
			i, begin = end, end+1
		}
	}
	return out
}

// cppScope tells whether what stands before a brace opens a namespace or type, and its name.
func cppScope(head string) (string, bool) {
	if m := cppNamespace.FindStringSubmatch(head); m != nil {
		return m[1], true
	}
	if cppAnonymous.MatchString(head) {
		return "", true
	}
	if m := cppType.FindStringSubmatch(head); m != nil && !strings.HasSuffix(head, ")") {
		return m[1], true
	}
	return "", false
}

// bracesOfMember tells whether a brace belongs to a member in a constructor's list.
func bracesOfMember(head string) bool {
	i := strings.LastIndexByte(head, ')')
	if i < 0 || strings.HasSuffix(head, ")") {
		return false
	}
	rest := strings.TrimSpace(head[i+1:])
	return strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, ",")
}

// cppFunction is the name of the function whose head this is, "" if it is none: initialisers, enums, lambdas.
func cppFunction(head string) string {
	head = cppGeneric.ReplaceAllString(head, "")
	depth := 0
	for i, c := range head {
		switch c {
		case '(':
			if depth == 0 {
				if m := cppName.FindStringSubmatch(head[:i+1]); m != nil {
					name := strings.ReplaceAll(cppTemplate.ReplaceAllString(m[1], ""), " ", "")
					if !notFunctions[name] && !strings.Contains(strings.TrimSuffix(strings.TrimRight(head[:i], " "), m[1]), "=") && name != strings.ToUpper(name) {
						return name
					}
				}
			}
			depth++
		case ')':
			depth--
		}
	}
	return ""
}

func qualify(scopes []string, name string) string {
	var parts []string
	for _, s := range scopes {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(append(parts, name), "::")
}

// cppClose returns the place of the brace that closes the one at i.
func cppClose(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(b) - 1
}

// cppBlank blanks comments, strings, characters and preprocessor lines. Of #if and #else only the first branch is kept,
// so that braces stay in balance.
func cppBlank(text string) []byte {
	b := []byte(text)
	blank := func(from, to int) {
		for k := from; k < min(to, len(b)); k++ {
			if b[k] != '\n' {
				b[k] = ' '
			}
		}
	}
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '/':
			end := i + indexOr(text[i:], "\n")
			blank(i, end)
			i = end - 1
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '*':
			end := i + 2 + indexOr(text[min(i+2, len(text)):], "*/") + 2
			blank(i, end)
			i = end - 1
		case b[i] == 'R' && i+1 < len(b) && b[i+1] == '"' && (i == 0 || !word(b[i-1])):
			open := strings.IndexByte(text[i:], '(')
			if open < 0 {
				break
			}
			mark := ")" + text[i+2:i+open] + "\""
			end := i + indexOr(text[i:], mark) + len(mark)
			blank(i, end)
			i = end - 1
		case b[i] == '"' || b[i] == '\'' && (i == 0 || !word(b[i-1])): // 1'000 is a number
			end := i + 1
			for end < len(b) && b[end] != b[i] && b[end] != '\n' {
				if b[end] == '\\' {
					end++
				}
				end++
			}
			blank(i, end+1)
			if i < len(b) {
				b[i] = '_'
			}
			i = end
		}
	}
	return cppBranches(b)
}

func word(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func indexOr(s, sub string) int {
	if i := strings.Index(s, sub); i >= 0 {
		return i
	}
	return len(s)
}

// cppBranches blanks preprocessor lines, and what lies between #else or #elif and #endif.
func cppBranches(b []byte) []byte {
	lines := strings.SplitAfter(string(b), "\n")
	var off []bool // for each open #if: in a later branch
	joined := false
	for i, l := range lines {
		t := strings.TrimSpace(l)
		directive := joined || strings.HasPrefix(t, "#")
		if !joined && directive {
			switch d := strings.TrimSpace(t[1:]); {
			case strings.HasPrefix(d, "if"):
				off = append(off, strings.HasPrefix(d, "if 0"))
			case strings.HasPrefix(d, "el") && len(off) > 0:
				off[len(off)-1] = true
			case strings.HasPrefix(d, "endif") && len(off) > 0:
				off = off[:len(off)-1]
			}
		}
		joined = directive && strings.HasSuffix(t, "\\")
		hidden := directive
		for _, o := range off {
			hidden = hidden || o
		}
		if hidden {
			end := ""
			if strings.HasSuffix(l, "\n") {
				end = "\n"
			}
			lines[i] = end
		}
	}
	return []byte(strings.Join(lines, ""))
}
