package file

import (
	"archive/zip"
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Captured values come as a thousand small arrays. What the zip says of each is its name twice and 76 bytes, no
// descriptor behind it and no extra field; the same recording gives the same bytes.
func TestMembersOfAZipTakeNoMoreThanTheyMust(t *testing.T) {
	size := func(arrays int) (n int, packed uint64) {
		rec := sample(t)
		rec.Arrays = map[string]*Array{}
		for i := range arrays {
			rec.Arrays[fmt.Sprintf("tape_in/%03d/attn_q", i)] = &Array{Shape: []int{8}, DType: "f4", Axes: []string{"width"}, Raw: bytes.Repeat([]byte{byte(i), 1, 2, 63}, 8)}
		}
		raw := write(t, rec, ".gbx")
		require.Equal(t, raw, write(t, rec, ".gbx"))
		z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
		require.NoError(t, err)
		require.Len(t, z.File, arrays+1)
		for _, f := range z.File {
			packed += f.CompressedSize64
			require.Less(t, f.CompressedSize64, f.UncompressedSize64)
			require.Equal(t, 1980, f.Modified.Year())
		}
		back, err := read(raw)
		require.NoError(t, err)
		require.Len(t, back.Arrays, arrays)
		for name, a := range rec.Arrays {
			require.Equal(t, a.Raw, back.Arrays[name].Raw)
		}
		return len(raw), packed
	}
	some, packed := size(100)
	more, morePacked := size(300)
	name := len("tape_in/000/attn_q.npy")
	require.Equal(t, 200*(76+2*name), more-some-int(morePacked-packed))
}
