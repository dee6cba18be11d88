package attach

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// probeEvent is one hit of a probe, as the kernel's ring buffer has it.
type probeEvent struct {
	at    int64 // ns, of the trace clock
	probe uint16
	tid   int32
	data  []byte // the whole entry, within the page
	text  string // a string that the probe fetched
}

// Types of entries in a page of the ring buffer (include/linux/ring_buffer.h of the kernel).
const (
	ringPadding    = 29
	ringTimeExtend = 30
	ringTimeStamp  = 31
	ringHead       = 16 // time stamp and the length of what follows
)

// readPage reads the events of a page of a CPU's ring buffer, and tells whether the kernel lost some before it. The
// page's head is a time stamp and the length of its data; each entry begins with 5 bits of type or length in words, and
// 27 bits of time since the entry before.
func readPage(page []byte, order binary.ByteOrder, emit func(probeEvent)) (lost bool, err error) {
	if len(page) < ringHead {
		return false, fmt.Errorf("wanted a page of at least %d bytes, found %d", ringHead, len(page))
	}
	at := order.Uint64(page)
	commit := order.Uint64(page[8:])
	lost = commit>>31&1 != 0
	size := commit & 0xfffff
	if size > uint64(len(page)-ringHead) {
		return lost, fmt.Errorf("wanted at most %d bytes of data, found %d", len(page)-ringHead, size)
	}
	data := page[ringHead : ringHead+size]
	for len(data) >= 4 {
		head := order.Uint32(data)
		kind, delta := head&31, uint64(head>>5)
		length := 4
		switch {
		case kind == ringPadding && delta == 0:
			return lost, nil
		case kind == ringPadding || kind == 0:
			if len(data) < 8 {
				return lost, fmt.Errorf("an entry of %d bytes is cut off", len(data))
			}
			length = 4 + int(order.Uint32(data[4:]))
		case kind == ringTimeExtend || kind == ringTimeStamp:
			length = 8
		default:
			length = 4 + 4*int(kind)
		}
		if length > len(data) || length < 4 {
			return lost, fmt.Errorf("wanted an entry of at most %d bytes, found %d", len(data), length)
		}
		switch kind {
		case ringTimeExtend:
			at += delta + uint64(order.Uint32(data[4:]))<<27
		case ringTimeStamp:
			at = delta | uint64(order.Uint32(data[4:]))<<27 | at&(0xf<<59)
		default:
			at += delta
			body := data[4:length]
			if kind == 0 {
				body = data[8:length]
			}
			if kind != ringPadding && len(body) >= 8 {
				emit(probeEvent{at: int64(at), probe: order.Uint16(body), tid: int32(order.Uint32(body[4:])), data: body})
			}
		}
		data = data[length:]
	}
	return lost, nil
}

// Where the arguments of a uprobe begin in its entry: behind the common head and the address.
const probeArguments = 16

// dataText is the first argument of an entry, a string: a word of place and length in the entry. It is empty where the
// kernel could not read it.
func dataText(entry []byte, order binary.ByteOrder) string {
	if len(entry) < probeArguments+4 {
		return ""
	}
	at := order.Uint32(entry[probeArguments:])
	from, size := int(at&0xffff), int(at>>16)
	if from < probeArguments || from+size > len(entry) {
		return ""
	}
	text, _, _ := bytes.Cut(entry[from:from+size], []byte{0})
	if string(text) == "(fault)" || !utf8.Valid(text) {
		return ""
	}
	return string(text)
}
