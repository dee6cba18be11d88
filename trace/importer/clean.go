package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// cleaner forgives what profilers write into JSON and JSON does not have: NaN and Infinity outside strings become null,
// control characters in strings become blanks, and a backslash that escapes nothing stands for itself (paths of Windows).
type cleaner struct {
	r       io.Reader
	in      [64 << 10]byte
	buf     []byte // cleaned
	out     []byte // of buf, not yet read
	text    bool   // inside a string
	escaped bool
	word    []byte // letters outside a string that may be NaN or Infinity
	err     error
	Odd     int64 // numbers that were none
}

// Read implements io.Reader.
func (c *cleaner) Read(p []byte) (int, error) {
	for len(c.out) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		n, err := c.r.Read(c.in[:])
		c.buf = c.buf[:0]
		for _, b := range c.in[:n] {
			c.take(b)
		}
		if c.err = err; err != nil {
			c.flush()
		}
		c.out = c.buf
	}
	n := copy(p, c.out)
	c.out = c.out[n:]
	return n, nil
}

func (c *cleaner) take(b byte) {
	if c.text {
		switch {
		case c.escaped:
			c.escaped = false
			switch b {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't', 'u':
				c.buf = append(c.buf, '\\', b)
			default:
				c.buf = append(c.buf, '\\', '\\')
				c.take(b)
			}
		case b == '\\':
			c.escaped = true
		case b < 0x20:
			c.buf = append(c.buf, ' ')
		default:
			c.text = b != '"'
			c.buf = append(c.buf, b)
		}
		return
	}
	letter := b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
	if !letter || len(c.word) == 16 {
		c.flush()
	}
	if letter || b == '-' || b == '+' {
		c.word = append(c.word, b)
		return
	}
	c.text = b == '"'
	c.buf = append(c.buf, b)
}

// flush ends a word.
func (c *cleaner) flush() {
	switch string(c.word) {
	case "":
		return
	case "NaN", "nan", "-nan", "-NaN", "Infinity", "-Infinity", "+Infinity", "inf", "-inf", "Inf", "-Inf":
		c.Odd++
		c.buf = append(c.buf, "null"...)
	default:
		c.buf = append(c.buf, c.word...)
	}
	c.word = c.word[:0]
}

// scanner reads JSON as a stream, with a bound on each element.
type scanner struct {
	c *cleaner
	b *budget
	d *json.Decoder
}

func newScanner(r io.Reader) *scanner {
	c := &cleaner{r: r}
	b := &budget{r: c}
	return &scanner{c, b, json.NewDecoder(b)}
}

// budget bounds what is read for one element, and in all.
type budget struct {
	r         io.Reader
	used, all int64
}

var (
	errElement = fmt.Errorf("one element is longer than %d MiB: is this a profile?", maxElement>>20)
	errFile    = fmt.Errorf("more than %d GiB", maxFile>>30)
)

// Read implements io.Reader.
func (b *budget) Read(p []byte) (int, error) {
	if b.used > maxElement {
		return 0, errElement
	}
	if b.all > maxFile {
		return 0, errFile
	}
	n, err := b.r.Read(p)
	b.used += int64(n)
	b.all += int64(n)
	return n, err
}

func (s *scanner) more() bool { s.b.used = 0; return s.d.More() }

func (s *scanner) token() (json.Token, error) { s.b.used = 0; return s.d.Token() }

func (s *scanner) decode(v any) error { s.b.used = 0; return s.d.Decode(v) }

func (s *scanner) key() (string, error) {
	t, err := s.token()
	if err != nil {
		return "", err
	}
	key, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("wanted a key, found %v", t)
	}
	return key, nil
}

// skip passes over a value of any length.
func (s *scanner) skip() error {
	depth := 0
	for {
		t, err := s.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// explain says where a file went wrong, in words.
func (s *scanner) explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("byte %d: the file is cut off: wanted the rest of its JSON: was the profiler stopped, and the file copied whole?", s.d.InputOffset())
	}
	return fmt.Errorf("byte %d: %w", s.d.InputOffset(), err)
}
