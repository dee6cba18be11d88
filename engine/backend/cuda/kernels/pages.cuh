// pages.cuh: the KV cache in pages of 16 positions. For each layer and KV head all pages lie one after the other; a page of
// a head has its 16 keys, then its 16 values, each a vector of dim numbers.
//
// KvF16 keeps float16. KvQ8Q4 keeps keys as Q8_0 and values as Q4_0, in ggml's blocks of 32 (package tensor).
#pragma once
#include "quant.cuh"

static constexpr int kPage = 16;

struct KvF16 {
  static __device__ __forceinline__ size_t bytes(int dim) { return (size_t)kPage * dim * 4; }
  static __device__ __forceinline__ float key(const uint8_t* page, int i, int d, int dim) { return half_at(page + 2 * ((size_t)i * dim + d)); }
  static __device__ __forceinline__ float value(const uint8_t* page, int i, int d, int dim) { return half_at(page + 2 * ((size_t)(kPage + i) * dim + d)); }
};
struct KvQ8Q4 {
  static __device__ __forceinline__ size_t bytes(int dim) { return (size_t)kPage * dim / 32 * (34 + 18); }
  static __device__ __forceinline__ float key(const uint8_t* page, int i, int d, int dim) {
    const uint8_t* b = page + (size_t)(i * (dim / 32) + d / 32) * 34;
    return __fmul_rn(half_at(b), (float)(int8_t)b[2 + d % 32]);
  }
  static __device__ __forceinline__ float value(const uint8_t* page, int i, int d, int dim) {
    const uint8_t* b = page + (size_t)kPage * (dim / 32) * 34 + (size_t)(i * (dim / 32) + d / 32) * 18;
    const int v = b[2 + d % 16] >> (d % 32 / 16 * 4) & 15;
    return __fmul_rn(half_at(b), (float)(v - 8));
  }
};

// Where things are: pages of a batch's sequences, and the layer in the cache.
struct Paged {
  uint8_t* cache;       // of the layer
  const int* tables;    // page numbers of all sequences, one after the other
  const int* table_at;  // where the table of each token's sequence begins
  const int* pos;       // of each token
  int pages;            // of the whole cache
};
template <class KV> static __device__ __forceinline__ uint8_t* page_of(const Paged& p, int token, int position, int head, int dim) {
  const int page = p.tables[p.table_at[token] + position / kPage];
  return p.cache + ((size_t)head * p.pages + page) * KV::bytes(dim);
}
// The first position that a query at pos sees.
static __device__ __forceinline__ int oldest(int window, int pos) { return window > 0 ? max(0, pos + 1 - window) : 0; }
