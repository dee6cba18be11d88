// Package cuda runs a graph on an NVIDIA GPU: weights as stored in device memory, activations in float32, matrix products of
// quantised weights in int8 (tensor cores for many tokens), a KV cache in pages, and one kernel of package kernels for each
// op, or for several where that is faster. All but this comment and Open's refusal is behind the tag cuda (docs/cuda.md).
//
// It does not know about requests, sampling or model files; nor about the driver's API, which package driver has.
package cuda
