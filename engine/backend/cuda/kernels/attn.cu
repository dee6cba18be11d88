// attn.cu: attention as three ops, each with all its numbers in memory: for tracing and captures. attention.cu does it in one.
//   attn_scores_KV(s, offs, q, cache, tables, table_at, pos, pages, heads, kv_heads, dim, scale, window)
//       s[t][h][j] = scale * q[t][h] · K[j][h / group], j = 0..pos[t], -inf before the window
//   attn_softmax(s, offs, pos, heads)                          in place
//   attn_mix_KV(out, s, offs, the same without scale)          out[t][h] = sum over j of s[t][h][j] * V[j][h / group]
// Scores of token t begin at offs[t], each head's with whole pages of 16. q, out [tokens][heads][dim] f32. Grid (tokens, heads),
// 128 threads: for the scores a warp a key, for the mix a thread a number. Reads the keys, or values, of a token's sequence
// once a head.
#include "pages.cuh"

static __device__ __forceinline__ size_t row_at(const long long* offs, int t, int h, int pos) { return (size_t)offs[t] + (size_t)h * ((pos / kPage + 1) * kPage); }

template <class KV> static __device__ __forceinline__ void scores(float* s, const long long* offs, const float* q, const Paged& p, int heads, int kv_heads, int dim, float scale, int window) {
  const int t = blockIdx.x, h = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32, pos = p.pos[t], kvh = h / (heads / kv_heads);
  const float* qr = q + ((size_t)t * heads + h) * dim;
  float* row = s + row_at(offs, t, h, pos);
  const int old = oldest(window, pos);
  for (int j = warp; j <= pos; j += blockDim.x / 32) {
    float sum = -INFINITY;
    if (j >= old) {
      const uint8_t* page = page_of<KV>(p, t, j, kvh, dim);
      sum = 0;
      for (int d = lane; d < dim; d += 32) sum = __fmaf_rn(qr[d], KV::key(page, j % kPage, d, dim), sum);
      sum = __fmul_rn(warp_sum(sum), scale);
    }
    if (lane == 0) row[j] = sum;
  }
}
template <class KV> static __device__ __forceinline__ void mix(float* out, const float* s, const long long* offs, const Paged& p, int heads, int kv_heads, int dim, int window) {
  const int t = blockIdx.x, h = blockIdx.y, pos = p.pos[t], kvh = h / (heads / kv_heads);
  const float* row = s + row_at(offs, t, h, pos);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float sum = 0;
    for (int j = oldest(window, pos); j <= pos; j++) sum = __fmaf_rn(row[j], KV::value(page_of<KV>(p, t, j, kvh, dim), j % kPage, d, dim), sum);
    out[((size_t)t * heads + h) * dim + d] = sum;
  }
}
extern "C" __global__ void __launch_bounds__(128) attn_softmax(float* __restrict__ s, const long long* __restrict__ offs, const int* __restrict__ pos, int heads) {
  __shared__ float sh[33];
  const int t = blockIdx.x, n = pos[t] + 1;
  float* row = s + row_at(offs, t, blockIdx.y, pos[t]);
  float m = -INFINITY, sum = 0;
  for (int j = threadIdx.x; j < n; j += blockDim.x) m = fmaxf(m, row[j]);
  m = block_max(m, sh);
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    const float e = expf(row[j] - m);
    row[j] = e;
    sum = __fadd_rn(sum, e);
  }
  __syncthreads();  // sh is read above and written below
  sum = block_sum(sum, sh);
  for (int j = threadIdx.x; j < n; j += blockDim.x) row[j] = row[j] / sum;
}
#define ATTN(name, KV)                                                                                                             \
  extern "C" __global__ void __launch_bounds__(128)                                                                                \
  attn_scores_##name(float* __restrict__ s, const long long* __restrict__ offs, const float* __restrict__ q, const uint8_t* __restrict__ cache, \
                     const int* __restrict__ tables, const int* __restrict__ table_at, const int* __restrict__ pos, int pages,    \
                     int heads, int kv_heads, int dim, float scale, int window) {                                                  \
    scores<KV>(s, offs, q, {const_cast<uint8_t*>(cache), tables, table_at, pos, pages}, heads, kv_heads, dim, scale, window);      \
  }                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(128)                                                                                \
  attn_mix_##name(float* __restrict__ out, const float* __restrict__ s, const long long* __restrict__ offs, const uint8_t* __restrict__ cache, \
                  const int* __restrict__ tables, const int* __restrict__ table_at, const int* __restrict__ pos, int pages,       \
                  int heads, int kv_heads, int dim, int window) {                                                                  \
    mix<KV>(out, s, offs, {const_cast<uint8_t*>(cache), tables, table_at, pos, pages}, heads, kv_heads, dim, window);              \
  }
ATTN(f16, KvF16)
ATTN(q8q4, KvQ8Q4)
