// Package driver is a safe layer over gorgonia.org/cu, which wraps the CUDA driver: a device whose calls all run on one OS
// thread, memory, streams, events, graphs, and kernel launches that are checked against the parameters of the PTX. All but
// the reading of PTX is behind the tag cuda.
//
// It does not know about models, ops or what the kernels compute.
package driver
