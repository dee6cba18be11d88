package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"glassbox/trace/file"
	"glassbox/trace/query"
)

// views are the tables that ViewCSV knows, by the name of the view on the page.
var views = map[string]func(rows, *file.Recording) error{
	"request": walkRows, "pass": passRows, "tape": tapeRows, "attention": attentionRows, "lens": lensRows,
}

// Views lists the names that ViewCSV takes, in the order of the pages' keys.
func Views() []string { return []string{"request", "pass", "tape", "attention", "lens", "timeline"} }

// rows takes the rows of a table, the header first.
type rows func(cells ...any) error

// ViewCSV writes what a view shows as one table (RFC 4180, UTF-8, a header line): request the walk, pass the ops with
// their spread over passes and layers, tape the products of one decode pass in reading order, attention a row a weight,
// lens a row a word, timeline the spans. A view whose captures are not in the recording is an error that names the
// command which records them. Columns of times of an emulated device say "not measured".
func ViewCSV(w io.Writer, rec *file.Recording, view string) error {
	if view == "timeline" || view == "" {
		return CSV(w, rec)
	}
	table, ok := views[view]
	if !ok {
		return fmt.Errorf("csv: view: wanted one of %s, found %q", strings.Join(Views(), ", "), view)
	}
	c := csv.NewWriter(w)
	line := make([]string, 0, 16)
	var timed []bool // the columns of times, where these measure nothing
	err := table(func(cells ...any) error {
		line = line[:0]
		for i, v := range cells {
			line = append(line, cell(v))
			if i < len(timed) && timed[i] {
				line[i] = notMeasured
			}
		}
		if timed == nil && !rec.Clocked() {
			for _, name := range line {
				timed = append(timed, name == "share" || strings.HasSuffix(name, "_ns") || strings.HasSuffix(name, "_per_s"))
			}
		}
		return c.Write(line)
	}, rec)
	c.Flush()
	if err == nil {
		err = c.Error()
	}
	if err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	return nil
}

// cell writes a value; floats with as many digits as tell them apart.
func cell(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case float32:
		return strconv.FormatFloat(float64(x), 'g', -1, 32)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

func walkRows(row rows, rec *file.Recording) error {
	if err := row("number", "id", "title", "stage", "lane", "count", "time_ns", "path", "line", "symbol", "in", "out"); err != nil {
		return err
	}
	for i := range rec.Walk {
		s := &rec.Walk[i]
		if err := row(i+1, s.ID, s.Title, s.Stage, s.Lane, s.Count, s.TimeNs, s.Source.Path, s.Source.Line, s.Source.Symbol, s.In, s.Out); err != nil {
			return err
		}
	}
	return nil
}

func passRows(row rows, rec *file.Recording) error {
	if err := row("op", "count", "total_ns", "min_ns", "median_ns", "max_ns", "bytes", "flops", "share", "gb_per_s", "gflop_per_s"); err != nil {
		return err
	}
	for _, g := range query.Totals(rec, query.ByOp, nil) {
		if err := row(g.Key, g.Count, g.TotalNs, g.MinNs, g.MedianNs, g.MaxNs, g.Bytes, g.Flops, g.Share, g.BytesPerS()/1e9, g.FlopsPerS()/1e9); err != nil {
			return err
		}
	}
	return nil
}

func tapeRows(row rows, rec *file.Recording) error {
	if err := row("number", "pass", "layer", "op", "kernel", "bytes", "start_ns", "dur_ns", "gb_per_s"); err != nil {
		return err
	}
	pass := -1
	for _, p := range rec.Passes {
		if p.Kind == "decode" {
			pass = p.Index
			break
		}
	}
	n := 0
	for i := range rec.Spans {
		s := &rec.Spans[i]
		if s.Op == "" || s.Pass != pass || !strings.HasPrefix(s.Kernel, "mv") && !strings.HasPrefix(s.Kernel, "mm") && !strings.HasPrefix(s.Kernel, "mat_") {
			continue
		}
		n++
		rate := 0.0
		if s.DurNs > 0 {
			rate = float64(s.Bytes) / float64(s.DurNs)
		}
		if err := row(n, s.Pass, whole(int64(s.Layer), s.Layer >= 0), s.Op, s.Kernel, s.Bytes, s.StartNs, s.DurNs, rate); err != nil {
			return err
		}
	}
	if n == 0 {
		return fmt.Errorf("tape: the recording has no decode pass with named matrix kernels")
	}
	return nil
}

// captured returns an array with its values, or says how to record it.
func captured(rec *file.Recording, name, kind string, dims int) (*file.Array, error) {
	a := rec.Arrays[name]
	if a == nil || a.Raw == nil || len(a.Shape) != dims {
		return nil, fmt.Errorf("%s: the array %q is not in this file; record it with glassbox trace PROMPT --capture %s -o FILE.gbx", kind, name, kind)
	}
	return a, nil
}

// tokenAt returns the text of the token at a position of the sequence.
func tokenAt(rec *file.Recording, pos int) string {
	r := &rec.Request
	if pos < len(r.PromptTokens) {
		return r.PromptTokens[pos].Text
	}
	if pos -= len(r.PromptTokens); pos < len(r.OutputTokens) {
		return r.OutputTokens[pos].Text
	}
	return ""
}

func attentionRows(row rows, rec *file.Recording) error {
	a, err := captured(rec, "attention", "attention", 4)
	if err != nil {
		return err
	}
	v, err := a.Float32s()
	if err != nil {
		return err
	}
	if err := row("layer", "head", "query", "query_token", "key", "key_token", "weight"); err != nil {
		return err
	}
	heads, queries, keys := a.Shape[1], a.Shape[2], a.Shape[3]
	for i, weight := range v {
		k, q := i%keys, i/keys%queries
		if k > q {
			continue // the future: masked
		}
		if err := row(i/(keys*queries*heads), i/(keys*queries)%heads, q, tokenAt(rec, q), k, tokenAt(rec, k), weight); err != nil {
			return err
		}
	}
	return nil
}

func lensRows(row rows, rec *file.Recording) error {
	if err := row("layer", "after", "position", "token", "rank", "id", "logprob"); err != nil {
		return err
	}
	for _, half := range []struct{ after, ids, logprob string }{{"attention", "lens_mid_ids", "lens_mid_logprob"}, {"feed-forward", "lens_ids", "lens_logprob"}} {
		a, err := captured(rec, half.ids, "lens", 3)
		if err != nil {
			return err
		}
		b, err := captured(rec, half.logprob, "lens", 3)
		if err != nil {
			return err
		}
		ids, err := a.Ints()
		if err != nil {
			return err
		}
		lps, err := b.Float32s()
		if err != nil {
			return err
		}
		if len(ids) != len(lps) {
			return fmt.Errorf("lens: %s and %s differ in shape: %v and %v", half.ids, half.logprob, a.Shape, b.Shape)
		}
		positions, ranks := a.Shape[1], a.Shape[2]
		for i, id := range ids {
			pos := i / ranks % positions
			if err := row(i/(ranks*positions), half.after, pos, tokenAt(rec, pos), i%ranks+1, id, lps[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
