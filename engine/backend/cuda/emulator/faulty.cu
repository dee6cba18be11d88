#include "../kernels/gpu.cuh"
// Deliberately wrong kernels: the tests demand that each is caught. Never shipped.

extern "C" __global__ void bad_oob(float* x, int n) {  // one element too many
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = i;
}
extern "C" __global__ void bad_far(float* x) { x[1 << 20] = 1; }

// Reverses 256 elements through shared memory without the barrier.
extern "C" __global__ void bad_no_barrier(float* y, const float* x) {
  __shared__ float s[256];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[255 - threadIdx.x];
}
// Lane 0 publishes, all read, no barrier: in-order execution hides it.
extern "C" __global__ void bad_hidden(float* y, const float* x) {
  __shared__ float s;
  if (threadIdx.x == 0) s = x[0];
  y[threadIdx.x] = s + x[threadIdx.x];
}
extern "C" __global__ void bad_divergent(float* y) {
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    y[threadIdx.x] = 1;
    __syncthreads();
  }
}
extern "C" __global__ void bad_shuffle(float* y) {  // not all lanes of the mask take part
  float v = threadIdx.x;
  if (threadIdx.x < 16) v += __shfl_xor_sync(0xffffffffu, v, 1); else v = __shfl_down_sync(0xffffffffu, v, 1);
  y[threadIdx.x] = v;
}
extern "C" __global__ void bad_dynshared(float* y) {
  DYNAMIC_SHARED(float, s);
  s[threadIdx.x] = 1;
  y[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void bad_misaligned(float* y, const int8_t* p) { y[threadIdx.x] = *reinterpret_cast<const int*>(p + 34 * threadIdx.x + 2); }
extern "C" __global__ void bad_index(float* y, int k) {
  __shared__ float s[8];
  s[threadIdx.x % 8 + k] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x % 8];
}
extern "C" __global__ void bad_indirect(float* y, float* const* table) { y[0] = table[0][0]; }  // a pointer no launch check sees
extern "C" __global__ void spin(float* y, int n) { float a = 0; for (int i = 0; i < n; i++) a = a * 0.5f + i; y[0] = a; }
