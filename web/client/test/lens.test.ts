import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import { arrayOf, provide } from '../src/fetcharray';
import { Recording } from '../src/recording';
import { fit, INITIAL } from '../src/state';
import { contrast, hex, ramp } from '../src/views/attention-ramp';
import { lensCard, odds } from '../src/views/lens-card';
import { leading, lensArrays, lensNow, lensOf, part, signed, type Lens } from '../src/views/lens-data';
import { lensPicture } from '../src/views/lens-picture';
import { headOf, lastTwo, layerBars, whoWrote } from '../src/views/lens-writers';
import { lensRamp, lensTable } from '../src/views/lens';
import { synthetic } from '../testdata/synthetic.mjs';
import { npy } from './npy';

declare const CHECKOUT: string;

const L = 3, K = 2, OUT = 2;
const base = synthetic(L, OUT) as { request: { prompt_tokens: unknown[]; output_tokens: { id: number; text: string }[] } };
const N = base.request.prompt_tokens.length + OUT - 1, LAST = base.request.prompt_tokens.length - 1;
const said = base.request.output_tokens[0]!.id;

/** Row l says word 100 + l, the last row the word that was said; the second word is 900. */
function arrays(): Record<string, { shape: number[]; v: Float32Array | Int32Array; names?: string[] }> {
  const ids = new Int32Array(L * N * K), lp = new Float32Array(L * N * K), ent = new Float32Array(L * N), rank = new Int32Array(L * N), mid = new Int32Array(L * N * K);
  for (let l = 0; l < L; l++) for (let p = 0; p < N; p++) {
    const at = (l * N + p) * K, final = p === LAST ? said : 700 + p;
    ids[at] = l === L - 1 ? final : p % 2 ? 100 : 100 + l;
    ids[at + 1] = 900;
    mid[at] = ids[at]! + (l === 1 ? 5 : 0);
    mid[at + 1] = 900;
    lp[at] = Math.log(0.25 * (l + 1));
    lp[at + 1] = Math.log(0.125);
    ent[l * N + p] = Math.LN2 * (L - l);
    rank[l * N + p] = l === L - 1 ? 1 : 40;
  }
  const names = ['embed', ...Array.from({ length: L }, (_, l) => [`L${l}.H0`, `L${l}.H1`, `L${l}.ffn`]).flat()], w = Float32Array.from(names.flatMap((_, c) => [c === 9 ? 20 : (c - 4) / 2, c]));
  const two = w.map((x) => x / 2), sum = (a: Float32Array, k: number): number => a.reduce((t, x, i) => t + (i % 2 === k ? x : 0), 0);
  const words = [100, 101, 102, 105, 106, 900, ...Array.from({ length: N }, (_, p) => 700 + p)];
  return {
    lens_ids: { shape: [L, N, K], v: ids }, lens_logprob: { shape: [L, N, K], v: lp }, lens_mid_ids: { shape: [L, N, K], v: mid }, lens_mid_logprob: { shape: [L, N, K], v: lp },
    lens_entropy: { shape: [L, N], v: ent }, lens_rank: { shape: [L, N], v: rank }, attr: { shape: [10, OUT], v: w, names }, attr_second: { shape: [10, OUT], v: two, names },
    attr_ids: { shape: [2, OUT], v: Int32Array.of(said, base.request.output_tokens[1]!.id, 900, 900) }, attr_logit: { shape: [2, OUT], v: Float32Array.of(sum(w, 0), sum(w, 1), sum(two, 0), sum(two, 1)) },
    lens_close: { shape: [5, 3], v: Float32Array.of(1, 2, 3, 1, 2, 3.5, 4, 2, 3, 9, 2, 3, 30, 2, 3), names: ['before L1', 'L1.attn', 'L1.ffn', 'L2.attn', 'L2.ffn'] }, lens_close_ids: { shape: [3], v: Int32Array.of(said, 900, 100) },
    lens_words: { shape: [words.length], v: Int32Array.from(words), names: words.map((id) => (id === 900 ? ' and' : id === 101 ? '\n' : ` w${id}`)) },
  };
}

async function made(drop: string[] = []): Promise<Lens> {
  const a = arrays();
  for (const d of drop) delete a[d];
  const r = Recording.parse({ ...base, arrays: Object.fromEntries(Object.entries(a).map(([n, q]) => [n, { shape: q.shape, dtype: q.v instanceof Int32Array ? 'i4' : 'f4', axes: [], attr_names: q.names }])) });
  provide(r, (name) => Promise.resolve(npy(a[name]!.shape, a[name]!.v)));
  return lensOf(r, null);
}

test('the lens waits for all its arrays and has them at once after that', async () => {
  const ln = await made();
  assert.equal(lensNow(Recording.parse({ ...base, arrays: ln.r.file.arrays })), null);
  assert.ok(lensNow(ln.r));
  assert.equal(lensArrays(ln.r).length, 13);
  assert.equal((await arrayOf(ln.r, 'lens_ids', null)).shape[1], N);
});

test('a cell has its word, probability, entropy in bits and rank; sameness and change are seen', async () => {
  const ln = await made(), rows = ln.rows(false), c = ln.cell(rows[1]!, LAST, rows[0]!), end = ln.cell(rows[2]!, LAST, rows[1]!);
  assert.deepEqual([c.top[0]!.id, c.rank, c.same], [100 + (LAST % 2 ? 0 : 1), 40, false]);
  assert.ok(Math.abs(c.top[0]!.p - 0.5) < 1e-7 && Math.abs(c.entropy! - 2) < 1e-6);
  assert.deepEqual([end.same, end.changed, ln.final(LAST), ln.stays(LAST)], [true, true, said, 2]);
  assert.equal(ln.cell(rows[1]!, 1, rows[0]!).changed, false);
  assert.equal(ln.cell(rows[1]!, 2, rows[0]!).changed, true);
});

test('rows after attention double the table and are read from their own arrays', async () => {
  const ln = await made(), rows = ln.rows(true);
  assert.deepEqual(rows.slice(2, 4), [{ layer: 1, half: 'A' }, { layer: 1, half: 'F' }]);
  assert.equal(ln.lead(rows[2]!, 0), 106);
  assert.equal((await made(['lens_mid_ids'])).rows(true).length, L);
});

test('every word has a text: of the recording, with signs for white space, or its id', async () => {
  const ln = await made();
  assert.deepEqual([ln.text(900), ln.text(101), ln.text(said)], ['·and', '↵', 'The']);
  assert.equal((await made(['lens_words'])).text(900), 'id 900');
});

test('writers add up to the logit, by layer too, and against the second word to the difference', async () => {
  const ln = await made(), all = ln.writers(0, false)!, sum = all.reduce((t, q) => t + q.v, 0), by = ln.byLayer(0, false)!;
  assert.ok(Math.abs(sum - ln.said(0).logit!) < 1e-4);
  assert.ok(Math.abs(all[0]!.v + by.reduce((t, q) => t + q.A + q.F, 0) - sum) < 1e-6);
  assert.equal(by[2]!.F, 20);
  const q = leading(all, 3), diff = ln.writers(0, true)!;
  assert.deepEqual([q.top.map((w) => w.name), q.others], [['L2.ffn', 'embed', 'L2.H1'], 7]);
  assert.ok(Math.abs(q.top.reduce((t, w) => t + w.v, 0) + q.rest - q.sum) < 1e-9);
  assert.ok(Math.abs(diff.reduce((t, w) => t + w.v, 0) - sum / 2) < 1e-5);
  assert.equal(ln.writers(-1, false), null);
  assert.deepEqual([headOf('L24.H6'), headOf('L24.ffn')], [[24, 6], null]);
});

test('the drawing prints the sum, the engine’s own logit, and bars on both sides of zero', async () => {
  const ln = await made(), s = whoWrote(ln, 0, false, { x: 0, y: 16, w: 260, h: 600 }, 16).svg, sum = ln.said(0).logit!;
  assert.equal((s.match(new RegExp(`>${sum.toFixed(3)}<`, 'g')) ?? []).length, 2);
  assert.ok(s.includes('var(--pos)') && s.includes('var(--neg)') && s.includes('data-head="2.1"'));
  assert.ok(whoWrote(ln, 0, true, { x: 0, y: 16, w: 260, h: 600 }, 4).svg.includes(`>${signed(sum / 2)}<`));
  assert.ok(!/NaN|undefined/.test(s + layerBars(ln, 0, false, ln.rows(true), 15, 120)));
});

test('close-up: ten words by logit for the first answer word, the leading words of each stage elsewhere', async () => {
  const ln = await made(), c = ln.closeUp(LAST)!, other = ln.closeUp(LAST + 1)!;
  assert.deepEqual([c.unit, c.words.map((w) => w.findIndex((q) => q.id === said))], ['logit', [2, 2, 0, 0, 0]]);
  assert.deepEqual([other.unit, other.stages], ['probability', ['before L1', 'L1.attn', 'L1.ffn', 'L2.attn', 'L2.ffn']]);
  assert.equal(other.words[1]![0]!.id, ln.lead({ layer: 1, half: 'A' }, LAST + 1));
  const s = lastTwo(ln, LAST, { x: 0, y: 0, w: 260, h: 240 });
  assert.ok(s.includes('>30.0<') && s.includes('3 leading words, logit') && !s.includes('NaN'));
});

test('card, table and picture say the same word and leave no style for the page’s policy to refuse', async () => {
  const ln = await made(), rows = ln.rows(false), c = ln.cell(rows[2]!, LAST, rows[1]!), html = lensCard(ln, fit(ln.r, { ...INITIAL, view: 'lens' }), rows[2]!, LAST, c), t = lensTable(ln, false, { row: rows[2]!, pos: LAST });
  assert.ok(html.includes('This row is what the model really says') && html.includes('1.00 bits') && html.includes('>The<') && !/ style=/.test(html));
  assert.deepEqual([t.rows.length, t.now], [L * N + 10, 2 * N + LAST]);
  assert.deepEqual(t.rows.at(-1)!.slice(0, 8), ['2', 'wrote: L2.ffn', LAST, '↵', '', '', 'The', 20]);
  assert.equal(lensTable(ln, true, { row: rows[0]!, pos: 0 }).rows.length, 2 * L * N);
  assert.ok(t.rows.every((q) => q.length === t.head.length));
  assert.deepEqual(t.rows[t.now!]!.slice(0, 8), [2, 'block', LAST, '↵', '1.000', 1, 'The', '0.7500']);
  const list = [LAST - 1, LAST], svg = lensPicture(ln, { rows, list, cw: 61, rowH: 19, left: 46, head: 32, colors: rows.flatMap(() => list.map(() => [1, 2, 3] as [number, number, number])) }, { box: '0 0 900 600', top: 48, over: '', bars: { x: 200, svg: '' }, mini: { href: 'data:,', w: 1, h: 1 }, now: { n: 2, pos: LAST } });
  assert.equal((svg.match(/fill="rgb\(1,2,3\)"/g) ?? []).length, L * 2);
  assert.ok(svg.includes('>The<'));
});

test('colour follows what was chosen, and says nothing where the recording does not', async () => {
  const ln = await made(), rows = ln.rows(false), c = ln.cell(rows[0]!, 0, null);
  assert.ok(Math.abs(part(c, 'probability', 49152)! - 0.5) < 1e-6);
  assert.ok(Math.abs(part(c, 'rank', 2 ** 16)! - (1 - Math.log2(40) / 16)) < 1e-9);
  assert.ok(Math.abs(part(c, 'entropy', 2 ** 16)! - (1 - 3 / 16)) < 1e-6);
  const poor = await made(['lens_entropy', 'lens_rank']), d = poor.cell(rows[0]!, 0, null);
  assert.deepEqual([part(d, 'entropy', 10), part(d, 'rank', 10)], [null, null]);
  assert.deepEqual([odds(0.00001), odds(0.12345), odds(0)], ['<0.0001', '0.1235', '0.0000']);
});

test('text on every colour of the lens is readable in both themes', () => {
  const css = readFileSync(`${CHECKOUT}/static/css/tokens.css`, 'utf8'), seqs = [...css.matchAll(/--seq: ([^;]+);/g)].map((m) => m[1]!), inks = [...css.matchAll(/--raw-ink: (#[0-9a-f]{6})/g)].map((m) => hex(m[1]!));
  assert.ok(seqs.length >= 2);
  seqs.forEach((seq, k) => { for (const c of lensRamp(seq)) assert.ok(contrast(c, inks[k]!) >= 4.5, `${seq.slice(0, 8)} ${c.join()}`); });
  assert.equal(ramp(seqs[0]!).length, 256);
});
