package view

import (
	"fmt"
	"html"
	"strings"

	"glassbox/steps/modmap"
)

// ModuleMap is a module map as the page of maps shows it: a picture, and the counts that say what is on it.
type ModuleMap struct {
	Name, Title, Version string
	Open                 string // where the map can be walked; "" = no recording of it ships
	SVG                  string
	Rules                []ModuleRule
	Stops                int
	Caption              string
}

// ModuleRule is a row of counts.
type ModuleRule struct {
	Rule    string
	Modules int
}

// ModuleMapOf draws a map. has tells whether a recording ships.
func ModuleMapOf(m *modmap.Map, has func(id string) bool) ModuleMap {
	v := ModuleMap{Name: m.Engine, Title: m.Title, Version: m.Version, SVG: moduleSVG(m), Stops: m.Stops()}
	noun := "modules"
	if m.Language == "go" {
		noun = "packages"
	}
	v.Caption = fmt.Sprintf("%d of %d %s; a box for each, its size by lines, in their folders", len(m.Modules), m.Files, noun)
	if m.Recording != "" && has(m.Recording) {
		v.Open = "/trace/" + m.Recording + "?view=modules"
	}
	for _, r := range m.Rules {
		v.Rules = append(v.Rules, ModuleRule{r.Rule, r.Modules})
	}
	return v
}

// moduleSVG is the map without what only reading on it needs. Classes say what a box is; the style sheet colours them.
func moduleSVG(m *modmap.Map) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, m.Width, m.Height, html.EscapeString(m.Title+" "+m.Version+": map of its modules"))
	for _, f := range m.Folders {
		fmt.Fprintf(&b, `<rect class="f" x="%g" y="%g" width="%g" height="%g"/>`, f.Box[0], f.Box[1], f.Box[2], f.Box[3])
	}
	for _, q := range m.Modules {
		fmt.Fprintf(&b, `<rect class="%s" x="%g" y="%g" width="%g" height="%g"/>`, q.State, q.Box[0], q.Box[1], q.Box[2], q.Box[3])
	}
	at := -1
	b.WriteString(`<path class="way" d="`)
	for _, s := range m.Route {
		if s.Module == at {
			continue
		}
		letter := 'L'
		if at < 0 {
			letter = 'M'
		}
		at = s.Module
		box := m.Modules[at].Box
		fmt.Fprintf(&b, "%c%.0f %.0f", letter, box[0]+box[2]/2, box[1]+box[3]/2)
	}
	b.WriteString(`"/>`)
	for _, f := range m.Folders {
		if f.Head && strings.Count(f.Path, "/") < 2 && f.Box[2] > 9*float64(len(f.Name)) {
			fmt.Fprintf(&b, `<text x="%g" y="%g">%s</text>`, f.Box[0]+7, f.Box[1]+15, html.EscapeString(f.Name))
		}
	}
	b.WriteString("</svg>")
	return b.String()
}
