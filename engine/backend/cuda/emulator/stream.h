// stream.h: streams and events. Part of driver.cc.
#pragma once
// ---- streams ---------------------------------------------------------------------------------------
static void worker(Stream* s) {
  sigset_t m; sigfillset(&m);
  for (int k : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&m, k);
  pthread_sigmask(SIG_SETMASK, &m, nullptr);
  unsigned seed = (unsigned)(uintptr_t)s;
  Lock g(g_mu);
  for (;;) {
    g_cv.wait(g, [&] {
      if (s->q.empty()) return s->stop;
      for (auto& d : s->q.front().deps) if (d.first->done < d.second) return false;
      return true;
    });
    if (s->q.empty()) { simt_thread_exit(); return; }
    Op op = std::move(s->q.front()); s->q.pop_front();
    CUresult r = s->ctx->sticky;
    g.unlock();
    if (g_delay) usleep(rand_r(&seed) % g_delay);
    if (!r) r = op.run();
    g.lock();
    if (r && !s->ctx->sticky) s->ctx->sticky = r;
    s->done++; g_cv.notify_all();
  }
}
static Stream* new_stream(Context* c, unsigned flags) {
  auto* s = new Stream; s->ctx = c; s->flags = flags; s->th = std::thread(worker, s); g_streams.insert(s); return s;
}
static void end_stream(Stream* s, Lock& g) {  // drains; the object itself is kept for old dependencies
  s->stop = true; s->dead = true; g_streams.erase(s); g_cv.notify_all();
  g.unlock(); s->th.join(); g.lock();
}
static Stream* stream_of(Context* c, CUstream h) {
  if (!h || h == CU_STREAM_LEGACY) return c->null;
  auto* s = (Stream*)h;
  return g_streams.count(s) ? s : nullptr;
}
static CUresult push(Context* c, CUstream h, const char* who, std::function<CUresult()> f, bool wait = false, Event* ev = nullptr) {
  Lock g(g_mu);
  Stream* s = stream_of(c, h);
  if (!s) return err(CUDA_ERROR_INVALID_HANDLE, "%s: not a live stream", who);
  if (s->ctx != c && !ev) return err(CUDA_ERROR_INVALID_HANDLE, "%s: the stream belongs to another context", who);
  if (s->capture) {  // the work is noted, not done
    if (wait || ev) { s->capture->broken = true; return err(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s: not while the stream is being captured", who); }
    s->capture->ops.push_back(std::move(f)); return CUDA_SUCCESS;
  }
  Op op; op.run = std::move(f); op.deps = std::move(s->waits); s->waits.clear();
  if (s->null) { for (Stream* o : g_streams) if (o->ctx == c && o != s && !(o->flags & CU_STREAM_NON_BLOCKING)) op.deps.push_back({o, o->enq}); }
  else if (!(s->flags & CU_STREAM_NON_BLOCKING)) op.deps.push_back({c->null, c->null->enq});
  s->q.push_back(std::move(op)); uint64_t seq = ++s->enq;
  if (ev) { ev->s = s; ev->seq = seq; ev->rec++; }
  g_cv.notify_all();
  if (wait || g_sync) { g_cv.wait(g, [&] { return s->done >= seq; }); return c->sticky; }
  return CUDA_SUCCESS;
}
CUresult cuStreamCreateWithPriority(CUstream* p, unsigned f, int prio) { NEED_CTX; NEED_PTR(p); Lock g(g_mu); auto* s = new_stream(ctx, f); s->prio = prio; *p = (CUstream)s; return CUDA_SUCCESS; }
CUresult cuStreamCreate(CUstream* p, unsigned f) { return cuStreamCreateWithPriority(p, f, 0); }
#define NEED_STREAM(h) Lock g(g_mu); Stream* s = stream_of(ctx, h); if (!s) return err(CUDA_ERROR_INVALID_HANDLE, "%s: not a live stream", __func__)
CUresult cuStreamDestroy(CUstream h) { NEED_CTX; NEED_STREAM(h); if (s->null) return CUDA_ERROR_INVALID_HANDLE; end_stream(s, g); return CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream h) { NEED_CTX; NEED_STREAM(h); if (s->capture) { s->capture->broken = true; return err(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamSynchronize: the stream is being captured"); } uint64_t q = s->enq; g_cv.wait(g, [&] { return s->done >= q; }); return ctx->sticky; }
CUresult cuStreamQuery(CUstream h) { NEED_CTX; NEED_STREAM(h); return s->done < s->enq ? CUDA_ERROR_NOT_READY : ctx->sticky; }
CUresult cuStreamGetPriority(CUstream h, int* p) { NEED_CTX; NEED_STREAM(h); *p = s->prio; return CUDA_SUCCESS; }
CUresult cuStreamGetFlags(CUstream h, unsigned* p) { NEED_CTX; NEED_STREAM(h); *p = s->flags; return CUDA_SUCCESS; }
CUresult cuStreamGetCtx(CUstream h, CUcontext* p) { NEED_CTX; NEED_STREAM(h); *p = (CUcontext)s->ctx; return CUDA_SUCCESS; }
CUresult cuStreamWaitEvent(CUstream h, CUevent e, unsigned) {
  NEED_CTX; NEED_STREAM(h); auto* ev = (Event*)e;
  if (!g_events.count(ev)) return err(CUDA_ERROR_INVALID_HANDLE, "cuStreamWaitEvent: not a live event");
  if (ev->s) s->waits.push_back({ev->s, ev->seq});  // never recorded: no wait, as in CUDA
  return CUDA_SUCCESS;
}
CUresult cuLaunchHostFunc(CUstream h, CUhostFn f, void* p) { NEED_CTX; return push(ctx, h, "cuLaunchHostFunc", [=] { f(p); return CUDA_SUCCESS; }); }

// ---- events ----------------------------------------------------------------------------------------
CUresult cuEventCreate(CUevent* p, unsigned f) { NEED_CTX; NEED_PTR(p); Lock g(g_mu); auto* e = new Event; e->ctx = ctx; e->flags = f; g_events.insert(e); *p = (CUevent)e; return CUDA_SUCCESS; }
#define NEED_EVENT(h) auto* e = (Event*)h; { Lock g(g_mu); if (!g_events.count(e)) return err(CUDA_ERROR_INVALID_HANDLE, "%s: not a live event", __func__); }
CUresult cuEventDestroy(CUevent h) { NEED_CTX; NEED_EVENT(h); Lock g(g_mu); g_events.erase(e); return CUDA_SUCCESS; }  // object kept: it may still be recorded
CUresult cuEventRecord(CUevent h, CUstream st) { NEED_CTX; NEED_EVENT(h); return push(ctx, st, "cuEventRecord", [=] { e->t = now_ms(); return CUDA_SUCCESS; }, false, e); }
CUresult cuEventQuery(CUevent h) { NEED_CTX; NEED_EVENT(h); Lock g(g_mu); return e->s && e->s->done < e->seq ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS; }
CUresult cuEventSynchronize(CUevent h) { NEED_CTX; NEED_EVENT(h); Lock g(g_mu); g_cv.wait(g, [&] { return !e->s || e->s->done >= e->seq; }); return ctx->sticky; }
static CUresult elapsed(float* ms, CUevent ha, CUevent hb) {
  NEED_CTX; NEED_PTR(ms); Event *a = (Event*)ha, *b = (Event*)hb; Lock g(g_mu);
  if (!g_events.count(a) || !g_events.count(b) || !a->s || !b->s) return err(CUDA_ERROR_INVALID_HANDLE, "cuEventElapsedTime: event not live or never recorded");
  if ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING) return err(CUDA_ERROR_INVALID_HANDLE, "cuEventElapsedTime: event made with CU_EVENT_DISABLE_TIMING");
  if (a->s->done < a->seq || b->s->done < b->seq) return CUDA_ERROR_NOT_READY;
  *ms = (float)(b->t - a->t); return CUDA_SUCCESS;
}
#undef cuEventElapsedTime
extern "C" CUresult cuEventElapsedTime(float* ms, CUevent a, CUevent b) { return elapsed(ms, a, b); }
extern "C" CUresult cuEventElapsedTime_v2(float* ms, CUevent a, CUevent b) { return elapsed(ms, a, b); }

