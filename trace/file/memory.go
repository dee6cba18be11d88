package file

import (
	"fmt"
	"slices"

	"glassbox/trace"
)

// Turn is one turn of the engine's loop while the request was there: its own passes, and those that went by while it waited.
type Turn struct {
	StartNs int64  `json:"start_ns"`
	DurNs   int64  `json:"dur_ns"`
	Waiting int    `json:"waiting,omitempty"` // requests in the queue
	Parts   []Part `json:"parts"`
}

// Part is what one request had of a turn. Nothing else is recorded of other requests than this one.
type Part struct {
	Request int64  `json:"request"` // its number
	Kind    string `json:"kind"`    // as a pass has it
	Tokens  int    `json:"tokens"`
	From    int    `json:"from"` // position of the first of them
}

// Memory is the KV cache: its shape, and what happened to its pages while the request was there.
type Memory struct {
	PageTokens    int          `json:"page_tokens"`     // positions a page holds
	Pages         int          `json:"pages"`           // in all, numbered from 0
	PageBytes     int64        `json:"page_bytes"`      // of all layers
	BytesPerToken int64        `json:"bytes_per_token"` // keys and values of all layers
	Keys          string       `json:"keys"`            // ggml's name of the number format
	Values        string       `json:"values"`
	PrefixCache   bool         `json:"prefix_cache"`
	Changes       []PageChange `json:"changes,omitempty"` // by time
}

// PageChange is what happened to some pages at one moment.
type PageChange struct {
	TNs     int64   `json:"t_ns"`
	What    string  `json:"what"`              // hold, keep, take, share, drop, publish, evict or copy
	Request int64   `json:"request,omitempty"` // number of the request it happened for
	Pages   []int32 `json:"pages"`
	From    []int32 `json:"from,omitempty"` // of a copy: where each page's content comes from
}

// turns takes in what the loop did.
func (b *Builder) turns(batch *trace.Batch) {
	for i := range batch.Turns {
		t := &batch.Turns[i]
		at := Span{}
		b.place(&at, t.Start, t.Dur)
		o := Turn{StartNs: at.StartNs, DurNs: at.DurNs, Waiting: t.Waiting, Parts: make([]Part, len(t.Parts))}
		for k, p := range t.Parts {
			o.Parts[k] = Part{p.Request, p.Kind.String(), p.Tokens, p.From}
		}
		b.out.Turns = append(b.out.Turns, o)
	}
	for i := range batch.Pages {
		c := &batch.Pages[i]
		b.pages = append(b.pages, PageChange{TNs: max(c.At-b.rec.Start, 0), What: c.What.String(), Request: c.Request, Pages: c.Pages, From: c.From})
	}
}

// withChanges returns the cache's description with what happened to its pages.
func withChanges(m *Memory, changes []PageChange) *Memory {
	if m == nil {
		return nil
	}
	c := *m
	c.Changes = changes
	return &c
}

var whats = []string{"hold", "keep", "take", "share", "drop", "publish", "evict", "copy"}

// validateMemory checks turns and pages.
func validateMemory(rec *Recording) error {
	for i, t := range rec.Turns {
		if t.DurNs < 0 || t.DurNs > longest || t.StartNs < 0 || t.StartNs > longest {
			return fmt.Errorf("turns[%d]: start_ns and dur_ns: wanted 0 or more, found %d and %d", i, t.StartNs, t.DurNs)
		}
		for k, p := range t.Parts {
			if !slices.Contains(kinds, p.Kind) || p.Tokens < 0 || p.From < 0 {
				return fmt.Errorf("turns[%d].parts[%d]: wanted a kind of pass, tokens and from of 0 or more, found %+v", i, k, p)
			}
		}
	}
	m := rec.Memory
	if m == nil {
		return nil
	}
	if m.PageTokens < 1 || m.Pages < 0 || m.PageBytes < 0 || m.BytesPerToken < 0 {
		return fmt.Errorf("memory: wanted page_tokens of 1 or more and counts of 0 or more, found %d, %d, %d, %d", m.PageTokens, m.Pages, m.PageBytes, m.BytesPerToken)
	}
	for i := range m.Changes {
		c := &m.Changes[i]
		if !slices.Contains(whats, c.What) || c.TNs < 0 || c.TNs > longest {
			return fmt.Errorf("memory.changes[%d]: wanted one of %v and a time of 0 or more, found %.80q at %d", i, whats, c.What, c.TNs)
		}
		for _, pg := range append(c.Pages[:len(c.Pages):len(c.Pages)], c.From...) {
			if pg < 0 || int(pg) >= m.Pages {
				return fmt.Errorf("memory.changes[%d]: wanted pages from 0 to %d, found %d", i, m.Pages-1, pg)
			}
		}
		if c.What == trace.PageCopy.String() && len(c.From) != len(c.Pages) {
			return fmt.Errorf("memory.changes[%d]: wanted as many pages in from as in pages, found %d and %d", i, len(c.From), len(c.Pages))
		}
	}
	return nil
}
