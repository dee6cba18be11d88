import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recording, shortPath } from '../src/recording';
import { parseTrace, RecordingError } from '../src/schema';
import { tracksOf, workersOf } from '../src/tracks';
import { synthetic } from '../testdata/synthetic.mjs';

const make = (layers = 4, passes = 5): Recording => Recording.parse(synthetic(layers, passes));

test('an unknown major is refused and says what was found', () => {
  const f = synthetic(2, 2);
  f.schema.version = '2.0';
  assert.throws(() => parseTrace(f), (e: unknown) => e instanceof RecordingError && e.kind === 'schema' && e.message.includes('"2.0"') && e.message.includes('1.x') && e.remedy !== '');
  f.schema.version = '1.99';
  assert.equal(parseTrace(f).schema.version, '1.99');
});

test('damage is named by field', () => {
  const bad = (change: (f: ReturnType<typeof synthetic>) => void): string => {
    const f = synthetic(2, 2);
    change(f);
    try { parseTrace(f); } catch (e) { return (e as Error).message; }
    return 'accepted';
  };
  assert.match(bad((f) => { f.walk[3]!.stage = 'dream'; }), /^walk\[3\]\.stage: .*"dream"/);
  assert.match(bad((f) => { delete (f.walk[7] as { lane?: string }).lane; }), /^walk\[7\]\.lane/);
  assert.match(bad((f) => { delete (f.spans[9] as { dur_ns?: number }).dur_ns; }), /^spans\[9\]/);
  assert.match(bad((f) => { (f as { walk?: unknown }).walk = undefined; }), /^walk: wanted a list/);
  assert.throws(() => parseTrace('{"schema":'), /not JSON/);
  assert.throws(() => parseTrace('{"a": NaN}'), /not JSON/);
  assert.throws(() => parseTrace('[]'), /wanted a JSON object/);
});

test('unknown fields are ignored and missing optional ones filled', () => {
  const f = { ...synthetic(2, 2), surprise: { deep: [1] } } as Record<string, unknown>;
  for (const k of ['engine', 'model', 'device', 'request', 'numbers', 'passes', 'lanes', 'dropped']) delete f[k];
  const r = Recording.parse(f);
  assert.equal(r.prompt.length, 0);
  assert.equal(r.passes.length, 0);
  assert.equal(r.layers, 2); // from the spans
  assert.equal(r.total.prov, 'derived');
  assert.equal(r.lanes[0]!.name, 'HTTP goroutine');
});

test('indexes agree with the file', () => {
  const f = synthetic(4, 5), r = Recording.parse(f);
  assert.equal(r.byStep.reduce((a, b) => a + b.length, 0), f.spans.length);
  r.steps.forEach((s, i) => {
    assert.deepEqual(r.byStep[i], f.walk[i]!.spans);
    assert.equal(s.count ? r.timeAt(i) : 0, s.time_ns, s.id);
  });
  const q = r.stepIndex.get('attn_q')!;
  assert.equal(r.spansAt(q, 2, 3).length, 1);
  assert.equal(r.spansAt(q, 2).length, 4);
  assert.equal(r.timeAt(q, 99), null); // not measured, never 0
  assert.equal(r.timeAt(r.stepIndex.get('min_p')!), null);
});

test('the two loops are found from the spans', () => {
  const r = make(4, 5);
  const id = (i: number): string => r.steps[i]!.id;
  assert.deepEqual([id(r.layerLoop!.from), id(r.layerLoop!.to), r.layerLoop!.n], ['attn_norm', 'ffn_residual', 4]);
  assert.deepEqual([id(r.tokenLoop!.from), id(r.tokenLoop!.to), r.tokenLoop!.n], ['plan_pass', 'emit', 5]);
  assert.equal(r.opsLane, 'workers');
  assert.equal(make(4, 1).tokenLoop, null);
});

test('a span inside a span of its own step is not counted twice', () => {
  const f = synthetic(2, 2), k = f.spans.find((p) => p.step === 'attn_q')!;
  f.spans.push({ ...k, id: 'child', parent: k.id, dur_ns: 5 });
  const r = Recording.parse(f), i = r.stepIndex.get('attn_q')!;
  assert.equal(r.timeAt(i), f.walk[i]!.time_ns);
  assert.deepEqual(r.children(k.id).map((p) => p.id), ['child']);
});

test('tokens know their pass, with and without the field', () => {
  const f = synthetic(2, 4), r = Recording.parse(f);
  assert.equal(r.passOfToken(3), 3);
  for (const t of f.request.output_tokens) delete (t as { pass?: number }).pass;
  const s = Recording.parse(f);
  assert.deepEqual([0, 1, 2, 3].map((k) => s.passOfToken(k)), [0, 1, 2, 3]);
  assert.equal(s.tokenOfPass(2), 2);
});

test('cut-off recordings say so', () => {
  const f = synthetic(2, 2) as ReturnType<typeof synthetic> & { partial?: boolean };
  assert.equal(Recording.parse(f).cutOff, null);
  f.dropped = { spans: 1200, why: 'ring full' } as never;
  assert.match(Recording.parse(f).cutOff!, /1,200 spans are missing: ring full/);
  f.partial = true;
  assert.match(Recording.parse(f).cutOff!, /was over before/);
});

test('no span is lost on the timeline, and rows do not overlap', () => {
  const f = synthetic(3, 3), a = f.spans[40]!;
  f.spans.push({ ...a, id: 'over1', start_ns: a.start_ns + 1 }, { ...a, id: 'over2', start_ns: a.start_ns + 2 });
  const r = Recording.parse(f), tracks = tracksOf(r);
  const seen = tracks.flatMap((t) => t.rows.flatMap((row) => [...row.span]));
  assert.equal(seen.length, f.spans.length);
  assert.equal(new Set(seen).size, f.spans.length);
  for (const t of tracks) for (const row of t.rows) for (let i = 1; i < row.n; i++) assert.ok(row.start[i]! >= row.end[i - 1]!, t.lane);
  assert.equal(workersOf(r).length, 2);
});

test('rooms are called by the last two parts of their path', () => {
  assert.equal(shortPath('engine/openai/chat.go'), 'openai/chat.go');
  assert.equal(shortPath('main.go'), 'main.go');
});
