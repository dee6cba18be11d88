//go:build amd64 && !purego

package kern

import "golang.org/x/sys/cpu"

// builtVariants lists the variants, best first.
func builtVariants() []*Kernels { return []*Kernels{amx(), avx512(), avx2(), goKernels()} }

func avx512() *Kernels {
	mm8 := [MaxT + 1]mmFunc{nil, mmQ8_0T1, mmQ8_0T2, mmQ8_0T3, mmQ8_0T4, mmQ8_0T5, mmQ8_0T6}
	mm81 := [MaxT + 1]mmFunc{nil, mmQ8_1T1, mmQ8_1T2, mmQ8_1T3, mmQ8_1T4, mmQ8_1T5, mmQ8_1T6}
	mmK32 := [MaxT + 1]mmFunc{nil, mmK32T1, mmK32T2, mmK32T3, mmK32T4, mmK32T5, mmK32T6}
	mmK16 := [MaxT + 1]mmFunc{nil, mmK16T1, mmK16T2, mmK16T3, mmK16T4, mmK16T5, mmK16T6}
	x := &cpu.X86
	return &Kernels{
		name: "avx512-vnni", tile: 6,
		has:        x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512DQ && x.HasAVX512VNNI && x.HasAVX2 && x.HasFMA && x.HasF16C,
		mv:         [forms]mvFunc{Q4_0: mvQ4_0, Q4_1: mvQ4_1, Q8_0: mvQ8_0, Q8_1: mvQ8_1, Q4_K: mvQ4_K, Q6_K: mvQ6_K},
		unpack:     [forms]unpkFunc{Q4_0: unpackQ4_0, Q4_1: unpackQ4_1, Q4_K: unpackQ4_K, Q6_K: unpackQ6_K},
		mm:         [forms][MaxT + 1]mmFunc{Q4_0: mm8, Q4_1: mm81, Q8_0: mm8, Q8_1: mm81, Q4_K: mmK32, Q6_K: mmK16, K32: mmK32, K16: mmK16},
		quant32:    quant32,
		quant256:   quant256,
		interleave: [MaxT + 1]leaveFunc{nil, nil, interleaveT2, interleaveT3, interleaveT4, interleaveT5, interleaveT6},
		dotRows:    4,
		dot: [forms][]dotFunc{F32: {nil, dotF32T1, dotF32T2, dotF32T3, dotF32T4}, F16: {nil, dotF16T1, dotF16T2, dotF16T3, dotF16T4},
			BF16: {nil, dotBF16T1, dotBF16T2, dotBF16T3, dotBF16T4}},
		qk:      []qkFunc{nil, attnQKr1, attnQKr2, attnQKr3, attnQKr4, attnQKr5, attnQKr6},
		pv16:    []pvFunc{nil, attnPV1r1, attnPV1r2, attnPV1r3, attnPV1r4, attnPV1r5, attnPV1r6},
		pv32:    []pvFunc{nil, attnPV2r1, attnPV2r2, attnPV2r3, attnPV2r4, attnPV2r5, attnPV2r6},
		pv64:    []pvFunc{nil, attnPV4r1, attnPV4r2, attnPV4r3, attnPV4r4, attnPV4r5, attnPV4r6},
		softmax: softmax, sumSquares: sumSquares, scaleMul: scaleMul, siluMul: siluMul, geluMul: geluMul,
		ropePairs: ropePairs, ropeHalves: ropeHalves, add: addVec,
		toHalf: toHalf, keyColumn: keyColumnF16C, spin: spinPause, kv: kvAVX512(),
	}
}

// amx is avx512 with tiles for batches of quantised inputs.
func amx() *Kernels {
	k := avx512()
	k.name, k.tile = "amx-bf16", MaxT
	k.has = k.has && hasTiles()
	k.tiles = [forms]*[MaxT/2 + 1]mmaFunc{
		Q4_0: &[MaxT/2 + 1]mmaFunc{nil, mmaQ4_0T2, mmaQ4_0T4, mmaQ4_0T6, mmaQ4_0T8, mmaQ4_0T10, mmaQ4_0T12, mmaQ4_0T14, mmaQ4_0T16},
		Q4_1: &[MaxT/2 + 1]mmaFunc{nil, mmaQ4_1T2, mmaQ4_1T4, mmaQ4_1T6, mmaQ4_1T8, mmaQ4_1T10, mmaQ4_1T12, mmaQ4_1T14, mmaQ4_1T16},
		Q8_0: &[MaxT/2 + 1]mmaFunc{nil, mmaQ8_0T2, mmaQ8_0T4, mmaQ8_0T6, mmaQ8_0T8, mmaQ8_0T10, mmaQ8_0T12, mmaQ8_0T14, mmaQ8_0T16},
		Q8_1: &[MaxT/2 + 1]mmaFunc{nil, mmaQ8_1T2, mmaQ8_1T4, mmaQ8_1T6, mmaQ8_1T8, mmaQ8_1T10, mmaQ8_1T12, mmaQ8_1T14, mmaQ8_1T16},
		Q4_K: &[MaxT/2 + 1]mmaFunc{nil, mmaQ4_KT2, mmaQ4_KT4, mmaQ4_KT6, mmaQ4_KT8, mmaQ4_KT10, mmaQ4_KT12, mmaQ4_KT14, mmaQ4_KT16},
		K32:  &[MaxT/2 + 1]mmaFunc{nil, mmaK32T2, mmaK32T4, mmaK32T6, mmaK32T8, mmaK32T10, mmaK32T12, mmaK32T14, mmaK32T16},
		Q6_K: &[MaxT/2 + 1]mmaFunc{nil, mmaQ6_KT2, mmaQ6_KT4, mmaQ6_KT6, mmaQ6_KT8, mmaQ6_KT10, mmaQ6_KT12, mmaQ6_KT14, mmaQ6_KT16},
	}
	k.widen = [forms]unpkFunc{Q4_0: widenQ4_0, Q4_1: widenQ4_1, Q8_0: widenQ8_0, Q8_1: widenQ8_1, Q4_K: widenQ4_K, K32: widenK32, Q6_K: widenQ6_K}
	k.place32, k.place256 = place32, place256
	return k
}

func avx2() *Kernels {
	return &Kernels{
		name: "avx2", tile: 6,
		has: cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C,
		mv:  [forms]mvFunc{Q4_0: mvQ4_0avx2, Q4_1: mvQ4_1avx2, Q8_0: mvQ8_0avx2, Q8_1: mvQ8_1avx2},
		mm1: [forms][MaxT + 1]mm1Func{
			Q4_0: {nil, nil, mmQ4_0avx2T2, mmQ4_0avx2T3, mmQ4_0avx2T4, mmQ4_0avx2T5, mmQ4_0avx2T6},
			Q4_1: {nil, nil, mmQ4_1avx2T2, mmQ4_1avx2T3, mmQ4_1avx2T4, mmQ4_1avx2T5, mmQ4_1avx2T6},
			Q8_0: {nil, nil, mmQ8_0avx2T2, mmQ8_0avx2T3, mmQ8_0avx2T4, mmQ8_0avx2T5, mmQ8_0avx2T6},
			K32:  {nil, mmK32avx2T1, mmK32avx2T2, mmK32avx2T3, mmK32avx2T4, mmK32avx2T5, mmK32avx2T6},
			K16:  {nil, mmK16avx2T1, mmK16avx2T2, mmK16avx2T3, mmK16avx2T4, mmK16avx2T5, mmK16avx2T6},
			Q8_1: {nil, nil, mmQ8_1avx2T2, mmQ8_1avx2T3, mmQ8_1avx2T4, mmQ8_1avx2T5, mmQ8_1avx2T6},
		},
		quant32:  quant32avx2,
		quant256: quant256Go,
		dotRows:  2,
		dot: [forms][]dotFunc{F32: {nil, dotF32T1avx2, dotF32T2avx2, dotF32T3avx2}, F16: {nil, dotF16T1avx2, dotF16T2avx2, dotF16T3avx2},
			BF16: {nil, dotBF16T1avx2, dotBF16T2avx2, dotBF16T3avx2}},
		qk:      []qkFunc{nil, attnQKr1avx2, attnQKr2avx2, attnQKr3avx2, attnQKr4avx2},
		pv16:    []pvFunc{nil, attnPV1r1avx2, attnPV1r2avx2, attnPV1r3avx2, attnPV1r4avx2},
		softmax: softmaxavx2, sumSquares: sumSquaresavx2, scaleMul: scaleMulavx2, siluMul: siluMulavx2, geluMul: geluMulavx2,
		ropePairs: ropePairsavx2, ropeHalves: ropeHalvesavx2, add: addVecavx2,
		toHalf: toHalfavx2, keyColumn: keyColumnF16C, spin: spinPause, kv: kvAVX2(),
	}
}

// ReadRoof reads all of b (at least 4 KiB) as fast as one thread can, two streams with prefetch, and uses nothing of it:
// what the memory can do, for a kernel to be held against. It returns the bytes read, 0 where there is no such kernel.
func ReadRoof(b []byte) int {
	if !cpu.X86.HasAVX2 || len(b) < 512 {
		return 0
	}
	n := len(b) / 512
	readRoof(&b[0], n, n*256)
	return n * 512
}
