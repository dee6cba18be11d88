//go:build !purego

package roof

import "golang.org/x/sys/cpu"

// Loops of independent accumulators in registers, so that nothing waits for a result or for memory (peak_amd64.s).

//go:noescape
func fmaZ(n int)

//go:noescape
func fmaY(n int)

//go:noescape
func vnniZ(n int)

//go:noescape
func maddY(n int)

// int8Peak is the fastest way of this machine to multiply 8-bit integers and add them up in 32 bits.
func int8Peak() (work, string) {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512VNNI:
		return work{vnniZ, 12 * 64 * 2}, "VPDPBUSD, 512 bits, 12 accumulators"
	case x.HasAVX2:
		return work{maddY, 8 * 32 * 2}, "VPMADDUBSW, VPMADDWD and VPADDD, 256 bits, 8 accumulators"
	}
	w, _ := plainPeaks()
	return w, "plain Go"
}

// floatPeak is the fastest way to multiply and add 32-bit floats.
func floatPeak() (work, string) {
	x := &cpu.X86
	switch {
	case x.HasAVX512F:
		return work{fmaZ, 12 * 16 * 2}, "VFMADD231PS, 512 bits, 12 accumulators"
	case x.HasFMA && x.HasAVX2:
		return work{fmaY, 12 * 8 * 2}, "VFMADD231PS, 256 bits, 12 accumulators"
	}
	_, w := plainPeaks()
	return w, "plain Go"
}
