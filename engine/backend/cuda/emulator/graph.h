// graph.h: stream capture and graphs, as a list of what was put into the stream. Part of driver.cc.
#pragma once

#define NEED_GRAPH(h) auto* gr = (Graph*)h; if (!g_graphs.count(gr)) return err(CUDA_ERROR_INVALID_HANDLE, "%s: not a live graph", __func__)

static CUresult begin_capture(CUstream h) {
  NEED_CTX; NEED_STREAM(h);
  if (s->null) return err(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamBeginCapture: the null stream cannot be captured");
  if (s->capture) return err(CUDA_ERROR_ILLEGAL_STATE, "cuStreamBeginCapture: the stream is being captured already");
  s->capture = new Graph{ctx, {}, false};
  return CUDA_SUCCESS;
}
#undef cuStreamBeginCapture
extern "C" CUresult cuStreamBeginCapture(CUstream h, CUstreamCaptureMode) { return begin_capture(h); }
extern "C" CUresult cuStreamBeginCapture_v2(CUstream h, CUstreamCaptureMode) { return begin_capture(h); }
CUresult cuStreamEndCapture(CUstream h, CUgraph* out) {
  NEED_CTX; NEED_PTR(out); NEED_STREAM(h);
  if (!s->capture) return err(CUDA_ERROR_ILLEGAL_STATE, "cuStreamEndCapture: the stream is not being captured");
  Graph* c = s->capture; s->capture = nullptr;
  if (c->broken) { delete c; *out = nullptr; return err(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "cuStreamEndCapture: a call that cannot be captured broke it"); }
  g_graphs.insert(c); *out = (CUgraph)c; return CUDA_SUCCESS;
}
static CUresult instantiate(CUgraphExec* out, CUgraph h) {
  NEED_CTX; NEED_PTR(out); Lock g(g_mu); NEED_GRAPH(h);
  auto* x = new Graph(*gr); g_graphs.insert(x); *out = (CUgraphExec)x; return CUDA_SUCCESS;
}
#undef cuGraphInstantiate
extern "C" CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph h, unsigned long long) { return instantiate(out, h); }
CUresult cuGraphLaunch(CUgraphExec h, CUstream st) {
  NEED_CTX; std::vector<std::function<CUresult()>> ops;
  { Lock g(g_mu); NEED_GRAPH(h); if (gr->ctx != ctx) return err(CUDA_ERROR_INVALID_HANDLE, "cuGraphLaunch: the graph belongs to another context"); ops = gr->ops; }
  for (auto& f : ops) if (auto r = push(ctx, st, "cuGraphLaunch", f)) return r;
  return CUDA_SUCCESS;
}
static CUresult drop_graph(Graph* x, const char* who) { NEED_CTX; Lock g(g_mu); if (!g_graphs.erase(x)) return err(CUDA_ERROR_INVALID_HANDLE, "%s: not a live graph", who); delete x; return CUDA_SUCCESS; }
CUresult cuGraphDestroy(CUgraph h) { return drop_graph((Graph*)h, "cuGraphDestroy"); }
CUresult cuGraphExecDestroy(CUgraphExec h) { return drop_graph((Graph*)h, "cuGraphExecDestroy"); }
