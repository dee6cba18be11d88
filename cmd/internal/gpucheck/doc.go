// Command gpucheck measures the CUDA backend on one GPU in a few minutes and without a network: it makes models of random
// weights where it runs, compares them with the reference, and writes what it measured as JSON and as a table. Run by make
// gpu-check (docs/cuda.md), with the tag cuda; on the emulated driver it does the same with small shapes and leaves times out.
//
// It does not know about HTTP, tokens' texts or recordings.
package main
