package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// plot is a chart drawn as SVG; the colours are the page's roles, so that it turns with the theme and prints.
type plot struct {
	Title  string // for screen readers
	X, Y   string // axis labels with their unit
	Ticks  []tick // of the x axis; nil = from the points
	Series []series
	Wide   bool
	Zero   bool // the x axis starts at 0
}

type tick struct {
	At    float64
	Label string
}

// series are points of one kind; Lo and Hi draw a whisker where they differ from Y.
type series struct {
	Name   string
	Class  string // s1, s2, s3 or fit: colour and shape
	Line   bool
	Points []point
}

type point struct {
	X, Y, Lo, Hi float64
	Label        string
	Text         string // the exact values, for focus
}

// axis maps values to pixels.
type axis struct{ from, to, a, b float64 }

func (x axis) at(v float64) float64 {
	if x.to == x.from {
		return (x.a + x.b) / 2
	}
	return x.a + (v-x.from)/(x.to-x.from)*(x.b-x.a)
}

const (
	plotLeft, plotRight, plotTop, plotBottom = 52.0, 14.0, 14.0, 36.0
	plotHeight                               = 220.0
)

// SVG draws the chart; empty when there is nothing to draw.
func (p plot) SVG() template.HTML {
	width := 430.0
	if p.Wide {
		width = 894
	}
	lo, hi, top := math.Inf(1), math.Inf(-1), 0.0
	n := 0
	for _, s := range p.Series {
		for _, q := range s.Points {
			lo, hi = min(lo, q.X), max(hi, q.X)
			top = max(top, q.Y, q.Hi)
			n++
		}
	}
	if n == 0 || top <= 0 {
		return ""
	}
	if p.Zero {
		lo = 0
	}
	yTicks, top := nice(top, 5)
	xTicks := p.Ticks
	if xTicks == nil {
		var end float64
		xTicks, end = nice(hi, 6)
		if p.Zero {
			hi = end
		}
	} else {
		lo, hi = math.Inf(1), math.Inf(-1)
		for _, t := range xTicks {
			lo, hi = min(lo, t.At), max(hi, t.At)
		}
		lo, hi = lo-0.4, hi+0.4
	}
	x := axis{lo, hi, plotLeft, width - plotRight}
	y := axis{0, top, plotHeight - plotBottom, plotTop}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, width, plotHeight, html.EscapeString(p.Title))
	for _, t := range yTicks {
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="ax" x="%.1f" y="%.1f" text-anchor="end">%s</text>`,
			plotLeft, width-plotRight, y.at(t.At), y.at(t.At), plotLeft-7, y.at(t.At)+3.5, html.EscapeString(t.Label))
	}
	for _, t := range xTicks {
		if t.At < lo || t.At > hi {
			continue
		}
		fmt.Fprintf(&b, `<line class="tickmark" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="ax" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`,
			x.at(t.At), x.at(t.At), plotHeight-plotBottom, plotHeight-plotBottom+4, x.at(t.At), plotHeight-plotBottom+16, html.EscapeString(t.Label))
	}
	fmt.Fprintf(&b, `<line class="base" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, plotLeft, width-plotRight, y.at(0), y.at(0))
	fmt.Fprintf(&b, `<text class="ax lab" x="%.1f" y="%.1f" text-anchor="end">%s</text>`, width-plotRight, plotHeight-4, html.EscapeString(p.X))
	var taken [][2]float64
	for _, s := range p.Series {
		taken = s.draw(&b, x, y, taken)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// draw adds a series. A label that would lie on one of those already taken is left out; the table has it.
func (s series) draw(b *strings.Builder, x, y axis, taken [][2]float64) [][2]float64 {
	if s.Line && len(s.Points) > 1 {
		b.WriteString(`<polyline class="line ` + s.Class + `" points="`)
		for _, q := range s.Points {
			fmt.Fprintf(b, "%.1f,%.1f ", x.at(q.X), y.at(q.Y))
		}
		b.WriteString(`"/>`)
	}
	if s.Class == "fit" {
		return taken
	}
	small := len(s.Points) > 60
	for _, q := range s.Points {
		cx, cy := x.at(q.X), y.at(q.Y)
		if q.Hi > q.Lo {
			fmt.Fprintf(b, `<line class="whisk %s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><line class="whisk %s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><line class="whisk %s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`,
				s.Class, cx, cx, y.at(q.Lo), y.at(q.Hi), s.Class, cx-3, cx+3, y.at(q.Hi), y.at(q.Hi), s.Class, cx-3, cx+3, y.at(q.Lo), y.at(q.Lo))
		}
		b.WriteString(mark(s.Class, cx, cy, small, q.Text))
		if q.Label != "" && !crowded(taken, cx, cy) {
			taken = append(taken, [2]float64{cx, cy})
			fmt.Fprintf(b, `<text class="pt" x="%.1f" y="%.1f">%s</text>`, cx+6, cy-6, html.EscapeString(q.Label))
		}
	}
	return taken
}

// crowded tells whether a label at a point would touch one already written.
func crowded(taken [][2]float64, x, y float64) bool {
	for _, t := range taken {
		if math.Abs(t[0]-x) < 30 && math.Abs(t[1]-y) < 12 {
			return true
		}
	}
	return false
}

// mark draws a point: a circle, a square or a triangle by its class, so that series differ in more than hue.
func mark(class string, x, y float64, small bool, text string) string {
	r := 3.5
	if small {
		r = 2
	}
	title := ""
	if text != "" {
		title = "<title>" + html.EscapeString(text) + "</title>"
	}
	switch class {
	case "s2":
		return fmt.Sprintf(`<rect class="mark s2" x="%.1f" y="%.1f" width="%.1f" height="%.1f">%s</rect>`, x-r, y-r, 2*r, 2*r, title)
	case "s3":
		return fmt.Sprintf(`<path class="mark s3" d="M%.1f %.1fl%.1f %.1fh%.1fz">%s</path>`, x, y-r*1.2, r*1.2, r*2.1, -r*2.4, title)
	case "s4":
		return fmt.Sprintf(`<path class="mark s4" d="M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz">%s</path>`, x, y-r*1.4, r*1.4, r*1.4, -r*1.4, r*1.4, -r*1.4, -r*1.4, title)
	case "bad":
		return fmt.Sprintf(`<path class="cross" d="M%.1f %.1fl6 6m0 -6l-6 6">%s</path>`, x-3, y-3, title)
	}
	return fmt.Sprintf(`<circle class="mark %s" cx="%.1f" cy="%.1f" r="%g">%s</circle>`, class, x, y, r, title)
}

// nice returns ticks from 0 to at least top, at steps of 1, 2 or 5 times a power of ten, and the last tick.
func nice(top float64, want int) ([]tick, float64) {
	if top <= 0 {
		top = 1
	}
	raw := top / float64(want)
	pow := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * pow
	for _, m := range []float64{1, 2, 5} {
		if m*pow >= raw*0.999 {
			step = m * pow
			break
		}
	}
	var out []tick
	end := 0.0
	for i := 0; i <= 2*want; i++ {
		end = float64(i) * step
		out = append(out, tick{end, label(end, step)})
		if end >= top*0.9999 {
			break
		}
	}
	return out, end
}

func label(v, step float64) string {
	switch {
	case v >= 10000:
		return fmt.Sprintf("%gk", v/1000)
	case step >= 1:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.*f", int(math.Ceil(-math.Log10(step)-1e-9)), v)
}
