// matmat.cu: matrix products for many tokens (prefill) on the tensor cores, in int8.
//   mat_mat_T(y, w, xq, xm, bias, rows, cols, tokens)     y[t][r] = w[r] · x[t] (+ bias[r]), x as quantize_q14 makes it
// A block makes 32 rows x 32 tokens, grid (rows / 32, tokens / 32), 256 threads. Its eight warps take the groups of 32 columns
// in turn, warp c groups c, c+8, c+16, ...: the lane groups of mat_vec. Weights go from memory into registers as int8, two mma
// (high and low halves of x) make the integers of 16 rows x 8 tokens x 32 columns, each is scaled and added; the eight sums meet in pairs at the end,
// through shared memory. Integers are exact, so the bits are mat_vec's. Moves the weights once for 32 tokens.
#include "quant.cuh"

template <class Q> static __device__ __forceinline__ void mat_mat(float* y, const uint8_t* w, const int* xq, const int2* xm, const float* bias, int rows, int cols, int tokens) {
  __shared__ float part[8][32][33];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4, nb = cols / 32;
  const int r0 = blockIdx.x * 32, t0 = blockIdx.y * 32;
  const size_t ld = (size_t)(nb / Q::groups) * Q::bytes;
  float acc[2][4][4];
#pragma unroll
  for (int m = 0; m < 2; m++)
#pragma unroll
    for (int n = 0; n < 4; n++)
#pragma unroll
      for (int i = 0; i < 4; i++) acc[m][n][i] = 0;
  for (int b = warp; b < nb; b += 8) {
    const int j = b % Q::groups;
    int x[4][4];  // high halves, low halves
    int2 meta[4][2];
#pragma unroll
    for (int n = 0; n < 4; n++) {
      const int t = min(t0 + 8 * n + g, tokens - 1);  // beyond the last: computed and thrown away
#pragma unroll
      for (int i = 0; i < 4; i++) x[n][i] = __ldg(xq + (size_t)t * (cols / 2) + b * 16 + 4 * i + q);
#pragma unroll
      for (int i = 0; i < 2; i++) meta[n][i] = __ldg(xm + (size_t)min(t0 + 8 * n + 2 * q + i, tokens - 1) * nb + b);
    }
#pragma unroll
    for (int m = 0; m < 2; m++) {
      const uint8_t* u[2];
      int lo[2], hi[2];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        u[i] = w + (size_t)min(r0 + 16 * m + 8 * i + g, rows - 1) * ld + (size_t)(b / Q::groups) * Q::bytes;
        Q::ints(u[i], j, q, lo[i], hi[i]);
      }
#pragma unroll
      for (int n = 0; n < 4; n++) {
        int c[4] = {0, 0, 0, 0};
        if (Q::halves) {
          int d[4] = {0, 0, 0, 0};
          mma_s8_half(c, lo[0], lo[1], x[n][0]);
          mma_s8_half(d, hi[0], hi[1], x[n][1]);
#pragma unroll
          for (int i = 0; i < 4; i++) { c[i] *= 256; d[i] *= 256; }
          mma_s8_half(c, lo[0], lo[1], x[n][2]);
          mma_s8_half(d, hi[0], hi[1], x[n][3]);
#pragma unroll
          for (int i = 0; i < 4; i++) c[i] = Q::combine(u[i / 2], j, c[i], d[i]);
        } else {
          mma_s8(c, lo[0], lo[1], hi[0], hi[1], x[n][0], x[n][1]);
#pragma unroll
          for (int i = 0; i < 4; i++) c[i] *= 256;
          mma_s8(c, lo[0], lo[1], hi[0], hi[1], x[n][2], x[n][3]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) acc[m][n][i] = __fadd_rn(acc[m][n][i], Q::term(u[i / 2], j, c[i], meta[n][i % 2].y, __int_as_float(meta[n][i % 2].x)));
      }
    }
  }
#pragma unroll
  for (int m = 0; m < 2; m++)
#pragma unroll
    for (int n = 0; n < 4; n++)
#pragma unroll
      for (int i = 0; i < 4; i++) part[warp][8 * n + 2 * q + i % 2][16 * m + 8 * (i / 2) + g] = acc[m][n][i];
  __syncthreads();
  for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) {
    const int t = i / 32, r = i % 32;
    if (t0 + t >= tokens || r0 + r >= rows) continue;
    float s[4];
#pragma unroll
    for (int k = 0; k < 4; k++) s[k] = __fadd_rn(part[2 * k][t][r], part[2 * k + 1][t][r]);
    y[(size_t)(t0 + t) * rows + r0 + r] = __fadd_rn(__fadd_rn(__fadd_rn(s[0], s[1]), __fadd_rn(s[2], s[3])), bias ? bias[r0 + r] : 0.0f);
  }
}
#define MAT_MAT(name, T)                                                                                                         \
  extern "C" __global__ void __launch_bounds__(256, 1)                                                                           \
  mat_mat_##name(float* __restrict__ y, const uint8_t* __restrict__ w, const int* __restrict__ xq, const int2* __restrict__ xm, \
                 const float* __restrict__ bias, int rows, int cols, int tokens) {                                              \
    mat_mat<T>(y, w, xq, xm, bias, rows, cols, tokens);                                                                          \
  }
FOR_QUANTS(MAT_MAT)
