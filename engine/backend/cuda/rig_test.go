//go:build cuda

package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/tensor"
	"glassbox/engine/testmodel"
	"glassbox/trace"
)

// TestMain lets a test run itself as a process of its own: with OPEN_CUDA set it opens a backend and prints how that went.
func TestMain(m *testing.M) {
	if os.Getenv("OPEN_CUDA") == "" {
		os.Exit(m.Run())
	}
	t := &testing.T{}
	g := tinyModel(t, testmodel.Spec{}).Graph
	be, err := Open(g, backend.Options{MaxTokens: 8, MaxOut: 1, MaxScores: 1 << 12, Pages: 2})
	if err == nil {
		fmt.Println("opened", be.Device().Name)
		err = be.Close()
	}
	fmt.Println("error:", err)
	os.Exit(0)
}

// rig is a device with the kernels, for tests of one kernel.
type rig struct {
	*Backend
	t   testing.TB
	rnd *rand.Rand
}

// onRig runs f with a rig on the device's thread. Its memory is given back at the end.
func onRig(t testing.TB, f func(r *rig)) {
	dev, err := driver.Open(0)
	require.NoError(t, err)
	r := &rig{Backend: &Backend{dev: dev, k: map[string]*driver.Kernel{}, names: map[string]trace.KernelID{}, graphs: map[shape]*replay{}}, t: t, rnd: rand.New(rand.NewPCG(1, 2))}
	// A failed require ends its goroutine, so it must not be the device's.
	var failed any
	err = dev.Do(func() error {
		st, err := driver.NewStream()
		if err != nil {
			return err
		}
		r.st = st
		if err := r.loadKernels(); err != nil {
			return err
		}
		defer func() {
			if failed = recover(); failed != nil {
				r.lost = fmt.Errorf("the test ended")
			}
		}()
		f(r)
		return nil
	})
	require.NoError(t, err)
	if failed != nil {
		t.Fatal(failed)
	}
	require.NoError(t, r.Close())
}

// must ends the test from the device's thread.
func (r *rig) must(err error) {
	if err != nil {
		panic(err.Error())
	}
}

func up[T any](r *rig, s []T) driver.Ptr {
	var z T
	p, err := r.alloc(int64(len(s)) * int64(sizeOf(z)))
	r.must(err)
	r.must(driver.Upload(p, s))
	return p
}

func sizeOf(v any) int {
	switch v.(type) {
	case byte, int8:
		return 1
	case uint16:
		return 2
	case int64, float64, [2]int32:
		return 8
	case unit:
		return 16
	}
	return 4
}

func (r *rig) room(n int) driver.Ptr {
	p, err := r.alloc(int64(4 * n))
	r.must(err)
	return p
}

func down[T any](r *rig, p driver.Ptr, n int) []T {
	r.must(r.st.Synchronize())
	s := make([]T, n)
	r.must(driver.Download(s, p))
	return s
}

func (r *rig) normals(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.rnd.NormFloat64())
	}
	return x
}

// weight returns random weights as stored, and as numbers.
func (r *rig) weight(ty tensor.Type, rows, cols int) (data []byte, vals []float32) {
	data, vals = make([]byte, rows*ty.RowBytes(cols)), make([]float32, rows*cols)
	if ty != tensor.Q4_K && ty != tensor.Q5_K && ty != tensor.Q6_K {
		r.must(tensor.Quantize(ty, data, r.normals(rows*cols)))
	} else { // there is no quantiser for these: random bytes with small scales are as good
		for i := range data {
			data[i] = byte(r.rnd.Uint32())
		}
		put := func(at int, f float32) {
			h := tensor.F32ToF16(f)
			data[at], data[at+1] = byte(h), byte(h>>8)
		}
		for o := 0; o < len(data); o += ty.BlockBytes() {
			if ty == tensor.Q6_K {
				put(o+208, 0.0008)
				continue
			}
			put(o, 0.004)
			put(o+2, 0.03)
		}
	}
	r.must(tensor.Dequant(ty, vals, data))
	return data, vals
}

// near fails unless got is want but for tol of the largest wanted number.
func (r *rig) near(what string, got, want []float32, tol float64) {
	if len(got) != len(want) {
		panic(fmt.Sprintf("%s: %d numbers, wanted %d", what, len(got), len(want)))
	}
	top, worst, at := 1e-9, 0.0, 0
	for i := range want {
		top = max(top, math.Abs(float64(want[i])))
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= worst) {
			worst, at = d, i
		}
	}
	if !(worst <= tol*top) {
		panic(fmt.Sprintf("%s: element %d: found %g, wanted %g (of at most %g)", what, at, got[at], want[at], top))
	}
}

// same fails unless the bits are the same.
func (r *rig) same(what string, got, want []float32) {
	if len(got) != len(want) {
		panic(fmt.Sprintf("%s: %d numbers, wanted %d", what, len(got), len(want)))
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			panic(fmt.Sprintf("%s: element %d: found %g, wanted the bits of %g", what, i, got[i], want[i]))
		}
	}
}
