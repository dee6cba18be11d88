// A synthetic recording for tests of the client and for work on its drawing.
// It is made by arithmetic, not by an engine: engine.name says so, and it is
// never shipped or shown on a page. Deterministic: no clock, no random source.
//
//	node testdata/synthetic.mjs [layers] [passes] > FILE.json
import { ANSWER, PROMPT } from './tokens.mjs';

const W = 'engine/model/llama.go';
// id, title, stage letter, lane, path, nanoseconds for one run
const ROWS = `first_byte|first byte|R|http|engine/openai/conn.go|38000
route|route|R|http|engine/openai/routes.go|6000
read_body|read body|R|http|engine/openai/chat.go|22000
decode_json|decode|R|http|engine/openai/chat.go|47000
validate|validate|R|http|engine/openai/chat.go|4000
request_id|request id|R|http|engine/openai/chat.go|2000
template|template|R|http|engine/chat/render.go|3000
render|render|R|http|engine/chat/render.go|183000
split_marks|split marks|R|http|engine/token/encode.go|12000
presplit|pre-split|R|http|engine/token/encode.go|58000
merge|merge|R|http|engine/token/bpe.go|94000
look_up|look up|R|http|engine/token/encode.go|5000
fit_context|fit context|R|http|engine/openai/chat.go|900
sequence|sequence|R|http|engine/submit.go|9000
submit|submit|R|http|engine/submit.go|3000
queue|queue|S|loop|engine/loop.go|11000
drain|drain|S|loop|engine/loop.go|2000
admit|admit|S|loop|engine/sched/admit.go|3000
pick_slot|pick slot|S|loop|engine/sched/admit.go|1000
reserve_pages|reserve pages|S|loop|engine/kv/pages.go|4000
plan_pass|plan pass|S|loop|engine/sched/plan.go|6000
fill_batch|fill batch|S|loop|engine/exec/batch.go|2000
launch|launch|S|loop|engine/exec/run.go|9000
embed|embed|C|workers|${W}|2600
attn_norm|attn norm|C|workers|${W}|1000
attn_q|q|C|workers|${W}|15500
attn_k|k|C|workers|${W}|5200
attn_v|v|C|workers|${W}|5200
rope|rope|C|workers|${W}|1500
kv_write|kv write|C|workers|${W}|840
attn_scores|scores|C|workers|${W}|4600
attn_softmax|softmax|C|workers|${W}|2100
attn_mix|mix|C|workers|${W}|4200
attn_out|attn out|C|workers|${W}|15600
attn_residual|add|C|workers|${W}|630
ffn_norm|ffn norm|C|workers|${W}|1000
ffn_gate|gate|C|workers|${W}|41000
ffn_up|up|C|workers|${W}|41200
ffn_swiglu|swiglu|C|workers|${W}|2500
ffn_down|down|C|workers|${W}|41700
ffn_residual|add|C|workers|${W}|630
out_norm|out norm|C|workers|${W}|2400
lm_head|lm head|C|workers|${W}|1627000
pass_done|pass done|C|loop|engine/exec/run.go|4000
read_logits|read logits|D|loop|engine/sample/chain.go|9000
penalties|penalties|D|loop|engine/sample/chain.go|2000
temperature|temperature|D|loop|engine/sample/chain.go|8500
top_k|top-k|D|loop|engine/sample/chain.go|40000
top_p|top-p|D|loop|engine/sample/chain.go|1800
min_p|min-p|D|loop|engine/sample/chain.go|0
draw|draw|D|loop|engine/sample/chain.go|850
append|append|D|loop|engine/emit.go|210
detokenize|to text|D|loop|engine/token/decode.go|600
stop_check|stop check|D|loop|engine/emit.go|290
emit|emit|D|loop|engine/emit.go|900
release_slot|release slot|D|loop|engine/sched/admit.go|3000
free_pages|free pages|D|loop|engine/kv/pages.go|5000
sse_chunk|chunk|D|http|engine/openai/sse.go|6400
sse_write|write|D|http|engine/openai/sse.go|9000
sse_flush|flush|D|http|engine/openai/sse.go|14300
usage|usage|D|http|engine/openai/sse.go|16000
end|end|D|http|engine/openai/sse.go|21000`.split('\n').map((l) => l.split('|'));

const STAGE = { R: 'receive', S: 'schedule', C: 'compute', D: 'deliver' };
const ONCE = new Set(['queue', 'drain', 'admit', 'pick_slot', 'reserve_pages', 'release_slot', 'free_pages', 'usage', 'end']);
const HAND = { submit: { name: 'queue', by: 'channel' }, launch: { name: 'launch', by: 'barrier' }, lm_head: { name: 'done', by: 'barrier' }, free_pages: { name: 'piece', by: 'channel' } };
/** wave is a fixed sequence in 0..1 that looks uneven. */
const wave = (n) => Math.abs(Math.sin(n * 12.9898) * 43758.5453) % 1;

function source(path, id, n) {
  const fn = id.split('_').map((w) => w[0].toUpperCase() + w.slice(1)).join('');
  const first = 20 + n * 7;
  return { repo: 'synthetic', commit: 'unknown', path, symbol: fn, line: first + 3, code: { first, lines: [`// ${fn} is made up: this recording is synthetic.`, `func (b *block) ${fn}(c *ctx) {`, '\tin := c.in', `\tout := run${fn}(c, in)`, '\tif c.rec != nil {', `\t\tc.rec.Span("${id}")`, '\t}', '\tc.out = out', '}'] } };
}

function step([id, title, s, lane, path], n) {
  const src = source(path, id, n);
  const text = `${title[0].toUpperCase()}${title.slice(1)} takes what the step before made. This text is synthetic and as long as a real one, so that the card can be judged: it says what happens here, why the step is there, and what it hands to the next one, in short sentences and the field's own terms.`;
  const st = { id, title, stage: STAGE[s], text, wrong: 'Nothing here was measured.', lane, source: src, spans: [], time_ns: 0, count: 0, in: `what ${title} takes`, out: `what ${title} makes` };
  if (lane === 'workers') st.sources = [src, source('engine/backend/cpu/kernels.go', `run_${id}`, n)];
  if (HAND[id]) st.hand = HAND[id];
  return st;
}

function attrsOf(id, pass, layer) {
  const T = PROMPT.length + pass;
  if (id === 'attn_scores' || id === 'attn_softmax') return { head: 4, probs: Array.from({ length: T }, (_, k) => (k === 0 ? 0.5 : (0.02 + 0.2 * wave(k + layer)) / 4)) };
  if (id === 'reserve_pages' || id === 'plan_pass' || id === 'kv_write') return { pages: [4, 9, 10, 11, 12, 13].slice(0, Math.ceil((T + 1) / 16)), page_size: 16, tokens: T, shared: 1 };
  if (id === 'lm_head' || id === 'top_k') return { top_ids: [504, 2591, 1550, 378, 669], top_logits: [21.4, 18.2, 16.9, 15.1, 14.8] };
  if (id === 'first_byte') return { peek: 'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\n\r\n' };
  if (/norm|residual|embed|attn_[qkv]|ffn/.test(id)) return { values: Array.from({ length: 96 }, (_, k) => wave(k + layer * 7 + pass) - 0.5) };
  return {};
}

/** synthetic makes a recording with the given numbers of layers and passes. */
export function synthetic(layers = 30, passes = 48) {
  const walk = ROWS.map(step), spans = [], passList = [];
  let t = 0;
  const add = (i, ns, pass, layer) => {
    const s = walk[i], path = [pass === undefined ? '' : `decode/${pass}`, layer === undefined ? '' : `L${layer}`, s.id].filter(Boolean).join('/');
    const p = { id: path, step: s.id, name: s.title, start_ns: t, dur_ns: ns, lane: s.lane, prov: 'measured' };
    if (pass !== undefined) p.pass = pass;
    if (layer !== undefined) p.layer = layer;
    if (s.lane === 'workers') Object.assign(p, { op: s.id, kernel: 'synthetic', attrs: { busy_ns: [Math.round(ns * (0.8 + 0.2 * wave(spans.length))), Math.round(ns * (0.7 + 0.3 * wave(spans.length + 9)))] } });
    if (pass === undefined || pass < 8) p.attrs = { ...p.attrs, ...attrsOf(s.id, pass ?? 0, layer ?? 0) };
    spans.push(p);
    s.spans.push(spans.length - 1);
    s.time_ns += ns;
    s.count++;
    t += ns;
  };
  const of = (id) => walk.findIndex((s) => s.id === id), run = (a, b, f) => { for (let i = of(a); i <= of(b); i++) f(i); };
  const ns = (i) => Number(ROWS[i][5]);
  run('first_byte', 'reserve_pages', (i) => add(i, ns(i)));
  const output = [];
  for (let p = 0; p < passes; p++) {
    const k = p === 0 ? 9 : 1, jitter = 0.95 + 0.1 * wave(p);
    run('plan_pass', 'launch', (i) => add(i, ns(i), p));
    const start = t;
    add(of('embed'), ns(of('embed')) * k, p);
    for (let l = 0; l < layers; l++) run('attn_norm', 'ffn_residual', (i) => add(i, Math.round(ns(i) * k * jitter * (0.9 + 0.2 * wave(l + i))), p, l));
    add(of('out_norm'), ns(of('out_norm')), p);
    add(of('lm_head'), Math.round(ns(of('lm_head')) * jitter), p);
    passList.push({ index: p, kind: p ? 'decode' : 'prefill', tokens: p ? 1 : PROMPT.length, requests: 1, start_ns: start, dur_ns: t - start });
    run('pass_done', 'emit', (i) => { if (ns(i) > 0) add(i, ns(i), p); });
    const [id, text] = ANSWER[p % ANSWER.length];
    output.push({ id, text, t_ns: t, logprob: -0.05 - wave(p), pass: p });
    run('sse_chunk', 'sse_flush', (i) => add(i, ns(i), p));
  }
  run('release_slot', 'free_pages', (i) => add(i, ns(i)));
  run('usage', 'end', (i) => add(i, ns(i)));
  walk[of('min_p')].text = 'Not reached: min_p was 0 in this request.';
  return {
    schema: { name: 'glassbox-trace', version: '1.0' },
    engine: { name: 'synthetic', version: '0', commit: 'unknown' },
    model: { name: 'synthetic', architecture: 'llama', quantization: 'none', layers, heads: 9, kv_heads: 3, width: 576, vocab: 49152 },
    device: { kind: 'cpu', name: 'no device', threads: 2, features: [] },
    clock: { name: 'none', resolution_ns: 1 }, started: '2000-01-01T00:00:00Z',
    request: {
      id: 'synthetic', messages: [{ role: 'user', content: 'Why is the sky blue?' }], params: { stream: true, max_tokens: passes, temperature: 0.7, top_k: 40, top_p: 0.95, seed: 7 },
      rendered: PROMPT.map((x) => x[1]).join(''), prompt_tokens: PROMPT.map(([id, text]) => ({ id, text, special: /^<\|/.test(text) })), output_tokens: output, text: output.map((x) => x.text).join(''), finish_reason: 'length',
    },
    numbers: { ttft_ns: output[0].t_ns, tpot_ns: Math.round((t - output[0].t_ns) / Math.max(1, passes - 1)), e2e_ns: t, prompt_tokens: PROMPT.length, output_tokens: passes },
    walk, spans, passes: passList, dropped: { spans: 0 },
    lanes: [{ id: 'http', title: 'HTTP goroutine', note: '34' }, { id: 'loop', title: 'Engine loop', note: '7' }, { id: 'workers', title: 'Workers', note: '0 and 1' }],
  };
}

if (process.argv[1]?.endsWith('synthetic.mjs')) {
  process.stdout.write(JSON.stringify(synthetic(Number(process.argv[2] ?? 30), Number(process.argv[3] ?? 48))));
}
