// What the lens arrays of a recording say: the word of each row and position,
// who wrote a word of the answer, and the last two layers close up.
// Arithmetic only; words are texts of the recording.
import type { Captured } from '../arrays';
import { arrayNow, arrayOf } from '../fetcharray';
import { signs, tokenText } from '../format';
import { positions } from '../position';
import { hasArray, LENS_NEEDED } from './missing';
import type { Recording } from '../recording';
import type { Token } from '../schema';

/** A: after attention, before feed-forward. F: after the whole block. */
export type Half = 'A' | 'F';
export interface Row { layer: number; half: Half }
export interface Word { id: number; p: number }
export interface Cell { top: Word[]; entropy: number | null; rank: number | null; same: boolean; changed: boolean }

/** A word of an output token whose writers are recorded. key names it in links: said, on (the best beside it), or its rank; rank 0 is none of the leading ones. */
export interface Candidate { key: string; id: number; rank: number; logit: number | null; array: string; slot: number }
/** One word, or what lies between two. */
export interface Pair { of: Candidate; against: Candidate | null }

const MORE = ['lens_mid_ids', 'lens_mid_logprob', 'lens_entropy', 'lens_rank', 'lens_mid_entropy', 'lens_mid_rank', 'lens_close', 'lens_close_ids', 'lens_words', 'attr', 'attr_second', 'attr_ids', 'attr_logit', 'attr_top', 'attr_top_ids', 'attr_top_logit'];

export const lensArrays = (r: Recording): string[] => [...LENS_NEEDED, ...MORE].filter((n) => hasArray(r, n));

/** lensNow is the lens when all its arrays are at hand, else null. */
export function lensNow(r: Recording): Lens | null {
  const map = new Map<string, Captured>();
  for (const n of lensArrays(r)) { const a = arrayNow(r, n); if (!a) return null; map.set(n, a); }
  return new Lens(r, map);
}

export async function lensOf(r: Recording, src: string | null): Promise<Lens> {
  const names = lensArrays(r), got = await Promise.all(names.map((n) => arrayOf(r, n, src)));
  return new Lens(r, new Map(names.map((n, k) => [n, got[k]!])));
}

/** wordTexts collects the text of every token the recording names. */
export function wordTexts(r: Recording, map: Map<string, Captured>): Map<number, string> {
  const out = new Map<number, string>(), ids = map.get('lens_words')?.values, texts = r.file.arrays?.['lens_words']?.attr_names;
  if (ids && texts) for (let k = 0; k < ids.length; k++) out.set(ids[k]!, signs(texts[k] ?? ''));
  for (const t of [...r.prompt, ...r.output] as (Token & { top?: Token[] })[]) for (const q of [...(t.top ?? []), t]) out.set(q.id, tokenText(q));
  return out;
}

export class Lens {
  readonly layers: number;
  readonly n: number;
  readonly ranks: number;
  readonly hasMid: boolean;
  readonly components: string[];
  private texts: Map<number, string>;

  constructor(readonly r: Recording, private map: Map<string, Captured>) {
    const ids = map.get('lens_ids')!, lp = map.get('lens_logprob')!;
    if (ids.shape.length !== 3 || ids.shape.join() !== lp.shape.join()) throw new Error(`lens_ids, lens_logprob: wanted one shape (layer, position, rank), found (${ids.shape.join(', ')}) and (${lp.shape.join(', ')})`);
    [this.layers, this.n, this.ranks] = ids.shape as [number, number, number];
    if (!this.layers || !this.n || !this.ranks) throw new Error('lens_ids: it is empty');
    const mid = map.get('lens_mid_ids');
    this.hasMid = !!mid && !!map.get('lens_mid_logprob') && mid.shape.join() === ids.shape.join();
    const names = r.file.arrays?.['attr']?.attr_names ?? [], attr = map.get('attr');
    this.components = attr && attr.shape[0] === names.length ? names : [];
    this.texts = wordTexts(r, map);
  }

  text(id: number): string { return this.texts.get(id) ?? `id ${id}`; }
  known(id: number): boolean { return this.texts.has(id); }

  private value(name: string, ...at: number[]): number | null {
    const a = this.map.get(name);
    if (!a || a.shape.length !== at.length) return null;
    let off = 0;
    for (let k = 0; k < at.length; k++) { if (at[k]! < 0 || at[k]! >= a.shape[k]!) return null; off = off * a.shape[k]! + at[k]!; }
    return a.values[off]!;
  }

  /** rows from the first layer down; mid doubles them. */
  rows(mid: boolean): Row[] {
    return Array.from({ length: this.layers }, (_, layer) => (mid && this.hasMid ? [{ layer, half: 'A' as Half }, { layer, half: 'F' as Half }] : [{ layer, half: 'F' as Half }])).flat();
  }

  top(row: Row, pos: number): Word[] {
    const name = row.half === 'A' ? 'lens_mid' : 'lens', ids = this.map.get(`${name}_ids`)!.values, lp = this.map.get(`${name}_logprob`)!.values, at = (row.layer * this.n + pos) * this.ranks;
    return Array.from({ length: this.ranks }, (_, k) => ({ id: ids[at + k]!, p: Math.exp(lp[at + k]!) }));
  }

  lead(row: Row, pos: number): number { return this.map.get(row.half === 'A' ? 'lens_mid_ids' : 'lens_ids')!.values[(row.layer * this.n + pos) * this.ranks]!; }

  /** final is the word of the last row: the model's real output. */
  final(pos: number): number { return this.lead({ layer: this.layers - 1, half: 'F' }, pos); }

  /** cell at a row; above is the row drawn above it, for the mark of a change. */
  cell(row: Row, pos: number, above: Row | null): Cell {
    const top = this.top(row, pos), name = row.half === 'A' ? 'lens_mid' : 'lens', nats = this.value(`${name}_entropy`, row.layer, pos);
    let rank = this.value(`${name}_rank`, row.layer, pos);
    if (rank === null) { const k = top.findIndex((w) => w.id === this.final(pos)); rank = k < 0 ? null : k + 1; }
    return { top, entropy: nats === null ? null : nats / Math.LN2, rank, same: top[0]!.id === this.final(pos), changed: !!above && this.lead(above, pos) !== top[0]!.id };
  }

  /** stays is the first layer from which every row after a block says the final word. */
  stays(pos: number): number {
    let l = this.layers - 1;
    while (l > 0 && this.lead({ layer: l - 1, half: 'F' }, pos) === this.final(pos)) l--;
    return l;
  }

  /** said is the word of the answer at place k and the best one beside it: ids and logits. */
  said(k: number): { said: number; second: number | null; logit: number | null; secondLogit: number | null } {
    const pos = this.r.prompt.length - 1 + k, drawn = this.r.output[k]?.id ?? this.final(pos), second = this.value('attr_ids', 1, k);
    const best = pos < this.n ? this.top({ layer: this.layers - 1, half: 'F' }, pos).find((w) => w.id !== drawn)?.id ?? null : null;
    return { said: this.value('attr_ids', 0, k) ?? drawn, second: second ?? best, logit: this.value('attr_logit', 0, k), secondLogit: this.value('attr_logit', 1, k) };
  }

  /** candidates are the words of output token k whose writers are recorded, best first; the word that was said is always one. */
  candidates(k: number): Candidate[] {
    const attr = this.map.get('attr'), top = this.map.get('attr_top'), ids = this.map.get('attr_top_ids');
    if (!attr || !this.components.length || k < 0 || k >= attr.shape[1]!) return [];
    const q = this.said(k), list: Candidate[] = [], whole = top && ids && top.shape.length === 3 && top.shape[1] === attr.shape[0] && top.shape[2] === attr.shape[1] && ids.shape.join() === `${top.shape[2]},${top.shape[0]}`;
    if (whole) for (let r = 0; r < top.shape[0]!; r++) list.push({ key: String(r + 1), id: this.value('attr_top_ids', k, r)!, rank: r + 1, logit: this.value('attr_top_logit', k, r), array: 'attr_top', slot: r });
    else if (this.map.has('attr_second') && q.second !== null) list.push({ key: 'on', id: q.second, rank: 0, logit: q.secondLogit, array: 'attr_second', slot: 0 });
    const said = list.find((c) => c.id === q.said);
    if (said) said.key = 'said';
    else list.unshift({ key: 'said', id: q.said, rank: 0, logit: q.logit, array: 'attr', slot: 0 });
    const beside = list.find((c) => c.key !== 'said');
    if (beside) beside.key = 'on';
    return list;
  }

  /** pair finds the chosen words by key or rank: '' is the word that was said, and none against it. Two of the same are one alone. */
  pair(k: number, word = '', second = ''): Pair | null {
    const list = this.candidates(k), find = (key: string): Candidate | undefined => list.find((c) => c.key === key) ?? list.find((c) => c.rank > 0 && String(c.rank) === key), of = find(word || 'said') ?? find('said');
    if (!of) return null;
    const against = second ? find(second) ?? null : null;
    return { of, against: against === of ? null : against };
  }

  /** writers of word k, or of the chosen words: each component and what it added to the logit, or to the difference. Derived by the engine. */
  writers(k: number, by: Pair | null | false): { name: string; v: number }[] | null {
    const p = by || this.pair(k);
    if (!p) return null;
    const n = this.components.length, at = (c: Candidate, i: number): number => { const a = this.map.get(c.array)!, m = a.shape.at(-1)!; return a.values[(c.slot * n + i) * m + k]!; };
    return this.components.map((name, i) => ({ name, v: at(p.of, i) - (p.against ? at(p.against, i) : 0) }));
  }

  /** byLayer sums the writers of word k: attention and feed-forward of each layer. */
  byLayer(k: number, by: Pair | null): { A: number; F: number }[] | null {
    const w = this.writers(k, by);
    if (!w) return null;
    const out = Array.from({ length: this.layers }, () => ({ A: 0, F: 0 }));
    for (const { name, v } of w) { const m = /^L(\d+)\.(H\d+|attn|ffn)/.exec(name), q = m && out[Number(m[1])]; if (q) q[m![2] === 'ffn' ? 'F' : 'A'] += v; }
    return out;
  }

  /** closeUp of the last two layers: of a word of the answer the ten leading words' logits, elsewhere (or where the recording is of before schema 1.2: of all but the first) the leading words and probabilities of each stage. */
  closeUp(pos: number): { stages: string[]; unit: 'logit' | 'probability'; words: Word[][] } | null {
    const L = this.layers, k = pos - this.r.prompt.length + 1, ids = this.map.get('lens_close_ids'), c = this.map.get('lens_close');
    const [stages, m] = c?.shape.slice(-2) ?? [0, 0], all = c?.shape.length === 3 ? c.shape[0]! : 1;
    if (k >= 0 && k < all && ids && c && stages && m) {
      const names = this.r.file.arrays?.['lens_close']?.attr_names ?? [];
      return { stages: Array.from({ length: stages }, (_, s) => names[s] ?? `stage ${s}`), unit: 'logit', words: Array.from({ length: stages }, (_, s) => Array.from({ length: m }, (__, j) => ({ id: ids.values[k * m + j]!, p: c.values[(k * stages + s) * m + j]! })).sort((x, y) => y.p - x.p)) };
    }
    if (!this.hasMid || L < 2 || pos < 0 || pos >= this.n) return null;
    const rows: Row[] = [...(L > 2 ? [{ layer: L - 3, half: 'F' as Half }] : []), { layer: L - 2, half: 'A' }, { layer: L - 2, half: 'F' }, { layer: L - 1, half: 'A' }, { layer: L - 1, half: 'F' }];
    return { stages: rows.map((q, s) => (rows.length === 5 && s === 0 ? `before L${L - 2}` : `L${q.layer}.${q.half === 'A' ? 'attn' : 'ffn'}`)), unit: 'probability', words: rows.map((q) => this.top(q, pos)) };
  }

  get inputs(): Token[] { return positions(this.r); }
}

export type Colour = 'probability' | 'rank' | 'entropy';

/** part of the ramp, 0..1, for a cell; null where the recording does not say. Square root of p; rank and entropy fall from 1 to the vocabulary. */
export function part(c: Cell, by: Colour, vocab: number): number | null {
  const most = Math.log2(Math.max(2, vocab));
  if (by === 'probability') return Math.sqrt(c.top[0]!.p);
  if (by === 'rank') return c.rank === null ? null : Math.max(0, 1 - Math.log2(c.rank) / most);
  return c.entropy === null ? null : Math.max(0, 1 - c.entropy / most);
}

export const kindOf = (name: string): 'A' | 'F' | 'E' => (name === 'embed' ? 'E' : /ffn/.test(name) ? 'F' : 'A');
export const signed = (v: number, digits = 3): string => `${v < 0 ? '−' : '+'}${Math.abs(v).toFixed(digits)}`;

/** leading takes the n largest writers by size; the rest is summed. */
export function leading(list: { name: string; v: number }[], n: number): { top: { name: string; v: number }[]; others: number; rest: number; sum: number } {
  const by = [...list].sort((a, b) => Math.abs(b.v) - Math.abs(a.v)), top = by.slice(0, n), sum = list.reduce((a, q) => a + q.v, 0);
  return { top, others: list.length - top.length, rest: by.slice(n).reduce((a, q) => a + q.v, 0), sum };
}
