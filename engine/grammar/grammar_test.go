package grammar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"glassbox/engine/testmodel"
	"glassbox/engine/token"
)

// vocabulary is the built-in model's, 49,152 byte-level tokens.
func vocabulary(t testing.TB) (*Vocab, *token.Tokenizer) {
	t.Helper()
	tok, err := token.FromGGUF(testmodel.File(t))
	require.NoError(t, err)
	return NewVocab(tok.Size(), tok.Piece, tok.IsEOG), tok
}

// validator is an independent reading of the schema.
func validator(t testing.TB, schema string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	require.NoError(t, err, schema)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("s.json", doc))
	s, err := c.Compile("s.json")
	require.NoError(t, err, schema)
	return s
}

func valid(s *jsonschema.Schema, text string) error {
	if !json.Valid([]byte(text)) {
		return fmt.Errorf("not JSON: %q", text)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// takes tells whether the grammar has the text.
func takes(g *Grammar, text string) bool {
	m := newMachine(g)
	return m.sets[m.run(m.begin(), []byte(text))].accept
}

// What the grammar takes is valid, and what is valid it takes, but for what the third list holds: valid, though not written.
func TestSchemasTakeWhatIsValid(t *testing.T) {
	for _, c := range []struct {
		schema       string
		good, others []string
		unwritten    []string
	}{
		{`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0,"maximum":120}},"required":["name"],"additionalProperties":false}`,
			[]string{`{"name":"a"}`, `{"name":"", "age":120}`, "{\n  \"name\": \"é\\n\\u00e9\",\n  \"age\": 0\n}", `{"name":"a","age":7}`},
			[]string{`{}`, `{"age":1}`, `{"name":1}`, `{"name":"a","age":121}`, `{"name":"a","age":-1}`, `{"name":"a","b":1}`, `{"name":"a",}`, `{"name":"a"`, `[]`, `{"name":"` + "\x01" + `"}`, "{\"name\":\"\xff\"}"},
			[]string{`{"age":1,"name":"a"}`, `{"name":"a","age":1.0}`, `{"n\u0061me":"a"}`}},
		{`{"type":"object","additionalProperties":{"type":"boolean"},"properties":{"on":{"type":"null"}}}`,
			[]string{`{}`, `{"on":null}`, `{"x":true,"y":false}`, `{"on":null,"onn":true,"o":false,"":true}`}, []string{`{"on":true}`, `{"x":1}`, `{"on":null,"on":true}`}, nil},
		{`{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":3}`,
			[]string{`[1,2]`, `[1.5, -2e10,0]`}, []string{`[1]`, `[1,2,3,4]`, `["1",2]`, `[1 2]`, `[1,,2]`, `[01,2]`}, nil},
		{`{"enum":["red","green",3,null,{"a":[1]}]}`, []string{`"red"`, `3`, `null`, `{"a":[1]}`}, []string{`"blue"`, `4`, `"re"`, `{}`}, []string{`{"a": [1]}`}},
		{`{"type":["string","null"],"enum":["a",1,null]}`, []string{`"a"`, `null`}, []string{`1`}, nil},
		{`{"const":"x<y\n"}`, []string{`"x<y\n"`}, []string{`"x"`}, nil},
		{`{"type":"string","minLength":2,"maxLength":4}`, []string{`"ab"`, `"日本語!"`, `"\n\"\\"`, `"\u00e9x"`}, []string{`"a"`, `"abcde"`, `"日本語!!"`}, []string{`"\ud83d\ude00x"`}},
		{`{"anyOf":[{"type":"string","maxLength":2},{"type":"integer"}]}`, []string{`"ab"`, `12`}, []string{`"abc"`, `1.5`, `true`}, nil},
		{`{"oneOf":[{"type":"string"},{"type":"object","properties":{"k":{"type":"null"}},"additionalProperties":false}]}`, []string{`"x"`, `{"k":null}`, `{}`}, []string{`1`, `{"k":1}`}, nil},
		{`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["v","next"],"additionalProperties":false}}}`,
			[]string{`{"v":1,"next":null}`, `{"v":1,"next":{"v":2,"next":null}}`}, []string{`{"v":1}`, `{"v":1,"next":{"v":2}}`, `{"v":1,"next":{"v":2,"next":null}`}, nil},
		{`{"type":"array","items":{"$ref":"#"}}`, []string{`[]`, `[[],[[]]]`}, []string{`[1]`, `[[]`, `]`}, nil},
		{`{"type":"string","pattern":"^[a-c]+\\d{2}$"}`, []string{`"a12"`, `"abc00"`}, []string{`"12"`, `"a1"`, `"a123"`, `"d12"`}, nil},
		{`{"type":"string","pattern":"x\"|^\\\\$"}`, []string{`"ax\"b"`, `"x\""`, `"\\"`}, []string{`"x"`, `"\\\\"`}, nil},
		{`{"type":"string","pattern":"^.$"}`, []string{`"é"`, `"\""`, `"\t"`}, []string{`"ab"`, `""`, `"\n"`}, nil},
		{`{"type":"string","format":"date"}`, []string{`"2024-02-29"`, `"1999-12-31"`, `"2000-02-29"`}, []string{`"2023-02-29"`, `"1900-02-29"`, `"2024-13-01"`, `"2024-04-31"`}, nil},
		{`{"type":"string","format":"date-time"}`, []string{`"2024-02-29T23:59:59Z"`, `"1999-12-31T00:00:00.123+02:00"`}, []string{`"2024-02-29"`, `"2024-02-29T24:00:00Z"`}, nil},
		{`{"type":"integer","minimum":-12,"exclusiveMaximum":305}`, []string{`-12`, `-9`, `0`, `9`, `10`, `99`, `100`, `299`, `300`, `304`}, []string{`-13`, `305`, `999`, `-100`, `1000`, `00`}, nil},
		{`{"type":"number","minimum":-1,"maximum":2}`, []string{`-1`, `-1.0`, `-0.999`, `0`, `1.99`, `2`, `2.00`, `0.5`}, []string{`-1.01`, `2.01`, `3`, `-2`}, []string{`1e0`}},
		{`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, []string{`0.5`, `0.001`, `0.999`}, []string{`0`, `0.0`, `1`, `1.0`, `-0.5`, `-0`}, nil},
		{`{"type":"number","exclusiveMaximum":-3}`, []string{`-3.5`, `-4`, `-3.0001`}, []string{`-3`, `-3.0`, `-2.9`, `0`, `3`}, nil},
		{`{}`, []string{`{"a":[1,"b",null,true,{"c":{}}]}`, `"x"`, `-0.5E+10`}, []string{`{a:1}`, `nul`, `'a'`, `.5`, `1.`}, []string{`12345678901234567`, `1e100`}},
		{`{"type":"array","items":false}`, []string{`[]`}, []string{`[1]`}, nil},
		{`{"type":"object","required":["a"]}`, []string{`{"a":1}`, `{"a":1,"b":2}`}, []string{`{}`, `{"b":1}`}, []string{`{"b":1,"a":1}`}},
	} {
		g, err := FromSchema("s", []byte(c.schema))
		require.NoError(t, err, c.schema)
		v := validator(t, c.schema)
		for _, text := range c.good {
			require.True(t, takes(g, text), "%s: %s", c.schema, text)
			require.NoError(t, valid(v, text), "%s: %s", c.schema, text)
		}
		for _, text := range c.others {
			require.False(t, takes(g, text), "%s: %s", c.schema, text)
			if text != `{"on":null,"on":true}` && text != "{\"name\":\"\xff\"}" { // Go's parser takes a key twice, and bytes that are no UTF-8
				require.Error(t, valid(v, text), "%s: %s", c.schema, text)
			}
		}
		for _, text := range c.unwritten {
			require.False(t, takes(g, text), "%s: %s", c.schema, text)
			require.NoError(t, valid(v, text), "%s: %s", c.schema, text)
		}
	}
}

func TestSchemasThatAreRefusedNameTheKeyword(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"array","uniqueItems":true}`: "uniqueItems", `{"type":"object","patternProperties":{}}`: "patternProperties", `{"not":{}}`: "not", `{"if":{}}`: "if",
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"number","multipleOf":2}}}}}`: "properties.a.properties.b.multipleOf",
		`{"type":"string","minimum":1}`: "minimum", `{"allOf":[{},{}]}`: "allOf", `{"$ref":"http://example.com"}`: "$ref", `{"$ref":"#/nowhere"}`: "nowhere", `{"type":"strin"}`: "type",
		`{"$ref":"#"}`: "no value", `{"anyOf":[{"$ref":"#"},{"type":"null"}]}`: "itself", `{"oneOf":[{"type":"integer"},{"type":"number"}]}`: "oneOf", `{"type":"string","pattern":"(?=a)b"}`: "pattern",
		`{"type":"string","pattern":"a^b"}`: "anchors", `{"type":"string","format":"hostname"}`: "format", `{"minLength":-1}`: "minLength", `{"type":"string","minLength":3,"maxLength":2}`: "minLength",
		`{"type":"string","maxLength":100000}`: "maxLength", `{"type":"integer","minimum":5,"maximum":4}`: "bounds", `{"enum":[]}`: "enum", `{"type":"string","enum":[1]}`: "enum", `{"a":1}`: `"a"`, `[]`: "schema",
		`{`: "JSON", `{"type":"string","type":"null"}`: "type", `{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`: "no value", `{"type":"object","required":["z"],"additionalProperties":false}`: "z",
		`{"type":"number","minimum":0.5}`: "minimum", strings.Repeat(`{"items":`, 100) + `{}` + strings.Repeat(`}`, 100): "inside each other", `{"type":"array","items":{"type":"string","maxLength":2000},"maxItems":4000}`: "",
		`{"properties":{"a":false}}`: "properties.a", `false`: "false", `{"type":"array","minItems":1,"items":false}`: "items",
	} {
		_, err := FromSchema("s", []byte(schema))
		if want == "" {
			require.NoError(t, err, schema)
			continue
		}
		var e *SchemaError
		require.ErrorAs(t, err, &e, schema)
		require.Contains(t, err.Error(), want, schema)
	}
}

// randomSchema makes a schema of any of the supported kinds.
func randomSchema(r *rand.Rand, depth int) map[string]any {
	kinds := []string{"string", "integer", "number", "boolean", "null", "enum", "const", "pattern", "format", "any"}
	if depth < 3 {
		kinds = append(kinds, "object", "object", "object", "array", "array", "anyOf", "oneOf")
	}
	switch k := kinds[r.IntN(len(kinds))]; k {
	case "string":
		low := r.IntN(4)
		return map[string]any{"type": k, "minLength": low, "maxLength": low + r.IntN(30)}
	case "integer", "number":
		low := r.IntN(2000) - 1000
		s := map[string]any{"type": k}
		s[[]string{"minimum", "exclusiveMinimum"}[r.IntN(2)]] = low
		s[[]string{"maximum", "exclusiveMaximum"}[r.IntN(2)]] = low + 2 + r.IntN(3000)
		return s
	case "boolean", "null":
		return map[string]any{"type": []any{k, "integer"}[:1+r.IntN(2)]}
	case "enum":
		return map[string]any{"enum": []any{"a", "ab", 1, 12, nil, true, "é\"\\"}[r.IntN(6):]}
	case "const":
		return map[string]any{"const": map[string]any{"k": []any{1, "x"}}}
	case "pattern":
		return map[string]any{"type": "string", "pattern": []string{`^[A-Z]{2,5}-\d+$`, `^(foo|ba[rz])?$`, `^[^"\\]{1,9}$`, `^.{3}$`, `^a*b+c?$`}[r.IntN(5)]}
	case "format":
		return map[string]any{"type": "string", "format": []string{"date", "time", "date-time", "uuid", "ipv4", "email"}[r.IntN(6)]}
	case "object":
		p, required := map[string]any{}, []any{}
		for _, name := range []string{"a", "ab", "b c", "ü", `q"`}[r.IntN(5):] {
			p[name] = randomSchema(r, depth+1)
			if r.IntN(2) == 0 {
				required = append(required, name)
			}
		}
		s := map[string]any{"type": k, "properties": p, "required": required}
		if n := r.IntN(3); n == 0 {
			s["additionalProperties"] = false
		} else if n == 1 {
			s["additionalProperties"] = randomSchema(r, depth+1)
		}
		return s
	case "array":
		low := r.IntN(3)
		return map[string]any{"type": k, "items": randomSchema(r, depth+1), "minItems": low, "maxItems": low + r.IntN(4)}
	case "anyOf":
		return map[string]any{k: []any{randomSchema(r, depth+1), randomSchema(r, depth+1)}}
	case "oneOf":
		return map[string]any{k: []any{map[string]any{"type": "string", "maxLength": 5}, map[string]any{"type": []any{"integer", "null"}}}}
	}
	return map[string]any{"type": "object", "properties": map[string]any{"any": map[string]any{}}, "additionalProperties": false}
}

// generate draws tokens blindly from what is allowed: at first any, then those that close things.
func generate(t *testing.T, s *Session, v *Vocab, r *rand.Rand) string {
	logits := make([]float32, v.size+3)
	var out bytes.Buffer
	for n := range 3000 {
		clear(logits)
		left := s.Mask(logits)
		require.Positive(t, left, "nothing may follow %q", out.String())
		var allowed []int32
		for id, l := range logits {
			if l == 0 {
				allowed = append(allowed, int32(id))
			}
		}
		require.Len(t, allowed, left)
		id := allowed[r.IntN(len(allowed))]
		if n > 20 || r.IntN(3) == 0 {
			id = closing(v, allowed, id)
		}
		require.True(t, s.Accept(id), "%q then %q", out.String(), v.piece[id])
		if s.over {
			require.True(t, s.Whole())
			return out.String()
		}
		out.Write(v.piece[id])
	}
	require.Fail(t, "no end", "%.200q", out.String())
	return ""
}

// closing prefers what brings an answer to its end.
func closing(v *Vocab, allowed []int32, id int32) int32 {
	rank := func(id int32) int {
		if v.piece[id] == nil {
			return 100
		}
		return strings.Index("-.0n]}\"", string(v.piece[id]))
	}
	best := id
	for _, a := range allowed {
		if rank(a) > rank(best) {
			best = a
		}
	}
	return best
}

// Whatever the model prefers, what comes out satisfies the schema, in the eyes of a validator that is not ours.
func TestRandomWalksOfRandomSchemasAreValid(t *testing.T) {
	v, _ := vocabulary(t)
	r := rand.New(rand.NewPCG(7, 7))
	seen := map[string]bool{}
	for range 30 {
		schema, err := json.Marshal(randomSchema(r, 0))
		require.NoError(t, err)
		g, err := FromSchema("s", schema)
		require.NoError(t, err, string(schema))
		check := validator(t, string(schema))
		for range 3 {
			text := generate(t, g.Session(v), v, r)
			require.NoError(t, valid(check, text), "%s: %s", schema, text)
			seen[text] = true
		}
	}
	require.Greater(t, len(seen), 45, "the walks are not random")
	g := JSONObject()
	for range 10 {
		text := generate(t, g.Session(v), v, r)
		var o map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &o), text)
	}
}

// The mask, with what it remembers of states and leaves for the stack, is what each token's bytes give one by one.
func TestMaskIsWhatEachTokenGivesAlone(t *testing.T) {
	v, tok := vocabulary(t)
	g, err := FromSchema("s", []byte(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"string","maxLength":5}},"c":{}},"required":["a","b","c"]}`))
	require.NoError(t, err)
	s := g.Session(v)
	text := `{"a": "It's \"so\"", "b":["x", "日"], "c": {"k":[1.5,"v"]}}`
	logits := make([]float32, v.size)
	for _, id := range tok.Encode(text, token.Options{}) {
		clear(logits)
		s.Mask(logits)
		require.Zero(t, logits[id], "%q must be allowed", v.piece[id])
		fresh := newMachine(g)
		at := s.m.copyTo(fresh, s.at)
		for other := range v.size {
			fits := len(v.piece[other]) > 0 && fresh.run(at, v.piece[other]) != nowhere || tok.IsEOG(other) && s.Whole()
			require.Equal(t, fits, logits[other] == 0, "%s: %q", s.Where(), v.piece[other])
		}
		require.True(t, s.Accept(int32(id)))
	}
	require.True(t, s.Done())
	require.False(t, s.Accept(5), "nothing follows a whole value")
}

func FuzzSchema(f *testing.F) {
	for _, s := range []string{`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"enum":[1,"a"]}}}`, `{"type":"string","pattern":"^a(b|c){2,}$"}`, `{"type":"number","minimum":-3}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		g, err := FromSchema("f", []byte(schema))
		if err == nil {
			require.Positive(t, g.States())
			m := newMachine(g)
			m.run(m.begin(), []byte(`{"a":[1,"b"]}`))
		}
	})
}

func BenchmarkMask(b *testing.B) {
	v, tok := vocabulary(b)
	logits := make([]float32, v.size)
	for name, g := range map[string]*Grammar{"object": JSONObject()} {
		ids := tok.Encode(`{"title": "A long walk", "tags": ["river", "evening"], "count": 12, "inner": {"deep": [1.5, true, null, "and text"]}}`, token.Options{})
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := g.Session(v)
				for _, id := range ids {
					s.Mask(logits)
					s.Accept(int32(id))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(ids)), "µs/token")
		})
	}
	b.Run("vocabulary", func(b *testing.B) {
		for b.Loop() {
			NewVocab(tok.Size(), tok.Piece, tok.IsEOG)
		}
	})
	b.Run("first in a string", func(b *testing.B) {
		for b.Loop() {
			s := JSONObject().Session(v)
			s.Accept(int32(tok.Encode(`{"`, token.Options{})[0]))
			s.Mask(logits)
		}
	})
}
