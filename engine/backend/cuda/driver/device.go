//go:build cuda

package driver

/*
#include <stddef.h>
// Of the static shim, which is linked in place of libcuda.
const char* cushim_status(void);
// Not wrapped by gorgonia.org/cu.
int cuMemAllocHost_v2(void** p, size_t n);
int cuMemFreeHost(void* p);
int cuMemGetInfo_v2(size_t* free, size_t* total);
int cuCtxEnablePeerAccess(void* ctx, unsigned flags);
int cuDevicePrimaryCtxRetain(void** ctx, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuDeviceCanAccessPeer(int* can, int device, int peer);
int cuStreamWaitEvent(void* stream, void* event, unsigned flags);
int cuStreamBeginCapture_v2(void* stream, int mode);
int cuStreamEndCapture(void* stream, void** graph);
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags);
int cuGraphLaunch(void* exec, void* stream);
int cuGraphExecDestroy(void* exec);
int cuGraphDestroy(void* graph);
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"
)

// Ptr is an address in device memory.
type Ptr = cu.DevicePtr

// Available says why CUDA cannot be used; nil when it can.
func Available() error {
	if s := C.GoString(C.cushim_status()); s != "" {
		return errors.New(s)
	}
	n, err := cu.NumDevices()
	if err != nil {
		return fmt.Errorf("the NVIDIA driver does not tell its devices: %w", err)
	}
	if n == 0 {
		return errors.New("the NVIDIA driver shows no device")
	}
	return nil
}

// Count returns the number of devices.
func Count() (int, error) {
	if err := Available(); err != nil {
		return 0, err
	}
	return cu.NumDevices()
}

// Info describes a device.
type Info struct {
	Name         string
	Major, Minor int    // compute capability
	Driver       string // the newest CUDA version that the driver knows, "12.9"
	Memory       int64  // bytes
	SMs          int
}

// Device is a device's primary context, current on one OS thread that runs all calls given to Do.
type Device struct {
	Info
	Ordinal int
	id      cu.Device
	ctx     cu.CUContext
	work    chan func()
	gone    chan error
}

// Open takes hold of a device.
func Open(ordinal int) (*Device, error) {
	n, err := Count()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, fmt.Errorf("wanted a device below %d, found %d", n, ordinal)
	}
	id, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, fmt.Errorf("device %d: %w", ordinal, err)
	}
	d := &Device{Ordinal: ordinal, id: id, work: make(chan func()), gone: make(chan error, 1)}
	if err := d.describe(); err != nil {
		return nil, err
	}
	ready := make(chan error)
	go d.serve(ready)
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("device %d (%s): %w", ordinal, d.Name, err)
	}
	return d, nil
}

func (d *Device) describe() (err error) {
	attr := func(a cu.DeviceAttribute) int {
		v, e := d.id.Attribute(a)
		err = errors.Join(err, e)
		return v
	}
	d.Major, d.Minor = attr(cu.ComputeCapabilityMajor), attr(cu.ComputeCapabilityMinor)
	d.SMs = attr(cu.MultiprocessorCount)
	name, e1 := d.id.Name()
	mem, e2 := d.id.TotalMem()
	v := cu.Version()
	d.Name, d.Memory, d.Driver = name, mem, fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	return errors.Join(err, e1, e2)
}

// serve holds the context on a thread of its own.
func (d *Device) serve(ready chan error) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	ctx, err := d.id.RetainPrimaryCtx()
	if err == nil {
		d.ctx = ctx
		err = cu.SetCurrentContext(ctx)
	}
	ready <- err
	if err != nil {
		return
	}
	for f := range d.work {
		f()
	}
	d.gone <- d.id.ReleasePrimaryCtx()
}

// Do runs f on the device's thread and waits for it. It must not be called by f itself. A panic of f goes on in the caller.
func (d *Device) Do(f func() error) error {
	type end struct {
		err     error
		panicky any
	}
	done := make(chan end)
	d.work <- func() {
		var e end
		defer func() {
			e.panicky = recover()
			done <- e
		}()
		e.err = f()
	}
	e := <-done
	if e.panicky != nil {
		panic(e.panicky)
	}
	return e.err
}

// Close lets go of the device. What was not freed is lost.
func (d *Device) Close() error { close(d.work); return <-d.gone }

// EnablePeer lets kernels and copies of d use memory of o. Call through Do.
func (d *Device) EnablePeer(o *Device) error {
	p := *(*unsafe.Pointer)(unsafe.Pointer(&o.ctx))
	if r := C.cuCtxEnablePeerAccess(p, 0); r != 704 { // 704: already enabled
		return code("peer access", r)
	}
	return nil
}

// ReachPeer lets kernels and copies of d use memory of another device of this process directly, where the machine allows that; else
// copies between them go through the host's memory, and it returns false. Call through Do; EndPeer undoes it.
func (d *Device) ReachPeer(ordinal int) (bool, error) {
	var can C.int
	if r := C.cuDeviceCanAccessPeer(&can, C.int(d.Ordinal), C.int(ordinal)); r != 0 || can == 0 {
		return false, code("peer access", r)
	}
	var ctx unsafe.Pointer
	if r := C.cuDevicePrimaryCtxRetain(&ctx, C.int(ordinal)); r != 0 {
		return false, code("peer access", r)
	}
	if r := C.cuCtxEnablePeerAccess(ctx, 0); r != 0 && r != 704 { // 704: already enabled
		return false, errors.Join(code("peer access", r), d.EndPeer(ordinal))
	}
	return true, nil
}

// EndPeer lets go of the other device.
func (d *Device) EndPeer(ordinal int) error {
	return code("peer access", C.cuDevicePrimaryCtxRelease_v2(C.int(ordinal)))
}

// Error is a driver's refusal that gorgonia.org/cu does not put into words.
type Error int

func (e Error) Error() string {
	known := map[Error]string{2: "out of memory", 218: "the PTX is not valid for this driver", 222: "the PTX is newer than this driver", 209: "no code for this device",
		700: "illegal address", 716: "misaligned address", 719: "launch failed", 720: "too many blocks", 900: "not while a stream is captured", 901: "the capture was broken"}
	if s, ok := known[e]; ok {
		return fmt.Sprintf("CUDA error %d: %s", int(e), s)
	}
	return fmt.Sprintf("CUDA error %d", int(e))
}

func code(what string, r C.int) error {
	if r != 0 {
		return fmt.Errorf("%s: %w", what, Error(r))
	}
	return nil
}

// MemInfo returns free and all memory of the device, in bytes. Call through Do, as all below.
func MemInfo() (free, total int64, err error) {
	var f, t C.size_t
	err = code("memory of the device", C.cuMemGetInfo_v2(&f, &t))
	return int64(f), int64(t), err
}

// Alloc takes n bytes of device memory.
func Alloc(n int64) (Ptr, error) {
	p, err := cu.MemAlloc(n)
	if err != nil {
		free, total, _ := MemInfo()
		return 0, fmt.Errorf("device memory: wanted %d bytes, found %d free of %d: %w", n, free, total, err)
	}
	return p, nil
}

// Free gives memory back.
func Free(p Ptr) error { return cu.MemFree(p) }

// Pinned allocates page-locked host memory, without which no copy is asynchronous.
func Pinned(n int) ([]byte, error) {
	var p unsafe.Pointer
	if err := code(fmt.Sprintf("page-locked memory: %d bytes", n), C.cuMemAllocHost_v2(&p, C.size_t(n))); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), n), nil
}

// FreePinned gives page-locked memory back.
func FreePinned(b []byte) error {
	return code("page-locked memory", C.cuMemFreeHost(unsafe.Pointer(unsafe.SliceData(b))))
}

func size[T any](s []T) int64 { var z T; return int64(len(s)) * int64(unsafe.Sizeof(z)) }

// Upload copies s to the device and waits.
func Upload[T any](p Ptr, s []T) error {
	if len(s) == 0 {
		return nil
	}
	return cu.MemcpyHtoD(p, unsafe.Pointer(unsafe.SliceData(s)), size(s))
}

// Download fills s from the device and waits.
func Download[T any](s []T, p Ptr) error {
	if len(s) == 0 {
		return nil
	}
	return cu.MemcpyDtoH(unsafe.Pointer(unsafe.SliceData(s)), p, size(s))
}

// Stream is a queue of work on the device.
type Stream struct{ cu.Stream }

// NewStream makes a stream that does not wait for the null stream.
func NewStream() (Stream, error) { s, err := cu.MakeStream(cu.NonBlocking); return Stream{s}, err }

// UploadAsync copies s to the device; s must be page-locked and stay as it is until the stream is done.
func UploadAsync[T any](st Stream, p Ptr, s []T) error {
	if len(s) == 0 {
		return nil
	}
	return cu.MemcpyHtoDAsync(p, unsafe.Pointer(unsafe.SliceData(s)), size(s), st.Stream)
}

// DownloadAsync fills s, which must be page-locked, when the stream comes to it.
func DownloadAsync[T any](st Stream, s []T, p Ptr) error {
	if len(s) == 0 {
		return nil
	}
	return cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(s)), p, size(s), st.Stream)
}

// CopyAsync copies n bytes within the device, or from a peer's memory.
func CopyAsync(st Stream, dst, src Ptr, n int64) error { return cu.MemcpyAsync(dst, src, n, st.Stream) }

// Synchronize waits until the stream is done. An error of any work before shows here.
func (s Stream) Synchronize() error { return s.Stream.Synchronize() }

// Event is a moment in a stream.
type Event struct{ cu.Event }

// NewEvent makes an event that has a time.
func NewEvent() (Event, error) { e, err := cu.MakeEvent(cu.DefaultEvent); return Event{e}, err }

// Record puts the event into the stream.
func (e Event) Record(s Stream) error { return e.Event.Record(s.Stream) }

// Wait waits until the event has happened.
func (e Event) Wait() error { return e.Event.Synchronize() }

// Handle is the driver's name of the event, by which another thread of the process may wait for it.
func (e Event) Handle() uint64 { return *(*uint64)(unsafe.Pointer(&e.Event)) }

// WaitFor keeps what comes into the stream from now on from beginning before the event, as it was last recorded, has happened. The
// event may be another device's.
func (s Stream) WaitFor(handle uint64) error {
	return code("wait for an event", C.cuStreamWaitEvent(streamPtr(s), *(*unsafe.Pointer)(unsafe.Pointer(&handle)), 0))
}

// Since returns the ns from the event a to e, both of which have happened. The driver counts in float32 milliseconds, to
// about half a microsecond.
func (e Event) Since(a Event) (int64, error) {
	ms, err := a.Event.Elapsed(e.Event)
	return int64(ms * 1e6), err
}

// Destroy gives the event back.
func (e Event) Destroy() error { return cu.DestroyEvent(&e.Event) }

// Graph is work that was captured from a stream and can be put into one again in a single call.
type Graph struct{ exec unsafe.Pointer }

func streamPtr(s Stream) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&s.Stream)) }

// Capture notes the kernels that f launches in the stream instead of running them.
func Capture(s Stream, f func() error) (*Graph, error) {
	if err := code("capture", C.cuStreamBeginCapture_v2(streamPtr(s), 1)); err != nil { // 1: of this thread
		return nil, err
	}
	var g, x unsafe.Pointer
	err := f()
	end := code("end of capture", C.cuStreamEndCapture(streamPtr(s), &g))
	if err = errors.Join(err, end); err != nil {
		if end == nil {
			C.cuGraphDestroy(g)
		}
		return nil, err
	}
	err = code("graph", C.cuGraphInstantiateWithFlags(&x, g, 0))
	err = errors.Join(err, code("graph", C.cuGraphDestroy(g)))
	if err != nil {
		return nil, err
	}
	return &Graph{x}, nil
}

// Launch puts the graph's work into the stream.
func (g *Graph) Launch(s Stream) error {
	return code("graph launch", C.cuGraphLaunch(g.exec, streamPtr(s)))
}

// Destroy gives the graph back.
func (g *Graph) Destroy() error { return code("graph", C.cuGraphExecDestroy(g.exec)) }
