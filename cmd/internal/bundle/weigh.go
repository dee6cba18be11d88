package main

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// staticImport finds what a minified module cannot run without; an import
// with brackets is one for later.
var staticImport = regexp.MustCompile(`(?:\bfrom|\bimport)\s*"(\.[^"]+)"`)

// weight is a load of scripts and its bound, in bytes gzipped.
type weight struct {
	What        string
	Bytes, Most int
}

// weigh tells what each page loads first and what each part loaded later adds
// to the page of a tracer.
func weigh(files []file) []weight {
	by := map[string]file{}
	for _, f := range files {
		by[f.Name] = f
	}
	out := []weight{{"glassbox.js, everything in one", gzipSize(by["glassbox.js"].Text), maxWhole}}
	tracer := reach(by, "tracer.js", nil)
	for _, f := range files {
		switch {
		case f.Name == "glassbox.js", strings.HasPrefix(f.Name, parts+"/chunk-"): // chunks are weighed with what needs them
		case !strings.Contains(f.Name, "/"):
			out = append(out, weight{f.Name + ", first load", sum(by, reach(by, f.Name, nil)), maxFirst})
		case !tracer[f.Name]:
			out = append(out, weight{f.Name + ", on top of tracer.js", sum(by, reach(by, f.Name, tracer)), maxLater})
		}
	}
	return out
}

// reach lists a module and what it imports, without what is there already.
func reach(by map[string]file, name string, have map[string]bool) map[string]bool {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(n string) {
		if seen[n] || have[n] {
			return
		}
		seen[n] = true
		for _, m := range staticImport.FindAllSubmatch(by[n].Text, -1) {
			visit(path.Join(path.Dir(n), string(m[1])))
		}
	}
	visit(name)
	return seen
}

func sum(by map[string]file, names map[string]bool) int {
	total := 0
	for _, n := range slices.Sorted(maps.Keys(names)) {
		total += gzipSize(by[n].Text)
	}
	return total
}

// tooHeavy is an error that names the loads over their bound.
func tooHeavy(all []weight) error {
	var over []string
	for _, w := range all {
		if w.Bytes > w.Most {
			over = append(over, fmt.Sprintf("%s: %d bytes gzipped, wanted at most %d", w.What, w.Bytes, w.Most))
		}
	}
	if over == nil {
		return nil
	}
	return fmt.Errorf("static/js: %s: make the client smaller, or load parts of it later", strings.Join(over, "; "))
}
