package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"glassbox/trace/export"
	"glassbox/trace/file"
)

// exportCmd turns a recording into another program's form.
type exportCmd struct {
	File string `arg:"" help:"A recording: .gbx, .json, or the journal .part of a request that was cut off."`
	To   string `required:"" enum:"json,gbx,perfetto,speedscope,csv" help:"json or gbx: the other form of the same recording; perfetto: Chrome JSON for ui.perfetto.dev; speedscope; csv: a line a span."`
	Out  string `short:"o" required:"" placeholder:"FILE" help:"Where to write; - is standard output (not for gbx)."`
}

// writers by format; json and gbx are files of their own kind.
var writers = map[string]func(io.Writer, *file.Recording) error{
	"json": file.WriteJSON, "gbx": file.WriteGBX, "perfetto": export.Perfetto, "speedscope": export.Speedscope, "csv": export.CSV,
}

// Run reads the recording and writes it out; a file appears under its name only when it is whole.
func (c *exportCmd) Run() error {
	rec, err := file.Read(c.File)
	if err != nil {
		return err
	}
	for _, m := range rec.Missing {
		fmt.Fprintf(os.Stderr, "glassbox: warning: %s is cut off: %s is missing\n", c.File, m)
	}
	write := writers[c.To]
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
	part := c.Out + ".part"
	f, err := os.Create(part)
	if err != nil {
		return fmt.Errorf("-o %s: %w", c.Out, err)
	}
	w := bufio.NewWriter(f)
	err = write(w, rec)
	for _, step := range []func() error{w.Flush, f.Sync, f.Close} {
		if err == nil {
			err = step()
		}
	}
	if err == nil {
		err = os.Rename(part, c.Out)
	}
	if err != nil {
		f.Close()
		os.Remove(part)
		return fmt.Errorf("-o %s: %w", c.Out, err)
	}
	return nil
}
