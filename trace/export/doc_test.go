package export

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

// The form for documentation of each recording that ships is small, follows the schema, opens again, and its steps say
// what the whole recording says.
func TestDocOfWhatShips(t *testing.T) {
	c := jsonschema.NewCompiler()
	schema, err := c.Compile("../../docs/trace.schema.json")
	require.NoError(t, err)
	for _, id := range []string{"why-is-the-sky-blue", "one-of-four", "chat-in-vllm"} {
		rec, err := file.Read("../../static/recordings/" + id + ".gbx")
		require.NoError(t, err)
		var b, again bytes.Buffer
		require.NoError(t, Doc(&b, rec))
		require.Less(t, b.Len(), DocLimit, id)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(v), id)
		require.NoError(t, Doc(&again, rec))
		require.Equal(t, b.String(), again.String(), "the same recording gives the same file")

		small, err := file.ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()), file.DefaultLimits)
		require.NoError(t, err)
		require.Len(t, small.Walk, len(rec.Walk))
		for i := range rec.Walk {
			x, y := &rec.Walk[i], &small.Walk[i]
			require.Equal(t, []any{x.ID, x.Title, x.TimeNs, x.Count, x.Source.Line, x.Text}, []any{y.ID, y.Title, y.TimeNs, y.Count, y.Source.Line, y.Text})
			for _, n := range y.Spans {
				require.Equal(t, x.ID, small.Spans[n].Step, "a step names a span of another")
			}
			if y.Source.Code != nil {
				at := y.Source.Line - y.Source.Code.First
				require.Equal(t, x.Source.Code.Lines[x.Source.Line-x.Source.Code.First], y.Source.Code.Lines[at], "the lit line is the same")
			}
		}
		require.Equal(t, int64(len(rec.Spans)), small.Dropped.Spans+int64(len(small.Spans))-rec.Dropped.Spans)
		if rec.ID != "" {
			require.NotContains(t, b.String(), rec.ID)
		}
		require.Greater(t, strings.Count(b.String(), "\n"), len(small.Walk)+len(small.Spans), "a line for each step and span")
	}
}

// A second run of the same request differs in times alone: ids of steps and spans stay.
func TestDocKeepsIDs(t *testing.T) {
	rec, err := file.Read("../../static/recordings/why-is-the-sky-blue.gbx")
	require.NoError(t, err)
	var a, b bytes.Buffer
	require.NoError(t, Doc(&a, rec))
	other := *rec
	other.ID, other.Request.ID, other.Request.TraceID = "another1", "other", strings.Repeat("a", 32)
	require.NoError(t, Doc(&b, &other))
	require.Equal(t, a.String(), b.String())
}

func TestDocTooLarge(t *testing.T) {
	rec, err := file.Read("../../static/recordings/why-is-the-sky-blue.gbx")
	require.NoError(t, err)
	rec.Request.Text = strings.Repeat("x", DocLimit)
	err = Doc(io.Discard, rec)
	require.ErrorContains(t, err, "--max-tokens")
}
