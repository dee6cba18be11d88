package file

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func write(t testing.TB, rec *Recording, ext string) []byte {
	path := filepath.Join(t.TempDir(), "x"+ext)
	require.NoError(t, Write(path, rec))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "only the final file is left")
	return raw
}

func read(raw []byte) (*Recording, error) {
	return ReadFrom(bytes.NewReader(raw), int64(len(raw)), DefaultLimits)
}

func TestBothFormsReadBackAsTheyWere(t *testing.T) {
	for _, ext := range []string{".json", ".gbx"} {
		rec := sample(t)
		back, err := read(write(t, rec, ext))
		require.NoError(t, err)
		rec.RawSources = nil // resolved in the walk
		require.Equal(t, rec, back, ext)
	}
}

func TestTextFormIsReadable(t *testing.T) {
	raw := string(write(t, sample(t), ".json"))
	require.True(t, utf8.ValidString(raw))
	require.Contains(t, raw, "\n  {\"id\":\"decode/1/L1/ffn_down\",\"step\":\"ffn_down\",\"name\":\"ffn_down\",\"start_ns\":23000000,\"dur_ns\":1000000,\"lane\":\"workers\",\"parent\":\"schedule/1/launch\",\"pass\":1,\"layer\":1,\"op\":\"ffn_down\",\"kernel\":\"mvQ4_1 sample\",\"bytes\":1000,\"flops\":2000,\"prov\":\"measured\",\"attrs\":{\"busy_ns\":[1000000,3]}}")
	require.Contains(t, raw, `"Say <hi> & \"bye\""`)
	require.Contains(t, raw, `"seed":9007199254740993`)
	require.NotContains(t, raw, "null")
	require.Less(t, strings.Index(raw, `"numbers":`), strings.Index(raw, `"walk":`))
}

func TestLargeArraysStayOutOfTheTextForm(t *testing.T) {
	rec := sample(t)
	rec.Arrays["big"] = NewArray(make([]float32, smallArray/4+1), []int{smallArray/4 + 1}, []string{"n"}, "zeros")
	back, err := read(write(t, rec, ".json"))
	require.NoError(t, err)
	require.Nil(t, back.Arrays["big"].Raw)
	require.NotEmpty(t, back.Arrays["big"].Omitted)
	require.Equal(t, rec.Arrays["attention"], back.Arrays["attention"])
	require.Empty(t, rec.Arrays["big"].Omitted, "the recording itself is not changed")
	again, err := read(write(t, back, ".gbx"))
	require.NoError(t, err)
	require.Equal(t, back.Arrays["big"], again.Arrays["big"])
}

// The golden files were written by NumPy: testdata/gen.py.
func TestNumPyFilesAreByteForByteThoseOfNumPy(t *testing.T) {
	i8 := NewArray([]int64{-9007199254740993}, []int{}, nil, "")
	for name, a := range map[string]*Array{
		"f4": NewArray([]float32{0, 0.25, 0.5, 0.75, 1, 1.25}, []int{2, 3}, nil, ""),
		"u1": NewArray([]uint8{0, 1, 127, 128, 255}, []int{5}, nil, ""),
		"i4": NewArray([]int32{-1}, []int{1}, nil, ""), "u4": NewArray([]uint32{math.MaxUint32}, []int{1, 1}, nil, ""), "i8": i8,
		"f2":    NewArray([]uint16{0x3800, 0xc000, 0x7bff, 0x0001, 0x7c00, 0x3555}, []int{3, 2}, nil, ""),
		"empty": NewArray([]float32{}, []int{0, 4}, nil, ""),
	} {
		want, err := os.ReadFile("testdata/" + name + ".npy")
		require.NoError(t, err)
		require.Equal(t, want, append(npyHeader(a), a.Raw...), name)
		head, at, err := parseNPY(want)
		require.NoError(t, err)
		require.Equal(t, [2]any{a.Shape, a.DType}, [2]any{head.Shape, head.DType})
		require.Equal(t, a.Raw, append([]byte{}, want[at:]...))
	}
	half := NewArray([]uint16{0x3800, 0xc000, 0x7bff, 0x0001, 0x7c00, 0x3555, 0x8001}, []int{7}, nil, "")
	f, err := half.Float32s()
	require.NoError(t, err)
	require.Equal(t, []float32{0.5, -2, 65504, 1.0 / (1 << 24), float32(math.Inf(1)), 0.33325195, -1.0 / (1 << 24)}, f)
	n, err := i8.Ints()
	require.NoError(t, err)
	require.Equal(t, []int64{-9007199254740993}, n)
}

func TestNumPyFilesThatAreNotOursAreRefused(t *testing.T) {
	for name, want := range map[string]string{"fortran": "wanted C order", "big": "little-endian"} {
		raw, err := os.ReadFile("testdata/" + name + ".npy")
		require.NoError(t, err)
		_, _, err = parseNPY(raw)
		require.ErrorContains(t, err, want)
	}
	for raw, want := range map[string]string{
		"":                                    "offset 0",
		npyMagic + "\x04\x00\x10\x00":         "offset 6: wanted NumPy format",
		npyMagic + "\x01\x00\xff\xff{":        "cut off",
		npyMagic + "\x02\x00\xff\xff\xff\xff": "wanted at most",
		npyMagic + "\x01\x00\x02\x00{}":       "wanted descr",
	} {
		_, _, err := parseNPY([]byte(raw))
		require.ErrorContains(t, err, want)
	}
	_, err := parseNPYDict("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")
	require.ErrorContains(t, err, "descr")
	_, err = parseNPYDict("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }")
	require.ErrorContains(t, err, "shape")
}

func TestSchemaIsHeldAndUnknownFieldsAreIgnored(t *testing.T) {
	raw := string(write(t, sample(t), ".json"))
	swap := func(from, to string) error {
		require.Contains(t, raw, from)
		_, err := read([]byte(strings.Replace(raw, from, to, 1)))
		return err
	}
	require.NoError(t, swap(`"version":"1.2"`, `"version":"1.99"`))
	require.NoError(t, swap(`"id": "sample01"`, `"id":"sample01","later":{"x":[1,null]}`))
	require.NoError(t, swap(`{"id":"receive/validate"`, `{"later":7,"id":"receive/validate"`))
	require.EqualError(t, swap(`"version":"1.2"`, `"version":"2.0"`), `schema.version: wanted 1.N, found "2.0": open it with a version of glassbox that reads it`)
	require.EqualError(t, swap(`"name":"glassbox-trace"`, `"name":"otlp"`), `schema.name: wanted "glassbox-trace", found "otlp"`)
	require.ErrorContains(t, swap(`"spans":[3]`, `"spans":[99]`), `walk[0] ("queue").spans[0]: wanted 0 to 31, found 99`)
	require.ErrorContains(t, swap(`"prov":"measured"`, `"prov":"guessed"`), "prov")
	require.ErrorContains(t, swap(`"dur_ns":1000000`, `"dur_ns":-1`), "dur_ns")
	require.ErrorContains(t, swap(`"start_ns":1000000,`, `"start_ns":"soon",`), "wanted int64, found string")
	require.ErrorContains(t, swap(`"kind":"prefill"`, `"kind":"warmup"`), "passes[0].kind")
	_, err := read([]byte(`{"traceEvents":[]}`))
	require.ErrorContains(t, err, "not a recording")
	for _, junk := range []string{"", "  ", "hello", "[1]", "\x00\x00", "PK\x03\x04junk"} {
		_, err := read([]byte(junk))
		require.Error(t, err, junk)
	}
}

func TestCutFilesSayWhatIsMissing(t *testing.T) {
	raw := write(t, sample(t), ".json")
	_, err := read(raw[:bytes.LastIndex(raw, []byte(`decode/1/`))])
	require.ErrorContains(t, err, `cut off inside "spans"`)
	_, err = read(raw[:bytes.Index(raw, []byte(`"rendered"`))])
	require.ErrorContains(t, err, `cut off inside "request"; missing: arrays, passes, walk, spans`)
	for n := 0; n < len(raw)-2; n += 13 {
		_, err := read(raw[:n])
		require.Error(t, err, n)
	}
	zipped := write(t, sample(t), ".gbx")
	for _, n := range []int{10, len(zipped) / 2, len(zipped) - 1} {
		_, err = read(zipped[:n])
		require.ErrorContains(t, err, "cut off")
	}
	damaged := slices.Clone(zipped)
	damaged[200] ^= 0xff
	_, err = read(damaged)
	require.Error(t, err)
}

func TestNothingThatIsNotJSONIsWritten(t *testing.T) {
	rec := sample(t)
	nan := math.NaN()
	rec.Request.OutputTokens[0].Logprob = &nan
	path := filepath.Join(t.TempDir(), "x.json")
	require.ErrorContains(t, Write(path, rec), "request.output_tokens[0].logprob: wanted a finite number, found NaN")
	rec = sample(t)
	rec.Numbers.DecodeTokensPerS = math.Inf(1)
	require.ErrorContains(t, Write(path, rec), "numbers.decode_tokens_per_s")
	rec = sample(t)
	rec.Arrays["attention"].Shape[0] = 7
	require.ErrorContains(t, Write(path, rec), `arrays["attention"]: shape [7 1 2 2] of f4 wants 112 bytes, found 16`)
	rec = sample(t)
	rec.Arrays["../up"] = rec.Arrays["attention"]
	require.ErrorContains(t, Write(path, rec), "name")
	require.ErrorContains(t, Write(filepath.Join(t.TempDir(), "x.txt"), sample(t)), ".json or .gbx")
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left, "no partial file")
}

func TestStringsAreEscapedAsTheSpecificationWants(t *testing.T) {
	for in, want := range map[string]string{
		"a\"b\\c": `"a\"b\\c"`, "\x00\x1f\n\t\r": `"\u0000\u001f\n\t\r"`, "\xf0\x9f": `"\ufffd\ufffd"`, "é€😀": `"é€😀"`,
		"\u2028x\u2029": `"\u2028x\u2029"`, "a\xffb": `"a\ufffdb"`, "\uFFFD": "\"\uFFFD\"", "": `""`,
	} {
		require.Equal(t, want, string(AppendString(nil, in)))
	}
}

// zipOf packs members, the trace of a sample among them when it is not given.
func zipOf(t testing.TB, members map[string]string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(members[name]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestHostileZipsAreRefused(t *testing.T) {
	head := `{"schema":{"name":"glassbox-trace","version":"1.2"},"arrays":{"a":{"shape":[%s],"dtype":"f4","axes":[],"meaning":""}}}`
	npy := func(shape string) string {
		d := "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }"
		return npyMagic + "\x01\x00" + string([]byte{byte(len(d)), 0}) + d
	}
	for name, c := range map[string]struct {
		members map[string]string
		want    string
	}{
		"no trace":     {map[string]string{"a.npy": "x"}, "wanted a member trace.json"},
		"no array":     {map[string]string{traceName: fmt.Sprintf(head, "2")}, "no member a.npy"},
		"giant shape":  {map[string]string{traceName: fmt.Sprintf(head, "4611686018427387904,4"), "a.npy": npy("4611686018427387904, 4")}, "larger than any file"},
		"short data":   {map[string]string{traceName: fmt.Sprintf(head, "1000000000"), "a.npy": npy("1000000000,") + "abcd"}, "wants 4000000000 bytes, found 4"},
		"other shape":  {map[string]string{traceName: fmt.Sprintf(head, "2"), "a.npy": npy("1,") + "abcd"}, "but trace.json says f4 [2]"},
		"not an array": {map[string]string{traceName: fmt.Sprintf(head, "2"), "a.npy": "hello"}, "wanted the start of a NumPy file"},
		"bomb":         {map[string]string{traceName: fmt.Sprintf(head, "2"), "a.npy": strings.Repeat("\x00", 1<<20)}, "wanted at most 1000"},
		"big json":     {map[string]string{traceName: strings.Repeat(" ", 1<<20)}, "wanted at most 65536"},
	} {
		raw := zipOf(t, c.members)
		_, err := ReadFrom(bytes.NewReader(raw), int64(len(raw)), Limits{JSON: 64 << 10, Arrays: 1000})
		require.ErrorContains(t, err, c.want, name)
	}
}

func FuzzRead(f *testing.F) {
	rec := sample(f) // cut down: the fuzzer shrinks its inputs byte by byte
	rec.Spans, rec.Passes, rec.Walk[0].Spans = rec.Spans[:1], rec.Passes[:1], nil
	rec.Arrays = map[string]*Array{"a": NewArray([]uint8{1}, []int{1}, []string{"n"}, "")}
	rec.Request = Request{OutputTokens: rec.Request.OutputTokens[1:2]}
	for _, ext := range []string{".json", ".gbx"} {
		f.Add(write(f, rec, ext))
	}
	f.Add([]byte(journalStart + `{"name":"glassbox-trace","version":"1.2"},"head":{"id":"x"}}` + "\n" + `{"delta":{"spans":[{"id":"a","prov":"measured"}]}}` + "\n{"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := ReadFrom(bytes.NewReader(raw), int64(len(raw)), Limits{JSON: 1 << 20, Arrays: 1 << 20})
		if err != nil {
			return
		}
		var b bytes.Buffer
		require.NoError(t, WriteJSON(&b, got)) // what opens can be written again, and opens again
		_, err = read(b.Bytes())
		require.NoError(t, err)
	})
}

func FuzzNPY(f *testing.F) {
	for _, name := range []string{"f4", "u1", "i8", "fortran", "big"} {
		raw, err := os.ReadFile("testdata/" + name + ".npy")
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, at, err := parseNPY(raw)
		if err != nil {
			return
		}
		require.LessOrEqual(t, at, len(raw))
		b, _, err := parseNPY(npyHeader(a))
		require.NoError(t, err)
		require.Equal(t, a, b)
	})
}
