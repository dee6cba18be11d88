package gguf

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Error says why a file was refused: where, what was wanted, what was found and
// what to do about it. Error() is one line.
type Error struct {
	File   string // path or name
	Key    string // metadata key, or ""
	Tensor string // tensor name, or ""
	Offset int64  // byte in the file, or -1 where no single byte is to blame
	Wanted string
	Found  string
	Do     string
	Err    error // cause from the operating system, or nil
}

// Error gives the one line: gguf: FILE: key "K" at byte N: wanted W, found F; D.
func (e *Error) Error() string {
	var b strings.Builder
	file := e.File
	if strings.ContainsFunc(file, unicode.IsControl) {
		file = strconv.Quote(file)
	}
	b.WriteString("gguf: " + file + ": ")
	if e.Key != "" {
		b.WriteString("key " + quote(e.Key) + " ")
	}
	if e.Tensor != "" {
		b.WriteString("tensor " + quote(e.Tensor) + " ")
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, "at byte %d ", e.Offset)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(b.String(), " "), ":")
	return text + ": wanted " + e.Wanted + ", found " + e.Found + "; " + e.Do
}

// Unwrap gives the cause, so that errors.Is(err, fs.ErrNotExist) works.
func (e *Error) Unwrap() error { return e.Err }

// quote shows text of a file on one line of bounded length.
func quote(s string) string {
	if len(s) > 80 {
		return strconv.Quote(s[:80]) + "…"
	}
	return strconv.Quote(s)
}

const (
	doAgain   = "the file is cut or damaged: download it again"
	doDamaged = "the file is damaged or hostile: get it again from a source you trust"
	doConvert = "convert the model again with a current convert_hf_to_gguf.py"
)
