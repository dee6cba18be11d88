package attach

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// thread is what one thread of one process did. Times are wall clock nanoseconds.
type thread struct {
	pid     int
	process string // its name, title and arguments, for the rules of lanes
	name    string // "main" for the main thread
	calls   []call // by start
}

// call is one uninterrupted run of a function: of a coroutine the stretch until it next waits.
type call struct {
	fn      *function
	start   int64
	dur     int64
	parent  int // index, -1 for none
	resumed bool
	open    bool   // still running when the recording ended
	node    string // of a graph, that it computes; "" = none
}

// function is a function of the engine.
type function struct {
	file string // below the package's parent folder; "" = not known
	name string
	line int // 0 = not known
}

// kinds of events, as in sitecustomize.py.
const (
	kindCall = iota
	kindResume
	kindReturn
	kindYield
	kindUnwind
)

// eventsHead is the first line of an events file.
type eventsHead struct {
	PID       int      `json:"pid"`
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Argv      []string `json:"argv"`
	Python    string   `json:"python"`
	Method    string   `json:"method"`
	Clocks    [2]int64 `json:"clocks"` // monotonic and wall, read one after the other
	Functions [][4]any `json:"functions"`
	Threads   [][2]any `json:"threads"`
	Main      float64  `json:"main"`
	Lost      int      `json:"lost"`
	Events    int      `json:"events"`
}

// readEvents reads the file that a process wrote.
func readEvents(data []byte) (*eventsHead, []thread, error) {
	line, words, ok := bytes.Cut(data, []byte("\n"))
	if !ok {
		return nil, nil, errors.New("wanted a line of JSON, found none: the file is cut off")
	}
	var h eventsHead
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, nil, fmt.Errorf("line 1: %w", err)
	}
	if len(words) != 16*h.Events {
		return nil, nil, fmt.Errorf("wanted %d events of 16 bytes, found %d bytes: the file is cut off", h.Events, len(words))
	}
	fns, err := functionsOf(&h)
	if err != nil {
		return nil, nil, err
	}
	stacks := make([]stack, len(h.Threads))
	for i := range h.Events {
		at := int64(binary.LittleEndian.Uint64(words[16*i:])) - h.Clocks[0] + h.Clocks[1]
		what := binary.LittleEndian.Uint64(words[16*i+8:])
		fn, th, kind := int(what>>20), int(what>>4&0xffff), int(what&15)
		if fn >= len(fns) || th >= len(stacks) || kind > kindUnwind {
			return nil, nil, fmt.Errorf("event %d: wanted one of %d functions and %d threads, found %d and %d", i, len(fns), len(stacks), fn, th)
		}
		stacks[th].event(fns[fn], kind, at)
	}
	var list []thread
	for i := range stacks {
		calls := stacks[i].end()
		if len(calls) == 0 {
			continue
		}
		t := thread{pid: h.PID, process: fmt.Sprint(h.Name, " ", h.Title, " ", h.Argv), calls: calls}
		t.name, _ = h.Threads[i][1].(string)
		if ident, _ := h.Threads[i][0].(float64); ident == h.Main {
			t.name = "main"
		}
		list = append(list, t)
	}
	return &h, list, nil
}

func functionsOf(h *eventsHead) ([]*function, error) {
	var fns []*function
	for i, f := range h.Functions {
		file, ok1 := f[0].(string)
		name, ok2 := f[1].(string)
		line, ok3 := f[2].(float64)
		if !ok1 || !ok2 || !ok3 {
			return nil, fmt.Errorf("functions[%d]: wanted file, name and line, found %v", i, f)
		}
		fns = append(fns, &function{file, name, int(line)})
	}
	return fns, nil
}

// stack turns the events of a thread into calls.
type stack struct {
	calls []call
	open  []int // indices of calls that run
	last  int64
}

func (s *stack) event(fn *function, kind int, at int64) {
	at = max(at, s.last) // one thread's clock does not go back
	s.last = at
	if kind == kindCall || kind == kindResume {
		parent := -1
		if n := len(s.open); n > 0 {
			parent = s.open[n-1]
		}
		s.calls = append(s.calls, call{fn: fn, start: at, parent: parent, resumed: kind == kindResume})
		s.open = append(s.open, len(s.calls)-1)
		return
	}
	for n := len(s.open) - 1; n >= 0; n-- {
		if s.calls[s.open[n]].fn != fn {
			continue
		}
		for _, i := range s.open[n:] { // those above it ended without a word
			s.calls[i].dur = at - s.calls[i].start
		}
		s.open = s.open[:n]
		return
	}
	// It began before the recording.
}

// end closes what still runs.
func (s *stack) end() []call {
	for _, i := range s.open {
		s.calls[i].dur = s.last - s.calls[i].start
		s.calls[i].open = true
	}
	return s.calls
}
