package view

import (
	"cmp"
	"slices"

	"glassbox/trace/file"
)

// Size of the pictures on the first page, px.
const (
	pictureWidth  = 236
	pictureHeight = 144
)

// Picture is a stretch of a recording in true time, one row a lane, in px.
type Picture struct {
	W, H   int
	Rows   []PictureRow
	FromNs int64  // the stretch begins here
	Span   string // how long the stretch is, "1.20 ms"
	Facts  string // of the whole recording: "29,144 spans, 349 ms"
	Pass   int    // the pass whose end is in the middle
	Label  string // what is seen, in words
}

// PictureRow is one lane.
type PictureRow struct {
	Name string
	Y, H int
	Bars []PictureBar
}

// PictureBar is one span. Text is empty where there is no room for it.
type PictureBar struct {
	X, W  float64
	Stage string // letter
	Text  string
	Tip   string
}

const (
	rowLabel  = 14  // px above each lane for its name
	axis      = 18  // px below the lanes
	glyph     = 6.2 // px of an average character at 11 px
	leastBar  = 0.6 // px: a span is never invisible
	stretchNs = 900_000
)

// CloseUp draws the seam between two passes of decoding: the last ops of one, sampling and delivery of its token, and the
// first ops of the next. The stretch is 0.9 ms, or a quarter of a pass if that is more.
func CloseUp(rec *file.Recording, w, h int) Picture {
	p := Picture{W: w, H: h, Facts: Plural(len(rec.Spans), "span") + ", " + total(rec).Text()}
	lanes := lanesOf(rec)
	if len(lanes) == 0 || len(rec.Spans) == 0 {
		return p
	}
	from, to, pass := seam(rec)
	p.FromNs, p.Pass = from, pass
	length := clocked(rec, Duration(to-from, "measured", ""))
	p.Span = length.Text()
	p.Label = p.Span + " at the end of pass " + Count(int64(pass)) + ", one row for each lane"
	height := (h - axis) / len(lanes)
	titles := map[string]string{}
	for _, l := range rec.Lanes {
		titles[l.ID] = l.Title
	}
	for i, id := range lanes {
		row := PictureRow{Name: cmp.Or(titles[id], id), Y: i*height + rowLabel, H: height - rowLabel - 6}
		row.Bars = bars(rec, id, from, to, w)
		p.Rows = append(p.Rows, row)
	}
	return p
}

// seam finds the stretch: around the end of the first decode pass where most lanes take part. A request with fewer than
// three such passes is shown whole.
func seam(rec *file.Recording) (from, to int64, pass int) {
	var decodes []file.Pass
	for _, p := range rec.Passes {
		if p.Kind == "decode" {
			decodes = append(decodes, p)
		}
	}
	if len(decodes) < 3 {
		end := int64(0)
		for i := range rec.Spans {
			end = max(end, rec.Spans[i].EndNs())
		}
		return 0, max(end, 1), 0
	}
	best := -1
	for _, p := range decodes[1 : len(decodes)-1] {
		length := max(stretchNs, p.DurNs/4)
		start := max(0, p.StartNs+p.DurNs-length*2/5)
		if n := lanesIn(rec, start, start+length); n > best {
			best, from, to, pass = n, start, start+length, p.Index
		}
	}
	return from, to, pass
}

// lanesIn counts the lanes in which a whole span lies between two times.
func lanesIn(rec *file.Recording, from, to int64) int {
	first, _ := slices.BinarySearchFunc(rec.Spans, from, func(s file.Span, t int64) int { return cmp.Compare(s.StartNs, t) })
	seen := map[string]bool{}
	for i := first; i < len(rec.Spans) && rec.Spans[i].StartNs < to; i++ {
		if s := &rec.Spans[i]; s.EndNs() <= to {
			seen[s.Lane] = true
		}
	}
	return len(seen)
}

// bars returns the spans of a lane that lie in from..to, those around others first.
func bars(rec *file.Recording, lane string, from, to int64, width int) []PictureBar {
	scale := float64(width) / float64(to-from)
	var in []*file.Span
	for i := range rec.Spans {
		if s := &rec.Spans[i]; s.Lane == lane && s.EndNs() > from && s.StartNs < to {
			in = append(in, s)
		}
	}
	slices.SortStableFunc(in, func(a, b *file.Span) int {
		return cmp.Or(cmp.Compare(a.StartNs, b.StartNs), cmp.Compare(b.DurNs, a.DurNs))
	})
	labels, stages := stepWords(rec)
	var out []PictureBar
	for _, s := range in {
		x0, x1 := max(0, float64(s.StartNs-from)*scale), min(float64(width), float64(s.EndNs()-from)*scale)
		b := PictureBar{X: x0, W: max(leastBar, x1-x0), Stage: stages[s.Step], Tip: s.Name + ", " + clocked(rec, Duration(s.DurNs, s.Prov, "")).Text()}
		if text := cmp.Or(labels[s.Step], s.Name); float64(len([]rune(text)))*glyph+6 < b.W && !covered(in, s) {
			b.Text = text
		}
		out = append(out, b)
	}
	return out
}

// covered tells whether a shorter span lies inside s, which would be drawn over its text.
func covered(in []*file.Span, s *file.Span) bool {
	return slices.ContainsFunc(in, func(o *file.Span) bool {
		return o != s && o.StartNs >= s.StartNs && o.EndNs() <= s.EndNs() && o.DurNs < s.DurNs
	})
}

// stepWords returns the short label and the stage's letter of each step.
func stepWords(rec *file.Recording) (labels, stages map[string]string) {
	labels, stages = map[string]string{}, map[string]string{}
	for i := range rec.Walk {
		w := &rec.Walk[i]
		labels[w.ID], stages[w.ID] = cmp.Or(w.Label, w.Title), Letter(w.Stage)
	}
	return labels, stages
}

// total is the time of the whole request; where its end was not measured, the end of its last span.
func total(rec *file.Recording) Number {
	if rec.Numbers.E2ENs > 0 {
		return Duration(rec.Numbers.E2ENs, "measured", howE2E)
	}
	end := int64(0)
	for i := range rec.Spans {
		end = max(end, rec.Spans[i].EndNs())
	}
	return clocked(rec, durationOr(end, "derived", "from the first byte received to the end of the last span"))
}
