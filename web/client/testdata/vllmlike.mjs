// A walk of another shape for layout tests: three processes, plain rooms in
// the lane of the forward pass, two norms with adds. Names are made up after
// the usual ones; no times. Synthetic, never shipped.
const ROWS = `route|receive|api|openai/api_server.py|route
create|receive|api|openai/serving_chat.py|create chat
pre|receive|api|openai/serving_chat.py|preprocess
render|receive|api|openai/chat_utils.py|apply template
tokenize|receive|api|openai/chat_utils.py|tokenize
generate|receive|api|engine/async_llm.py|generate
inputs|receive|api|engine/processor.py|process inputs
outq|receive|api|engine/output_proc.py|register
send|receive|api|engine/core_client.py|send
recv|schedule|core|engine/core.py|read socket
addreq|schedule|core|engine/core.py|add request
running|schedule|core|sched/scheduler.py|running first
waiting|schedule|core|sched/scheduler.py|then waiting
computed|schedule|core|core/kv_cache_mgr.py|computed blocks
alloc|schedule|core|core/kv_cache_mgr.py|allocate slots
sout|schedule|core|sched/scheduler.py|output
exec|schedule|core|executor/multiproc.py|execute model
states|compute|gpu|gpu_model_runner.py|update states
prep|compute|gpu|gpu_model_runner.py|prepare inputs
embed|compute|gpu|models/llama.py|embed|residual
qkv|compute|gpu|models/llama.py|qkv proj|op
rotary|compute|gpu|models/llama.py|rotary|op
cache|compute|gpu|models/llama.py|reshape cache|op
flash|compute|gpu|models/llama.py|flash attn|op
o|compute|gpu|models/llama.py|o proj|op
pnorm|compute|gpu|models/llama.py|add, norm|add
gup|compute|gpu|models/llama.py|gate up|op
silu|compute|gpu|models/llama.py|silu, mul|op
down|compute|gpu|models/llama.py|down|op
inorm|compute|gpu|models/llama.py|add, norm|add
norm|compute|gpu|models/llama.py|norm|residual
logits|compute|gpu|models/llama.py|logits|residual
pen|deliver|gpu|sample/sampler.py|penalties
temp|deliver|gpu|sample/sampler.py|temperature
topp|deliver|gpu|sample/sampler.py|top-k, top-p
sample|deliver|gpu|sample/sampler.py|sample
upd|deliver|core|sched/scheduler.py|update
free|deliver|core|sched/scheduler.py|free blocks
eout|deliver|core|engine/core.py|write socket
pout|deliver|api|engine/output_proc.py|process
detok|deliver|api|engine/output_proc.py|detokenize
chunk|deliver|api|openai/serving_chat.py|chunk
sse|deliver|api|openai/serving_chat.py|stream`.split('\n').map((l) => l.split('|'));

export function vllmLike() {
  return {
    schema: { name: 'glassbox-trace', version: '1.0' }, engine: { name: 'synthetic' }, model: { layers: 32 }, device: {}, request: {}, spans: [], passes: [],
    walk: ROWS.map(([id, stage, lane, path, title, role]) => ({ id, title, stage, text: '', lane, source: { path }, spans: [], time_ns: 0, count: 1, ...(role ? { role } : {}) })),
    loops: [{ over: 'layers', from: 'inorm', to: 'qkv' }, { over: 'tokens', from: 'upd', to: 'running' }],
    lanes: [{ id: 'api', title: 'API server', note: 'process 1' }, { id: 'core', title: 'EngineCore', note: 'process 2' }, { id: 'gpu', title: 'GPU worker', note: 'process 3' }],
  };
}
