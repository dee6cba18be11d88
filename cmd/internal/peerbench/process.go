package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// outcome is one finished process.
type outcome struct {
	stdout, stderr string
	first          time.Duration // from start to its first byte on stdout; 0 when it wrote none
	wall           time.Duration
	peak           int64   // bytes of memory held at most
	others         float64 // share of all cores that other processes used meanwhile; -1 where the system does not say
}

// execute runs a program to its end. A failure carries the last line it wrote.
func execute(ctx context.Context, name string, args ...string) (outcome, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out outcome
	var stdout, stderr bytes.Buffer
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return out, err
	}
	cmd.Stderr = &stderr
	before := readLoad()
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return out, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	one := make([]byte, 1)
	if n, _ := io.ReadFull(pipe, one); n == 1 {
		out.first = time.Since(start)
		stdout.Write(one)
	}
	_, _ = io.Copy(&stdout, pipe)
	err = cmd.Wait()
	out.wall = time.Since(start)
	out.stdout, out.stderr = stdout.String(), stderr.String()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, lastLine(out.stderr))
	}
	out.peak = peakMemory(cmd.ProcessState)
	out.others = before.others(readLoad(), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	return out, nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
