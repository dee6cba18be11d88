// norm.cu: RMSNorm (Zhang and Sennrich 2019), alone and with the residual add before it.
//   rms_norm(y, x, w, rows, n, eps)         y[r] = x[rows ? rows[r] : r] / sqrt(mean(x²) + eps) * w
//   add_rms_norm(y, x, b, w, n, eps)        x[r] += b[r], then y[r] as above
//   add(x, b, n)                            x[i] += b[i] over all n elements
// Rows of n f32; y may be x. Grid (rows) of 32 to 1024 threads for the norms; 256 threads an element each for add. A norm
// moves two rows (four with add) a row; x is read twice, the second time from cache.
#include "gpu.cuh"

static __device__ __forceinline__ void norm_row(float* y, const float* x, const float* w, int n, float eps, float* s) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum = __fmaf_rn(x[i], x[i], sum);
  const float r = 1.0f / sqrtf(block_sum(sum, s) / (float)n + eps);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = __fmul_rn(__fmul_rn(x[i], r), w[i]);
}
extern "C" __global__ void __launch_bounds__(1024)
rms_norm(float* y, const float* x, const float* __restrict__ w, const int* __restrict__ rows, int n, float eps) {
  __shared__ float s[33];
  const int r = rows ? rows[blockIdx.x] : (int)blockIdx.x;
  norm_row(y + (size_t)blockIdx.x * n, x + (size_t)r * n, w, n, eps, s);
}
extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm(float* __restrict__ y, float* __restrict__ x, const float* __restrict__ b, const float* __restrict__ w, int n, float eps) {
  __shared__ float s[33];
  float* xr = x + (size_t)blockIdx.x * n;
  const float* br = b + (size_t)blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) xr[i] = __fadd_rn(xr[i], br[i]);
  norm_row(y + (size_t)blockIdx.x * n, xr, w, n, eps, s);  // each thread reads what it wrote
}
extern "C" __global__ void __launch_bounds__(256) add(float* __restrict__ x, const float* __restrict__ b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = __fadd_rn(x[i], b[i]);
}
