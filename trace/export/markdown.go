package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"glassbox/trace/file"
)

// Markdown writes the walk as a table of GitHub's dialect, a line a step, under a line that says what ran: for a page of
// documentation. Times are milliseconds; a step never reached has none.
func Markdown(w io.Writer, rec *file.Recording) error {
	b := bufio.NewWriter(w)
	device := rec.Device.Name
	if !rec.Clocked() {
		device += " (emulated: times are not measured)"
	}
	fmt.Fprintf(b, "%s %s on %s, %d threads, %s %s; prompt %s.\n\n", plainCell(rec.Model.Name), plainCell(rec.Model.Quantization), plainCell(device), rec.Device.Threads,
		plainCell(rec.Engine.Name), plainCell(rec.Engine.Version), plainCell(fmt.Sprintf("%q", file.PromptStart(&rec.Request))))
	fmt.Fprint(b, "| # | stage | step | spans | ms | in | out | source |\n|--:|---|---|--:|--:|---|---|---|\n")
	for i := range rec.Walk {
		s := &rec.Walk[i]
		count, ms := "", "not reached"
		if s.Count > 0 {
			count, ms = fmt.Sprint(s.Count), fmt.Sprintf("%.3f", float64(s.TimeNs)/1e6)
			if !rec.Clocked() {
				ms = "not measured"
			}
		}
		source := ""
		if s.Source.Path != "" {
			source = plainCell(fmt.Sprintf("%s:%d %s", s.Source.Path, s.Source.Line, s.Source.Symbol))
		}
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s | %s | %s | %s |\n", i+1, plainCell(s.Stage), plainCell(s.Title), count, ms, plainCell(s.In), plainCell(s.Out), source)
	}
	return b.Flush()
}

// markdownMarks are the characters that mean something in a cell; a recording's texts come from anywhere.
var markdownMarks = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "`", "\\`")

// plainCell is a text on one line without marks.
func plainCell(s string) string { return markdownMarks.Replace(strings.Join(strings.Fields(s), " ")) }
