package attach

import (
	"debug/elf"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// symbol is a function in a file of machine code.
type symbol struct {
	name   string // without parameters: "llama_context::decode"
	offset uint64 // in the file
}

// symbolsOf returns the functions of an ELF file by their names in the source. A file without names is an error that says
// how to get one with them.
func symbolsOf(path string) ([]symbol, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: wanted an ELF program or library: %w", path, err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("%s: symbols: %w", path, err)
	}
	dynamic, err := f.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("%s: symbols: %w", path, err)
	}
	var out []symbol
	seen := map[symbol]bool{}
	for _, s := range append(syms, dynamic...) {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Value == 0 || s.Size == 0 {
			continue
		}
		offset, ok := fileOffset(f, s.Value)
		if !ok {
			continue
		}
		one := symbol{plainName(s.Name), offset}
		if !seen[one] {
			seen[one] = true
			out = append(out, one)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: has no function names: build it without stripping (cmake -DCMAKE_BUILD_TYPE=Release, no -s, no strip), best with -g -fno-omit-frame-pointer", path)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	return out, nil
}

// fileOffset turns an address of the program into a place in its file: uprobes are set there.
func fileOffset(f *elf.File, addr uint64) (uint64, bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && addr >= p.Vaddr && addr < p.Vaddr+p.Filesz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// plainName is the function's name in the source: without parameters, result and template arguments. Compilers' clones
// (.part.0, .isra.0, .constprop.0) are the function itself, .cold is not.
func plainName(mangled string) string {
	base, suffix, _ := strings.Cut(mangled, ".")
	if strings.Contains(suffix, "cold") {
		return mangled
	}
	name := demangle.Filter(base, demangle.NoParams, demangle.NoTemplateParams)
	if i := strings.LastIndexByte(name, ' '); i >= 0 && !strings.Contains(name, "operator") && !strings.Contains(name, "lambda") && !strings.Contains(name, "{") && !strings.Contains(name, "(") {
		name = name[i+1:] // the result of a template function
	}
	name = strings.ReplaceAll(name, "[abi:cxx11]", "")
	return strings.ReplaceAll(name, "(anonymous namespace)::", "")
}
