// module.h: contexts and PTX modules. Part of driver.cc.
#pragma once
// ---- contexts ----------------------------------------------------------------------------------------
static Context* new_context(int dev, unsigned flags, bool primary) {
  auto* c = new Context; c->dev = dev; c->flags = flags; c->primary = primary;
  c->null = new_stream(c, 0); c->null->null = true; g_ctx.insert(c); return c;
}
static int kill_context(Context* c, Lock& g) {
  std::vector<Stream*> mine; int leaks = 0;
  for (Stream* s : g_streams) if (s->ctx == c) mine.push_back(s);
  for (Stream* s : mine) { if (!s->null) { say("leak: a stream was not destroyed"); leaks++; } end_stream(s, g); }
  size_t bytes = 0, n = 0;
  for (auto& kv : g_allocs) {
    Alloc& a = kv.second;
    if (a.ctx != c || a.freed) continue;
    if (n++ < 8) say("leak: allocation #%lu of %zu bytes was not freed", a.id, a.size);
    bytes += a.size;
    string bad = canary(a); if (!bad.empty()) say("found at context destroy: overwritten byte at %s", bad.c_str());
    mmap(a.map, a.len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    a.freed = true; if (a.kind != Alloc::HOST) g_used[c->dev] -= a.size;
  }
  if (n) say("leak: %zu allocations, %zu bytes on device %d", n, bytes, c->dev);
  for (auto it = g_events.begin(); it != g_events.end();) if ((*it)->ctx == c) { say("leak: an event was not destroyed"); leaks++; it = g_events.erase(it); } else ++it;
  for (auto it = g_modules.begin(); it != g_modules.end();) if ((*it)->ctx == c) { for (auto& f : (*it)->fns) g_fns.erase(f.second.get()); it = g_modules.erase(it); } else ++it;
  for (auto it = g_graphs.begin(); it != g_graphs.end();) if ((*it)->ctx == c) { say("leak: a graph was not destroyed"); leaks++; it = g_graphs.erase(it); } else ++it;
  for (Context* o : g_ctx) o->peers.erase(c);
  if ((leaks || n) && atoi(env("CUEMU_LEAK_ABORT", "0"))) { say("leaks are fatal here (CUEMU_LEAK_ABORT)"); abort(); }
  c->alive = false; g_ctx.erase(c);
  return leaks + (int)n;
}
static CUresult ctx_create(CUcontext* p, unsigned f, CUdevice d) { NEED_DEV(d); NEED_PTR(p); Lock g(g_mu); auto* c = new_context(d, f, false); stack().push_back(c); *p = (CUcontext)c; return CUDA_SUCCESS; }
#undef cuCtxCreate
extern "C" CUresult cuCtxCreate_v2(CUcontext* p, unsigned f, CUdevice d) { return ctx_create(p, f, d); }
extern "C" CUresult cuCtxCreate_v4(CUcontext* p, CUctxCreateParams*, unsigned f, CUdevice d) { return ctx_create(p, f, d); }
#define NEED_LIVE(h) NEED_INIT; auto* c = (Context*)h; { Lock g(g_mu); if (!g_ctx.count(c)) return err(CUDA_ERROR_INVALID_CONTEXT, "%s: not a live context", __func__); }
CUresult cuCtxDestroy(CUcontext h) {
  NEED_LIVE(h); if (c->primary) return CUDA_ERROR_INVALID_CONTEXT;
  Lock g(g_mu); kill_context(c, g);
  auto& s = stack(); if (!s.empty() && s.back() == c) s.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext h) { NEED_LIVE(h); stack().push_back(c); return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent(CUcontext* p) { NEED_INIT; auto& s = stack(); if (s.empty()) return err(CUDA_ERROR_INVALID_CONTEXT, "cuCtxPopCurrent: none"); if (p) *p = (CUcontext)s.back(); s.pop_back(); return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext h) {
  NEED_INIT; auto& s = stack();
  if (!h) { if (!s.empty()) s.pop_back(); return CUDA_SUCCESS; }
  NEED_LIVE(h); if (s.empty()) s.push_back(c); else s.back() = c; return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* p) { NEED_INIT; *p = (CUcontext)current(); return CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* d) { NEED_CTX; *d = ctx->dev; return CUDA_SUCCESS; }
CUresult cuCtxGetFlags(unsigned* f) { NEED_CTX; *f = ctx->flags; return CUDA_SUCCESS; }
CUresult cuCtxGetApiVersion(CUcontext, unsigned* v) { NEED_INIT; *v = 3020; return CUDA_SUCCESS; }
CUresult cuCtxGetStreamPriorityRange(int* a, int* b) { NEED_CTX; if (a) *a = 0; if (b) *b = -5; return CUDA_SUCCESS; }
CUresult cuCtxGetLimit(size_t* v, CUlimit l) { NEED_CTX; *v = ctx->limits[l]; return CUDA_SUCCESS; }
CUresult cuCtxSetLimit(CUlimit l, size_t v) { NEED_CTX; ctx->limits[l] = v; return CUDA_SUCCESS; }
CUresult cuCtxSetCacheConfig(CUfunc_cache) { NEED_CTX; return CUDA_SUCCESS; }
CUresult cuCtxGetCacheConfig(CUfunc_cache* p) { NEED_CTX; *p = CU_FUNC_CACHE_PREFER_NONE; return CUDA_SUCCESS; }
CUresult cuCtxSynchronize(void) {
  NEED_CTX; Lock g(g_mu); std::vector<Dep> d;
  for (Stream* s : g_streams) if (s->ctx == ctx) d.push_back({s, s->enq});
  g_cv.wait(g, [&] { for (auto& x : d) if (x.first->done < x.second) return false; return true; });
  return ctx->sticky;
}
CUresult cuCtxEnablePeerAccess(CUcontext h, unsigned f) {
  NEED_CTX; NEED_LIVE(h); Lock g(g_mu);
  if (f) return CUDA_ERROR_INVALID_VALUE;
  if (c->dev == ctx->dev) return err(CUDA_ERROR_INVALID_DEVICE, "cuCtxEnablePeerAccess: same device");
  return ctx->peers.insert(c).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}
CUresult cuCtxDisablePeerAccess(CUcontext h) { NEED_CTX; NEED_LIVE(h); Lock g(g_mu); return ctx->peers.erase(c) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED; }
CUresult cuDevicePrimaryCtxRetain(CUcontext* p, CUdevice d) {
  NEED_DEV(d); NEED_PTR(p); Lock g(g_mu);
  if (!g_primary[d]) g_primary[d] = new_context(d, 0, true);
  g_primary[d]->refs++; *p = (CUcontext)g_primary[d]; return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice d) {
  NEED_DEV(d); Lock g(g_mu); Context* c = g_primary[d];
  if (!c) return err(CUDA_ERROR_INVALID_CONTEXT, "primary context of device %d is not active", (int)d);
  if (!--c->refs) { kill_context(c, g); g_primary[d] = nullptr; }
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset(CUdevice d) { NEED_DEV(d); Lock g(g_mu); if (Context* c = g_primary[d]) { kill_context(c, g); g_primary[d] = nullptr; } return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxSetFlags(CUdevice d, unsigned) { NEED_DEV(d); return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned* f, int* a) { NEED_DEV(d); Lock g(g_mu); *f = 0; *a = g_primary[d] != nullptr; return CUDA_SUCCESS; }

// ---- modules -------------------------------------------------------------------------------------------
struct Tok {  // enough of a PTX tokeniser for headers and entry points
  const char* p; string t;
  bool next() {
    for (;;) {
      while (*p && isspace((unsigned char)*p)) p++;
      if (p[0] == '/' && p[1] == '/') { while (*p && *p != '\n') p++; continue; }
      if (p[0] == '/' && p[1] == '*') { const char* e = strstr(p, "*/"); p = e ? e + 2 : p + strlen(p); continue; }
      break;
    }
    if (!*p) return false;
    const char* s = p;
    if (isalnum((unsigned char)*p) || strchr("._$%", *p)) while (isalnum((unsigned char)*p) || (*p && strchr("._$%", *p))) p++; else p++;
    t.assign(s, p - s); return true;
  }
};
static unsigned type_size(const string& t) {
  if (t.size() < 3 || t[0] != '.' || !strchr("bsuf", t[1])) return 0;
  return (unsigned)atoi(t.c_str() + 2) / 8;
}
// name[12] after a .b8: returns the element count
static unsigned extent(Tok& k) { const char* save = k.p; string keep = k.t; if (k.next() && k.t == "[") { k.next(); unsigned n = atoi(k.t.c_str()); k.next(); return n; } k.p = save; k.t = keep; return 1; }
static CUresult load(Context* ctx, const char* text, CUmodule* out) {
  if (!memcmp(text, "\x7f" "ELF", 4) || !memcmp(text, "\x50\xed\x55\xba", 4)) return err(CUDA_ERROR_NO_BINARY_FOR_GPU, "cubin and fatbin cannot be emulated: load the PTX text");
  auto m = std::make_unique<Module>(); m->ctx = ctx;
  Tok k{text, ""}; Function* f = nullptr; int depth = 0; bool seen = false;
  while (k.next()) {
    if (k.t == ".version") {
      seen = true; k.next(); int v = ver(k.t.c_str());
      if (v > g_isa) return err(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "PTX ISA %s is newer than driver %d.%d understands (%d.%d)", k.t.c_str(), g_driver / 10, g_driver % 10, g_isa / 10, g_isa % 10);
    } else if (k.t == ".target") {
      k.next(); int cc = atoi(k.t.c_str() + 3);
      if (cc > g_cc) return err(CUDA_ERROR_NO_BINARY_FOR_GPU, "PTX for %s on a device of compute capability %d.%d", k.t.c_str(), g_cc / 10, g_cc % 10);
    } else if (k.t == ".entry") {
      k.next(); auto fn = std::make_unique<Function>(); f = fn.get(); f->name = k.t; f->ctx = ctx; f->dyn_max = 48 << 10;
      k.next();
      if (k.t == "(") while (k.next() && k.t != ")") if (k.t == ".param") {
        unsigned sz = 0;
        while (k.next() && (k.t[0] == '.' || isdigit((unsigned char)k.t[0]))) if (unsigned s = type_size(k.t)) sz = s;
        f->params.push_back(sz * extent(k));
      }
      m->fns[f->name] = std::move(fn);
    } else if (k.t == ".maxntid" && f) {
      unsigned n = 1; do { k.next(); n *= atoi(k.t.c_str()); const char* s = k.p; k.next(); if (k.t != ",") { k.p = s; break; } } while (true);
      f->maxntid = n;
    } else if (k.t == ".shared" && f && depth) {
      unsigned sz = 0;
      while (k.next() && (k.t[0] == '.' || isdigit((unsigned char)k.t[0]))) if (unsigned s = type_size(k.t)) sz = s;
      f->static_shared += sz * extent(k);
    } else if ((k.t == ".global" || k.t == ".const") && !depth) {
      while (k.next() && (k.t[0] == '.' || isdigit((unsigned char)k.t[0]))) {}
      m->globals.insert(k.t);
    } else if (k.t == "{") depth++;
    else if (k.t == "}") { if (!--depth) f = nullptr; }
  }
  if (!seen) return err(CUDA_ERROR_INVALID_PTX, "not PTX text");
  for (auto& kv : m->fns) {
    Function& fn = *kv.second; fn.k = simt_find(fn.name.c_str());
    if (!fn.k) { say("PTX entry %s has no CPU build", fn.name.c_str()); continue; }
    bool ok = fn.k->nargs == fn.params.size();
    for (unsigned i = 0; ok && i < fn.k->nargs; i++) ok = fn.k->args[i].size == fn.params[i];
    if (!ok) return err(CUDA_ERROR_INVALID_IMAGE, "PTX and CPU build of %s differ in their parameters: rebuild both", fn.name.c_str());
  }
  Lock g(g_mu); for (auto& kv : m->fns) g_fns.insert(kv.second.get());
  *out = (CUmodule)m.get(); g_modules.insert(m.release()); return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* m, const void* p) { NEED_CTX; NEED_PTR(m); NEED_PTR(p); return load(ctx, (const char*)p, m); }
CUresult cuModuleLoadDataEx(CUmodule* m, const void* p, unsigned, CUjit_option*, void**) { NEED_CTX; NEED_PTR(m); NEED_PTR(p); return load(ctx, (const char*)p, m); }
CUresult cuModuleLoad(CUmodule* m, const char* path) {
  NEED_CTX; NEED_PTR(m); std::ifstream f(path); if (!f) return err(CUDA_ERROR_FILE_NOT_FOUND, "%s", path);
  std::stringstream s; s << f.rdbuf(); return load(ctx, s.str().c_str(), m);
}
CUresult cuModuleUnload(CUmodule h) { NEED_CTX; auto* m = (Module*)h; Lock g(g_mu); if (!g_modules.erase(m)) return err(CUDA_ERROR_INVALID_HANDLE, "cuModuleUnload: not a live module"); for (auto& f : m->fns) g_fns.erase(f.second.get()); return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* out, CUmodule h, const char* name) {
  NEED_CTX; NEED_PTR(out); auto* m = (Module*)h; Lock g(g_mu);
  if (!g_modules.count(m)) return err(CUDA_ERROR_INVALID_HANDLE, "cuModuleGetFunction: not a live module");
  auto it = m->fns.find(name);
  if (it == m->fns.end()) return err(CUDA_ERROR_NOT_FOUND, "no entry %s in this PTX", name);
  if (!it->second->k) return err(CUDA_ERROR_NOT_FOUND, "entry %s is in the PTX but not in the CPU build", name);
  *out = (CUfunction)it->second.get(); return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal(CUdeviceptr* p, size_t* n, CUmodule h, const char* name) {
  NEED_CTX; (void)p; (void)n; (void)h; return err(CUDA_ERROR_NOT_SUPPORTED, "cuModuleGetGlobal(%s): pass module globals as arguments instead", name);
}
#define NEED_FN(h) auto* f = (Function*)h; { Lock g(g_mu); if (!g_fns.count(f)) return err(CUDA_ERROR_INVALID_HANDLE, "%s: not a live function", __func__); }
CUresult cuFuncGetAttribute(int* v, CUfunction_attribute a, CUfunction h) {
  NEED_CTX; NEED_FN(h);
  switch (a) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *v = (int)f->maxntid; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *v = (int)f->static_shared; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *v = f->dyn_max; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *v = 32; break;
    default: *v = 0;
  }
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction h, CUfunction_attribute a, int v) {
  NEED_CTX; NEED_FN(h);
  if (a == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) { if (v < 0 || v + (int)f->static_shared > optin()) return err(CUDA_ERROR_INVALID_VALUE, "%s: %d bytes of dynamic shared memory, at most %d", f->name.c_str(), v, optin()); f->dyn_max = v; }
  return CUDA_SUCCESS;
}
CUresult cuFuncSetCacheConfig(CUfunction h, CUfunc_cache) { NEED_CTX; NEED_FN(h); return CUDA_SUCCESS; }
CUresult cuFuncGetParamInfo(CUfunction h, size_t i, size_t* off, size_t* size) {
  NEED_CTX; NEED_FN(h); size_t o = 0;
  if (i >= f->params.size()) return CUDA_ERROR_INVALID_VALUE;
  for (size_t k = 0; k <= i; k++) { size_t a = f->k ? f->k->args[k].align : 8; o = (o + a - 1) / a * a; if (k < i) o += f->params[k]; }
  if (off) *off = o;
  if (size) *size = f->params[i];
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* n, CUfunction h, int block, size_t dyn) {
  NEED_CTX; NEED_FN(h); if (block <= 0) return CUDA_ERROR_INVALID_VALUE;
  size_t sh = dyn + f->static_shared; int a = 2048 / block, b = sh ? (int)(optin() / sh) : 32; *n = std::min(std::min(a, b), 32); return CUDA_SUCCESS;
}

