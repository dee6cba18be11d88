package openai

import (
	"glassbox/engine"
	"glassbox/engine/capture"
	"glassbox/engine/openai/wire"
	"glassbox/engine/spec"
)

// ablater is an Engine that can switch parts of its model off for a request, such as *engine.Engine.
type ablater interface {
	ParseAblate(list []string) (capture.Ablation, error)
}

// ablation reads which parts of the model are to be switched off.
func (s *Server) ablation(asked *wire.Glassbox, r *engine.Request) (err error) {
	if asked == nil || len(asked.Ablate) == 0 {
		return nil
	}
	e, ok := s.c.Engine.(ablater)
	if !ok {
		return unsupported("unsupported_parameter", "glassbox.ablate", "glassbox.ablate: this engine cannot switch parts of its model off: leave the field out")
	}
	r.Ablate, err = e.ParseAblate(asked.Ablate)
	return err
}

// drafting reads whether the request's tokens may be guessed ahead.
func drafting(asked *wire.Glassbox, r *engine.Request) error {
	if asked == nil || asked.Draft == "" {
		return nil
	}
	if asked.Draft != spec.Off {
		return invalid("glassbox.draft", "glassbox.draft: wanted %q, or no such field, found %q: how tokens are guessed is a choice of the server, see its flag --draft", spec.Off, shorten(asked.Draft, 40))
	}
	r.Draft = asked.Draft
	return nil
}
