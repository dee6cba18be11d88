package token

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Vocab is a vocabulary as a model file holds it. Ids that the file does not set are -1.
type Vocab struct {
	Model  string    // tokenizer.ggml.model: "gpt2" or "llama"
	Pre    string    // tokenizer.ggml.pre: the pre-tokenizer's name, byte-level BPE only
	Tokens []string  // text of each id
	Types  []int32   // type of each id; empty means that all are Normal
	Scores []float32 // score of each id, SentencePiece only
	Merges []string  // "left right", best first, byte-level BPE only

	BOS, EOS, EOT, EOM, UNK, PAD int // -1 for none

	AddBOS, AddEOS bool // what Encode adds when asked for special tokens
	AddSpacePrefix bool // SentencePiece: write a space before the text
}

// eogTexts are marks that end an answer whatever the file's eos says: models are often tuned on a chat format whose end
// mark is not the base model's eos. A token counts only if the file types it as a mark or as user-defined.
var eogTexts = []string{
	"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|end_of_text|>", "<end_of_turn>", "<eos>",
	"</s>", "<EOT>", "_<EOT>", "[EOT]", "<｜end▁of▁sentence｜>", "<end_of_utterance>", "<|return|>", "<|call|>",
}

// New checks v and indexes it. Errors name the key of the GGUF file that is wrong.
func New(v Vocab) (*Tokenizer, error) {
	t := &Tokenizer{vocab: v}
	switch v.Model {
	case "gpt2":
	case "llama":
		t.sentence = true
	case "":
		return nil, fmt.Errorf("tokenizer.ggml.model: missing; wanted gpt2 or llama; the file has no vocabulary")
	default:
		return nil, fmt.Errorf("tokenizer.ggml.model: %q is not supported; wanted gpt2 (byte-level BPE) or llama (SentencePiece); use another model file", v.Model)
	}
	for _, step := range []func() error{t.indexTypes, t.indexTokens, t.checkIDs, t.retypeMarks, t.indexBytes, t.indexPieces, t.indexMerges} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	t.indexMarks()
	t.indexEOG()
	if !t.sentence {
		t.pre = t.choosePre(v.Pre)
	}
	t.cache.words = make(map[string][]int32)
	t.scratch.New = func() any { return new(merger) }
	return t, nil
}

func (t *Tokenizer) warn(format string, args ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf(format, args...))
}

func (t *Tokenizer) indexTypes() error {
	n := len(t.vocab.Tokens)
	if n == 0 {
		return fmt.Errorf("tokenizer.ggml.tokens: no tokens; wanted at least one")
	}
	if n > math.MaxInt32 {
		return fmt.Errorf("tokenizer.ggml.tokens: %d tokens; wanted at most %d", n, math.MaxInt32)
	}
	if len(t.vocab.Types) != 0 && len(t.vocab.Types) != n {
		return fmt.Errorf("tokenizer.ggml.token_type: %d entries; wanted one for each of %d tokens", len(t.vocab.Types), n)
	}
	t.types = make([]Type, n)
	for id := range t.types {
		t.types[id] = Normal
		if len(t.vocab.Types) == 0 {
			continue
		}
		kind := t.vocab.Types[id]
		if kind < 0 || kind > int32(Byte) {
			return fmt.Errorf("tokenizer.ggml.token_type[%d]: %d; wanted 0 to %d", id, kind, Byte)
		}
		if kind > 0 { // 0 is "undefined": old converters wrote it for plain text
			t.types[id] = Type(kind)
		}
	}
	return nil
}

func (t *Tokenizer) indexTokens() error {
	t.ids = make(map[string]int32, len(t.vocab.Tokens))
	empty := 0
	for id, text := range t.vocab.Tokens {
		if text == "" {
			empty++
			continue
		}
		if old, double := t.ids[text]; double {
			return fmt.Errorf("tokenizer.ggml.tokens[%d]: %q again; wanted distinct texts, it is token %d already", id, text, old)
		}
		t.ids[text] = int32(id)
		if t.types[id] == Normal {
			t.longest = max(t.longest, len(text))
		}
	}
	if empty > 0 {
		t.warn("tokenizer.ggml.tokens: %d tokens have no text and are never made from text", empty)
	}
	return nil
}

func (t *Tokenizer) checkIDs() error {
	v := &t.vocab
	for _, id := range []struct {
		key   string
		id    int
		added bool
	}{
		{"bos", v.BOS, v.AddBOS}, {"eos", v.EOS, v.AddEOS}, {"eot", v.EOT, false},
		{"eom", v.EOM, false}, {"unknown", v.UNK, false}, {"padding", v.PAD, false},
	} {
		if id.id < -1 || id.id >= len(v.Tokens) {
			return fmt.Errorf("tokenizer.ggml.%s_token_id: %d; wanted 0 to %d", id.key, id.id, len(v.Tokens)-1)
		}
		if id.added && id.id < 0 {
			return fmt.Errorf("tokenizer.ggml.add_%s_token: true, but tokenizer.ggml.%s_token_id is missing", id.key, id.key)
		}
	}
	return nil
}

// indexBytes finds the token of each single byte: "Ġ" style for byte-level BPE, "<0x20>" for SentencePiece.
func (t *Tokenizer) indexBytes() error {
	missing := 0
	for b := range t.bytes {
		name := byteChars[b]
		if t.sentence {
			name = fmt.Sprintf("<0x%02X>", b)
		}
		id, ok := t.ids[name]
		// DeepSeek's user-defined "þ" is the letter, not byte 0xFE.
		if !ok || t.sentence != (t.types[id] == Byte) || !t.sentence && t.types[id] != Normal {
			id = -1
			missing++
		}
		t.bytes[b] = id
	}
	switch {
	case missing == 0:
	case t.sentence && t.vocab.UNK < 0:
		return fmt.Errorf("tokenizer.ggml.tokens: %d of 256 byte tokens <0x..> are missing and there is no unknown token; wanted either", missing)
	case t.sentence:
		t.warn("tokenizer.ggml.tokens: %d of 256 bytes have no token; they become the unknown token", missing)
	case missing == 256:
		return fmt.Errorf("tokenizer.ggml.tokens: none of the 256 byte characters is a token; wanted a byte-level vocabulary")
	default:
		t.warn("tokenizer.ggml.tokens: %d of 256 bytes have no token; they are left out of the ids", missing)
	}
	return nil
}

// indexPieces works out the bytes each token stands for. Marks and user-defined tokens are their own text.
func (t *Tokenizer) indexPieces() error {
	t.pieces = make([][]byte, len(t.vocab.Tokens))
	total := 0
	for _, text := range t.vocab.Tokens {
		total += len(text)
	}
	arena := make([]byte, 0, total)
	for id, text := range t.vocab.Tokens {
		start := len(arena)
		switch {
		case t.sentence && t.types[id] == Byte:
			b, ok := parseByteToken(text)
			if !ok {
				return fmt.Errorf("tokenizer.ggml.tokens[%d]: %q has type byte; wanted <0x00> to <0xFF>", id, text)
			}
			arena = append(arena, b)
		case t.sentence && (t.types[id] == Control || t.types[id] == Unknown):
			arena = append(arena, text...)
		case t.sentence:
			arena = appendUnescaped(arena, text)
		case t.types[id] == Normal || t.types[id] == Byte || t.types[id] == Unused:
			arena = appendByteLevel(arena, text)
		default:
			arena = append(arena, text...)
		}
		t.pieces[id] = arena[start:len(arena):len(arena)]
	}
	return nil
}

func (t *Tokenizer) indexMerges() error {
	v := &t.vocab
	if t.sentence {
		if len(v.Scores) != len(v.Tokens) {
			return fmt.Errorf("tokenizer.ggml.scores: %d entries; wanted one for each of %d tokens", len(v.Scores), len(v.Tokens))
		}
		for id, s := range v.Scores {
			if s != s {
				return fmt.Errorf("tokenizer.ggml.scores[%d]: not a number; wanted a score", id)
			}
		}
		return nil
	}
	t.pairs = make(pairTable, len(v.Merges))
	buf := make([]byte, 0, 256)
	closed := 0
	for rank, merge := range v.Merges {
		left, right, ok := strings.Cut(merge, " ")
		if !ok || left == "" || right == "" || strings.Contains(right, " ") {
			return fmt.Errorf("tokenizer.ggml.merges[%d]: %q; wanted two pieces with one space between", rank, merge)
		}
		l, okL := t.ids[left]
		r, okR := t.ids[right]
		buf = append(append(buf[:0], left...), right...)
		id, ok := t.ids[string(buf)]
		if !okL || !okR || !ok {
			return fmt.Errorf("tokenizer.ggml.merges[%d]: %q; wanted both pieces and %q among the tokens", rank, merge, buf)
		}
		if t.types[id] == Control || t.types[id] == Unknown {
			closed++ // plain text must not turn into a mark
			continue
		}
		key := pairKey(l, r)
		if _, double := t.pairs[key]; !double {
			t.pairs[key] = pairMerge{id: id, rank: uint32(rank)}
		}
	}
	if closed > 0 {
		t.warn("tokenizer.ggml.merges: %d merges make a control token and are left out", closed)
	}
	return nil
}

// retypeMarks corrects types that converters get wrong: a token that begins or ends texts, or a user-defined one written
// <|so|>, is a mark (Control), not text.
func (t *Tokenizer) retypeMarks() error {
	for id, text := range t.vocab.Tokens {
		named := id == t.vocab.BOS || id == t.vocab.EOS || id == t.vocab.EOT || id == t.vocab.EOM
		switch kind := t.types[id]; {
		case kind == UserDefined && (named || looksLikeMark(text)):
		case kind == Normal && text != "" && (named || slices.Contains(eogTexts, text) && strings.HasPrefix(text, "<|")):
		default:
			continue
		}
		t.warn("tokenizer.ggml.token_type[%d]: %d for %q; taken as %d (control), because it is a mark", id, t.types[id], text, Control)
		t.types[id] = Control
	}
	return nil
}

// indexMarks collects the texts that pass 1 looks for. Unused ones stay out.
func (t *Tokenizer) indexMarks() {
	for id, text := range t.vocab.Tokens {
		switch kind := t.types[id]; {
		case text == "":
		case kind == Control || kind == Unknown:
			t.marks.add(text, int32(id), true)
		case kind == UserDefined && t.sentence:
			// The file may write the spaces of such a token as U+2581; the text it is looked for in has spaces.
			t.marks.add(string(t.pieces[id]), int32(id), false)
		case kind == UserDefined:
			t.marks.add(text, int32(id), false)
		}
	}
}

func looksLikeMark(text string) bool {
	return slices.Contains(eogTexts, text) || text == "<start_of_turn>" || len(text) > 4 && strings.HasPrefix(text, "<|") && strings.HasSuffix(text, "|>") ||
		strings.HasPrefix(text, "<｜") && strings.HasSuffix(text, "｜>")
}

func (t *Tokenizer) indexEOG() {
	t.eog = make(map[int32]bool)
	for _, id := range []int{t.vocab.EOS, t.vocab.EOT, t.vocab.EOM} {
		if id >= 0 {
			t.eog[int32(id)] = true
		}
	}
	for _, text := range eogTexts {
		if id, ok := t.ids[text]; ok && (t.types[id] == Control || t.types[id] == Unknown || t.types[id] == UserDefined) {
			t.eog[id] = true
		}
	}
}

// parseByteToken reads "<0x1F>".
func parseByteToken(text string) (byte, bool) {
	if len(text) != 6 || text[:3] != "<0x" || text[5] != '>' {
		return 0, false
	}
	hi, lo := strings.IndexByte(hexDigits, text[3]), strings.IndexByte(hexDigits, text[4])
	return byte(hi<<4 | lo), hi >= 0 && lo >= 0
}

const hexDigits = "0123456789ABCDEF"

// The byte-level alphabet of GPT-2's encoder.py (bytes_to_unicode): printable Latin-1 bytes stand for themselves, the
// others are numbered from U+0100 on.
var (
	byteChars  [256]string
	charToByte [0x144]int16
)

func init() {
	for i := range charToByte {
		charToByte[i] = -1
	}
	next := rune(0x100)
	for b := range 256 {
		c := rune(b)
		if b <= ' ' || b >= 0x7F && b <= 0xA0 || b == 0xAD {
			c = next
			next++
		}
		byteChars[b] = string(c)
		charToByte[c] = int16(b)
	}
}

// appendByteLevel appends the bytes that a byte-level text stands for; a text with another character stands for itself,
// as in the ByteLevel decoder of Hugging Face tokenizers.
func appendByteLevel(dst []byte, text string) []byte {
	start := len(dst)
	for _, c := range text {
		if c >= rune(len(charToByte)) || charToByte[c] < 0 {
			return append(dst[:start], text...)
		}
		dst = append(dst, byte(charToByte[c]))
	}
	return dst
}

// spaceMark is U+2581, SentencePiece's way to write a space.
const spaceMark = "▁"

func appendUnescaped(dst []byte, text string) []byte {
	for len(text) > 0 {
		if strings.HasPrefix(text, spaceMark) {
			dst, text = append(dst, ' '), text[len(spaceMark):]
			continue
		}
		_, n := utf8.DecodeRuneInString(text)
		dst, text = append(dst, text[:n]...), text[n:]
	}
	return dst
}
