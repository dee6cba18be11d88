package token

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// DecodeOptions say how ids become text.
type DecodeOptions struct {
	// SkipSpecial leaves marks out (Control and Unknown tokens).
	SkipSpecial bool
	// Continue is set for text that goes on after other text, such as an answer after its prompt: the blank that
	// SentencePiece vocabularies put before a text is then kept, because it parts two words.
	Continue bool
}

// Decode returns the text of ids, marks written out. Bytes that are not UTF-8 become U+FFFD: byte-level vocabularies give
// one for each maximal part of a character (Unicode 16, table 3-8), as Hugging Face's ByteLevel decoder does, SentencePiece
// one for each byte, as its own decoder does. An id outside the vocabulary is an error.
func (t *Tokenizer) Decode(ids []int) (string, error) { return t.DecodeWith(ids, DecodeOptions{}) }

// DecodeWith is Decode with options.
func (t *Tokenizer) DecodeWith(ids []int, o DecodeOptions) (string, error) {
	for i, id := range ids {
		if err := t.Check(id); err != nil {
			return "", fmt.Errorf("token %d of %d: %w", i, len(ids), err)
		}
	}
	d := t.NewDetokenizer(o)
	var out strings.Builder
	for _, id := range ids {
		out.WriteString(d.Push(id))
	}
	out.WriteString(d.Flush())
	return out.String(), nil
}

// Check returns an error if id is not in the vocabulary.
func (t *Tokenizer) Check(id int) error {
	if !t.Valid(id) {
		return fmt.Errorf("token id %d is not in the vocabulary; wanted 0 to %d", id, t.Size()-1)
	}
	return nil
}

// Detokenizer turns a stream of ids into text, holding back the bytes of a character until it is whole. What Push and
// Flush give, one after the other, is what DecodeWith gives for all ids. It is used by one goroutine.
type Detokenizer struct {
	t       *Tokenizer
	o       DecodeOptions
	pending []byte // the start of a character
	started bool
}

// NewDetokenizer returns a detokenizer at the start of a text.
func (t *Tokenizer) NewDetokenizer(o DecodeOptions) *Detokenizer {
	return &Detokenizer{t: t, o: o, started: o.Continue}
}

// Push returns the text that is certain after id: all but the start of a character. An id outside the vocabulary adds
// nothing.
func (d *Detokenizer) Push(id int) string {
	if !d.t.Valid(id) || d.o.SkipSpecial && d.t.IsSpecial(id) {
		return ""
	}
	piece := d.t.pieces[id]
	if !d.started && len(piece) > 0 {
		d.started = true
		if d.t.sentence && d.t.vocab.AddSpacePrefix && d.t.types[id] == Normal && piece[0] == ' ' {
			piece = piece[1:]
		}
	}
	d.pending = append(d.pending, piece...)
	return d.take(false)
}

// Flush returns what is held back, as U+FFFD.
func (d *Detokenizer) Flush() string { return d.take(true) }

// Held returns how many bytes are held back, at most 3.
func (d *Detokenizer) Held() int { return len(d.pending) }

// take removes the whole characters from pending, and all of it at the end.
func (d *Detokenizer) take(end bool) string {
	var out strings.Builder
	p := d.pending
	for len(p) > 0 && (end || utf8.FullRune(p)) {
		r, n := utf8.DecodeRune(p)
		if r != utf8.RuneError || n > 1 {
			out.Write(p[:n])
		} else {
			if n = 1; !d.t.sentence {
				n = brokenPart(p)
			}
			out.WriteRune(utf8.RuneError)
		}
		p = p[n:]
	}
	d.pending = append(d.pending[:0], p...)
	return out.String()
}

// brokenPart returns the length of the longest start of p that begins a character, at least 1.
func brokenPart(p []byte) int {
	n := 1
	if utf8.FullRune(p[:1]) { // no character begins with this byte
		return n
	}
	for n < len(p) && !utf8.FullRune(p[:n+1]) {
		n++
	}
	return n
}
