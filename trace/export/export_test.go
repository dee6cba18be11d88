package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

// hard is a recording with everything that breaks exporters: quotes, control characters, parts of characters, markup,
// zero lengths, times that a float64 of microseconds would round, and work that overlaps by halves.
func hard() *file.Recording {
	s := func(id, lane string, start, dur int64) file.Span {
		return file.Span{ID: id, Step: "step", Name: id, Lane: lane, StartNs: start, DurNs: dur, Pass: file.None, Layer: file.None, Prov: "measured"}
	}
	rec := &file.Recording{
		ID: "r\"1", Engine: file.Engine{Name: "engine <&> \x01", Version: "1"}, Model: file.Model{Name: "m\\n"}, Started: "2026-01-02T03:04:05Z",
		Lanes:  []file.Lane{{ID: "http", Title: "HTTP \"goroutine\""}, {ID: "workers", Title: "Workers"}},
		Passes: []file.Pass{{Index: 0, Kind: "prefill", Tokens: 2, Requests: 1, StartNs: 5, DurNs: 100}, {Index: 1, Kind: "decode", Tokens: 1, Requests: 1, StartNs: 105, DurNs: 9}},
		Spans: []file.Span{
			s("out\"er", "http", 0, 1_000_000_000_000_001), s("inner\\", "http", 1, 999), s("point\x00\x1f", "http", 7, 0), s("same", "http", 7, 0), s("cut \xf0\x9f", "http", 1000, 1),
			s("half a", "gpu", 1001, 10), s("half b", "gpu", 1005, 10), s("in b", "gpu", 1006, 2), s("half c", "gpu", 1007, 10), s("late\u2028</script>", "http", 9_007_199_254_740_993, 123),
		},
	}
	rec.Spans[4].Attrs = file.Attrs{"tex\"t": "a\x07\xffb", "list": []float64{1, 0.5}, "n": int64(9_007_199_254_740_993), "on": true}
	op := file.Span{ID: "decode/1/L0/attn_q", Step: "attn_q", Name: "attn_q", Op: "attn_q", Kernel: "mv", Lane: "workers", Parent: "x", StartNs: 1008, DurNs: 7, Pass: 1, Layer: 0,
		Bytes: 3, Flops: 4, Prov: "derived", Attrs: file.Attrs{"busy_ns": []int64{7, 2}}}
	rec.Spans = append(rec.Spans[:9], op, rec.Spans[9])
	return rec
}

// event is a Chrome event as it is read; times stay digits.
type event struct {
	Ph, Name, Cat string
	Pid, Tid      int
	Ts, Dur       json.Number
	Args          json.RawMessage
}

type args struct {
	ID, Step, Lane, Prov, Parent, Op, Kernel string
	Pass, Layer                              *int
	Bytes, Flops                             int64
	Attrs                                    file.Attrs
	Name                                     string
}

// nanos reads microseconds with exactly three decimals.
func nanos(t *testing.T, n json.Number) int64 {
	whole, frac, ok := strings.Cut(string(n), ".")
	require.True(t, ok && len(frac) == 3, n)
	v, err := strconv.ParseInt(whole+frac, 10, 64)
	require.NoError(t, err)
	return v
}

func readPerfetto(t *testing.T, rec *file.Recording) []event {
	var b bytes.Buffer
	require.NoError(t, Perfetto(&b, rec))
	var doc struct{ TraceEvents []event }
	d := json.NewDecoder(&b)
	require.NoError(t, d.Decode(&doc))
	return doc.TraceEvents
}

func spanOf(t *testing.T, e event) file.Span {
	var a args
	require.NoError(t, json.Unmarshal(e.Args, &a))
	s := file.Span{ID: a.ID, Step: a.Step, Name: e.Name, StartNs: nanos(t, e.Ts), DurNs: nanos(t, e.Dur), Lane: a.Lane, Parent: a.Parent, Pass: file.None, Layer: file.None,
		Op: a.Op, Kernel: a.Kernel, Bytes: a.Bytes, Flops: a.Flops, Prov: a.Prov, Attrs: a.Attrs}
	if a.Pass != nil {
		s.Pass = *a.Pass
	}
	if a.Layer != nil {
		s.Layer = *a.Layer
	}
	return s
}

// asWritten is a recording as any writer leaves it: its texts are whole UTF-8.
func asWritten(t *testing.T, rec *file.Recording) *file.Recording {
	var b bytes.Buffer
	require.NoError(t, file.WriteJSON(&b, rec))
	back, err := file.ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()), file.DefaultLimits)
	require.NoError(t, err)
	return back
}

func TestPerfettoReadsBackAsTheSameSpans(t *testing.T) {
	rec := hard()
	want := map[string]file.Span{}
	for _, s := range asWritten(t, rec).Spans {
		want[s.ID] = s
	}
	passes, workers := 0, 0
	threads := map[int]string{}
	for _, e := range readPerfetto(t, rec) {
		require.Equal(t, 1, e.Pid)
		switch {
		case e.Ph == "M" && e.Name == "thread_name":
			var a args
			require.NoError(t, json.Unmarshal(e.Args, &a))
			threads[e.Tid] = a.Name
		case e.Ph == "X" && e.Cat == "pass":
			passes++
		case e.Ph == "X" && e.Cat == "worker":
			workers++
			require.EqualValues(t, 1008, nanos(t, e.Ts))
			require.EqualValues(t, []int64{7, 2}[e.Tid-7], nanos(t, e.Dur))
		case e.Ph == "X":
			s := spanOf(t, e)
			require.Equal(t, want[s.ID], s)
			delete(want, s.ID)
		}
	}
	require.Empty(t, want, "every span is there once")
	require.Equal(t, []int{2, 2}, []int{passes, workers})
	require.Equal(t, map[int]string{1: "Passes", 2: `HTTP "goroutine"`, 3: "Workers", 4: "gpu", 5: "gpu (2)", 6: "gpu (3)", 7: "Worker 0, busy", 8: "Worker 1, busy"}, threads)
}

// requireNested fails when two events of a thread overlap by halves.
func requireNested(t *testing.T, events []event) {
	type iv struct{ from, to int64 }
	byTid := map[int][]iv{}
	for _, e := range events {
		if e.Ph == "X" {
			from := nanos(t, e.Ts)
			byTid[e.Tid] = append(byTid[e.Tid], iv{from, from + nanos(t, e.Dur)})
		}
	}
	for tid, list := range byTid {
		for i, a := range list {
			for _, b := range list[:i] {
				apart := a.to <= b.from || b.to <= a.from
				inside := a.from >= b.from && a.to <= b.to || b.from >= a.from && b.to <= a.to
				require.True(t, apart || inside, "thread %d: %v and %v", tid, a, b)
			}
		}
	}
}

func TestPerfettoNeverOverlapsByHalves(t *testing.T) {
	requireNested(t, readPerfetto(t, hard()))
	rng := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		rec := &file.Recording{}
		var start int64
		for i := range 40 {
			start += rng.Int64N(4)
			rec.Spans = append(rec.Spans, file.Span{ID: strconv.Itoa(i), Lane: "l", StartNs: start, DurNs: rng.Int64N(12), Attrs: file.Attrs{"busy_ns": []int64{rng.Int64N(12)}}})
		}
		events := readPerfetto(t, rec)
		requireNested(t, events)
		n := 0
		for _, e := range events {
			if e.Cat == "span" {
				n++
			}
		}
		require.Equal(t, 40, n)
	}
}

func TestMicrosecondsAreExact(t *testing.T) {
	for ns, want := range map[int64]string{0: "0.000", 1: "0.001", 999: "0.999", 1000: "1.000", 1234567: "1234.567", 9_007_199_254_740_993: "9007199254740.993", -1: "-0.001"} {
		require.Equal(t, want, string(appendMicros(nil, ns)))
	}
}

func TestCSVReadsBackAsTheSameSpans(t *testing.T) {
	rec := asWritten(t, hard())
	var b bytes.Buffer
	require.NoError(t, CSV(&b, rec))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	require.Equal(t, csvHeader, rows[0])
	num := func(s string, none int64) int64 {
		if s == "" {
			return none
		}
		n, err := strconv.ParseInt(s, 10, 64)
		require.NoError(t, err)
		return n
	}
	for i, s := range rec.Spans {
		r := rows[i+1]
		var attrs file.Attrs
		if r[14] != "" {
			require.NoError(t, json.Unmarshal([]byte(r[14]), &attrs))
		}
		require.Equal(t, s, file.Span{ID: r[0], Step: r[1], Name: r[2], StartNs: num(r[3], 0), DurNs: num(r[4], 0), Lane: r[5], Parent: r[6], Pass: int(num(r[7], -1)),
			Layer: int(num(r[8], -1)), Op: r[9], Kernel: r[10], Bytes: num(r[11], 0), Flops: num(r[12], 0), Prov: r[13], Attrs: attrs})
	}
}

func TestSpeedscopeOpensAndClosesInOrder(t *testing.T) {
	rec := asWritten(t, hard())
	var b bytes.Buffer
	require.NoError(t, Speedscope(&b, rec))
	var doc struct {
		Schema   string `json:"$schema"`
		Shared   struct{ Frames []struct{ Name string } }
		Profiles []struct {
			Type, Unit, Name     string
			StartValue, EndValue int64
			Events               []struct {
				Type  string
				At    int64
				Frame int
			}
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	require.Equal(t, speedscopeSchema, doc.Schema)
	total := map[string]int64{}
	for _, p := range doc.Profiles {
		require.Equal(t, []string{"evented", "nanoseconds"}, []string{p.Type, p.Unit})
		var open []int
		var starts []int64
		at := p.StartValue
		for _, e := range p.Events {
			require.GreaterOrEqual(t, e.At, at)
			require.LessOrEqual(t, e.At, p.EndValue)
			at = e.At
			if e.Type == "O" {
				open, starts = append(open, e.Frame), append(starts, at)
				continue
			}
			n := len(open) - 1
			require.Equal(t, open[n], e.Frame, "the innermost is closed first")
			if !strings.HasPrefix(p.Name, "Worker ") {
				total[doc.Shared.Frames[e.Frame].Name] += at - starts[n]
			}
			open, starts = open[:n], starts[:n]
		}
		require.Empty(t, open)
	}
	for _, s := range rec.Spans {
		require.Equal(t, s.DurNs, total[s.Name], s.Name)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestErrorsOfTheWriterComeBack(t *testing.T) {
	rec := hard()
	require.ErrorContains(t, Perfetto(full{}, rec), "perfetto: no room")
	require.ErrorContains(t, CSV(full{}, rec), "csv: no room")
	require.ErrorContains(t, Speedscope(full{}, rec), "speedscope: no room")
	require.NoError(t, Perfetto(&bytes.Buffer{}, &file.Recording{}))
	require.NoError(t, Speedscope(&bytes.Buffer{}, &file.Recording{}))
}
