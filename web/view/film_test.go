package view

import (
	"io/fs"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/static"
	"glassbox/trace/file"
)

// shippedByName reads a recording that ships, nil when there is none.
func shippedByName(t *testing.T) func(string) *file.Recording {
	read := map[string]*file.Recording{}
	return func(id string) *file.Recording {
		if rec := read[id]; rec != nil {
			return rec
		}
		f, err := static.Files.Open(path.Join("recordings", id+".gbx"))
		if err != nil {
			return nil
		}
		defer f.Close()
		info, err := f.Stat()
		require.NoError(t, err)
		rec, err := file.ReadFrom(f.(interface {
			fs.File
			ReadAt([]byte, int64) (int, error)
		}), info.Size(), file.DefaultLimits)
		require.NoError(t, err)
		rec.ID, read[id] = id, rec
		return rec
	}
}

// The film is about three minutes, without a gap, over steps that ran, and a caption can be read, or said, in its time.
func TestFilmOverTheShippedRecordings(t *testing.T) {
	get := shippedByName(t)
	f := FilmOf(get)
	require.InDelta(t, 180, f.Length, 30)
	at := 0
	used := map[string]bool{}
	for _, s := range f.Scenes {
		require.Equal(t, at, s.At, s.Chapter)
		at += s.For
		rec := get(s.Recording)
		for _, id := range []string{s.From, s.To} {
			require.True(t, slices.ContainsFunc(rec.Walk, func(w file.Step) bool { return w.ID == id && w.Count > 0 }), "%s: step %q", s.Mark(), id)
		}
		require.LessOrEqual(t, len(s.Text), s.For*16, "%s: %q is too long for %d s", s.Mark(), s.Text, s.For)
		require.NotContains(t, s.Text, "not measured", s.Mark())
		used[s.Recording] = true
	}
	require.Equal(t, f.Length, at)
	require.Len(t, used, 4)
	require.Greater(t, len(f.Chapters()), 9)
	require.Equal(t, "0:00", f.Scenes[0].Mark())
	require.Equal(t, "1:05", (&Scene{At: 65}).Mark())
}

func TestFilmWithoutRecordings(t *testing.T) {
	require.Empty(t, FilmOf(func(string) *file.Recording { return nil }).Scenes)
	f := FilmOf(func(id string) *file.Recording {
		if id == filmWalk {
			return sample(t)
		}
		return nil
	})
	require.NotEmpty(t, f.Scenes, "scenes without their recording are left out, the others stay")
}
