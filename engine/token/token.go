// Package token turns text into token ids and back, exactly as the model's vocabulary was trained to: byte-level BPE
// (GGUF tokenizer.ggml.model "gpt2") and SentencePiece BPE with byte fallback ("llama").
//
// Encoding is four passes, one method each, which a trace shows one by one: split at special marks, pre-split into
// words, merge, look up ids. Read encode.go first.
//
// It does not know about models, chat templates, requests or the network.
package token

import "sync"

// Type is a token's kind as GGUF stores it in tokenizer.ggml.token_type.
type Type uint8

// Token types, numbered as in the GGUF specification.
const (
	Normal      Type = 1
	Unknown     Type = 2
	Control     Type = 3 // a mark such as <|im_start|>: never made from plain text
	UserDefined Type = 4 // found in any text, before pre-splitting
	Unused      Type = 5
	Byte        Type = 6 // SentencePiece <0x00> … <0xFF>
)

// Tokenizer is an indexed vocabulary. It is safe for use by many goroutines at once.
type Tokenizer struct {
	vocab    Vocab
	types    []Type
	pre      preTokenizer
	sentence bool // SentencePiece; otherwise byte-level BPE

	ids     map[string]int32 // text as stored in the file → id
	pairs   pairTable        // byte-level BPE: pair of ids → merged id and rank
	bytes   [256]int32       // id of each byte, -1 where the vocabulary has none
	longest int              // bytes of the longest Normal token: longer pairs are not looked up
	marks   markTrie         // Control, Unknown and UserDefined texts
	eog     map[int32]bool
	pieces  [][]byte // what each id stands for, in bytes

	warnings []string
	cache    wordCache
	scratch  sync.Pool // *merger
}

// Size returns the number of tokens.
func (t *Tokenizer) Size() int { return len(t.vocab.Tokens) }

// Valid tells whether id is in the vocabulary.
func (t *Tokenizer) Valid(id int) bool { return id >= 0 && id < len(t.vocab.Tokens) }

// Text returns the token as the file writes it ("Ġworld", "▁world", "<0x0A>"), "" for an id outside the vocabulary.
func (t *Tokenizer) Text(id int) string {
	if !t.Valid(id) {
		return ""
	}
	return t.vocab.Tokens[id]
}

// Piece returns the bytes that the token stands for in running text (" world"), nil for an id outside the vocabulary.
// They may be part of a character. The caller must not change them.
func (t *Tokenizer) Piece(id int) []byte {
	if !t.Valid(id) {
		return nil
	}
	return t.pieces[id]
}

// Type returns the token's type, 0 for an id outside the vocabulary.
func (t *Tokenizer) Type(id int) Type {
	if !t.Valid(id) {
		return 0
	}
	return t.types[id]
}

// IsSpecial tells whether id is a mark (Control or Unknown) rather than text.
func (t *Tokenizer) IsSpecial(id int) bool {
	return t.Valid(id) && (t.types[id] == Control || t.types[id] == Unknown)
}

// IsEOG tells whether id ends the answer: the file's eos, eot and eom, and marks with one of the texts in eogTexts.
func (t *Tokenizer) IsEOG(id int) bool { return t.Valid(id) && t.eog[int32(id)] }

// ID returns the id of the token that the file writes as text.
func (t *Tokenizer) ID(text string) (id int, ok bool) {
	n, ok := t.ids[text]
	return int(n), ok
}

// BOS returns the id of the begin-of-sequence token, -1 if there is none.
func (t *Tokenizer) BOS() int { return t.vocab.BOS }

// EOS returns the id of the end-of-sequence token, -1 if there is none.
func (t *Tokenizer) EOS() int { return t.vocab.EOS }

// UNK returns the id of the unknown token, -1 if there is none.
func (t *Tokenizer) UNK() int { return t.vocab.UNK }

// AddBOS tells whether Encode writes BOS first when Options.AddSpecial is set.
func (t *Tokenizer) AddBOS() bool { return t.vocab.AddBOS }

// Model returns the kind of vocabulary: "gpt2" (byte-level BPE) or "llama" (SentencePiece).
func (t *Tokenizer) Model() string { return t.vocab.Model }

// Pre returns the name of the pre-tokenizer as the file gives it.
func (t *Tokenizer) Pre() string { return t.vocab.Pre }

// Warnings returns what was odd about the vocabulary but not fatal, one line each.
func (t *Tokenizer) Warnings() []string { return t.warnings }
