// Package report writes what a benchmark measured: JSON, CSV, Markdown, one HTML page without a network, a comparison of
// two runs, a gallery of many, and the upload of a hosting service.
//
// It does not know about how anything is measured.
package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
)

// maxFile bounds what is read back.
const maxFile = 512 << 20

// Write writes a run into a folder, which is made when it is not there: NAME.json, .csv, .md and .html. Each file appears
// whole or not at all. It returns their paths in this order.
func Write(dir string, r *bench.Result) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("bench: -o %s: %w", dir, err)
	}
	name := filepath.Join(dir, Name(r))
	var paths []string
	for _, f := range []struct {
		ext   string
		write func(io.Writer, *bench.Result) error
	}{{".json", JSON}, {".csv", CSV}, {".md", Markdown}, {".html", HTML}} {
		var b bytes.Buffer
		if err := f.write(&b, r); err != nil {
			return paths, fmt.Errorf("bench: %s%s: %w", name, f.ext, err)
		}
		if err := Atomic(name+f.ext, b.Bytes()); err != nil {
			return paths, err
		}
		paths = append(paths, name+f.ext)
	}
	return paths, nil
}

// Name is the name of a run's files: the run's id and the model, as far as a file's name may hold it.
func Name(r *bench.Result) string {
	model := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			return c
		}
		return '-'
	}, r.Server.Model)
	if len(model) > 60 {
		model = model[len(model)-60:]
	}
	return "bench-" + r.ID + "-" + strings.Trim(model, "-.")
}

// Atomic writes a file beside its place and renames it when it is whole.
func Atomic(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bench-*.part")
	if err != nil {
		return fmt.Errorf("bench: %s: %w", path, err)
	}
	_, err = f.Write(data)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("bench: %s: %w", path, err)
	}
	return nil
}

// JSON writes everything.
func JSON(w io.Writer, r *bench.Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Read reads a JSON file back. It refuses another format or a newer major version.
func Read(path string) (*bench.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("bench: %s: %w", path, err)
	}
	return Parse(filepath.Base(path), data)
}

// Parse reads the text of a JSON file; name is for messages.
func Parse(name string, data []byte) (*bench.Result, error) {
	var r bench.Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("bench: %s: wanted a result of glassbox bench: %w", name, err)
	}
	major, _, _ := strings.Cut(r.Schema.Version, ".")
	if r.Schema.Name != bench.SchemaName || major != "1" {
		return nil, fmt.Errorf("bench: %s: schema: wanted %s 1.x, found %q %q: was it written by a newer version?", name, bench.SchemaName, r.Schema.Name, r.Schema.Version)
	}
	for _, rows := range [][]*client.Row{r.Rows, r.Prefill, r.Warmup} {
		for i, row := range rows {
			if row == nil {
				return nil, fmt.Errorf("bench: %s: row %d is null", name, i)
			}
		}
	}
	return &r, nil
}

var csvColumns = []string{"id", "phase", "level", "concurrency", "rate", "outcome", "ttft_ms", "tpot_ms", "e2e_ms", "ttfr_ms", "ttfo_ms", "wait_ms",
	"connect_ms", "icl_p50_ms", "icl_max_ms", "prompt_tokens", "output_tokens", "cached_tokens", "count_source", "chunks", "finish_reason", "status",
	"sent_ns", "first_token_ns", "last_token_ns", "end_ns", "server_ttft_ms", "server_tpot_ms", "server_e2e_ms", "server_prefill_ms", "server_decode_ms",
	"request_id", "trace_id", "recording", "error"}

// CSV writes one line a request: the levels', then those of the prefill phase. Not measured is empty.
func CSV(w io.Writer, r *bench.Result) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvColumns); err != nil {
		return err
	}
	for _, rows := range [][]*client.Row{r.Rows, r.Prefill} {
		for _, x := range rows {
			s, t, reason := x.Server, x.Times, ""
			if s == nil {
				s = &client.Server{}
			}
			if x.Error != nil {
				reason = *x.Error
			}
			err := c.Write([]string{x.ID, x.Phase, strconv.Itoa(x.Level), strconv.Itoa(x.Concurrency), plain(&x.Rate), x.Outcome, plain(x.TTFT), plain(x.TPOT),
				plain(x.E2E), plain(x.TTFR), plain(x.TTFO), plain(x.Wait), plain(x.Connect), plain(x.ICL50), plain(x.ICLMax), whole(x.PromptTokens),
				whole(x.OutputTokens), whole(x.CachedTokens), x.CountSource, strconv.Itoa(x.Chunks), formula(x.Finish), strconv.Itoa(x.Status),
				strconv.FormatInt(t.Sent, 10), strconv.FormatInt(t.FirstToken, 10), strconv.FormatInt(t.LastToken, 10), strconv.FormatInt(t.End, 10),
				plain(s.TTFT), plain(s.TPOT), plain(s.E2E), plain(s.Prefill), plain(s.Decode), formula(x.RequestID), x.TraceID, formula(x.Recording), formula(reason)})
			if err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

// formula keeps a spreadsheet from running a server's text as a formula.
func formula(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func plain(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'f', -1, 64)
}

func whole(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// Num writes a number with three significant digits, "n/m" for one that was not measured.
func Num(x *float64) string {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return "n/m"
	}
	return sig3(*x)
}

func sig3(x float64) string {
	a := math.Abs(x)
	switch {
	case a == 0:
		return "0"
	case a >= 99.95:
		return thousands(strconv.FormatFloat(roundTo(x, 3), 'f', 0, 64))
	case a >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case a >= 0.9995:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case a >= 0.0005:
		return strconv.FormatFloat(x, 'f', 3, 64)
	}
	return strconv.FormatFloat(x, 'e', 1, 64)
}

// roundTo rounds to significant digits, of numbers of 1000 and more only: those below are exact as whole numbers.
func roundTo(x float64, digits int) float64 {
	if math.Abs(x) < 1000 {
		return math.Round(x)
	}
	scale := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-float64(digits-1))
	return math.Round(x/scale) * scale
}

// thousands puts thin gaps between groups of three digits.
func thousands(s string) string {
	sign, d := "", s
	if strings.HasPrefix(d, "-") {
		sign, d = "-", d[1:]
	}
	for i := len(d) - 3; i > 0; i -= 3 {
		d = d[:i] + "\u202f" + d[i:]
	}
	return sign + d
}
