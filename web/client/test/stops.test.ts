import assert from 'node:assert/strict';
import { test } from 'node:test';
import { card } from '../src/card';
import { COMMANDS, commandFor } from '../src/commands';
import { traceRequest } from '../src/ask';
import { outline } from '../src/panels';
import { Recording } from '../src/recording';
import { fit, INITIAL, type State } from '../src/state';
import { again, binned, numberOf, offerStops, onPlaces, placeAt, placeName, places, readPlaces, setPlaces, stopsOf, toggled, wirePlaces, type Place, type StopState, type StopValues } from '../src/stops';
import { bars, blockOf, editLine, FORM, four, left, stopCard, touchedRows, waitNote } from '../src/stops-card';
import { criticalPath, whyCard, whySentence, whySlow } from '../src/why';
import type { Span } from '../src/schema';
import { synthetic } from '../testdata/synthetic.mjs';

const file = (): ReturnType<typeof synthetic> => { const f = synthetic(4, 5); return { ...f, engine: { ...f.engine, name: 'glassbox' } }; };
const r = Recording.parse(file());
const go = (step: string, more: Partial<State> = {}): State => fit(r, { ...INITIAL, step, ...more });

test('a stop is the op, layer and token under the playhead', () => {
  const decode = r.passNumbers[2]!, pos = r.prompt.length - 1 + r.tokenOfPass(decode);
  assert.deepEqual(placeAt(r, go('attn_scores', { pass: decode, layer: 2 })), { op: 'attn_scores', layer: 2, token: pos });
  assert.deepEqual(placeAt(r, go('attn_scores', { pass: 0, layer: 1, token: 7 })), { op: 'attn_scores', layer: 1, token: 7 });
  assert.deepEqual(placeAt(r, go('lm_head', { pass: 0 })), { op: 'lm_head', layer: -1, token: null }, 'the last of the prompt has no number: it fits prompts of any length');
  assert.match(placeAt(r, go('lm_head', { pass: 0, token: 3 })) as string, /word follows/);
  assert.match(placeAt(r, go(r.steps[0]!.id)) as string, /set at an op of the pass/);
  const f = file();
  assert.match(placeAt(Recording.parse({ ...f, engine: { ...f.engine, name: 'vllm' } }), go('attn_q')) as string, /vllm does not stand still/);
});

test('the same place again takes the stop off, and the request carries what is left', () => {
  const a: Place = { op: 'attn_mix', layer: 3, token: 7 }, b: Place = { op: 'lm_head', layer: -1, token: null };
  const two = toggled(toggled([], a), b);
  assert.deepEqual(two, [a, b]);
  assert.deepEqual(toggled(two, { ...a }), [b]);
  assert.deepEqual(wirePlaces(two), [{ op: 'attn_mix', layer: 3, token: 7 }, { op: 'lm_head' }]);
  assert.match(placeName(r, a), /layer 3, token 7 \S/);
  assert.match(placeName(r, b), /last token of the prompt/);
  assert.deepEqual(readPlaces(JSON.stringify(two)), two);
  for (const wrong of [null, '', '{', '{}', '[1,null,{"op":1}]', '[{"op":"x","layer":0.5,"token":1}]']) assert.deepEqual(readPlaces(wrong), []);
  let told = 0;
  const off = onPlaces(() => told++);
  assert.equal('stop' in (traceRequest('x')['glassbox'] as object), false);
  setPlaces(two);
  assert.deepEqual((traceRequest('x')['glassbox'] as Record<string, unknown>)['stop'], wirePlaces(two));
  assert.deepEqual([...stopsOf(r)], [['attn_mix', 'set'], ['lm_head', 'set']]);
  assert.match(outline(r, go('attn_mix'), 400), /aria-label="a stop is set"/);
  offerStops(true);
  assert.match(card(r, go('attn_mix', { layer: 3, pass: 0, token: 7 })), /clear the stop[\s\S]*2 stops for the next Trace/);
  assert.match(card(r, go('attn_mix', { layer: 2, pass: 0, token: 7 })), /stop here/);
  offerStops(false);
  setPlaces([]);
  off();
  setPlaces([]);
  assert.equal(told, 2);
  assert.equal(places().length, 0);
});

test('the same request is asked again, streamed, with its parameters', () => {
  const f = file(), q = again(Recording.parse({ ...f, request: { ...f.request, params: { temperature: 0, seed: 3, max_tokens: 9, top_k: null, ablate: ['L1.H2'] } } }), [{ op: 'attn_q', layer: 0, token: 1 }]);
  assert.equal(q.path, '/v1/chat/completions');
  assert.deepEqual(q.body, { messages: f.request.messages, temperature: 0, seed: 3, max_tokens: 9, stream: true, glassbox: { trace: true, ablate: ['L1.H2'], stop: [{ op: 'attn_q', layer: 0, token: 1 }] } });
});

const state: StopState = { id: 's1', request: 'c', trace: 't', paused: true, waiting: 2, pass: 1, since_ms: 10, left_ms: 61_500, edits: 0, at: { op: 'attn_mix', layer: 2, token: 7 }, in: [{ id: 'in0', name: 'scores', shape: [4, 8], axes: ['head', 'key'] }], out: [{ id: 'out0', name: 'mix', shape: [64], axes: ['width'] }] };
const values: StopValues = { ...state.out![0]!, stats: { min: -2, max: 1.5, mean: 0.1, norm: 3, zeros: 0, not_finite: 1 }, values: Array.from({ length: 64 }, (_, k) => (k === 5 ? 'NaN' : k / 10 - 2)) };

test('the panel shows the vector, four digits, and every way on with its key', () => {
  const html = stopCard(r, state, values, { ...FORM, part: 'out0', index: 5, count: 2, error: 'No <b>.', log: ['a & b'] });
  for (const want of ['data-left>1:01<', '2 other requests wait', 'layer 2, token 7', '1 are not finite', '>NaN<', '\u22121.400', 'No &lt;b&gt;.', 'a &amp; b', 'values 5 to 6 are chosen']) assert.ok(html.includes(want), want);
  for (const [way, k] of [['continue', 'o'], ['op', 'j'], ['layer', 'k'], ['run', '⇧O'], ['zero', '⇧N'], ['scale', '⇧M'], ['set', '↵'], ['hold', '⇧H']] as const) assert.match(html, new RegExp(`data-stop="${way}"[^>]*>[^<]*<kbd>${k}</kbd>`), way);
  assert.match(stopCard(r, state, { ...values, ...state.in![0]! }, { ...FORM, part: 'in0' }), /cannot be changed/);
  assert.doesNotMatch(stopCard(r, state, values, { ...FORM, part: 'in0' }), /data-stop="zero"/);
});

test('a request that waits for another one says so', () => {
  assert.match(waitNote(r, state), /stands still<\/b> for another request, at mix, layer 2, token 7 [^.]*\. This one goes on in 1:01/);
  assert.equal(waitNote(r, { ...state, paused: false }), '');
});

test('keys of the panel count only while it stands still, and hide no other command', () => {
  const press = (key: string, paused: boolean): string | undefined => commandFor({ key, code: '', ctrlKey: false, metaKey: false, altKey: false, shiftKey: key !== key.toLowerCase() }, { view: 'request', letters: true, paused })?.id;
  for (const c of COMMANDS.filter((x) => x.when === 'paused')) for (const k of c.keys) {
    const key = k.replace('Shift+', '');
    assert.equal(press(key, true), c.id);
    assert.equal(press(key, false), undefined, key);
  }
  assert.deepEqual(['b', 'B', 'i', 'I'].map((k) => press(k, false)), ['stop.set', 'stop.trace', 'why', 'why.slow']);
});

test('numbers are shown as they are', () => {
  assert.deepEqual([0, 1.23456, -0.5, 123456, 1.2e-5, NaN, -Infinity].map(four), ['0', '1.235', '\u22120.5000', '1.235e+5', '1.200e-5', 'NaN', '-Inf']);
  assert.deepEqual([0, -5, 999, 119_999].map(left), ['0:00', '0:00', '0:00', '1:59']);
  assert.deepEqual(['NaN', '+Inf', '-Inf', 2].map(numberOf), [NaN, Infinity, -Infinity, 2]);
  assert.deepEqual(binned([1, -3, 2, 0], 2), [-3, 2]);
  assert.deepEqual(binned([1, NaN, 2, 0, 7, 8], 2), [NaN, 8]);
  assert.deepEqual(binned([1, 2], 100), [1, 2]);
  const f = file(), dim = Recording.parse({ ...f, model: { ...f.model, head_dim: 16 } });
  assert.deepEqual(blockOf(dim, { shape: [64], name: 'mix' }), { size: 16, what: 'head' });
  assert.deepEqual(blockOf(dim, { shape: [4, 8], name: 'scores' }), { size: 8, what: 'head' });
  assert.equal(blockOf(dim, { shape: [64], name: 'ffn_down' }), null);
  assert.equal((bars(new Array(1000).fill(1), { ...FORM }, 288, 84).match(/<rect/g) ?? []).length, 1 + 144);
});

test('a touched recording says so where it was touched', () => {
  const f = file(), t = Recording.parse({ ...f, request: { ...f.request, stops: [{ op: 'attn_mix', layer: 2, token: 7, pass: 0, start_ns: 1, dur_ns: 34_000_000_000, ended: 'continue' }], edits: [{ op: 'attn_mix', layer: 2, token: 7, pass: 0, part: 'mix', index: 16, count: 16, how: 'zero', old: [1], new: [0], t_ns: 3 }, { op: 'lm_head', layer: -1, token: 35, pass: 0, part: 'logits', index: 3, count: 1, how: 'set', old: [1.5], new: ['NaN'], t_ns: 3 }] } });
  assert.deepEqual(touchedRows(t, 'attn_mix').map((x) => x[0]), ['stood', 'edit']);
  assert.match(touchedRows(t, 'attn_mix')[0]![1], /L2, token 7, 34\.0 s/);
  assert.equal(editLine(t.file.request.edits![0]!), 'L2, token 7: mix[16..31] zero');
  assert.equal(editLine(t.file.request.edits![1]!), 'token 35: logits[3] set, 1.500 to NaN');
  assert.match(card(t, fit(t, { ...INITIAL, step: 'attn_mix' })), /mix\[16\.\.31\] zero/);
  assert.equal(stopsOf(t).get('attn_mix'), 'stood');
});

test('every word of the answer asks why in the step card', () => {
  const html = card(r, go('attn_mix', { pass: r.passOfToken(2) }));
  r.output.forEach((_, k) => assert.match(html, new RegExp(`data-why="${k}"`)));
  assert.match(html, /data-why="2"[^>]*aria-current="true"/);
});

const span = (step: string, start_ns: number, dur_ns: number): Span => ({ id: `${step}${start_ns}`, step, name: step, start_ns, dur_ns, lane: 'l', prov: 'measured' });

/** The definition, moment by moment: of the spans that run the one that began last, then the shorter, then the later. */
function naive(spans: Span[]): number[] {
  const end = Math.max(0, ...spans.map((p) => p.start_ns + p.dur_ns)), out: number[] = [];
  for (let t = 0; t < end; t++) {
    let who = -1;
    spans.forEach((p, i) => { if (p.start_ns <= t && t < p.start_ns + p.dur_ns && (who < 0 || p.start_ns > spans[who]!.start_ns || p.dur_ns <= spans[who]!.dur_ns)) who = i; });
    out.push(who);
  }
  return out;
}

test('the critical path is the definition at every nanosecond, and adds up to the whole', () => {
  let seed = 7;
  const rnd = (n: number): number => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  for (let round = 0; round < 200; round++) {
    const spans: Span[] = [];
    let start = 0;
    for (let k = 0; k < 14; k++) spans.push(span('s', (start += rnd(5)), rnd(20)));
    const got: number[] = [];
    for (const s of criticalPath(spans)) {
      assert.equal(s.start, got.length);
      for (let k = 0; k < s.dur; k++) got.push(s.span);
    }
    assert.deepEqual(got, naive(spans));
  }
  assert.deepEqual(criticalPath([]), []);
});

test('why slow names the most, links every step, and explains each nanosecond', () => {
  const w = whySlow(r), sum = w.steps.reduce((a, s) => a + s.ns, 0) + w.paused + w.captured + w.nothing;
  assert.equal(Math.round(sum), Math.round(w.total));
  const html = whySentence(r, w);
  for (const s of w.steps.slice(0, 3)) assert.ok(html.includes(`data-step="${s.id}"`), s.id);
  assert.match(html, /decode passes<\/button>/);
  const f = file(), held = whySlow(Recording.parse({ ...f, passes: f.passes.map((p, k) => (k === 1 ? { ...p, paused_ns: 5_000_000 } : p)) }));
  assert.equal(held.paused, 5_000_000);
  assert.match(whySentence(r, held), /stood still at [\s\S]*stops[\s\S]* for/);
  assert.match(whyCard(r, go('attn_q')), /Why slow\?/);
});
