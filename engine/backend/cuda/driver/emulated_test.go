//go:build cuda

package driver

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"gorgonia.org/cu"
)

// These tests are for the emulated driver: that it catches what is wrong, and that it keeps the promises of streams, events
// and devices. emulator/faulty.cu has the wrong kernels.

var null Stream

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// on runs f with device i current on this goroutine's own thread, so that t.Fatal (which ends the goroutine) is safe inside.
func on(t testing.TB, i int, f func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	must(t, Available())
	id, err := cu.GetDevice(i)
	must(t, err)
	ctx, err := id.RetainPrimaryCtx()
	must(t, err)
	must(t, cu.SetCurrentContext(ctx))
	defer func() {
		must(t, id.ReleasePrimaryCtx())
		must(t, cu.SetCurrentContext(cu.CUContext{}))
	}()
	f()
}

func up[T any](t testing.TB, s []T) Ptr {
	t.Helper()
	p, err := Alloc(size(s))
	must(t, err)
	must(t, Upload(p, s))
	return p
}

func room(t testing.TB, n int64) Ptr {
	t.Helper()
	p, err := Alloc(n)
	must(t, err)
	return p
}

func free(t testing.TB, ps ...Ptr) {
	t.Helper()
	for _, p := range ps {
		must(t, Free(p))
	}
}

func ptxOf(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

func named(t testing.TB, ptx, name string) *Kernel {
	t.Helper()
	m, err := Load(name, ptx)
	must(t, err)
	k, err := m.Kernel(name)
	must(t, err)
	return k
}

func faulty(t testing.TB, name string) *Kernel {
	return named(t, ptxOf(t, "../emulator/faulty.ptx"), name)
}

func TestTwoDevices(t *testing.T) {
	a, err := Open(0)
	must(t, err)
	b, err := Open(1)
	must(t, err)
	var p Ptr
	x := []float32{1, 2, 3, 4}
	must(t, a.Do(func() error { p = up(t, x); return nil }))
	must(t, b.Do(func() error {
		q := room(t, 16)
		if cu.MemcpyDtoD(q, p, 16) == nil {
			t.Error("copied across devices without peer access")
		}
		must(t, b.EnablePeer(a))
		must(t, b.EnablePeer(a)) // again: no error
		y := make([]float32, 4)
		must(t, cu.MemcpyDtoD(q, p, 16))
		must(t, Download(y, q))
		for i := range x {
			if x[i] != y[i] {
				t.Errorf("copied %v, found %v", x, y)
			}
		}
		// The sum over two devices: each adds the other's numbers.
		k := named(t, ptxOf(t, "../kernels/ptx/reduce.ptx"), "all_reduce_add")
		must(t, k.Launch(null, Shape{Grid: [3]int{1}, Block: 256}, q, p, 4))
		must(t, Download(y, q))
		if y[3] != 8 {
			t.Errorf("the sum of 4 and 4 on two devices: %g", y[3])
		}
		free(t, q)
		return nil
	}))
	must(t, a.Do(func() error { free(t, p); return nil }))
	must(t, b.Close())
	must(t, a.Close())
}

func TestCapturedWorkIsDoneWhenItIsReplayed(t *testing.T) {
	on(t, 0, func() {
		s, err := NewStream()
		must(t, err)
		k := named(t, ptxOf(t, "../kernels/ptx/norm.ptx"), "add")
		x, b := up(t, []float32{1, 2}), up(t, []float32{10, 20})
		g, err := Capture(s, func() error { return k.Launch(s, Shape{Grid: [3]int{1}, Block: 256}, x, b, 2) })
		must(t, err)
		look := func(want float32) {
			t.Helper()
			must(t, s.Synchronize())
			y := make([]float32, 2)
			must(t, Download(y, x))
			if y[1] != want {
				t.Errorf("found %g, wanted %g", y[1], want)
			}
		}
		look(2)
		must(t, g.Launch(s))
		must(t, g.Launch(s))
		look(42)
		must(t, g.Destroy())
		if _, err := Capture(s, s.Synchronize); err == nil {
			t.Error("waiting while capturing is no error")
		}
		free(t, x, b)
		must(t, s.Destroy())
	})
}

// TestStreams: order within a stream, events across streams, real asynchrony.
func TestStreams(t *testing.T) {
	on(t, 0, func() {
		k := faulty(t, "spin")
		s1, _ := cu.MakeStream(cu.NonBlocking)
		s2, _ := cu.MakeStream(cu.NonBlocking)
		e, _ := cu.MakeEvent(cu.DisableTiming)
		p, q := room(t, 4), room(t, 4)
		host, err := Pinned(4)
		must(t, err)
		must(t, k.Launch(Stream{s1}, Shape{Grid: [3]int{1}, Block: 1}, p, int32(5000000)))
		must(t, e.Record(s1))
		must(t, s2.Wait(e, 0))
		must(t, cu.MemcpyDtoDAsync(q, p, 4, s2))
		must(t, cu.MemcpyDtoHAsync(unsafe.Pointer(&host[0]), q, 4, s2))
		if e.Query() == nil || s2.Query() == nil {
			t.Error("nothing was asynchronous")
		}
		must(t, s2.Synchronize())
		must(t, s1.Query())
		if f := *(*float32)(unsafe.Pointer(&host[0])); f < 9e6 || f > 1.1e7 {
			t.Errorf("result %g", f)
		}
		must(t, FreePinned(host))
		free(t, p, q)
		must(t, s1.Destroy())
		must(t, s2.Destroy())
		must(t, cu.DestroyEvent(&e))
	})
}

// caught runs f on a fresh context and demands an error and a message.
func caught(t *testing.T, name, message string, f func(t *testing.T) error) {
	t.Run(name, func(t *testing.T) {
		log := filepath.Join(t.TempDir(), "log")
		os.Setenv("CUEMU_LOG", log) // C getenv sees it: cgo programs share the environment
		os.Setenv("CUEMU_LEAK_ABORT", "0")
		defer os.Unsetenv("CUEMU_LOG")
		var err error
		on(t, 0, func() { err = f(t) })
		b, _ := os.ReadFile(log)
		if err == nil || !strings.Contains(err.Error()+string(b), message) {
			t.Fatalf("not caught: error %v, log %s", err, b)
		}
		t.Logf("%v: %s", err, strings.SplitN(string(b), "\n", 2)[0])
	})
}

func launchBad(t *testing.T, name string, threads int, args ...any) error {
	k := faulty(t, name)
	if err := k.Launch(null, Shape{Grid: [3]int{1}, Block: threads}, args...); err != nil {
		return err
	}
	return cu.Synchronize()
}

func TestCaught(t *testing.T) {
	f256 := make([]float32, 256)
	caught(t, "one past the end, in the slack", "wrote out of bounds", func(t *testing.T) error { return launchBad(t, "bad_oob", 64, room(t, 4*63), int32(63)) })
	caught(t, "one past the end, at the page", "invalid write", func(t *testing.T) error { return launchBad(t, "bad_oob", 65, room(t, 4*64), int32(64)) })
	caught(t, "far", "in no device allocation", func(t *testing.T) error { return launchBad(t, "bad_far", 1, room(t, 64)) })
	caught(t, "use after free in argument", "FREED", func(t *testing.T) error {
		p := room(t, 1024)
		free(t, p)
		return launchBad(t, "bad_oob", 32, p, int32(100))
	})
	caught(t, "use after free inside the kernel", "invalid read", func(t *testing.T) error {
		p := room(t, 1024)
		table := up(t, []cu.DevicePtr{p})
		free(t, p)
		return launchBad(t, "bad_indirect", 1, room(t, 4), table)
	})
	caught(t, "double free", "double free", func(t *testing.T) error { p := room(t, 1024); free(t, p); return cu.MemFree(p) })
	caught(t, "host pointer", "not live device memory", func(t *testing.T) error {
		return launchBad(t, "bad_oob", 32, cu.DevicePtr(uintptr(unsafe.Pointer(&f256[0]))), int32(100))
	})
	caught(t, "copy too long", "256 bytes at", func(t *testing.T) error {
		return cu.MemcpyHtoD(room(t, 64), unsafe.Pointer(&f256[0]), 256)
	})
	caught(t, "missing barrier", "order of threads", func(t *testing.T) error { return launchBad(t, "bad_no_barrier", 256, room(t, 1024), up(t, f256)) })
	caught(t, "missing barrier hidden in order", "order of threads", func(t *testing.T) error { return launchBad(t, "bad_hidden", 256, room(t, 1024), up(t, f256)) })
	caught(t, "divergent barrier", "divergent", func(t *testing.T) error { return launchBad(t, "bad_divergent", 64, room(t, 1024)) })
	caught(t, "wrong shuffle mask", "different warp intrinsics", func(t *testing.T) error { return launchBad(t, "bad_shuffle", 32, room(t, 1024)) })
	caught(t, "no dynamic shared", "invalid write", func(t *testing.T) error { return launchBad(t, "bad_dynshared", 32, room(t, 1024)) })
	caught(t, "misaligned", "sanitiser trap", func(t *testing.T) error { return launchBad(t, "bad_misaligned", 32, room(t, 1024), room(t, 2048)) })
	caught(t, "static shared index", "sanitiser trap", func(t *testing.T) error { return launchBad(t, "bad_index", 32, room(t, 1024), int32(1)) })
	caught(t, "too many threads", "launch_bounds", func(t *testing.T) error {
		k := named(t, ptxOf(t, "../kernels/ptx/matvec.ptx"), "mat_vec_f32")
		p := room(t, 64)
		return k.Launch(null, Shape{Grid: [3]int{1}, Block: 256}, p, p, p, p, int32(0), int32(32), int32(1))
	})
	caught(t, "argument count in Go", "3 arguments, 2 expected", func(t *testing.T) error { return launchBad(t, "bad_index", 32, room(t, 64), int32(1), int32(1)) })
	for _, n := range []int{1, 4, 5, 9} { // mat_vec_f32 has 7, bad_index 2
		caught(t, "argument count in the driver", "expected", func(t *testing.T) error {
			k := faulty(t, "bad_index")
			if n > 4 {
				k = named(t, ptxOf(t, "../kernels/ptx/matvec.ptx"), "mat_vec_f32")
			}
			v := make([]uint64, n)
			p := make([]unsafe.Pointer, n)
			for i := range p {
				p[i] = unsafe.Pointer(&v[i])
			}
			return k.fn.Launch(1, 1, 1, 32, 1, 1, 0, cu.NoStream, p)
		})
	}
	caught(t, "argument size", "4 bytes, the PTX says 8", func(t *testing.T) error { return launchBad(t, "bad_far", 1, int32(1)) })
	caught(t, "dynamic shared above 48 KB", "dynamic shared", func(t *testing.T) error {
		k := faulty(t, "bad_dynshared")
		k2 := faulty(t, "bad_dynshared")
		must(t, k.Launch(null, Shape{Grid: [3]int{1}, Block: 32, Shared: 64 << 10}, room(t, 1024)))
		return cu.Function.Launch(k2.fn, 1, 1, 1, 32, 1, 1, 64<<10, cu.NoStream, []unsafe.Pointer{unsafe.Pointer(new(uint64))})
	})
	caught(t, "sticky error", "illegal", func(t *testing.T) error {
		launchBad(t, "bad_far", 1, room(t, 64))
		_, err := cu.MemAlloc(64)
		if err != nil && strings.Contains(err.Error(), "Illegal") {
			t.Log("illegal: sticky as on a device")
			os.WriteFile(os.Getenv("CUEMU_LOG"), []byte("illegal"), 0o644)
		}
		return err
	})
	caught(t, "no context on this thread", "current", func(t *testing.T) error {
		res := make(chan error)
		go func() { _, err := cu.MemAlloc(64); res <- err }()
		return <-res
	})
	caught(t, "unsupported function", "cuMemAllocPitch_v2 is not implemented", func(t *testing.T) error { _, _, err := cu.MemAllocPitch(64, 4, 4); return err })
	caught(t, "PTX for a newer device", "compute capability", func(t *testing.T) error {
		_, err := Load("q8", strings.Replace(ptxOf(t, "../kernels/ptx/norm.ptx"), ".target sm_80", ".target sm_120", 1))
		return err
	})
	caught(t, "PTX newer than the driver", "newer than driver", func(t *testing.T) error {
		_, err := Load("q8", strings.Replace(ptxOf(t, "../kernels/ptx/norm.ptx"), ".version 7.8", ".version 99.0", 1))
		return err
	})
}

func TestLeaksAreFound(t *testing.T) {
	for what, leak := range map[string]func(){
		"allocation": func() { room(t, 64) },
		"stream":     func() { _, err := NewStream(); must(t, err) },
		"event":      func() { _, err := NewEvent(); must(t, err) },
	} {
		log := filepath.Join(t.TempDir(), "log")
		os.Setenv("CUEMU_LOG", log)
		os.Setenv("CUEMU_LEAK_ABORT", "0")
		on(t, 0, leak)
		os.Unsetenv("CUEMU_LOG")
		b, _ := os.ReadFile(log)
		if !strings.Contains(string(b), "leak: a") || !strings.Contains(string(b), what) {
			t.Errorf("%s: not found: %s", what, b)
		}
	}
}

func TestNilStillPanics(t *testing.T) { // the emulator's handler of faults hands Go's on
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var p *int
	*p = 1
}
