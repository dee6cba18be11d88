package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

// serve runs a whole request through a store and returns its id.
func serve(t *testing.T, s *Store) string {
	r, err := s.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(t, err)
	sampleRequest(r)
	r.End()
	rec, err := s.Wait(context.Background(), r.ID)
	require.NoError(t, err)
	require.Equal(t, r.ID, rec.ID)
	return r.ID
}

func TestARecordingOfAnotherEngineSaysSo(t *testing.T) {
	s, err := NewStore(StoreOptions{Head: sampleHead})
	require.NoError(t, err)
	other := sampleHead
	other.Device.Threads = sampleHead.Device.Threads + 5
	r, err := s.As(other).Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(t, err)
	sampleRequest(r)
	r.End()
	rec, err := s.Wait(context.Background(), r.ID)
	require.NoError(t, err)
	require.Equal(t, other.Device.Threads, rec.Device.Threads)
	mine, err := s.Get(serve(t, s))
	require.NoError(t, err)
	require.Equal(t, sampleHead.Device.Threads, mine.Device.Threads)
}

func TestStoreListsRunningAndFinished(t *testing.T) {
	s, err := NewStore(StoreOptions{Head: sampleHead, Running: 2, Finish: func(rec *Recording) { rec.Walk = []Step{{ID: "x", Stage: "receive"}} }})
	require.NoError(t, err)
	first := serve(t, s)
	r, err := s.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(t, err)
	require.NotEqual(t, first, r.ID)
	require.Regexp(t, "^[a-z0-9]{16}$", r.ID)
	r.Update(func(f *trace.Facts) { f.Prompt = "Once upon" })
	r.AddToken(trace.Token{ID: 1})
	list := s.List()
	require.Len(t, list, 2)
	require.Equal(t, r.ID, list[0].ID, "newest first")
	require.True(t, list[0].Running)
	require.Equal(t, "Once upon", list[0].Prompt)
	require.Equal(t, 1, list[0].Numbers.OutputTokens)
	require.Equal(t, `Say <hi> & "bye"`, list[1].Prompt)
	require.Equal(t, 100.0, list[1].Numbers.DecodeTokensPerS)
	require.Positive(t, list[1].Bytes)
	_, err = s.Get(r.ID)
	require.ErrorIs(t, err, ErrRunning)
	require.ErrorIs(t, s.Delete(r.ID), ErrRunning)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.Wait(ctx, r.ID)
	require.ErrorIs(t, err, ErrRunning)
	require.NoError(t, s.Attach(r.ID, "attention", sampleArrays()["attention"]))
	_, err = s.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(t, err)
	_, err = s.Start(trace.Now(), trace.CaptureSpec{})
	require.ErrorIs(t, err, ErrBusy)
	require.False(t, s.Ended(r.ID), "it runs")
	r.End()
	rec, err := s.Wait(context.Background(), r.ID)
	require.NoError(t, err)
	require.False(t, s.Ended(r.ID), "it is whole")
	require.Equal(t, "x", rec.Walk[0].ID)
	require.NotNil(t, rec.Arrays["attention"])
	require.NoError(t, s.Delete(r.ID))
	_, err = s.Get(r.ID)
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, s.Delete("../x"), ErrUnknown)
	s.Close()
	_, err = s.Start(trace.Now(), trace.CaptureSpec{})
	require.Error(t, err)
}

// What was switched off is in the list, whether the recording is in memory or was read from JSON.
func TestSummaryNamesWhatWasOff(t *testing.T) {
	for want, params := range map[string]Attrs{"": {}, "L1.H3 L0.ffn=mean": {"ablate": []string{"L1.H3", "L0.ffn=mean"}}, "L2": {"ablate": []any{"L2", 7}}} {
		require.Equal(t, want, strings.Join(Summarize(&Recording{Request: Request{Params: params}}).Ablate, " "))
	}
}

func TestStoreDropsTheOldest(t *testing.T) {
	s, err := NewStore(StoreOptions{Count: 2})
	require.NoError(t, err)
	a, b, c := serve(t, s), serve(t, s), serve(t, s)
	_, err = s.Get(a)
	require.ErrorIs(t, err, ErrUnknown)
	for _, id := range []string{b, c} {
		_, err = s.Get(id)
		require.NoError(t, err)
	}
	s, err = NewStore(StoreOptions{Bytes: 1})
	require.NoError(t, err)
	serve(t, s)
	last := serve(t, s)
	require.Len(t, s.List(), 1)
	require.Equal(t, last, s.List()[0].ID)
}

func TestStoreOnDiskOutlivesItself(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "traces")
	var told []error
	opts := StoreOptions{Head: sampleHead, Dir: dir, Count: 1, OnError: func(err error) { told = append(told, err) }}
	s, err := NewStore(opts)
	require.NoError(t, err)
	a, b := serve(t, s), serve(t, s)
	rec, err := s.Get(a) // dropped from memory, read from disk
	require.NoError(t, err)
	require.Len(t, rec.Spans, 32)
	again, err := s.Get(a)
	require.NoError(t, err)
	require.Same(t, rec, again, "now in memory")
	r, err := s.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(t, err)
	sampleRequest(r)
	s.Close() // the request never ends
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken.gbx"), []byte("PK"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, a+".gbx.part"), []byte("stale"), 0o644))

	s, err = NewStore(opts)
	require.NoError(t, err)
	require.Len(t, told, 1)
	require.ErrorContains(t, told[0], "broken.gbx")
	list := s.List()
	require.Len(t, list, 3)
	require.Equal(t, []string{r.ID, b, a}, []string{list[0].ID, list[1].ID, list[2].ID})
	require.True(t, list[0].Partial)
	require.False(t, list[1].Partial)
	require.Equal(t, `Say <hi> & "bye"`, list[1].Prompt)
	info, err := os.Stat(filepath.Join(dir, b+".gbx"))
	require.NoError(t, err)
	require.Equal(t, info.Size(), list[1].Bytes)
	rec, err = s.Get(r.ID)
	require.NoError(t, err)
	require.Contains(t, rec.Missing, "the end of the request")
	for _, id := range []string{a, b, r.ID} {
		require.NoError(t, s.Delete(id))
	}
	require.Empty(t, s.List())
	require.NoFileExists(t, filepath.Join(dir, b+".gbx"))
	require.NoFileExists(t, filepath.Join(dir, r.ID+".gbx.part"))
}

func TestStoreWithoutRoomOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "traces")
	var told []error
	s, err := NewStore(StoreOptions{Head: sampleHead, Dir: dir, OnError: func(err error) { told = append(told, err) }})
	require.NoError(t, err)

	r, err := s.Start(trace.Now(), trace.CaptureSpec{}) // the final file cannot be put in place
	require.NoError(t, err)
	taken := filepath.Join(dir, r.ID+".gbx")
	require.NoError(t, os.Mkdir(taken, 0o755))
	sampleRequest(r)
	r.End()
	rec, err := s.Wait(context.Background(), r.ID)
	require.NoError(t, err)
	require.Len(t, rec.Spans, 32)
	require.Len(t, told, 1)
	require.FileExists(t, taken+".part", "the journal is what the disk has of it")
	require.NoError(t, os.Remove(taken))
	require.NoError(t, s.Delete(r.ID))
	require.NoFileExists(t, taken+".part", "a deleted recording does not come back with the next start")

	require.NoError(t, os.RemoveAll(dir)) // not even a journal can be made
	id := serve(t, s)
	require.Len(t, told, 2)
	require.ErrorContains(t, told[1], "in memory alone")
	require.NoError(t, s.Delete(id))
}

func TestARecoveredJournalHasItsWalk(t *testing.T) {
	opts := StoreOptions{Head: sampleHead, Dir: t.TempDir(), Finish: func(rec *Recording) { rec.Walk = []Step{{ID: "x", Stage: "receive"}} }}
	s, err := NewStore(opts)
	require.NoError(t, err)
	r, err := s.Start(trace.Now(), trace.CaptureSpec{})
	require.NoError(t, err)
	sampleRequest(r)
	s.Close() // the request never ends
	plain, err := Read(filepath.Join(opts.Dir, r.ID+".gbx.part"))
	require.NoError(t, err)
	require.Contains(t, plain.Missing, missingWalk)
	s, err = NewStore(opts)
	require.NoError(t, err)
	rec, err := s.Get(r.ID)
	require.NoError(t, err)
	require.Len(t, rec.Walk, 1)
	require.NotContains(t, rec.Missing, missingWalk, "what is there is not called missing")
	require.Contains(t, rec.Missing, "the end of the request")
}

func TestDeleteTakesEveryFileOfARecording(t *testing.T) {
	dir := t.TempDir()
	s, err := NewStore(StoreOptions{Head: sampleHead, Dir: dir})
	require.NoError(t, err)
	id := serve(t, s)
	whole, err := os.ReadFile(filepath.Join(dir, id+".gbx"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, id+".gbx.part"), whole, 0o644))
	require.NoError(t, s.Delete(id))
	s, err = NewStore(StoreOptions{Head: sampleHead, Dir: dir})
	require.NoError(t, err)
	require.Empty(t, s.List())
}

func TestIDs(t *testing.T) {
	require.True(t, ValidID(NewID()))
	for _, id := range []string{"", "..", "a/b", `a\b`, "a.b", "a b", "é", string(make([]byte, 65))} {
		require.False(t, ValidID(id), id)
	}
	_, err := NewStore(StoreOptions{Dir: filepath.Join(os.DevNull, "x")})
	require.Error(t, err)
}

func TestSummaryOfAFileIsThatOfItsRecording(t *testing.T) {
	rec := sample(t)
	for _, ext := range []string{".json", ".gbx"} {
		path := filepath.Join(t.TempDir(), "x"+ext)
		require.NoError(t, Write(path, rec))
		got, err := ReadSummary(path)
		require.NoError(t, err)
		want := Summarize(rec)
		want.Bytes = got.Bytes
		require.Equal(t, want, got)
	}
	_, err := ReadSummary(filepath.Join(t.TempDir(), "none.gbx"))
	require.True(t, errors.Is(err, os.ErrNotExist))
	require.Equal(t, "part one", PromptStart(&Request{Messages: []byte(`[{"content":"x"},{"content":[{"type":"text","text":"part one"}]}]`)}))
	long := PromptStart(&Request{Prompt: string(make([]byte, 159)) + "é" + "more"})
	require.Equal(t, 159+len("…"), len(long))
}
