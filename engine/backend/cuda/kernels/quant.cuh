// quant.cuh: the quantised formats of model files (ggml's block layouts, see package tensor), as groups of 32 weights.
//
// A format has units of `bytes` with `groups` groups of 32. ints gives lane q (0 to 3) of the four that share group j its
// eight weights as int8: numbers 4q to 4q+3, and 16 more. With x as integers times dx, and xs the sum of these, the dot
// product of the group is term(combine(sum over the first 16, sum over the last 16), xs, dx): integers are summed exactly, so
// it is the same on every path. value is one weight as float.
#pragma once
#include "gpu.cuh"

// Inputs are integers up to this one: 256 h + l with int8 h and l. The sums of Q6_K stay below 2 * 128 * 16 * 32 * 8128, half of
// what 32 bits hold.
static constexpr float kInputTop = 8128.0f;

struct Q8_0 {
  static constexpr int bytes = 34, groups = 1;
  static constexpr bool halves = false;
  static __device__ __forceinline__ void ints(const uint8_t* u, int, int q, int& lo, int& hi) { lo = load_a2(u + 2 + 4 * q); hi = load_a2(u + 18 + 4 * q); }
  static __device__ __forceinline__ int combine(const uint8_t*, int, int lo, int hi) { return lo + hi; }
  static __device__ __forceinline__ float term(const uint8_t* u, int, int s, int, float dx) { return __fmul_rn(__fmul_rn(half_at(u), dx), (float)s); }
  static __device__ __forceinline__ float value(const uint8_t* u, int, int, int w) { return __fmul_rn(half_at(u), (float)w); }
};
struct Q4_0 {
  static constexpr int bytes = 18, groups = 1;
  static constexpr bool halves = false;
  static __device__ __forceinline__ void ints(const uint8_t* u, int, int q, int& lo, int& hi) { const int v = load_a2(u + 2 + 4 * q); lo = v & 0x0f0f0f0f; hi = v >> 4 & 0x0f0f0f0f; }
  static __device__ __forceinline__ int combine(const uint8_t*, int, int lo, int hi) { return lo + hi; }
  static __device__ __forceinline__ float term(const uint8_t* u, int, int s, int xs, float dx) { return __fmul_rn(__fmul_rn(half_at(u), dx), (float)(s - 8 * xs)); }
  static __device__ __forceinline__ float value(const uint8_t* u, int, int, int w) { return __fmul_rn(half_at(u), (float)(w - 8)); }
};
struct Q4_1 {
  static constexpr int bytes = 20, groups = 1;
  static constexpr bool halves = false;
  static __device__ __forceinline__ void ints(const uint8_t* u, int, int q, int& lo, int& hi) { const int v = load_a4(u + 4 + 4 * q); lo = v & 0x0f0f0f0f; hi = v >> 4 & 0x0f0f0f0f; }
  static __device__ __forceinline__ int combine(const uint8_t*, int, int lo, int hi) { return lo + hi; }
  static __device__ __forceinline__ float term(const uint8_t* u, int, int s, int xs, float dx) {
    return __fmul_rn(dx, __fmaf_rn(half_at(u), (float)s, __fmul_rn(half_at(u + 2), (float)xs)));
  }
  static __device__ __forceinline__ float value(const uint8_t* u, int, int, int w) { return __fadd_rn(__fmul_rn(half_at(u), (float)w), half_at(u + 2)); }
};
// The fifth bits of four weights, from bits 0 to 3 of h to bit 4 of each byte.
static __device__ __forceinline__ int fifth(unsigned h) { return (int)((((h & 15u) * 0x00204081u) & 0x01010101u) << 4); }
struct Q5_0 {
  static constexpr int bytes = 22, groups = 1;
  static constexpr bool halves = false;
  static __device__ __forceinline__ void ints(const uint8_t* u, int, int q, int& lo, int& hi) {
    const int v = load_a2(u + 6 + 4 * q); const unsigned h = (unsigned)load_a2(u + 2);
    lo = (v & 0x0f0f0f0f) | fifth(h >> (4 * q)); hi = (v >> 4 & 0x0f0f0f0f) | fifth(h >> (16 + 4 * q));
  }
  static __device__ __forceinline__ int combine(const uint8_t*, int, int lo, int hi) { return lo + hi; }
  static __device__ __forceinline__ float term(const uint8_t* u, int, int s, int xs, float dx) { return __fmul_rn(__fmul_rn(half_at(u), dx), (float)(s - 16 * xs)); }
  static __device__ __forceinline__ float value(const uint8_t* u, int, int, int w) { return __fmul_rn(half_at(u), (float)(w - 16)); }
};
struct Q5_1 {
  static constexpr int bytes = 24, groups = 1;
  static constexpr bool halves = false;
  static __device__ __forceinline__ void ints(const uint8_t* u, int, int q, int& lo, int& hi) {
    const int v = load_a4(u + 8 + 4 * q); const unsigned h = (unsigned)load_a4(u + 4);
    lo = (v & 0x0f0f0f0f) | fifth(h >> (4 * q)); hi = (v >> 4 & 0x0f0f0f0f) | fifth(h >> (16 + 4 * q));
  }
  static __device__ __forceinline__ int combine(const uint8_t*, int, int lo, int hi) { return lo + hi; }
  static __device__ __forceinline__ float term(const uint8_t* u, int j, int s, int xs, float dx) { return Q4_1::term(u, j, s, xs, dx); }
  static __device__ __forceinline__ float value(const uint8_t* u, int j, int h, int w) { return Q4_1::value(u, j, h, w); }
};

// The 6-bit scale and minimum of group j in the 12 bytes of Q4_K and Q5_K.
static __device__ __forceinline__ void scale_min(const uint8_t* p, int j, int& sc, int& m) {
  if (j < 4) { sc = p[j] & 63; m = p[j + 4] & 63; return; }
  sc = (p[j + 4] & 15) | (p[j - 4] >> 6 << 4);
  m = (p[j + 4] >> 4) | (p[j] >> 6 << 4);
}
struct Q4_K {
  static constexpr int bytes = 144, groups = 8;
  static constexpr bool halves = false;
  static __device__ __forceinline__ void ints(const uint8_t* u, int j, int q, int& lo, int& hi) {
    const uint8_t* p = u + 16 + j / 2 * 32 + 4 * q; const int s = 4 * (j & 1);
    lo = load_a4(p) >> s & 0x0f0f0f0f; hi = load_a4(p + 16) >> s & 0x0f0f0f0f;
  }
  static __device__ __forceinline__ int combine(const uint8_t*, int, int lo, int hi) { return lo + hi; }
  static __device__ __forceinline__ float term(const uint8_t* u, int j, int s, int xs, float dx) {
    int sc, m; scale_min(u + 4, j, sc, m);
    return __fmul_rn(dx, __fsub_rn(__fmul_rn(__fmul_rn(half_at(u), (float)sc), (float)s), __fmul_rn(__fmul_rn(half_at(u + 2), (float)m), (float)xs)));
  }
  static __device__ __forceinline__ float value(const uint8_t* u, int j, int, int w) {
    int sc, m; scale_min(u + 4, j, sc, m);
    return __fsub_rn(__fmul_rn(__fmul_rn(half_at(u), (float)sc), (float)w), __fmul_rn(half_at(u + 2), (float)m));
  }
};
struct Q5_K {
  static constexpr int bytes = 176, groups = 8;
  static constexpr bool halves = false;
  static __device__ __forceinline__ void ints(const uint8_t* u, int j, int q, int& lo, int& hi) {
    const uint8_t* p = u + 48 + j / 2 * 32 + 4 * q; const int s = 4 * (j & 1);
    lo = (load_a4(p) >> s & 0x0f0f0f0f) | (load_a4(u + 16 + 4 * q) >> j & 0x01010101) << 4;
    hi = (load_a4(p + 16) >> s & 0x0f0f0f0f) | (load_a4(u + 32 + 4 * q) >> j & 0x01010101) << 4;
  }
  static __device__ __forceinline__ int combine(const uint8_t*, int, int lo, int hi) { return lo + hi; }
  static __device__ __forceinline__ float term(const uint8_t* u, int j, int s, int xs, float dx) { return Q4_K::term(u, j, s, xs, dx); }
  static __device__ __forceinline__ float value(const uint8_t* u, int j, int h, int w) { return Q4_K::value(u, j, h, w); }
};
struct Q6_K {
  static constexpr int bytes = 210, groups = 8;
  static constexpr bool halves = true;  // 16 weights a scale
  static __device__ __forceinline__ int less32(int v) { return (int)((((unsigned)v | 0x80808080u) - 0x20202020u) ^ 0x80808080u); }  // of each byte, 0 to 63
  static __device__ __forceinline__ void ints(const uint8_t* u, int j, int q, int& lo, int& hi) {
    const uint8_t *l = u + 64 * (j / 4) + 32 * (j & 1) + 4 * q, *h = u + 128 + 32 * (j / 4) + 4 * q;
    const int s = 4 * (j % 4 / 2), p = 2 * (j % 4);
    lo = less32((load_a2(l) >> s & 0x0f0f0f0f) | (load_a2(h) >> p & 0x03030303) << 4);
    hi = less32((load_a2(l + 16) >> s & 0x0f0f0f0f) | (load_a2(h + 16) >> p & 0x03030303) << 4);
  }
  static __device__ __forceinline__ int scale(const uint8_t* u, int j, int h) { return (int8_t)u[192 + 2 * j + h]; }
  static __device__ __forceinline__ int combine(const uint8_t* u, int j, int lo, int hi) { return scale(u, j, 0) * lo + scale(u, j, 1) * hi; }
  static __device__ __forceinline__ float term(const uint8_t* u, int, int s, int, float dx) { return __fmul_rn(__fmul_rn(half_at(u + 208), dx), (float)s); }
  static __device__ __forceinline__ float value(const uint8_t* u, int j, int h, int w) { return __fmul_rn(__fmul_rn(half_at(u + 208), (float)scale(u, j, h)), (float)w); }
};

// The plain formats: at is weight i of a row.
struct F32 { static constexpr int bytes = 4; static __device__ __forceinline__ float at(const uint8_t* r, int i) { return __ldg(reinterpret_cast<const float*>(r) + i); } };
struct F16 { static constexpr int bytes = 2; static __device__ __forceinline__ float at(const uint8_t* r, int i) { return half_at(r + 2 * i); } };
struct BF16 { static constexpr int bytes = 2; static __device__ __forceinline__ float at(const uint8_t* r, int i) { return __uint_as_float((unsigned)__ldg(reinterpret_cast<const uint16_t*>(r) + i) << 16); } };

// FOR_QUANTS(M) and FOR_PLAIN(M): M(name, Format) for each format.
#define FOR_QUANTS(M) M(q8_0, Q8_0) M(q4_0, Q4_0) M(q4_1, Q4_1) M(q5_0, Q5_0) M(q5_1, Q5_1) M(q4_k, Q4_K) M(q5_k, Q5_K) M(q6_k, Q6_K)
#define FOR_PLAIN(M) M(f32, F32) M(f16, F16) M(bf16, BF16)
