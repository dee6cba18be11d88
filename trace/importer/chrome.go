package importer

import (
	"bytes"
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"glassbox/trace/file"
)

// event is one of Chrome's trace events. Everything is read as it stands: a field of the wrong type costs that field.
type event struct {
	Ph   json.RawMessage `json:"ph"`
	Cat  json.RawMessage `json:"cat"`
	Name json.RawMessage `json:"name"`
	Pid  json.RawMessage `json:"pid"`
	Tid  json.RawMessage `json:"tid"`
	Ts   json.RawMessage `json:"ts"`
	Dur  json.RawMessage `json:"dur"`
	ID   json.RawMessage `json:"id"`
	ID2  json.RawMessage `json:"id2"`
	Args json.RawMessage `json:"args"`
}

// item is an interval that is kept.
type item struct {
	name, cat string
	lane      int // in chrome.lanes
	start     int64
	dur       int64
	args      []byte
	note      string // "open", "mended" or "moment"
	rank      int8   // 0 goes last when there are too many
}

// before tells which of two is folded first: by rank, then the shorter one.
func (a *item) before(b *item) bool {
	if a.rank != b.rank {
		return a.rank > b.rank
	}
	return a.dur < b.dur
}

// items is a heap with what is folded first on top.
type items []item

func (h items) Len() int           { return len(h) }
func (h items) Less(i, j int) bool { return h[i].before(&h[j]) }
func (h items) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *items) Push(x any)        { *h = append(*h, x.(item)) }
func (h *items) Pop() any          { n := len(*h) - 1; x := (*h)[n]; *h = (*h)[:n]; return x }

// laneKey is a thread of a process, or one name of asynchronous events.
type laneKey struct{ pid, tid, async string }

// open is a begin that waits for its end.
type open struct {
	name, cat string
	start     int64
	args      []byte
}

// chrome gathers the events of a file.
type chrome struct {
	o      Options
	rep    Report
	head   map[string]json.RawMessage
	seen   bool
	kept   items
	full   bool
	lanes  []laneKey
	byKey  map[laneKey]int
	stacks map[int][]open    // of a lane
	async  map[string][]open // by id
	opened int
	texts  map[string]string // names are many, and the same
	proc   map[string]string
	thread map[laneKey]string
	folded map[foldKey]*fold
}

type foldKey struct{ cat, name string }

type fold struct{ count, ns int64 }

// Bounds of what is remembered beside the spans.
const (
	maxLanes  = 4096
	maxOpen   = 1 << 16
	maxFolds  = 2000
	maxArgs   = 2048
	maxNames  = 1 << 16
	otherFold = "(other names)"
)

func newChrome(o Options) *chrome {
	return &chrome{o: o, head: map[string]json.RawMessage{}, byKey: map[laneKey]int{}, stacks: map[int][]open{}, async: map[string][]open{}, texts: map[string]string{},
		proc: map[string]string{}, thread: map[laneKey]string{}, folded: map[foldKey]*fold{}, rep: Report{Form: "Chrome JSON"}}
}

// list reads the value of "traceEvents".
func (c *chrome) list(s *scanner) error {
	t, err := s.token()
	if err != nil {
		return s.explain(err)
	}
	if t != json.Delim('[') {
		return fmt.Errorf("traceEvents: wanted a list, found %.40v", t)
	}
	return c.events(s, false)
}

// events reads a list of events to its end. Of a bare list Chrome's format lets the last bracket be missing.
func (c *chrome) events(s *scanner, bare bool) error {
	c.seen = true
	for s.more() {
		var e event
		err := s.decode(&e)
		var wrong *json.UnmarshalTypeError
		switch {
		case errors.As(err, &wrong):
			c.rep.Events++
			c.rep.refuse(c.rep.Events, "wanted an object, found %s", wrong.Value)
			continue
		case err != nil:
			if bare && errors.Is(err, io.EOF) && c.rep.Events > 0 {
				return nil
			}
			return fmt.Errorf("event %d: %w", c.rep.Events+1, s.explain(err))
		}
		c.rep.Events++
		c.event(&e)
	}
	if _, err := s.token(); err != nil {
		if bare && errors.Is(err, io.EOF) && c.rep.Events > 0 {
			return nil
		}
		return s.explain(err)
	}
	return nil
}

// event takes in one event, and counts it.
func (c *chrome) event(e *event) {
	ph := str(e.Ph)
	switch ph {
	case "M":
		c.rep.Names++
		c.metadata(e)
		return
	case "C":
		c.rep.Counts++
		return
	case "s", "t", "f":
		c.rep.Flows++
		return
	case "X", "B", "E", "i", "I", "R", "b", "n", "e", "S", "F":
	case "":
		c.rep.refuse(c.rep.Events, "ph: wanted a letter, found %.40q", e.Ph)
		return
	default:
		c.rep.Others++
		return
	}
	at, err := microseconds(e.Ts)
	if err != nil {
		c.rep.refuse(c.rep.Events, "ts: %v, found %.40q", err, e.Ts)
		return
	}
	switch ph {
	case "X":
		c.whole(e, at)
	case "B":
		c.begin(e, at)
	case "E":
		c.end(e, at)
	case "b", "S":
		c.asyncBegin(e, at)
	case "e", "F":
		c.asyncEnd(e, at)
	default:
		c.rep.Moments++
		c.keep(item{name: c.name(e.Name), cat: c.name(e.Cat), lane: c.lane(e, ""), start: at, args: args(e.Args), note: "moment", rank: 1})
	}
}

// whole is an event with a length.
func (c *chrome) whole(e *event, at int64) {
	c.rep.Spans++
	it := item{name: c.name(e.Name), cat: c.name(e.Cat), lane: c.lane(e, ""), start: at, args: args(e.Args)}
	dur, err := microseconds(e.Dur)
	if err != nil || dur < 0 {
		dur = 0
		it.note = "mended"
		c.rep.Mended++
	}
	it.dur, it.rank = dur, c.rank(it.cat, it.name)
	c.keep(it)
}

// rank says how telling an event is: what ran on a device and what somebody named, then functions that a catalogue knows,
// then operators and calls of the runtime, then other functions of Python.
func (c *chrome) rank(cat, name string) int8 {
	switch cat {
	case "python_function":
		if c.o.Telling != nil && c.o.Telling(name) {
			return 1
		}
		return 3
	case "cpu_op", "cuda_runtime", "cuda_driver", "overhead", "ac2g":
		return 2
	case "cpu_instant_event":
		return 1
	}
	return 0
}

func (c *chrome) begin(e *event, at int64) {
	lane := c.lane(e, "")
	if c.opened >= maxOpen {
		c.rep.Spans++
		c.left(open{c.name(e.Name), c.name(e.Cat), at, args(e.Args)}, lane)
		return
	}
	c.opened++
	c.stacks[lane] = append(c.stacks[lane], open{c.name(e.Name), c.name(e.Cat), at, args(e.Args)})
}

// end closes the last begin of its thread; one that names another closes the nearest of that name.
func (c *chrome) end(e *event, at int64) {
	lane := c.lane(e, "")
	stack := c.stacks[lane]
	k := len(stack) - 1
	if name := str(e.Name); name != "" {
		for i := k; i >= 0 && i > k-64; i-- {
			if stack[i].name == name {
				k = i
				break
			}
		}
	}
	if k < 0 {
		c.rep.Strays++
		return
	}
	b := stack[k]
	c.stacks[lane] = append(stack[:k], stack[k+1:]...)
	c.opened--
	c.rep.Ends++
	c.pair(b, lane, at)
}

func (c *chrome) pair(b open, lane int, at int64) {
	c.rep.Spans++
	it := item{name: b.name, cat: b.cat, lane: lane, start: b.start, dur: at - b.start, args: b.args, rank: c.rank(b.cat, b.name)}
	if it.dur < 0 { // the clock went back
		it.dur, it.note = 0, "mended"
		c.rep.Mended++
	}
	c.keep(it)
}

// left is a begin without an end: it is kept, and has no length. To stretch it to the end would be a guess.
func (c *chrome) left(b open, lane int) {
	c.rep.Open++
	c.keep(item{name: b.name, cat: b.cat, lane: lane, start: b.start, args: b.args, note: "open", rank: c.rank(b.cat, b.name)})
}

// asyncKey is what begin and end of an asynchronous event have in common.
func (c *chrome) asyncKey(e *event) string {
	return str(e.Cat) + "\x00" + str(e.Name) + "\x00" + string(e.ID) + string(e.ID2) + "\x00" + str(e.Pid)
}

func (c *chrome) asyncBegin(e *event, at int64) {
	b := open{c.name(e.Name), c.name(e.Cat), at, args(e.Args)}
	if c.opened >= maxOpen {
		c.rep.Spans++
		c.left(b, c.lane(e, b.name))
		return
	}
	c.opened++
	key := c.asyncKey(e)
	c.async[key] = append(c.async[key], b)
}

func (c *chrome) asyncEnd(e *event, at int64) {
	key := c.asyncKey(e)
	list := c.async[key]
	if len(list) == 0 {
		c.rep.Strays++
		return
	}
	b := list[len(list)-1]
	if c.async[key] = list[:len(list)-1]; len(list) == 1 {
		delete(c.async, key)
	}
	c.opened--
	c.rep.Ends++
	c.pair(b, c.lane(e, b.name), at)
}

// metadata names processes and threads.
func (c *chrome) metadata(e *event) {
	var a struct {
		Name   json.RawMessage `json:"name"`
		Labels json.RawMessage `json:"labels"`
	}
	if json.Unmarshal(e.Args, &a) != nil {
		return
	}
	pid := str(e.Pid)
	switch str(e.Name) {
	case "process_name":
		if len(c.proc) < maxLanes {
			c.proc[pid] = str(a.Name)
		}
	case "process_labels":
		if l := str(a.Labels); l != "" && len(c.proc) < maxLanes {
			c.proc[pid+"\x00"] = l
		}
	case "thread_name":
		if len(c.thread) < maxLanes {
			c.thread[laneKey{pid: pid, tid: str(e.Tid)}] = str(a.Name)
		}
	}
}

// lane returns the number of a thread's lane; those beyond maxLanes share one.
func (c *chrome) lane(e *event, async string) int {
	k := laneKey{str(e.Pid), str(e.Tid), async}
	if async != "" {
		k.tid = ""
	}
	if n, ok := c.byKey[k]; ok {
		return n
	}
	if len(c.lanes) >= maxLanes {
		k = laneKey{"others", "more than 4096 threads", ""}
		if n, ok := c.byKey[k]; ok {
			return n
		}
	}
	c.byKey[k] = len(c.lanes)
	c.lanes = append(c.lanes, k)
	return len(c.lanes) - 1
}

// keep takes in an interval; when there are too many, what says least goes into the counts.
func (c *chrome) keep(it item) {
	if !c.full && len(c.kept) < c.o.Most {
		c.kept = append(c.kept, it)
		return
	}
	if !c.full {
		c.full = true
		heap.Init(&c.kept)
	}
	if out := c.kept[0]; out.before(&it) {
		c.kept[0] = it
		heap.Fix(&c.kept, 0)
		it = out
	}
	c.rep.Folded++
	c.rep.FoldedNs += it.dur
	k := foldKey{it.cat, it.name}
	f := c.folded[k]
	if f == nil && len(c.folded) >= maxFolds {
		k = foldKey{"", otherFold}
		f = c.folded[k]
	}
	if f == nil {
		f = &fold{}
		c.folded[k] = f
	}
	f.count, f.ns = f.count+1, f.ns+it.dur
}

// name returns a text, and the same one for the same text.
func (c *chrome) name(raw json.RawMessage) string {
	s := str(raw)
	if len(s) > 1000 {
		s = strings.ToValidUTF8(s[:1000], "") + "…"
	}
	if t, ok := c.texts[s]; ok {
		return t
	}
	if len(c.texts) < maxNames {
		c.texts[s] = s
	}
	return s
}

// str is a JSON string, or the text of a number.
func str(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if raw[0] != '"' {
		return string(raw)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// args are kept as they stand, if they are not too long.
func args(raw json.RawMessage) []byte {
	if len(raw) < 3 || raw[0] != '{' {
		return nil
	}
	if len(raw) > maxArgs {
		return []byte(`{"args":"longer than 2048 bytes: not kept"}`)
	}
	return bytes.Clone(raw)
}

// attrs are an item's facts.
func (it *item) attrs() file.Attrs {
	a := file.Attrs{}
	if it.args != nil && json.Unmarshal(it.args, &a) != nil || a == nil {
		a = file.Attrs{}
	}
	if it.cat != "" {
		a["cat"] = it.cat
	}
	if it.note != "" {
		a[it.note] = true
	}
	return a
}
