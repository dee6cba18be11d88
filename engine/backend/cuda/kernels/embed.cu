// embed.cu: rows of the embedding matrix.
//   embed_T(out, w, tokens, cols, scale)
// out [tokens][cols] f32 = row tokens[t] of w, as stored in format T, times scale.
// Grid (tokens), 128 threads. Moves one stored row and one row of f32 a token.
#include "quant.cuh"

template <class Q> static __device__ __forceinline__ void embed_quant(float* out, const uint8_t* w, const int* tokens, int cols, float scale) {
  const uint8_t* row = w + (size_t)tokens[blockIdx.x] * (cols / 32 / Q::groups) * Q::bytes;
  float* o = out + (size_t)blockIdx.x * cols;
  const int q = threadIdx.x % 4;
  for (int g = threadIdx.x / 4; g < cols / 32; g += blockDim.x / 4) {
    const uint8_t* u = row + (size_t)(g / Q::groups) * Q::bytes;
    int lo, hi;
    Q::ints(u, g % Q::groups, q, lo, hi);
    for (int e = 0; e < 4; e++) {
      o[g * 32 + 4 * q + e] = __fmul_rn(Q::value(u, g % Q::groups, 0, (int8_t)(lo >> (8 * e))), scale);
      o[g * 32 + 16 + 4 * q + e] = __fmul_rn(Q::value(u, g % Q::groups, 1, (int8_t)(hi >> (8 * e))), scale);
    }
  }
}
template <class F> static __device__ __forceinline__ void embed_plain(float* out, const uint8_t* w, const int* tokens, int cols, float scale) {
  const uint8_t* row = w + (size_t)tokens[blockIdx.x] * cols * F::bytes;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[(size_t)blockIdx.x * cols + i] = __fmul_rn(F::at(row, i), scale);
}
#define EMBED(name, how, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(128)                                                                            \
  embed_##name(float* __restrict__ out, const uint8_t* __restrict__ w, const int* __restrict__ tokens, int cols, float scale) { \
    how<T>(out, w, tokens, cols, scale);                                                                                       \
  }
#define EMBED_QUANT(name, T) EMBED(name, embed_quant, T)
#define EMBED_PLAIN(name, T) EMBED(name, embed_plain, T)
FOR_QUANTS(EMBED_QUANT)
FOR_PLAIN(EMBED_PLAIN)
