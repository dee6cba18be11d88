// Package importer reads what other programs measured: profiles in Chrome's trace JSON as PyTorch's profiler writes them,
// OpenTelemetry spans, and the timings of llama.cpp's server. Files are read as a stream, so that one of gigabytes takes a
// bounded amount of memory; nothing is lost without being counted.
//
// Read importer.go for how a file's kind is found, clean.go for what is forgiven in JSON, chrome.go and times.go for events,
// place.go for how they become lanes, otlp.go, timings.go and phases.go for the other forms.
//
// It does not know about engines, catalogues, HTTP or pages.
package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"glassbox/trace/file"
)

// Options bound an import. Zero values have defaults.
type Options struct {
	Most int // spans that are kept; of more, the shortest and least telling are folded into counts. 0 = 200,000
	// Telling says of a Python function's name, as the profile writes it, whether it is kept before others; nil = of none.
	Telling func(name string) bool
}

// limits of a file. An element is one event, or one value beside the events.
const (
	maxElement = 16 << 20
	maxFile    = 16 << 30 // unpacked
	mostSpans  = 200_000
)

// Report counts what was in a file. Events is the sum of all the others but Folded, Mended, Open and Crowded.
type Report struct {
	Form    string // "Chrome JSON", "OTLP JSON", "llama.cpp timings"
	Events  int64
	Spans   int64 // intervals, of one event, or of a begin and an end
	Ends    int64 // ends that belong to a begin
	Strays  int64 // ends that belong to none
	Moments int64 // instants, kept as spans without length
	Counts  int64 // values of counters
	Flows   int64 // arrows between events
	Names   int64 // names of processes and threads, and other metadata
	Others  int64 // kinds that say nothing of time
	Refused int64 // could not be read, or placed in time
	Why     string

	Folded   int64 // of Spans and Moments: not in the recording, in its counts alone
	FoldedNs int64
	Mended   int64 // negative, missing or impossible lengths: kept without length
	Open     int64 // begins without an end: kept without length
	Crowded  int64 // more than 64 at a time in one lane
	Lanes    int
}

// refuse counts an event that cannot be used, and remembers the first reason.
func (r *Report) refuse(n int64, format string, args ...any) {
	r.Refused++
	if r.Why == "" {
		r.Why = fmt.Sprintf("event %d: ", n) + fmt.Sprintf(format, args...)
	}
}

// Read reads a file of any of the forms, packed with gzip or not. name is for errors. The recording has spans and lanes, no
// walk.
func Read(r io.Reader, name string, o Options) (*file.Recording, *Report, error) {
	if o.Most <= 0 {
		o.Most = mostSpans
	}
	b := bufio.NewReaderSize(r, 1<<20)
	if magic, _ := b.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: gzip: %w", name, err)
		}
		b = bufio.NewReaderSize(z, 1<<20)
	}
	rec, rep, err := read(b, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return rec, rep, nil
}

func read(b *bufio.Reader, o Options) (*file.Recording, *Report, error) {
	first, err := firstByte(b)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, errors.New("wanted a profile, spans or timings, found an empty file")
	}
	if first != '{' && first != '[' {
		return readLog(b)
	}
	s := newScanner(b)
	switch t, err := s.token(); {
	case err != nil:
		return nil, nil, s.explain(err)
	case t == json.Delim('['):
		c := newChrome(o)
		if err := c.events(s, true); err != nil {
			return nil, nil, err
		}
		return c.finish()
	}
	return readObject(s, o)
}

func firstByte(b *bufio.Reader) (byte, error) {
	if bom, _ := b.Peek(3); string(bom) == "\xef\xbb\xbf" {
		_, _ = b.Discard(3)
	}
	for {
		c, err := b.ReadByte()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, b.UnreadByte()
		}
	}
}

// readObject finds out what an object is by its keys, in whatever order they come.
func readObject(s *scanner, o Options) (*file.Recording, *Report, error) {
	c := newChrome(o)
	for s.more() {
		key, err := s.key()
		if err != nil {
			return nil, nil, s.explain(err)
		}
		switch key {
		case "traceEvents":
			if err := c.list(s); err != nil {
				return nil, nil, err
			}
		case "resourceSpans":
			return readOTLP(s, o)
		case "timings":
			return readTimings(s)
		case "baseTimeNanoseconds", "deviceProperties", "distributedInfo", "trace_id", "displayTimeUnit", "schemaVersion":
			var raw json.RawMessage
			if err := s.decode(&raw); err != nil {
				return nil, nil, s.explain(err)
			}
			c.head[key] = bytes.Clone(raw)
		default:
			if err := s.skip(); err != nil {
				return nil, nil, s.explain(err)
			}
		}
	}
	if _, err := s.token(); err != nil { // the closing brace
		return nil, nil, s.explain(err)
	}
	if !c.seen {
		return nil, nil, errors.New(`wanted an object with "traceEvents" (Chrome JSON), "resourceSpans" (OTLP JSON) or "timings" (an answer of llama.cpp's server), found none of them`)
	}
	return c.finish()
}
