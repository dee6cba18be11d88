package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Program is a T outside of a test, or around many: it ends the process at the first failure. Call End last.
type Program struct {
	Name string // begins its messages

	cleanups []func()
	dirs     []string
}

// Helper does nothing here.
func (p *Program) Helper() {}

// Errorf prints the failure.
func (p *Program) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, p.Name+": "+format+"\n", args...)
}

// FailNow ends the program.
func (p *Program) FailNow() {
	p.End()
	os.Exit(1)
}

// Cleanup keeps f for the end.
func (p *Program) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

// TempDir makes a folder that the end removes.
func (p *Program) TempDir() string {
	dir, err := os.MkdirTemp("", p.Name)
	if err != nil {
		p.Errorf("%v", err)
		p.FailNow()
	}
	p.dirs = append(p.dirs, dir)
	return dir
}

// End stops and removes what was started for it.
func (p *Program) End() {
	for _, f := range slices.Backward(p.cleanups) {
		f()
	}
	for _, dir := range p.dirs {
		_ = os.RemoveAll(dir)
	}
	forget()
}

// forget removes a binary that was built here.
func forget() {
	if os.Getenv("GLASSBOX_BIN") == "" && bin != "" {
		os.RemoveAll(filepath.Dir(bin))
	}
}
