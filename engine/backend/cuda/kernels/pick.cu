// pick.cu: the leading words of a row of logits, found on the device.
//   arg_max(best, value, x, n)                   best[r] = the index of the largest x[r][i], the first where several are; value[r] it
//   top_k(ids, values, x, n, k)                  the k largest of each row in falling order, k at most 64, ties by index
// x [rows][n] f32, not NaN. Grid (rows), 256 threads. Moves the row once (arg_max), or k times, from cache (top_k).
#include "gpu.cuh"

// Whether (a, i) comes before (b, j).
static __device__ __forceinline__ bool leads(float a, int i, float b, int j) { return a > b || (a == b && i < j); }
// The leader of all threads among their own (v, i), in every thread.
static __device__ __forceinline__ void leader(float& v, int& i, float* sv, int* si) {
  for (int o = 16; o > 0; o >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, o);
    const int j = __shfl_xor_sync(0xffffffffu, i, o);
    if (leads(w, j, v, i)) { v = w; i = j; }
  }
  if (threadIdx.x % 32 == 0) { sv[threadIdx.x / 32] = v; si[threadIdx.x / 32] = i; }
  __syncthreads();
  v = sv[0]; i = si[0];
  for (int w = 1; w < (int)blockDim.x / 32; w++) if (leads(sv[w], si[w], v, i)) { v = sv[w]; i = si[w]; }
  __syncthreads();  // sv and si may be written again
}
extern "C" __global__ void __launch_bounds__(256) arg_max(int* __restrict__ best, float* __restrict__ value, const float* __restrict__ x, int n) {
  __shared__ float sv[8];
  __shared__ int si[8];
  const float* r = x + (size_t)blockIdx.x * n;
  float v = -INFINITY;
  int at = 0x7fffffff;
  for (int i = threadIdx.x; i < n; i += blockDim.x) if (leads(r[i], i, v, at)) { v = r[i]; at = i; }
  leader(v, at, sv, si);
  if (threadIdx.x == 0) { best[blockIdx.x] = at; value[blockIdx.x] = v; }
}
extern "C" __global__ void __launch_bounds__(256) top_k(int* __restrict__ ids, float* __restrict__ values, const float* __restrict__ x, int n, int k) {
  __shared__ float sv[8];
  __shared__ int si[8];
  const float* r = x + (size_t)blockIdx.x * n;
  float before = INFINITY;
  int before_at = -1;
  for (int c = 0; c < k; c++) {
    float v = -INFINITY;
    int at = 0x7fffffff;
    for (int i = threadIdx.x; i < n; i += blockDim.x) if (leads(before, before_at, r[i], i) && leads(r[i], i, v, at)) { v = r[i]; at = i; }
    leader(v, at, sv, si);
    if (threadIdx.x == 0) { ids[(size_t)blockIdx.x * k + c] = at; values[(size_t)blockIdx.x * k + c] = v; }
    before = v;
    before_at = at;
  }
}
