// rope.cu: positions turn queries and keys (Su et al. 2021).
//   rope_table(cs, pos, freq, n, half, scale)    cs[t][i] = (cos, sin)(pos[t] * freq[i]) * scale, in float64 inside
//   rope(q, k, cs, n, heads, kv_heads, dim, half, halves)
// q [n][heads][dim], k [n][kv_heads][dim] f32 turned in place; pair i of a head is (i, i+half) if halves, as in NeoX, else
// (2i, 2i+1), as in llama. A thread a pair, 128 threads. Moves q and k twice.
#include "gpu.cuh"

extern "C" __global__ void __launch_bounds__(128)
rope_table(float2* __restrict__ cs, const int* __restrict__ pos, const double* __restrict__ freq, int n, int half, double scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * half) return;
  double s, c;
  sincos((double)pos[i / half] * freq[i % half], &s, &c);
  cs[i] = make_float2((float)(c * scale), (float)(s * scale));
}
extern "C" __global__ void __launch_bounds__(128)
rope(float* __restrict__ q, float* __restrict__ k, const float2* __restrict__ cs, int n, int heads, int kv_heads, int dim, int half, int halves) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const int all = heads + kv_heads, pair = (int)(i % half), h = (int)(i / half % all);
  const long long t = i / half / all;
  if (t >= n) return;
  float* x = h < heads ? q + (t * heads + h) * dim : k + (t * kv_heads + h - heads) * dim;
  const int a = halves ? pair : 2 * pair, b = halves ? pair + half : 2 * pair + 1;
  const float2 r = cs[t * half + pair];
  const float u = x[a], v = x[b];
  x[a] = __fsub_rn(__fmul_rn(u, r.x), __fmul_rn(v, r.y));
  x[b] = __fadd_rn(__fmul_rn(u, r.y), __fmul_rn(v, r.x));
}
