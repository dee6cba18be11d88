// glu.cuh: the gates of feed-forward, one number at a time, so that fused and unfused kernels give the same bits.
#pragma once
#include "gpu.cuh"

// silu(z) * u, silu(z) = z / (1 + exp(-z)) (Shazeer 2020).
static __device__ __forceinline__ float swiglu_of(float z, float u) { return __fmul_rn(z / __fadd_rn(1.0f, expf(-z)), u); }
// gelu(z) * u in its tanh form (Hendrycks and Gimpel 2016).
static __device__ __forceinline__ float geglu_of(float z, float u) {
  const float inner = __fmul_rn(0.7978845608028654f, __fmaf_rn(__fmul_rn(__fmul_rn(0.044715f, z), z), z, z));
  return __fmul_rn(__fmul_rn(__fmul_rn(0.5f, z), __fadd_rn(1.0f, tanhf(inner))), u);
}
