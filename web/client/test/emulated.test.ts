// A recording of an emulated device: no view, card, table or export writes a
// time, a share or a rate of it. And calls to a device's driver.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callsFor, callSpans, stackRow } from '../src/calls';
import { card } from '../src/card';
import { search } from '../src/dialogs';
import { csv, tableHtml, unrolled } from '../src/exports';
import { isClocked, setClocked } from '../src/format';
import { inset } from '../src/inset';
import { drawMap } from '../src/map';
import { answer, workerBars } from '../src/mapnotes';
import { drawTall } from '../src/maptall';
import { outline, stripPlot, topBar } from '../src/panels';
import { KINDS } from '../src/build/pictures';
import { helvetica } from '../src/build/widths';
import { Recording } from '../src/recording';
import type { Call } from '../src/schema';
import { fit, INITIAL, type State } from '../src/state';
import { tracksOf } from '../src/tracks';
import { compareTable } from '../src/views/compare';
import { compareCard } from '../src/views/compare-card';
import { stepDiffs } from '../src/views/compare-data';
import { passTable } from '../src/views/pass';
import { passCard } from '../src/views/pass-card';
import { kernelsOf, passModel } from '../src/views/pass-data';
import { drawPass } from '../src/views/pass-draw';
import { familyStrip } from '../src/views/pass-strip';
import { requestTable } from '../src/views/request';
import { tapeCard, tapeTable } from '../src/views/tape-card';
import { tapeOf } from '../src/views/tape-data';
import { drawStrip } from '../src/views/tape-draw';
import { timelineTable } from '../src/views/timeline';
import { whyCard, whySentence, whySlow } from '../src/why';
import { synthetic } from '../testdata/synthetic.mjs';

const L = 3, P = 6;

/** The synthetic recording on a device: each op has two launches, the second of which lies on the device. */
function file(kind: string): ReturnType<typeof synthetic> & { calls: Call[] } {
  const f = synthetic(L, P), calls: Call[] = [];
  f.device = { kind, name: 'a device', threads: 1, features: [], driver: 'driver for CUDA 12.9' } as typeof f.device;
  for (const p of f.spans as { id: string; op?: string; pass?: number; start_ns: number; dur_ns: number; bytes?: number; flops?: number }[]) {
    if (!p.op) continue;
    p.bytes = 30 * p.dur_ns;
    p.flops = 60 * p.dur_ns;
    const at = { what: 'launch' as const, api: 'cuLaunchKernel', pass: p.pass ?? 0, span: p.id, dur_ns: 3, grid: [4, 1, 1], threads: 128 };
    calls.push({ ...at, kernel: 'quantize_q8', start_ns: p.start_ns - 9, device: { start_ns: p.start_ns, dur_ns: 10 } }, { ...at, kernel: 'mat_vec', start_ns: p.start_ns - 5, device: { start_ns: p.start_ns + 10, dur_ns: p.dur_ns - 10 } });
  }
  for (const p of f.passes as { clocks?: object; start_ns: number; dur_ns: number; index: number }[]) {
    p.clocks = { residual_ns: 41, drift_ns: 2 };
    calls.push({ what: 'wait', api: 'cuStreamSynchronize', pass: p.index, start_ns: p.start_ns + p.dur_ns - 5, dur_ns: 5 });
  }
  return Object.assign(f, { calls });
}

/** Everything that is written of a recording at a place. */
function written(r: Recording, s: State): Record<string, string> {
  const t = tapeOf(r, s.pass)!, m = (scope: 'all' | 'one') => passModel(r, s.pass, s.layer, scope)!, n = 3, place = { r, cur: n, layer: s.layer, roof: null, W: 1000, H: 700 };
  const box = { x: 0, y: 0, w: 400, h: 240 }, strip = { r, t, cur: 4, part: 0.5, past: false, byTime: true, roof: null, W: 1000, H: 500, label: () => 'x' } as unknown as Parameters<typeof drawStrip>[0];
  const tables = [requestTable(r), passTable(r, s), tapeTable(t, null, () => 'x'), timelineTable(r, [0, r.total.ns], 0), compareTable({ a: r, b: r, la: null, lb: null } as Parameters<typeof compareTable>[0], s)];
  return {
    card: card(r, s), selected: card(r, { ...s, sel: r.spansAt(r.stepIndex.get('attn_q')!, s.pass, s.layer)[0]!.id, step: 'attn_q' }), outline: outline(r, s, 600), strip: stripPlot(r, s, 900, 92, true) + stripPlot(r, s, 900, 92, false), top: topBar(r, s, '/'),
    map: drawMap(r, s, 1400, 900, helvetica, {}).svg, tall: JSON.stringify(drawTall(r, s, 400, helvetica)), inset: inset(r, s, box) + answer(r, s, box, helvetica) + workerBars(r, s, box),
    pass: drawPass({ ...place, m: m('all'), scope: 'all' }) + drawPass({ ...place, m: m('one'), scope: 'one' }) + passCard(r, s, m('all'), n), passStrip: familyStrip(m('all').rows.map((o) => ({ step: o.id, layer: -1, label: o.label, family: o.family, ns: o.ns ?? -1, size: o.ns ?? 0 })), n, 900, 92, true),
    tape: drawStrip(strip) + tapeCard(r, s, t, 4, null), compare: compareCard(r, r, null), why: whyCard(r, s), sentence: whySentence(r, whySlow(r)),
    print: unrolled(r), find: search(r, 'a').map((h) => JSON.stringify(h)).join(), picture: KINDS.filter((k) => k.id === 'request' || k.id === 'pass').map((k) => k.facts(r)).join(),
    tables: tables.map((q) => tableHtml(q) + csv(q)).join(''),
  };
}

/** A number with a unit of time or of a rate, or a column of nanoseconds with a number in it. */
const TIME = /(?<![\w.#-])\d[\d,.]*\s?(ns|µs|ms|s|GB\/s|Gop\/s|tokens\/s|GFLOP\/s)\b(?!\w)|(?<![\w.])\d[\d.]*\s?%/;

test('no view, card, table or export writes a time of an emulated device', () => {
  for (const step of ['queue', 'attn_q', 'ffn_down', 'lm_head', 'draw', 'end']) {
    const cpu = Recording.parse(file('cuda')), at = (r: Recording): State => fit(r, { ...INITIAL, step, pass: 2, layer: 1 });
    setClocked(true);
    const known = written(cpu, at(cpu)), r = Recording.parse(file('emulated'));
    assert.ok(!isClocked(), 'a recording of an emulated device stops the clock');
    for (const [what, html] of Object.entries(written(r, at(r)))) {
      const text = html.replace(/<[^>]*>/g, (t) => ` ${[...t.matchAll(/(?:title|aria-label|data-exact)="([^"]*)"/g)].map((m) => m[1]).join(' ')} `), hit = TIME.exec(text.replace(/clock none, resolution \d+ ns/g, ''));
      assert.equal(hit && `${what} at ${step}: ${text.slice(Math.max(0, hit.index - 60), hit.index + 40)}`, null);
      if (what !== 'find' && what !== 'tall') assert.ok(TIME.test(known[what]!.replace(/<[^>]*>/g, (t) => ` ${t} `)), `${what} has times of a device that is not emulated, or this test looks at nothing`);
    }
    const q = timelineTable(r, [0, r.total.ns], 0);
    assert.deepEqual([...new Set(q.rows.map((x) => x[7]))], ['not measured']);
    assert.ok(passTable(r, at(r)).rows.every((x) => typeof x[2] !== 'number'));
    assert.deepEqual(stepDiffs(r, cpu, 'decode'), []);
    setClocked(true);
  }
});

test('calls are drawn on the host and on the device, and belong to their op', () => {
  setClocked(true);
  const r = Recording.parse(file('cuda')), op = r.spans.find((p) => p.op === 'attn_q' && p.pass === 2 && p.layer === 1)!, mine = callsFor(r, op.id);
  assert.deepEqual(mine.map((c) => c.kernel), ['quantize_q8', 'mat_vec']);
  const all = callSpans(r), waits = r.passes.length;
  assert.equal(all.length, 2 * (r.file.calls!.length - waits) + waits, 'a wait has nothing on the device');
  const tracks = tracksOf(r, [...r.spans, ...all], r.spans.length);
  assert.deepEqual(tracks.map((t) => t.lane), ['driver', 'device']);
  assert.equal(tracks[1]!.rows.reduce((a, q) => a + q.n, 0), r.file.calls!.length - waits);
  const row = stackRow(r, r.steps[r.stepIndex.get('attn_q')!]!, op)[0]!, text = row[1].replace(/<[^>]*>/g, '');
  assert.match(text, /^\S+:\d+ › attn_q › quantize_q8, mat_vec › cuLaunchKernel × 2, 6 ns on the host › driver for CUDA 12\.9 › .* on the device, begun 9 ns after the call$/);
  assert.match(row[1], /the clocks may be off by 41 ns/);
  assert.deepEqual(stackRow(r, r.steps[0]!, r.spans[0]), [], 'a step without calls has no stack');
  assert.deepEqual(kernelsOf(r, [op]).map((k) => [k.name, k.launches, k.threads, k.ns]), [['mat_vec', 1, 128, op.dur_ns - 10], ['quantize_q8', 1, 128, 10]]);
  assert.ok(timelineTable(r, [0, r.total.ns], 0).rows.some((x) => x[2] === 'device'));
});
