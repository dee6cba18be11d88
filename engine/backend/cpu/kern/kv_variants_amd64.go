//go:build amd64 && !purego

package kern

func kvAVX512() kvKernels {
	return kvKernels{
		qk:    []qkFunc{nil, attnQKFr1, attnQKFr2, attnQKFr3, attnQKFr4, attnQKFr5, attnQKFr6},
		pv16:  []pvFunc{nil, attnPVF1r1, attnPVF1r2, attnPVF1r3, attnPVF1r4, attnPVF1r5, attnPVF1r6},
		pv32:  []pvFunc{nil, attnPVF2r1, attnPVF2r2, attnPVF2r3, attnPVF2r4, attnPVF2r5, attnPVF2r6},
		pv64:  []pvFunc{nil, attnPVF4r1, attnPVF4r2, attnPVF4r3, attnPVF4r4, attnPVF4r5, attnPVF4r6},
		keyQ8: keyQ8, keyQ4: keyQ4, rowQ8: rowQ8, rowQ4: rowQ4,
	}
}

func kvAVX2() kvKernels {
	return kvKernels{
		qk:    []qkFunc{nil, attnQKFr1avx2, attnQKFr2avx2, attnQKFr3avx2, attnQKFr4avx2},
		pv16:  []pvFunc{nil, attnPVF1r1avx2, attnPVF1r2avx2, attnPVF1r3avx2, attnPVF1r4avx2},
		keyQ8: keyQ8avx2, keyQ4: keyQ4avx2, rowQ8: rowQ8avx2, rowQ4: rowQ4avx2,
	}
}
