package file

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// made is a recording that was made elsewhere.
func made(t *testing.T, id string, age time.Duration, now time.Time) *Recording {
	rec := sample(t)
	rec.ID, rec.Started = id, now.Add(-age).UTC().Format(startedForm)
	return rec
}

func TestRecordingsMadeElsewhereAreKeptAndReplaced(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		s, err := NewStore(StoreOptions{Dir: dir, Count: 2, OnError: func(err error) { t.Error(err) }})
		require.NoError(t, err)
		now := time.Now()
		one := made(t, "one", 0, now)
		require.NoError(t, s.Put(one))
		again := *one
		again.Request.Text = "more is known"
		require.NoError(t, s.Put(&again))
		got, err := s.Get("one")
		require.NoError(t, err)
		require.Equal(t, "more is known", got.Request.Text)
		require.Len(t, s.List(), 1)
		require.Len(t, s.held, 1)
		for _, id := range []string{"two", "three"} {
			require.NoError(t, s.Put(made(t, id, 0, now)))
		}
		require.Len(t, s.held, 2)
		var sum int64
		for _, id := range s.held {
			sum += s.entries[id].memory
		}
		require.Equal(t, sum, s.bytes)
		got, err = s.Get("one")
		if dir == "" {
			require.ErrorIs(t, err, ErrUnknown)
		} else {
			require.NoError(t, err)
			require.Equal(t, "more is known", got.Request.Text)
		}
		require.ErrorContains(t, s.Put(made(t, "../x", 0, now)), "wanted 1 to 64 letters")
		s.Close()
	}
}

func TestOldRecordingsAndTooManyAreDeleted(t *testing.T) {
	dir := t.TempDir()
	s, err := NewStore(StoreOptions{Dir: dir, OnError: func(err error) { t.Error(err) }})
	require.NoError(t, err)
	defer s.Close()
	now := time.Now()
	for i, id := range []string{"a", "b", "c", "d"} {
		require.NoError(t, s.Put(made(t, id, time.Duration(i)*time.Hour, now)))
	}
	require.Equal(t, 1, s.Retain(150*time.Minute, 0, now))
	require.NoFileExists(t, filepath.Join(dir, "d.gbx"))
	info, err := os.Stat(filepath.Join(dir, "a.gbx"))
	require.NoError(t, err)
	require.Equal(t, 1, s.Retain(0, 2*info.Size()+10, now))
	require.NoFileExists(t, filepath.Join(dir, "c.gbx"))
	require.Equal(t, 1, s.Retain(0, 1, now), "the newest is always kept")
	require.Len(t, s.List(), 1)
	require.Equal(t, 0, s.Retain(0, 0, now))
}
