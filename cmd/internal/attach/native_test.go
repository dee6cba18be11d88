package attach

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/steps"
	"glassbox/trace/file"
)

var fakeNative = steps.Engine{
	Name: "fakenative", Title: "the native fake", Repo: "example.org/fake", Version: "1", Commit: "v1", Native: true,
	Packages: []string{"fakenative"}, Health: "/health", Pass: "fake::decode", Skip: []string{"fake::send_chunk_never"},
	// A float is not in the registers that pointers and numbers come in.
	Nodes: []steps.NodeRule{{Prefix: "fake::pair", Arg: 2, Offset: 24}, {Prefix: "fake::op", Arg: 1, Offset: 24}},
	Lanes: []steps.LaneRule{{Lane: file.Lane{ID: "main"}, Thread: "^main$"}, {Lane: file.Lane{ID: "worker"}}},
}

// build compiles the native fake.
func build(t *testing.T, flags ...string) string {
	out := filepath.Join(t.TempDir(), "fakenative")
	args := append([]string{"-O2", "-pthread", "-o", out, "testdata/fakenative.cpp"}, flags...)
	text, err := exec.Command("g++", args...).CombinedOutput()
	require.NoError(t, err, "%s", text)
	return out
}

func nativeOptions(t *testing.T, program string) Options {
	c, err := steps.Load(os.DirFS("testdata"), "fakenative")
	require.NoError(t, err)
	require.NoError(t, c.For(fakeNative))
	port := freePort(t)
	return Options{Engine: fakeNative, Catalogue: c, Command: []string{program, fmt.Sprint(port)}, URL: fmt.Sprintf("http://127.0.0.1:%d", port), Warm: 1, Plain: 1, Healthy: 10 * time.Second, Answer: 10 * time.Second}
}

// mayProbe tells whether this machine lets us set probes.
func mayProbe() bool {
	f, err := os.OpenFile("/sys/kernel/tracing/uprobe_events", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

func TestMachineCodeIsRecordedByProbes(t *testing.T) {
	program := build(t)
	rec, err := Run(t.Context(), nativeOptions(t, program))
	if !mayProbe() { // then it has to say what is missing
		require.Error(t, err)
		require.Regexp(t, "no tracefs: wanted|only root may set|Linux's uprobes", err.Error())
		return
	}
	require.NoError(t, err)
	require.Equal(t, "w w w w ", rec.Request.Text)
	require.Equal(t, 1, count(rec, "main", "fake::queue::post"))
	require.Equal(t, 12, count(rec, "worker", "fake::layer"), "the template's name has no arguments")
	require.Equal(t, 6, count(rec, "worker", "fake::send_chunk"))
	require.Len(t, rec.Passes, 4)
	var counts []int
	for _, w := range rec.Walk {
		counts = append(counts, w.Count)
	}
	require.Equal(t, []int{1, 1, 12, 6, 0, 8, 8, 4}, counts, "mix and pair are told by the name of their node")
	layers := map[string]int{}
	for i := range rec.Spans {
		if node, ok := rec.Spans[i].Attrs[steps.AttrNode].(string); ok {
			layers[node] = rec.Spans[i].Layer
		}
	}
	require.Equal(t, map[string]int{"mix-0": 0, "node_1": 0, "mix-1": 1, "out": file.None}, layers)
	require.Contains(t, rec.Device.Features, "not in the program, perhaps inlined: fake::not_there")
	for i := range rec.Spans {
		require.Less(t, rec.Spans[i].DurNs, int64(5e9))
	}
	left, err := os.ReadFile("/sys/kernel/tracing/uprobe_events")
	require.NoError(t, err)
	require.NotContains(t, string(left), "fakenative", "probes are taken out again")
}

func TestAStrippedProgramIsRefused(t *testing.T) {
	_, err := symbolsOf(build(t, "-s", "-static-libstdc++", "-static-libgcc"))
	if err != nil { // no names at all, or only those of the C++ library
		require.ErrorContains(t, err, "has no function names: build it without stripping")
	} else {
		_, err = symbolsOf("testdata/fakenative.cpp")
		require.ErrorContains(t, err, "wanted an ELF program")
	}
}

func TestPlainNames(t *testing.T) {
	for mangled, want := range map[string]string{
		"_ZN13llama_context6decodeERK11llama_batch": "llama_context::decode",
		"_ZN4fake5layerIfEET_S1_":                   "fake::layer",
		"ggml_compute_forward_mul_mat":              "ggml_compute_forward_mul_mat",
		"ggml_compute_forward_rms_norm.part.0":      "ggml_compute_forward_rms_norm",
		"main.cold":                                 "main.cold",
		"_ZN12_GLOBAL__N_13fooEv":                   "foo",
		"_ZNSt6vectorIiSaIiEE9push_backEOi":         "std::vector::push_back",
	} {
		require.Equal(t, want, plainName(mangled))
	}
}

// page makes a page of the kernel's ring buffer.
func page(entries ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, 1000)
	n := 0
	for _, e := range entries {
		n += len(e)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(n))
	for _, e := range entries {
		b = append(b, e...)
	}
	return b
}

func entry(kind, delta uint32, words ...uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, delta<<5|kind)
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func TestPagesOfTheRingBuffer(t *testing.T) {
	var got []probeEvent
	emit := func(e probeEvent) {
		e.data = nil
		got = append(got, e)
	}
	lost, err := readPage(page(entry(4, 5, 7, 42, 0, 0), entry(ringTimeExtend, 1, 2), entry(4, 3, 8, 43, 0, 0), entry(0, 1, 12, 9, 44), entry(ringPadding, 0)), binary.LittleEndian, emit)
	require.NoError(t, err)
	require.False(t, lost)
	require.Equal(t, []probeEvent{{at: 1005, probe: 7, tid: 42}, {at: 1005 + 1 + 2<<27 + 3, probe: 8, tid: 43}, {at: 1005 + 1 + 2<<27 + 4, probe: 9, tid: 44}}, got)
	for _, bad := range [][]byte{{1}, page(entry(28, 0, 1)), page(entry(0, 0)), page(entry(0, 0, 1<<31))} {
		_, err := readPage(bad, binary.LittleEndian, emit)
		require.Error(t, err)
	}
	whole := page(entry(4, 5, 7, 42, 0, 0))
	whole[11] |= 0x80
	lost, err = readPage(whole, binary.LittleEndian, emit)
	require.NoError(t, err)
	require.True(t, lost)
}

func TestTheNameOfANodeIsReadFromAProbe(t *testing.T) {
	entry := append(binary.LittleEndian.AppendUint32(make([]byte, probeArguments), 20|7<<16), "Qcur-3\x00\x00"...)
	require.Equal(t, "Qcur-3", dataText(entry, binary.LittleEndian))
	for what, bad := range map[string][]byte{
		"cut off":        entry[:18],
		"no text":        entry[:22],
		"in the head":    append(binary.LittleEndian.AppendUint32(make([]byte, probeArguments), 4|2<<16), 0),
		"not readable":   append(binary.LittleEndian.AppendUint32(make([]byte, probeArguments), 20|8<<16), "(fault)\x00"...),
		"not characters": append(binary.LittleEndian.AppendUint32(make([]byte, probeArguments), 20|2<<16), 0xff, 0),
	} {
		require.Empty(t, dataText(bad, binary.LittleEndian), what)
	}
	rules := []steps.NodeRule{{Prefix: "a::b", Arg: 1, Offset: 8}, {Prefix: "a::", Arg: 2, Offset: 16}, {Prefix: "c", Arg: 99}}
	if runtime.GOARCH == "amd64" {
		require.Equal(t, " node=+8(%di):string", nodeArgument(rules, "a::bc"))
		require.Equal(t, " node=+16(%si):string", nodeArgument(rules, "a::c"))
	}
	require.Empty(t, nodeArgument(rules, "b::c"))
	require.Empty(t, nodeArgument(rules, "c"), "more arguments than registers")
}
