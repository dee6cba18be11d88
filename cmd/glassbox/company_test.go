package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

// A request beside others answers as it does alone, and its recording shows who shared its turns.
func TestARequestJoinsABatchThatRuns(t *testing.T) {
	alone, _, code := output(t, "trace", "Why is the sky blue?", "--max-tokens", "24", "--temp", "0", "-o", filepath.Join(t.TempDir(), "a.gbx"))
	require.Zero(t, code)
	path := filepath.Join(t.TempDir(), "b.gbx")
	beside, stderr, code := output(t, "trace", "Why is the sky blue?", "--max-tokens", "24", "--temp", "0", "--beside", "3", "-o", path)
	require.Zero(t, code, stderr)
	require.Equal(t, alone, beside)
	rec, err := file.Read(path)
	require.NoError(t, err)
	most, least := 0, len(rec.Turns[0].Parts)
	for _, turn := range rec.Turns {
		most, least = max(most, len(turn.Parts)), min(least, len(turn.Parts))
	}
	require.Equal(t, 4, most, "the three others and this one")
	require.Less(t, least, 4, "one of them has left before the end")
	require.Equal(t, "Why is the sky blue?", file.PromptStart(&rec.Request), "nothing of the others")
	require.NotNil(t, rec.Memory)

	_, stderr, code = output(t, "trace", "Hi", "--beside", "65")
	require.Equal(t, 2, code)
	oneLine(t, "too many", stderr, "--beside", "64", "65")
}
