package attach

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed sitecustomize.py
var recorderSource []byte

// folder is the talk with the recorders inside Python processes; sitecustomize.py describes it.
type folder struct {
	dir    string
	o      *Options
	method string
	facts  []string
}

func newFolder() *folder { return &folder{} }

// patience is how long the processes may take to begin, and to write down what they saw.
const patience = 30 * time.Second

func (f *folder) prepare(o *Options, cmd *command) error {
	f.o = o
	if len(cmd.args) == 0 {
		return errors.New("attach: a Python engine is recorded from its start: give its command behind -- instead of --url alone")
	}
	var err error
	if f.dir, err = os.MkdirTemp("", "glassbox-attach-"); err != nil {
		return err
	}
	site := filepath.Join(f.dir, "site")
	if err := os.Mkdir(site, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(site, "sitecustomize.py"), recorderSource, 0o600); err != nil {
		return err
	}
	path := site
	if old := os.Getenv("PYTHONPATH"); old != "" {
		path += string(os.PathListSeparator) + old
	}
	cmd.env = append(cmd.env, "PYTHONPATH="+path, "GLASSBOX_ATTACH_DIR="+f.dir,
		"GLASSBOX_ATTACH_PACKAGES="+strings.Join(o.Engine.Packages, ","), "GLASSBOX_ATTACH_SKIP="+strings.Join(o.Engine.Skip, ","))
	return nil
}

// pids returns the processes that wrote a file of a kind: proc, armed, done.
func (f *folder) pids(kind string) []int {
	names, _ := filepath.Glob(filepath.Join(f.dir, kind+"-*"))
	var pids []int
	for _, n := range names {
		if pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(n), kind+"-")); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// await waits until every living process that is there has written a file of a kind.
func (f *folder) await(ctx context.Context, kind, of string) error {
	deadline := time.Now().Add(patience)
	for {
		var missing []int
		have := f.pids(kind)
		for _, pid := range f.pids(of) {
			if !slices.Contains(have, pid) && lives(pid) {
				missing = append(missing, pid)
			}
		}
		if len(missing) == 0 && len(have) > 0 {
			return nil
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline) && len(f.pids("proc")) == 0:
			return fmt.Errorf("no process of the engine loaded the recorder: wanted a command that starts Python with the environment it gets (python -I and -S leave PYTHONPATH out), and Python 3.8 or later; found %s", f.o.Command[0])
		case time.Now().After(deadline):
			return fmt.Errorf("processes %v did not answer (%s) within %s: their interpreter may be blocked in native code; try again", missing, kind, patience)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func lives(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && signalZero(p)
}

func (f *folder) arm(ctx context.Context, _ *process) error {
	if err := os.WriteFile(filepath.Join(f.dir, "arm"), nil, 0o600); err != nil {
		return err
	}
	return f.await(ctx, "armed", "proc")
}

func (f *folder) stop(ctx context.Context) ([]thread, error) {
	time.Sleep(100 * time.Millisecond) // what is done behind the answer: slots are freed, counters written
	if err := os.Remove(filepath.Join(f.dir, "arm")); err != nil {
		return nil, err
	}
	if err := f.await(ctx, "done", "armed"); err != nil {
		return nil, err
	}
	var threads []thread
	for _, pid := range f.pids("done") {
		name := filepath.Join(f.dir, fmt.Sprintf("events-%d", pid))
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		head, list, err := readEvents(data)
		if err != nil {
			return nil, fmt.Errorf("events of process %d: %w", pid, err)
		}
		if len(list) == 0 {
			continue // a helper such as multiprocessing's resource tracker
		}
		f.method = head.Method + ", Python " + head.Python
		if head.Lost > 0 {
			return nil, fmt.Errorf("process %d (%s): %d events did not fit: ask for a shorter answer, or leave functions out", pid, head.Name, head.Lost)
		}
		threads = append(threads, list...)
	}
	if len(threads) == 0 {
		return nil, fmt.Errorf("no function of %v ran in any process: is this %s?", f.o.Engine.Packages, f.o.Engine.Title)
	}
	return threads, nil
}

func (f *folder) describe() (string, []string) { return f.method, f.facts }

func (f *folder) close() {
	if f.dir == "" {
		return
	}
	if f.o.Keep != "" {
		_ = os.CopyFS(f.o.Keep, os.DirFS(f.dir))
	}
	_ = os.RemoveAll(f.dir)
}
