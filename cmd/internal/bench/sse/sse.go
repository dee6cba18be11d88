// Package sse cuts a byte stream into server-sent events (WHATWG HTML, 9.2.6 "Interpreting an event stream") and gives
// each the time at which its bytes were read.
//
// It takes what real servers and proxies send: LF, CRLF and CR, "data:" with and without a blank, several data lines,
// comments, events split or joined by the network, and a stream that ends without a blank line. With Lines it reads
// newline-delimited JSON the same way.
//
// It does not know about HTTP, JSON or what an event means.
package sse

import (
	"bytes"
	"fmt"
)

// MaxEvent bounds what one event may hold. A server that never ends a line must not fill the memory.
const MaxEvent = 8 << 20

// Event is one event. Data is valid until the next call of Feed. At is the time given with the bytes that completed it.
type Event struct {
	Name string // the field "event", "" if there was none
	Data []byte
	At   int64
	Nth  int // how many events the same Feed had given before this one
}

// Parser is the state between two reads. The zero value is ready.
type Parser struct {
	Lines    bool // newline-delimited JSON: each line that is not empty is an event
	Comments int  // lines that were comments, so far

	line  []byte // the unfinished line
	data  []byte
	name  string
	has   bool // a data field was seen since the last event
	cr    bool // the last byte was CR: a LF now belongs to it
	begun bool // the first line is behind us: a byte order mark is no longer one
}

var bom = []byte("\xef\xbb\xbf")

// Feed takes the next bytes, read at time at, and calls emit for each event they complete. It fails if one event exceeds
// MaxEvent.
func (p *Parser) Feed(b []byte, at int64, emit func(Event)) error {
	nth := 0
	give := func(e Event) {
		e.Nth = nth
		nth++
		emit(e)
	}
	for len(b) > 0 {
		if p.cr {
			p.cr = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		i := bytes.IndexAny(b, "\r\n")
		if i < 0 {
			if p.line = append(p.line, b...); len(p.line)+len(p.data) > MaxEvent {
				return fmt.Errorf("sse: an event of more than %d bytes: is this an event stream?", MaxEvent)
			}
			return nil
		}
		line := b[:i]
		if len(p.line) > 0 {
			p.line = append(p.line, line...)
			line = p.line
		}
		p.cr = b[i] == '\r'
		b = b[i+1:]
		p.take(line, at, give)
		p.line = p.line[:0]
		if len(p.data) > MaxEvent {
			return fmt.Errorf("sse: an event of more than %d bytes: is this an event stream?", MaxEvent)
		}
	}
	return nil
}

// Close gives the event that the stream's end cut off before its blank line. The specification drops it; servers that
// forget the last blank line are common enough to read it.
func (p *Parser) Close(at int64, emit func(Event)) {
	if len(p.line) > 0 {
		p.take(p.line, at, emit)
		p.line = p.line[:0]
	}
	p.dispatch(at, emit)
}

// take handles a whole line.
func (p *Parser) take(line []byte, at int64, emit func(Event)) {
	if !p.begun {
		p.begun = true
		line = bytes.TrimPrefix(line, bom)
	}
	if p.Lines {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			emit(Event{Data: line, At: at})
		}
		return
	}
	if len(line) == 0 {
		p.dispatch(at, emit)
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case line[0] == ':':
		p.Comments++
	case string(field) == "data":
		if p.has {
			p.data = append(p.data, '\n')
		}
		p.data, p.has = append(p.data, value...), true
	case string(field) == "event":
		p.name = string(value)
	}
}

// dispatch gives the event collected so far. One without data is none.
func (p *Parser) dispatch(at int64, emit func(Event)) {
	if p.has {
		emit(Event{Name: p.name, Data: p.data, At: at})
	}
	p.data, p.name, p.has = p.data[:0], "", false
}
