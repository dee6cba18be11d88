// simt.cc: the scheduler. Blocks are spread over OS threads; the threads of a block are fibers on one OS thread.
#include "run.h"
#undef assert
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <cstdlib>
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

#define IE __attribute__((tls_model("initial-exec")))

extern "C" { IE __thread SimtLane* simt_cur; }
static SimtKernel* g_kernels;
extern "C" void simt_register(SimtKernel* k) { k->next = g_kernels; g_kernels = k; }
SimtKernel* simt_find(const char* n) {
  for (SimtKernel* k = g_kernels; k; k = k->next) if (!strcmp(k->name, n)) return k;
  return nullptr;
}

// ---- context switch ---------------------------------------------------------------
#if defined(__x86_64__) && !defined(SIMT_UCONTEXT)
extern "C" void simt_switch(void** save, void* load);
asm(R"(
.text
.globl simt_switch
.hidden simt_switch
.type simt_switch,@function
simt_switch:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
.size simt_switch,.-simt_switch
)");
typedef void* Saved;
static void saved_init(Saved* s, char* top, void (*fn)()) {
  void** p = (void**)((uintptr_t)top & ~(uintptr_t)15);
  *--p = nullptr; *--p = (void*)fn;
  for (int i = 0; i < 6; i++) *--p = nullptr;
  *s = p;
}
static inline void swap_to(Saved* save, Saved* load) { simt_switch(save, *load); }
#else
typedef ucontext_t Saved;
static size_t stack_bytes();
static void saved_init(Saved* s, char* top, void (*fn)()) {
  getcontext(s);
  s->uc_stack.ss_size = stack_bytes() - 4096; s->uc_stack.ss_sp = top - s->uc_stack.ss_size; s->uc_link = nullptr;
  makecontext(s, fn, 0);
}
static inline void swap_to(Saved* save, Saved* load) { swapcontext(save, load); }
#endif

static size_t stack_bytes() {
  static size_t n = [] { const char* e = getenv("CUEMU_STACK_KB"); return (size_t)(e ? atoi(e) : 64) * 1024; }();
  return n;
}

enum State : uint8_t { NEW, READY, WAIT_WARP, WAIT_BLOCK, DONE };
struct Fiber {
  SimtLane pub;  // first: simt_cur points here
  State st;
  char* stack;
  Saved saved;
  unsigned mask, warp;
  int op, arg, width, line;
  uint64_t val, res;
};
struct Warp { unsigned live, waiting; };
static const size_t kDynMax = 256 * 1024, kPage = 4096;

struct Worker {
  std::vector<Fiber> f{1025};
  std::vector<char*> stacks;
  Warp warps[32];
  Fiber* cur = nullptr;
  Saved sched;
  const LaunchSpec* spec = nullptr;
  unsigned n = 0, alive = 0, at_barrier = 0, made = 0;
  char* dyn_end;
  void* dyn = nullptr;
  bool running = false, faulted = false, direct = false;
  int sig = 0; uintptr_t addr = 0, pc = 0; bool write = false;
  std::string text; FaultKind kind;
  uint64_t rng = 1;
  stack_t alt{};

  Worker() {
    char* m = (char*)mmap(nullptr, kDynMax + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(m + kPage, kDynMax, PROT_READ | PROT_WRITE);
    dyn_end = m + kPage + kDynMax;
    alt.ss_size = 128 * 1024; alt.ss_sp = malloc(alt.ss_size);
  }
  char* get_stack() {
    if (stacks.empty()) {
      size_t n = stack_bytes() + kPage;
      char* m = (char*)mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (m == MAP_FAILED || mprotect(m, kPage, PROT_NONE)) { fprintf(stderr, "cuemu: no memory for thread stacks\n"); abort(); }
      return m + n - made++ % 16 * 256;  // colouring: equal offsets would share cache sets
    }
    char* s = stacks.back(); stacks.pop_back(); return s;
  }
  uint32_t rand() { rng ^= rng << 13; rng ^= rng >> 7; rng ^= rng << 17; return (uint32_t)(rng >> 16); }
};
static IE __thread Worker* W;
// Workers outlive their OS threads: streams come and go, a thousand stacks are kept.
static std::mutex g_pool_mu; static auto& g_pool = *new std::vector<Worker*>;
static void take_worker() {
  if (W) return;
  { std::lock_guard<std::mutex> g(g_pool_mu); if (!g_pool.empty()) { W = g_pool.back(); g_pool.pop_back(); } }
  if (!W) W = new Worker;
  sigaltstack(&W->alt, nullptr);
}
void simt_thread_exit() {
  if (!W) return;
  stack_t off{}; off.ss_flags = SS_DISABLE; sigaltstack(&off, nullptr);
  std::lock_guard<std::mutex> g(g_pool_mu); g_pool.push_back(W); W = nullptr;
}

static void to_scheduler() { swap_to(&W->cur->saved, &W->sched); }
// In forward order the scheduler would run the next lane of the warp now: go there directly.
static void yield_lane(Worker* w, Fiber* f) {
  Fiber* g = f + 1;
  if (w->direct && g->st == READY && g->warp == f->warp && g < &w->f[0] + w->n) {
    w->cur = g; simt_cur = &g->pub;
    swap_to(&f->saved, &g->saved);
  } else to_scheduler();
}
[[noreturn]] static void fail(FaultKind k, std::string text) {
  W->kind = k; W->text = std::move(text); W->faulted = true;
  to_scheduler();
  __builtin_unreachable();
}
static std::string at(const Fiber* f) {
  char b[160];
  snprintf(b, sizeof b, "block (%u,%u,%u) thread (%u,%u,%u)", f->pub.bid.x, f->pub.bid.y, f->pub.bid.z, f->pub.tid.x, f->pub.tid.y, f->pub.tid.z);
  return b;
}
extern "C" void simt_trap(const char* what, int line) { fail(FAULT_TRAP, at(W->cur) + ": " + what + " at line " + std::to_string(line)); }
extern "C" void* simt_dynamic_shared(void) { return W->dyn; }

// ---- faults ------------------------------------------------------------------------
static struct sigaction g_old[65];
static void on_signal(int sig, siginfo_t* si, void* ucv) {
  Worker* w = W;
  if (w && w->running) {
    w->sig = sig; w->addr = (uintptr_t)si->si_addr;
    auto* uc = (ucontext_t*)ucv;
#if defined(__x86_64__)
    w->write = uc->uc_mcontext.gregs[REG_ERR] & 2;
    w->pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
#endif
    w->kind = FAULT_ADDRESS; w->faulted = true;
    pthread_sigmask(SIG_SETMASK, &uc->uc_sigmask, nullptr);
    to_scheduler();  // never comes back: the fiber is abandoned
  }
  if (g_old[sig].sa_flags & SA_SIGINFO) { g_old[sig].sa_sigaction(sig, si, ucv); return; }
  if (g_old[sig].sa_handler != SIG_DFL && g_old[sig].sa_handler != SIG_IGN) { g_old[sig].sa_handler(sig); return; }
  signal(sig, SIG_DFL);
}
static void install_signals() {
  for (int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) {
    struct sigaction a{};
    a.sa_sigaction = on_signal; a.sa_flags = SA_SIGINFO | SA_ONSTACK;  // Go demands SA_ONSTACK
    sigfillset(&a.sa_mask);
    sigaction(s, &a, &g_old[s]);
  }
}
static void describe_fault(Worker* w) {
  if (!w->sig) return;
  char b[400]; Dl_info di{}; dladdr((void*)w->pc, &di);
  bool ill = w->sig == SIGILL || w->sig == SIGTRAP, general = w->sig == SIGSEGV && !w->addr && ill == false;
  w->kind = ill ? FAULT_MISALIGNED : FAULT_ADDRESS;
  const char* what = ill ? "misaligned access, array index or shift out of range (sanitiser trap)"
                   : w->sig == SIGFPE ? "integer division fault" : w->write ? "invalid write" : "invalid read";
  snprintf(b, sizeof b, "%s: %s%s at pc %s+0x%lx", at(w->cur).c_str(), what, general ? " (null or misaligned)" : "",
           di.dli_fname ? (strrchr(di.dli_fname, '/') ? strrchr(di.dli_fname, '/') + 1 : di.dli_fname) : "?", (long)(w->pc - (uintptr_t)di.dli_fbase));
  w->text = b; w->sig = 0;
}

// ---- warp operations ------------------------------------------------------------------
static bool complete(Worker* w, unsigned wi, unsigned mask) {
  Warp& wp = w->warps[wi];
  const unsigned need = mask & wp.live;
  if (!need || (wp.waiting & need) != need) return false;
  Fiber* f = &w->f[wi * 32];
  const int first = __builtin_ctz(need);
  for (unsigned m = need; m; m &= m - 1) {
    Fiber& g = f[__builtin_ctz(m)];
    if (g.mask != mask) return false;
    if (g.op != f[first].op)
      fail(FAULT_SYNC, at(&g) + ": lanes of one mask execute different warp intrinsics (lines " + std::to_string(f[first].line) + " and " + std::to_string(g.line) + ")");
  }
  const int op = f[first].op;
  uint64_t red = 0;
  if (op == SIMT_CALL) {
    if (need != 0xffffffffu) fail(FAULT_SYNC, at(&f[first]) + ": a warp-wide instruction with only some lanes, line " + std::to_string(f[first].line));
    void* lanes[32];
    for (int l = 0; l < 32; l++) lanes[l] = ((SimtTogether*)f[l].val)->mine;
    ((SimtTogether*)f[0].val)->f(lanes);
  }
  if (op >= SIMT_BALLOT) {
    red = op == SIMT_ALL || op == SIMT_MIN ? ~0ull : 0;
    for (unsigned m = need; m; m &= m - 1) {
      int l = __builtin_ctz(m); uint64_t v = f[l].val;
      switch (op) {
        case SIMT_BALLOT: red |= v << l; break;
        case SIMT_ANY: red |= v; break;
        case SIMT_ALL: red &= v; break;
        case SIMT_ADD: red += v; break;
        case SIMT_MIN: red = v < red ? v : red; break;
        case SIMT_MAX: red = v > red ? v : red; break;
      }
    }
  }
  for (unsigned m = need; m; m &= m - 1) {
    int l = __builtin_ctz(m); Fiber& g = f[l];
    if (op >= SIMT_BALLOT) g.res = red;
    else if (op != SIMT_SYNC && op != SIMT_CALL) {
      int lo = l & ~(g.width - 1), hi = lo + g.width - 1, s = l;
      switch (op) {
        case SIMT_SHFL: s = lo | (g.arg & (g.width - 1)); break;
        case SIMT_XOR: s = l ^ g.arg; if (s > hi) s = l; break;
        case SIMT_UP: s = l - g.arg; if (s < lo) s = l; break;
        case SIMT_DOWN: s = l + g.arg; if (s > hi) s = l; break;
      }
      g.res = s >= 0 && s < 32 && (need >> s & 1) ? f[s].val : ~0ull;  // inactive source lane: poison
    }
  }
  for (unsigned m = need; m; m &= m - 1) f[__builtin_ctz(m)].st = READY;
  wp.waiting &= ~need;
  return true;
}
extern "C" uint64_t simt_warp(int op, unsigned mask, uint64_t v, int arg, int width, int line) {
  Worker* w = W; Fiber* f = w->cur;
  f->op = op; f->mask = mask; f->val = v; f->arg = arg; f->width = width; f->line = line;
  if (!(mask >> f->pub.lane & 1)) fail(FAULT_SYNC, at(f) + ": not in the mask of its own warp intrinsic, line " + std::to_string(line));
  f->st = WAIT_WARP;
  w->warps[f->warp].waiting |= 1u << f->pub.lane;
  if (!complete(w, f->warp, mask)) yield_lane(w, f);
  return f->res;
}
extern "C" void simt_barrier(int line) {
  Worker* w = W; Fiber* f = w->cur;
  f->st = WAIT_BLOCK; f->line = line; w->at_barrier++;
  yield_lane(w, f);
}
static void fiber_main() {
  Worker* w = W; Fiber* f = w->cur;
  w->spec->kernel->call(w->spec->args);
  f->st = DONE; w->alive--;
  Warp& wp = w->warps[f->warp];
  wp.live &= ~(1u << f->pub.lane);
  for (unsigned m = wp.waiting; m; m &= m - 1)  // an exit may complete the others' operation
    if (complete(w, f->warp, w->f[f->warp * 32 + __builtin_ctz(m)].mask)) break;
  to_scheduler();
}

// ---- one block ---------------------------------------------------------------------------
static std::string stuck(Worker* w) {
  std::string s = "threads wait for each other: ";
  int shown = 0;
  for (unsigned i = 0; i < w->n && shown < 4; i++) {
    Fiber& f = w->f[i];
    bool edge = !i || f.st != w->f[i - 1].st || f.line != w->f[i - 1].line;
    if (!edge) continue;
    s += at(&f) + (f.st == WAIT_WARP ? " at warp intrinsic line " : f.st == WAIT_BLOCK ? " at __syncthreads line " : " exited, ") + std::to_string(f.line) + "; ";
    shown++;
  }
  return s;
}
static void run_block(Worker* w, const LaunchSpec& L, uint3 bid) {
  const unsigned n = L.block.x * L.block.y * L.block.z, nw = (n + 31) / 32;
  w->spec = &L; w->n = n; w->alive = n; w->at_barrier = 0;
  for (unsigned i = 0; i < nw; i++) { w->warps[i].waiting = 0; w->warps[i].live = i + 1 < nw || n % 32 == 0 ? ~0u : (1u << n % 32) - 1; }
  unsigned i = 0;
  for (unsigned z = 0; z < L.block.z; z++) for (unsigned y = 0; y < L.block.y; y++) for (unsigned x = 0; x < L.block.x; x++, i++) {
    Fiber& f = w->f[i];
    f.pub = {{x, y, z}, bid, L.block, L.grid, i % 32}; f.st = NEW; f.warp = i / 32; f.line = 0;
  }
  size_t dyn = (L.dynamic_shared + 15) & ~size_t(15);
  w->dyn = w->dyn_end - dyn;
  memset(w->dyn, 0xff, dyn);
  uint8_t wo[32], lo[32];
  w->direct = L.order.kind == Order::FORWARD;
  const bool rev = L.order.kind == Order::REVERSE, rnd = L.order.kind == Order::RANDOM;
  if (rnd) w->rng = L.order.seed * 0x9e3779b97f4a7c15ull + bid.x * 7919 + bid.y * 104729 + bid.z + 1;
  for (unsigned k = 0; k < nw; k++) wo[k] = rev ? nw - 1 - k : k;
  for (unsigned k = 0; k < 32; k++) lo[k] = rev ? 31 - k : k;
  auto shuffle = [&](uint8_t* a, unsigned m) { for (unsigned k = m; k > 1; k--) std::swap(a[k - 1], a[w->rand() % k]); };
  while (w->alive) {
    bool progress = false;
    if (rnd) shuffle(wo, nw);
    for (unsigned a = 0; a < nw; a++) {
      for (bool any = true; any;) {
        any = false;
        if (rnd) { shuffle(lo, 32); if (progress && w->rand() % 4 == 0) break; }
        for (unsigned b = 0; b < 32; b++) {
          unsigned id = wo[a] * 32 + lo[b];
          if (id >= n) continue;
          Fiber& f = w->f[id];
          if (f.st > READY) continue;
          if (f.st == NEW) { f.stack = w->get_stack(); saved_init(&f.saved, f.stack, fiber_main); f.st = READY; }
          w->cur = &f; simt_cur = &f.pub;
          w->running = true; swap_to(&w->sched, &f.saved); w->running = false;
          if (w->faulted) goto out;
          if (w->direct) b = w->cur->pub.lane;  // lanes may have passed control among themselves
          if (w->cur->st == DONE) w->stacks.push_back(w->cur->stack);
          any = progress = true;
        }
      }
    }
    if (w->alive && w->at_barrier == w->alive) {
      int line = -1;
      for (unsigned k = 0; k < n; k++) {
        Fiber& f = w->f[k];
        if (f.st != WAIT_BLOCK) continue;
        if (line >= 0 && f.line != line) {
          w->kind = FAULT_SYNC; w->faulted = true;
          w->text = at(&f) + ": divergent __syncthreads, lines " + std::to_string(line) + " and " + std::to_string(f.line);
          goto out;
        }
        line = f.line; f.st = READY;
      }
      w->at_barrier = 0; progress = true;
    }
    if (!progress && !rnd) { w->kind = FAULT_SYNC; w->faulted = true; w->text = stuck(w); goto out; }
    if (!progress) {  // random mode may have skipped a runnable warp
      bool runnable = false;
      for (unsigned k = 0; k < n; k++) runnable |= w->f[k].st <= READY;
      if (!runnable) { w->kind = FAULT_SYNC; w->faulted = true; w->text = stuck(w); goto out; }
    }
  }
out:
  if (w->faulted) {
    describe_fault(w);
    for (unsigned k = 0; k < n; k++) if (w->f[k].st != NEW && w->f[k].st != DONE) w->stacks.push_back(w->f[k].stack);
  }
}

// ---- launch over OS threads ------------------------------------------------------------------
struct Job {
  const LaunchSpec* s; uint64_t n, stride, shift;
  std::atomic<uint64_t> next{0}; std::atomic<bool> failed{false};
  int helpers = 0; Fault fault; std::mutex mu;
};
static std::mutex g_mu;  // the rest is never destroyed: helpers outlive exit()
static auto &g_cv = *new std::condition_variable, &g_idle = *new std::condition_variable;
static auto& g_jobs = *new std::vector<Job*>;

// Static shared memory is the TLS of the kernel library: poison it per block.
struct Tls { void* base; size_t size; uintptr_t of; };
static int tls_cb(dl_phdr_info* i, size_t, void* p) {
  auto* t = (Tls*)p; bool mine = false; size_t sz = 0;
  for (int k = 0; k < i->dlpi_phnum; k++) {
    auto& h = i->dlpi_phdr[k];
    if (h.p_type == PT_LOAD && t->of >= i->dlpi_addr + h.p_vaddr && t->of < i->dlpi_addr + h.p_vaddr + h.p_memsz) mine = true;
    if (h.p_type == PT_TLS) sz = h.p_memsz;
  }
  if (mine && i->dlpi_tls_data) { t->base = i->dlpi_tls_data; t->size = sz; }
  return mine;
}
static void participate(Job* j) {
  take_worker();
  Worker* w = W; const LaunchSpec& L = *j->s;
  L.kernel->tls();
  Tls t{nullptr, 0, (uintptr_t)L.kernel->args};
  dl_iterate_phdr(tls_cb, &t);
  for (;;) {
    uint64_t i = j->next.fetch_add(1);
    if (i >= j->n || j->failed) return;
    if (L.order.kind == Order::REVERSE) i = j->n - 1 - i;
    if (L.order.kind == Order::RANDOM) i = (i * j->stride + j->shift) % j->n;
    if (t.base) memset(t.base, 0xff, t.size);
    w->faulted = false;
    run_block(w, L, {unsigned(i % L.grid.x), unsigned(i / L.grid.x % L.grid.y), unsigned(i / L.grid.x / L.grid.y)});
    if (w->faulted) {
      std::lock_guard<std::mutex> g(j->mu);
      if (!j->failed.exchange(true)) j->fault = {w->kind, w->addr, w->write, w->text};
      return;
    }
  }
}
static void helper() {
  sigset_t s; sigfillset(&s);
  for (int k : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&s, k);
  pthread_sigmask(SIG_SETMASK, &s, nullptr);  // the host language's signals go elsewhere
  std::unique_lock<std::mutex> g(g_mu);
  for (;;) {
    Job* j = nullptr;
    for (Job* c : g_jobs) if (c->next < c->n && !c->failed) { j = c; break; }
    if (!j) { g_cv.wait(g); continue; }
    j->helpers++; g.unlock(); participate(j); g.lock();
    if (!--j->helpers) g_idle.notify_all();
  }
}
Fault simt_launch(const LaunchSpec& L) {
  static std::once_flag once;
  std::call_once(once, [] {
    install_signals();
    const char* e = getenv("CUEMU_THREADS");
    int n = e ? atoi(e) : (int)std::thread::hardware_concurrency();
    for (int i = 1; i < n; i++) std::thread(helper).detach();
  });
  Job j; j.s = &L; j.n = (uint64_t)L.grid.x * L.grid.y * L.grid.z;
  j.shift = L.order.seed % j.n; j.stride = 1;
  for (uint64_t s : {7919, 104729, 31, 7, 3}) if (j.n % s) { j.stride = s; break; }
  if (j.n > 1) { std::lock_guard<std::mutex> g(g_mu); g_jobs.push_back(&j); g_cv.notify_all(); }
  participate(&j);
  if (j.n > 1) {
    std::unique_lock<std::mutex> g(g_mu);
    for (size_t i = 0; i < g_jobs.size(); i++) if (g_jobs[i] == &j) { g_jobs.erase(g_jobs.begin() + i); break; }
    g_idle.wait(g, [&] { return !j.helpers; });
  }
  return j.fault;
}
