// gpu.cuh is what every kernel source includes: CUDA's own headers under nvcc, the CPU emulation (simt.h) otherwise; sums
// over a warp; the tensor core's integer product.
//
// Numbers that must not depend on which kernel computes them are made of __fmul_rn, __fadd_rn and __fmaf_rn, which no
// compiler may contract or reorder.
#pragma once
#ifdef __CUDACC__
#include <cuda_fp16.h>
#include <stdint.h>
#define DYNAMIC_SHARED(T, name)                                  \
  extern __shared__ __align__(16) unsigned char dyn_shared_raw[]; \
  T* name = reinterpret_cast<T*>(dyn_shared_raw)
#else
#include "simt.h"
#endif

static __device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v = __fadd_rn(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
static __device__ __forceinline__ float warp_max(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
// block_sum and block_max: for all threads of a block of whole warps; s has 33 floats of shared memory.
static __device__ __forceinline__ float block_sum(float v, float* s) {
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = warp_sum(threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) s[32] = v;
  }
  __syncthreads();
  return s[32];
}
static __device__ __forceinline__ float block_max(float v, float* s) {
  v = warp_max(v);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = warp_max(threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : -INFINITY);
    if (threadIdx.x == 0) s[32] = v;
  }
  __syncthreads();
  return s[32];
}

static __device__ __forceinline__ float half_at(const uint8_t* p) { return __half2float(__ushort_as_half(*reinterpret_cast<const uint16_t*>(p))); }
// Four bytes of which only the address of every second is even.
static __device__ __forceinline__ int load_a2(const uint8_t* p) {
  const uint16_t* h = reinterpret_cast<const uint16_t*>(p);
  return (int)((unsigned)__ldg(h) | (unsigned)__ldg(h + 1) << 16);
}
static __device__ __forceinline__ int load_a4(const uint8_t* p) { return __ldg(reinterpret_cast<const int*>(p)); }

// mma_s8 is c += a · b on the tensor core (sm_80 on), exact in int32: a 16x32, b 32x8, c 16x8, int8 (PTX ISA, mma.sync
// m16n8k32). Lane l holds of a: rows l/4 and l/4+8, columns 4*(l%4) to +3 and 16 more; of b: the same k of column l/4; of c:
// rows l/4 and l/4+8, columns 2*(l%4) and the next.
// mma_s8_half is the same over 16 k: m16n8k16.
#ifdef __CUDACC__
static __device__ __forceinline__ void mma_s8(int c[4], int a0, int a1, int a2, int a3, int b0, int b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
static __device__ __forceinline__ void mma_s8_half(int c[4], int a0, int a1, int b0) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a0), "r"(a1), "r"(b0));
}
#else
struct SimtMma { int *c, a[4], b[2], words; };
static void simt_mma(void* const lanes[32]) {
  auto lane = [&](int l) { return static_cast<SimtMma*>(lanes[l]); };
  const int words = lane(0)->words;
  for (int l = 0; l < 32; l++) for (int i = 0; i < 4; i++) {
    const int row = l / 4 + 8 * (i / 2), col = 2 * (l % 4) + i % 2;
    for (int w = 0; w < words; w++) for (int j = 0; j < 4; j++) {
      const SimtMma *a = lane(row % 8 * 4 + j), *b = lane(col * 4 + j);
      lane(l)->c[i] = __dp4a(a->a[row / 8 + 2 * w], b->b[w], lane(l)->c[i]);
    }
  }
}
static inline void mma_s8(int c[4], int a0, int a1, int a2, int a3, int b0, int b1) {
  SimtMma m{c, {a0, a1, a2, a3}, {b0, b1}, 2};
  simt_together(simt_mma, &m);
}
static inline void mma_s8_half(int c[4], int a0, int a1, int b0) {
  SimtMma m{c, {a0, a1, 0, 0}, {b0, 0}, 1};
  simt_together(simt_mma, &m);
}
#endif
