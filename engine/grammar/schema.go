package grammar

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// SchemaError is a schema that is wrong, or asks for what this package does not do.
type SchemaError struct {
	Path        string // in the schema: properties.name.pattern
	Text        string
	Unsupported bool // JSON Schema has it, this package does not
}

func (e *SchemaError) Error() string {
	if e.Path == "" {
		return e.Text
	}
	return e.Path + ": " + e.Text
}

// Keywords that a schema may have beside others: they say nothing about what is valid.
var annotations = []string{"title", "description", "default", "examples", "example", "$comment", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "$defs", "definitions"}

// keywords of each type, beside type itself and the annotations.
var keywords = map[string][]string{
	"object":  {"properties", "required", "additionalProperties"},
	"array":   {"items", "minItems", "maxItems"},
	"string":  {"minLength", "maxLength", "pattern", "format"},
	"integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
	"number":  {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
	"boolean": nil,
	"null":    nil,
}

var types = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// Limits of counts in a schema.
const (
	maxLength = 2000 // characters
	maxItems  = 4096
)

// schema is one compilation.
type schema struct {
	*parts
	root *value
	refs map[string]int32 // rules of what $ref names, by pointer
}

// FromSchema compiles a JSON Schema (2020-12, the part that docs/api.md lists). Errors are *SchemaError.
func FromSchema(name string, text []byte) (*Grammar, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	b := &builder{}
	s := &schema{parts: newParts(b), root: root, refs: map[string]int32{}}
	n := b.declare("the answer")
	s.refs["#"] = n
	e, err := s.compile(root, "")
	if err != nil {
		return nil, err
	}
	b.define(n, e)
	return b.finish(name, n)
}

// JSONObject is the grammar of any JSON object.
func JSONObject() *Grammar {
	b := &builder{}
	p := newParts(b)
	g, err := b.finish("json_object", p.object)
	if err != nil {
		panic("grammar: JSON's own rules do not compile: " + err.Error()) // it depends on nothing from outside
	}
	return g
}

func wrong(path, format string, args ...any) error {
	return &SchemaError{Path: path, Text: fmt.Sprintf(format, args...)}
}

func lacking(path, format string, args ...any) error {
	return &SchemaError{Path: path, Text: fmt.Sprintf(format, args...), Unsupported: true}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// compile makes an expression of a schema. What is more than a few states is a rule of its own, so that it may be used in
// several places.
func (s *schema) compile(v *value, path string) (expr, error) {
	switch {
	case v.kind == 't':
		return call(s.value), nil
	case v.kind == 'f':
		return nil, lacking(path, "false, which no value satisfies, is not supported here")
	case v.kind != '{':
		return nil, wrong(path, "wanted a schema: an object or true, found %s", v.compact())
	}
	for _, whole := range []struct {
		key string
		f   func(in *value, path string) (expr, error)
	}{{"$ref", s.ref}, {"const", s.constant}, {"enum", s.enum}, {"anyOf", s.anyOf}, {"oneOf", s.oneOf}, {"allOf", s.allOf}} {
		in := v.by[whole.key]
		if in == nil {
			continue
		}
		allowed := []string{whole.key}
		if whole.key == "const" || whole.key == "enum" {
			allowed = append(allowed, "type")
		}
		if err := only(v, path, whole.key, allowed); err != nil {
			return nil, err
		}
		if len(allowed) == 2 && v.by["type"] != nil {
			list := []*value{in}
			if whole.key == "enum" {
				list = in.items
			}
			names, err := typesOf(v.by["type"], join(path, "type"))
			if err != nil {
				return nil, err
			}
			in = &value{kind: '[', items: slices.DeleteFunc(slices.Clone(list), func(x *value) bool { return !isOf(x, names) })}
			return s.enum(in, join(path, whole.key))
		}
		return whole.f(in, join(path, whole.key))
	}
	return s.typed(v, path)
}

// only refuses keywords beside the one that decides.
func only(v *value, path, who string, allowed []string) error {
	for _, k := range v.keys {
		if !slices.Contains(allowed, k) && !slices.Contains(annotations, k) && !strings.HasPrefix(k, "x-") {
			return lacking(join(path, k), "%q beside %q is not supported", k, who)
		}
	}
	return nil
}

// typesOf reads the keyword type.
func typesOf(v *value, path string) ([]string, error) {
	list := []*value{v}
	if v.kind == '[' {
		list = v.items
	}
	var names []string
	for _, t := range list {
		if t.kind != '"' || !slices.Contains(types, t.text) {
			return nil, wrong(path, "wanted %s, or a list of them, found %s", strings.Join(types, ", "), v.compact())
		}
		names = append(names, t.text)
	}
	if len(names) == 0 {
		return nil, wrong(path, "wanted at least one type, found none")
	}
	return names, nil
}

// isOf tells whether a value is of one of the types.
func isOf(v *value, names []string) bool {
	kinds := map[byte]string{'{': "object", '[': "array", '"': "string", '0': "number", 't': "boolean", 'f': "boolean", 'n': "null"}
	if _, whole := v.integer(); whole && slices.Contains(names, "integer") {
		return true
	}
	return slices.Contains(names, kinds[v.kind])
}

// typed compiles a schema with a type, or without one where its keywords tell it.
func (s *schema) typed(v *value, path string) (expr, error) {
	var names []string
	if t := v.by["type"]; t != nil {
		var err error
		if names, err = typesOf(t, join(path, "type")); err != nil {
			return nil, err
		}
	}
	known := append([]string{"type"}, annotations...)
	for _, t := range types {
		if slices.Contains(names, t) || names == nil {
			known = append(known, keywords[t]...)
		}
	}
	for _, k := range v.keys {
		switch {
		case slices.Contains(known, k), strings.HasPrefix(k, "x-"):
		case names != nil && slices.ContainsFunc(types, func(t string) bool { return slices.Contains(keywords[t], k) }):
			return nil, lacking(join(path, k), "%q says nothing about type %s", k, strings.Join(names, " or "))
		default:
			return nil, lacking(join(path, k), "the keyword %q is not supported", k)
		}
	}
	if names == nil { // JSON Schema: keywords bind values of their type only; here they also say that the type is meant
		for _, t := range []string{"object", "array", "string", "number"} {
			if slices.ContainsFunc(v.keys, func(k string) bool { return slices.Contains(keywords[t], k) }) {
				names = append(names, t)
			}
		}
		if names == nil {
			return call(s.value), nil
		}
	}
	var list []expr
	for _, t := range names {
		e, err := s.ofType(t, v, path)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return alt(list...), nil
}

func (s *schema) ofType(t string, v *value, path string) (expr, error) {
	switch t {
	case "object":
		return s.objectOf(v, path)
	case "array":
		return s.arrayOf(v, path)
	case "string":
		return s.stringOf(v, path)
	case "integer", "number":
		return s.numberOf(t == "integer", v, path)
	case "boolean":
		return alt(text("true"), text("false")), nil
	}
	return text("null"), nil
}

// own makes a rule of an expression.
func (s *schema) own(name string, e expr) expr {
	n := s.b.declare(name)
	s.b.define(n, e)
	return call(n)
}

func (s *schema) objectOf(v *value, path string) (expr, error) {
	properties, required := v.by["properties"], map[string]bool{}
	if r := v.by["required"]; r != nil {
		for _, name := range r.items {
			if name.kind != '"' {
				return nil, wrong(join(path, "required"), "wanted names of properties, found %s", r.compact())
			}
			required[name.text] = true
		}
		if r.kind != '[' {
			return nil, wrong(join(path, "required"), "wanted a list of names, found %s", r.compact())
		}
	}
	if properties == nil {
		properties = &value{kind: '{'}
	}
	if properties.kind != '{' {
		return nil, wrong(join(path, "properties"), "wanted an object of schemas, found %s", properties.compact())
	}
	var list []member
	for i, name := range properties.keys {
		e, err := s.compile(properties.items[i], join(join(path, "properties"), name))
		if err != nil {
			return nil, err
		}
		list = append(list, member{text(quote(name)), e, required[name]})
		delete(required, name)
	}
	extra, err := s.additional(v, path)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(properties.keys)
	for _, name := range sortedNames(required) { // required, but not described: of the kind of the further ones
		if extra == nil {
			return nil, wrong(join(path, "required"), "%q is required, but not among the properties, and additionalProperties is false", name)
		}
		list, names = append(list, member{text(quote(name)), extra, true}), append(names, name)
	}
	var more member
	if extra != nil && (v.by["additionalProperties"] != nil || len(properties.keys) == 0) {
		more = member{key: s.own("a key", keyExcept(names)), value: extra}
		if len(names) == 0 {
			more.key = call(s.key)
		}
	}
	return s.own("an object", s.members(list, more)), nil
}

func sortedNames(m map[string]bool) []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// additional compiles the schema of properties that are not named; nil where there may be none.
func (s *schema) additional(v *value, path string) (expr, error) {
	a := v.by["additionalProperties"]
	switch {
	case a == nil:
		return call(s.value), nil
	case a.kind == 'f':
		return nil, nil
	}
	return s.compile(a, join(path, "additionalProperties"))
}

func (s *schema) arrayOf(v *value, path string) (expr, error) {
	low, high, err := bounds(v, path, "minItems", "maxItems", maxItems)
	if err != nil {
		return nil, err
	}
	item := call(s.value)
	if in := v.by["items"]; in != nil && in.kind == 'f' {
		if high = 0; low > 0 {
			return nil, wrong(join(path, "items"), "false allows no item, but minItems is %d", low)
		}
	} else if in != nil {
		e, err := s.compile(in, join(path, "items"))
		if err != nil {
			return nil, err
		}
		item = s.own("an item", e)
	}
	return s.own("an array", s.items(item, low, high)), nil
}

// bounds reads a pair such as minLength and maxLength; high is -1 where there is none.
func bounds(v *value, path, minKey, maxKey string, most int64) (low, high int, err error) {
	high = -1
	for key, to := range map[string]*int{minKey: &low, maxKey: &high} {
		in := v.by[key]
		if in == nil {
			continue
		}
		n, ok := in.integer()
		if !ok || n < 0 {
			return 0, 0, wrong(join(path, key), "wanted a number from 0 on, found %s", in.compact())
		}
		if n > most {
			return 0, 0, lacking(join(path, key), "wanted at most %d, found %d: more is not supported", most, n)
		}
		*to = int(n)
	}
	if high >= 0 && low > high {
		return 0, 0, wrong(join(path, minKey), "%d is more than %s, which is %d", low, maxKey, high)
	}
	return low, high, nil
}

func (s *schema) constant(v *value, path string) (expr, error) { return text(v.compact()), nil }

func (s *schema) enum(v *value, path string) (expr, error) {
	if v.kind != '[' {
		return nil, wrong(path, "wanted a list of values, found %s", v.compact())
	}
	if len(v.items) == 0 {
		return nil, wrong(path, "wanted at least one value of the type, found none")
	}
	var list []expr
	for _, in := range v.items {
		list = append(list, text(in.compact()))
	}
	return s.own("one of a list", alt(list...)), nil
}

func (s *schema) anyOf(v *value, path string) (expr, error) {
	if v.kind != '[' || len(v.items) == 0 {
		return nil, wrong(path, "wanted a list of schemas, found %s", v.compact())
	}
	var list []expr
	for i, in := range v.items {
		e, err := s.compile(in, fmt.Sprintf("%s[%d]", path, i))
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return s.own("one of several schemas", alt(list...)), nil
}

// oneOf is anyOf where no value can satisfy two of the schemas.
func (s *schema) oneOf(v *value, path string) (expr, error) {
	for i := range v.items {
		for j := range i {
			if !s.apart(v.items[i], v.items[j], 0) {
				return nil, lacking(path, "schemas %d and %d may both be satisfied by one value, which is not supported: use anyOf, or tell them apart by type or by a required property with different const values", j, i)
			}
		}
	}
	return s.anyOf(v, path)
}

func (s *schema) allOf(v *value, path string) (expr, error) {
	if v.kind != '[' || len(v.items) != 1 {
		return nil, lacking(path, "allOf of more than one schema is not supported")
	}
	return s.compile(v.items[0], path+"[0]")
}

// ref compiles a reference inside the document.
func (s *schema) ref(v *value, path string) (expr, error) {
	if v.kind != '"' || !strings.HasPrefix(v.text, "#") {
		return nil, lacking(path, "wanted a reference inside the schema such as #/$defs/name, found %s", v.compact())
	}
	if n, ok := s.refs[v.text]; ok {
		return call(n), nil
	}
	in, err := s.find(v.text)
	if err != nil {
		return nil, wrong(path, "%s: %v", v.text, err)
	}
	n := s.b.declare(v.text)
	s.refs[v.text] = n
	e, err := s.compile(in, strings.ReplaceAll(strings.TrimPrefix(v.text, "#/"), "/", "."))
	if err != nil {
		return nil, err
	}
	s.b.define(n, e)
	return call(n), nil
}

// find follows a JSON pointer (RFC 6901) in a URI fragment.
func (s *schema) find(ref string) (*value, error) {
	at := s.root
	pointer, err := url.PathUnescape(ref[1:])
	if err != nil {
		return nil, errors.New("is not a reference")
	}
	if pointer == "" {
		return at, nil
	}
	if pointer[0] != '/' {
		return nil, errors.New("names an anchor, which is not supported")
	}
	for _, part := range strings.Split(pointer[1:], "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		var next *value
		if at.kind == '{' {
			next = at.by[part]
		} else if i, err := strconv.Atoi(part); at.kind == '[' && err == nil && i >= 0 && i < len(at.items) {
			next = at.items[i]
		}
		if next == nil {
			return nil, fmt.Errorf("there is no %q", part)
		}
		at = next
	}
	return at, nil
}
