package view

import (
	"cmp"
	"fmt"

	"glassbox/steps"
	"glassbox/trace/file"
)

// Chapter is one part of the walk through the stack: words of the catalogue and a figure drawn from a recording.
type Chapter struct {
	Number           int
	ID, Title, Short string
	HTML             string // of our own Markdown
	HandsOn, Wrong   string
	Try              string // what can be tried, one of steps.Tries
	Step             string // the step it leads to
	Next             string // id of the next chapter, "" after the last
	Figure           Figure
}

// Figure is what a chapter shows of a recording. One of the lists is filled, as its kind wants.
type Figure struct {
	Kind    string
	ID      string // of the recording
	Title   string // what is seen
	Caption string // which recording, model and machine
	Missing string // why nothing is drawn; what makes it appear
	Bars    []FigureBar
	Tokens  []Chip
	Pages   []CachePage
	Passes  []PassBar
	Span    string // of the passes: from the first's start to the last's end
	Draw    *DrawFigure
	Sums    []Sum
}

// FigureBar is a row: a name, a bar and a number, with what went in and out for those who open it.
type FigureBar struct {
	Key, Label, Stage string
	Number            Number
	Share             float64 // 0 to 100 of the longest
	Text              string
	In, Out           string
	Place             *Place
	Href              string
}

// Chip is a token of the prompt or the answer.
type Chip struct {
	Text    string
	ID      int
	Special bool
	Answer  bool
	At      int // its position
}

// CachePage is a page of the KV cache with the tokens whose keys and values it holds.
type CachePage struct {
	Number int
	Size   int
	Chips  []Chip
	Free   int // positions not written when the request ended
}

// PassBar is one pass of the loop, in 1/1000 of the width.
type PassBar struct {
	Index    int
	Kind     string
	X, W     float64
	Tokens   int // of this request
	Batch    int // of all
	Requests int
	Time     Number
	Text     string // the token that came out
	Href     string
}

// Sum is one of the three numbers with the arithmetic that gives it.
type Sum struct {
	Name, Formula, Filled string
	Number                Number
}

// Shelf finds a recording for a figure: the first that has what it asks for, nil where none has.
type Shelf func(has func(*file.Recording) bool) *file.Recording

// Walkthrough makes the chapters; figures are drawn from what the shelf has.
func Walkthrough(all []*steps.Chapter, shelf Shelf) []Chapter {
	out := make([]Chapter, len(all))
	for i, c := range all {
		out[i] = Chapter{Number: c.Number, ID: c.ID, Title: c.Title, Short: c.Short, HTML: c.HTML, HandsOn: c.HandsOn, Wrong: c.Wrong, Try: c.Try, Step: c.Step, Figure: figure(c, shelf)}
		if i+1 < len(all) {
			out[i].Next = all[i+1].ID
		}
	}
	return out
}

// figureKind says which recording a figure wants, and how it is drawn from it.
type figureKind struct {
	title   string
	missing string
	has     func(*file.Recording) bool
	draw    func(*Figure, *steps.Chapter, *file.Recording)
}

var figureKinds = map[string]figureKind{
	"path":    {"Steps and their times", "", hasWalk, drawPath},
	"tokens":  {"The prompt as the model sees it", "", hasWalk, drawTokens},
	"passes":  {"Passes of the loop, to scale", "", hasCompany, drawPasses},
	"stack":   {"One op, level by level", "", hasWalk, drawStack},
	"pages":   {"The request's pages at its end", "", hasWalk, drawPages},
	"shards":  {"Work and sums of one decode pass", "No recording here was made on several shards. Try it below, or start the server with --shards.", hasSums, drawShards},
	"sample":  {"The first word of the answer", "No recording here has the logits. glassbox trace --capture logits makes one.", hasLogits, drawSample},
	"loop":    {"Every turn of an answer, to scale", "", hasWalk, drawPasses},
	"numbers": {"The three numbers of this recording", "", hasWalk, drawNumbers},
}

func figure(c *steps.Chapter, shelf Shelf) Figure {
	kind := figureKinds[c.Figure]
	f := Figure{Kind: c.Figure, Title: kind.title}
	rec := shelf(kind.has)
	if rec == nil && c.Figure == "passes" {
		rec = shelf(hasWalk)
	}
	if rec == nil {
		f.Missing = cmp.Or(kind.missing, "No recording ships with this server.")
		return f
	}
	f.ID, f.Caption = rec.ID, captionOf(rec)
	kind.draw(&f, c, rec)
	return f
}

// captionOf names what is drawn: the prompt, model, device.
func captionOf(rec *file.Recording) string {
	device := rec.Device.Name
	if rec.Device.Threads > 0 {
		device += ", " + Plural(rec.Device.Threads, "thread")
	}
	return fmt.Sprintf("Recording of “%s”; %s %s on %s.", Cut(file.PromptStart(&rec.Request), 60), rec.Model.Name, rec.Model.Quantization, device)
}

func hasWalk(rec *file.Recording) bool { return len(rec.Walk) > 0 && len(rec.Passes) > 0 }

func hasCompany(rec *file.Recording) bool {
	for _, p := range rec.Passes {
		if p.Requests > 1 {
			return true
		}
	}
	return false
}

func hasSums(rec *file.Recording) bool {
	for i := range rec.Spans {
		if rec.Spans[i].Step == "all_reduce" {
			return true
		}
	}
	return false
}

func hasLogits(rec *file.Recording) bool {
	a := rec.Arrays["logits"]
	return a != nil && a.DType == "f4" && len(a.Shape) == 1 && len(a.Raw) == 4*a.Shape[0] && len(rec.Request.OutputTokens) > 0
}

// drawPath draws the steps from one to another with their times.
func drawPath(f *Figure, c *steps.Chapter, rec *file.Recording) {
	in := false
	for i := range rec.Walk {
		w := &rec.Walk[i]
		in = in || w.ID == c.From
		if in && w.Count > 0 {
			f.Bars = append(f.Bars, stepBar(rec, w))
		}
		if w.ID == c.To {
			break
		}
	}
	scale(f.Bars, func(i int) int64 { return timeOf(rec, f.Bars[i].Key) })
}

func stepBar(rec *file.Recording, w *file.Step) FigureBar {
	how := "the span of this step"
	if w.Count > 1 {
		how = Plural(w.Count, "span") + " of this step, summed"
	}
	b := FigureBar{Key: w.ID, Label: w.Title, Stage: Letter(w.Stage), Number: timed(rec, w.TimeNs, how), Text: w.Short, In: w.In, Out: w.Out, Href: stepHref(rec, w.ID)}
	if w.Source.Path != "" {
		b.Place = &Place{Path: w.Source.Path, Symbol: w.Source.Symbol, Line: w.Source.Line}
	}
	return b
}

// timed is a measured time.
func timed(rec *file.Recording, ns int64, how string) Number {
	return clocked(rec, Duration(ns, "measured", how))
}

func stepHref(rec *file.Recording, step string) string {
	return "/trace/" + rec.ID + "?view=request&step=" + step
}

func timeOf(rec *file.Recording, step string) int64 {
	for i := range rec.Walk {
		if rec.Walk[i].ID == step {
			return rec.Walk[i].TimeNs
		}
	}
	return 0
}

// scale gives each bar its share of the longest.
func scale(bars []FigureBar, ns func(i int) int64) {
	var most int64 = 1
	for i := range bars {
		most = max(most, ns(i))
	}
	for i := range bars {
		bars[i].Share = 100 * float64(ns(i)) / float64(most)
	}
}

// chips are the tokens of the whole sequence in the order of their positions.
func chips(rec *file.Recording) []Chip {
	var out []Chip
	for _, t := range rec.Request.PromptTokens {
		out = append(out, Chip{Text: Piece(t), ID: t.ID, Special: t.Special, At: len(out)})
	}
	for _, t := range rec.Request.OutputTokens {
		out = append(out, Chip{Text: Piece(t), ID: t.ID, Special: t.Special, Answer: true, At: len(out)})
	}
	return out
}

func drawTokens(f *Figure, _ *steps.Chapter, rec *file.Recording) {
	f.Tokens = chips(rec)[:len(rec.Request.PromptTokens)]
}

// drawPages lays the tokens into the pages that the request held at its end. The last token of an answer was never sent
// through the model, so it has no keys.
func drawPages(f *Figure, _ *steps.Chapter, rec *file.Recording) {
	var pages []any
	size := 0
	for i := range rec.Spans {
		s := &rec.Spans[i]
		if s.Step != "reserve_pages" {
			continue
		}
		if n, ok := number64(s.Attrs["page_size"]); ok {
			size = int(n)
		}
		pages = listOf(s.Attrs["pages"], pages)
	}
	all := chips(rec)
	if len(all) > 0 {
		all = all[:len(all)-1]
	}
	if size < 1 || size > 1<<16 {
		f.Missing = "This recording does not say which pages its request had."
		return
	}
	for _, p := range pages {
		n, _ := number64(p)
		page := CachePage{Number: int(n), Size: size}
		take := min(size, len(all))
		page.Chips, all = all[:take], all[take:]
		page.Free = size - take
		f.Pages = append(f.Pages, page)
	}
}

// number64 reads a number that an attribute holds, before or after it was in a file.
func number64(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		return int64(v), true
	}
	return 0, false
}

// listOf reads a list that an attribute holds; before is kept where there is none.
func listOf(v any, before []any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case []int64:
		var out []any
		for _, n := range v {
			out = append(out, n)
		}
		return out
	}
	return before
}
