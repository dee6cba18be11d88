// kv.cu: keys and values go into the pages of the KV cache (pages.cuh).
//   kv_write_f16(k, v, cache, tables, table_at, pos, pages, kv_heads, dim)       k, v [tokens][kv_heads][dim] f32
//   kv_write_q8q4(the same)                                                     keys as Q8_0, values as Q4_0; dim a multiple of 32
// Grid (tokens, kv_heads), 32 threads. Moves two vectors of f32 in and two stored ones out, a token and head.
#include "pages.cuh"

extern "C" __global__ void __launch_bounds__(32)
kv_write_f16(const float* __restrict__ k, const float* __restrict__ v, uint8_t* __restrict__ cache, const int* __restrict__ tables,
             const int* __restrict__ table_at, const int* __restrict__ pos, int pages, int kv_heads, int dim) {
  const int t = blockIdx.x, h = blockIdx.y;
  __half* p = reinterpret_cast<__half*>(page_of<KvF16>({cache, tables, table_at, pos, pages}, t, pos[t], h, dim));
  const size_t in = ((size_t)t * kv_heads + h) * dim;
  const int at = pos[t] % kPage;
  for (int d = threadIdx.x; d < dim; d += 32) {
    p[(size_t)at * dim + d] = __float2half_rn(k[in + d]);
    p[(size_t)(kPage + at) * dim + d] = __float2half_rn(v[in + d]);
  }
}
extern "C" __global__ void __launch_bounds__(32)
kv_write_q8q4(const float* __restrict__ k, const float* __restrict__ v, uint8_t* __restrict__ cache, const int* __restrict__ tables,
              const int* __restrict__ table_at, const int* __restrict__ pos, int pages, int kv_heads, int dim) {
  const int t = blockIdx.x, h = blockIdx.y, lane = threadIdx.x, at = pos[t] % kPage;
  uint8_t* page = page_of<KvQ8Q4>({cache, tables, table_at, pos, pages}, t, pos[t], h, dim);
  const size_t in = ((size_t)t * kv_heads + h) * dim;
  for (int d = lane; d < dim; d += 32) {
    uint8_t* b = page + (size_t)(at * (dim / 32) + d / 32) * 34;
    const float x = k[in + d], s = warp_max(fabsf(x)) / 127.0f;
    b[2 + lane] = (uint8_t)(int8_t)(s > 0 ? __float2int_rn(x / s) : 0);
    if (lane == 0) *reinterpret_cast<__half*>(b) = __float2half_rn(s);
    // Q4_0: the number farthest from zero becomes -8.
    b = page + (size_t)kPage * (dim / 32) * 34 + (size_t)(at * (dim / 32) + d / 32) * 18;
    const float y = v[in + d], far = warp_max(fabsf(y)), high = warp_max(y);
    const float e = (high == far ? far : -far) / -8.0f;
    const int q = e != 0 ? min(15, max(0, (int)(y / e + 8.5f))) : 8;
    const int other = __shfl_down_sync(0xffffffffu, q, 16);
    if (lane < 16) b[2 + lane] = (uint8_t)(q | other << 4);
    if (lane == 0) *reinterpret_cast<__half*>(b) = __float2half_rn(e);
  }
}
