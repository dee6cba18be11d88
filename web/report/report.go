// Package report makes one HTML file of a recording: the tracer, its script and the recording in it. It opens from disk,
// asks nobody for anything, and says the walk in plain text where scripts do not run.
//
// It does not know about servers, or how a recording came to be.
package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"glassbox/static"
	"glassbox/trace/file"
	"glassbox/web/pages"
	"glassbox/web/view"
)

// Options say where the tracer opens; empty is the start of the walk in the first view.
type Options struct {
	View, Step string
}

// Write writes the file. Arrays that the text form of a recording leaves out (docs/trace-format.md) are not in it.
func Write(w io.Writer, rec *file.Recording, o Options) error {
	if o.Step != "" && !hasStep(rec, o.Step) {
		return fmt.Errorf("report: step: the recording has no step %q; its walk begins %s", o.Step, firstSteps(rec))
	}
	js, err := text("js/glassbox.js")
	if err != nil {
		return err
	}
	if strings.Contains(strings.ToLower(js), "</script") {
		return errors.New("report: js/glassbox.js holds the end of a script element: it cannot lie inside a page")
	}
	css, err := text("css/tokens.css", "css/base.css", "css/pages.css")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := file.WriteJSON(&b, rec); err != nil {
		return err
	}
	v := view.WalkOf(rec)
	d := pages.ReportData{
		Title: v.Title, CSS: css, JS: js, View: o.View, Step: o.Step,
		// "<" may begin a tag or a comment inside a script element; in JSON it can be written so that it cannot.
		JSON:   strings.ReplaceAll(b.String(), "<", `\u003c`),
		Policy: "default-src 'none'; script-src " + hash(js) + "; style-src " + hash(css) + "; img-src data: blob:; base-uri 'none'; form-action 'none'",
	}
	return pages.Report(d, v).Render(context.Background(), w)
}

// hash names an inline script or style in a content security policy.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// text joins static files.
func text(names ...string) (string, error) {
	var b strings.Builder
	for _, name := range names {
		raw, err := fs.ReadFile(static.Files, name)
		if err != nil {
			return "", fmt.Errorf("report: %w", err)
		}
		b.Write(raw)
	}
	return b.String(), nil
}

func hasStep(rec *file.Recording, id string) bool {
	for i := range rec.Walk {
		if rec.Walk[i].ID == id {
			return true
		}
	}
	return false
}

func firstSteps(rec *file.Recording) string {
	var ids []string
	for i := range rec.Walk[:min(len(rec.Walk), 5)] {
		ids = append(ids, rec.Walk[i].ID)
	}
	return strings.Join(ids, ", ")
}
