package view

import (
	"slices"

	"glassbox/trace/file"
)

// Home is the first page: cards below the drawn recording.
type Home struct {
	Inside   []Card // the views of this engine's recordings, in the order of their keys
	Others   []Card // what has no place among the first five keys, and the tracers of other engines
	Step     string // the step that the drawing begins at
	Timeline Picture
	Source   Listing
	Recent   []Row // newest first
	Held     string
}

// recent is how many recordings the first page names.
const recent = 4

// SetRows puts the newest of the list of all recordings in.
func (h *Home) SetRows(list []Row) {
	h.Recent, h.Held = list[:min(len(list), recent)], Plural(len(list), "recording")
}

// HomeOf makes the cards from the recording that is drawn. rec may be nil: then there is nothing to draw.
func HomeOf(rec *file.Recording) Home {
	h := Home{}
	if rec == nil {
		return h
	}
	h.Step = centre(rec)
	h.Timeline = CloseUp(rec, pictureWidth, pictureHeight)
	h.Source = listing(rec, h.Step)
	return h
}

// Card leads to a view of a recording that ships. Picture and facts are made when the site is built, from that recording and by
// the code of the view (web/client/src/build/pictures.ts).
type Card struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Number    int    `json:"n"` // the view's key
	Recording string `json:"recording"`
	View      string `json:"view"`
	Step      string `json:"step"`
	Facts     string `json:"facts"`
	SVG       string `json:"-"` // our own file
}

// Href is where a card leads.
func (c Card) Href() string { return "/trace/" + c.Recording + "?view=" + c.View + "&step=" + c.Step }

// Other tells whether the card is another engine's.
func (c Card) Other() bool { return c.Number == 1 && c.ID != c.View }

// beside is how many views stand in the first row of cards.
const beside = 5

// SetCards puts the cards in their places.
func (h *Home) SetCards(all []Card) {
	for _, c := range all {
		if c.Number <= beside && !c.Other() {
			h.Inside = append(h.Inside, c)
		} else {
			h.Others = append(h.Others, c)
		}
	}
}

// centre is the step in the middle of a layer: where attention meets the cache, else the middle of compute, else the first.
func centre(rec *file.Recording) string {
	var compute []string
	for i := range rec.Walk {
		if rec.Walk[i].ID == "attn_scores" {
			return rec.Walk[i].ID
		}
		if rec.Walk[i].Stage == "compute" {
			compute = append(compute, rec.Walk[i].ID)
		}
	}
	switch {
	case len(compute) > 0:
		return compute[len(compute)/2]
	case len(rec.Walk) > 0:
		return rec.Walk[0].ID
	}
	return ""
}

// lanesOf lists the lanes of the walk in the recording's order.
func lanesOf(rec *file.Recording) []string {
	var ids []string
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, l := range rec.Lanes {
		add(l.ID)
	}
	for i := range rec.Walk {
		add(rec.Walk[i].Lane)
	}
	return ids
}

// Listing is a few lines of the source of a step, and how much source the whole walk names.
type Listing struct {
	Step, Path, Symbol string
	Line               int
	Stage              string // letter
	Lines              []CodeLine
	Facts              string // "71 functions in 23 files"
}

// CodeLine is a line of source; Lit is where the work is done.
type CodeLine struct {
	Number int
	Text   string
	Lit    bool
}

// listingLines is how many lines a listing of the first page has.
const listingLines = 8

func listing(rec *file.Recording, step string) Listing {
	symbols, files := map[string]bool{}, map[string]bool{}
	var l Listing
	for i := range rec.Walk {
		w := &rec.Walk[i]
		for _, s := range append([]file.Source{w.Source}, w.Sources...) {
			if s.Path != "" {
				symbols[s.Path+" "+s.Symbol], files[s.Path] = true, true
			}
		}
		if w.ID == step {
			l.Step, l.Path, l.Symbol, l.Line, l.Stage = w.ID, w.Source.Path, w.Source.Symbol, w.Source.Line, Letter(w.Stage)
			l.Lines = around(w.Source, listingLines)
		}
	}
	l.Facts = Plural(len(symbols), "function") + " in " + Plural(len(files), "file")
	return l
}

// around returns at most n lines of a source with the lit one in them, indentation shortened to what all share.
func around(s file.Source, n int) []CodeLine {
	if s.Code == nil || len(s.Code.Lines) == 0 {
		return nil
	}
	at := s.Line - s.Code.First
	from := max(0, min(at-n/2, len(s.Code.Lines)-n))
	to := min(len(s.Code.Lines), from+n)
	var out []CodeLine
	for i := from; i < to; i++ {
		out = append(out, CodeLine{s.Code.First + i, s.Code.Lines[i], i == at})
	}
	return outdent(out)
}

// outdent takes off the tabs that all lines begin with.
func outdent(lines []CodeLine) []CodeLine {
	least := -1
	for _, l := range lines {
		tabs := 0
		for tabs < len(l.Text) && l.Text[tabs] == '\t' {
			tabs++
		}
		if l.Text != "" && (least < 0 || tabs < least) {
			least = tabs
		}
	}
	for i := range lines {
		if l := &lines[i]; len(l.Text) >= least && least > 0 {
			l.Text = l.Text[least:]
		}
	}
	return lines
}

// Letter is the letter of a stage: R, S, C or D.
func Letter(stage string) string {
	switch stage {
	case "receive":
		return "R"
	case "schedule":
		return "S"
	case "compute":
		return "C"
	case "deliver":
		return "D"
	}
	return ""
}
