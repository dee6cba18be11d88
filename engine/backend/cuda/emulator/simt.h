// simt.h runs CUDA C++ kernel sources on a CPU: the same .cu file that nvcc compiles to PTX is compiled by g++ with
// "-x c++ -include simt.h".
//
// Every CUDA thread is a fiber; all fibers of a block run on one OS thread, so __syncthreads and the warp intrinsics are
// exact. __shared__ is thread_local, dynamic shared memory is a guarded mapping. The scheduler is in simt.cc.
#pragma once
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>
#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };

// ---- ABI between kernels and the runtime ------------------------------------
struct SimtLane { uint3 tid, bid; dim3 bdim, gdim; unsigned lane; };
struct SimtArg { uint32_t size, align; bool pointer, writes; };
struct SimtKernel {
  const char* name;
  void (*call)(void* const* args);
  const SimtArg* args;
  unsigned nargs;
  void* (*tls)();  // touches the library's thread-local storage = static shared memory
  SimtKernel* next;
};
enum SimtWarpOp { SIMT_SYNC, SIMT_SHFL, SIMT_XOR, SIMT_UP, SIMT_DOWN, SIMT_CALL, SIMT_BALLOT, SIMT_ANY, SIMT_ALL,
                  SIMT_ADD, SIMT_MIN, SIMT_MAX };
extern "C" {
extern __attribute__((tls_model("initial-exec"))) __thread SimtLane* simt_cur;
void simt_register(SimtKernel*);
void simt_barrier(int line);
uint64_t simt_warp(int op, unsigned mask, uint64_t v, int arg, int width, int line);
void* simt_dynamic_shared(void);
[[noreturn]] void simt_trap(const char* what, int line);
}

static thread_local char simt_tls_anchor;
static inline void* simt_tls() { return &simt_tls_anchor; }
template <class F> struct SimtThunk;
template <class... A> struct SimtThunk<void(A...)> {
  static constexpr SimtArg args[sizeof...(A) + 1] = {
      SimtArg{sizeof(A), alignof(A), std::is_pointer<A>::value,
              std::is_pointer<A>::value && !std::is_const<std::remove_pointer_t<A>>::value}..., SimtArg{}};
  template <void (*F)(A...), size_t... I> static void go(void* const* p, std::index_sequence<I...>) {
    F(*static_cast<std::remove_reference_t<A>*>(p[I])...);
  }
  template <void (*F)(A...)> static void call(void* const* p) { go<F>(p, std::index_sequence_for<A...>{}); }
  template <void (*F)(A...)> static constexpr SimtKernel make(const char* n) { return {n, &call<F>, args, sizeof...(A), &simt_tls, nullptr}; }
};
#define SIMT_REGISTER(f)                                                    \
  static __constinit SimtKernel simt_k_##f = SimtThunk<decltype(f)>::make<&f>(#f);      \
  __attribute__((constructor)) static void simt_reg_##f() { simt_register(&simt_k_##f); }

// ---- language ------------------------------------------------------------------
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define DYNAMIC_SHARED(T, name) T* name = static_cast<T*>(simt_dynamic_shared())
#define threadIdx (simt_cur->tid)
#define blockIdx (simt_cur->bid)
#define blockDim (simt_cur->bdim)
#define gridDim (simt_cur->gdim)
static constexpr int warpSize = 32;

// ---- synchronisation ---------------------------------------------------------------
#define __syncthreads() simt_barrier(__LINE__)
static inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) { simt_warp(SIMT_SYNC, mask, 0, 0, 32, line); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
static inline unsigned __activemask() { return 0xffffffffu; }
template <class T> static inline T simt_shfl(int op, unsigned m, T v, int a, int w, int line) {
  static_assert(sizeof(T) <= 8, "shuffle of at most 8 bytes");
  uint64_t b = 0; memcpy(&b, &v, sizeof v);
  b = simt_warp(op, m, b, a, w, line);
  memcpy(&v, &b, sizeof v); return v;
}
template <class T> static inline T __shfl_sync(unsigned m, T v, int src, int w = 32, int line = __builtin_LINE()) { return simt_shfl(SIMT_SHFL, m, v, src, w, line); }
template <class T> static inline T __shfl_xor_sync(unsigned m, T v, int x, int w = 32, int line = __builtin_LINE()) { return simt_shfl(SIMT_XOR, m, v, x, w, line); }
template <class T> static inline T __shfl_up_sync(unsigned m, T v, unsigned d, int w = 32, int line = __builtin_LINE()) { return simt_shfl(SIMT_UP, m, v, (int)d, w, line); }
template <class T> static inline T __shfl_down_sync(unsigned m, T v, unsigned d, int w = 32, int line = __builtin_LINE()) { return simt_shfl(SIMT_DOWN, m, v, (int)d, w, line); }
static inline unsigned __ballot_sync(unsigned m, int p, int line = __builtin_LINE()) { return (unsigned)simt_warp(SIMT_BALLOT, m, p != 0, 0, 32, line); }
static inline int __any_sync(unsigned m, int p, int line = __builtin_LINE()) { return (int)simt_warp(SIMT_ANY, m, p != 0, 0, 32, line); }
static inline int __all_sync(unsigned m, int p, int line = __builtin_LINE()) { return (int)simt_warp(SIMT_ALL, m, p != 0, 0, 32, line); }
// simt_together runs f once for the whole warp, with what each lane gave: the plain stand-in for an instruction that works
// on the registers of 32 lanes.
struct SimtTogether { void (*f)(void* const lanes[32]); void* mine; };
static inline void simt_together(void (*f)(void* const lanes[32]), void* mine, int line = __builtin_LINE()) {
  SimtTogether t{f, mine};
  simt_warp(SIMT_CALL, 0xffffffffu, (uint64_t)(uintptr_t)&t, 0, 32, line);
}
static inline unsigned __reduce_add_sync(unsigned m, unsigned v, int line = __builtin_LINE()) { return (unsigned)simt_warp(SIMT_ADD, m, v, 0, 32, line); }

// ---- atomics: blocks run on several OS threads, so these are real ------------------
template <class T, class F> static inline T simt_rmw(T* p, F f) {
  T old = *(volatile T*)p, nw;
  do nw = f(old); while (!__atomic_compare_exchange(p, &old, &nw, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old;
}
template <class T> static inline T atomicAdd(T* p, std::common_type_t<T> v) { return simt_rmw(p, [=](T o) { return (T)(o + v); }); }
template <class T> static inline T atomicSub(T* p, std::common_type_t<T> v) { return simt_rmw(p, [=](T o) { return (T)(o - v); }); }
template <class T> static inline T atomicMax(T* p, std::common_type_t<T> v) { return simt_rmw(p, [=](T o) { return o > v ? o : v; }); }
template <class T> static inline T atomicMin(T* p, std::common_type_t<T> v) { return simt_rmw(p, [=](T o) { return o < v ? o : v; }); }
template <class T> static inline T atomicOr(T* p, std::common_type_t<T> v) { return simt_rmw(p, [=](T o) { return o | v; }); }
template <class T> static inline T atomicAnd(T* p, std::common_type_t<T> v) { return simt_rmw(p, [=](T o) { return o & v; }); }
template <class T> static inline T atomicExch(T* p, std::common_type_t<T> v) { return simt_rmw(p, [=](T) { return v; }); }
template <class T> static inline T atomicCAS(T* p, std::common_type_t<T> c, std::common_type_t<T> v) { return simt_rmw(p, [=](T o) { return o == c ? v : o; }); }

// ---- vector types ---------------------------------------------------------------------
#define SIMT_VEC(T, N, A2, A4)                                                        \
  struct alignas(A2) N##2 { T x, y; };                                                \
  struct N##3 { T x, y, z; };                                                         \
  struct alignas(A4) N##4 { T x, y, z, w; };                                          \
  static inline N##2 make_##N##2(T x, T y) { return {x, y}; }                         \
  static inline N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SIMT_VEC(float, float, 8, 16)
SIMT_VEC(int, int, 8, 16)
SIMT_VEC(signed char, char, 2, 4)
SIMT_VEC(unsigned char, uchar, 2, 4)
SIMT_VEC(short, short, 4, 8)
SIMT_VEC(unsigned short, ushort, 4, 8)
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// ---- loads, integer and float intrinsics -----------------------------------------------
template <class T> static inline T __ldg(const T* p) { return *p; }
template <class T> static inline T __ldcs(const T* p) { return *p; }
template <class T> static inline void __stcs(T* p, T v) { *p = v; }
static inline int __dp4a(int a, int b, int c) {
#ifdef __SSE4_1__
  __m128i p = _mm_madd_epi16(_mm_cvtepi8_epi16(_mm_cvtsi32_si128(a)), _mm_cvtepi8_epi16(_mm_cvtsi32_si128(b)));
  return c + _mm_cvtsi128_si32(p) + _mm_extract_epi32(p, 1);
#endif
  for (int i = 0; i < 4; i++) c += (int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i);
  return c;
}
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline unsigned __brev(unsigned v) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= (v >> i & 1) << (31 - i); return r; }
template <class A> static inline A min(A a, A b) { return b < a ? b : a; }
template <class A> static inline A max(A a, A b) { return a < b ? b : a; }
static inline float __int_as_float(int v) { float f; memcpy(&f, &v, 4); return f; }
static inline int __float_as_int(float v) { int f; memcpy(&f, &v, 4); return f; }
static inline float __uint_as_float(unsigned v) { return __int_as_float((int)v); }
static inline unsigned __float_as_uint(float v) { return (unsigned)__float_as_int(v); }
static inline float rsqrtf(float v) { return 1.0f / sqrtf(v); }
#define __expf(x) expf(x)
#define __logf(x) logf(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __powf(x, y) powf(x, y)
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fmul_rn(float a, float b) { return a * b; }  // the kernels are built with -ffp-contract=off
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __frcp_rn(float a) { return 1.0f / a; }
static inline int __float2int_rn(float v) { return (int)nearbyintf(v); }
#define __trap() simt_trap("__trap", __LINE__)
#undef assert
#define assert(c) ((c) ? (void)0 : simt_trap("assert(" #c ")", __LINE__))

// ---- half and bfloat16 --------------------------------------------------------------------
struct __half { _Float16 v; };
struct alignas(4) __half2 { __half x, y; };
typedef __half half; typedef __half2 half2;
static inline float __half2float(__half h) { return (float)h.v; }
static inline __half __float2half(float f) { return {(_Float16)f}; }
static inline __half __float2half_rn(float f) { return {(_Float16)f}; }
static inline float2 __half22float2(__half2 h) { return {__half2float(h.x), __half2float(h.y)}; }
static inline __half2 __float22half2_rn(float2 f) { return {__float2half(f.x), __float2half(f.y)}; }
static inline __half2 __floats2half2_rn(float a, float b) { return {__float2half(a), __float2half(b)}; }
static inline float __low2float(__half2 h) { return __half2float(h.x); }
static inline float __high2float(__half2 h) { return __half2float(h.y); }
static inline __half __ushort_as_half(unsigned short u) { __half h; memcpy(&h, &u, 2); return h; }
static inline unsigned short __half_as_ushort(__half h) { unsigned short u; memcpy(&u, &h, 2); return u; }
static inline __half __hadd(__half a, __half b) { return {(_Float16)(a.v + b.v)}; }
static inline __half __hmul(__half a, __half b) { return {(_Float16)(a.v * b.v)}; }
static inline __half2 __hadd2(__half2 a, __half2 b) { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
static inline __half2 __hmul2(__half2 a, __half2 b) { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
static inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {__float2half(fmaf(__half2float(a.x), __half2float(b.x), __half2float(c.x))),
          __float2half(fmaf(__half2float(a.y), __half2float(b.y), __half2float(c.y)))};
}
struct __nv_bfloat16 { uint16_t b; };
static inline float __bfloat162float(__nv_bfloat16 h) { return __uint_as_float((unsigned)h.b << 16); }
static inline __nv_bfloat16 __float2bfloat16(float f) {
  unsigned u = __float_as_uint(f);
  if (f != f) return {0x7fff};
  return {(uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16)};
}
