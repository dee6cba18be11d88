package layers

import (
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"
)

const (
	maxLines = 500
	maxBytes = 3_000_000
	// maxRecording is for the recordings that ship: one of them carries every capture.
	maxRecording = 13_000_000
)

// PackageComments checks that every package has exactly one package comment and that it says what the package does not
// know about.
func PackageComments(t *Tree) []string {
	docs, seen := map[string][]string{}, map[string]bool{}
	for _, name := range t.goPaths() {
		f := t.Go[name]
		if f.Test || strings.HasPrefix(path.Dir(name), "vendor") {
			continue
		}
		dir := path.Dir(name)
		seen[dir] = true
		if strings.TrimSpace(f.Doc) != "" && !f.Generated {
			docs[dir] = append(docs[dir], name)
		}
	}
	var bad []string
	for dir := range seen {
		switch files := docs[dir]; {
		case len(files) == 0:
			bad = append(bad, dir+": no package comment; say in one what the package is, and what it does not know about")
		case len(files) > 1:
			bad = append(bad, fmt.Sprintf("%s: %d package comments (%s); keep one", dir, len(files), strings.Join(files, ", ")))
		case !strings.Contains(oneLine(t.Go[files[0]].Doc), "does not know about"):
			bad = append(bad, files[0]+`: the package comment lacks its line "It does not know about ..."`)
		}
	}
	sort.Strings(bad)
	return bad
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

var sourceFile = regexp.MustCompile(`\.(go|ts|js|mjs|py|templ|css|sh|cu|s|html)$`)

// written tells whether people write the file: source text that is neither generated nor data.
func written(t *Tree, name string) bool {
	if !sourceFile.MatchString(name) || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "static/") {
		return false
	}
	head := t.Files[name]
	if i := strings.Index(head, "\n\n"); i >= 0 && i < 2000 {
		head = head[:i]
	}
	return !strings.Contains(head, "Code generated") && !strings.HasSuffix(name, "_templ.go")
}

// Lengths checks that written source files have at most 500 lines. Long names the exceptions with their reasons; an
// exception that is no longer needed is a fault too.
func Lengths(t *Tree, long map[string]string) []string {
	var bad []string
	for _, name := range t.paths() {
		n := strings.Count(t.Files[name], "\n")
		reason, excused := long[name]
		switch {
		case !written(t, name):
			continue
		case n > maxLines && !excused:
			bad = append(bad, fmt.Sprintf("%s: %d lines, wanted at most %d; is it still one thing?", name, n, maxLines))
		case n <= maxLines && excused:
			bad = append(bad, fmt.Sprintf("%s: %d lines: take it off the list of long files", name, n))
		case excused && len(reason) < 20:
			bad = append(bad, name+": the list of long files gives no reason for it")
		}
	}
	for name := range long {
		if _, found := t.Files[name]; !found {
			bad = append(bad, name+": on the list of long files, but there is no such file")
		}
	}
	sort.Strings(bad)
	return bad
}

// A forbidden text, in which files, and why. The patterns are cut in pieces so that this file does not match itself.
var forbidden = []struct {
	pattern *regexp.Regexp
	files   *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`(^|[^\w./-])/(wor` + `k|roo` + `t|far` + `m)/`), anyFile, "a path of one machine"},
	{regexp.MustCompile(`(^|[^\w./-])/(hom` + `e|User` + `s)/[a-z]\w*/`), anyFile, "a path of one machine"},
	{regexp.MustCompile(`\b(pypi\.or` + `g|files\.pythonhosted\.or` + `g|registry\.(npmjs|yarnpkg)\.\w+|proxy\.golang\.or` + `g|sum\.golang\.or` + `g|deb\.debian\.or` + `g|crates\.i` + `o|rubygems\.or` + `g)\b`),
		anyFile, "the host of a package registry; name the package, not where it comes from"},
	{regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`), sourceFile, "unfinished; finish it or take it out"},
	{regexp.MustCompile(`\b[tbf]\.Ski` + `p(f|Now)?\(`), regexp.MustCompile(`_test\.go$`), "a skipped test shows nothing"},
	{regexp.MustCompile(`(?i)(copyrigh` + `t (\(c\)|©|\d{4})|spdx-licens` + `e-identifier|licensed under the (mit|apache|bsd))`), sourceFile,
		"somebody's licence header: third-party code is not kept in the tree"},
}

var anyFile = regexp.MustCompile(``)

// Texts checks for what must not be committed: paths of one machine, hosts of package registries, unfinished work,
// skipped tests, code of others. Data under testdata is looked at for paths and hosts only.
func Texts(t *Tree) []string {
	var bad []string
	for _, name := range t.paths() {
		text := t.Files[name]
		for _, rule := range forbidden {
			if !rule.files.MatchString(name) || rule.files != anyFile && strings.Contains(name, "testdata/") {
				continue
			}
			if at := rule.pattern.FindStringIndex(text); at != nil {
				line := 1 + strings.Count(text[:at[1]], "\n")
				bad = append(bad, fmt.Sprintf("%s:%d: %q: %s", name, line, strings.TrimSpace(text[at[0]:at[1]]), rule.why))
			}
		}
	}
	return bad
}

var outputs = regexp.MustCompile(`(\.(so|o|a|dll|dylib|exe|pyc|class|part)|\.min\.(js|css)|(^|/)\.DS_Store)$`)

// Outputs checks that no build output is kept, and nothing above 3 MB but the model.
func Outputs(t *Tree) []string {
	var bad []string
	for _, name := range t.paths() {
		switch {
		case outputs.MatchString(name):
			bad = append(bad, name+": looks like a build output or a minified library; keep the source, not the product")
		case t.Sizes[name] > most(name) && !(path.Dir(name) == "engine/builtin" && path.Ext(name) == ".gguf"):
			bad = append(bad, fmt.Sprintf("%s: %d bytes, wanted at most %d", name, t.Sizes[name], most(name)))
		}
	}
	return bad
}

// most is how large a file may be.
func most(name string) int {
	if path.Dir(name) == "static/recordings" && path.Ext(name) == ".gbx" {
		return maxRecording
	}
	return maxBytes
}
