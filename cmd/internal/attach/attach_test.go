package attach

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/steps"
	"glassbox/trace/file"
)

// fake is the engine in testdata.
var fake = steps.Engine{
	Name: "fake", Title: "the fake engine", Repo: "example.org/fake", Version: "1", Commit: "v1",
	Packages: []string{"fakeengine"}, Skip: []string{"spin"}, Health: "/health",
	Pass: "fakeengine/core.py:Model.forward", Layer: "fakeengine/core.py:Layer.forward",
	Lanes: []steps.LaneRule{
		{Lane: file.Lane{ID: "core", Title: "Core", Note: "process 2"}, Process: `^Core `},
		{Lane: file.Lane{ID: "api", Title: "API", Note: "process 1"}, Process: `^MainProcess `},
	},
}

// python is the interpreter of the tests; make deps puts pyzmq beside it.
func python(t *testing.T) string {
	if p := os.Getenv("GLASSBOX_TEST_PYTHON"); p != "" {
		return p
	}
	p, err := filepath.Abs("../../../.venv/bin/python")
	require.NoError(t, err)
	require.FileExists(t, p, "make deps makes it")
	return p
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func options(t *testing.T, more ...string) Options {
	c, err := steps.Load(os.DirFS("testdata"), "fake")
	require.NoError(t, err)
	require.NoError(t, c.For(fake))
	port := freePort(t)
	t.Setenv("PYTHONPATH", "testdata")
	command := append([]string{python(t), "-m", "fakeengine", fmt.Sprint(port), fmt.Sprint(freePort(t) % 6000)}, more...)
	return Options{
		Engine: fake, Catalogue: c, Command: command, URL: fmt.Sprintf("http://127.0.0.1:%d", port),
		Request: []byte(`{"messages":[{"role":"user","content":"one two three"}]}`),
		Warm:    1, Plain: 3, Healthy: 30 * time.Second, Answer: 20 * time.Second,
	}
}

func count(rec *file.Recording, lane, name string) (n int) {
	for i := range rec.Spans {
		if rec.Spans[i].Lane == lane && rec.Spans[i].Name == name {
			n++
		}
	}
	return n
}

func checkFake(t *testing.T, rec *file.Recording) {
	require.Equal(t, "one two three ", rec.Request.Text)
	require.Equal(t, "stop", rec.Request.FinishReason)
	require.Len(t, rec.Request.OutputTokens, 3)
	require.Equal(t, 5, rec.Request.OutputTokens[2].ID)
	require.Len(t, rec.Lanes, 2)
	require.Equal(t, 1, count(rec, "api", "Server.validate"))
	require.Equal(t, 3, count(rec, "core", "Model.forward"))
	require.Equal(t, 12, count(rec, "core", "Layer.forward"))
	require.Zero(t, count(rec, "core", "spin"))
	require.GreaterOrEqual(t, count(rec, "api", "Server.receive"), 5, "each stretch between two waits is a span")
	require.Len(t, rec.Passes, 3)
	require.Equal(t, []string{"prefill", "decode", "decode"}, []string{rec.Passes[0].Kind, rec.Passes[1].Kind, rec.Passes[2].Kind})
	at := map[string]*file.Span{}
	for i := range rec.Spans {
		s := &rec.Spans[i]
		at[s.ID] = s
		if s.Parent != "" {
			p := at[s.Parent]
			require.NotNil(t, p, "the parent of %s comes first", s.ID)
			require.True(t, p.StartNs <= s.StartNs && s.EndNs() <= p.EndNs(), "%s lies inside its parent", s.ID)
			require.Equal(t, p.Lane, s.Lane)
		}
		if s.Name == "Layer.mix" {
			require.Equal(t, "Layer.forward", at[s.Parent].Name)
			require.Contains(t, []int{0, 1, 2, 3}, s.Layer)
			require.Contains(t, []int{0, 1, 2}, s.Pass)
		}
	}
	require.Len(t, rec.Walk, 4)
	for _, w := range rec.Walk {
		require.NotZero(t, w.Count, w.ID)
		require.Equal(t, "v1", w.Source.Commit)
	}
	require.Equal(t, 12, rec.Walk[2].Count)
	require.Equal(t, 3, rec.Walk[3].Count)
	require.Greater(t, rec.Numbers.TPOTNs, int64(0))
	require.Greater(t, rec.Numbers.E2ENs, rec.Numbers.TTFTNs)
	require.NotNil(t, rec.Untraced)
}

// A long line is cut where it is shown.
func TestALongLineIsCut(t *testing.T) {
	require.Equal(t, "ab", cut("ab", 2))
	require.Equal(t, "äb…", cut("äbc", 2))
}

func TestARequestIsRecordedInBothProcesses(t *testing.T) {
	for _, how := range []string{"monitoring", "setprofile"} {
		for _, start := range []string{"spawn", "fork"} {
			if runtime.GOOS != "linux" && start == "fork" {
				continue
			}
			t.Run(how+" "+start, func(t *testing.T) {
				if how == "setprofile" {
					t.Setenv("GLASSBOX_ATTACH_SETPROFILE", "1")
				}
				o := options(t, "live", start)
				var log bytes.Buffer
				o.Log = &log
				rec, err := Run(t.Context(), o)
				require.NoError(t, err)
				checkFake(t, rec)
				require.Contains(t, log.String(), "times slower")
				var b bytes.Buffer
				require.NoError(t, file.WriteGBX(&b, rec))
				_, err = file.ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()), file.DefaultLimits)
				require.NoError(t, err)
				out, _ := exec.Command("pgrep", "-f", "fakeengine "+o.Command[3]).Output()
				require.Empty(t, strings.Fields(string(out)), "processes that are left")
			})
		}
	}
}

func TestAnEngineThatDiesIsTold(t *testing.T) {
	o := options(t, "die")
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "the engine died (exit status 1): its last lines: fakeengine: wanted a model, found none")
	o.Command = []string{"/no/such/engine"}
	_, err = Run(t.Context(), o)
	require.ErrorContains(t, err, "the engine does not start")
}

func TestAnEngineThatNeverServesIsEnded(t *testing.T) {
	o := options(t)
	o.URL = fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	o.Healthy = time.Second
	begin := time.Now()
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "/health did not answer within 1s")
	require.Less(t, time.Since(begin), 12*time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	o.Healthy = time.Minute
	_, err = Run(ctx, o)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestRequestsThatAreNotChatsAreRefused(t *testing.T) {
	for body, want := range map[string]string{
		`{"prompt":"x"}`: `wanted a chat completion with "messages"`,
		`[`:              "wanted the JSON body of a chat completion",
	} {
		o := options(t)
		o.Request = []byte(body)
		_, err := Run(t.Context(), o)
		require.ErrorContains(t, err, want)
	}
	o := options(t)
	o.Command = nil
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "give its command behind --")
}

// eventsFile makes what a Python process would write.
func eventsFile(t *testing.T, change func(h *eventsHead), events ...uint64) []byte {
	h := eventsHead{PID: 7, Name: "P", Clocks: [2]int64{100, 1100}, Functions: [][4]any{{"a.py", "f", 1.0, 0}, {"a.py", "g", 2.0, 0}}, Threads: [][2]any{{9.0, "T"}}, Main: 9, Events: len(events) / 2}
	change(&h)
	b, err := json.Marshal(h)
	require.NoError(t, err)
	b = append(b, '\n')
	for _, e := range events {
		b = binary.LittleEndian.AppendUint64(b, e)
	}
	return b
}

// word is the second word of an event: what happened to which function.
func word(function, kind uint64) uint64 { return function<<20 | kind }

func TestEventsBecomeNestedCalls(t *testing.T) {
	_, threads, err := readEvents(eventsFile(t, func(*eventsHead) {},
		90, word(1, kindReturn), // began before
		110, word(0, kindCall), 120, word(1, kindCall), 125, word(1, kindYield), 130, word(1, kindResume),
		140, word(0, kindReturn), // g ended without a word
		150, word(1, kindCall)))
	require.NoError(t, err)
	require.Len(t, threads, 1)
	require.Equal(t, "main", threads[0].name)
	var got [][4]int64
	for _, c := range threads[0].calls {
		got = append(got, [4]int64{int64(c.fn.line), c.start, c.dur, int64(c.parent)})
	}
	require.Equal(t, [][4]int64{{1, 1110, 30, -1}, {2, 1120, 5, 0}, {2, 1130, 10, 0}, {2, 1150, 0, -1}}, got)
	require.True(t, threads[0].calls[2].resumed)
	require.True(t, threads[0].calls[3].open)
}

func TestDamagedEventsAreRefused(t *testing.T) {
	same := func(*eventsHead) {}
	for want, data := range map[string][]byte{
		"wanted a line of JSON":        []byte("{}"),
		"line 1:":                      []byte("{\n"),
		"the file is cut off":          eventsFile(t, func(h *eventsHead) { h.Events = 9 }, 1, 0),
		"event 0: wanted one of 2":     eventsFile(t, same, 1, 5<<20),
		"wanted file, name and line":   eventsFile(t, func(h *eventsHead) { h.Functions[0][2] = "x" }),
		"threads, found 0 and 3":       eventsFile(t, same, 1, 3<<4),
		"event 0: wanted one of 2 fun": eventsFile(t, same, 1, 15),
	} {
		_, _, err := readEvents(data)
		require.ErrorContains(t, err, want)
	}
}
