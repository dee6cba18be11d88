package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"glassbox/trace/file"
)

const speedscopeSchema = "https://www.speedscope.app/file-format-schema.json"

// Speedscope writes speedscope's own JSON: one evented profile for each track that has slices, in whole nanoseconds. A
// frame is a span's name.
func Speedscope(w io.Writer, rec *file.Recording) error {
	var tracks []track
	frames := map[string]int{}
	var names []string
	var end int64
	for _, t := range tracksOf(rec) {
		if len(t.slices) == 0 {
			continue
		}
		tracks = append(tracks, t)
		for _, s := range t.slices {
			if _, ok := frames[s.name]; !ok {
				frames[s.name] = len(names)
				names = append(names, s.name)
			}
			end = max(end, s.start+s.dur)
		}
	}
	b := bufio.NewWriterSize(w, 256<<10)
	b.WriteString(`{"$schema":"` + speedscopeSchema + `","exporter":"glassbox","name":`)
	b.Write(file.AppendString(nil, rec.Model.Name+" "+rec.ID+emulated(rec)))
	b.WriteString(`,"activeProfileIndex":0,"shared":{"frames":[`)
	for i, n := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(append(file.AppendString([]byte(`{"name":`), n), '}'))
	}
	b.WriteString(`]},"profiles":[`)
	for i, t := range tracks {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":")
		b.Write(file.AppendString(nil, t.name))
		fmt.Fprintf(b, `,"startValue":0,"endValue":%d,"events":[`, end)
		b.Write(appendEvents(nil, t.slices, frames))
		b.WriteString("]}")
	}
	b.WriteString("\n]}\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("speedscope: %w", err)
	}
	return nil
}

// appendEvents opens and closes the slices of a track in the order of time, the innermost closed first.
func appendEvents(b []byte, slices []slice, frames map[string]int) []byte {
	var open []slice
	event := func(kind byte, at int64, frame int) {
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"`...)
		b = append(b, kind)
		b = strconv.AppendInt(append(b, `","at":`...), at, 10)
		b = append(strconv.AppendInt(append(b, `,"frame":`...), int64(frame), 10), '}')
	}
	closeUntil := func(at int64) {
		for n := len(open); n > 0 && open[n-1].start+open[n-1].dur <= at; n = len(open) {
			event('C', open[n-1].start+open[n-1].dur, frames[open[n-1].name])
			open = open[:n-1]
		}
	}
	for _, s := range slices {
		closeUntil(s.start)
		event('O', s.start, frames[s.name])
		open = append(open, s)
	}
	closeUntil(1<<63 - 1)
	return b
}
