// glu.cu: the gates of feed-forward.
//   swiglu(g, u, n)     g[i] = silu(g[i]) * u[i]
//   geglu(g, u, n)      g[i] = gelu(g[i]) * u[i]
// Over all n f32 elements, 256 threads an element each. Moves three rows of f32 a token.
#include "glu.cuh"

extern "C" __global__ void __launch_bounds__(256) swiglu(float* __restrict__ g, const float* __restrict__ u, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) g[i] = swiglu_of(g[i], u[i]);
}
extern "C" __global__ void __launch_bounds__(256) geglu(float* __restrict__ g, const float* __restrict__ u, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) g[i] = geglu_of(g[i], u[i]);
}
