// attention.cu: attention in one op over the pages of the KV cache, for decode and prefill (FlashAttention: Dao et al. 2022;
// split over keys for decode: Dao et al. 2023). No score goes to memory.
//   attention_KV_N(out, part, units, q, cache, tables, table_at, pos, pages, heads, kv_heads, dim, scale, window)
//   attention_join(out, part, pos, heads, dim, splits, window)
// q, out [tokens][heads][dim] f32; dim even, at most 32 * N. A unit is {first token, tokens, first head, heads}: at most 8
// pairs of token and head that read the same keys, one warp each. Keys go page by page through shared memory, in chunks of
// 128 positions, each with a maximum, a sum and an unscaled result of its own, which are joined in order. Grid (units,
// splits), 256 threads: with one split a block takes all chunks and writes out; else block s takes chunk s alone and writes
// it to part, [tokens][heads][splits][2 + dim], and attention_join joins them: grid (tokens, heads), 128 threads. Chunks lie
// at fixed positions, so the bits do not depend on the batch or on the splits.
// Dynamic shared memory: 4 * (16 * (dim + 1) + 16 * dim + 8 * dim + 8 * 16) bytes. Moves the keys and values of a sequence
// once a unit.
#include "pages.cuh"

static constexpr int kChunk = 128;

// join puts a chunk's maximum, sum and result to those of the chunks before it. A chunk of which nothing is seen adds nothing.
template <int N> static __device__ __forceinline__ void join(float (&all)[N], float& all_m, float& all_l, const float (&acc)[N], float m, float l) {
  if (m == -INFINITY) return;
  const float top = fmaxf(all_m, m), a = expf(all_m - top), b = expf(m - top);
#pragma unroll
  for (int i = 0; i < N; i++) all[i] = __fmaf_rn(all[i], a, __fmul_rn(acc[i], b));
  all_l = __fmaf_rn(all_l, a, __fmul_rn(l, b));
  all_m = top;
}
template <class KV, int N> static __device__ __forceinline__ void attention(float* out, float* part, const int4* units, const float* q, const Paged& p,
                                                                            int heads, int kv_heads, int dim, float scale, int window) {
  DYNAMIC_SHARED(float, sh);
  float *ks = sh, *vs = ks + kPage * (dim + 1), *qs = vs + kPage * dim, *ps = qs + 8 * dim;
  const int4 u = units[blockIdx.x];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, splits = gridDim.y;
  const bool active = warp < u.y * u.w;
  const int t = u.x + (active ? warp / u.w : 0), h = u.z + (active ? warp % u.w : 0), kvh = u.z / (heads / kv_heads);
  const int pos = p.pos[t], old = oldest(window, pos), last = p.pos[u.x + u.y - 1], first = oldest(window, p.pos[u.x]);
  const int from = max((int)blockIdx.y * kChunk, first / kPage * kPage), to = splits == 1 ? last : min((int)(blockIdx.y + 1) * kChunk - 1, last);
  for (int i = threadIdx.x; i < u.y * u.w * dim; i += blockDim.x) {
    const int w = i / dim;
    qs[i] = q[((size_t)(u.x + w / u.w) * heads + u.z + w % u.w) * dim + i % dim];
  }
  float acc[N], m = -INFINITY, l = 0;       // of the chunk
  float all[N], all_m = -INFINITY, all_l = 0;  // of the chunks before
#pragma unroll
  for (int i = 0; i < N; i++) acc[i] = all[i] = 0;
  for (int j0 = from; j0 <= to; j0 += kPage) {
    const uint8_t* page = page_of<KV>(p, u.x, j0, kvh, dim);
    const int n = min(kPage, last + 1 - j0);
    __syncthreads();  // the page before is done with; qs is there
    for (int i = threadIdx.x; i < n * dim; i += blockDim.x) {
      ks[i / dim * (dim + 1) + i % dim] = KV::key(page, i / dim, i % dim, dim);
      vs[i] = KV::value(page, i / dim, i % dim, dim);
    }
    __syncthreads();
    if (!active) continue;
    if (splits == 1 && j0 % kChunk == 0 && m > -INFINITY) {
      join<N>(all, all_m, all_l, acc, m, l);
#pragma unroll
      for (int i = 0; i < N; i++) acc[i] = 0;
      m = -INFINITY;
      l = 0;
    }
    // Two lanes a key, half of its numbers each.
    const int j = lane % kPage, d0 = lane / kPage * (dim / 2);
    const bool sees = j < n && j0 + j <= pos && j0 + j >= old;
    float s = 0;
    if (sees) for (int d = d0; d < d0 + dim / 2; d++) s = __fmaf_rn(qs[warp * dim + d], ks[j * (dim + 1) + d], s);
    s = __fadd_rn(s, __shfl_xor_sync(0xffffffffu, s, 16));
    s = sees ? __fmul_rn(s, scale) : -INFINITY;
    const float top = fmaxf(m, warp_max(s));
    if (top == -INFINITY) continue;  // no key of the page is seen; the same in all lanes
    const float keep = expf(m - top), e = expf(s - top);
    float sum = e;
#pragma unroll
    for (int o = 8; o > 0; o >>= 1) sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, o));
    l = __fmaf_rn(l, keep, sum);
    m = top;
    if (lane < kPage) ps[warp * kPage + lane] = e;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < N; i++) acc[i] = __fmul_rn(acc[i], keep);
    for (int k = 0; k < n; k++) {
      const float w = ps[warp * kPage + k];
#pragma unroll
      for (int i = 0; i < N; i++) if (i * 32 + lane < dim) acc[i] = __fmaf_rn(w, vs[k * dim + i * 32 + lane], acc[i]);
    }
    __syncwarp();  // ps is written again
  }
  if (!active) return;
  if (splits == 1) join<N>(all, all_m, all_l, acc, m, l);
  const size_t at = (size_t)t * heads + h;
  float* o = splits == 1 ? out + at * dim : part + (at * splits + blockIdx.y) * (2 + dim) + 2;
#pragma unroll
  for (int i = 0; i < N; i++) if (i * 32 + lane < dim) o[i * 32 + lane] = splits == 1 ? all[i] / all_l : acc[i];
  if (splits > 1 && lane == 0) { o[-2] = m; o[-1] = l; }
}
extern "C" __global__ void __launch_bounds__(128)
attention_join(float* __restrict__ out, const float* __restrict__ part, const int* __restrict__ pos, int heads, int dim, int splits, int window) {
  const size_t at = (size_t)blockIdx.x * heads + blockIdx.y;
  const float* p = part + at * splits * (2 + dim);
  const int s0 = oldest(window, pos[blockIdx.x]) / kChunk, s1 = pos[blockIdx.x] / kChunk;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float all[1] = {0}, m = -INFINITY, l = 0;
    for (int s = s0; s <= s1; s++) {
      const float acc[1] = {p[s * (2 + dim) + 2 + d]};
      join<1>(all, m, l, acc, p[s * (2 + dim)], p[s * (2 + dim) + 1]);
    }
    out[at * dim + d] = all[0] / l;
  }
}
#define ATTENTION(name, KV, N)                                                                                                       \
  extern "C" __global__ void __launch_bounds__(256, 2)                                                                                \
  attention_##name##_##N(float* __restrict__ out, float* __restrict__ part, const int4* __restrict__ units, const float* __restrict__ q, \
                         const uint8_t* __restrict__ cache, const int* __restrict__ tables, const int* __restrict__ table_at,       \
                         const int* __restrict__ pos, int pages, int heads, int kv_heads, int dim, float scale, int window) {       \
    attention<KV, N>(out, part, units, q, {const_cast<uint8_t*>(cache), tables, table_at, pos, pages}, heads, kv_heads, dim, scale, window); \
  }
ATTENTION(f16, KvF16, 2)
ATTENTION(f16, KvF16, 4)
ATTENTION(f16, KvF16, 8)
ATTENTION(q8q4, KvQ8Q4, 2)
ATTENTION(q8q4, KvQ8Q4, 4)
ATTENTION(q8q4, KvQ8Q4, 8)
