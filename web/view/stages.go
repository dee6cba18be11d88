package view

import (
	"fmt"
	"regexp"
	"strings"

	"glassbox/steps"
	"glassbox/trace/file"
)

// Stages is the page of every stage: four stages by the engines, with what was measured in the recordings that ship.
type Stages struct {
	Engines []StageEngine
	Stages  []StageOf
}

// StageEngine is a column.
type StageEngine struct {
	ID, Title, Version string
	Recording          string // that the times are of; "" = nothing was measured
	Run                []string
}

// StageOf is one stage over all engines.
type StageOf struct {
	ID, Title, Short, HTML, Letter string
	Columns                        []StageColumn // in the order of the engines
	Features                       []FeatureRow
	Pairs                          [][2]StageEngine // what can stand side by side
}

// StageColumn is what one engine is in a stage.
type StageColumn struct {
	Engine  StageEngine
	Steps   int // of its catalogue; 0 while there is none
	Reached int
	Time    Number // of the recording; empty where nothing was measured
	Share   float64
	Path    []Spot
}

// FeatureRow is one thing compared.
type FeatureRow struct {
	ID, Title, What string
	Cells           []FeatureCell
}

// FeatureCell is what one engine does. HTML is safe: it is made from our own Markdown.
type FeatureCell struct {
	Engine, Has, HTML string
	Proof             []Spot
}

// Spot is a place in an engine's source, and where a reader gets to from it.
type Spot struct {
	Text, Symbol, Href, Title string
	Step                      bool // Href leads to the step in a recording
}

// Recordings finds the recording of an engine that ships, nil when there is none.
type Recordings func(engine string) *file.Recording

// StagesOf makes the page.
func StagesOf(all []*steps.Stage, get Recordings) Stages {
	var v Stages
	times := map[string]map[string]steps.StageTime{}
	for _, e := range steps.StageEngines() {
		v.Engines = append(v.Engines, stageEngine(all, e, get, times))
	}
	for _, s := range all {
		v.Stages = append(v.Stages, v.stage(s, times))
	}
	return v
}

func stageEngine(all []*steps.Stage, e [2]string, get Recordings, times map[string]map[string]steps.StageTime) StageEngine {
	out := StageEngine{ID: e[0], Title: e[1]}
	if len(all) > 0 {
		if c := all[0].Column(e[0]); c != nil {
			out.Version = c.Version
		}
	}
	rec := get(e[0])
	if rec == nil || rec.Device.Kind == "emulated" {
		return out
	}
	times[e[0]] = steps.TimeOf(rec)
	out.Recording = rec.ID
	out.Run = []string{strings.TrimSpace(rec.Model.Name + " " + rec.Model.Quantization), rec.Device.Name, Plural(rec.Numbers.PromptTokens, "token") + " in, " + Count(int64(rec.Numbers.OutputTokens)) + " out", When(rec.Started)}
	return out
}

func (v *Stages) stage(s *steps.Stage, times map[string]map[string]steps.StageTime) StageOf {
	out := StageOf{ID: s.ID, Title: s.Title, Short: s.Short, HTML: s.HTML, Letter: Letter(s.ID)}
	for i, e := range v.Engines {
		col := StageColumn{Engine: e, Time: Number{}}
		if c := s.Column(e.ID); c != nil {
			col.Steps = len(c.Steps)
			for _, a := range c.Path {
				col.Path = append(col.Path, spot(a, e))
			}
		}
		if t, ok := times[e.ID][s.ID]; ok {
			col.Reached = t.Reached
			col.Time = Duration(t.BusyNs, "derived", "wall-clock time that is this stage's, from measured spans; an instant counts for one stage alone")
			var whole int64
			for _, o := range times[e.ID] {
				whole += o.BusyNs
			}
			col.Share = 100 * float64(t.BusyNs) / float64(max(whole, 1))
		}
		out.Columns = append(out.Columns, col)
		for _, o := range v.Engines[i+1:] {
			if has(s, e.ID) && has(s, o.ID) {
				out.Pairs = append(out.Pairs, [2]StageEngine{e, o})
			}
		}
	}
	for i := range s.Features {
		out.Features = append(out.Features, v.feature(&s.Features[i]))
	}
	return out
}

func has(s *steps.Stage, engine string) bool {
	c := s.Column(engine)
	return c != nil && len(c.Steps) > 0
}

func (v *Stages) feature(f *steps.Feature) FeatureRow {
	row := FeatureRow{ID: f.ID, Title: f.Title, What: f.What}
	for _, e := range v.Engines {
		cell := FeatureCell{Engine: e.Title}
		if c := f.Cell(e.ID); c != nil {
			cell.Has, cell.HTML = c.Has, c.HTML
			for _, a := range c.Proof {
				cell.Proof = append(cell.Proof, spot(a, e))
			}
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// spot leads to the step where a recording has it, else to the line in the engine's repository.
func spot(a steps.Anchor, e StageEngine) Spot {
	p := Spot{Text: a.Path[strings.LastIndexByte(a.Path, '/')+1:], Symbol: short(a.Symbol), Title: a.Path + " " + a.Symbol}
	if a.Line > 0 {
		p.Text = fmt.Sprintf("%s:%d", p.Text, a.Line)
	}
	switch {
	case a.Step != "" && e.Recording != "":
		p.Href, p.Step = "/trace/"+e.Recording+"?view=request&step="+a.Step, true
	case strings.HasPrefix(a.Repo, "github.com/") && a.Commit != "" && a.Commit != "unknown":
		p.Href = fmt.Sprintf("https://%s/blob/%s/%s", a.Repo, a.Commit, a.Path)
		if a.Line > 0 {
			p.Href += fmt.Sprintf("#L%d", a.Line)
		}
	}
	return p
}

// short takes the package off the symbol of a function.
func short(symbol string) string {
	if i := strings.LastIndexByte(symbol, '/'); i >= 0 {
		symbol = symbol[i+1:]
	}
	return symbol
}

// SideBySide is one stage of two engines, steps aligned by what they do.
type SideBySide struct {
	Stage StageOf
	A, B  StageEngine
	Rows  []PairRow
}

// PairRow is a step of each, or of one of them.
type PairRow struct {
	A, B *PairStep
	Why  string // what both do: "rope"; "" where one stands alone
}

// PairStep is a step of one engine.
type PairStep struct {
	Number                     int
	Title, Short, Symbol, Href string
}

// PairOf lays the steps of two engines in one stage side by side: the alignment in the order of both walks that pairs most.
func PairOf(all []*steps.Stage, get Recordings, stage, a, b string) (SideBySide, bool) {
	v := StagesOf(all, get)
	for i, s := range all {
		if s.ID != stage {
			continue
		}
		ca, cb := s.Column(a), s.Column(b)
		if ca == nil || cb == nil || a == b || len(ca.Steps) == 0 || len(cb.Steps) == 0 {
			return SideBySide{}, false
		}
		out := SideBySide{Stage: v.Stages[i]}
		for _, e := range v.Engines {
			if e.ID == a {
				out.A = e
			}
			if e.ID == b {
				out.B = e
			}
		}
		both := featuresOf(s, a, b)
		for _, p := range align(ca.Steps, cb.Steps, func(x, y *steps.Step) (float64, string) { return alike(x, y, both) }) {
			row := PairRow{Why: p.why}
			if p.a != nil {
				row.A = pairStep(p.a, out.A)
			}
			if p.b != nil {
				row.B = pairStep(p.b, out.B)
			}
			out.Rows = append(out.Rows, row)
		}
		return out, true
	}
	return SideBySide{}, false
}

func pairStep(s *steps.Step, e StageEngine) *PairStep {
	p := &PairStep{Number: s.Number, Title: s.Title, Short: s.Short, Symbol: short(s.Symbol)}
	if e.Recording != "" {
		p.Href = "/trace/" + e.Recording + "?view=request&step=" + s.ID
	}
	if strings.Contains(p.Title+p.Short, "{") { // a placeholder that only a recording fills
		p.Short = ""
	}
	return p
}

// featuresOf maps pairs of steps of two engines that prove the same feature to its title.
func featuresOf(s *steps.Stage, a, b string) map[[2]string]string {
	out := map[[2]string]string{}
	for i := range s.Features {
		f := &s.Features[i]
		x, y := f.Cell(a), f.Cell(b)
		if x == nil || y == nil {
			continue
		}
		for _, p := range x.Proof {
			for _, q := range y.Proof {
				if p.Step != "" && q.Step != "" {
					out[[2]string{p.Step, q.Step}] = f.Title
				}
			}
		}
	}
	return out
}

var (
	idWords = regexp.MustCompile(`[a-z][a-z0-9]+`)
	// dull are words that tell nothing of what a step does.
	dull = regexp.MustCompile(`^(request|step|call|new|the|and|for|one|of|to|in|into|on|at|it|its|make|get|put|with|is|by|from|read|write|run)$`)
)

// alike says how much two steps do the same, and what. Ids are short names of what is done; titles say more.
func alike(a, b *steps.Step, features map[[2]string]string) (score float64, why string) {
	if a.ID == b.ID {
		return 4, strings.ReplaceAll(a.ID, "_", " ")
	}
	if f := features[[2]string{a.ID, b.ID}]; f != "" {
		score, why = 2, strings.ToLower(f)
	}
	words := func(s *steps.Step) map[string]bool {
		out := map[string]bool{}
		for _, w := range idWords.FindAllString(strings.ToLower(strings.ReplaceAll(s.ID, "_", " ")+" "+s.Label+" "+s.Title), -1) {
			if !dull.MatchString(w) {
				out[strings.TrimSuffix(w, "s")] = true
			}
		}
		return out
	}
	wa, n := words(a), 0
	for w := range words(b) {
		if wa[w] {
			n++
			if why == "" || len(w) > len(why) && score < 2 {
				why = w
			}
		}
	}
	if n > 0 {
		score += 1 + float64(n)/4
	}
	if score > 0 && a.Form == b.Form {
		score += 0.25
	}
	return score, why
}

type pairing struct {
	a, b *steps.Step
	why  string
}

// align pairs two lists so that the sum of the scores is largest while both keep their order (Needleman and Wunsch, gaps
// cost nothing).
func align(a, b []*steps.Step, score func(x, y *steps.Step) (float64, string)) []pairing {
	best := make([][]float64, len(a)+1)
	for i := range best {
		best[i] = make([]float64, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			s, _ := score(a[i], b[j])
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if s > 0 {
				best[i][j] = max(best[i][j], s+best[i+1][j+1])
			}
		}
	}
	var out []pairing
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i == len(a):
			out, j = append(out, pairing{b: b[j]}), j+1
		case j == len(b) || best[i][j] == best[i+1][j]:
			out, i = append(out, pairing{a: a[i]}), i+1
		case best[i][j] == best[i][j+1]:
			out, j = append(out, pairing{b: b[j]}), j+1
		default:
			_, why := score(a[i], b[j])
			out, i, j = append(out, pairing{a[i], b[j], why}), i+1, j+1
		}
	}
	return out
}
