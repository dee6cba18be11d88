package grammar

import "unicode/utf8"

// JSON's own parts as rules (RFC 8259). What the RFC leaves open without end is bounded, so that no model can go on for
// ever in it: numbers to 16 digits and exponents to 2, blanks to one, or a line's end and 20.
type parts struct {
	b                                                      *builder
	blank, str, integer, number, key, value, object, array int32
}

// control characters, the quote and the backslash are what a JSON string cannot hold as they are.
var plainRunes = [][2]rune{{0x20, '!'}, {'#', '['}, {']', utf8.MaxRune}}

func newParts(b *builder) *parts {
	p := &parts{b: b}
	for name, n := range map[string]*int32{"blank": &p.blank, "a string": &p.str, "an integer": &p.integer, "a number": &p.number, "a key": &p.key,
		"any value": &p.value, "an object": &p.object, "an array": &p.array} {
		*n = b.declare(name)
	}
	digits := bytesOf("09")
	whole := seq(opt(text("-")), alt(text("0"), seq(bytesOf("19"), rep(digits, 0, 15))))
	b.define(p.blank, opt(alt(text(" "), seq(text("\n"), rep(bytesOf("  \t\t"), 0, 20)))))
	b.define(p.integer, whole)
	b.define(p.number, seq(whole, opt(seq(text("."), rep(digits, 1, 16))), opt(seq(bytesOf("eeEE"), opt(bytesOf("++--")), rep(digits, 1, 2)))))
	b.define(p.str, seq(text(`"`), rep(anyChar(), 0, -1), text(`"`)))
	b.define(p.key, seq(text(`"`), rep(runes(plainRunes...), 0, -1), text(`"`)))
	b.define(p.value, alt(call(p.str), call(p.number), call(p.object), call(p.array), text("true"), text("false"), text("null")))
	b.define(p.object, p.members(nil, member{key: call(p.key), value: call(p.value)}))
	b.define(p.array, p.items(call(p.value), 0, -1))
	return p
}

// anyChar is a character of a JSON string: as it is, or escaped. Of \u only those that stand alone: no surrogates.
func anyChar() expr {
	hex := bytesOf("09afAF")
	alone := alt(seq(bytesOf("09acACefEF"), hex, hex, hex), seq(bytesOf("ddDD"), bytesOf("07"), hex, hex))
	return alt(runes(plainRunes...), seq(text(`\`), alt(bytesOf(`""\\//bbffnnrrtt`), seq(text("u"), alone))))
}

// member is a property of an object: its key in quotes, and its value.
type member struct {
	key, value expr
	required   bool
}

// members is an object with these members in this order, those that are not required possibly left out, and after them any
// number of further ones; none where more has no key.
func (p *parts) members(list []member, more member) expr {
	blank := call(p.blank)
	pair := func(m member) expr {
		n := p.b.declare("a member of an object")
		p.b.define(n, seq(m.key, blank, text(":"), blank, m.value))
		return call(n)
	}
	return func(b *builder, from, to int32) {
		first, later, end := b.add(), b.add(), b.add() // before a member: none was written, some were
		seq(text("{"), blank)(b, from, first)
		seq(blank, text("}"))(b, end, to)
		some := false // a member was certainly written
		for _, m := range list {
			one := pair(m)
			nextFirst, nextLater := b.add(), b.add()
			if !some {
				one(b, first, nextLater)
			}
			seq(blank, text(","), blank, one)(b, later, nextLater)
			if m.required {
				some = true
			} else {
				b.empty(first, nextFirst)
				b.empty(later, nextLater)
			}
			first, later = nextFirst, nextLater
		}
		if !some {
			b.empty(first, end)
		}
		b.empty(later, end)
		if more.key == nil {
			return
		}
		one, loop := pair(more), b.add()
		if !some {
			one(b, first, loop)
		}
		seq(blank, text(","), blank, one)(b, later, loop)
		seq(blank, text(","), blank, one)(b, loop, loop)
		b.empty(loop, end)
	}
}

// items is an array of low to high items; high < 0 is without end.
func (p *parts) items(item expr, low, high int) expr {
	blank := call(p.blank)
	empty := seq(text("["), blank, text("]"))
	if high == 0 {
		return empty
	}
	most := high - 1
	if high < 0 {
		most = -1
	}
	some := seq(text("["), blank, item, rep(seq(blank, text(","), blank, item), max(low-1, 0), most), blank, text("]"))
	if low > 0 {
		return some
	}
	return alt(empty, some)
}
