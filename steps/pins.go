package steps

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"glassbox/steps/anchor"
)

// Pin is an anchor of a page: the symbol itself, or a function of its match; or of a stage's file.
type Pin struct {
	File  string // "catalog/vllm/01-gate.md", "stages/1-receive.md"
	Step  *Step  // nil: of a stage
	Place anchor.Place
	Own   bool // the page's symbol, whose line the page holds
}

// Pins are all anchors of another engine's catalogue, in the order of the walk.
func (c *Catalogue) Pins() []Pin {
	var out []Pin
	seen := map[anchor.Place]bool{}
	for _, s := range c.Steps {
		own := anchor.Place{Path: s.Path, Symbol: s.Symbol, Line: s.Line}
		out = append(out, Pin{s.File, s, own, true})
		for _, r := range s.rules() {
			p := anchor.Place{Path: r.path, Symbol: r.symbol}
			if r.symbol == s.Symbol && r.path == s.Path || seen[p] {
				continue
			}
			seen[p] = true
			out = append(out, Pin{s.File, s, p, false})
		}
	}
	return out
}

// Located is what a checkout says of a pin.
type Located struct {
	Pin
	Now   anchor.Place // empty where it is gone
	State anchor.State
}

// Locate looks for all pins of a catalogue in a checkout.
func (c *Catalogue) Locate(t *anchor.Tree) []Located { return LocatePins(t, c.Pins()) }

// LocatePins looks for pins in a checkout.
func LocatePins(t *anchor.Tree, pins []Pin) []Located {
	places := make([]anchor.Place, len(pins))
	for i, p := range pins {
		places[i] = p.Place
	}
	out := make([]Located, len(pins))
	for i, f := range t.Find(places) {
		out[i] = Located{pins[i], f.Now, f.State}
	}
	return out
}

var (
	lineKey = regexp.MustCompile(`(?m)^line: \d+$`)
	pathKey = regexp.MustCompile(`(?m)^path: .*$`)
)

// Repin writes the new places of what moved into the files below dir, the folder of this package in a checkout of ours. It
// returns the files it changed.
func Repin(dir string, found []Located) ([]string, error) {
	var changed []string
	for _, l := range found {
		if l.State != anchor.Moved || !l.Own && l.Step != nil {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(l.File))
		text, err := os.ReadFile(name)
		if err != nil {
			return changed, fmt.Errorf("--write: %w", err)
		}
		if l.Step != nil {
			text = lineKey.ReplaceAll(text, fmt.Appendf(nil, "line: %d", l.Now.Line))
			text = pathKey.ReplaceAll(text, []byte("path: "+l.Now.Path))
		} else {
			place := func(p anchor.Place) []byte { return fmt.Appendf(nil, "[%s:%d %s]", p.Path, p.Line, p.Symbol) }
			text = bytes.ReplaceAll(text, place(l.Place), place(l.Now))
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return changed, fmt.Errorf("--write: %w", err)
		}
		if !slices.Contains(changed, name) {
			changed = append(changed, name)
		}
	}
	return changed, nil
}
