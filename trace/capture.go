package trace

import (
	"errors"
	"fmt"
)

// CaptureSpec says which values are copied out of the passes of a request, beside its times.
type CaptureSpec struct {
	Attention bool // softmax rows of every head
	Lens      bool // what the model would say from every layer
	Values    bool // vectors in and out of every op
	Logits    bool // the whole row of the first output token
}

// Any tells whether anything is captured.
func (c CaptureSpec) Any() bool { return c.Attention || c.Lens || c.Values || c.Logits }

// ParseCapture reads the names of a request's "capture" list; "all" takes every one.
func ParseCapture(names []string) (CaptureSpec, error) {
	var c CaptureSpec
	for _, n := range names {
		switch n {
		case "attention":
			c.Attention = true
		case "lens":
			c.Lens = true
		case "values":
			c.Values = true
		case "logits":
			c.Logits = true
		case "all":
			c = CaptureSpec{true, true, true, true}
		default:
			return c, fmt.Errorf("capture: unknown kind %q; wanted attention, lens, values, logits or all", n)
		}
	}
	return c, nil
}

// ErrBusy is a Tracer's word that it records as many requests as it can; a later try may be taken.
var ErrBusy = errors.New("too many requests are being recorded; try again when one is done")

// Tracer starts a recording for a request. The HTTP handlers hold one; nil means that nothing can be traced.
type Tracer interface {
	// Start returns the recorder of a new recording whose first byte arrived at start (clock of Now).
	Start(start int64, capture CaptureSpec) (*Recorder, error)
}
