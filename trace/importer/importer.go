// Package importer reads what other programs measured: profiles in Chrome's trace JSON as PyTorch's profiler writes them,
// OpenTelemetry spans, and the timings of llama.cpp's server.
//
// It does not know about engines, catalogues, HTTP or pages.
package importer
