import assert from 'node:assert/strict';
import { test } from 'node:test';
import { provide } from '../src/fetcharray';
import { csv, freeSvg } from '../src/exports';
import { Recording } from '../src/recording';
import { fit, INITIAL, type State } from '../src/state';
import { fromParams, toHref, toParams } from '../src/url';
import { answerHtml, compareTable, compareView, scopeOf, words } from '../src/views/compare';
import { pairSteps } from '../src/views/compare-align';
import { compareCard, sentence, sideName } from '../src/views/compare-card';
import { common, leading, lensDiff, likePasses, paramsThatDiffer, parting, spreadOf, stepDiffs, WHOLE, wordChanges, type Leading } from '../src/views/compare-data';
import { changeText, comparePicture, lensBox, lensDiffSvg, rangeSvg, wordsHeight, wordsSvg } from '../src/views/compare-draw';
import { openFile, second, secondNow } from '../src/views/compare-load';
import { others, pickHtml } from '../src/views/compare-pick';
import { lensOf, type Lens } from '../src/views/lens-data';
import { synthetic } from '../testdata/synthetic.mjs';
import { npy } from './npy';

interface Tok { id: number; text: string; bytes?: string; top?: { id: number; text: string; logprob: number }[] }
interface Raw {
  id?: string; engine: { name: string }; model: Record<string, unknown>; numbers?: Record<string, number>; arrays?: Record<string, unknown>;
  request: { prompt_tokens: Tok[]; output_tokens: Tok[]; params?: Record<string, unknown>; text?: string; messages?: unknown };
  spans: { step: string; pass?: number; dur_ns: number; layer?: number }[]; walk: { id: string }[]; passes: { index: number; kind: string; dur_ns: number; capture_ns?: number }[];
}
const L = 3, PASSES = 9, OUT = PASSES;
const raw = (over: (r: Raw) => void = () => undefined): Raw => { const r = structuredClone(synthetic(L, PASSES)) as unknown as Raw; over(r); return r; };
const made = (over: (r: Raw) => void = () => undefined): Recording => Recording.parse(raw(over));
const at = (r: Recording, over: Partial<State> = {}): State => fit(r, { ...INITIAL, view: 'compare', ...over });
const say = (r: Raw, k: number, id: number, text: string): void => { r.request.output_tokens[k] = { ...r.request.output_tokens[k]!, id, text }; };

test('walks of two engines are aligned by what their steps do, in order, within a stage', () => {
  const a = made(), b = made((r) => {
    r.engine = { name: 'another' };
    const name = (from: string, id: string): void => { for (const w of r.walk) if (w.id === from) w.id = id; for (const p of r.spans) if (p.step === from) p.step = id; };
    name('ffn_up', 'mlp_up_projection');
    name('rope', 'rotary');
    const texts = r.walk as { id: string; label: string; title: string }[];
    for (const w of texts) if (w.id === 'rotary') { w.label = 'rotary'; w.title = 'Turn by the position'; } else if (w.id === 'mlp_up_projection') { w.label = 'up projection'; w.title = 'Up projection'; }
  });
  const pairs = pairSteps(a, b), of = (id: string) => pairs.find((p) => p.a !== null && a.steps[p.a]!.id === id)!;
  assert.equal(b.steps[of('ffn_up').b!]!.id, 'mlp_up_projection');
  assert.equal(of('ffn_up').why, 'up');
  assert.equal(of('rope').b, null, 'nothing in common');
  for (const side of ['a', 'b'] as const) assert.deepEqual(pairs.map((p) => p[side]).filter((n) => n !== null), a.steps.map((_, n) => n), 'each step once, in its order');
  for (const p of pairs) if (p.a !== null && p.b !== null) assert.equal(a.steps[p.a]!.stage, b.steps[p.b]!.stage);
  const row = stepDiffs(a, b, 'decode').find((d) => d.id === 'ffn_up')!;
  assert.ok(row.label.includes(' ~ up projection') && row.delta === 0);
  assert.ok(pairSteps(a, made()).every((p) => p.a === p.b));
});

test('answers part at the first token that differs, or where one ends', () => {
  const a = made(), b = made((r) => say(r, 4, 9999, ' other')), short = made((r) => { r.request.output_tokens.length = 3; });
  assert.equal(parting(a, made()), -1);
  assert.equal(parting(a, b), 4);
  assert.equal(parting(a, short), 3);
  assert.equal(common(a.prompt, b.prompt), a.prompt.length);
  assert.equal(sentence(a, b), 'The answers part at token 5.');
  assert.equal(sentence(a, short), 'The answers part at token 4: B ends there.');
  assert.equal(sentence(a, made()), `Both answers are the same ${a.output.length} tokens.`);
  assert.match(sentence(a, made((r) => { r.request.prompt_tokens[2]!.id = 424242; })), /^The prompts differ from token 2 on\./);
});

test('an answer frames the first difference and never shows a blank', () => {
  const a = made((r) => { say(r, 1, 7, '\n\n'); say(r, 2, 8, ' '); say(r, 3, 9, ' <b>'); }), h = answerHtml(a, 3, 5, 'a');
  assert.match(h, /data-word="3"[^>]*class="first"[^>]*>&lt;b&gt;<\/button>/);
  assert.match(h, /data-word="1"[^>]*class="same"[^>]*>↵↵<\/button><br>/);
  assert.match(h, /data-word="2"[^>]*>·<\/button>/);
  assert.match(h, /data-word="5"[^>]*tabindex="0" class="now" aria-current="true"/);
  assert.equal((h.match(/tabindex="0"/g) ?? []).length, 1, 'one stop of the Tab key');
  assert.match(answerHtml(a, a.output.length, 0, 'a'), /ends<\/span>$/);
});

test('quartiles are those of linear interpolation', () => {
  assert.deepEqual(spreadOf([4, 1, 3, 2]), { n: 4, min: 1, q1: 1.75, median: 2.5, q3: 3.25, max: 4 });
  assert.equal(spreadOf([]), null);
});

/** Multiplies the time of one step in every decode pass. */
const slower = (step: string, f: number) => (r: Raw): void => { for (const p of r.spans) if (p.step === step && (p.pass ?? 0) > 0) p.dur_ns = Math.round(p.dur_ns * f); };

test('a step is news only when the middle halves of its runs do not touch; the biggest news is first', () => {
  const a = made(), b = made((r) => { slower('ffn_up', 3)(r); slower('attn_q', 2)(r); slower('lm_head', 1.0001)(r); }), list = stepDiffs(a, b, 'decode'), by = (id: string) => list.find((d) => d.id === id)!;
  assert.equal(list[0]!.id, WHOLE);
  assert.deepEqual(list.slice(1, 3).map((d) => d.id), ['ffn_up', 'attn_q']);
  assert.equal(by('ffn_up').news, true);
  assert.equal(by('lm_head').news, false, 'a change smaller than the spread is no news');
  assert.equal(by('rope').delta, 0);
  assert.ok(list.findIndex((d) => d.id === 'lm_head') > list.findIndex((d) => d.id === 'attn_q'));
  const one = by('ffn_up'), mine = a.passes.filter((p) => p.kind === 'decode').map((p) => a.timeAt(a.stepIndex.get('ffn_up')!, p.index)!).sort((x, y) => x - y);
  assert.equal(one.a!.n, mine.length);
  assert.equal(one.a!.median, (mine[(mine.length - 1) >> 1]! + mine[mine.length >> 1]!) / 2);
  assert.equal(stepDiffs(b, a, 'decode')[1]!.delta, -one.delta!);
});

test('few runs have no spread, steps of one recording are told, and only like passes are held together', () => {
  const a = made(), b = made((r) => { r.walk = r.walk.filter((s) => s.id !== 'rope'); r.passes.length = 4; r.passes[1]!.capture_ns = 1000; });
  assert.deepEqual(likePasses(a, b, 'decode').map((l) => l.length), [3, 3]);
  const list = stepDiffs(a, b, 'decode'), rope = list.find((d) => d.id === 'rope')!;
  assert.equal(rope.delta, null);
  assert.equal(list.at(-1)!.id, 'rope', 'what has no counterpart comes last');
  assert.ok(list.filter((d) => d.delta !== null).every((d) => d.news === null));
  assert.equal(list[0]!.b!.max, Math.max(...b.passes.filter((p) => p.kind === 'decode').map((p) => p.dur_ns - ((p as { capture_ns?: number }).capture_ns ?? 0))), 'captures between the ops are not part of a pass');
  const pre = stepDiffs(a, made(), 'prefill');
  assert.ok(pre.length > 10 && pre.every((d) => d.a!.n === 1 && d.news === null));
  const once = stepDiffs(a, made(), 'once');
  assert.ok(once.some((d) => d.id === 'route') && !once.some((d) => d.id === 'ffn_up' || d.id === WHOLE));
});

const lead = (words: [number, string, number][]): Leading => ({ words: words.map(([id, , p]) => ({ id, p })), text: (id) => words.find((w) => w[0] === id)![1], from: 'lens' });

test('leading words change by what is known, and by bounds where one side does not list a word', () => {
  const a = lead([[1, 'The', 0.6], [2, 'A', 0.3], [3, 'It', 0.05]]), b = lead([[2, 'A', 0.5], [1, 'The', 0.4], [4, 'Blue', 0.06]]), list = wordChanges(a, b, true), by = (t: string) => list.find((w) => w.text === t)!;
  assert.deepEqual(list.map((w) => w.text), ['The', 'A', 'Blue', 'It']);
  assert.ok(Math.abs(by('The').delta! + 0.2) < 1e-12 && !by('The').bound);
  assert.ok(Math.abs(by('Blue').delta! - 0.01) < 1e-12 && by('Blue').bound, 'it was below 0.05 and is 0.06');
  assert.equal(by('It').delta, null, 'it was 0.05 and is anything below 0.06');
  assert.equal(changeText(by('The')), '−0.200');
  assert.equal(changeText(by('Blue')), '≥ +0.010');
  assert.equal(changeText(by('It')), '–');
  assert.equal(changeText({ ...by('Blue'), delta: 0.0001 }), '–', 'a bound that rounds to nothing says nothing');
  assert.equal(wordChanges(a, lead([[77, 'The', 0.4]]), false)[0]!.delta!.toFixed(1), '-0.2', 'by text where ids mean something else');
  const svg = wordsSvg(list, { a: '1', b: '2' }, 380);
  assert.equal((svg.match(/class="m b"/g) ?? []).length, 2, 'the word said in each is bold');
  assert.ok(!/NaN|undefined/.test(svg) && wordsHeight(4) > 4 * 19);
});

test('leading words come from logprobs where there is no lens', () => {
  const top = [{ id: 5, text: ' a', logprob: Math.log(0.5) }, { id: 6, text: ' b', logprob: Math.log(0.25) }], r = made((q) => { q.request.output_tokens[1]!.top = top; });
  const l = leading(r, null, 1)!;
  assert.equal(l.from, 'logprobs');
  assert.deepEqual(l.words.map((w) => w.p.toFixed(2)), ['0.50', '0.25']);
  assert.equal(l.text(5), '·a');
  assert.equal(leading(r, null, 0), null);
  assert.equal(leading(r, null, OUT + 3), null);
  assert.equal(words({ a: r, b: made(), la: null, lb: null }, 1), null);
});

async function withLens(over: (r: Raw) => void, word: (layer: number, pos: number) => number): Promise<Lens> {
  const q = raw(over), n = q.request.prompt_tokens.length + q.request.output_tokens.length - 1, ids = new Int32Array(L * n * 2), lp = new Float32Array(L * n * 2);
  for (let l = 0; l < L; l++) for (let p = 0; p < n; p++) { ids.set([word(l, p), 900], (l * n + p) * 2); lp.set([Math.log(0.5), Math.log(0.125)], (l * n + p) * 2); }
  q.arrays = { lens_ids: { shape: [L, n, 2], dtype: 'i4' }, lens_logprob: { shape: [L, n, 2], dtype: 'f4' } };
  const r = Recording.parse(q);
  provide(r, (name) => Promise.resolve(npy([L, n, 2], name === 'lens_ids' ? ids : lp)));
  return lensOf(r, null);
}

test('the lens is compared where both read the same text, and nowhere else', async () => {
  const a = await withLens(() => undefined, () => 100), P = a.r.prompt.length, b = await withLens((r) => say(r, 2, 9999, ' other'), (l, p) => (l === 1 && p === 3) || p > P + 1 ? 200 : 100);
  const d = lensDiff(a, b);
  assert.ok(typeof d !== 'string');
  assert.equal(d.alike, P + 2, 'the word that differs is not read at its own position');
  assert.equal(d.changed, 1);
  assert.equal(d.first, 1);
  assert.deepEqual(d.byLayer, [0, 1, 0]);
  assert.equal(d.cells[d.n + 3], 1);
  assert.equal(d.cells[P + 2], 2);
  assert.equal(d.compared, L * (P + 2));
  const box = lensBox(d, 380, 200), svg = lensDiffSvg(d, box, P, { layer: 1, pos: 3 });
  assert.ok(box.h <= 200 && box.w <= 380 && !/NaN/.test(svg));
  assert.equal((/fill="var\(--lit\)"/.exec(svg) ?? []).length, 1);
  assert.equal((svg.match(/ d="([^"]*)" fill="var\(--st-C\)"/)![1]!.match(/M/g) ?? []).length, 1, 'one cell is drawn as changed');
  const t = compareTable({ a: a.r, b: b.r, la: a, lb: b }, at(a.r));
  assert.deepEqual(t.rows.filter((q) => q[0] === 'lens').map((q) => q[1]), ['L1, position 3']);
  assert.equal(words({ a: a.r, b: b.r, la: a, lb: b }, 0)![0]!.a!.toFixed(2), '0.50');
});

test('prompts that differ from the start leave no cell to compare', async () => {
  const a = await withLens(() => undefined, () => 1), b = await withLens((r) => { r.request.prompt_tokens[0]!.id = 424242; }, () => 1);
  assert.match(lensDiff(a, b) as string, /differ from their first token/);
});

test('sides are named by what sets them apart; parameters that differ are listed, a seed that does nothing is not', () => {
  const a = made((r) => { r.request.params = { temperature: 0, seed: 1, max_tokens: 4 }; }), b = made((r) => { r.request.params = { temperature: 0, seed: 2, max_tokens: 8, ablate: ['L1.H0', 'L0.ffn=mean'] }; });
  assert.equal(sideName(b, a), 'without head 0 of layer 1; feed-forward of layer 0, its mean over the prompt instead');
  assert.equal(sideName(a, b), 'with every part on');
  assert.match(sideName(a, made()), /^recorded /);
  assert.deepEqual(paramsThatDiffer(a, b), [{ name: 'max_tokens', a: '4', b: '8' }]);
  const h = compareCard(a, b, '/trace/x');
  assert.match(h, /<td>off<\/td><td>nothing<\/td><td>L1\.H0, L0\.ffn=mean<\/td>/);
  assert.match(h, /The answer stays\./);
  assert.match(h, /For a mean the prompt runs twice/);
  assert.match(compareCard(a, made((r) => { r.request.params = { ablate: ['L1.H0'] }; say(r, 1, 9999, ' x'); }), null), /needed here/);
  assert.match(h, /href="\/trace\/x"/);
  assert.ok(!/needed here|answer stays/.test(compareCard(a, made(), null)));
});

test('the table and the CSV hold both sides, the picture stands alone', () => {
  const a = made(), b = made((r) => { slower('ffn_up', 3)(r); say(r, 4, 9999, ' "x", <y>'); }), s = at(a, { step: 'ffn_up' }), t = compareTable({ a, b, la: null, lb: null }, s), row = t.rows.find((q) => q[0] === 'time, decode' && q[1] === a.steps.find((x) => x.id === 'ffn_up')!.label)!;
  assert.deepEqual(t.rows.filter((q) => q[0] === 'time, decode' && /residual/.test(String(q[1]))).map((q) => q[1]).sort(), ['attn residual', 'ffn residual'], 'two steps of one name are told apart');
  assert.equal(row[4], (row[3] as number) - (row[2] as number));
  assert.match(String(row[7]), /outside the spread/);
  assert.equal(t.rows[t.now!], row);
  assert.ok(t.rows.every((q) => q.length === t.head.length));
  assert.ok(t.rows.some((q) => q[7] === 'the answers part here'));
  assert.match(csv(t), /"·""x"", <y>"/);
  const svg = freeSvg(comparePicture({ width: 1000, title: 'a & <b>', sides: ['A', 'B'], answers: ['one two', 'one <three>'], sentence: sentence(a, b), words: [], said: { a: '', b: '' }, wordTitle: 'w', lens: null, steps: stepDiffs(a, b, 'decode'), stepTitle: 'Time', measure: (x, px) => x.length * px * 0.5 }), () => '#123456', '');
  assert.ok(!/NaN|undefined|var\(--/.test(svg));
  assert.ok(svg.includes('a &amp; &lt;b&gt;') && svg.includes('&lt;three&gt;'));
  assert.ok(/height="\d+(\.\d+)?"/.test(svg));
});

test('a range far off the scale says which way it lies', () => {
  const one = (m: number) => ({ n: 9, min: m, q1: m, median: m, q3: m, max: m }), d = { id: 'x', label: 'x', stage: null, delta: 1, news: true };
  assert.match(rangeSvg({ ...d, a: one(10), b: one(1000) }, 132, 20), /→/);
  assert.match(rangeSvg({ ...d, a: one(1000), b: one(10) }, 132, 20), /←/);
  assert.ok(!/NaN/.test(rangeSvg({ ...d, a: one(0), b: one(0) }, 132, 20)));
  assert.ok(!/NaN/.test(rangeSvg({ ...d, a: null, b: one(5) }, 132, 20)));
});

test('the second recording is part of the address, and is kept in all views', () => {
  const s = { ...INITIAL, view: 'compare', with: 'abc' };
  assert.equal(toParams(s).get('with'), 'abc');
  assert.equal(fromParams(new URLSearchParams('view=compare&with=abc')).with, 'abc');
  assert.equal(new URL(toHref('http://h/trace/x?with=old&keep=1', { ...s, with: '' }, 'query')).searchParams.get('with'), null);
  assert.equal(at(made(), { with: 'abc' }).with, 'abc');
  assert.equal(scopeOf({ ...INITIAL, opts: 'times:once' }), 'once');
  assert.equal(compareView.missing(made()), null);
  const live = made();
  live.live = true;
  assert.match(compareView.missing(live)!, /still running/);
});

test('a file is opened, kept under its name, and asked for again after a reload', async () => {
  const id = await openFile(new File([JSON.stringify(raw())], 'b.json'));
  assert.equal(id, 'file:b.json');
  assert.equal(secondNow(id)!.output.length, OUT);
  await assert.rejects(openFile(new File(['{'], 'bad.json')), /not JSON/);
  await assert.rejects(second('file:gone.gbx', new AbortController().signal), /gone\.gbx was opened from a file/);
});

test('the list offers other recordings that are whole, the same prompt first', () => {
  const r = made(), list = [{ id: 'new', prompt: 'else', started: '2026-03-02' }, { id: 'me', prompt: r.name }, { id: 'same', prompt: r.name, started: '2026-01-01' }, { id: 'run', prompt: r.name, running: true }, { id: 'old', prompt: '<i>', started: '2026-03-01' }];
  assert.deepEqual(others(r, list, ['me']).map((x) => x.id), ['same', 'new', 'old']);
  const q = { list, trouble: '', offered: null, error: '', here: ['me'] }, h = pickHtml(r, q);
  assert.match(h, /data-with="same"/);
  assert.ok(h.includes('&lt;i&gt;') && !h.includes('data-with="me"'));
  assert.match(pickHtml(r, { ...q, offered: 'Not here.' }), /aria-disabled="true"[\s\S]*Not here\./);
  assert.match(pickHtml(r, { ...q, list: [] }), /holds no other recording/);
  assert.match(pickHtml(r, { ...q, error: 'It is gone.' }), /role="alert">It is gone\./);
});
