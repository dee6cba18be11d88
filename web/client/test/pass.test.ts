import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recording } from '../src/recording';
import { fit, INITIAL, type State } from '../src/state';
import { otherKind, passTable, rowUnder } from '../src/views/pass';
import { passCard } from '../src/views/pass-card';
import { familyStrip } from '../src/views/pass-strip';
import { isInteger, kernelsOf, likePasses, passModel, unexplainedOf } from '../src/views/pass-data';
import { opSteps } from '../src/views/missing';
import { time, setClocked } from '../src/format';
import { drawPass, layoutPass } from '../src/views/pass-draw';
import { cacheRoof, memoryRoof, roofOf } from '../src/views/pass-roof';
import type { Pass, Span } from '../src/schema';
import { synthetic } from '../testdata/synthetic.mjs';

const L = 4, P = 5;
/** The synthetic recording with traffic and arithmetic on its ops. */
function file(): { device: Record<string, unknown> } {
  const f = synthetic(L, P) as { device: Record<string, unknown>; spans: { op?: string; bytes?: number; flops?: number; dur_ns: number }[] };
  f.spans.forEach((p, n) => { if (p.op) { p.bytes = 40 * p.dur_ns + n; p.flops = 90 * p.dur_ns; } });
  return f;
}
const make = (): Recording => Recording.parse(file());
const at = (r: Recording, over: Partial<State>): State => fit(r, { ...INITIAL, view: 'pass', pass: 2, layer: 1, ...over });

test('a pass has a row for every op, in the order of the walk', () => {
  const r = make(), m = passModel(r, 2, 1, 'all')!;
  assert.equal(m.rows.length, 20);
  assert.deepEqual([m.rows[0]!.id, m.rows[13]!.id, m.rows.at(-1)!.id], ['embed', 'ffn_gate', 'lm_head']);
  assert.ok(m.rows.length >= 17);
  assert.deepEqual(m.rows.map((o) => o.i), opSteps(r));
});

test('times are sums over layers, or of the layer under the dial, and the spread is over passes of the kind', () => {
  const r = make(), gate = (scope: 'all' | 'one', layer: number) => passModel(r, 2, layer, scope)!.rows.find((o) => o.id === 'ffn_gate')!;
  const spans = r.spans.filter((p) => p.op === 'ffn_gate' && p.pass === 2), all = gate('all', 1), one = gate('one', 3);
  assert.equal(spans.length, L);
  assert.equal(all.ns, spans.reduce((a, p) => a + p.dur_ns, 0));
  assert.ok(all.bytes > 0);
  assert.equal(all.bytes, spans.reduce((a, p) => a + (p.bytes ?? 0), 0));
  assert.deepEqual(all.layers, spans.map((p) => p.dur_ns));
  assert.equal(one.ns, spans.find((p) => p.layer === 3)!.dur_ns);
  assert.equal(one.spans.length, 1);
  const sums = r.passes.filter((p) => p.kind === 'decode').map((p) => r.spans.filter((q) => q.op === 'ffn_gate' && q.pass === p.index).reduce((a, q) => a + q.dur_ns, 0)).sort((a, b) => a - b);
  assert.equal(all.spread!.n, sums.length);
  assert.deepEqual([all.spread!.min, all.spread!.max], [sums[0], sums.at(-1)]);
  assert.equal(all.spread!.median, sums.length % 2 ? sums[sums.length >> 1] : (sums[sums.length / 2 - 1]! + sums[sums.length / 2]!) / 2);
  const pre = passModel(r, 0, 0, 'all')!;
  assert.equal(pre.pass.kind, 'prefill');
  assert.equal(pre.like, 1);
  assert.ok(likePasses(r, r.passes[1]!).every((p) => p.kind === 'decode'));
});

const span = (start_ns: number, dur_ns: number, busy?: number[]): Span => ({ id: `s${start_ns}`, step: 'x', name: 'x', start_ns, dur_ns, lane: 'workers', op: 'x', kernel: 'mvQ4_1 avx2', prov: 'measured', bytes: 10, ...(busy ? { attrs: { busy_ns: busy } } : {}) });
const pass = (start_ns: number, dur_ns: number): Pass => ({ index: 0, kind: 'decode', tokens: 1, requests: 1, start_ns, dur_ns });

test('what no op explains is measured: before, between, after, and workers at barriers', () => {
  const u = unexplainedOf(pass(100, 1000), [span(120, 300, [300, 200]), span(430, 500, [100, 500])])!;
  assert.deepEqual([u.before, u.between, u.after, u.wait, u.workers], [20, 10, 170, (0 + 100) / 2 + (400 + 0) / 2, 2]);
  assert.equal(u.total, 20 + 10 + 170 + 250);
  const lone = unexplainedOf(pass(0, 100), [span(0, 100)])!;
  assert.deepEqual([lone.total, lone.workers], [0, 0]);
  assert.match(lone.how, /not recorded/);
  assert.equal(unexplainedOf(pass(0, 100), []), null);
});

test('kernels are grouped by name and variant; integers are told from floats', () => {
  const r = make(), list = [span(0, 30, [30, 10]), span(40, 50, [50, 50]), { ...span(100, 7), kernel: 'dotF32 avx2' }];
  assert.deepEqual(kernelsOf(r, list), [
    { name: 'mvQ4_1', variant: 'avx2', launches: 2, threads: 2, ns: 80, bytes: 20, flops: 0 },
    { name: 'dotF32', variant: 'avx2', launches: 1, threads: 0, ns: 7, bytes: 10, flops: 0 }]);
  for (const k of ['mvQ4_1 avx2', 'mmQ8_0 generic', 'mvQ4_K avx512-vnni', 'mmK32 avx2']) assert.ok(isInteger(k), k);
  for (const k of ['dotF16 avx2', 'attnQK avx2', 'softmax x', '', undefined]) assert.ok(!isInteger(k), String(k));
});

test('the playhead is before, in or behind the pass, and the other kind of pass is found', () => {
  const r = make(), n = opSteps(r).length;
  assert.equal(rowUnder(r, at(r, { step: 'first_byte' })), -1);
  assert.equal(rowUnder(r, at(r, { step: 'embed' })), 0);
  assert.equal(rowUnder(r, at(r, { step: 'ffn_gate' })), 13);
  assert.equal(rowUnder(r, at(r, { step: 'end' })), n);
  assert.equal(otherKind(r, at(r, {}))!.pass, 0);
  assert.equal(r.passes[otherKind(r, at(r, { pass: 0 }))!.pass]!.kind, 'decode');
});

test('the drawing has every op once, marks one, and fits its size', () => {
  const r = make();
  for (const [W, H] of [[904, 700], [920, 536]] as const) for (const scope of ['all', 'one'] as const) {
    const m = passModel(r, 2, 1, scope)!, svg = drawPass({ r, m, cur: 13, layer: 1, scope, roof: null, W, H });
    for (const o of m.rows) assert.equal(svg.split(`data-step="${o.id}"`).length, 2, o.id);
    assert.equal((svg.match(/data-layer="/g) ?? []).length, L);
    assert.doesNotMatch(svg, /NaN|undefined|Infinity|style=/);
    const l = layoutPass(m.rows.length, W, H);
    assert.ok(l.foot + 60 < H, `${l.foot} of ${H}`);
    for (const [, x] of svg.matchAll(/ x="([\d.]+)"/g)) assert.ok(Number(x) <= W, x);
  }
});

test('captures between the ops are named apart from the dispatch', () => {
  const r = make(), m = passModel(r, 2, 1, 'all')!, u = m.unexplained!, lost = u.before + u.between + u.after, draw = (): string => drawPass({ r, m, cur: 13, layer: 1, scope: 'all', roof: null, W: 904, H: 700 });
  assert.ok(draw().includes(`no op: dispatch ${time(lost)}`));
  m.pass = { ...m.pass, capture_ns: lost - 1000 };
  assert.ok(draw().includes(`no op: captures ${time(lost - 1000)}, dispatch ${time(1000)}`));
});

test('the table says the same as the drawing, to the nanosecond', () => {
  const r = make(), s = at(r, { step: 'ffn_gate' }), t = passTable(r, s), m = passModel(r, 2, 1, 'all')!, col = (name: string): number => t.head.indexOf(name);
  assert.equal(t.now, 13);
  assert.equal(t.rows[13]![col('ns')], m.rows[13]!.ns);
  assert.equal(t.rows[13]![col('passes')], m.rows[13]!.spread!.n);
  assert.ok(t.rows.some((row) => String(row[0]).startsWith('no op')));
  assert.equal(t.rows.at(-1)![col('ns')], m.pass.dur_ns);
  assert.ok(t.rows.every((row) => row.length === t.head.length));
  const one = passTable(r, at(r, { step: 'ffn_gate', opts: 'layers:one' }));
  assert.ok(Number(one.rows[13]![col('ns')]) < Number(t.rows[13]![col('ns')]));
});

test('a pass that is not there is said so', () => {
  assert.equal(passModel(make(), 99, 0, 'all'), null);
  assert.match(passTable(make(), { ...INITIAL, pass: 99 }).caption, /no such pass/);
});

test('the roof is the best run; memory is the largest working set', () => {
  const s = (max: number) => ({ min: 1, median: 2, max, runs: 15 }), roof = { machine: 'm', threads: 2, kernels: 'avx2', measured: '2026-01-02T03:04:05Z', reads: [{ bytes: 1 << 20, gb_per_s: s(200) }, { bytes: 1 << 29, gb_per_s: s(40) }], int8_gops: s(1000), f32_gflops: s(100) };
  const f = file();
  f.device['roof'] = roof;
  const r = Recording.parse(f), q = roofOf(r)!, m = passModel(r, 2, 1, 'all')!;
  assert.deepEqual([memoryRoof(q)!.max, cacheRoof(q)!.max], [40, 200]);
  const svg = drawPass({ r, m, cur: 13, layer: 1, scope: 'all', roof: q, W: 904, H: 700 });
  assert.match(svg, /40\.0 GB\/s/);
  assert.match(svg, /of 40\.0 memory|above what memory gave/);
  assert.match(svg, /measured 2026-01-02/);
  assert.match(drawPass({ r, m, cur: 13, layer: 1, scope: 'all', roof: null, W: 904, H: 700 }), /not measured/);
  assert.equal(roofOf(make()), null);
});

test('a GPU is held against its copies, an emulated one against nothing', () => {
  const none = { min: 0, median: 0, max: 0, runs: 0 }, f = file();
  f.device = { ...f.device, kind: 'cuda', roof: { machine: 'g', threads: 1, kernels: 'copy', measured: '2026-01-02T03:04:05Z', reads: [{ bytes: 1 << 28, gb_per_s: { min: 60, median: 70, max: 80, runs: 5 } }], int8_gops: none, f32_gflops: none } };
  const r = Recording.parse(f), m = passModel(r, 2, 1, 'all')!, svg = drawPass({ r, m, cur: 13, layer: 1, scope: 'all', roof: roofOf(r), W: 904, H: 700 });
  assert.match(svg, /50%<\/tspan> of 80\.0 copy/);
  assert.match(svg, /(8-bit|float): not measured/);
  assert.match(svg, /copies within the device, read and written, GB\/s: 80\.0 at best/);
  f.device['kind'] = 'emulated';
  assert.equal(roofOf(Recording.parse(f)), null);
  setClocked(true);
});

test('the card of an op says its layer, all layers and its share, and the strip has a bar for each op', () => {
  const r = make(), s = at(r, { step: 'ffn_gate', layer: 3 }), m = passModel(r, 2, 3, 'all')!, h = passCard(r, s, m, 13)!;
  assert.match(h, /14 \/ 20/);
  assert.ok(h.includes(`${Math.round(m.rows[13]!.layers[3]!).toLocaleString('en')} ns`));
  assert.ok(h.includes(`${Math.round(m.rows[13]!.ns!).toLocaleString('en')} ns`));
  assert.ok(h.includes(`${m.rows[13]!.ns} of ${m.pass.dur_ns} ns`));
  assert.match(h, /<dt>passes<\/dt>/);
  assert.doesNotMatch(h, /NaN|undefined|style=/);
  assert.equal(passCard(r, s, m, -1), null);
  const bars = m.rows.map((o) => ({ step: o.id, layer: -1, label: o.label, family: o.family, ns: o.ns ?? -1, size: o.ns ?? 0 }));
  for (const byTime of [false, true]) for (const cur of [-1, 13, 20]) {
    const g = familyStrip(bars, cur, 900, 92, byTime);
    assert.equal((g.match(/data-step=/g) ?? []).length, 20);
    assert.doesNotMatch(g, /NaN|undefined|Infinity/);
  }
  assert.deepEqual([...familyStrip(bars, 13, 900, 92, false).matchAll(/>([EAF])<\/text>/g)].map((x) => x[1]), ['E', 'A', 'F', 'E']);
  const widths = [...familyStrip(bars, 13, 900, 92, true).matchAll(/y="0" width="([\d.]+)"/g)].map((x) => Number(x[1]));
  assert.ok(Math.abs(widths[13]! / widths[19]! - bars[13]!.ns / bars[19]!.ns) < 0.02);
});
