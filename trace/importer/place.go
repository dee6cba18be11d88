package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"glassbox/trace/file"
	"glassbox/trace/query"
)

// mostRows is how many lanes a thread may become where its events overlap.
const mostRows = 64

// finish makes the recording: spans by lane, each overlapping one on a lane of its own.
func (c *chrome) finish() (*file.Recording, *Report, error) {
	for lane, stack := range c.stacks {
		for _, b := range stack {
			c.rep.Spans++
			c.left(b, lane)
		}
	}
	for key, list := range c.async {
		for _, b := range list {
			c.rep.Spans++
			c.left(b, c.asyncLane(key, b.name))
		}
	}
	if len(c.kept) == 0 {
		return nil, nil, fmt.Errorf("wanted events with times, found none among %d%s", c.rep.Events, because(c.rep.Why))
	}
	began := c.kept[0].start
	for i := range c.kept {
		began = min(began, c.kept[i].start)
	}
	rec := &file.Recording{Device: c.device(), Clock: file.Clock{Name: "of the imported file", ResolutionNs: 1}, Started: c.started(began)}
	rec.Request.Params = file.Attrs{}
	slices.SortStableFunc(c.kept, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.start, b.start), cmp.Compare(b.dur, a.dur))
	})
	for from := 0; from < len(c.kept); {
		to := from
		for to < len(c.kept) && c.kept[to].lane == c.kept[from].lane {
			to++
		}
		c.place(rec, c.kept[from:to], began)
		from = to
	}
	c.rep.Lanes = len(rec.Lanes)
	if c.rep.Folded > 0 {
		rec.Dropped = file.Dropped{Spans: c.rep.Folded, Why: fmt.Sprintf("the file has more than %d events: the shortest Python functions, then operators, are counted in request.params.folded alone", c.o.Most)}
		rec.Request.Params["folded"] = c.folds()
	}
	return rec, &c.rep, nil
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// asyncLane is the lane of an asynchronous event whose end never came.
func (c *chrome) asyncLane(key, name string) int {
	pid := key[1+lastZero(key):]
	e := event{Pid: json.RawMessage(strconv.Quote(pid))}
	return c.lane(&e, name)
}

func lastZero(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == 0 {
			return i
		}
	}
	return -1
}

// place lays the events of a thread on its lanes. They are by start, the longer first.
func (c *chrome) place(rec *file.Recording, list []item, began int64) {
	info := c.lanes[list[0].lane]
	rows, count, crowded := query.Rows(len(list), func(i int) (start, end int64) { return list[i].start, list[i].start + list[i].dur }, mostRows)
	c.rep.Crowded += int64(crowded)
	id, title, note := c.titles(info)
	ids := make([]string, count)
	for r := range count {
		ids[r] = id
		l := file.Lane{ID: id, Title: title, Note: note}
		if r > 0 {
			ids[r] = fmt.Sprintf("%s.%d", id, r+1)
			l.ID, l.Title = ids[r], fmt.Sprintf("%s (%d)", title, r+1)
		}
		rec.Lanes = append(rec.Lanes, l)
	}
	for i := range list {
		it := &list[i]
		rec.Spans = append(rec.Spans, file.Span{ID: id + "/" + strconv.Itoa(i), Name: cmp.Or(it.name, "(no name)"), StartNs: it.start - began, DurNs: it.dur, Lane: ids[rows[i]],
			Pass: file.None, Layer: file.None, Prov: "measured", Attrs: it.attrs()})
	}
}

// titles are a lane's id, name and process.
func (c *chrome) titles(l laneKey) (id, title, note string) {
	id = cmp.Or(l.pid, "0") + ":" + cmp.Or(l.tid, "0")
	note = cmp.Or(c.proc[l.pid], "process "+l.pid)
	if label := c.proc[l.pid+"\x00"]; label != "" {
		note += ", " + label
	}
	if l.async != "" {
		return cmp.Or(l.pid, "0") + ":async:" + l.async, l.async, note
	}
	title = cmp.Or(c.thread[laneKey{pid: l.pid, tid: l.tid}], "thread "+l.tid)
	return id, title, note
}

// device is what the profile says of the GPU it saw.
func (c *chrome) device() file.Device {
	var list []struct {
		Name string `json:"name"`
	}
	if raw := c.head["deviceProperties"]; len(raw) > 0 && json.Unmarshal(raw, &list) == nil && len(list) > 0 && list[0].Name != "" {
		return file.Device{Kind: "cuda", Name: list[0].Name, Features: []string{}}
	}
	return file.Device{Kind: "unknown", Name: "not said in the file", Features: []string{}}
}

// started is the wall clock of the first event, where the file says what its times count from.
func (c *chrome) started(began int64) string {
	base, err := strconv.ParseInt(string(c.head["baseTimeNanoseconds"]), 10, 64)
	if err != nil || base < 0 || base > latest {
		base = 0
	}
	return time.Unix(0, base).Add(time.Duration(began)).UTC().Format(time.RFC3339Nano)
}

// folds are the names that are counted alone: "cat name": [count, ns], the longest in all first.
func (c *chrome) folds() file.Attrs {
	out := file.Attrs{}
	for k, f := range c.folded {
		name := k.name
		if k.cat != "" {
			name = k.cat + ": " + name
		}
		out[name] = []int64{f.count, f.ns}
	}
	return out
}
