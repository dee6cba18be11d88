package jinja

import (
	"fmt"
	"slices"
	"strings"
)

// parser follows jinja2.parser.Parser by recursive descent.
type parser struct {
	toks     []token
	pos      int
	depth    int
	maxDepth int
	loops    int         // enclosing loops that break may leave
	forDepth int         // enclosing loops, macros between them or not
	macros   []*macroDef // enclosing macros, outermost first
}

func (p *parser) cur() token { return p.toks[p.pos] }

func (p *parser) look() token { return p.toks[min(p.pos+1, len(p.toks)-1)] }

func (p *parser) next() token {
	t := p.toks[p.pos]
	if t.kind != tEOF {
		p.pos++
	}
	return t
}

func (p *parser) isOp(op string) bool { t := p.cur(); return t.kind == tOp && t.text == op }

func (p *parser) isName(names ...string) bool {
	t := p.cur()
	return t.kind == tName && slices.Contains(names, t.text)
}

func (p *parser) skipOp(op string) bool {
	if p.isOp(op) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) skipName(name string) bool {
	if p.isName(name) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) fail(format string, args ...any) error {
	return p.failAt(p.cur().line, format, args...)
}

func (p *parser) failAt(line int, format string, args ...any) error {
	return &SyntaxError{Line: line, Msg: fmt.Sprintf(format, args...)}
}

func describe(t token) string {
	switch t.kind {
	case tEOF:
		return "end of template"
	case tData:
		return "template text"
	case tVarBegin:
		return "begin of print statement"
	case tVarEnd:
		return "end of print statement"
	case tBlockBegin:
		return "begin of statement block"
	case tBlockEnd:
		return "end of statement block"
	case tInt:
		return fmt.Sprint(t.i)
	case tFloat:
		return fmt.Sprint(t.f)
	}
	return t.text
}

func (p *parser) expectOp(op string) error {
	if p.skipOp(op) {
		return nil
	}
	return p.fail("expected '%s', got '%s'", op, describe(p.cur()))
}

func (p *parser) expectName(name string) error {
	if p.skipName(name) {
		return nil
	}
	return p.fail("expected '%s', got '%s'", name, describe(p.cur()))
}

func (p *parser) expectKind(k tokKind, what string) (token, error) {
	if p.cur().kind != k {
		return token{}, p.fail("expected %s, got '%s'", what, describe(p.cur()))
	}
	return p.next(), nil
}

// enter guards every recursion of the parser; leave undoes it.
func (p *parser) enter() error {
	p.depth++
	if p.depth > p.maxDepth {
		return &LimitError{Limit: "nested expressions or blocks", Max: int64(p.maxDepth), Line: p.cur().line}
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func (p *parser) template() ([]stmt, error) {
	body, err := p.statements()
	if err != nil {
		return nil, err
	}
	if p.cur().kind != tEOF {
		return nil, p.fail("unexpected '%s'", describe(p.cur()))
	}
	return body, nil
}

// statements parses until the end of the template or a block tag named in end,
// whose name is then the current token.
func (p *parser) statements(end ...string) ([]stmt, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var body []stmt
	for {
		t := p.cur()
		switch t.kind {
		case tEOF:
			if end != nil {
				return nil, p.fail("unexpected end of template; looking for '%s'", strings.Join(end, "' or '"))
			}
			return body, nil
		case tData:
			p.next()
			body = append(body, &dataStmt{t.text})
		case tVarBegin:
			p.next()
			x, err := p.tuple(true, false)
			if err != nil {
				return nil, err
			}
			if _, err := p.expectKind(tVarEnd, "end of print statement"); err != nil {
				return nil, err
			}
			body = append(body, &printStmt{x, t.line})
		case tBlockBegin:
			p.next()
			if p.isName(end...) {
				return body, nil
			}
			s, err := p.statement()
			if err != nil {
				return nil, err
			}
			if _, err := p.expectKind(tBlockEnd, "end of statement block"); err != nil {
				return nil, err
			}
			body = append(body, s...)
		default:
			return nil, p.fail("unexpected '%s'", describe(t))
		}
	}
}

// body parses the statements of a block after its tag's head; the end tag's
// name is consumed and returned.
func (p *parser) body(end ...string) ([]stmt, string, error) {
	p.skipOp(":")
	if _, err := p.expectKind(tBlockEnd, "end of statement block"); err != nil {
		return nil, "", err
	}
	b, err := p.statements(end...)
	if err != nil {
		return nil, "", err
	}
	return b, p.next().text, nil
}

func (p *parser) statement() ([]stmt, error) {
	t, err := p.expectKind(tName, "a tag name")
	if err != nil {
		return nil, err
	}
	one := func(s stmt, err error) ([]stmt, error) { return []stmt{s}, err }
	switch t.text {
	case "if":
		return one(p.ifTag(t.line))
	case "for":
		return one(p.forTag(t.line))
	case "set":
		return one(p.setTag(t.line))
	case "macro":
		return one(p.macroTag(t.line))
	case "call":
		return one(p.callTag(t.line))
	case "filter":
		return one(p.filterTag(t.line))
	case "with":
		return one(p.withTag(t.line))
	case "print":
		return p.printTag(t.line)
	case "generation":
		return one(p.generationTag())
	case "block":
		return one(p.blockTag())
	case "autoescape":
		return one(p.autoescapeTag(t.line))
	case "break", "continue":
		if p.loops == 0 {
			return nil, p.failAt(t.line, "'%s' outside loop", t.text)
		}
		if t.text == "break" {
			return []stmt{&breakStmt{}}, nil
		}
		return []stmt{&continueStmt{}}, nil
	case "include", "import", "from", "extends":
		return nil, p.failAt(t.line, "'%s' is refused: a chat template has no other templates to load", t.text)
	}
	return nil, p.failAt(t.line, "unknown tag '%s'", t.text)
}

func (p *parser) ifTag(line int) (stmt, error) {
	s := &ifStmt{line: line}
	for {
		test, err := p.tuple(false, false)
		if err != nil {
			return nil, err
		}
		body, end, err := p.body("elif", "else", "endif")
		if err != nil {
			return nil, err
		}
		s.tests, s.bodies = append(s.tests, test), append(s.bodies, body)
		if end == "elif" {
			continue
		}
		if end == "else" {
			s.orElse, _, err = p.body("endif")
		}
		return s, err
	}
}

func (p *parser) forTag(line int) (stmt, error) {
	s := &forStmt{line: line}
	p.forDepth++
	defer func() { p.forDepth-- }()
	var err error
	if s.target, err = p.target(false, "in"); err != nil {
		return nil, err
	}
	if err = p.expectName("in"); err != nil {
		return nil, err
	}
	if s.iter, err = p.tuple(false, false, "recursive"); err != nil {
		return nil, err
	}
	if p.skipName("if") {
		if s.filter, err = p.expression(true); err != nil {
			return nil, err
		}
	}
	s.recursive = p.skipName("recursive")
	p.loops++
	body, end, err := p.body("endfor", "else")
	p.loops--
	if err != nil {
		return nil, err
	}
	s.body = body
	if end == "else" {
		s.orElse, _, err = p.body("endfor")
	}
	return s, err
}

func (p *parser) setTag(line int) (stmt, error) {
	target, err := p.target(true)
	if err != nil {
		return nil, err
	}
	if p.skipOp("=") {
		v, err := p.tuple(true, false)
		return &setStmt{target, v, line}, err
	}
	f, err := p.filters(nil, false)
	if err != nil {
		return nil, err
	}
	body, _, err := p.body("endset")
	return &setBlockStmt{target, f, body, line}, err
}

func (p *parser) withTag(line int) (stmt, error) {
	s := &withStmt{line: line}
	for p.cur().kind != tBlockEnd {
		if s.targets != nil {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
		}
		t, err := p.target(false)
		if err != nil {
			return nil, err
		}
		if err := p.expectOp("="); err != nil {
			return nil, err
		}
		v, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		s.targets, s.values = append(s.targets, t), append(s.values, v)
	}
	var err error
	s.body, _, err = p.body("endwith")
	return s, err
}

func (p *parser) filterTag(line int) (stmt, error) {
	f, err := p.filters(nil, true)
	if err != nil {
		return nil, err
	}
	body, _, err := p.body("endfilter")
	return &filterStmt{f, body, line}, err
}

func (p *parser) printTag(line int) ([]stmt, error) {
	var out []stmt
	for p.cur().kind != tBlockEnd {
		if out != nil {
			if err := p.expectOp(","); err != nil {
				return nil, err
			}
		}
		x, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		out = append(out, &printStmt{x, line})
	}
	return out, nil
}

func (p *parser) blockTag() (stmt, error) {
	name, err := p.expectKind(tName, "a block name")
	if err != nil {
		return nil, err
	}
	scoped := p.skipName("scoped")
	body, _, err := p.functionBody(nil, "endblock")
	if err != nil {
		return nil, err
	}
	p.skipName(name.text)
	return &blockStmt{body, scoped}, nil
}

func (p *parser) autoescapeTag(line int) (stmt, error) {
	x, err := p.expression(true)
	if err != nil {
		return nil, err
	}
	if c, ok := x.(*constExpr); !ok || c.v != false {
		return nil, p.failAt(line, "'autoescape' is refused: a chat template is not HTML")
	}
	body, _, err := p.body("endautoescape")
	return &scopeStmt{body}, err
}

// functionBody parses a body that break cannot leave; def collects which of
// the special macro variables it names.
func (p *parser) functionBody(def *macroDef, end string) ([]stmt, string, error) {
	loops := p.loops
	p.loops = 0
	if def != nil {
		p.macros = append(p.macros, def)
	}
	body, name, err := p.body(end)
	if def != nil {
		p.macros = p.macros[:len(p.macros)-1]
	}
	p.loops = loops
	return body, name, err
}

func (p *parser) generationTag() (stmt, error) {
	body, _, err := p.functionBody(nil, "endgeneration")
	return &generationStmt{body}, err
}

func (p *parser) macroTag(line int) (stmt, error) {
	name, err := p.expectKind(tName, "a macro name")
	if err != nil {
		return nil, err
	}
	def := &macroDef{name: name.text, line: line}
	if err := p.assignable(name); err != nil {
		return nil, err
	}
	if err := p.signature(def); err != nil {
		return nil, err
	}
	def.body, _, err = p.functionBody(def, "endmacro")
	return &macroStmt{def}, err
}

func (p *parser) callTag(line int) (stmt, error) {
	def := &macroDef{name: "", line: line}
	if p.isOp("(") {
		if err := p.signature(def); err != nil {
			return nil, err
		}
	}
	x, err := p.expression(true)
	if err != nil {
		return nil, err
	}
	call, ok := x.(*callExpr)
	if !ok {
		return nil, p.failAt(line, "expected call")
	}
	def.body, _, err = p.functionBody(def, "endcall")
	return &callBlockStmt{def, call, line}, err
}

func (p *parser) signature(def *macroDef) error {
	if err := p.expectOp("("); err != nil {
		return err
	}
	for !p.isOp(")") {
		if def.params != nil {
			if err := p.expectOp(","); err != nil {
				return err
			}
		}
		name, err := p.expectKind(tName, "a parameter name")
		if err != nil {
			return err
		}
		if err := p.assignable(name); err != nil {
			return err
		}
		if p.skipOp("=") {
			d, err := p.expression(true)
			if err != nil {
				return err
			}
			def.defaults = append(def.defaults, d)
		} else if def.defaults != nil {
			return p.fail("non-default argument follows default argument")
		}
		def.params = append(def.params, name.text)
	}
	return p.expectOp(")")
}

func (p *parser) assignable(t token) error {
	switch t.text {
	case "true", "false", "none", "True", "False", "None":
		return p.failAt(t.line, "can't assign to '%s'", t.text)
	}
	return nil
}
