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
import { next, pairNow, pick } from '../src/views/lens-pick';
import { lensRamp, lensTable } from '../src/views/lens';
import { synthetic } from '../testdata/synthetic.mjs';
import { npy } from './npy';

declare const CHECKOUT: string;

const L = 3, K = 2, OUT = 2;
const base = synthetic(L, OUT) as { request: { prompt_tokens: unknown[]; output_tokens: { id: number; text: string }[] } };
const N = base.request.prompt_tokens.length + OUT - 1, LAST = base.request.prompt_tokens.length - 1;
const said = base.request.output_tokens[0]!.id;

/** Logits of three words in the five stages of a close-up. */
const CLOSE = [1, 2, 3, 1, 2, 3.5, 4, 2, 3, 9, 2, 3, 30, 2, 3];

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
  // Rank r says said, 900, 101, 100, 102 at the first word, and 900 first at the second; component c gives rank r a share of w / (r + 1) but where it is the said or second word.
  const R = 5, topIds = Int32Array.of(said, 900, 101, 100, 102, 900, base.request.output_tokens[1]!.id, 101, 100, 102), m = names.length;
  const top = Float32Array.from({ length: R * m * OUT }, (_, i) => { const r = Math.floor(i / (m * OUT)), q = i % (m * OUT), id = topIds[(q % OUT) * R + r]!; return id === 900 ? two[q]! : r < 2 ? w[q]! : w[q]! / (r + 2) - r / 8; });
  const topLogit = Float32Array.from({ length: OUT * R }, (_, i) => { let t = 0; for (let c = 0; c < m; c++) t += top[((i % R) * m + c) * OUT + Math.floor(i / R)]!; return t; });
  const words = [100, 101, 102, 105, 106, 900, ...Array.from({ length: N }, (_, p) => 700 + p)];
  return {
    lens_ids: { shape: [L, N, K], v: ids }, lens_logprob: { shape: [L, N, K], v: lp }, lens_mid_ids: { shape: [L, N, K], v: mid }, lens_mid_logprob: { shape: [L, N, K], v: lp },
    lens_entropy: { shape: [L, N], v: ent }, lens_rank: { shape: [L, N], v: rank }, attr: { shape: [10, OUT], v: w, names }, attr_second: { shape: [10, OUT], v: two, names },
    attr_ids: { shape: [2, OUT], v: Int32Array.of(said, base.request.output_tokens[1]!.id, 900, 900) }, attr_logit: { shape: [2, OUT], v: Float32Array.of(sum(w, 0), sum(w, 1), sum(two, 0), sum(two, 1)) },
    attr_top: { shape: [R, m, OUT], v: top }, attr_top_ids: { shape: [OUT, R], v: topIds }, attr_top_logit: { shape: [OUT, R], v: topLogit },
    lens_close: { shape: [OUT, 5, 3], v: Float32Array.of(...CLOSE, ...CLOSE.map((v) => -v)), names: ['before L1', 'L1.attn', 'L1.ffn', 'L2.attn', 'L2.ffn'] }, lens_close_ids: { shape: [OUT, 3], v: Int32Array.of(said, 900, 100, 101, 102, 900) },
    lens_words: { shape: [words.length], v: Int32Array.from(words), names: words.map((id) => (id === 900 ? ' and' : id === 101 ? '\n' : ` w${id}`)) },
  };
}

async function made(drop: string[] = [], change = (_: ReturnType<typeof arrays>): void => {}): Promise<Lens> {
  const a = arrays();
  change(a);
  for (const d of drop) delete a[d];
  const r = Recording.parse({ ...base, arrays: Object.fromEntries(Object.entries(a).map(([n, q]) => [n, { shape: q.shape, dtype: q.v instanceof Int32Array ? 'i4' : 'f4', axes: [], attr_names: q.names }])) });
  provide(r, (name) => Promise.resolve(npy(a[name]!.shape, a[name]!.v)));
  return lensOf(r, null);
}

test('the lens waits for all its arrays and has them at once after that', async () => {
  const ln = await made();
  assert.equal(lensNow(Recording.parse({ ...base, arrays: ln.r.file.arrays })), null);
  assert.ok(lensNow(ln.r));
  assert.equal(lensArrays(ln.r).length, 16);
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
  const ln = await made(), all = ln.writers(0, false)!, sum = all.reduce((t, q) => t + q.v, 0), by = ln.byLayer(0, null)!;
  assert.ok(Math.abs(sum - ln.said(0).logit!) < 1e-4);
  assert.ok(Math.abs(all[0]!.v + by.reduce((t, q) => t + q.A + q.F, 0) - sum) < 1e-6);
  assert.equal(by[2]!.F, 20);
  const q = leading(all, 3), diff = ln.writers(0, ln.pair(0, '', 'on'))!;
  assert.deepEqual([q.top.map((w) => w.name), q.others], [['L2.ffn', 'embed', 'L2.H1'], 7]);
  assert.ok(Math.abs(q.top.reduce((t, w) => t + w.v, 0) + q.rest - q.sum) < 1e-9);
  assert.ok(Math.abs(diff.reduce((t, w) => t + w.v, 0) - sum / 2) < 1e-5);
  assert.equal(ln.writers(-1, false), null);
  assert.deepEqual([headOf('L24.H6'), headOf('L24.ffn')], [[24, 6], null]);
});

test('any two of the leading words: the writers add up to the difference of their logits, and old recordings have the two they have', async () => {
  const ln = await made(), keys = ln.candidates(0).map((c) => c.key);
  assert.deepEqual(keys, ['said', 'on', '3', '4', '5']);
  for (const k of [0, 1]) for (const a of ln.candidates(k)) for (const b of ln.candidates(k)) {
    const p = ln.pair(k, a.key, b.key)!, sum = ln.writers(k, p)!.reduce((t, w) => t + w.v, 0);
    assert.equal(p.against, a === b ? null : p.against);
    assert.ok(Math.abs(sum - (a.logit! - (p.against ? b.logit! : 0))) < 1e-4, `${a.key} against ${b.key}`);
    assert.equal(p.against?.id, a.id === b.id ? undefined : b.id);
  }
  assert.deepEqual(ln.candidates(1).map((c) => c.key), ['on', 'said', '3', '4', '5'], 'the word that was drawn need not lead');
  assert.equal(ln.pair(1, '1')!.of.key, 'on', 'a rank finds its word, whatever that is called');
  assert.equal(ln.pair(-1), null);
  const old = await made(['attr_top', 'attr_top_ids', 'attr_top_logit']);
  assert.deepEqual(old.candidates(0).map((c) => [c.key, c.id]), [['said', said], ['on', 900]]);
  assert.ok(Math.abs(old.writers(0, old.pair(0, '', 'on'))!.reduce((t, w) => t + w.v, 0) - (old.said(0).logit! - old.said(0).secondLogit!)) < 1e-4);
  assert.deepEqual((await made(['attr'])).candidates(0), []);
});

test('a word is picked by press or key; two sides never hold one word; the link keeps both', async () => {
  const ln = await made(), s0 = fit(ln.r, { ...INITIAL, view: 'lens' }), words = (s: typeof s0): (number | undefined)[] => { const p = pairNow(ln, 0, s)!; return [p.of.id, p.against?.id]; };
  assert.deepEqual(words(s0), [said, undefined]);
  const s1 = pick(ln, 0, s0, 'second', '3');
  assert.deepEqual([words(s1), s1.opts], [[said, 101], 'second:3']);
  assert.deepEqual(words(pick(ln, 0, s1, 'second', '3')), [said, undefined]);
  assert.deepEqual(words(pick(ln, 0, s1, 'word', '3')), [101, said]);
  assert.deepEqual(words(pick(ln, 0, s1, 'second', 'said')), [101, said]);
  assert.deepEqual(words(pick(ln, 0, s1, 'word', '5')), [102, 101]);
  let s = s0;
  const against: (number | undefined)[] = [];
  for (let n = 0; n < 5; n++) { s = next(ln, 0, s, 'second'); against.push(words(s)[1]); }
  assert.deepEqual(against, [900, 101, 100, 102, undefined]);
  for (let n = 0; n < 5; n++) s = next(ln, 0, s, 'word');
  assert.deepEqual(words(s), [said, undefined]);
  assert.equal(next(ln, -1, s0, 'word'), s0);
});

test('the drawing prints the sum, the engine’s own logit, the words to choose from, and bars on both sides of zero', async () => {
  const ln = await made(), box = { x: 0, y: 16, w: 260, h: 700 }, s = whoWrote(ln, 0, ln.pair(0), box).svg, sum = ln.said(0).logit!;
  assert.equal((s.match(new RegExp(`>${sum.toFixed(3)}<`, 'g')) ?? []).length, 3);
  assert.ok(s.includes('var(--pos)') && s.includes('var(--neg)') && s.includes('data-head="2.1"'));
  const p = ln.pair(0, '4', '3')!, two = whoWrote(ln, 0, p, box).svg, d = signed(p.of.logit! - p.against!.logit!);
  assert.equal((two.match(new RegExp(`>\\${d}<`, 'g')) ?? []).length, 2, 'as the sum, and as the engine’s own');
  assert.ok(two.includes('sum = difference of logits'));
  assert.deepEqual([...two.matchAll(/data-opt="(\w+)" data-val="(\w+)"[^>]*aria-pressed="true"/g)].map((q) => q.slice(1, 3)), [['second', '3'], ['word', '4']]);
  assert.equal((two.match(/role="button"/g) ?? []).length, 10);
  const short = whoWrote(ln, 0, ln.pair(0, '', 'on'), { ...box, h: 100 });
  assert.ok(short.svg.includes('6 others') && short.svg.includes(`>${signed(sum / 2)}<`));
  assert.ok(!/NaN|undefined/.test(s + two + layerBars(ln, 0, ln.pair(0, '', '3'), ln.rows(true), 15, 120)));
});

test('close-up: ten words by logit for each answer word, the leading words of each stage elsewhere', async () => {
  const all = await made(), second = all.closeUp(LAST + 1)!;
  assert.deepEqual([second.unit, second.words.map((w) => w[0]!.id)], ['logit', [101, 101, 102, 102, 102]]);
  assert.equal(all.closeUp(LAST - 1)!.unit, 'probability');
  const old = (a: ReturnType<typeof arrays>): void => { a['lens_close'] = { ...a['lens_close']!, shape: [5, 3], v: Float32Array.from(CLOSE) }; a['lens_close_ids'] = { shape: [3], v: Int32Array.of(said, 900, 100) }; };
  const ln = await made([], old), c = ln.closeUp(LAST)!, other = ln.closeUp(LAST + 1)!;
  assert.deepEqual(c, all.closeUp(LAST));
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
  const pair = lensTable(ln, false, { row: rows[2]!, pos: LAST }, ln.pair(0, '', 'on'));
  assert.deepEqual(pair.rows.at(-1)!.slice(6, 8), ['The against ·and', 10]);
  assert.ok(pair.caption.includes(`they add up to ${(ln.said(0).logit! - ln.said(0).secondLogit!).toFixed(4)}`));
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
