package importer

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

func importText(t testing.TB, text string, o Options) (*file.Recording, *Report, error) {
	rec, rep, err := Read(strings.NewReader(text), "x.json", o)
	if err == nil {
		sound(t, rec, rep)
	}
	return rec, rep, err
}

// sound checks what must hold of every import: nothing is lost, lanes nest, and the recording can be written.
func sound(t testing.TB, rec *file.Recording, rep *Report) {
	if rep.Form == "Chrome JSON" {
		require.Equal(t, rep.Events, rep.Spans+rep.Ends+rep.Strays+rep.Moments+rep.Counts+rep.Flows+rep.Names+rep.Others+rep.Refused, "%+v", rep)
		require.Equal(t, rep.Spans+rep.Moments, int64(len(rec.Spans))+rep.Folded, "%+v", rep)
	}
	require.Equal(t, rep.Folded, rec.Dropped.Spans)
	ids := map[string]bool{}
	for i := range rec.Spans {
		require.False(t, ids[rec.Spans[i].ID], rec.Spans[i].ID)
		ids[rec.Spans[i].ID] = true
	}
	file.Finish(rec)
	open := map[string][]int64{}
	for _, s := range rec.Spans {
		o := open[s.Lane]
		for len(o) > 0 && o[len(o)-1] <= s.StartNs {
			o = o[:len(o)-1]
		}
		if len(o) > 0 && rep.Crowded == 0 {
			require.LessOrEqual(t, s.EndNs(), o[len(o)-1], "spans of one lane nest: %s", s.ID)
		}
		open[s.Lane] = append(o, s.EndNs())
	}
	var b bytes.Buffer
	rec.ID = "x"
	require.NoError(t, file.WriteJSON(&b, rec))
	_, err := file.ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()), file.DefaultLimits)
	require.NoError(t, err, "what is written can be read")
}

// Real profiles: counted and timed once more with encoding/json and exact fractions.
func TestRealProfilesAreReadWhole(t *testing.T) {
	for _, name := range []string{"torch-cpu.json.gz", "vllm-decode.json.gz"} {
		raw, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		rec, rep, err := Read(bytes.NewReader(raw), name, Options{})
		require.NoError(t, err)
		sound(t, rec, rep)
		z, err := gzip.NewReader(bytes.NewReader(raw))
		require.NoError(t, err)
		d := json.NewDecoder(z)
		d.UseNumber()
		var all struct {
			TraceEvents []struct {
				Ph, Name, Cat string
				Ts, Dur       json.Number
			}
		}
		require.NoError(t, d.Decode(&all))
		want := map[string]int64{}
		count := map[string]int{}
		nano := func(n json.Number) int64 {
			r, ok := new(big.Rat).SetString(string(n))
			require.True(t, ok)
			r.Mul(r, big.NewRat(1000, 1))
			require.True(t, r.IsInt(), "%s has parts of a nanosecond", n)
			return r.Num().Int64()
		}
		first := int64(1 << 62)
		for _, e := range all.TraceEvents {
			count[e.Ph]++
			if e.Ph == "X" {
				want[e.Cat+e.Name] += nano(e.Dur)
			}
			if e.Ph != "M" {
				first = min(first, nano(e.Ts))
			}
		}
		require.EqualValues(t, len(all.TraceEvents), rep.Events)
		require.EqualValues(t, count["X"], rep.Spans)
		require.EqualValues(t, count["i"], rep.Moments)
		require.EqualValues(t, count["M"], rep.Names)
		require.Zero(t, rep.Refused+rep.Mended+rep.Open+rep.Strays+rep.Folded)
		got := map[string]int64{}
		for _, s := range rec.Spans {
			if s.Attrs["moment"] == nil {
				cat, _ := s.Attrs["cat"].(string)
				got[cat+s.Name] += s.DurNs
			}
		}
		require.Equal(t, want, got)
		require.True(t, strings.HasPrefix(rec.Started, "2026-1"), rec.Started)
		notes := ""
		for _, l := range rec.Lanes {
			notes += l.Note + "\n"
		}
		require.Contains(t, notes, ", CPU\n")
	}
}

func one(t *testing.T, events string) (file.Span, *Report) {
	rec, rep, err := importText(t, `{"traceEvents":[`+events+`]}`, Options{})
	require.NoError(t, err)
	require.NotEmpty(t, rec.Spans)
	return rec.Spans[0], rep
}

// The traps of Chrome's format, as users of other readers reported them.
func TestTraps(t *testing.T) {
	s, _ := one(t, `{"ph":"X","name":"k","pid":1,"tid":2,"ts":1767323045123456.789,"dur":0.123},{"ph":"X","name":"b","pid":1,"tid":2,"ts":1767323045123456.000,"dur":0.5}`)
	require.Equal(t, "b", s.Name, "epoch microseconds keep their nanoseconds")
	rec, _, err := importText(t, `[{"ph":"X","name":"a","ts":"1767323045123456.000","dur":"2"},{"ph":"X","name":"b","ts":"1767323045123456.789","dur":"0.123"}]`, Options{})
	require.NoError(t, err)
	require.EqualValues(t, 789, rec.Spans[1].StartNs, "times in strings")
	require.EqualValues(t, 123, rec.Spans[1].DurNs)
	for dur, why := range map[string]string{`,"dur":-5`: "negative", ``: "missing", `,"dur":NaN`: "not a number", `,"dur":"soon"`: "text", `,"dur":null`: "null", `,"dur":{}`: "an object", `,"dur":1e400`: "infinite"} {
		s, rep := one(t, `{"ph":"X","name":"k","ts":5`+dur+`}`)
		require.Zero(t, s.DurNs, why)
		require.EqualValues(t, 1, rep.Mended, why)
		require.Equal(t, true, s.Attrs["mended"], why)
	}
	for ts, why := range map[string]string{`null`: "null", `NaN`: "not a number", `-Infinity`: "infinite", `"x"`: "text", `[1]`: "a list", `1e300`: "too large", `99999999999999999999`: "too large", `""`: "empty", `"--1"`: "signs", `"0x10"`: "hexadecimal"} {
		rec, rep, err := importText(t, `[{"ph":"X","name":"k","ts":`+ts+`,"dur":1},{"ph":"X","name":"good","ts":1,"dur":1}]`, Options{})
		require.NoError(t, err, why)
		require.EqualValues(t, 1, rep.Refused, why)
		require.Len(t, rec.Spans, 1, why)
		require.Contains(t, rep.Why, "event 1: ts: ", why)
	}
	rec, rep, err := importText(t, `[{"ph":"B","name":"a","ts":1},{"ph":"B","name":"b","ts":2},{"ph":"E","ts":3},{"ph":"E","ts":1.5},{"ph":"E","ts":9},{"ph":"B","name":"c","ts":7}]`, Options{})
	require.NoError(t, err)
	require.EqualValues(t, []int64{2, 1, 1, 3}, []int64{rep.Ends, rep.Strays, rep.Open, rep.Spans})
	byName := map[string]file.Span{}
	for _, s := range rec.Spans {
		byName[s.Name] = s
	}
	require.EqualValues(t, 1000, byName["b"].DurNs)
	require.EqualValues(t, 500, byName["a"].DurNs)
	require.Zero(t, byName["c"].DurNs, "a begin without end is not stretched to the end")
	require.Equal(t, true, byName["c"].Attrs["open"])
	s, rep = one(t, `{"ph":"B","name":"a","ts":5},{"ph":"E","name":"a","ts":2}`)
	require.Zero(t, s.DurNs, "the clock went back")
	require.EqualValues(t, 1, rep.Mended)
	rec, _, err = importText(t, `[{"ph":"b","cat":"c","name":"req","id":"0x1","pid":1,"ts":1},{"ph":"b","cat":"c","name":"req","id":2,"pid":1,"ts":2},{"ph":"e","cat":"c","name":"req","id":"0x1","pid":1,"ts":5},{"ph":"e","cat":"c","name":"req","id":2,"pid":1,"ts":4},{"ph":"b","cat":"c","name":"lost","id":3,"pid":1,"ts":3}]`, Options{})
	require.NoError(t, err)
	require.Len(t, rec.Spans, 3)
	_, rep, err = importText(t, `[{"ph":"C","name":"n","ts":1,"args":{"v":1}},{"ph":"s","id":1,"ts":1},{"ph":"f","id":1,"ts":1},{"ph":"M","name":"process_name","args":{"name":"p"}},{"ph":"O","ts":1},7,null,{"ph":3},{"ph":"X","ts":1,"dur":1,"name":5,"pid":"Spans","tid":[1]}]`, Options{})
	require.NoError(t, err)
	require.EqualValues(t, []int64{1, 2, 1, 2, 1, 9}, []int64{rep.Counts, rep.Flows, rep.Names, rep.Others, rep.Spans, rep.Events}, "%+v", rep)
	s, _ = one(t, "{\"ph\":\"X\",\"name\":\"C:\\Users\\new\tline \\\"q\\\" \xff\",\"ts\":1,\"dur\":1,\"args\":{\"x\":NaN,\"y\":-Infinity,\"s\":\"NaN\"}}")
	require.Contains(t, s.Name, `C:\Users`)
	require.Contains(t, s.Name, `"q"`)
	require.Equal(t, "NaN", s.Attrs["s"])
	require.Nil(t, s.Attrs["x"])
}

// Kernels that overlap go to lanes of their own, each of them shown.
func TestOverlappingKernels(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%d,"dur":%d.5},`, i, i*10, 10*(1+i%5))
	}
	rec, rep, err := importText(t, `{"deviceProperties":[{"name":"H100"}],"traceEvents":[`+b.String()+`{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7"}}]}`, Options{})
	require.NoError(t, err)
	require.Equal(t, "cuda", rec.Device.Kind)
	require.Equal(t, "H100", rec.Device.Name)
	require.Len(t, rec.Spans, 40)
	require.Greater(t, rep.Lanes, 1)
	require.Equal(t, "stream 7", rec.Lanes[0].Title)
	require.Equal(t, "stream 7 (2)", rec.Lanes[1].Title)
	b.Reset()
	for i := range 200 { // as no program works, and yet shown
		fmt.Fprintf(&b, `{"ph":"X","name":"k","ts":%d,"dur":1000},`, i)
	}
	rec, rep, err = importText(t, `[`+b.String()+`{"ph":"M"}]`, Options{})
	require.NoError(t, err)
	require.Len(t, rec.Spans, 200)
	require.EqualValues(t, 200-64, rep.Crowded)
}

func TestTooManyEventsAreCountedByName(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		cat := []string{"python_function", "cpu_op", "kernel"}[i%3]
		fmt.Fprintf(&b, `{"ph":"X","cat":"%s","name":"%s%d","ts":%d,"dur":%d},`, cat, cat, i%2, i, i)
	}
	rec, rep, err := importText(t, `[`+b.String()+`{"ph":"M"}]`, Options{Most: 400, Telling: func(n string) bool { return n == "python_function1" }})
	require.NoError(t, err)
	require.Len(t, rec.Spans, 400)
	require.EqualValues(t, 600, rep.Folded)
	kept := map[string]int{}
	for _, s := range rec.Spans {
		kept[s.Attrs["cat"].(string)]++
	}
	require.Equal(t, map[string]int{"kernel": 333, "python_function": 67}, kept, "what says most is kept")
	var count, ns int64
	for _, v := range rec.Request.Params["folded"].(file.Attrs) {
		count, ns = count+v.([]int64)[0], ns+v.([]int64)[1]
	}
	require.EqualValues(t, 600, count)
	require.Equal(t, rep.FoldedNs, ns)
	for _, s := range rec.Spans {
		ns += s.DurNs
	}
	require.EqualValues(t, 999*1000/2*1000, ns, "the time of all of them")
}

func TestBrokenFilesAreExplained(t *testing.T) {
	good := `{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1},{"ph":"X","name":"b","ts":1,"dur":1}]}`
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "empty file"},
		"blanks":        {" \n ", "empty file"},
		"cut":           {good[:60], "event 2: byte "},
		"cut at an end": {good[:len(good)-2], "the file is cut off"},
		"no events":     {`{"traceEvents":[]}`, "wanted events with times, found none among 0"},
		"wrong":         {`{"traceEvents":{}}`, "wanted a list"},
		"other JSON":    {`{"a":[1,{"b":2}]}`, `wanted an object with "traceEvents"`},
		"text":          {"hello\nworld\n", "wanted JSON, or a log of llama.cpp"},
		"comma":         {`{"traceEvents":[{"ph":"X"},,]}`, "event 2: byte"},
		"all refused":   {`[{"ph":"X","ts":"x"}]`, "ts: wanted a number of microseconds"},
		"two lists":     {`[[[[[`, "cut off"},
	} {
		_, _, err := importText(t, c.text, Options{})
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, "x.json: ", name)
		require.NotContains(t, err.Error(), "\n", name)
	}
	rec, _, err := importText(t, "\xef\xbb\xbf[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},\n", Options{})
	require.NoError(t, err, "Chrome lets the last bracket of a bare list be missing")
	require.Len(t, rec.Spans, 1)
	_, _, err = Read(strings.NewReader("\x1f\x8bnot gzip"), "x.gz", Options{})
	require.ErrorContains(t, err, "x.gz: gzip: ")
}

// endless writes n events, and then a tail.
type endless struct {
	n, i int
	tail string
	buf  []byte
}

func (e *endless) Read(p []byte) (int, error) {
	for len(e.buf) < len(p) && e.i < e.n {
		e.buf = fmt.Appendf(e.buf, `{"ph":"X","cat":"cpu_op","name":"op%d","pid":1,"tid":1,"ts":%d.5,"dur":0.5,"args":{"External id":%d,"Input Dims":[[1,2],[3]]}},`, e.i, e.i, e.i)
		e.i++
	}
	if e.i == e.n && e.tail != "" {
		e.buf, e.tail = append(e.buf, e.tail...), ""
	}
	if len(e.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(p, e.buf)
	e.buf = e.buf[:copy(e.buf, e.buf[n:])]
	return n, nil
}

// A large file, one endless element, deep nesting and a claim of gigabytes take little memory.
func TestMemoryIsBounded(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	const n = 100_000
	rec, rep, err := Read(io.MultiReader(strings.NewReader(`{"junk":[`+strings.Repeat("[1],", 1000)+`0],"traceEvents":[`), &endless{n: n, tail: `{"ph":"M"}]}`}), "big", Options{Most: 1000})
	require.NoError(t, err)
	require.EqualValues(t, n+1, rep.Events)
	require.EqualValues(t, n-1000, rep.Folded)
	require.Less(t, int64(heap())-int64(before), int64(40<<20))
	runtime.KeepAlive(rec)
	_, _, err = Read(io.MultiReader(strings.NewReader(`{"traceEvents":[{"ph":"X","name":"`), zeros{}), "one", Options{})
	require.ErrorContains(t, err, "one element is longer than 16 MiB")
	_, _, err = Read(io.MultiReader(strings.NewReader(`{"skipped":`), strings.NewReader(strings.Repeat("[", 1<<20))), "deep", Options{})
	require.Error(t, err)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestTimesAreExact(t *testing.T) {
	for in, want := range map[string]int64{"1": 1000, "0.001": 1, "-0.5": -500, "1767323045123456.789": 1767323045123456789, `"12.3456"`: 12346, ".5": 500, "1.5e3": 1_500_000, "1.": 1000, "0001": 1000} {
		got, err := microseconds(json.RawMessage(in))
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
}

func TestSpansOfOpenTelemetry(t *testing.T) {
	span := func(trace, id, name string, start, end int, attrs string) string {
		return fmt.Sprintf(`{"traceId":"%032s","spanId":"%016s","name":"%s","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]}`, trace, id, name, start, end, attrs)
	}
	export := func(spans ...string) string {
		return `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"vllm"}}]},"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}]}],"more":1}`
	}
	seconds := `{"key":"gen_ai.latency.time_in_queue","value":{"doubleValue":0.001}},{"key":"gen_ai.latency.time_in_model_prefill","value":{"doubleValue":0.002}},{"key":"gen_ai.latency.time_to_first_token","value":{"doubleValue":0.004}},{"key":"gen_ai.latency.time_in_model_decode","value":{"doubleValue":NaN}}`
	text := export(span("1", "1", "llm_request", 1000, 9_000_000, strings.ReplaceAll(seconds, "NaN", "0.003"))) + "\n" + export(span("1", "2", "x", 5000, 4000, ""), span("0", "3", "no id", 1, 2, ""))
	rec, rep, err := importText(t, text, Options{})
	require.NoError(t, err)
	require.EqualValues(t, []int64{3, 2, 1}, []int64{rep.Events, rep.Spans, rep.Refused})
	var got []string
	for _, s := range rec.Spans {
		got = append(got, fmt.Sprintf("%s %d+%d %s", s.Name, s.StartNs, s.DurNs, s.Prov))
	}
	require.ElementsMatch(t, []string{"llm_request 0+8999000 measured", "queue 1000000+1000000 derived", "prefill 2000000+2000000 derived", "decode 4000000+3000000 derived", "x 4000+0 measured"}, got)
	_, _, err = importText(t, `{"resourceSpans":[]}`, Options{})
	require.ErrorContains(t, err, "wanted spans, found none")
	_, _, err = importText(t, text[:200], Options{})
	require.ErrorContains(t, err, "cut off")
}

// Lines as llama.cpp's server b10434 wrote them here, and an answer of it.
func TestTimingsOfLlamaCPP(t *testing.T) {
	log := "0.05.1 I slot launch_slot_: id  3 | task 0 | processing task\n" +
		"0.05.7 I slot print_timing: id  3 | task 0 | prompt eval time =      93.14 ms /    36 tokens (    2.59 ms per token,   386.52 tokens per second)\n" +
		"0.05.7 I slot print_timing: id  3 | task 0 |        eval time =     535.92 ms /    12 tokens (   48.72 ms per token,    20.53 tokens per second)\n" +
		"0.05.7 I slot print_timing: id  3 | task 0 |       total time =     629.05 ms /    48 tokens\n" + strings.Repeat("x", 3<<20) + "\n" +
		"prompt eval time = 10.00 ms / 1 tokens\n       eval time = 20.00 ms / 2 runs\n"
	rec, rep, err := importText(t, log, Options{})
	require.NoError(t, err)
	require.EqualValues(t, 4, rep.Spans)
	var got []string
	for _, s := range rec.Spans {
		got = append(got, fmt.Sprintf("%s %d+%d %v", s.Name, s.StartNs, s.DurNs, s.Attrs["tokens"]))
	}
	require.Equal(t, []string{"prefill 0+93140000 36", "decode 93140000+535920000 12", "prefill 629060000+10000000 1", "decode 639060000+20000000 2"}, got)
	rec, _, err = importText(t, `{"choices":[{"message":{"content":"{\"timings\":1}"}}],"timings":{"cache_n":3,"prompt_n":36,"prompt_ms":93.139,"predicted_n":12,"predicted_ms":535.915}}`, Options{})
	require.NoError(t, err)
	require.EqualValues(t, 93139000, rec.Spans[0].DurNs)
	for text, want := range map[string]string{`{"timings":{}}`: "wanted prompt_ms", `{"timings":7}`: "timings: ", `{"timings":{"prompt_ms":-1,"predicted_ms":1e300}}`: "wanted a time in ms"} {
		_, _, err := importText(t, text, Options{})
		require.ErrorContains(t, err, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"traceEvents":[{"ph":"X","name":"a","ts":1.5,"dur":1,"args":{"a":NaN}},{"ph":"B","ts":1},{"ph":"E","ts":2},{"ph":"b","id":1,"ts":3}]}`))
	f.Add([]byte(`[{"ph":"X","ts":"1","dur":"-1"},`))
	f.Add([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B176","startTimeUnixNano":"1"}]}]}]}`))
	f.Add([]byte("prompt eval time = 1.0 ms / 3 tokens\n"))
	f.Add([]byte(`{"timings":{"prompt_ms":1,"predicted_ms":2}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, rep, err := Read(bytes.NewReader(b), "fuzz", Options{Most: 50})
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		sound(t, rec, rep)
	})
}
