//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cuda/driver"
	"glassbox/engine/backend/cuda/kernels"
	"glassbox/engine/graph"
	"glassbox/engine/kv"
	"glassbox/engine/tensor"
	"glassbox/trace"
)

// Kinds of device that recordings name.
const (
	kindCUDA     = "cuda"
	kindEmulated = "emulated" // the driver of the emulator folder: right numbers, times that mean nothing
)

// Backend implements backend.Backend.
type Backend struct {
	g     *graph.Graph
	o     backend.Options
	opts  features
	dev   *driver.Device
	st    driver.Stream
	k     map[string]*driver.Kernel
	names map[string]trace.KernelID // of the kernels

	held    []driver.Ptr // device memory to give back
	pinned  [][]byte     // host memory to give back
	weights map[*graph.Weight]driver.Ptr
	bufs    []driver.Ptr // by graph.Buf; PerKey: see scores
	scores  grown        // floats of the PerKey buffer
	parts   grown        // of attention that is split over keys
	x8, xm  driver.Ptr   // the rounded input of the matrix products at hand: two int8 a number; scale and sum of each 32
	cache   driver.Ptr   // pages.cuh
	kv      backend.KV   // its number formats
	in      input

	plain, fused []step        // a step a node; with several nodes in one
	fusedAt      map[int]*step // by the last of its nodes: fused attention
	events       []driver.Event
	graphs       map[shape]*replay

	sumBy string     // of a shard: how the group sums up
	sum   collective // once it has met

	batch  *backend.Batch
	logits []float32 // page-locked, of the last pass
	mirror mirror    // what Tap reads and writes
	lost   error     // of the device: nothing goes on after it
	log    callLog
}

// grown is device memory that grows with what passes need.
type grown struct {
	p driver.Ptr
	n int64 // bytes
}

// The formats of the KV cache that there are kernels for.
var (
	kvF16  = backend.KV{Keys: tensor.F16, Values: tensor.F16}
	kvQ8Q4 = backend.KV{Keys: tensor.Q8_0, Values: tensor.Q4_0}
)

// kvName is the cache's format in the names of kernels.
func (b *Backend) kvName() string {
	if b.kv == kvQ8Q4 {
		return "q8q4"
	}
	return "f16"
}

// features are what Options.Features asks for.
type features struct {
	unfused bool // a kernel an op, always
	noMMA   bool // no tensor cores
	noGraph bool // no replay
}

func parseFeatures(s string) (features, error) {
	var f features
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) {
		switch w {
		case "unfused":
			f.unfused = true
		case "no-mma":
			f.noMMA = true
		case "no-graph":
			f.noGraph = true
		default:
			return f, fmt.Errorf("cuda: features: wanted some of unfused, no-mma, no-graph, found %q", w)
		}
	}
	return f, nil
}

// Open takes hold of the first device, a shard of that of its rank (CUDA_VISIBLE_DEVICES chooses), loads the kernels and puts the weights into its memory.
func Open(g *graph.Graph, o backend.Options) (backend.Backend, error) {
	f, err := parseFeatures(o.Features)
	if err != nil {
		return nil, err
	}
	if a := g.Attn; a.HeadDim%2 != 0 || a.HeadDim > 256 {
		return nil, fmt.Errorf("cuda: heads of %d numbers: wanted an even number up to 256: choose --backend cpu", a.HeadDim)
	}
	types, err := o.KV.Or(kvF16, g.Attn.HeadDim)
	if err != nil {
		return nil, err
	}
	if types != kvF16 && types != kvQ8Q4 {
		return nil, fmt.Errorf("kv-type: wanted %s or %s, found %s: this backend has no other", kvF16, kvQ8Q4, types)
	}
	ordinal, sumBy := 0, ""
	if o.Group != nil && o.Group.Size() > 1 {
		ordinal = o.Group.Rank()
		if n, err := driver.Count(); err == nil && n < o.Group.Size() {
			return nil, fmt.Errorf("cuda: wanted a device for each of %d shards, found %d: choose fewer --shards", o.Group.Size(), n)
		}
		if sumBy, err = chooseSum(o); err != nil {
			return nil, fmt.Errorf("cuda: %w", err)
		}
	}
	dev, err := driver.Open(ordinal)
	if err != nil {
		return nil, fmt.Errorf("cuda: %w: choose --backend cpu, or see docs/cuda.md", err)
	}
	b := &Backend{g: g, o: o, opts: f, kv: types, dev: dev, sumBy: sumBy, k: map[string]*driver.Kernel{}, names: map[string]trace.KernelID{}, weights: map[*graph.Weight]driver.Ptr{}, graphs: map[shape]*replay{}}
	if err := dev.Do(b.load); err != nil {
		return nil, errors.Join(fmt.Errorf("cuda: %s: %w", dev.Name, err), b.Close())
	}
	return b, nil
}

// load makes everything ready on the device.
func (b *Backend) load() error {
	if b.dev.Major < 8 {
		return fmt.Errorf("wanted compute capability 8.0 or more, found %d.%d: choose --backend cpu", b.dev.Major, b.dev.Minor)
	}
	if err := b.fits(); err != nil {
		return err
	}
	var err error
	if b.st, err = driver.NewStream(); err != nil {
		return err
	}
	for _, f := range []func() error{b.loadKernels, b.loadWeights, b.makeBuffers, b.makeSteps} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// loadKernels has the driver compile the PTX.
func (b *Backend) loadKernels() error {
	files, err := fs.Glob(kernels.PTX, "ptx/*.ptx")
	if err != nil {
		return err
	}
	for _, name := range files {
		text, err := kernels.PTX.ReadFile(name)
		if err != nil {
			return err
		}
		m, err := driver.Load(name, string(text))
		if err != nil {
			return fmt.Errorf("%w: the driver knows CUDA %s, wanted 11.8 or later: update it, or choose --backend cpu", err, b.dev.Driver)
		}
		for entry := range m.Entries() {
			if b.k[entry], err = m.Kernel(entry); err != nil {
				return err
			}
			b.names[entry] = trace.Kernel(entry)
		}
	}
	return nil
}

// Name is "cuda".
func (b *Backend) Name() string { return "cuda" }

// Device describes the GPU.
func (b *Backend) Device() backend.Device {
	kind := kindCUDA
	if b.dev.Name == "Emulated device" {
		kind = kindEmulated
	}
	f := []string{fmt.Sprintf("sm_%d%d", b.dev.Major, b.dev.Minor), fmt.Sprintf("%d MiB", b.dev.Memory>>20)}
	if b.sumBy != "" {
		f = append(f, "all-reduce "+b.sumBy)
	}
	return backend.Device{Kind: kind, Name: b.dev.Name, Driver: "driver for CUDA " + b.dev.Driver, Threads: 1, Features: append(f, slices.DeleteFunc(strings.Split(b.o.Features, ","), func(s string) bool { return s == "" })...)}
}

// KV is what the cache was made for.
func (b *Backend) KV() backend.KV { return b.kv }

// pageBytes is the size of a page of one head in one layer: its keys, then its values.
func (b *Backend) pageBytes() int64 {
	d := b.g.Attn.HeadDim
	return int64(kv.PageTokens * (b.kv.Keys.RowBytes(d) + b.kv.Values.RowBytes(d)))
}

// layerBytes is the size of the KV cache of one layer.
func (b *Backend) layerBytes() int64 {
	return b.pageBytes() * int64(b.o.Pages) * int64(b.g.Attn.KVHeads)
}

// Close gives back what is held and lets go of the device.
func (b *Backend) Close() error {
	if b.dev == nil {
		return nil
	}
	err := b.dev.Do(func() error {
		var errs []error
		if b.sum != nil {
			errs = append(errs, b.sum.close(b))
		}
		for _, r := range b.graphs {
			if r.g != nil {
				errs = append(errs, r.g.Destroy())
			}
		}
		for _, e := range b.events {
			errs = append(errs, e.Destroy())
		}
		for _, p := range append(b.held, b.scores.p, b.parts.p, b.in.tables.p) {
			if p != 0 {
				errs = append(errs, driver.Free(p))
			}
		}
		for _, p := range b.pinned {
			errs = append(errs, driver.FreePinned(p))
		}
		if b.st != (driver.Stream{}) {
			errs = append(errs, b.st.Destroy())
		}
		return errors.Join(errs...)
	})
	if b.lost != nil { // everything fails after that, which was told before
		err = nil
	}
	err = errors.Join(err, b.dev.Close())
	b.dev = nil
	if err != nil {
		return fmt.Errorf("cuda: giving back the device: %w", err)
	}
	return nil
}
