package token

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"glassbox/trace"
)

// Span is a range of bytes, End excluded.
type Span struct{ Start, End int }

// Options say how a text is to be read.
type Options struct {
	// AddSpecial adds BOS and EOS where the file says so (tokenizer.ggml.add_bos_token, add_eos_token). BOS is never
	// doubled: a text that begins with the BOS mark, because the chat template wrote it, gets no other. Same for EOS.
	AddSpecial bool
	// ParseSpecial reads marks such as <|im_start|> in the text as their token; without it they are plain text.
	ParseSpecial bool
	// Plain are the ranges of text in which ParseSpecial does not hold: what users wrote. A mark
	// that touches such a range is plain text. The ranges do not split words.
	Plain []Span
	// Trace gets a span for each of the four passes; nil records nothing.
	Trace *trace.Writer
}

// fragment is a stretch of plain text, or one token found by its mark (id >= 0, no text).
type fragment struct {
	text string
	id   int32
}

// Encode returns the ids of text. Text that is not UTF-8 is encoded byte by byte. Bytes for which a byte-level
// vocabulary has no token are left out, as in Hugging Face tokenizers and llama.cpp (Warnings tells of them).
func (t *Tokenizer) Encode(text string, o Options) []int {
	if !slices.IsSortedFunc(o.Plain, byStart) {
		o.Plain = slices.SortedFunc(slices.Values(o.Plain), byStart)
	}
	fragments := t.splitMarks(text, o)
	words := t.presplit(fragments, o)
	pieces := t.merge(words, o)
	return t.lookUp(pieces, o)
}

func byStart(a, b Span) int { return cmp.Compare(a.Start, b.Start) }

// splitMarks is pass 1: it cuts text at the tokens that are found by their text, the longest at the leftmost place.
// User-defined tokens count everywhere, marks only where o allows them.
//
//go:noinline
func (t *Tokenizer) splitMarks(text string, o Options) []fragment {
	m := o.Trace.Begin(trace.StepSplitMarks)
	var out []fragment
	start, plain := 0, 0
	for i := 0; i < len(text); {
		for plain < len(o.Plain) && o.Plain[plain].End <= i {
			plain++
		}
		id, n := t.marks.longest(text, i, o.ParseSpecial, o.Plain[plain:])
		if n == 0 {
			i++
			continue
		}
		if start < i {
			out = append(out, fragment{text: text[start:i], id: -1})
		}
		out = append(out, fragment{id: id})
		i += n
		start = i
	}
	if start < len(text) {
		out = append(out, fragment{text: text[start:], id: -1})
	}
	if m.On() {
		marks := 0
		for _, f := range out {
			if f.id >= 0 {
				marks++
			}
		}
		m.Set("in", fmt.Sprintf("%d bytes of text", len(text)))
		m.Set("out", fmt.Sprintf("%d marks, %d stretches of text", marks, len(out)-marks))
	}
	m.End()
	return out
}

// presplit is pass 2: it cuts plain text into words, which merging never joins again. Byte-level vocabularies cut by the
// pattern they were trained with; SentencePiece does not cut, but writes spaces as U+2581 and may put one in
// front of each stretch of text, after a mark too (as llama.cpp and the legacy mode of Hugging Face do).
//
//go:noinline
func (t *Tokenizer) presplit(fragments []fragment, o Options) []fragment {
	m := o.Trace.Begin(trace.StepPresplit)
	out := make([]fragment, 0, 2*len(fragments))
	var parts []string
	for _, f := range fragments {
		switch {
		case f.id >= 0:
			out = append(out, f)
		case t.sentence:
			text := strings.ReplaceAll(f.text, " ", spaceMark)
			if t.vocab.AddSpacePrefix {
				text = spaceMark + text
			}
			out = append(out, fragment{text: text, id: -1})
		default:
			text := f.text
			if t.pre.nfc {
				text = norm.NFC.String(text)
			}
			parts = t.pre.split(text, parts[:0])
			for _, p := range parts {
				out = append(out, fragment{text: p, id: -1})
			}
		}
	}
	if m.On() {
		m.Set("in", fmt.Sprintf("%d marks and stretches of text", len(fragments)))
		m.Set("out", fmt.Sprintf("%d words and marks", len(out)))
	}
	m.End()
	return out
}

// merge is pass 3: inside each word it joins the best pair of neighbours until no pair is left. It gives ids, and
// -1-b for a byte b that no token covers.
//
//go:noinline
func (t *Tokenizer) merge(words []fragment, o Options) []int32 {
	m := o.Trace.Begin(trace.StepMerge)
	g := t.scratch.Get().(*merger)
	out := make([]int32, 0, 2*len(words))
	joins := 0
	for _, w := range words {
		if w.id >= 0 {
			out = append(out, w.id)
			continue
		}
		var n int
		out, n = t.mergeWord(g, w.text, out)
		joins += n
	}
	if cap(g.symbols) <= keepSymbols {
		t.scratch.Put(g)
	}
	if m.On() {
		m.Set("in", fmt.Sprintf("%d words and marks", len(words)))
		m.Set("out", fmt.Sprintf("%d pieces", len(out)))
		m.Set("joins", joins)
	}
	m.End()
	return out
}

// firstIDs writes the first ids for one line of a recording.
func firstIDs(ids []int) string {
	const most = 16
	s := strings.Trim(fmt.Sprint(ids[:min(len(ids), most)]), "[]")
	if len(ids) > most {
		s += " …"
	}
	return s
}

// lookUp is pass 4: it settles the ids. Merging works on ids, so what is left is bytes without a piece (SentencePiece's
// byte tokens, else the unknown token) and the BOS and EOS that the file asks for.
//
//go:noinline
func (t *Tokenizer) lookUp(pieces []int32, o Options) []int {
	m := o.Trace.Begin(trace.StepLookup)
	ids := make([]int, 0, len(pieces)+2)
	bos := o.AddSpecial && t.vocab.AddBOS && (len(pieces) == 0 || int(pieces[0]) != t.vocab.BOS)
	if bos {
		ids = append(ids, t.vocab.BOS)
	}
	bytes := 0
	for _, p := range pieces {
		if p < 0 {
			bytes++
			if p = t.bytes[-1-p]; p < 0 {
				p = int32(t.vocab.UNK)
			}
		}
		ids = append(ids, int(p))
	}
	eos := o.AddSpecial && t.vocab.AddEOS && (len(pieces) == 0 || int(pieces[len(pieces)-1]) != t.vocab.EOS)
	if eos {
		ids = append(ids, t.vocab.EOS)
	}
	if m.On() {
		m.Set("in", fmt.Sprintf("%d pieces", len(pieces)))
		m.Set("out", fmt.Sprintf("%d ids: %s", len(ids), firstIDs(ids)))
		m.Set("bytes", bytes)
		m.Set("added_bos", bos)
		m.Set("added_eos", eos)
	}
	m.End()
	return ids
}
