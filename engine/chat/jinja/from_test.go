package jinja

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func show(t *testing.T, v Value) string {
	tmpl, err := Parse("{{ v | tojson }}", Limits{})
	require.NoError(t, err)
	out, err := tmpl.Render(context.Background(), map[string]Value{"v": v}, Options{})
	require.NoError(t, err)
	return out.Text
}

func TestFromJSONKeepsOrder(t *testing.T) {
	text := `{"z": 1, "a": {"y": [1.0, 2.5, -0.0, 1e+22], "b": null}, "é": "<\u0001>", "n": 9007199254740993, "t": true}`
	v, err := FromJSON([]byte(text), true)
	require.NoError(t, err)
	require.Equal(t, text, show(t, v))
}

func TestFromGoValues(t *testing.T) {
	v, err := From(map[string]any{
		"raw": json.RawMessage(`{"b": 1, "a": 2}`), "list": []any{1, int64(2), 2.5, "x", nil, true},
		"strings": []string{"p"}, "maps": []map[string]any{{"k": float32(0.5)}}, "num": json.Number("7"),
	}, false)
	require.NoError(t, err)
	require.Equal(t, `{"list": [1, 2, 2.5, "x", null, true], "maps": [{"k": 0.5}], "num": 7, "raw": {"b": 1, "a": 2}, "strings": ["p"]}`, show(t, v))
}

func TestFromRefuses(t *testing.T) {
	for _, bad := range []string{"", "{", "[1,]", "1 2", `{"a": 18446744073709551616}`, "1e999", strings.Repeat("[", 300) + strings.Repeat("]", 300)} {
		_, err := FromJSON([]byte(bad), true)
		require.Error(t, err, bad)
	}
	deep := any(1)
	for i := 0; i < 300; i++ {
		deep = []any{deep}
	}
	_, err := From(deep, true)
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
	_, err = From(struct{}{}, true)
	require.ErrorContains(t, err, "struct {}")
}

func TestCutKeepsSpans(t *testing.T) {
	s := concatStr(lit("ab"), String("CD", true), lit("e"), String("F", true))
	require.Equal(t, []Span{{2, 4}, {5, 6}}, s.user)
	for from := 0; from <= len(s.s); from++ {
		for to := from; to <= len(s.s); to++ {
			part := s.cut(from, to)
			require.Equal(t, s.s[from:to], part.s)
			for i := range part.s {
				require.Equal(t, s.isUser(from+i), part.isUser(i), "cut %d:%d byte %d", from, to, i)
			}
		}
	}
}
