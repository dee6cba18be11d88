package kern

import (
	"fmt"
	"strings"
)

// Kernels' arguments are pointers and counts, the same in all variants: see the twins in go*.go for what each does.
type (
	mvFunc    = func(dst *float32, w, x *byte, units, groups, pf int)
	mmFunc    = func(y *float32, ldy int, w *byte, ws int, x *byte, units int) // two groups, ws bytes apart
	mmaFunc   = func(y *float32, ldy int, w *byte, ws int, x *byte, xs, units, tiles int, cfg, tmp *byte, first, rows int)
	mm1Func   = func(y *float32, ldy int, w *byte, x *byte, units int) // one group
	unpkFunc  = func(dst, src *byte, units int)
	quantFunc = func(dst *byte, x *float32, blocks int)
	leaveFunc = func(dst, src *byte, stride, n16 int)
	placeFunc = func(dst, src *byte, T, t, blocks int)
	dotFunc   = func(y *float32, ldy int, w *byte, x *float32, ldx int, n16 int)
	qkFunc    = func(s *float32, lds int, q *float32, ldq int, pages *uintptr, off int, n int, dim16 int, scale float32)
	pvFunc    = func(out *float32, ldo int, p *float32, ldp int, pages *uintptr, off int, n int, ldv int)
	threeFunc = func(y, a, b *float32, n16 int)
)

// Kernels is one variant of all kernels. It does not change and may be used by any number of goroutines.
type Kernels struct {
	name       string
	has        bool
	tile       int           // tokens of a tile of quantised inputs; 1: mat-vec only
	mv         [forms]mvFunc // nil: no kernel for this form
	unpack     [forms]unpkFunc
	mm         [forms][MaxT + 1]mmFunc
	mm1        [forms][MaxT + 1]mm1Func
	quant32    quantFunc
	quant256   quantFunc
	interleave [MaxT + 1]leaveFunc
	tiles      [forms]*[MaxT/2 + 1]mmaFunc // AMX: by pairs of tokens; nil: no kernel
	widen      [forms]unpkFunc             // for them
	place32    placeFunc                   // nil: the tokens of a tile are interleaved
	place256   placeFunc
	dotRows    int
	dot        [forms][]dotFunc // by tokens
	qk         []qkFunc         // by rows
	pv16       []pvFunc         // by rows, for 16 dims
	pv32, pv64 []pvFunc         // for 32 and 64, may be nil
	softmax    func(s *float32, n16 int, scale float32)
	sumSquares func(x *float32, n16 int) float32
	scaleMul   func(y, x, w *float32, n16 int, s float32)
	siluMul    threeFunc
	geluMul    threeFunc
	ropePairs  threeFunc // x, cos, sin
	ropeHalves threeFunc
	add        threeFunc
	toHalf     func(dst *uint16, src *float32, n16 int)
	keyColumn  func(dst *uint16, src *float32, n8 int)
	spin       func(p *uint32, old uint32, n int) bool
	kv         kvKernels
}

// variants lists all that are built in, best first; the last one runs anywhere.
var variants = builtVariants()

// Variant returns the variant's name: "avx512-vnni", "avx2" or "generic".
func (k *Kernels) Variant() string { return k.name }

// Name names one of the variant's kernels for a recording: "softmax avx512-vnni".
func (k *Kernels) Name(kernel string) string { return kernel + " " + k.name }

// Features returns the names of the variants that run on this CPU, best first.
func Features() []string {
	var names []string
	for _, v := range variants {
		if v.has {
			names = append(names, v.name)
		}
	}
	return names
}

// Select returns a variant by name, "" for the best that this CPU has.
func Select(name string) (*Kernels, error) {
	for _, v := range variants {
		if v.has && (v.name == name || name == "") {
			return v, nil
		}
	}
	return nil, fmt.Errorf("cpu features: wanted one of %s (what this CPU and build have), found %q: choose one of them or leave the choice out", strings.Join(Features(), ", "), name)
}

// goKernels is the plain Go variant.
func goKernels() *Kernels {
	k := &Kernels{
		name: "generic", has: true, tile: 1,
		quant32: quant32Go, quant256: quant256Go,
		dotRows: 1,
		qk:      []qkFunc{nil, qkGo},
		pv16:    []pvFunc{nil, pvGo},
		softmax: softmaxGo, sumSquares: sumSquaresGo, scaleMul: scaleMulGo, siluMul: siluMulGo, geluMul: geluMulGo,
		ropePairs: ropePairsGo, ropeHalves: ropeHalvesGo, add: addGo,
		toHalf: toHalfGo, keyColumn: keyColumnGo, spin: spinGo, kv: kvGo(),
	}
	for _, f := range []Form{Q4_0, Q4_1, Q8_0, Q8_1, K32, K16} {
		k.mv[f] = mvGo(f)
	}
	for f := F32; f <= BF16; f++ {
		k.dot[f] = []dotFunc{nil, dotGo(f)}
	}
	return k
}
