package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"glassbox/trace/export"
	"glassbox/trace/file"
	"glassbox/web/report"
)

// exportCmd turns a recording into another program's form.
type exportCmd struct {
	File []string `arg:"" optional:"" help:"A recording: .gbx, .json, or the journal .part of a request that was cut off; for site none or several."`
	To   string   `required:"" enum:"json,gbx,html,perfetto,speedscope,csv,md,doc,otlp,site" help:"json or gbx: the other form of the same recording; html: one page that opens from disk; perfetto: Chrome JSON for ui.perfetto.dev; speedscope; csv: the table of a view; md: a Markdown table of the steps; doc: JSON of less than 200 kB for a page of documentation; otlp: OpenTelemetry, as a collector takes it at POST /v1/traces; site: a folder with all pages and recordings, for any web server."`
	View string   `placeholder:"V" help:"html: the view it opens with; csv: the table of this view: request, pass, tape, attention, lens or timeline (default: timeline, a line a span)."`
	Step string   `placeholder:"S" help:"html: the step it opens at."`
	Out  string   `short:"o" required:"" placeholder:"FILE" help:"Where to write, for site a folder; - is standard output (not for gbx or site)."`
}

// writer returns what writes the format.
func (c *exportCmd) writer() (func(io.Writer, *file.Recording) error, error) {
	if c.View != "" && c.To != "html" && c.To != "csv" {
		return nil, &usageError{fmt.Sprintf("--view: only html and csv have views, not %s", c.To)}
	}
	if c.View != "" && !slices.Contains(export.Views(), c.View) {
		return nil, &usageError{fmt.Sprintf("--view: wanted one of %s, found %q", strings.Join(export.Views(), ", "), c.View)}
	}
	return map[string]func(io.Writer, *file.Recording) error{
		"json": file.WriteJSON, "gbx": file.WriteGBX, "perfetto": export.Perfetto, "speedscope": export.Speedscope, "otlp": export.OTLP, "md": export.Markdown, "doc": export.Doc,
		"csv": func(w io.Writer, rec *file.Recording) error { return export.ViewCSV(w, rec, c.View) },
		"html": func(w io.Writer, rec *file.Recording) error {
			return report.Write(w, rec, report.Options{View: c.View, Step: c.Step})
		},
	}[c.To], nil
}

// Run reads the recording and writes it out; a file appears under its name only when it is whole.
func (c *exportCmd) Run() error {
	write, err := c.writer()
	switch {
	case err != nil:
		return err
	case c.To == "site":
		return writeSite(c.Out, c.File)
	case len(c.File) != 1:
		return &usageError{fmt.Sprintf("FILE: wanted one recording, found %d", len(c.File))}
	}
	rec, err := file.Read(c.File[0])
	if err != nil {
		return err
	}
	file.LayWalk(rec, catalogue().Apply)
	for _, m := range rec.Missing {
		fmt.Fprintf(os.Stderr, "glassbox: warning: %s is cut off: %s is missing\n", c.File[0], m)
	}
	if c.Out == "-" {
		if c.To == "gbx" {
			return &usageError{"--to gbx: wanted a file with -o, not standard output"}
		}
		w := bufio.NewWriter(os.Stdout)
		if err := write(w, rec); err != nil {
			return err
		}
		return w.Flush()
	}
	if info, err := os.Stat(c.Out); err == nil {
		if in, err := os.Stat(c.File[0]); err == nil && os.SameFile(in, info) {
			return &usageError{fmt.Sprintf("-o %s: wanted another file than the recording itself", c.Out)}
		}
		if !info.Mode().IsRegular() { // a device or a pipe is written to; a file must not take its place
			if err := into(c.Out, os.O_WRONLY, write, rec); err != nil {
				return fmt.Errorf("-o %s: %w", c.Out, err)
			}
			return nil
		}
	}
	part := c.Out + ".new.part" // NAME.part may be the journal that is read
	err = into(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, write, rec)
	if err == nil {
		err = os.Rename(part, c.Out)
	}
	if err != nil {
		os.Remove(part)
		return fmt.Errorf("-o %s: %w", c.Out, err)
	}
	return nil
}

// into writes a recording to a path and closes it; a regular file is on the disk then.
func into(path string, flag int, write func(io.Writer, *file.Recording) error, rec *file.Recording) error {
	f, err := os.OpenFile(path, flag, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	if err := write(w, rec); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if flag&os.O_CREATE != 0 {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return f.Close()
}
