package file

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"glassbox/trace"
)

// SourceRef is a place in the source code of this program.
type SourceRef struct {
	Symbol string `json:"symbol"` // as in the file: "(*Loop).plan", "Encode", "Encode.func1"
	Func   string `json:"func"`   // as the runtime names it: "glassbox/engine/sched.(*Loop).plan"
	File   string `json:"file"`   // "engine/sched/loop.go"; of another module, the package's path and the file's name
	Line   int    `json:"line"`
	Decl   bool   `json:"decl,omitempty"` // where the function is declared (a backend's), not the line that was reached
}

// sourceRoot is the folder (or, built with -trimpath, the module) that this program's files lie in.
var sourceRoot = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "trace/file/sources.go")
}()

// CallSite tells where a program counter from runtime.Callers is.
func CallSite(pc uintptr) (SourceRef, bool) {
	if pc == 0 {
		return SourceRef{}, false
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return refOf(f)
}

// FuncSite tells where the function with the given entry is declared. Code inlined into its first instruction belongs to
// it, so the outermost frame counts.
func FuncSite(entry uintptr) (SourceRef, bool) {
	if entry == 0 {
		return SourceRef{}, false
	}
	frames := runtime.CallersFrames([]uintptr{entry})
	f, more := frames.Next()
	for more {
		f, more = frames.Next()
	}
	ref, ok := refOf(f)
	ref.Decl = ok
	return ref, ok
}

func refOf(f runtime.Frame) (SourceRef, bool) {
	if f.Function == "" || f.File == "" {
		return SourceRef{}, false
	}
	slash := strings.LastIndexByte(f.Function, '/') + 1
	pkg, symbol := f.Function[:slash], f.Function[slash:]
	if dot := strings.IndexByte(symbol, '.'); dot >= 0 {
		pkg, symbol = pkg+symbol[:dot], symbol[dot+1:]
	}
	file, ok := strings.CutPrefix(f.File, sourceRoot)
	if !ok {
		file = pkg + "/" + path.Base(f.File)
	}
	return SourceRef{Symbol: symbol, Func: f.Function, File: file, Line: f.Line}, true
}

// sourceSet gathers the distinct source positions of each step.
type sourceSet struct {
	seen  map[sourceKey]struct{}
	sites map[trace.StepID][]SourceRef
	funcs map[trace.StepID][]SourceRef
	fresh map[string][]SourceRef // since the last take
}

type sourceKey struct {
	step trace.StepID
	pc   uintptr
}

func newSourceSet() *sourceSet {
	return &sourceSet{map[sourceKey]struct{}{}, map[trace.StepID][]SourceRef{}, map[trace.StepID][]SourceRef{}, map[string][]SourceRef{}}
}

// add notes the line at pc (site) or the function that begins at pc.
func (s *sourceSet) add(step trace.StepID, pc uintptr, site bool) {
	k := sourceKey{step, pc}
	if _, ok := s.seen[k]; ok || pc == 0 {
		return
	}
	s.seen[k] = struct{}{}
	find, into := CallSite, s.sites
	if !site {
		find, into = FuncSite, s.funcs
	}
	ref, ok := find(pc)
	if !ok || slices.Contains(into[step], ref) { // two calls on one line
		return
	}
	into[step] = append(into[step], ref)
	s.fresh[step.String()] = append(s.fresh[step.String()], ref)
}

// all returns the positions of each step: lines first, then functions.
func (s *sourceSet) all() map[string][]SourceRef {
	out := map[string][]SourceRef{}
	for _, m := range []map[trace.StepID][]SourceRef{s.sites, s.funcs} {
		for step, refs := range m {
			out[step.String()] = append(out[step.String()], refs...)
		}
	}
	return out
}

// take returns what was new since the last call, nil when nothing was.
func (s *sourceSet) take() map[string][]SourceRef {
	if len(s.fresh) == 0 {
		return nil
	}
	f := s.fresh
	s.fresh = map[string][]SourceRef{}
	return f
}
