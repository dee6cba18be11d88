package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

// Every table of an emulated device says "not measured" where a time would stand; what is no time stays. Forms that are nothing
// without times say so in their names.
func TestExportsOfAnEmulatedDevice(t *testing.T) {
	real, rec := captures(), captures()
	rec.Device.Kind = "emulated"
	rec.Spans[0].Attrs = file.Attrs{"busy_ns": []int64{5}, "in": "x"}
	for _, view := range Views() {
		for i, line := range table(t, rec, view) {
			was := table(t, real, view)
			for k, name := range was[0] {
				isTime := strings.HasSuffix(name, "_ns") || strings.HasSuffix(name, "_per_s") || name == "share"
				switch {
				case i > 0 && isTime:
					require.Equal(t, notMeasured, line[k], "%s, %s", view, name)
				case name != "attrs":
					require.Equal(t, was[i][k], line[k], "%s, %s", view, name)
				default:
					require.NotContains(t, line[k], "busy_ns")
				}
			}
		}
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"perfetto": func(b *bytes.Buffer) error { return Perfetto(b, rec) }, "speedscope": func(b *bytes.Buffer) error { return Speedscope(b, rec) },
		"markdown": func(b *bytes.Buffer) error { return Markdown(b, rec) },
		"otlp":     func(b *bytes.Buffer) error { rec.Started = "2026-01-02T03:04:05Z"; return OTLP(b, rec) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b), name)
		require.Contains(t, b.String(), "not measured", name)
		require.Contains(t, b.String(), "emulated", name)
	}
}

// Calls have two tracks, and an arrow from each call to what the device did for it.
func TestPerfettoLeadsFromCallsToTheDevice(t *testing.T) {
	rec := captures()
	rec.Calls = []file.Call{
		{What: "launch", API: "cuLaunchKernel", Pass: 0, Span: "x", Kernel: "mat_vec", StartNs: 1, DurNs: 2, Device: &file.OnClock{StartNs: 5, DurNs: 4}, Grid: []int{3, 1, 1}, Threads: 128},
		{What: "wait", API: "cuStreamSynchronize", Pass: 0, StartNs: 3, DurNs: 7},
	}
	var b bytes.Buffer
	require.NoError(t, Perfetto(&b, rec))
	var got struct {
		Events []struct {
			Ph, Name, Bp string
			Tid, ID      int
			Ts           json.Number
			Args         map[string]any
		} `json:"traceEvents"`
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	threads, arrows := map[string]int{}, map[string]json.Number{}
	for _, e := range got.Events {
		if name, ok := e.Args["name"].(string); ok && e.Name == "thread_name" {
			threads[name] = e.Tid
		}
		if e.Ph == "s" || e.Ph == "f" {
			require.Equal(t, 1, e.ID)
			require.Equal(t, threads[map[string]string{"s": "Driver calls", "f": "Device"}[e.Ph]], e.Tid)
			arrows[e.Ph] = e.Ts
		}
	}
	require.Equal(t, map[string]json.Number{"s": "0.001", "f": "0.005"}, arrows)
	require.Contains(t, b.String(), `"name":"cuStreamSynchronize"`)
}
