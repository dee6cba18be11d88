// memory.h: device and host memory, with guards and canaries. Part of driver.cc.
#pragma once
// ---- memory ----------------------------------------------------------------------------------------
// [guard][slack 0xCB.. | payload | slack 0xCB..][guard]: the payload ends as near to the page end as
// CUDA's 256-byte alignment allows; slack is checked after launches and at free. Addresses are never
// reused, freed memory is unmapped for good.
static const size_t kPage = 4096, kGap = 64 * 1024; static const unsigned char kCanary = 0xcb;
static CUresult alloc(Context* c, size_t size, int kind, CUdeviceptr* out) {
  if (!size) return err(CUDA_ERROR_INVALID_VALUE, "allocation of 0 bytes");
  Lock g(g_mu);
  if (kind != Alloc::HOST && size > g_total - g_used[c->dev]) return err(CUDA_ERROR_OUT_OF_MEMORY, "device %d: %zu bytes asked, %zu of %zu free", c->dev, size, g_total - g_used[c->dev], g_total);
  size_t pay = (size + 255) & ~size_t(255), len = (pay + kPage - 1) & ~(kPage - 1);
  char* m = g_arena_next + kGap;
  if (m + len + kGap > g_arena_end || mprotect(m, len, PROT_READ | PROT_WRITE)) return err(CUDA_ERROR_OUT_OF_MEMORY, "emulator address space exhausted (addresses are not reused)");
  g_arena_next = m + len;
  char* base = m + len - pay;
  memset(m, kCanary, base - m); memset(base + size, kCanary, pay - size);
  if (g_poison) memset(base, 0xff, size);
  g_allocs[(uintptr_t)base] = {(uintptr_t)base, size, m, len, c, ++g_ids, (decltype(Alloc::kind))kind, false};
  if (kind != Alloc::HOST) g_used[c->dev] += size;
  *out = (CUdeviceptr)base; return CUDA_SUCCESS;
}
static Alloc* around(uintptr_t p) {  // the allocation, live or freed, that p is in or next to
  auto it = g_allocs.upper_bound(p + kGap);
  Alloc* best = nullptr; size_t bd = kGap;
  for (int i = 0; i < 3 && it != g_allocs.begin(); i++) {
    Alloc& a = (--it)->second;
    size_t d = p < a.base ? a.base - p : p >= a.base + a.size ? p - a.base - a.size + 1 : 0;
    if (d < bd || !best) { best = &a; bd = d; }
  }
  return bd < kGap ? best : nullptr;
}
static Alloc* inside(uintptr_t p) { auto it = g_allocs.upper_bound(p); if (it == g_allocs.begin()) return nullptr; Alloc& a = (--it)->second; return p < a.base + a.size ? &a : nullptr; }
static string where(uintptr_t p) {
  char b[200]; Alloc* a = around(p);
  if (!a) snprintf(b, sizeof b, "0x%lx, in no device allocation", p);
  else {
    long off = (long)(p - a->base);
    snprintf(b, sizeof b, "0x%lx, %ld bytes %s %sallocation #%lu of %zu bytes", p, off < 0 ? -off : off >= (long)a->size ? off - (long)a->size : off,
             off < 0 ? "before" : off >= (long)a->size ? "past the end of" : "into", a->freed ? "FREED " : "", a->id, a->size);
  }
  return b;
}
static string canary(const Alloc& a) {
  auto bad = [&](const char* p, const char* e) -> const char* { for (; p < e; p++) if ((unsigned char)*p != kCanary) return p; return nullptr; };
  const char* p = bad((char*)a.base + a.size, a.map + a.len);
  if (!p) p = bad(a.map, (char*)a.base);
  return p ? where((uintptr_t)p) : "";
}
static CUresult range(Context* c, const char* who, uintptr_t p, size_t n, bool peer = false) {
  if (!n) return CUDA_SUCCESS;
  Alloc* a = inside(p);
  if (!a || a->freed) return err(CUDA_ERROR_INVALID_VALUE, "%s: %s", who, where(p).c_str());
  if (p + n > a->base + a->size) return err(CUDA_ERROR_INVALID_VALUE, "%s: %zu bytes at %s", who, n, where(p).c_str());
  if (!peer && a->kind == Alloc::DEVICE && a->ctx->dev != c->dev && !c->peers.count(a->ctx))
    return err(CUDA_ERROR_INVALID_VALUE, "%s: memory of device %d used on device %d without peer access", who, a->ctx->dev, c->dev);
  return CUDA_SUCCESS;
}
static CUresult range_l(Context* c, const char* who, uintptr_t p, size_t n, bool peer = false) { Lock g(g_mu); return range(c, who, p, n, peer); }
static CUresult release(Context* c, uintptr_t p, bool host) {
  { Lock g(g_mu);  // cuMemFree synchronises with all work of the context
    std::vector<Dep> d; for (Stream* s : g_streams) if (s->ctx == c) d.push_back({s, s->enq});
    g_cv.wait(g, [&] { for (auto& x : d) if (x.first->done < x.second) return false; return true; }); }
  Lock g(g_mu);
  auto it = g_allocs.find(p);
  if (it == g_allocs.end()) return err(CUDA_ERROR_INVALID_VALUE, "free of %s", where(p).c_str());
  Alloc& a = it->second;
  if (a.freed) return err(CUDA_ERROR_INVALID_VALUE, "double free of allocation #%lu", a.id);
  if ((a.kind == Alloc::HOST) != host) return err(CUDA_ERROR_INVALID_VALUE, "allocation #%lu freed with the wrong function", a.id);
  string bad = canary(a);
  mmap(a.map, a.len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  a.freed = true; if (!host) g_used[a.ctx->dev] -= a.size;
  if (!bad.empty()) return err(CUDA_ERROR_ILLEGAL_ADDRESS, "found at free: overwritten byte at %s", bad.c_str());
  return c->sticky;
}
CUresult cuMemAlloc(CUdeviceptr* p, size_t n) { NEED_CTX; NEED_PTR(p); return alloc(ctx, n, Alloc::DEVICE, p); }
CUresult cuMemAllocManaged(CUdeviceptr* p, size_t n, unsigned) { NEED_CTX; NEED_PTR(p); return alloc(ctx, n, Alloc::MANAGED, p); }
CUresult cuMemFree(CUdeviceptr p) { NEED_CTX; return p ? release(ctx, p, false) : CUDA_SUCCESS; }
CUresult cuMemHostAlloc(void** p, size_t n, unsigned) { NEED_CTX; NEED_PTR(p); CUdeviceptr d; CUresult r = alloc(ctx, n, Alloc::HOST, &d); *p = (void*)d; return r; }
CUresult cuMemAllocHost(void** p, size_t n) { return cuMemHostAlloc(p, n, 0); }
CUresult cuMemFreeHost(void* p) { NEED_CTX; return release(ctx, (uintptr_t)p, true); }
CUresult cuMemHostGetDevicePointer(CUdeviceptr* d, void* p, unsigned) { NEED_CTX; *d = (CUdeviceptr)p; return CUDA_SUCCESS; }
CUresult cuMemGetInfo(size_t* f, size_t* t) { NEED_CTX; Lock g(g_mu); *t = g_total; *f = g_total - g_used[ctx->dev]; return CUDA_SUCCESS; }
CUresult cuMemGetAddressRange(CUdeviceptr* b, size_t* n, CUdeviceptr p) {
  NEED_CTX; Lock g(g_mu); Alloc* a = inside(p);
  if (!a || a->freed) return err(CUDA_ERROR_NOT_FOUND, "cuMemGetAddressRange: %s", where(p).c_str());
  if (b) *b = a->base;
  if (n) *n = a->size;
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void* out, CUpointer_attribute k, CUdeviceptr p) {
  NEED_CTX; NEED_PTR(out); Lock g(g_mu); Alloc* a = inside(p);
  if (!a || a->freed) return CUDA_ERROR_INVALID_VALUE;
  switch (k) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext*)out = (CUcontext)a->ctx; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned*)out = a->kind == Alloc::HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int*)out = a->ctx->dev; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned*)out = a->kind == Alloc::MANAGED; break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}
static bool pinned(const void* p) { Lock g(g_mu); Alloc* a = inside((uintptr_t)p); return a && !a->freed && a->kind != Alloc::DEVICE; }
static CUresult copy(Context* c, const char* who, void* dst, const void* src, size_t n, CUstream st, bool wait) {
  return push(c, st, who, [=] { memcpy(dst, src, n); return CUDA_SUCCESS; }, wait);
}
// Pageable host memory, as in the real driver: HtoD reads it before returning, DtoH returns when done.
static CUresult htod(const char* who, CUdeviceptr d, const void* h, size_t n, CUstream st, bool wait) {
  NEED_CTX; if (auto r = range_l(ctx, who, d, n)) return r;
  if (wait || pinned(h)) return copy(ctx, who, (void*)d, h, n, st, wait);
  auto tmp = std::make_shared<std::vector<char>>((const char*)h, (const char*)h + n);
  return push(ctx, st, who, [=] { memcpy((void*)d, tmp->data(), n); return CUDA_SUCCESS; });
}
static CUresult dtoh(const char* who, void* h, CUdeviceptr d, size_t n, CUstream st, bool wait) {
  NEED_CTX; if (auto r = range_l(ctx, who, d, n)) return r;
  return copy(ctx, who, h, (void*)d, n, st, wait || !pinned(h));
}
static CUresult dtod(const char* who, CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st, bool wait, bool peer = false) {
  NEED_CTX; if (auto r = range_l(ctx, who, d, n, peer)) return r; if (auto r = range_l(ctx, who, s, n, peer)) return r;
  return copy(ctx, who, (void*)d, (void*)s, n, st, wait);
}
CUresult cuMemcpyHtoD(CUdeviceptr d, const void* h, size_t n) { return htod("cuMemcpyHtoD", d, h, n, nullptr, true); }
CUresult cuMemcpyDtoH(void* h, CUdeviceptr d, size_t n) { return dtoh("cuMemcpyDtoH", h, d, n, nullptr, true); }
CUresult cuMemcpyDtoD(CUdeviceptr d, CUdeviceptr s, size_t n) { return dtod("cuMemcpyDtoD", d, s, n, nullptr, true); }
CUresult cuMemcpy(CUdeviceptr d, CUdeviceptr s, size_t n) { return dtod("cuMemcpy", d, s, n, nullptr, true, true); }
CUresult cuMemcpyHtoDAsync(CUdeviceptr d, const void* h, size_t n, CUstream st) { return htod("cuMemcpyHtoDAsync", d, h, n, st, false); }
CUresult cuMemcpyDtoHAsync(void* h, CUdeviceptr d, size_t n, CUstream st) { return dtoh("cuMemcpyDtoHAsync", h, d, n, st, false); }
CUresult cuMemcpyDtoDAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st) { return dtod("cuMemcpyDtoDAsync", d, s, n, st, false); }
CUresult cuMemcpyAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st) { return dtod("cuMemcpyAsync", d, s, n, st, false, true); }
CUresult cuMemcpyPeer(CUdeviceptr d, CUcontext, CUdeviceptr s, CUcontext, size_t n) { return dtod("cuMemcpyPeer", d, s, n, nullptr, true, true); }
CUresult cuMemcpyPeerAsync(CUdeviceptr d, CUcontext, CUdeviceptr s, CUcontext, size_t n, CUstream st) { return dtod("cuMemcpyPeerAsync", d, s, n, st, false, true); }
template <class T> static CUresult fill(const char* who, CUdeviceptr d, T v, size_t n, CUstream st, bool wait) {
  NEED_CTX; if (auto r = range_l(ctx, who, d, n * sizeof(T))) return r;
  if (d % sizeof(T)) return err(CUDA_ERROR_INVALID_VALUE, "%s: misaligned", who);
  return push(ctx, st, who, [=] { std::fill_n((T*)d, n, v); return CUDA_SUCCESS; }, wait);
}
CUresult cuMemsetD8(CUdeviceptr d, unsigned char v, size_t n) { return fill("cuMemsetD8", d, v, n, nullptr, true); }
CUresult cuMemsetD16(CUdeviceptr d, unsigned short v, size_t n) { return fill("cuMemsetD16", d, v, n, nullptr, true); }
CUresult cuMemsetD32(CUdeviceptr d, unsigned v, size_t n) { return fill("cuMemsetD32", d, v, n, nullptr, true); }
CUresult cuMemsetD8Async(CUdeviceptr d, unsigned char v, size_t n, CUstream s) { return fill("cuMemsetD8Async", d, v, n, s, false); }
CUresult cuMemsetD16Async(CUdeviceptr d, unsigned short v, size_t n, CUstream s) { return fill("cuMemsetD16Async", d, v, n, s, false); }
CUresult cuMemsetD32Async(CUdeviceptr d, unsigned v, size_t n, CUstream s) { return fill("cuMemsetD32Async", d, v, n, s, false); }

