package openai

import (
	"net/http"
	"unicode/utf8"

	"glassbox/engine/openai/wire"
	"glassbox/engine/token"
)

// tokenize serves POST /tokenize in llama.cpp's words (content) and in vLLM's (prompt or messages).
func (s *Server) tokenize(c *call) error {
	var r wire.TokenizeRequest
	if err := c.decodeJSON(&r); err != nil {
		return err
	}
	o := token.Options{ParseSpecial: orElse(r.ParseSpecial, true)}
	var text string
	switch {
	case r.Content != nil:
		text, o.AddSpecial = *r.Content, orElse(r.AddSpecial, orElse(r.AddSpecialTokens, false))
	case r.Prompt != nil:
		text, o.AddSpecial = *r.Prompt, orElse(r.AddSpecialTokens, orElse(r.AddSpecial, true))
	case r.Messages != nil:
		list, err := messages(r.Messages)
		if err != nil {
			return err
		}
		if text, o.Plain, err = s.render(c.r.Context(), list, orElse(r.AddGenerationPrompt, true), nil); err != nil {
			return err
		}
		o.AddSpecial = orElse(r.AddSpecialTokens, orElse(r.AddSpecial, false))
	default:
		return invalid("content", "wanted a text in content or prompt, or messages; found none of them")
	}
	ids := s.tok.Encode(text, o)
	answer := wire.TokenizeAnswer{Tokens: ids, Count: len(ids), MaxModelLen: s.c.Engine.Context()}
	if is(r.WithPieces) {
		answer.Tokens = s.pieces(ids)
	}
	return c.writeJSON(http.StatusOK, answer)
}

// pieces are tokens with their texts; bytes that are not whole UTF-8 are told as numbers.
func (s *Server) pieces(ids []int) []wire.Piece {
	out := make([]wire.Piece, len(ids))
	for i, id := range ids {
		piece := s.piece(id)
		out[i] = wire.Piece{ID: id, Piece: string(piece)}
		if !utf8.Valid(piece) {
			out[i].Piece = byteValues(piece)
		}
	}
	return out
}

// piece returns what a token stands for; of a mark, its name.
func (s *Server) piece(id int) []byte {
	if p := s.tok.Piece(id); len(p) > 0 {
		return p
	}
	return []byte(s.tok.Text(id))
}

// byteValues writes bytes as numbers; as []byte they would become base64.
func byteValues(b []byte) []int {
	out := make([]int, len(b))
	for i, v := range b {
		out[i] = int(v)
	}
	return out
}

// detokenize serves POST /detokenize.
func (s *Server) detokenize(c *call) error {
	var r wire.DetokenizeRequest
	if err := c.decodeJSON(&r); err != nil {
		return err
	}
	if r.Tokens == nil {
		return invalid("tokens", "tokens: wanted a list of token ids, found none")
	}
	ids := make([]int, len(r.Tokens))
	for i, id := range r.Tokens {
		ids[i] = int(id)
	}
	text, err := s.tok.Decode(ids)
	if err != nil {
		return invalid("tokens", "tokens: %v", err)
	}
	return c.writeJSON(http.StatusOK, wire.DetokenizeAnswer{Content: text, Prompt: text})
}

// applyTemplate serves POST /apply-template: the text that a chat request with these messages gives the model.
func (s *Server) applyTemplate(c *call) error {
	var r wire.TemplateRequest
	if err := c.decodeJSON(&r); err != nil {
		return err
	}
	list, err := messages(r.Messages)
	if err != nil {
		return err
	}
	text, _, err := s.render(c.r.Context(), list, orElse(r.AddGenerationPrompt, true), nil)
	if err != nil {
		return err
	}
	return c.writeJSON(http.StatusOK, wire.TemplateAnswer{Prompt: text})
}

func orElse(b *bool, def bool) bool {
	if b == nil {
		return def
	}
	return *b
}
