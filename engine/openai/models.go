package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"glassbox/engine/openai/wire"
)

// Loader has further models that a server can answer for: those of a folder, opened when they are first asked for.
type Loader interface {
	Names() []string
	// Load returns a server of the model's own, and what to call when the request is over. Errors: ErrNoRoom where all that
	// may be loaded are at work; others are told to the client.
	Load(ctx context.Context, name string) (*Server, func(), error)
	Root(name string) string // the file's name
}

// ErrNoRoom is a model that cannot be loaded while the others answer.
var ErrNoRoom = errors.New("no more models may be loaded at once, and all that are loaded are at work: try again in a moment")

// choose finds the server of the model that the body names. It answers with this server's metrics and until this server stops.
func (c *call) choose() error {
	if c.home.c.Others == nil || !bytes.Contains(c.body, []byte(`"model"`)) {
		return nil
	}
	var asked struct{ Model string }
	if json.Unmarshal(c.body, &asked) != nil || !slices.Contains(c.home.c.Others.Names(), asked.Model) {
		return nil // told later, with its reason
	}
	s, release, err := c.home.c.Others.Load(c.r.Context(), asked.Model)
	if errors.Is(err, ErrNoRoom) {
		return &RequestError{http.StatusTooManyRequests, "rate_limit_error", "model " + asked.Model + ": " + err.Error(), "model", "models_busy"}
	}
	if err != nil {
		return &RequestError{http.StatusServiceUnavailable, "server_error", fmt.Sprintf("model %s cannot be loaded: %v", asked.Model, err), "model", "model_not_loaded"}
	}
	c.release = release
	own := *c.home // the model's, with what all models share
	own.c.Engine, own.c.Model, own.c.Aliases, own.c.Root, own.c.Template, own.c.Tracer = s.c.Engine, s.c.Model, nil, s.c.Root, s.c.Template, s.c.Tracer
	own.tok = s.tok
	c.s = &own
	return nil
}

func (s *Server) models(c *call) error {
	list := wire.Models{Object: "list"}
	for _, id := range append([]string{s.c.Model}, s.c.Aliases...) {
		list.Data = append(list.Data, s.modelEntry(id))
	}
	if o := s.c.Others; o != nil {
		for _, id := range o.Names() {
			list.Data = append(list.Data, s.otherEntry(id))
		}
	}
	return c.writeJSON(http.StatusOK, list)
}

func (s *Server) modelEntry(id string) wire.Model {
	return wire.Model{ID: id, Object: "model", Created: s.c.Created.Unix(), OwnedBy: "glassbox", Root: s.c.Root, MaxModelLen: s.c.Engine.Context()}
}

// otherEntry is a model that may not be loaded: how long its context is shows when it is.
func (s *Server) otherEntry(id string) wire.Model {
	return wire.Model{ID: id, Object: "model", Created: s.c.Created.Unix(), OwnedBy: "glassbox", Root: s.c.Others.Root(id)}
}

func (s *Server) model(c *call) error {
	_, id, _ := strings.Cut(c.r.URL.Path, "/v1/models/")
	if s.c.Others != nil && slices.Contains(s.c.Others.Names(), id) {
		return c.writeJSON(http.StatusOK, s.otherEntry(id))
	}
	if err := s.knows(id); err != nil {
		return err
	}
	return c.writeJSON(http.StatusOK, s.modelEntry(id))
}

// knows checks a model's id.
func (s *Server) knows(id string) error {
	if id == s.c.Model || slices.Contains(s.c.Aliases, id) {
		return nil
	}
	wanted := fmt.Sprintf("%q", s.c.Model)
	if o := s.c.Others; o != nil {
		for _, n := range o.Names() {
			wanted += fmt.Sprintf(" or %q", n)
		}
	}
	return &RequestError{http.StatusNotFound, invalidRequest, fmt.Sprintf("model: wanted %s, found %q", shorten(wanted, 400), shorten(id, 100)), "model", "model_not_found"}
}
