// state.h: settings, log and objects of the emulated driver. Part of driver.cc.
#pragma once
#include <cuda.h>
#include "run.h"
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim
#undef min
#undef max
#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

typedef std::unique_lock<std::mutex> Lock;
using std::string;

// ---- settings and log ------------------------------------------------------------------
static const char* env(const char* n, const char* d) { const char* e = getenv(n); return e && *e ? e : d; }
static int ver(const char* s) { int a = 0, b = 0; sscanf(s, "%d.%d", &a, &b); return a * 10 + b; }
static int g_cc, g_driver, g_isa, g_ndev, g_delay, g_racecheck;
static long g_lose_after, g_launches;  // the device fails in the launch after so many; 0: never
static bool g_gorgonia, g_poison, g_sync;
static size_t g_total;
static Order g_order;
static string& g_race_ok = *new string;

static void say(const char* fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char* fmt, ...) {
  char b[1500]; va_list ap; va_start(ap, fmt); vsnprintf(b, sizeof b, fmt, ap); va_end(ap);
  fprintf(stderr, "cuemu: %s\n", b);
  if (const char* f = getenv("CUEMU_LOG")) if (FILE* o = fopen(f, "a")) { fprintf(o, "%s\n", b); fclose(o); }
}
static CUresult err(CUresult r, const char* fmt, ...) __attribute__((format(printf, 2, 3)));
static CUresult err(CUresult r, const char* fmt, ...) {
  char b[1200]; va_list ap; va_start(ap, fmt); vsnprintf(b, sizeof b, fmt, ap); va_end(ap);
  say("error %d: %s", (int)r, b); return r;
}
extern "C" CUresult cuemu_unsupported(const char* name) { return err(CUDA_ERROR_NOT_SUPPORTED, "%s is not implemented by the emulator", name); }

// ---- objects -------------------------------------------------------------------------------
struct Context {
  int dev; unsigned flags; bool primary; int refs = 0; bool alive = true;
  CUresult sticky = CUDA_SUCCESS;
  std::set<Context*> peers;
  struct Stream* null;
  std::map<CUlimit, size_t> limits;
};
struct Alloc { uintptr_t base; size_t size; char* map; size_t len; Context* ctx; uint64_t id; enum { DEVICE, MANAGED, HOST } kind; bool freed; };
struct Param { uint32_t size; };
struct Function { string name; SimtKernel* k; std::vector<uint32_t> params; unsigned maxntid = 1024, static_shared = 0; int dyn_max; Context* ctx; };
struct Module { Context* ctx; std::map<string, std::unique_ptr<Function>> fns; std::set<string> globals; };
typedef std::pair<struct Stream*, uint64_t> Dep;
struct Op { std::function<CUresult()> run; std::vector<Dep> deps; };
struct Graph { Context* ctx; std::vector<std::function<CUresult()>> ops; bool broken = false; };
struct Stream {
  Graph* capture = nullptr;
  Context* ctx; unsigned flags; int prio = 0; bool null = false, stop = false, dead = false;
  std::deque<Op> q; uint64_t enq = 0, done = 0; std::vector<Dep> waits; std::thread th;
};
struct Event { Context* ctx; unsigned flags; Stream* s = nullptr; uint64_t seq = 0; double t = 0; uint64_t rec = 0; };

// Never destroyed: worker threads outlive exit().
static std::mutex g_mu; static auto& g_cv = *new std::condition_variable;
static auto& g_ctx = *new std::set<Context*>; static auto& g_streams = *new std::set<Stream*>; static auto& g_events = *new std::set<Event*>;
static auto& g_modules = *new std::set<Module*>; static auto& g_fns = *new std::set<Function*>; static auto& g_graphs = *new std::set<Graph*>;
static auto& g_allocs = *new std::map<uintptr_t, Alloc>;  // key: base; freed ones stay, their addresses are never reused
static char *g_arena, *g_arena_next, *g_arena_end;
static size_t g_used[16]; static uint64_t g_ids;
static Context* g_primary[16];
static bool g_init;
static thread_local std::vector<Context*>* t_stack;
static void* g_kernel_lib;

static double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static std::vector<Context*>& stack() { if (!t_stack) t_stack = new std::vector<Context*>; return *t_stack; }
static Context* current() { auto& s = stack(); return s.empty() ? nullptr : s.back(); }
#define NEED_INIT if (!g_init) return err(CUDA_ERROR_NOT_INITIALIZED, "%s before cuInit", __func__)
#define NEED_CTX                                                                                             \
  NEED_INIT;                                                                                                 \
  Context* ctx = current();                                                                                  \
  if (!ctx) return err(CUDA_ERROR_INVALID_CONTEXT, "%s: no context is current on this OS thread (is the goroutine locked to its thread?)", __func__); \
  if (!ctx->alive) return err(CUDA_ERROR_CONTEXT_IS_DESTROYED, "%s: the current context was destroyed", __func__); \
  if (ctx->sticky) return ctx->sticky
#define NEED_PTR(p) if (!(p)) return err(CUDA_ERROR_INVALID_VALUE, "%s: null result pointer", __func__)

