package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"glassbox/trace/file"
)

// csvHeader names the columns; they are the fields of a span.
var csvHeader = []string{"id", "step", "name", "start_ns", "dur_ns", "lane", "parent", "pass", "layer", "op", "kernel", "bytes", "flops", "prov", "attrs"}

// CSV writes one row for each span (RFC 4180, UTF-8, a header line). A field that a span does not have is empty; attrs is
// the JSON object of the recording. Times of an emulated device are "not measured"; rows are in the order of their starts.
func CSV(w io.Writer, rec *file.Recording) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvHeader); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	for i := range rec.Spans {
		s := &rec.Spans[i]
		attrs, start, dur := "", whole(s.StartNs, true), whole(s.DurNs, true)
		kept := s.Attrs
		if !rec.Clocked() {
			start, dur, kept = notMeasured, notMeasured, timeless(s.Attrs)
		}
		if len(kept) > 0 {
			attrs = string(kept.AppendJSON(nil))
		}
		err := c.Write([]string{s.ID, s.Step, s.Name, start, dur, s.Lane, s.Parent, whole(int64(s.Pass), s.Pass >= 0),
			whole(int64(s.Layer), s.Layer >= 0), s.Op, s.Kernel, whole(s.Bytes, s.Bytes != 0), whole(s.Flops, s.Flops != 0), s.Prov, attrs})
		if err != nil {
			return fmt.Errorf("csv: %w", err)
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	return nil
}

// notMeasured stands where a time would.
const notMeasured = "not measured"

// timeless are the attributes that are no times, whose names end in _ns.
func timeless(a file.Attrs) file.Attrs {
	out := file.Attrs{}
	for k, v := range a {
		if !strings.HasSuffix(k, "_ns") {
			out[k] = v
		}
	}
	return out
}

func whole(n int64, known bool) string {
	if !known {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
