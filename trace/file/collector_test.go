package file

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

// ear is a sink that remembers what it was told.
type ear struct {
	mu       sync.Mutex
	calls    []string
	spans    []Span
	tokens   []Token
	request  *Request
	requests int
	head     *Recording
	finished *Recording
}

func (e *ear) note(call string) {
	if len(e.calls) == 0 || e.calls[len(e.calls)-1] != call {
		e.calls = append(e.calls, call)
	}
}

func (e *ear) Started(id string, head *Recording) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.note("started " + id)
	e.head = head
}

func (e *ear) Request(id string, r *Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.note("request " + id)
	e.request = r
	e.requests++
}

func (e *ear) Delta(id string, d *Delta) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.note("delta " + id)
	e.spans, e.tokens = append(e.spans, d.Spans...), append(e.tokens, d.Tokens...)
}

func (e *ear) Finished(id string, rec *Recording) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.note("finished " + id)
	e.finished = rec
}

func (e *ear) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.spans)
}

func TestCollectorTellsTheSinkWhileTheRequestRuns(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.gbx")
	e := &ear{}
	r := trace.NewRecorder("sample01", trace.Now(), trace.CaptureSpec{Attention: true})
	c, err := Collect(r, Options{Head: sampleHead, Out: out, Sink: e, Interval: time.Millisecond, Finish: func(rec *Recording) {
		require.NotEmpty(t, rec.RawSources["draw"])
		rec.Walk = append(rec.Walk, Step{ID: "queue", Title: "Wait", Stage: "schedule", Lane: "loop"})
	}})
	require.NoError(t, err)
	sampleRequest(r)
	require.Eventually(t, func() bool { return e.count() == 32 }, 5*time.Second, time.Millisecond, "spans arrive before the end")
	require.FileExists(t, JournalPath(out))
	require.NoFileExists(t, out)
	require.NoError(t, c.Attach("attention", sampleArrays()["attention"]))
	require.Error(t, c.Attach("no good", sampleArrays()["attention"]))
	time.Sleep(20 * time.Millisecond) // some drains in which nothing happens
	r.End()
	rec, err := c.Wait()
	require.NoError(t, err)
	require.NoFileExists(t, JournalPath(out))
	require.LessOrEqual(t, e.requests, 3, "told when what was asked changes, and at the end")

	require.Same(t, rec, e.finished)
	require.Empty(t, e.head.Spans)
	require.Equal(t, "started sample01", e.calls[0])
	require.Equal(t, "finished sample01", e.calls[len(e.calls)-1])
	require.Len(t, e.tokens, 3)
	require.Equal(t, "req-1", e.request.ID)
	require.Len(t, e.request.PromptTokens, 3)
	got, want := e.spans, slices.Clone(rec.Spans)
	slices.SortFunc(got, func(a, b Span) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(want, func(a, b Span) int { return strings.Compare(a.ID, b.ID) })
	for i := range want {
		want[i].Parent = ""
	}
	require.Equal(t, want, got)

	back, err := Read(out)
	require.NoError(t, err)
	back.RawSources = rec.RawSources
	require.Equal(t, orEmpty(rec.Walk[0].Spans), back.Walk[0].Spans)
	back.Walk[0].Spans = rec.Walk[0].Spans
	require.Equal(t, rec, back)
}

// journalOf runs a request up to a point and returns its journal as a kill would leave it.
func journalOf(t *testing.T, end bool) []byte {
	out := filepath.Join(t.TempDir(), "x.gbx")
	e := &ear{}
	r := trace.NewRecorder("sample01", trace.Now(), trace.CaptureSpec{Attention: true, Lens: true})
	var raw []byte
	c, err := Collect(r, Options{Head: sampleHead, Out: out, Sink: e, Interval: time.Millisecond, Finish: func(*Recording) {
		raw, _ = os.ReadFile(JournalPath(out)) // the last moment before the final file
	}})
	require.NoError(t, err)
	sampleRequest(r)
	require.Eventually(t, func() bool { return e.count() == 32 }, 5*time.Second, time.Millisecond)
	if !end {
		raw, err = os.ReadFile(JournalPath(out))
		require.NoError(t, err)
		c.Stop()
		rec, err := c.Wait()
		require.NoError(t, err)
		require.True(t, rec.Partial)
		require.Zero(t, rec.Numbers.E2ENs)
		require.FileExists(t, JournalPath(out))
		require.NoFileExists(t, out)
		raw, err = os.ReadFile(JournalPath(out))
		require.NoError(t, err)
		return raw
	}
	r.End()
	_, err = c.Wait()
	require.NoError(t, err)
	return raw
}

func TestJournalOpensAfterAKill(t *testing.T) {
	want := sample(t)
	rec, err := read(journalOf(t, false))
	require.NoError(t, err)
	require.True(t, rec.Partial)
	require.Equal(t, []string{"the end of the request", "walk: the texts of the steps", "arrays of the capture attention", "arrays of the capture lens"}, rec.Missing)
	require.Equal(t, want.Spans, rec.Spans)
	require.Equal(t, want.Passes, rec.Passes)
	require.Equal(t, want.RawSources, rec.RawSources)
	require.Equal(t, want.Request.OutputTokens, rec.Request.OutputTokens)
	require.Equal(t, want.Request.PromptTokens, rec.Request.PromptTokens)
	n := want.Numbers
	n.E2ENs = 0
	require.Equal(t, n, rec.Numbers)

	rec, err = read(journalOf(t, true))
	require.NoError(t, err)
	require.NotContains(t, rec.Missing, "the end of the request")
	require.Equal(t, "x\uFFFDx", rec.Request.Text)
	require.Equal(t, want.Numbers, rec.Numbers)
	again, err := read(write(t, rec, ".json"))
	require.NoError(t, err)
	require.Equal(t, rec.Missing, again.Missing)
}

func TestJournalCutAnywhereOpensOrSaysWhy(t *testing.T) {
	raw := journalOf(t, false)
	first := strings.IndexByte(string(raw), '\n')
	for n := 0; n < len(raw); n += 7 {
		rec, err := read(raw[:n])
		if n < first {
			require.Error(t, err, n)
			continue
		}
		require.NoError(t, err, n)
		if n > 0 && raw[n-1] != '\n' && n != first && n+1 < len(raw) && raw[n] != '\n' {
			require.Contains(t, rec.Missing[0], "what was being written", n)
		}
	}
	broken := strings.Replace(string(raw), "\n{", "\n}", 1)
	_, err := read([]byte(broken))
	require.ErrorContains(t, err, "journal: line 2, offset")
	_, err = read([]byte(strings.Replace(string(raw), `"version":"1.2"`, `"version":"3.0"`, 1)))
	require.ErrorContains(t, err, "wanted 1.N")
}

func TestJournalSaysWhatGotLostOnTheWay(t *testing.T) {
	head := journalStart + `{"name":"glassbox-trace","version":"1.2"},"head":{"id":"x"}}` + "\n"
	span := `{"delta":{"spans":[{"id":"a","prov":"measured"}],"sources":{"attn_q":[{"symbol":"f","decl":true},{"symbol":"g"}]}}}` + "\n"
	rec, err := read([]byte(head + span + `{"end":{"spans":3}}` + "\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"2 of 3 spans", "walk: the texts of the steps"}, rec.Missing)
	require.Equal(t, []SourceRef{{Symbol: "g"}, {Symbol: "f", Decl: true}}, rec.RawSources["attn_q"], "lines before declarations")
}

func TestFileThatCannotBeWrittenLeavesTheJournal(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "x.json")
	r := trace.NewRecorder("a", trace.Now(), trace.CaptureSpec{})
	c, err := Collect(r, Options{Out: out})
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(out, 0o755)) // the final name is taken by a folder
	r.End()
	rec, err := c.Wait()
	require.ErrorContains(t, err, "the journal")
	require.NotNil(t, rec)
	require.FileExists(t, JournalPath(out))
	require.NoFileExists(t, out+".new.part")
	_, err = Collect(r, Options{Out: filepath.Join(dir, "no", "x.json")})
	require.ErrorContains(t, err, "journal")
	_, err = Collect(r, Options{Out: filepath.Join(dir, "x.txt")})
	require.ErrorContains(t, err, ".json or .gbx")
}

func TestCollectorKeepsUpWithWriters(t *testing.T) {
	r := trace.NewRecorder("a", trace.Now(), trace.CaptureSpec{})
	c, err := Collect(r, Options{Interval: time.Millisecond, Sink: &ear{}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for _, lane := range []trace.Lane{trace.LaneHTTP, trace.LaneLoop} {
		wg.Go(func() {
			w := r.Writer(lane)
			for i := range 3000 {
				w.In(i, i)
				span(w, trace.StepDraw, int64(i), int64(i+1))
				r.AddToken(trace.Token{ID: i, Pass: int32(i)})
				r.Update(func(f *trace.Facts) { f.PromptToks = append(f.PromptToks, trace.Token{ID: i}) })
			}
		})
	}
	wg.Wait()
	r.End()
	rec, err := c.Wait()
	require.NoError(t, err)
	require.Equal(t, 6000, len(rec.Spans)+int(rec.Dropped.Spans))
	require.Len(t, rec.Request.OutputTokens, 6000)
	require.Len(t, rec.Request.PromptTokens, 6000)
}

func TestPassesAreGivenBack(t *testing.T) {
	r := trace.NewRecorder("a", trace.Now(), trace.CaptureSpec{})
	c, err := Collect(r, Options{})
	require.NoError(t, err)
	sampleRequest(r)
	r.End()
	_, err = c.Wait()
	require.NoError(t, err)
	var p trace.PassOps
	p.Reset(5, 2)
	require.Zero(t, testing.AllocsPerRun(1, func() { r.Pass(&p, trace.Pass{}) }))
}

// quietEar is a sink that may have nobody who looks.
type quietEar struct {
	ear
	watched atomic.Bool
}

func (e *quietEar) Watching() bool { return e.watched.Load() }

func TestUnwatchedRequestIsToldInOneDelta(t *testing.T) {
	run := func(watch func(e *quietEar)) (*quietEar, *Recording) {
		e := &quietEar{}
		r := trace.NewRecorder("sample01", trace.Now(), trace.CaptureSpec{})
		c, err := Collect(r, Options{Head: sampleHead, Sink: e, Interval: time.Millisecond})
		require.NoError(t, err)
		sampleRequest(r)
		time.Sleep(20 * time.Millisecond)
		watch(e)
		r.End()
		rec, err := c.Wait()
		require.NoError(t, err)
		return e, rec
	}
	deltas := func(e *quietEar) (n int) {
		for _, c := range e.calls {
			if c == "delta sample01" {
				n++
			}
		}
		return n
	}
	e, quiet := run(func(e *quietEar) { require.Zero(t, e.count(), "nobody looks") })
	require.Equal(t, 1, deltas(e))
	require.Len(t, e.spans, len(quiet.Spans))
	require.Len(t, e.tokens, 3)
	// Somebody who comes while it runs gets all of it.
	e, loud := run(func(e *quietEar) {
		e.watched.Store(true)
		require.Eventually(t, func() bool { return e.count() == 32 }, 5*time.Second, time.Millisecond)
	})
	require.Len(t, e.spans, len(loud.Spans))
	ids := func(r *Recording) (out []string) {
		for _, s := range r.Spans {
			out = append(out, s.ID)
		}
		slices.Sort(out)
		return out
	}
	require.Equal(t, ids(loud), ids(quiet))
	require.Equal(t, len(loud.RawSources), len(quiet.RawSources))
}
