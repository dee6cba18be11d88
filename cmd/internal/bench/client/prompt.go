package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// Maker makes prompts of a wanted number of tokens. It has no tokenizer: it asks the server to count, in one of these ways.
//
//	ids        /v1/completions takes token ids, which /tokenize gave: exact
//	tokenize   /tokenize counts the whole chat, or the rendered template: exact
//	usage      usage.prompt_tokens of one-token requests; two lengths give tokens a word, a few more refine it
//	none       the server counts nothing; the length is a guess
//
// One body is fitted for each length and used for all its prompts. What differs is the nonce, six common words at the very
// start, so that no prefix cache can reuse what comes after it. What counts in a report is the usage of each request.
type Maker struct {
	Method string
	c      *Client
	e      *Endpoint

	mu     sync.Mutex
	rand   *rand.Rand
	bodies map[int]*body
	Rows   []*Row // the one-token requests that were sent to count
}

// body is a text that, after a nonce, makes a prompt of Tokens tokens.
type body struct {
	text   string
	ids    []int
	Tokens int // counted; 0 = unknown
}

// NewMaker finds out how to count. The seed must differ between runs: the same prompts again would be found in a cache.
func NewMaker(ctx context.Context, c *Client, e *Endpoint, seed uint64) *Maker {
	m := &Maker{c: c, e: e, rand: rand.New(rand.NewPCG(seed, 9)), bodies: map[int]*body{}}
	switch ids, err := m.tokenize(ctx, "one two three"); {
	case err == nil && len(ids) > 1 && e.API == "completions":
		m.Method = "ids"
	case err == nil && len(ids) > 1 && e.API == "chat":
		if n, err := m.countChat(ctx, "one two three"); err == nil && n > len(ids) {
			m.Method = "tokenize"
		}
	}
	if m.Method == "" {
		m.Method = "usage"
	}
	e.Tokenize = m.Method
	return m
}

// nonce draws six common words.
func (m *Maker) nonce() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var w [6]string
	for i := range w {
		w[i] = common[m.rand.IntN(len(common))]
	}
	return strings.Join(w[:], " ")
}

// Prompt returns a new prompt for a length that Fit has prepared.
func (m *Maker) Prompt(tokens int) any {
	m.mu.Lock()
	b := m.bodies[tokens]
	m.mu.Unlock()
	if b == nil {
		return m.nonce()
	}
	if b.ids == nil {
		return m.nonce() + "." + b.text
	}
	ids := append([]int(nil), b.ids...)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := 0; i < min(8, len(ids)); i++ { // the nonce: eight ids drawn from the text's own
		ids[i] = b.ids[m.rand.IntN(len(b.ids))]
	}
	return ids
}

// Fit prepares prompts of a length. It returns the counted length, which differs from the wanted one where that cannot be
// met, as below the template's own length; 0 if the server counts nothing.
func (m *Maker) Fit(ctx context.Context, tokens int) (int, error) {
	m.mu.Lock()
	b := m.bodies[tokens]
	m.mu.Unlock()
	if b != nil {
		return b.Tokens, nil
	}
	var err error
	if m.Method == "ids" {
		b, err = m.fitIDs(ctx, tokens)
	} else {
		b, err = m.fitText(ctx, tokens)
	}
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	m.bodies[tokens] = b
	m.mu.Unlock()
	return b.Tokens, nil
}

func (m *Maker) fitIDs(ctx context.Context, tokens int) (*body, error) {
	ids, err := m.tokenize(ctx, text(tokens*2, 0, true))
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	for len(ids) < tokens {
		ids = append(ids, ids...)
	}
	return &body{ids: ids[:tokens], Tokens: tokens}, nil
}

// text returns n words of our prose, then extra fillers. Long texts begin with a request to go on at length.
func text(n, fill int, long bool) string {
	var b strings.Builder
	if long {
		b.WriteString(" " + question)
	}
	for i := range n {
		b.WriteString(" " + words[(i+len(words)/3*(i/len(words)))%len(words)])
	}
	for i := range fill {
		b.WriteString(" " + common[i%len(common)])
	}
	return b.String()
}

// fitText searches the number of words, then fills up with common words of one token each.
func (m *Maker) fitText(ctx context.Context, tokens int) (*body, error) {
	long := tokens >= 128
	n, fill := tokens*3/4, 0
	per, best := 4.0/3, (*body)(nil)
	lastN, lastCount := -1, 0
	for try := 0; try < 7; try++ {
		t := text(n, fill, long)
		count, err := m.count(ctx, m.nonce()+"."+t)
		if err != nil {
			return nil, err
		}
		if count == 0 {
			m.Method, m.e.Tokenize = "none", "none"
			return &body{text: t}, nil
		}
		if best == nil || abs(count-tokens) < abs(best.Tokens-tokens) {
			best = &body{text: t, Tokens: count}
		}
		if count == tokens {
			break
		}
		if lastN >= 0 && n != lastN && fill == 0 {
			if slope := float64(count-lastCount) / float64(n-lastN); slope > 0.5 && slope < 20 {
				per = slope
			}
		}
		if fill == 0 {
			lastN, lastCount = n, count
		}
		short := tokens - count
		switch {
		case short > 0 && short <= 12: // close below: fillers are one token each
			fill += short
		case short < 0 && fill >= -short:
			fill += short
		default:
			next := n + int(float64(short)/per)
			if short < 0 {
				next -= 2 // stay below, so that fillers can close the gap
			}
			if next = max(0, next); next == n {
				next = max(0, n-1)
			}
			if n == 0 && next == 0 {
				return best, nil // nothing shorter exists
			}
			n, fill = next, 0
		}
	}
	return best, nil
}

func abs(x int) int { return max(x, -x) }

// count asks the server how long a prompt is. 0 = it does not say.
func (m *Maker) count(ctx context.Context, prompt string) (int, error) {
	if m.Method == "tokenize" {
		n, err := m.countChat(ctx, prompt)
		if err != nil {
			return 0, fmt.Errorf("bench: %w", err)
		}
		return n, nil
	}
	row := m.c.Ask(ctx, m.e, prompt, 1)
	m.mu.Lock()
	m.Rows = append(m.Rows, row)
	m.mu.Unlock()
	if row.Outcome == Cancelled {
		return 0, context.Cause(ctx)
	}
	if row.PromptTokens == nil {
		if row.Outcome == Failed && row.Times.FirstToken == 0 && row.Status != http.StatusOK {
			return 0, fmt.Errorf("bench: counting the tokens of a prompt: %s", *row.Error)
		}
		return 0, nil
	}
	return *row.PromptTokens, nil
}

// tokenize asks for the ids of a text, in llama.cpp's words and vLLM's at once.
func (m *Maker) tokenize(ctx context.Context, s string) ([]int, error) {
	var a struct {
		Tokens []int `json:"tokens"`
	}
	send := map[string]any{"model": m.e.Model, "add_special_tokens": false}
	key := "prompt"
	if m.e.Kind == "llama.cpp" {
		key = "content"
	}
	send[key] = s
	_, _, err := m.c.JSON(ctx, http.MethodPost, "/tokenize", send, &a)
	return a.Tokens, err
}

// countChat counts the tokens of a chat of one message: /tokenize takes messages (vLLM, Glassbox), or /apply-template
// renders them first (llama.cpp).
func (m *Maker) countChat(ctx context.Context, s string) (int, error) {
	messages := []map[string]string{{"role": "user", "content": s}}
	var a struct {
		Tokens []int `json:"tokens"`
	}
	if m.e.Kind != "llama.cpp" {
		_, _, err := m.c.JSON(ctx, http.MethodPost, "/tokenize", map[string]any{"model": m.e.Model, "messages": messages, "add_generation_prompt": true}, &a)
		return len(a.Tokens), err
	}
	var t struct {
		Prompt string `json:"prompt"`
	}
	if _, _, err := m.c.JSON(ctx, http.MethodPost, "/apply-template", map[string]any{"messages": messages}, &t); err != nil {
		return 0, err
	}
	_, _, err := m.c.JSON(ctx, http.MethodPost, "/tokenize", map[string]any{"content": t.Prompt, "add_special": true, "parse_special": true}, &a)
	return len(a.Tokens), err
}

// Verify compares the counted length with what a request's usage says, and takes the latter: a template may add what
// /tokenize does not see. It returns the difference.
func (m *Maker) Verify(tokens, usage int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.bodies[tokens]
	if b == nil || usage == 0 {
		return 0
	}
	d := usage - b.Tokens
	b.Tokens = usage
	return d
}
