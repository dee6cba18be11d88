package file

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

const (
	schemaPath = "../../docs/trace.schema.json"
	docPath    = "../../docs/trace-format.md"
)

func compile(t *testing.T) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.AssertContent()
	s, err := c.Compile(schemaPath)
	require.NoError(t, err)
	return s
}

// full is a recording in which no field of any struct is empty, but for those of a finished one.
func full(t *testing.T) *Recording {
	rec := sample(t)
	rec.Model.HeadDim, rec.Model.FFN, rec.Model.Context = 2, 3, 4
	rec.Model.Tensors = []ModelTensor{{"attn_q", 0, "blk.0.attn_q.weight", "Q4_1", 2, 3, 20}}
	rec.Device.Driver = "none"
	one := 1.5
	rec.Device.Before, rec.Device.After = &DeviceState{&one, &one, &one, &one, &one}, &DeviceState{&one, &one, &one, &one, &one}
	rec.Request.Stops = []Halt{{"attn_mix", 1, 2, 0, 3, 4, "limit"}}
	rec.Request.Edits = []Edit{{"lm_head", -1, 2, 0, "logits", 3, 1, "scale", 2.5, Floats{1}, Floats{2.5}, 5}}
	rec.Passes[0].PausedNs, rec.Numbers.PausedNs = 4, 4
	rec.Device.InputTop = 127
	spread := Spread{1, 2, 3, 15, "fma"}
	rec.Device.Roof = &Roof{"AMD EPYC", 2, "avx2", "2026-01-02T03:04:05Z", []ReadRoof{{1 << 20, spread}}, spread, spread}
	rec.Untraced = &Untraced{DecodeTokensPerS: 120}
	rec.Dropped = Dropped{1, ringFull}
	rec.Partial, rec.Missing = true, []string{"an end"}
	rec.Lanes[0].Note = "one for each connection"
	rec.Loops = []Loop{{"layers", "attn_norm", "ffn_residual"}}
	rec.Modules = []Module{{Name: "a", Path: "a.py", Lines: 3, State: "ran"}}
	rec.Request.Prompt, rec.Request.Error = "p", "e"
	rec.Arrays["attention"].AttrNames = []string{"a"}
	w := &rec.Walk[0]
	w.Form, w.Role, w.Group, w.Hand, w.Short, w.Wrong, w.Link = "ids", "op", "qkv", &Hand{"channel", "submit"}, "s", "w", "l"
	w.Label, w.Body, w.HandsOn = "q", "b", "h"
	return rec
}

func validateText(t *testing.T, s *jsonschema.Schema, raw []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	return s.Validate(doc)
}

func TestWrittenRecordingsFollowTheSchema(t *testing.T) {
	s := compile(t)
	partial, err := read(journalOf(t, false))
	require.NoError(t, err)
	for name, rec := range map[string]*Recording{"sample": sample(t), "full": full(t), "journal": partial} {
		require.NoError(t, validateText(t, s, write(t, rec, ".json")), name)
	}
	empty := &Recording{Device: Device{Kind: "cpu"}, Started: "2026-01-02T03:04:05Z"}
	require.NoError(t, validateText(t, s, write(t, empty, ".json")))
}

func TestSchemaRefusesWhatTheReaderRefuses(t *testing.T) {
	s := compile(t)
	raw := string(write(t, full(t), ".json"))
	for from, to := range map[string]string{
		`"version":"1.2"`: `"version":"2.0"`, `"what":"take"`: `"what":"lend"`, `"what":"wait"`: `"what":"sleep"`, `"residual_ns":40`: `"residual_ns":-40`, `"kind":"prefill"`: `"kind":"warmup"`, `"stage":"schedule"`: `"stage":"later"`, `"prov":"measured"`: `"prov":"guessed"`,
		`"dur_ns":1000000,"lane"`: `"dur_ns":-1,"lane"`, `"spans":[3]`: `"spans":[-1]`, `"dtype":"f4"`: `"dtype":"O"`, `"start_ns":1000000,`: `"start_ns":"soon",`,
	} {
		require.Contains(t, raw, from)
		bad := []byte(strings.Replace(raw, from, to, 1))
		require.Error(t, validateText(t, s, bad), to)
		_, err := read(bad)
		require.Error(t, err, to)
	}
}

// requireNamed walks the schema beside a decoded file and fails where the file has a field that the schema does not name.
func requireNamed(t *testing.T, root, node map[string]any, v any, path string) {
	if ref, ok := node["$ref"].(string); ok {
		node = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	switch v := v.(type) {
	case map[string]any:
		props, _ := node["properties"].(map[string]any)
		extra, _ := node["additionalProperties"].(map[string]any)
		if props == nil && extra == nil {
			return // a free object
		}
		for key, x := range v {
			sub, ok := props[key].(map[string]any)
			if !ok {
				sub, ok = extra, extra != nil
			}
			if strings.HasSuffix(path, ".attrs") {
				continue
			}
			require.True(t, ok, "%s.%s is not in the schema", path, key)
			requireNamed(t, root, sub, x, path+"."+key)
		}
	case []any:
		items, ok := node["items"].(map[string]any)
		if !ok {
			return
		}
		for _, x := range v {
			requireNamed(t, root, items, x, path+"[]")
		}
	}
}

func TestSchemaAndDocumentNameEveryField(t *testing.T) {
	raw, err := os.ReadFile(schemaPath)
	require.NoError(t, err)
	var root map[string]any
	require.NoError(t, json.Unmarshal(raw, &root))
	var doc any
	require.NoError(t, json.Unmarshal(write(t, full(t), ".json"), &doc))
	requireNamed(t, root, root, doc, "")

	text, err := os.ReadFile(docPath)
	require.NoError(t, err)
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map && typ.Elem().Kind() != reflect.Interface {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name != "" && name != "-" {
				require.True(t, strings.Contains(string(text), "`"+name+"`"), "%v.%s is not described in %s", typ, name, docPath)
			}
			walk(typ.Field(i).Type)
		}
	}
	walk(reflect.TypeFor[recordingJSON]())
	walk(reflect.TypeFor[journalLine]())
	require.Greater(t, len(seen), 20)
}
