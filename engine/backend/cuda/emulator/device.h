// device.h: start and devices. Part of driver.cc.
#pragma once
// ---- init, devices ------------------------------------------------------------------------------
static string here(const char* file) {
  Dl_info di; dladdr((void*)&say, &di);
  string s = di.dli_fname; auto i = s.rfind('/');
  return (i == string::npos ? "." : s.substr(0, i)) + "/" + file;
}
CUresult cuInit(unsigned flags) {
  Lock g(g_mu);
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (g_init) return CUDA_SUCCESS;
  g_cc = ver(env("CUEMU_CC", "9.0")); g_driver = ver(env("CUEMU_DRIVER", "13.5"));
  // PTX ISA of a driver: 12.0..12.5 -> 8.0..8.5, 12.6 -> 8.5, 12.8 -> 8.7, 12.9 -> 8.8, 13.x -> 9.x
  g_isa = g_driver >= 130 ? g_driver - 40 : g_driver >= 126 ? std::max(85, g_driver - 41) : g_driver - 40;
  g_ndev = std::min(16, atoi(env("CUEMU_DEVICES", "2"))); g_total = (size_t)atoll(env("CUEMU_MEM_MB", "2048")) << 20;
  g_delay = atoi(env("CUEMU_DELAY_US", "0")); g_racecheck = atoi(env("CUEMU_RACECHECK", "0"));
  g_gorgonia = atoi(env("CUEMU_GORGONIA", "0")); g_poison = atoi(env("CUEMU_POISON", "1")); g_sync = atoi(env("CUEMU_SYNC", "0"));
  g_lose_after = atol(env("CUEMU_LOSE_AFTER", "0"));
  g_race_ok = string(",") + env("CUEMU_RACE_OK", "") + ",";
  string o = env("CUEMU_ORDER", "forward");
  if (o == "reverse") g_order.kind = Order::REVERSE;
  else if (o != "forward") { g_order.kind = Order::RANDOM; g_order.seed = strtoull(o.c_str(), nullptr, 10) + 1; }
  if (int c = atoi(env("CUEMU_FAIL_INIT", "0"))) return (CUresult)c;
  const size_t arena = 1ull << 40;
  g_arena = g_arena_next = (char*)mmap(nullptr, arena, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (g_arena == MAP_FAILED) return err(CUDA_ERROR_OUT_OF_MEMORY, "cannot reserve address space");
  g_arena_end = g_arena + arena;
  string lib = env("CUEMU_KERNELS", here("libcuemu_kernels.so").c_str());
  if (!(g_kernel_lib = dlopen(lib.c_str(), RTLD_NOW | RTLD_LOCAL))) say("no kernels: %s", dlerror());
  g_init = true;
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* v) { NEED_PTR(v); *v = ver(env("CUEMU_DRIVER", "13.5")) / 10 * 1000 + ver(env("CUEMU_DRIVER", "13.5")) % 10 * 10; return CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* n) { NEED_INIT; NEED_PTR(n); *n = g_ndev; return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* d, int i) { NEED_INIT; NEED_PTR(d); if (i < 0 || i >= g_ndev) return err(CUDA_ERROR_INVALID_DEVICE, "device %d of %d", i, g_ndev); *d = i; return CUDA_SUCCESS; }
#define NEED_DEV(d) NEED_INIT; if ((d) < 0 || (d) >= g_ndev) return err(CUDA_ERROR_INVALID_DEVICE, "%s: device %d of %d", __func__, (int)(d), g_ndev)
CUresult cuDeviceGetName(char* s, int n, CUdevice d) { NEED_DEV(d); NEED_PTR(s); snprintf(s, n, "Emulated device"); return CUDA_SUCCESS; }
static CUresult uuid(CUuuid* u, CUdevice d) { NEED_DEV(d); NEED_PTR(u); memset(u, 0, sizeof *u); memcpy(u->bytes, "cuemu", 5); u->bytes[15] = (char)(d + 1); return CUDA_SUCCESS; }
#undef cuDeviceGetUuid
extern "C" CUresult cuDeviceGetUuid(CUuuid* u, CUdevice d) { return uuid(u, d); }
extern "C" CUresult cuDeviceGetUuid_v2(CUuuid* u, CUdevice d) { return uuid(u, d); }
CUresult cuDeviceTotalMem(size_t* n, CUdevice d) { NEED_DEV(d); NEED_PTR(n); *n = g_total; return CUDA_SUCCESS; }
CUresult cuDeviceComputeCapability(int* a, int* b, CUdevice d) { NEED_DEV(d); *a = g_cc / 10; *b = g_cc % 10; return CUDA_SUCCESS; }
static int optin() { return g_cc >= 90 ? 227 << 10 : g_cc == 80 || g_cc == 87 ? 163 << 10 : 99 << 10; }
CUresult cuDeviceGetAttribute(int* v, CUdevice_attribute a, CUdevice d) {
  NEED_DEV(d); NEED_PTR(v);
  switch (a) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *v = 1024; break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *v = 64; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *v = 0x7fffffff; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *v = 65535; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *v = 48 << 10; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *v = optin(); break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *v = optin() + 1024; break;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: *v = 64 << 10; break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *v = 32; break;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: *v = 65536; break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *v = 1000000; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *v = 4; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *v = 2048; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *v = g_cc / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *v = g_cc % 10; break;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY: case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED: case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP: *v = 1; break;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: *v = 2; break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *v = 4 << 20; break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: *v = 384; break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: *v = 1000000; break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: *v = 1 + d; break;
    default: *v = 0;
  }
  return CUDA_SUCCESS;
}
CUresult cuDeviceCanAccessPeer(int* v, CUdevice a, CUdevice b) { NEED_DEV(a); NEED_DEV(b); NEED_PTR(v); *v = a != b; return CUDA_SUCCESS; }
CUresult cuDeviceGetP2PAttribute(int* v, CUdevice_P2PAttribute a, CUdevice x, CUdevice y) { NEED_DEV(x); NEED_DEV(y); *v = a != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK; return CUDA_SUCCESS; }

