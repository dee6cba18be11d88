package jinja

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

var errOverflow = errf("OverflowError", "integer does not fit 64 bits")

func overflow() error { e := *errOverflow.(*RuntimeError); return &e }

// asInt reads an int or bool.
func asInt(v Value) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// asFloat reads an int, bool or float.
func asFloat(v Value) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	i, ok := asInt(v)
	return float64(i), ok
}

func negate(op string, v Value) (Value, error) {
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	if f, ok := v.(float64); ok {
		if op == "-" {
			return -f, nil
		}
		return f, nil
	}
	i, ok := asInt(v)
	if !ok {
		return nil, typeErr("bad operand type for unary %s: '%s'", op, typeName(v))
	}
	if op == "+" {
		return i, nil
	}
	if i == math.MinInt64 {
		return nil, overflow()
	}
	return -i, nil
}

// arith computes a op b for numbers; ok is false when an operand is none.
func arith(op string, a, b Value) (v Value, ok bool, err error) {
	i, iok := asInt(a)
	j, jok := asInt(b)
	if iok && jok {
		v, err = intArith(op, i, j)
		return v, true, err
	}
	x, xok := asFloat(a)
	y, yok := asFloat(b)
	if !xok || !yok {
		return nil, false, nil
	}
	v, err = floatArith(op, x, y)
	return v, true, err
}

func intArith(op string, i, j int64) (Value, error) {
	switch op {
	case "+":
		if s := i + j; (s > i) == (j > 0) {
			return s, nil
		}
	case "-":
		if d := i - j; (d < i) == (j > 0) {
			return d, nil
		}
	case "*":
		if p, ok := mulInt(i, j); ok {
			return p, nil
		}
	case "/":
		return floatArith("/", float64(i), float64(j))
	case "//", "%":
		if j == 0 {
			return nil, errf("ZeroDivisionError", "integer division or modulo by zero")
		}
		if i == math.MinInt64 && j == -1 {
			break
		}
		q, r := i/j, i%j
		if r != 0 && (r < 0) != (j < 0) {
			q, r = q-1, r+j
		}
		if op == "%" {
			return r, nil
		}
		return q, nil
	case "**":
		return intPow(i, j)
	}
	return nil, overflow()
}

func mulInt(i, j int64) (int64, bool) {
	hi, lo := bits.Mul64(absU(i), absU(j))
	neg := (i < 0) != (j < 0)
	if hi != 0 || lo > 1<<63 || lo == 1<<63 && !neg {
		return 0, false
	}
	if neg {
		return -int64(lo), true
	}
	return int64(lo), true
}

func absU(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

func intPow(base, e int64) (Value, error) {
	if e < 0 {
		return floatArith("**", float64(base), float64(e))
	}
	if base == 0 || base == 1 || e == 0 {
		if e == 0 {
			return int64(1), nil
		}
		return base, nil
	}
	if base == -1 {
		return 1 - 2*(e%2), nil
	}
	out := int64(1)
	for ; e > 0; e-- {
		var ok bool
		if out, ok = mulInt(out, base); !ok {
			return nil, overflow()
		}
	}
	return out, nil
}

func floatArith(op string, x, y float64) (Value, error) {
	switch op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "**":
		if x == 0 && y < 0 {
			return nil, errf("ZeroDivisionError", "0.0 cannot be raised to a negative power")
		}
		p := math.Pow(x, y)
		if math.IsInf(p, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
			return nil, errf("OverflowError", "numerical result out of range")
		}
		if math.IsNaN(p) && !math.IsNaN(x) && !math.IsNaN(y) {
			return nil, typeErr("complex numbers are not supported")
		}
		return p, nil
	}
	if y == 0 {
		return nil, errf("ZeroDivisionError", "float division by zero")
	}
	if op == "/" {
		return x / y, nil
	}
	r := math.Mod(x, y)
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	} else if r == 0 {
		r = math.Copysign(0, y)
	}
	if op == "%" {
		return r, nil
	}
	d := (x - r) / y
	q := math.Floor(d)
	if d-q > 0.5 {
		q++
	}
	if d == 0 {
		q = math.Copysign(0, x/y)
	}
	return q, nil
}

// floatRepr is Python's repr of a float.
func floatRepr(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	_, es, _ := strings.Cut(s, "e")
	if e, _ := strconv.Atoi(es); e < -4 || e >= 16 {
		return s
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// parseInt reads text like Python's int(text, base).
func parseInt(s string, base int) (int64, error) {
	t := strings.TrimFunc(s, pySpace)
	bad := valueErr("invalid literal for int() with base %d: %s", base, strconv.Quote(s))
	if strings.HasPrefix(t, "_") || strings.HasSuffix(t, "_") || strings.Contains(t, "__") {
		return 0, bad
	}
	body, sign := t, ""
	if body != "" && (body[0] == '+' || body[0] == '-') {
		sign, body = body[:1], body[1:]
	}
	if len(body) > 2 && body[0] == '0' {
		mark := map[int]string{2: "bB", 8: "oO", 16: "xX"}[base]
		if mark != "" && strings.IndexByte(mark, body[1]) >= 0 {
			body = strings.TrimPrefix(body[2:], "_")
		}
	}
	if base != 0 || len(body) > 1 && body[0] == '0' && body[1] >= '0' && body[1] <= '9' {
		body = strings.ReplaceAll(body, "_", "")
	}
	if body == "" || body[0] == '+' || body[0] == '-' {
		return 0, bad
	}
	n, err := strconv.ParseInt(sign+body, base, 64)
	if err != nil {
		if ne, ok := err.(*strconv.NumError); ok && ne.Err == strconv.ErrRange {
			return 0, overflow()
		}
		return 0, bad
	}
	return n, nil
}

// parseFloat reads text like Python's float(text).
func parseFloat(s string) (float64, error) {
	t := strings.ToLower(strings.TrimFunc(s, pySpace))
	bad := valueErr("could not convert string to float: %s", strconv.Quote(s))
	if strings.Contains(t, "0x") || strings.Contains(t, "p") || strings.HasPrefix(t, "_") || strings.HasSuffix(t, "_") || strings.Contains(t, "__") {
		return 0, bad
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(t, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, bad
	}
	return f, nil
}

func floatToInt(f float64) (int64, error) {
	switch {
	case math.IsNaN(f):
		return 0, valueErr("cannot convert float NaN to integer")
	case math.IsInf(f, 0), f >= 1<<63, f < -1<<63:
		return 0, errf("OverflowError", "cannot convert float %s to a 64 bit integer", floatRepr(f))
	}
	return int64(f), nil
}
