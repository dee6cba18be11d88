import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recording } from '../src/recording';
import { fit, INITIAL, type State } from '../src/state';
import type { ModelTensor } from '../src/schema';
import { tapeTable } from '../src/views/tape-card';
import { beatFrom, cacheBytes, groupOf, paceOf, rateOf, readSoFar, spotOf, stopsOf, tapeOf, tapePassOf, type Tape } from '../src/views/tape-data';
import { drawDetail, layoutDetail, tip, type Detail } from '../src/views/tape-detail';
import { drawStrip, layoutStrip, scaleOf, type Strip } from '../src/views/tape-draw';
import { agrees, bitsOf, roundingOf, rounded, work } from '../src/views/tape-math';
import { spanOf } from '../src/views/tape-values';
import { synthetic } from '../testdata/synthetic.mjs';

const L = 4, P = 5, W = 64, F = 128;
const OPS: [string, string, number, number][] = [['attn_norm', 'attn_norm', 1, W], ['attn_q', 'attn_q', W, W], ['attn_k', 'attn_k', 32, W], ['attn_v', 'attn_v', 32, W], ['attn_out', 'attn_output', W, W], ['ffn_norm', 'ffn_norm', 1, W], ['ffn_gate', 'ffn_gate', F, W], ['ffn_up', 'ffn_up', F, W], ['ffn_down', 'ffn_down', W, F]];

function tensors(): ModelTensor[] {
  const one = (op: string, layer: number, name: string, rows: number, cols: number): ModelTensor => ({ op, layer, name, type: rows === 1 ? 'F32' : 'Q4_1', rows, cols, bytes: rows === 1 ? 4 * cols : (rows * cols * 20) / 32 });
  return [one('embed', -1, 'token_embd.weight', 1000, W), ...Array.from({ length: L }, (_, l) => OPS.map(([op, name, r, c]) => one(op, l, `blk.${l}.${name}.weight`, r, c))).flat(), one('out_norm', -1, 'output_norm.weight', 1, W), one('lm_head', -1, 'token_embd.weight', 1000, W)];
}

function make(named = true): Recording {
  const f = synthetic(L, P) as { model: Record<string, unknown>; spans: { op?: string; bytes?: number }[] };
  for (const p of f.spans) if (p.op) p.bytes = 5000;
  f.model = { ...f.model, heads: 4, kv_heads: 2, head_dim: 16, ...(named ? { tensors: tensors() } : {}) };
  if (!named) delete f.model['tensors'];
  return Recording.parse(f);
}
const at = (r: Recording, over: Partial<State>): State => fit(r, { ...INITIAL, view: 'tape', pass: 2, ...over });
const tape = (r: Recording, pass = 2): Tape => tapeOf(r, pass)!;

test('the tape lists every weight and every read of the cache, in the order of time', () => {
  const t = tape(make());
  assert.equal(t.items.length, 1 + L * (9 + 2) + 2);
  assert.deepEqual(t.items.slice(0, 9).map((x) => x.op), ['embed', 'attn_norm', 'attn_q', 'attn_k', 'attn_v', 'attn_scores', 'attn_mix', 'attn_out', 'ffn_norm']);
  for (let n = 1; n < t.items.length; n++) assert.ok(t.items[n]!.start >= t.items[n - 1]!.start + t.items[n - 1]!.ns, String(n));
  assert.equal(t.bytes, t.items.reduce((a, x) => a + (x.kind === 'weight' ? x.bytes : 0), 0));
  assert.equal(t.items[0]!.bytes, (W * 20) / 32, 'a decode pass reads one row of the embedding');
  assert.equal(t.items.at(-1)!.bytes, (1000 * W * 20) / 32);
  assert.equal(tapeOf(make(), 99), null);
});

test('a prefill pass reads one row of the embedding a token, and every matrix once', () => {
  const r = make(), t = tape(r, 0);
  assert.equal(t.items[0]!.bytes, r.passes[0]!.tokens * ((W * 20) / 32));
  assert.equal(t.items.at(-1)!.bytes, tape(r).items.at(-1)!.bytes);
});

test('without names the ops stand in, and the tape says so', () => {
  const t = tape(make(false));
  assert.ok(!t.named);
  assert.ok(t.items.some((x) => x.op === 'ffn_gate' && x.bytes > 0 && x.name === ''));
  assert.match(tapeTable(t, null, (x) => x.op).caption, /does not name its weights/);
});

test('bytes of the cache are what is left of the traffic', () => {
  const r = make(), p = r.passes[2]!, end = r.prompt.length + 2; // positions so far, its own included
  const bytes = end * 2 * 16 * 2 + 4 * end * 4 + 4 * 4 * 16;
  const span = { ...r.spans.find((q) => q.op === 'attn_scores' && q.pass === 2)!, bytes };
  assert.equal(cacheBytes(r, p, span), end * 2 * 16 * 2);
  assert.equal(cacheBytes(r, { ...p, requests: 2 }, span), null, 'of several requests it is not known');
});

test('the running total ends at all there is', () => {
  const t = tape(make()), last = t.items.length - 1, so = readSoFar(t, last);
  assert.equal(so.bytes, t.bytes);
  assert.equal(so.cache, t.cache);
  assert.equal(so.ns, t.items[last]!.start + t.items[last]!.ns);
  assert.equal(readSoFar(t, 2, 0.5).bytes, t.items[2]!.at + t.items[2]!.bytes / 2);
  assert.deepEqual(readSoFar(t, -1), { bytes: 0, ns: 0, cache: 0 });
  assert.equal(rateOf(t.items[2]!), t.items[2]!.bytes / t.items[2]!.ns);
});

test('the walk has one layer slow and the rest fast, at least 19 stops, and covers every item once', () => {
  const t = tape(make()), stops = stopsOf(t);
  assert.equal(stops.length, 1 + 11 + (L - 1) + 2);
  assert.ok(1 + 11 + 29 + 2 >= 19);
  assert.deepEqual(stops.flatMap((s) => Array.from({ length: s.to - s.from + 1 }, (_, k) => s.from + k)), t.items.map((x) => x.n));
  assert.deepEqual(stops.filter((s) => !s.slow).map((s) => t.items[s.from]!.layer), [1, 2, 3]);
});

test('play goes through to the end and back, slow items in proportion to their time', () => {
  const t = tape(make()), pace = paceOf(t);
  let n = -1, ms = 0, beats = 0;
  for (let b = beatFrom(t, n, 1); b; b = beatFrom(t, n, 1)) { assert.ok(b.n > n && b.ms >= 33); n = b.n; ms += b.ms; beats++; assert.ok(beats < 1000); }
  assert.equal(n, t.items.length - 1);
  assert.ok(ms > 8000 && ms < 60_000, String(ms));
  const gate = t.items.findIndex((x) => x.op === 'ffn_gate');
  assert.equal(beatFrom(t, gate - 1, 1)!.ms, Math.max(320, t.items[gate]!.ns * pace.slow));
  for (let b = beatFrom(t, n, -1); b; b = beatFrom(t, n, -1)) n = b.n;
  assert.equal(n, 0);
});

test('the playhead of the other views is found on the tape', () => {
  const r = make(), t = tape(r), spot = (over: Partial<State>) => { const p = spotOf(r, t, at(r, over)); return [p.cur < 0 ? '' : t.items[p.cur]!.op, p.cur < 0 ? -1 : t.items[p.cur]!.layer, p.past]; };
  assert.deepEqual(spot({ step: 'ffn_gate', layer: 3 }), ['ffn_gate', 3, false]);
  assert.deepEqual(spot({ step: 'attn_mix', layer: 1 }), ['attn_mix', 1, false]);
  assert.deepEqual(spot({ step: 'rope', layer: 2 }), ['attn_v', 2, false]);
  assert.deepEqual(spot({ step: 'ffn_residual', layer: 0 }), ['ffn_down', 0, false]);
  assert.deepEqual(spot({ step: 'first_byte' }), ['', -1, false]);
  assert.deepEqual(spot({ step: 'end' }), ['lm_head', -1, true]);
  assert.equal(groupOf(t, t.items.findIndex((x) => x.layer === 2))!.layer, 2);
});

const strip = (r: Recording, over: Partial<Strip> = {}): Strip => ({ t: tape(r), cur: 14, past: false, part: 1, byTime: false, roof: null, W: 904, H: 690, label: (x) => x.op, ...over });

test('tiles are as wide as their bytes, or as their time, and fill the strip', () => {
  const p = strip(make()), l = layoutStrip(p.W, p.H), room = l.x1 - l.x0, near = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6;
  const sx = scaleOf(p, l), weights = p.t.items.filter((x) => x.kind === 'weight');
  assert.ok(near(weights.reduce((a, x) => a + sx(x)[1] - sx(x)[0], 0), room));
  assert.ok(near(sx(p.t.items.at(-1)!)[1], l.x1));
  const [a, b] = sx(weights[2]!);
  assert.ok(near((b - a) / room, weights[2]!.bytes / p.t.bytes));
  const tx = scaleOf({ ...p, byTime: true }, l), x = p.t.items[20]!, [c, d] = tx(x);
  assert.ok(near((d - c) / room, x.ns / p.t.pass.dur_ns) && near((c - l.x0) / room, x.start / p.t.pass.dur_ns));
});

test('the strip draws both sizes and themes by roles, without a number that is none', () => {
  const r = make();
  for (const over of [{}, { H: 530, W: 920 }, { byTime: true }, { cur: -1 }, { past: true, cur: tape(r).items.length - 1 }, { part: 0.3 }]) {
    const svg = drawStrip(strip(r, over));
    assert.doesNotMatch(svg, /NaN|undefined|Infinity|style=|#[0-9a-f]{6}/);
    assert.match(svg, /what memory can do: not measured here/);
    assert.ok((svg.match(/data-item=/g) ?? []).length > 40);
  }
});

test('the input is rounded as the kernel of the name rounds it, and as the recording says', () => {
  assert.deepEqual(['mvQ4_1 avx512-vnni', 'mmQ8_0 generic', 'mvQ4_K avx2', 'mmK32 avx2', 'mvK16 generic', 'dotF16 avx2', '', undefined].map((k) => roundingOf(k, 127).run), [32, 32, 256, 256, 256, 0, 0, 0]);
  assert.equal(roundingOf('mvQ4_1 a', undefined).run, 0);
  assert.match(roundingOf('mvQ4_1 a', undefined).what, /not in this recording/);
  assert.match(roundingOf('mvQ4_1 a', 32512).what, /16 bits, 32 numbers/);
  const x = Array.from({ length: 64 }, (_, i) => (i < 32 ? i - 16 : (i - 40) * 100));
  for (const top of [127, 32512]) {
    const q = rounded(x, roundingOf('mvQ4_1 a', top));
    assert.equal(q.codes![0], -top);
    assert.equal(q.codes![16], 0);
    assert.equal(q.codes![63], top);
    for (let i = 0; i < 64; i++) assert.ok(Math.abs(q.values[i]! - x[i]!) <= q.scales[i < 32 ? 0 : 1]! * 1.01);
  }
  // 384 is 2 * 256 - 128: its lower byte would be -128 and becomes -127
  const odd = rounded([32512, 384, 383, 385, ...new Array(28).fill(0)], roundingOf('mvQ4_1 a', 32512));
  assert.deepEqual(Array.from(odd.codes!.slice(0, 4)), [32512, 385, 383, 385]);
  assert.deepEqual(Array.from(rounded(x, roundingOf('dotF32 a', 127)).values), x);
  assert.deepEqual(Array.from(rounded(new Array(32).fill(0), roundingOf('mvQ8_0 a', 32512)).values), new Array(32).fill(0));
});

test('a number worked by hand is the sum of its blocks, and one that came out otherwise is not taken for it', () => {
  const w = Array.from({ length: 96 }, (_, i) => Math.fround(Math.sin(i))), x = Array.from({ length: 96 }, (_, i) => Math.fround(Math.cos(3 * i))), q = work(w, x, 32, roundingOf('mvQ4_1 a', 127));
  assert.equal(q.parts.length, 3);
  assert.equal(q.sums[2], q.value);
  assert.ok(Math.abs(q.parts.reduce((a, v) => a + v, 0) - q.value) < 1e-12);
  assert.ok(Math.abs(q.plain - w.reduce((a, v, i) => a + v * x[i]!, 0)) < 1e-12);
  assert.ok(agrees(Math.fround(q.value), q));
  assert.ok(!agrees(q.value + 1e-3 * q.size, q));
  assert.ok(q.value !== q.plain);
});

test('the byte and nibble of a weight', () => {
  assert.deepEqual(bitsOf('Q4_1', 3), { byte: 7, part: 'low' });
  assert.deepEqual(bitsOf('Q4_1', 19), { byte: 7, part: 'high' });
  assert.deepEqual(bitsOf('Q8_0', 31), { byte: 33, part: 'all' });
  assert.equal(bitsOf('Q6_K', 5), null);
  assert.deepEqual([spanOf('Q4_K'), spanOf('Q4_1'), spanOf('F32')], [256, 32, 32]);
});

test('what is under the playhead is drawn from what has come, and says what has not', () => {
  const r = make(), t = tape(r), x = t.items.find((q) => q.op === 'ffn_gate' && q.layer === 1)!, q = Array.from({ length: 32 }, (_, i) => i % 16);
  const block = { name: x.name, type: 'Q4_1', row: 7, block: 1, blocks: 2, first: 32, offset: 0, bytes: 'ab'.repeat(20), parts: [{ name: 'd', first: 0, bytes: 2, kind: 'f16' }, { name: 'm', first: 2, bytes: 2, kind: 'f16' }, { name: 'q', first: 4, bytes: 16, kind: 'nibbles' }], formula: 'w = d × q + m', group: 32, zero: 0, codes: q, scale: [0.5], min: [-2], values: q.map((v) => v * 0.5 - 2) };
  const input = Float32Array.from({ length: W }, (_, i) => i / 10), row = Float32Array.from({ length: W }, (_, i) => (i % 16) * 0.5 - 2), worked = work(row, input, 32, roundingOf('mvQ4_1 a', 127)), output = new Float32Array(F);
  output[7] = Math.fround(worked.value);
  const d: Detail = { x, label: 'gate', row: 7, blk: 1, wt: 5, level: 'weight', picture: null, url: '', block, input, output, worked, span: 32, noFile: '', noValues: '', sum: false, rowNote: '', fast: false };
  const box = { x0: 20, x1: 884, y: 300, h: 380, big: true, from: [100, 300] as [number, number] };
  const svg = drawDetail(d, box);
  assert.doesNotMatch(svg, /NaN|undefined|Infinity|style=/);
  assert.match(svg, /came out .*=/);
  assert.match(tip(d, 5), /^w\[7, 37\] = 0\.5 × 5 − 2 = 0\.5; {2}w × x = 0\.5 × 3\.7 = 1\.85$/);
  assert.match(drawDetail({ ...d, sum: true }, box), /the same to float rounding/);
  output[7] += 1;
  assert.match(drawDetail({ ...d, sum: true }, box), /not the same/);
  assert.match(drawDetail({ ...d, block: null }, box), /fetching block/);
  assert.match(drawDetail({ ...d, noFile: 'this server has another model open', input: null, output: null }, box), /another model open/);
  assert.match(drawDetail({ ...d, output: null }, box), /not captured/);
  const l = layoutDetail(box);
  assert.ok(l.low + 100 < box.y + box.h);
  const table = tapeTable(t, d, (i) => i.op);
  assert.equal(table.rows.length, 32);
  assert.equal(table.now, 5);
  assert.equal(tapeTable(t, { ...d, level: 'row' }, (i) => i.op).rows.at(-1)!.at(-1), worked.value);
  assert.equal(tapeTable(t, { ...d, level: 'matrix' }, (i) => i.op).rows.length, t.items.length);
});

test('the pass of the captured vectors is read, and nothing else taken for it', () => {
  assert.deepEqual(tapePassOf(Int32Array.of(1, 36)), { pass: 1, position: 36 });
  assert.equal(tapePassOf(undefined), null);
  assert.equal(tapePassOf([1]), null);
});
