package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"glassbox/trace/file"
)

// Perfetto writes Chrome's trace event JSON ("Trace Event Format", as Perfetto's importer reads it): complete events
// ("X") on one thread for each track, times in microseconds from the request's first byte with exactly three decimals,
// so that no nanosecond is lost, and metadata events with the names. Arrows (flow events) lead from a call to a device's driver
// to what the device did for it. Worker tracks show for each op the time a worker was
// busy in it, drawn from the op's start: when within the op it was busy is not measured.
func Perfetto(w io.Writer, rec *file.Recording) error {
	b := bufio.NewWriterSize(w, 256<<10)
	b.WriteString(`{"displayTimeUnit":"ns","otherData":`)
	other := file.Attrs{"engine": rec.Engine.Name, "engine_version": rec.Engine.Version, "engine_commit": rec.Engine.Commit, "model": rec.Model.Name,
		"device": rec.Device.Name, "started": rec.Started, "recording": rec.ID, "dropped_spans": rec.Dropped.Spans}
	b.Write(other.AppendJSON(nil))
	b.WriteString(",\"traceEvents\":[\n")
	b.Write(meta("process_name", 0, file.Attrs{"name": processName(rec)}))
	var line []byte
	for t, track := range tracksOf(rec) {
		tid := t + 1
		b.WriteString(",\n")
		b.Write(meta("thread_name", tid, file.Attrs{"name": track.name}))
		b.WriteString(",\n")
		b.Write(meta("thread_sort_index", tid, file.Attrs{"sort_index": int64(tid)}))
		for _, s := range track.slices {
			line = append(line[:0], ",\n"...)
			line = appendEvent(line, rec, s, tid)
			line = appendArrow(line, rec, s, tid)
			if _, err := b.Write(line); err != nil {
				return fmt.Errorf("perfetto: %w", err)
			}
		}
	}
	b.WriteString("\n]}\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("perfetto: %w", err)
	}
	return nil
}

// emulated warns of times that measure nothing, in forms that cannot do without times.
func emulated(rec *file.Recording) string {
	if rec.Clocked() {
		return ""
	}
	return " (emulated device: order is true, times are not measured)"
}

func processName(rec *file.Recording) string {
	if rec.Engine.Name == "" {
		return "engine" + emulated(rec)
	}
	return rec.Engine.Name + " " + rec.Engine.Version + emulated(rec)
}

func meta(name string, tid int, args file.Attrs) []byte {
	b := fmt.Appendf(nil, `{"ph":"M","pid":1,"tid":%d,"name":"%s","args":`, tid, name)
	return append(args.AppendJSON(b), '}')
}

func appendEvent(b []byte, rec *file.Recording, s slice, tid int) []byte {
	b = append(b, `{"ph":"X","pid":1,"tid":`...)
	b = strconv.AppendInt(b, int64(tid), 10)
	b = append(b, `,"ts":`...)
	b = appendMicros(b, s.start)
	b = append(b, `,"dur":`...)
	b = appendMicros(b, s.dur)
	b = append(b, `,"name":`...)
	b = file.AppendString(b, s.name)
	switch {
	case s.call > 0:
		b = append(b, `,"cat":"call","args":`...)
		b = argsOfCall(&rec.Calls[s.call-1]).AppendJSON(b)
	case s.pass >= 0:
		p := rec.Passes[s.pass]
		b = append(b, `,"cat":"pass","args":`...)
		b = file.Attrs{"index": int64(p.Index), "kind": p.Kind, "tokens": int64(p.Tokens), "requests": int64(p.Requests)}.AppendJSON(b)
	case s.worker:
		b = append(b, `,"cat":"worker","args":`...)
		b = file.Attrs{"id": rec.Spans[s.span].ID}.AppendJSON(b)
	default:
		b = append(b, `,"cat":"span","args":`...)
		b = argsOf(&rec.Spans[s.span]).AppendJSON(b)
	}
	return append(b, '}')
}

// appendArrow leads from a call on the host ("s") to what the device did for it ("f", bound to the slice that it lies in).
func appendArrow(b []byte, rec *file.Recording, s slice, tid int) []byte {
	if s.call == 0 || rec.Calls[s.call-1].Device == nil {
		return b
	}
	kind := `"s"`
	if s.device {
		kind = `"f","bp":"e"`
	}
	b = fmt.Appendf(append(b, ",\n"...), `{"ph":%s,"pid":1,"tid":%d,"id":%d,"cat":"call","name":"asks","ts":`, kind, tid, s.call)
	return append(appendMicros(b, s.start), '}')
}

func argsOfCall(c *file.Call) file.Attrs {
	a := file.Attrs{"what": c.What, "api": c.API, "pass": int64(c.Pass)}
	for key, v := range map[string]string{"span": c.Span, "kernel": c.Kernel} {
		if v != "" {
			a[key] = v
		}
	}
	if c.Bytes != 0 {
		a["bytes"] = c.Bytes
	}
	if len(c.Grid) == 3 {
		a["grid"], a["threads"] = []int64{int64(c.Grid[0]), int64(c.Grid[1]), int64(c.Grid[2])}, int64(c.Threads)
	}
	return a
}

// argsOf gives what the event itself does not say; attributes are in one object of their own.
func argsOf(s *file.Span) file.Attrs {
	a := file.Attrs{"id": s.ID, "step": s.Step, "lane": s.Lane, "prov": s.Prov}
	for key, v := range map[string]string{"parent": s.Parent, "op": s.Op, "kernel": s.Kernel} {
		if v != "" {
			a[key] = v
		}
	}
	if s.Pass >= 0 {
		a["pass"] = int64(s.Pass)
	}
	if s.Layer >= 0 {
		a["layer"] = int64(s.Layer)
	}
	if s.Bytes != 0 {
		a["bytes"] = s.Bytes
	}
	if s.Flops != 0 {
		a["flops"] = s.Flops
	}
	if len(s.Attrs) > 0 {
		a["attrs"] = s.Attrs
	}
	return a
}

// appendMicros writes nanoseconds as microseconds with three decimals, from the digits of the whole number.
func appendMicros(b []byte, ns int64) []byte {
	if ns < 0 {
		b = append(b, '-')
		ns = -ns
	}
	b = strconv.AppendInt(b, ns/1000, 10)
	f := ns % 1000
	return append(b, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
}
