// Package export writes a recording in the forms of other tools: Chrome's trace JSON as Perfetto reads it, speedscope's
// JSON, and CSV. Every span of the recording is in each of them, to the nanosecond.
//
// It does not know about engines, HTTP or pages.
package export

import (
	"cmp"
	"fmt"
	"slices"

	"glassbox/trace/file"
	"glassbox/trace/query"
)

// slice is one interval on a track.
type slice struct {
	name       string
	start, dur int64
	span, pass int // index into the recording's spans or passes, -1 for neither
	worker     bool
	call       int  // index into the recording's calls, from 1; 0 for none
	device     bool // what the device did for it
}

// track is a row on which slices follow each other or nest, and never overlap by halves.
type track struct {
	name   string
	slices []slice
}

// tracksOf lays a recording out: the passes, then each lane, then each worker with the time it was busy. A lane whose spans
// overlap by halves (work of several streams under one name) becomes as many tracks as that takes.
func tracksOf(rec *file.Recording) []track {
	var out []track
	if len(rec.Passes) > 0 {
		passes := make([]slice, len(rec.Passes))
		for i, p := range rec.Passes {
			passes[i] = slice{name: fmt.Sprintf("%s %d", p.Kind, p.Index), start: p.StartNs, dur: p.DurNs, span: -1, pass: i}
		}
		out = append(out, split("Passes", passes)...)
	}
	workers := map[int][]slice{}
	most := 0
	for _, lane := range query.Timelines(rec) {
		list := make([]slice, len(lane.Spans))
		for k, i := range lane.Spans {
			s := &rec.Spans[i]
			list[k] = slice{name: s.Name, start: s.StartNs, dur: s.DurNs, span: i, pass: -1}
			busy, _ := s.Attrs["busy_ns"].([]int64)
			for w, ns := range busy {
				if ns >= 0 && w < 1024 {
					workers[w] = append(workers[w], slice{name: s.Name, start: s.StartNs, dur: min(ns, s.DurNs), span: i, pass: -1, worker: true})
					most = max(most, w+1)
				}
			}
		}
		out = append(out, split(lane.Lane.Title, list)...)
	}
	out = append(out, callTracks(rec)...)
	for w := range most {
		out = append(out, split(fmt.Sprintf("Worker %d, busy", w), workers[w])...)
	}
	return out
}

// callTracks are the calls to a device's driver on the host, and below them what the device did for them.
func callTracks(rec *file.Recording) []track {
	var host, device []slice
	for i := range rec.Calls {
		c := &rec.Calls[i]
		host = append(host, slice{name: cmp.Or(c.Kernel, c.API), start: c.StartNs, dur: c.DurNs, span: -1, pass: -1, call: i + 1})
		if c.Device != nil {
			device = append(device, slice{name: cmp.Or(c.Kernel, c.API), start: c.Device.StartNs, dur: c.Device.DurNs, span: -1, pass: -1, call: i + 1, device: true})
		}
	}
	return append(split("Driver calls", host), split("Device", device)...)
}

// split spreads slices over as few tracks as first fit finds.
func split(name string, list []slice) []track {
	slices.SortStableFunc(list, func(a, b slice) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.dur, a.dur)) })
	rows, count, _ := query.Rows(len(list), func(i int) (start, end int64) { return list[i].start, list[i].start + list[i].dur }, 0)
	out := make([]track, count)
	for i, t := range rows {
		out[t].name = name
		out[t].slices = append(out[t].slices, list[i])
	}
	for t := range out[min(1, len(out)):] {
		out[t+1].name = fmt.Sprintf("%s (%d)", name, t+2)
	}
	return out
}
