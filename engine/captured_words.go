package engine

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"glassbox/engine/token"
	"glassbox/trace"
)

// wordArrays are the captured arrays whose values are ids of words.
var wordArrays = []string{"lens_ids", "lens_mid_ids", "lens_close_ids", "attr_ids", "attr_top_ids"}

// words names every word that the captured arrays speak of by its id, so that a recording is read without the model's
// file: an array lens_words of ids, in order, whose names are their texts. It gives none where no array speaks of words.
func words(arrays []trace.Array, tok *token.Tokenizer) []trace.Array {
	var ids []int32
	for _, a := range arrays {
		if v, ok := a.Data.([]int32); ok && slices.Contains(wordArrays, a.Name) {
			ids = append(ids, v...)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = wordText(tok, int(id))
	}
	return []trace.Array{{Name: "lens_words", Shape: []int{len(ids)}, Axes: []string{"word"}, Names: texts, Data: ids,
		Meaning: "ids of the words that the lens_ and attr_ arrays speak of; attr_names has their texts, bytes that are no whole UTF-8 as <E4>"}}
}

// wordText is a word as text. Bytes that are no whole character are written as <E4>.
func wordText(tok *token.Tokenizer, id int) string {
	if tok.IsSpecial(id) {
		return tok.Text(id)
	}
	piece := tok.Piece(id)
	if utf8.Valid(piece) {
		return string(piece)
	}
	var b strings.Builder
	for _, c := range piece {
		fmt.Fprintf(&b, "<%02X>", c)
	}
	return b.String()
}
