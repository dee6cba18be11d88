package file

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"glassbox/trace"
)

// journalStart begins every journal, so that it is not taken for a whole recording.
const journalStart = `{"journal":`

// journalLine is one line of a journal: exactly one of its fields is set.
type journalLine struct {
	Journal *Schema       `json:"journal,omitempty"` // first line only, with Head
	Head    *journalHead  `json:"head,omitempty"`
	Request *Request      `json:"request,omitempty"`
	Delta   *journalDelta `json:"delta,omitempty"`
	End     *journalEnd   `json:"end,omitempty"`
}

type journalHead struct {
	ID       string    `json:"id"`
	Engine   Engine    `json:"engine"`
	Model    Model     `json:"model"`
	Device   Device    `json:"device"`
	Clock    Clock     `json:"clock"`
	Started  string    `json:"started"`
	Untraced *Untraced `json:"untraced,omitempty"`
	Memory   *Memory   `json:"memory,omitempty"`
	Lanes    []Lane    `json:"lanes"`
	Capture  []string  `json:"capture"` // what was asked for beside times
}

type journalDelta struct {
	Spans   []Span                 `json:"spans"`
	Passes  []Pass                 `json:"passes"`
	Tokens  []Token                `json:"tokens"`
	Calls   []Call                 `json:"calls,omitempty"`
	Turns   []Turn                 `json:"turns,omitempty"`
	Pages   []PageChange           `json:"pages,omitempty"`
	Dropped int64                  `json:"dropped"`
	Sources map[string][]SourceRef `json:"sources,omitempty"`
}

type journalEnd struct {
	Spans int `json:"spans"` // in all, to be held against what was read
}

// journal is the append-only file that is written while a request runs: JSON lines, each handed to the system in one write.
type journal struct {
	f   *os.File
	err error // the first one; nothing is written after it
}

// startJournal creates the file with its first line.
func startJournal(path string, head *Recording, capture trace.CaptureSpec) (*journal, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &journal{f: f}
	j.write(journalLine{Journal: &Schema{SchemaName, SchemaVersion}, Head: &journalHead{
		ID: head.ID, Engine: head.Engine, Model: head.Model, Device: head.Device, Clock: head.Clock, Started: head.Started,
		Untraced: head.Untraced, Memory: head.Memory, Lanes: head.Lanes, Capture: captureNames(capture),
	}})
	if j.err != nil {
		f.Close()
		os.Remove(path) // without its first line it is no journal
		return nil, fmt.Errorf("journal %s: %w", path, j.err)
	}
	return j, nil
}

func captureNames(c trace.CaptureSpec) []string {
	out := []string{}
	for _, k := range []struct {
		name string
		on   bool
	}{{"attention", c.Attention}, {"lens", c.Lens}, {"values", c.Values}, {"logits", c.Logits}} {
		if k.on {
			out = append(out, k.name)
		}
	}
	return out
}

func (j *journal) write(line journalLine) {
	if j == nil || j.err != nil {
		return
	}
	raw, err := marshal(line)
	j.append(raw, err)
}

func (j *journal) append(raw []byte, err error) {
	if err == nil {
		_, err = j.f.Write(append(raw, '\n'))
	}
	j.err = err
}

func (j *journal) delta(d *Delta) {
	if j == nil || j.err != nil || d.Empty() {
		return
	}
	b := d.appendFields([]byte(`{"delta":{`))
	var err error
	if len(d.Sources) > 0 {
		var raw []byte
		raw, err = marshal(d.Sources)
		b = append(append(b, `,"sources":`...), raw...)
	}
	j.append(append(b, "}}"...), err)
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	if err := j.f.Close(); j.err == nil {
		j.err = err
	}
	return j.err
}

// readJournal opens a journal as far as it goes. It refuses one without a whole first line, and one that is broken before
// its last line.
func readJournal(raw []byte) (*Recording, error) {
	rec := &Recording{Partial: true, RawSources: map[string][]SourceRef{}}
	var capture []string
	end, at, n := (*journalEnd)(nil), 0, 0
	for at < len(raw) {
		line, rest, whole := bytes.Cut(raw[at:], []byte("\n"))
		var l journalLine
		if err := json.Unmarshal(line, &l); err != nil {
			if n > 0 && (!whole || len(bytes.Trim(rest, "\x00\n")) == 0) { // cut while it was written
				rec.Missing = append(rec.Missing, fmt.Sprintf("what was being written when it stopped (line %d, offset %d)", n+1, at))
				break
			}
			return nil, fmt.Errorf("journal: line %d, offset %d: %w", n+1, at, err)
		}
		if n == 0 {
			if err := checkSchema(l.Journal); err != nil {
				return nil, err
			}
			if l.Head == nil {
				return nil, fmt.Errorf("journal: line 1: wanted \"head\"")
			}
		}
		n++
		capture = applyLine(rec, &l, capture)
		if l.End != nil {
			end = l.End
		}
		at += len(line) + 1
	}
	sayMissing(rec, end, capture)
	rec.Partial = end == nil // for the numbers: with an end, the request itself is whole
	finish(rec)
	rec.Partial = true
	return rec, validate(rec)
}

const missingWalk = "walk: the texts of the steps"

// LayWalk gives a recording that was read from a journal its walk; finish is that of Options. Any other recording is left
// as it is.
func LayWalk(rec *Recording, finish func(*Recording)) {
	if !rec.Partial || len(rec.Walk) > 0 || finish == nil {
		return
	}
	if finish(rec); len(rec.Walk) > 0 {
		rec.Missing = slices.DeleteFunc(rec.Missing, func(m string) bool { return m == missingWalk })
	}
}

// sayMissing lists what a journal does not have and a finished recording does.
func sayMissing(rec *Recording, end *journalEnd, capture []string) {
	rec.Request.Params = orEmptyAttrs(rec.Request.Params)
	for _, refs := range rec.RawSources {
		slices.SortStableFunc(refs, func(a, b SourceRef) int { return cmp.Compare(declRank(a), declRank(b)) })
	}
	switch {
	case end == nil:
		rec.Missing = append(rec.Missing, "the end of the request")
		if rec.Request.Rendered == "" && len(rec.Request.PromptTokens) == 0 {
			rec.Missing = append(rec.Missing, "what was asked")
		}
	case end.Spans != len(rec.Spans):
		rec.Missing = append(rec.Missing, fmt.Sprintf("%d of %d spans", end.Spans-len(rec.Spans), end.Spans))
	}
	if rec.Dropped.Spans > 0 {
		rec.Dropped.Why = ringFull
	}
	rec.Missing = append(rec.Missing, missingWalk)
	for _, c := range capture {
		rec.Missing = append(rec.Missing, "arrays of the capture "+c)
	}
}

func declRank(r SourceRef) int {
	if r.Decl {
		return 1
	}
	return 0
}

// applyLine takes in one line and returns what captures were asked for.
func applyLine(rec *Recording, l *journalLine, capture []string) []string {
	if h := l.Head; h != nil {
		rec.Schema, rec.ID, rec.Engine, rec.Model, rec.Device, rec.Clock = Schema{SchemaName, SchemaVersion}, h.ID, h.Engine, h.Model, h.Device, h.Clock
		rec.Started, rec.Untraced, rec.Memory, rec.Lanes, capture = h.Started, h.Untraced, h.Memory, h.Lanes, h.Capture
	}
	if l.Request != nil {
		out := rec.Request.OutputTokens
		rec.Request = *l.Request
		rec.Request.OutputTokens = out // these come with the deltas
	}
	if d := l.Delta; d != nil {
		rec.Spans = append(rec.Spans, d.Spans...)
		rec.Passes = append(rec.Passes, d.Passes...)
		rec.Calls = append(rec.Calls, d.Calls...)
		rec.Turns = append(rec.Turns, d.Turns...)
		if rec.Memory != nil {
			rec.Memory.Changes = append(rec.Memory.Changes, d.Pages...)
		}
		rec.Request.OutputTokens = append(rec.Request.OutputTokens, d.Tokens...)
		rec.Dropped.Spans = d.Dropped
		for _, step := range slices.Sorted(maps.Keys(d.Sources)) {
			rec.RawSources[step] = append(rec.RawSources[step], d.Sources[step]...)
		}
	}
	return capture
}

func orEmptyAttrs(a Attrs) Attrs {
	if a == nil {
		return Attrs{}
	}
	return a
}
