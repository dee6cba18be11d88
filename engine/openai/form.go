package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"glassbox/engine/grammar"
	"glassbox/engine/openai/wire"
)

// form reads response_format: the grammar that the answer has to keep to, nil for plain text.
func (s *Server) form(f *wire.ResponseFormat) (*grammar.Grammar, error) {
	const param = "response_format"
	if f == nil {
		return nil, nil
	}
	name, schema, where := "schema", f.Schema, "response_format.schema"
	switch f.Type {
	case "text":
		return nil, nil
	case "json_object":
		if empty(schema) {
			return anyObject(), nil
		}
	case "json_schema":
		if f.JSONSchema == nil {
			return nil, invalid(param, `response_format.json_schema: wanted {"name":..., "schema":...}, found nothing`)
		}
		name, schema, where = f.JSONSchema.Name, f.JSONSchema.Schema, "response_format.json_schema.schema"
		if empty(schema) {
			return nil, invalid(param, "%s: wanted a JSON Schema, found none", where)
		}
	default:
		return nil, unsupported("unsupported_value", param, "response_format.type: wanted text, json_object or json_schema, found %q", shorten(f.Type, 40))
	}
	g, err := s.forms.get(name, schema)
	var e *grammar.SchemaError
	if errors.As(err, &e) {
		text := where + ": " + e.Error()
		if e.Path != "" {
			text = where + "." + e.Error()
		}
		if e.Unsupported {
			return nil, unsupported("unsupported_value", param, "%s", text)
		}
		return nil, invalid(param, "%s", text)
	}
	return g, err
}

var anyObject = sync.OnceValue(grammar.JSONObject)

// empty tells whether a field was not sent, or is null.
func empty(raw json.RawMessage) bool { return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null" }

// forms keeps the grammars of schemas that came last, with all that they have worked out.
type forms struct {
	mu   sync.Mutex
	list []keptForm // the last used is the last
}

type keptForm struct {
	name, schema string
	grammar      *grammar.Grammar
}

const mostForms = 16

func (f *forms) get(name string, schema []byte) (*grammar.Grammar, error) {
	f.mu.Lock()
	i := slices.IndexFunc(f.list, func(k keptForm) bool { return k.name == name && k.schema == string(schema) })
	if i >= 0 {
		k := f.list[i]
		f.list = append(slices.Delete(f.list, i, i+1), k)
		f.mu.Unlock()
		return k.grammar, nil
	}
	f.mu.Unlock()
	g, err := grammar.FromSchema(name, schema)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.list) >= mostForms {
		f.list = slices.Delete(f.list, 0, 1)
	}
	f.list = append(f.list, keptForm{name, string(schema), g})
	return g, nil
}
