package kernels

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Sources and PTX belong together: what the driver is given was compiled from what is read.
func TestEachSourceHasItsPTX(t *testing.T) {
	names, err := fs.Glob(PTX, "ptx/*.ptx")
	require.NoError(t, err)
	sources, err := filepath.Glob("*.cu")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	require.Len(t, names, len(sources))
	for _, s := range sources {
		require.Contains(t, names, "ptx/"+strings.TrimSuffix(s, ".cu")+".ptx")
	}
	for _, n := range names {
		text, err := PTX.ReadFile(n)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), ".version 7.8\n.target sm_80\n"), n)
	}
}
