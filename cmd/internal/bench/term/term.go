// Package term shows a running benchmark on a terminal: a few lines that are redrawn in place, or, where the output is no
// terminal, one line a step.
//
// It does not know about how anything is measured.
package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"glassbox/cmd/internal/bench"
)

// View draws progress. It is safe for use by several goroutines.
type View struct {
	w      io.Writer
	live   bool
	mu     sync.Mutex
	drawn  int // lines on the screen
	last   time.Time
	phase  string
	now    bench.Progress
	closed bool
}

// New draws on a file, in place if that is a terminal.
func New(f *os.File) *View {
	info, err := f.Stat()
	return NewOn(f, err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb")
}

// NewOn draws on any writer; live tells whether it can move its cursor.
func NewOn(w io.Writer, live bool) *View { return &View{w: w, live: live} }

// redraw is how often the live view is drawn at most.
const redraw = 100 * time.Millisecond

// Show takes a step of progress.
func (v *View) Show(p bench.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	if p.Message != "" {
		v.clear()
		fmt.Fprintln(v.w, "  "+printable(p.Message, 400))
		v.draw()
		return
	}
	if p.Phase != v.phase {
		v.finish()
		v.phase = p.Phase
		if v.now.Endpoint == nil && p.Endpoint != nil {
			v.clear()
			fmt.Fprintf(v.w, "  %s, model %s, at %s\n", printable(strings.TrimSpace(p.Endpoint.Kind+" "+p.Endpoint.Version), 80), printable(p.Endpoint.Model, 80), p.Endpoint.URL)
		}
	}
	v.now = p
	if v.live && (time.Since(v.last) >= redraw || p.Done == p.Total) {
		v.last = time.Now()
		v.draw()
	}
}

// Close ends the view, leaving the finished steps.
func (v *View) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.finish()
	v.closed = true
}

// finish writes the last step as a line that stays.
func (v *View) finish() {
	if v.phase == "" {
		return
	}
	v.clear()
	fmt.Fprintln(v.w, "  "+v.line(v.now, true))
	v.phase = ""
}

func (v *View) clear() {
	for ; v.drawn > 0; v.drawn-- {
		fmt.Fprint(v.w, "\x1b[1A\x1b[2K")
	}
}

func (v *View) draw() {
	if !v.live || v.phase == "" {
		return
	}
	v.clear()
	fmt.Fprintln(v.w, "  "+v.line(v.now, false))
	fmt.Fprintf(v.w, "  step %d of %d, %s so far%s; Ctrl-C keeps what was measured\n", v.now.Step, v.now.Steps, clock(v.now.Elapsed), left(v.now.Left))
	v.drawn = 2
}

// line is a step: name, bar, counts, and the medians so far.
func (v *View) line(p bench.Progress, done bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s", p.Phase)
	if p.Total > 0 {
		if !done {
			fmt.Fprintf(&b, "%s ", bar(p.Done, p.Total, 20))
		}
		fmt.Fprintf(&b, "%4d/%-4d", p.Done, p.Total)
	}
	for _, x := range []struct {
		name  string
		value float64
		unit  string
	}{{"TTFT ", p.TTFT, " ms"}, {"TPOT ", p.TPOT, " ms"}, {"", p.Rate, " tok/s"}} {
		if x.value > 0 {
			fmt.Fprintf(&b, "  %s%s%s", x.name, short(x.value), x.unit)
		}
	}
	if p.Errors > 0 {
		fmt.Fprintf(&b, "  %d failed", p.Errors)
	}
	return strings.TrimRight(b.String(), " ")
}

func bar(n, of, width int) string {
	full := min(width, n*width/max(1, of))
	return strings.Repeat("━", full) + strings.Repeat("─", width-full)
}

func short(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func clock(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

func left(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return fmt.Sprintf(", about %s left", clock(d))
}

// printable cuts a server's text, and keeps it from moving the cursor or writing anything but text.
func printable(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			r = ' '
		}
		b.WriteRune(r)
		if n--; n == 0 {
			b.WriteString("…")
			break
		}
	}
	return b.String()
}
