import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, arrayNow, arrayOf, provide } from '../src/fetcharray';
import { openGbx } from '../src/gbx';
import { isZip } from '../src/load';
import { parseNpy } from '../src/npy';
import { goPosition, lastOfPass, passOfPosition, positionOf, positions, whyWord } from '../src/position';
import { Recording } from '../src/recording';
import { fit, goToken, INITIAL, type State } from '../src/state';
import { fromParams, isMove, toParams } from '../src/url';
import { opt, optNumber, withOpt } from '../src/views/attention-opts';
import { synthetic } from '../testdata/synthetic.mjs';
import { npy, zip } from './npy';

const text = (o: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(o));
const described = (arrays: object): object => ({ ...synthetic(2, 3), arrays });

test('npy files are read with shape and values, halves too', () => {
  const a = parseNpy(npy([2, 3], Float32Array.of(1, 2, 3, 4, 5, 0.25)));
  assert.deepEqual([a.shape, [...Array.from(a.values)]], [[2, 3], [1, 2, 3, 4, 5, 0.25]]);
  assert.deepEqual(Array.from(parseNpy(npy([4], Uint16Array.of(0x3c00, 0xc000, 0x0001, 0x7c00))).values), [1, -2, 2 ** -24, Infinity]);
  assert.deepEqual(parseNpy(npy([], Int32Array.of(7))).shape, []);
});

test('a damaged npy file says where and what', () => {
  const whole = npy([2, 3], new Float32Array(6));
  assert.throws(() => parseNpy(whole.slice(0, whole.byteLength - 4)), /shape \(2, 3\) of f4 takes 24 bytes, the file has 20/);
  assert.throws(() => parseNpy(new ArrayBuffer(64)), /offset 0/);
  assert.throws(() => parseNpy(npy([2], new Float32Array(2), 'True')), /C order/);
});

test('a gbx gives the recording and, when asked, its arrays', async () => {
  const arrays = { attention: { shape: [1, 1, 2, 2], dtype: 'f4', axes: [] }, 'tape_in/0/attn_q': { shape: [2], dtype: 'f4' }, logits: { shape: [3], dtype: 'f4' } };
  const b = zip({ 'trace.json': text(described(arrays)), 'attention.npy': new Uint8Array(npy([1, 1, 2, 2], Float32Array.of(1, 0, 0.25, 0.75))), 'tape_in/0/attn_q.npy': new Uint8Array(npy([2], Float32Array.of(5, 6))), 'logits.npy': new Uint8Array(npy([2], new Float32Array(2))) });
  assert.ok(isZip(b) && !isZip(text({}).buffer as ArrayBuffer));
  const r = await openGbx(b);
  assert.equal(arrayNow(r, 'attention'), null);
  assert.deepEqual(Array.from((await arrayOf(r, 'attention', null)).values), [1, 0, 0.25, 0.75]);
  assert.equal(arrayNow(r, 'attention'), await arrayOf(r, 'attention', null));
  assert.deepEqual(Array.from((await arrayOf(r, 'tape_in/0/attn_q', null)).values), [5, 6]);
  await assert.rejects(arrayOf(r, 'logits', null), /logits: the recording says shape \(3\), the file has \(2\)/);
  await assert.rejects(arrayOf(r, 'lens_ids', null), /it has no lens_ids\.npy/);
});

test('a cut-off gbx is an error, not half a recording', async () => {
  const b = zip({ 'trace.json': text(described({})) });
  await assert.rejects(openGbx(b.slice(0, b.byteLength - 30)), /its end is missing/);
  await assert.rejects(openGbx(zip({ 'other.json': text({}) })), /no trace\.json/);
});

test('a failed fetch is not kept', async () => {
  const r = Recording.parse(described({ logits: { shape: [1], dtype: 'f4' } }));
  let n = 0;
  provide(r, () => (n++ ? Promise.resolve(npy([1], Float32Array.of(3))) : Promise.reject(new Error('down'))));
  await assert.rejects(arrayOf(r, 'logits', null), /down/);
  assert.equal((await arrayOf(r, 'logits', null)).values[0], 3);
});

test('arrays on the server lie beside the text', () => {
  const r = Recording.parse({ ...synthetic(2, 2), id: 'abc' });
  assert.equal(addressOf(r, '/api/traces/sky%20x.json?wait=2', 'attention'), '/api/traces/sky%20x/arrays/attention');
  assert.equal(addressOf(r, null, 'tape_in/0/attn q'), '/api/traces/abc/arrays/tape_in/0/attn%20q');
});

const r = Recording.parse(synthetic(4, 5)), s0 = fit(r, INITIAL), n = r.prompt.length;

test('position and pass say the same at two grains', () => {
  assert.equal(positions(r).length, n + 4);
  assert.equal(positionOf(r, s0), n - 1);
  assert.deepEqual([lastOfPass(r, 0), lastOfPass(r, 3)], [n - 1, n + 2]);
  assert.deepEqual([0, n - 1, n, n + 3].map((p) => passOfPosition(r, p)), [0, 0, 1, 4]);
  for (let p = 0; p < n + 4; p++) assert.equal(positionOf(r, fit(r, goPosition(r, s0, p))), p);
});

test('chunks of a prefill have their own positions', () => {
  const f = synthetic(2, 3) as { passes: { index: number; kind: string; tokens: number }[]; request: { output_tokens: { pass: number }[] } };
  f.passes = [{ ...f.passes[0]!, tokens: 20 }, { ...f.passes[0]!, index: 1, tokens: n - 20 }, ...f.passes.slice(1).map((p) => ({ ...p, index: p.index + 1 }))];
  f.request.output_tokens.forEach((t) => { t.pass += 1; });
  const c = Recording.parse(f);
  assert.deepEqual([0, 19, 20, n - 1, n].map((p) => passOfPosition(c, p)), [0, 0, 1, 1, 2]);
  assert.deepEqual([lastOfPass(c, 0), lastOfPass(c, 1)], [19, n - 1]);
});

test('a chosen position is in the link, and a move of the pass takes it along', () => {
  const s = fit(r, { ...goPosition(r, s0, 7), head: 3, opts: 'key:2' });
  assert.deepEqual([s.token, s.pass, s.head], [7, 0, 3]);
  assert.deepEqual(fit(r, fromParams(toParams(s))), s);
  assert.ok(isMove(s0, s));
  const next = goToken(r, s, 1);
  assert.deepEqual([next.token, positionOf(r, next)], [-1, n]);
  assert.equal(fit(r, { ...s, head: 99 }).head, 8);
});

test('why this word opens the lens in its last row', () => {
  const w = fit(r, whyWord(r, s0, 2));
  assert.deepEqual([w.view, w.layer, positionOf(r, w)], ['lens', 3, n + 1]);
});

test('choices of the views live together in one field', () => {
  const s: State = withOpt(withOpt(s0, 'sort', 'entropy'), 'key', 12);
  assert.deepEqual([opt(s, 'sort'), optNumber(s, 'key', -1), optNumber(s, 'zoom', 0)], ['entropy', 12, 0]);
  assert.equal(withOpt(withOpt(s, 'sort', ''), 'key', '').opts, '');
});
