// nccl.cc: a stand-in for NCCL (libnccl.so.2) on the emulated driver: the five calls that the backend makes, and what they may be
// made with. A sum runs in the order of each device's stream, as a function of the host there that meets the other
// devices' functions; devices are summed from the first to the last. With nccl.h on the include path (Python package
// nvidia-nccl-cu12) it is compiled against that.
#include <cuda.h>
#if __has_include(<nccl.h>)
#include <nccl.h>
#else
extern "C" {
typedef struct { char internal[128]; } ncclUniqueId;
typedef struct ncclComm* ncclComm_t;
typedef enum { ncclSuccess = 0, ncclUnhandledCudaError, ncclSystemError, ncclInternalError, ncclInvalidArgument, ncclInvalidUsage } ncclResult_t;
typedef enum { ncclSum = 0 } ncclRedOp_t;
typedef enum { ncclFloat32 = 7 } ncclDataType_t;
typedef CUstream cudaStream_t;
}
#endif
#include <unistd.h>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

static std::mutex g_mu;
static auto& g_cv = *new std::condition_variable;

struct Group {
  int size = 0, joined = 0, here = 0, left = 0;
  uint64_t round = 0;
  bool broken = false;
  std::set<int> ranks, devices;
  std::vector<float*> x;
  size_t count = 0;
};
struct ncclComm { Group* g; int rank; CUdevice dev; };
static auto& g_groups = *new std::map<std::string, Group*>;
static auto& g_comms = *new std::set<ncclComm*>;
static uint64_t g_ids;

static ncclResult_t refuse(const char* what, const char* why) { fprintf(stderr, "cuemu: %s: %s\n", what, why); return ncclInvalidArgument; }

// Leaks end the program, as the driver's do.
static void check() {
  if (g_comms.empty() || !getenv("CUEMU_LEAK_ABORT")) return;
  fprintf(stderr, "cuemu: leak: %zu NCCL communicators were not destroyed\n", g_comms.size());
  _exit(134);
}
__attribute__((constructor)) static void start() { atexit(check); }

extern "C" const char* ncclGetErrorString(ncclResult_t r) {
  return r == ncclSuccess ? "no error" : r == ncclInvalidArgument ? "invalid argument" : r == ncclInvalidUsage ? "invalid usage" : "internal error";
}
extern "C" ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (!id) return refuse("ncclGetUniqueId", "null");
  std::lock_guard<std::mutex> l(g_mu);
  memset(id, 0, sizeof *id);
  snprintf(id->internal, sizeof id->internal, "emulated %d %lu", (int)getpid(), (unsigned long)++g_ids);
  return ncclSuccess;
}
// Returns when all have called it, as the real one does.
extern "C" ncclResult_t ncclCommInitRank(ncclComm_t* out, int n, ncclUniqueId id, int rank) {
  CUdevice dev;
  if (!out || n < 1 || rank < 0 || rank >= n) return refuse("ncclCommInitRank", "rank and number of ranks");
  if (strncmp(id.internal, "emulated ", 9)) return refuse("ncclCommInitRank", "not an id of ncclGetUniqueId");
  if (cuCtxGetDevice(&dev)) return refuse("ncclCommInitRank", "no context is current on this thread");
  std::unique_lock<std::mutex> l(g_mu);
  Group*& g = g_groups[std::string(id.internal, sizeof id.internal)];
  if (!g) { g = new Group; g->size = n; g->x.resize(n); }
  if (g->size != n || !g->ranks.insert(rank).second) return refuse("ncclCommInitRank", "ranks disagree about their number, or two have the same");
  if (!g->devices.insert(dev).second) { g->broken = true; g_cv.notify_all(); fprintf(stderr, "cuemu: ncclCommInitRank: two ranks on device %d\n", dev); return ncclInvalidUsage; }
  Group* mine = g;
  mine->joined++;
  g_cv.notify_all();
  g_cv.wait(l, [&] { return mine->joined == mine->size || mine->broken; });
  if (mine->broken) return ncclInvalidUsage;
  *out = new ncclComm{mine, rank, dev};
  g_comms.insert(*out);
  return ncclSuccess;
}
extern "C" ncclResult_t ncclCommDestroy(ncclComm_t c) {
  std::lock_guard<std::mutex> l(g_mu);
  if (!g_comms.erase(c)) return refuse("ncclCommDestroy", "not a live communicator");
  delete c;
  return ncclSuccess;
}

struct Work { Group* g; int rank; float* x; size_t count; };
static void CUDA_CB sum(void* p) {
  Work w = *(Work*)p;
  delete (Work*)p;
  std::unique_lock<std::mutex> l(g_mu);
  Group* g = w.g;
  g_cv.wait(l, [&] { return g->left == 0; });  // of the round before
  g->x[w.rank] = w.x;
  if (g->here++ == 0) g->count = w.count;
  if (g->count != w.count) { fprintf(stderr, "cuemu: ncclAllReduce: %zu and %zu numbers on two ranks\n", g->count, w.count); abort(); }
  if (g->here < g->size) {
    uint64_t round = g->round;
    g_cv.wait(l, [&] { return g->round != round; });
  } else {
    for (size_t i = 0; i < w.count; i++) {
      float s = g->x[0][i];
      for (int r = 1; r < g->size; r++) s += g->x[r][i];
      for (float* x : g->x) x[i] = s;
    }
    g->here = 0; g->left = g->size; g->round++;
  }
  g->left--;
  g_cv.notify_all();
}
extern "C" ncclResult_t ncclAllReduce(const void* from, void* to, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t c, cudaStream_t st) {
  const char* me = "ncclAllReduce";
  Group* g; int rank; CUdevice dev;
  {
    std::lock_guard<std::mutex> l(g_mu);
    if (!g_comms.count(c)) return refuse(me, "not a live communicator");
    g = c->g; rank = c->rank; dev = c->dev;
  }
  if (type != ncclFloat32 || op != ncclSum) return refuse(me, "the stand-in sums float32 alone");
  if (from != to) return refuse(me, "the stand-in sums in place alone");
  CUdevice here; CUdeviceptr base; size_t size; int owner = -1;
  if (cuCtxGetDevice(&here) || here != dev) return refuse(me, "the context that is current is not the communicator's");
  if (cuMemGetAddressRange(&base, &size, (CUdeviceptr)to) || (CUdeviceptr)to + 4 * n > base + size) return refuse(me, "the numbers are not in one piece of device memory");
  if (cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)to) || owner != dev) return refuse(me, "the numbers are another device's");
  return cuLaunchHostFunc(st, sum, new Work{g, rank, (float*)to, n}) ? ncclUnhandledCudaError : ncclSuccess;
}
