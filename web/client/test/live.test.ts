import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceRequest } from '../src/ask';
import { apply, begin, decode, type LiveMessage } from '../src/live';
import { nextBeat } from '../src/player';
import { Recording } from '../src/recording';
import { fit, INITIAL } from '../src/state';
import { blocks, firstEndingAfter, niceStep, spanAt, type Row } from '../src/tracks';
import { synthetic } from '../testdata/synthetic.mjs';

function empty(): ReturnType<typeof synthetic> {
  const f = synthetic(4, 5);
  return { ...f, spans: [], passes: [], numbers: {} as never, walk: f.walk.map((s) => ({ ...s, spans: [], count: 0, time_ns: 0 })), request: { ...f.request, output_tokens: [] } };
}

test('a live recording that has taken all messages equals the finished one', () => {
  const whole = synthetic(4, 5), r = begin(empty());
  for (let i = 0; i < whole.spans.length; i += 37) apply(r, { type: 'spans', id: 'x', spans: whole.spans.slice(i, i + 37), passes: i === 0 ? whole.passes : [] } as LiveMessage);
  for (const t of whole.request.output_tokens) apply(r, { type: 'tokens', id: 'x', output_tokens: [t] });
  const done = Recording.parse(whole);
  done.steps.forEach((s, i) => assert.deepEqual([r.steps[i]!.time_ns, r.steps[i]!.count], [s.time_ns, s.count], s.id));
  assert.deepEqual(r.byStep, done.byStep);
  assert.deepEqual([r.layerLoop, r.tokenLoop, r.opsLane], [done.layerLoop, done.tokenLoop, done.opsLane]);
  assert.equal(r.output.length, 5);
});

test('the map of a live recording has its shape before the first span', () => {
  const r = begin(empty());
  assert.deepEqual(r.layerLoop && [r.steps[r.layerLoop.from]!.id, r.steps[r.layerLoop.to]!.id, r.layerLoop.n], ['attn_norm', 'ffn_residual', 4]);
});

test('passes of the same index replace each other', () => {
  const r = begin(empty()), p = { index: 0, kind: 'prefill', tokens: 36, requests: 1, start_ns: 5, dur_ns: 7 } as const;
  apply(r, { type: 'spans', id: 'x', spans: [], passes: [p] });
  apply(r, { type: 'spans', id: 'x', spans: [], passes: [{ ...p, dur_ns: 9 }] });
  assert.deepEqual(r.passes.map((q) => q.dur_ns), [9]);
});

test('play waits for what has not come yet', () => {
  const r = begin(empty());
  apply(r, { type: 'spans', id: 'x', spans: synthetic(4, 5).spans.filter((p) => ['first_byte', 'route', 'plan_pass'].includes(p.step)) } as LiveMessage);
  const s = fit(r, { ...INITIAL, step: 'plan_pass' });
  assert.equal(nextBeat(r, s, 1)!.state.step, 'plan_pass');
});

test('frames that are not ours are ignored', () => {
  for (const f of ['', '{', '7', 'null', '{"type":"later","id":"x"}', '{"type":"spans"}']) assert.equal(decode(f), null, f);
  assert.equal(decode('{"type":"end","id":"x"}')!.type, 'end');
});

test('Trace asks for a streamed answer and a recording', () => {
  assert.equal(traceRequest('Hi', 'm', 96)['max_tokens'], 96);
  assert.deepEqual(traceRequest('Hi'), { messages: [{ role: 'user', content: 'Hi' }], temperature: 0, stream: true, glassbox: { trace: true } });
});

const row = (pairs: [number, number][]): Row => ({ start: Float64Array.from(pairs, (p) => p[0]), end: Float64Array.from(pairs, (p) => p[0] + p[1]), span: Int32Array.from(pairs, (_, i) => i), n: pairs.length });

test('spans below a pixel merge, none is dropped, wide ones stay', () => {
  const many = Array.from({ length: 1000 }, (_, i): [number, number] => [i * 10, 9]);
  many.push([10_000, 5000]);
  let seen = 0, drawn = 0;
  blocks(row(many), 0, 15_000, 300, (b) => { seen += b.many; drawn++; });
  assert.equal(seen, 1001);
  assert.ok(drawn < 260 && drawn > 100, String(drawn));
  const out: number[] = [];
  blocks(row([[0, 1], [1, 3], [5, 1]]), 0, 6000, 600, (b) => out.push(b.span));
  assert.deepEqual(out, [1]); // a merged block stands for its longest span
});

test('finding a span in a row', () => {
  const q = row([[0, 10], [20, 10], [40, 1]]);
  assert.deepEqual([firstEndingAfter(q, 0), firstEndingAfter(q, 10), firstEndingAfter(q, 35), firstEndingAfter(q, 99)], [0, 1, 2, 3]);
  assert.deepEqual([spanAt(q, 5, 0), spanAt(q, 15, 1), spanAt(q, 32, 3), spanAt(q, 39, 3)], [0, -1, 1, 2]);
  assert.deepEqual([niceStep(1000, 10), niceStep(1100, 10), niceStep(4e8, 9)], [100, 200, 5e7]);
});
