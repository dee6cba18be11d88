package web

import (
	"encoding/json"
	"io/fs"
	"log"

	"glassbox/web/view"
)

// readCards reads the cards of the first page that have a recording here, once: what ships does not change.
func (s *Server) readCards() []view.Card {
	raw, err := fs.ReadFile(s.c.Static, "pictures/cards.json")
	if err != nil {
		log.Printf("web: cards: %v", err)
		return nil
	}
	var all, out []view.Card
	if err := json.Unmarshal(raw, &all); err != nil {
		log.Printf("web: pictures/cards.json: %v", err)
		return nil
	}
	for _, c := range all {
		if s.shipped.get(c.Recording) == nil {
			continue
		}
		svg, err := fs.ReadFile(s.c.Static, "pictures/"+c.ID+".svg")
		if err != nil {
			log.Printf("web: cards: %v", err)
			continue
		}
		c.SVG = string(svg)
		out = append(out, c)
	}
	return out
}
