// matvec.cu: matrix products for few tokens: decode, and the head.
//   quantize_q14(xq, xm, x, cols)                           x [tokens][cols] f32 to codes of 14 bits in groups of 32, with scale
//                                                           and sum. A code is 256 h + l, both int8; 32 h, then 32 l a group
//   mat_vec_T(y, w, xq, xm, bias, rows, cols, tokens)       y[t][r] = w[r] · x[t] (+ bias[r]), w in quantised format T
//   mat_vec_T(y, w, x, bias, rows, cols, tokens)            the same with T = f32, f16 or bf16 and x in f32
//   mat_vec_T_x4                                            four tokens for each read of a weight
//   gate_up_swiglu_T(y, gate, up, xq, xm, rows, cols)       y = silu(gate · x) * (up · x) of one token: the two products and
//                                                           the gate in one, with the same bits as the three
// One warp a row, 128 threads; grid (rows / 4, tokens or tokens / 4). Quantised: four lanes share a group of 32 and add their
// integers, two products of int8 for each; lane group c takes groups c, c+8, c+16, ... and the eight sums meet in pairs. matmat.cu adds in the same order,
// so a token's result does not depend on how many there are. Moves the weights once for one or four tokens.
#include "glu.cuh"
#include "quant.cuh"

extern "C" __global__ void __launch_bounds__(128)
quantize_q14(int8_t* __restrict__ xq, int2* __restrict__ xm, const float* __restrict__ x, int cols) {
  const int g = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (g >= cols / 32) return;
  const size_t at = (size_t)blockIdx.y * cols + g * 32;
  const float v = x[at + lane], d = warp_max(fabsf(v)) / kInputTop;
  const int q = d > 0 ? __float2int_rn(v / d) : 0, h = (q + 128) >> 8;
  xq[2 * at + lane] = (int8_t)h;
  xq[2 * at + 32 + lane] = (int8_t)(q - 256 * h);
  int sum = q;
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0) xm[(size_t)blockIdx.y * (cols / 32) + g] = make_int2(__float_as_int(d), sum);
}

// The dot products of a row with NT tokens, whole in every lane. Tokens from n on are left out.
template <class Q, int NT> static __device__ __forceinline__ void dots(float (&acc)[NT], const uint8_t* row, const int* xq, const int2* xm, int cols, int n) {
  const int lane = threadIdx.x % 32, q = lane % 4, nb = cols / 32;
#pragma unroll
  for (int t = 0; t < NT; t++) acc[t] = 0;
  for (int b0 = 0; b0 < nb; b0 += 8) {
    const int b = b0 + lane / 4;
    const bool on = b < nb;
    const uint8_t* u = row + (size_t)(b / Q::groups) * Q::bytes;
    int lo = 0, hi = 0;
    if (on) Q::ints(u, b % Q::groups, q, lo, hi);
#pragma unroll
    for (int t = 0; t < NT; t++) {
      int s = 0;
      const bool use = on && t < n;
      if (use) {
        const int* x = xq + (size_t)t * (cols / 2) + b * 16 + q;
        s = Q::combine(u, b % Q::groups, __dp4a(lo, __ldg(x + 8), 256 * __dp4a(lo, __ldg(x), 0)), __dp4a(hi, __ldg(x + 12), 256 * __dp4a(hi, __ldg(x + 4), 0)));
      }
      s += __shfl_xor_sync(0xffffffffu, s, 1);
      s += __shfl_xor_sync(0xffffffffu, s, 2);
      if (use) {
        const int2 m = __ldg(xm + (size_t)t * nb + b);
        acc[t] = __fadd_rn(acc[t], Q::term(u, b % Q::groups, s, m.y, __int_as_float(m.x)));
      }
    }
  }
#pragma unroll
  for (int t = 0; t < NT; t++) {
#pragma unroll
    for (int o = 4; o < 32; o <<= 1) acc[t] = __fadd_rn(acc[t], __shfl_xor_sync(0xffffffffu, acc[t], o));
  }
}
template <class Q, int NT> static __device__ __forceinline__ void mat_vec(float* y, const uint8_t* w, const int* xq, const int2* xm, const float* bias, int rows, int cols, int tokens) {
  const int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, t0 = blockIdx.y * NT;
  if (r >= rows) return;
  float acc[NT];
  dots<Q, NT>(acc, w + (size_t)r * (cols / 32 / Q::groups) * Q::bytes, xq + (size_t)t0 * (cols / 2), xm + (size_t)t0 * (cols / 32), cols, tokens - t0);
  if (threadIdx.x % 32) return;
  const float b = bias ? bias[r] : 0.0f;
#pragma unroll
  for (int t = 0; t < NT; t++) if (t0 + t < tokens) y[(size_t)(t0 + t) * rows + r] = __fadd_rn(acc[t], b);
}
template <class Q> static __device__ __forceinline__ void gate_up(float* y, const uint8_t* gate, const uint8_t* up, const int* xq, const int2* xm, int rows, int cols) {
  const int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (r >= rows) return;
  const size_t at = (size_t)r * (cols / 32 / Q::groups) * Q::bytes;
  float g[1], u[1];
  dots<Q, 1>(g, gate + at, xq, xm, cols, 1);
  dots<Q, 1>(u, up + at, xq, xm, cols, 1);
  if (threadIdx.x % 32 == 0) y[r] = swiglu_of(__fadd_rn(g[0], 0.0f), __fadd_rn(u[0], 0.0f));
}
#define MAT_VEC_N(name, T, NT)                                                                                                         \
  extern "C" __global__ void __launch_bounds__(128)                                                                                    \
  mat_vec_##name(float* __restrict__ y, const uint8_t* __restrict__ w, const int* __restrict__ xq, const int2* __restrict__ xm,       \
                 const float* __restrict__ bias, int rows, int cols, int tokens) {                                                    \
    mat_vec<T, NT>(y, w, xq, xm, bias, rows, cols, tokens);                                                                            \
  }
#define GATE_UP(name, T)                                                                                                               \
  extern "C" __global__ void __launch_bounds__(128)                                                                                    \
  gate_up_swiglu_##name(float* __restrict__ y, const uint8_t* __restrict__ gate, const uint8_t* __restrict__ up,                      \
                        const int* __restrict__ xq, const int2* __restrict__ xm, int rows, int cols) {                    \
    gate_up<T>(y, gate, up, xq, xm, rows, cols);                                                                           \
  }
#define MAT_VEC(name, T) MAT_VEC_N(name, T, 1) MAT_VEC_N(name##_x4, T, 4) GATE_UP(name, T)
FOR_QUANTS(MAT_VEC)

// Plain weights: a lane takes four neighbours of every 128.
template <class F, int NT> static __device__ __forceinline__ void plain(float* y, const uint8_t* w, const float* x, const float* bias, int rows, int cols, int tokens) {
  const int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, t0 = blockIdx.y * NT, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const uint8_t* row = w + (size_t)r * cols * F::bytes;
  float acc[NT];
#pragma unroll
  for (int t = 0; t < NT; t++) acc[t] = 0;
#pragma unroll 2
  for (int i0 = lane * 4; i0 < cols; i0 += 128) {
#pragma unroll
    for (int e = 0; e < 4; e++) {
      if (i0 + e >= cols) break;
      const float v = F::at(row, i0 + e);
#pragma unroll
      for (int t = 0; t < NT; t++) if (t0 + t < tokens) acc[t] = __fmaf_rn(v, __ldg(x + (size_t)(t0 + t) * cols + i0 + e), acc[t]);
    }
  }
  const float b = bias ? bias[r] : 0.0f;
#pragma unroll
  for (int t = 0; t < NT; t++) {
    const float s = warp_sum(acc[t]);
    if (lane == 0 && t0 + t < tokens) y[(size_t)(t0 + t) * rows + r] = __fadd_rn(s, b);
  }
}
#define PLAIN_N(name, T, NT)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(128)                                                                             \
  mat_vec_##name(float* __restrict__ y, const uint8_t* __restrict__ w, const float* __restrict__ x, const float* __restrict__ bias, \
                 int rows, int cols, int tokens) {                                                                              \
    plain<T, NT>(y, w, x, bias, rows, cols, tokens);                                                                            \
  }
#define PLAIN(name, T) PLAIN_N(name, T, 1) PLAIN_N(name##_x4, T, 4)
FOR_PLAIN(PLAIN)
