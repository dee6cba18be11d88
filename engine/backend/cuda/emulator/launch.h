// launch.h: kernel launches, with what is checked around them. Part of driver.cc.
#pragma once
// ---- launch ----------------------------------------------------------------------------------------------
struct Args { std::vector<uint64_t> store; std::vector<void*> ptr; std::vector<uintptr_t> devs; std::vector<Alloc> writable; };
static CUresult fault_code(const Fault& f) {
  switch (f.kind) { case FAULT_ADDRESS: return CUDA_ERROR_ILLEGAL_ADDRESS; case FAULT_MISALIGNED: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FAULT_TRAP: return CUDA_ERROR_ASSERT; default: return CUDA_ERROR_LAUNCH_FAILED; }
}
static CUresult run_once(const LaunchSpec& L, const string& name, const Args& a) {
  Fault f = simt_launch(L);
  if (f.kind != FAULT_NONE) {
    string w; if (f.kind == FAULT_ADDRESS) { Lock g(g_mu); w = ", address " + where(f.addr); }
    return err(fault_code(f), "kernel %s, %s%s", name.c_str(), f.text.c_str(), w.c_str());
  }
  Lock g(g_mu);
  for (uintptr_t d : a.devs) if (Alloc* al = inside(d)) if (!al->freed) {
    string bad = canary(*al);
    if (!bad.empty()) return err(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel %s wrote out of bounds at %s", name.c_str(), bad.c_str());
  }
  return CUDA_SUCCESS;
}
static CUresult run(LaunchSpec L, const string& name, const Args& a) {
  if (!g_racecheck || g_race_ok.find("," + name + ",") != string::npos) return run_once(L, name, a);
  // The result must not depend on the order of threads: run in several orders from the same state.
  typedef std::vector<std::vector<char>> Snap;
  auto snap = [&] { Snap s; for (auto& w : a.writable) s.emplace_back((char*)w.base, (char*)w.base + w.size); return s; };
  auto put = [&](const Snap& s) { for (size_t i = 0; i < s.size(); i++) memcpy((void*)a.writable[i].base, s[i].data(), s[i].size()); };
  Snap before = snap(), first;
  for (int i = 0; i < 2 + g_racecheck; i++) {
    if (i) put(before);
    L.order.kind = i == 0 ? Order::FORWARD : i == 1 ? Order::REVERSE : Order::RANDOM; L.order.seed = i;
    if (auto r = run_once(L, name, a)) return r;
    Snap s = snap();
    if (!i) { first = std::move(s); continue; }
    for (size_t k = 0; k < s.size(); k++) if (s[k] != first[k]) {
      size_t o = std::mismatch(s[k].begin(), s[k].end(), first[k].begin()).first - s[k].begin();
      return err(CUDA_ERROR_LAUNCH_FAILED, "kernel %s: the result depends on the order of threads (missing barrier?), first difference at byte %zu of allocation #%lu", name.c_str(), o, a.writable[k].id);
    }
  }
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction h, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned dyn, CUstream st, void** params, void** extra) {
  // gorgonia.org/cu passes malloc(8*k) slots, slot i pointing 8*i into a second block, and frees both
  // at once; k can so be told. The slots are scribbled over, so that stale ones never look valid.
  std::vector<void*> own; size_t have = 0;
  if (g_gorgonia && params) {
    size_t u = malloc_usable_size(params) / 8;
    while (have < u && (char*)params[have] == (char*)params[0] + 8 * have) have++;
    own.assign(params, params + have);
    for (size_t i = 0; i < u; i++) params[i] = (void*)0xdead;
    params = own.data();
  }
  NEED_CTX; NEED_FN(h);
  const char* nm = f->name.c_str(); const size_t n = f->params.size();
  if (g_gorgonia && params) {
    if (have == n + 1 && n % 2 == 0) have = n;  // malloc rounds up: the slot after an even number may hold anything
    if (have != n) return err(CUDA_ERROR_INVALID_VALUE, "%s: %zu arguments, %zu expected", nm, have, n);
    for (size_t i = 0; i < n; i++) if (f->params[i] > 8) return err(CUDA_ERROR_INVALID_VALUE, "%s: parameter %zu has %u bytes, gorgonia.org/cu copies only 8", nm, i, f->params[i]);
  }
  if (extra) return err(CUDA_ERROR_NOT_SUPPORTED, "%s: the extra argument is not supported", nm);
  if (f->ctx != ctx) return err(CUDA_ERROR_INVALID_HANDLE, "%s: the function belongs to another context", nm);
  if (!gx || !gy || !gz || !bx || !by || !bz || gx > 0x7fffffffu || gy > 65535 || gz > 65535 || bx > 1024 || by > 1024 || bz > 64 || (uint64_t)bx * by * bz > 1024)
    return err(CUDA_ERROR_INVALID_VALUE, "%s: grid (%u,%u,%u) block (%u,%u,%u)", nm, gx, gy, gz, bx, by, bz);
  if (bx * by * bz > f->maxntid) return err(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "%s: %u threads per block, __launch_bounds__ allows %u", nm, bx * by * bz, f->maxntid);
  if ((int)dyn > f->dyn_max || dyn + f->static_shared > std::max<unsigned>(48 << 10, f->dyn_max + f->static_shared))
    return err(CUDA_ERROR_INVALID_VALUE, "%s: %u bytes of dynamic shared memory, %d allowed (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)", nm, dyn, f->dyn_max);
  if (n && !params) return err(CUDA_ERROR_INVALID_VALUE, "%s: no arguments, %zu expected", nm, n);
  auto a = std::make_shared<Args>(); std::vector<size_t> off; size_t words = 0;
  for (size_t i = 0; i < n; i++) { off.push_back(words); words += (f->params[i] + 15) / 16 * 2; }
  a->store.resize(words + 2);
  uint64_t* base = (uint64_t*)(((uintptr_t)a->store.data() + 15) & ~(uintptr_t)15);
  for (size_t i = 0; i < n; i++) {
    if (!params[i]) return err(CUDA_ERROR_INVALID_VALUE, "%s: argument %zu is null", nm, i);
    memcpy(base + off[i], params[i], f->params[i]); a->ptr.push_back(base + off[i]);
    if (!f->k->args[i].pointer) continue;
    uintptr_t p = base[off[i]]; if (!p) continue;
    Lock g(g_mu); Alloc* al = inside(p);
    if (!al || al->freed) return err(CUDA_ERROR_INVALID_VALUE, "%s: argument %zu is not live device memory: %s", nm, i, where(p).c_str());
    if (auto r = range(ctx, nm, p, 1)) return r;
    a->devs.push_back(p); if (f->k->args[i].writes) a->writable.push_back(*al);
  }
  string name = f->name; SimtKernel* k = f->k;
  return push(ctx, st, nm, [=] {  // counted when it is done, so that replays of a graph count too
    if (g_lose_after) { Lock g(g_mu); if (++g_launches > g_lose_after) return err(CUDA_ERROR_LAUNCH_FAILED, "%s: the device is lost (CUEMU_LOSE_AFTER)", name.c_str()); }
    return run({k, a->ptr.data(), {gx, gy, gz}, {bx, by, bz}, dyn, g_order}, name, *a);
  });
}

CUresult cuGetErrorName(CUresult r, const char** s) { static thread_local char b[40]; snprintf(b, sizeof b, "CUDA_ERROR_%d", (int)r); *s = b; return CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult r, const char** s) { return cuGetErrorName(r, s); }
