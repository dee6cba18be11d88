// Two recordings held side by side: where their answers part, how the leading
// words moved, which steps take another time than their own spread explains,
// and which cells of the lens say another word. Arithmetic only.
import { tokenText } from '../format';
import { positions } from '../position';
import type { Recording } from '../recording';
import type { Stage, Token } from '../schema';
import { pairSteps, sameEngine } from './compare-align';
import type { Lens, Word } from './lens-data';

/** sameModel: ids mean the same word in both. */
export function sameModel(a: Recording, b: Recording): boolean {
  const x = a.file.model, y = b.file.model;
  return x.sha256 && y.sha256 ? x.sha256 === y.sha256 : (x.file ?? x.name) === (y.file ?? y.name) && x.vocab === y.vocab;
}

/** common is how many tokens two lists share from their start; of an id that an engine did not say (-1) the text counts alone. */
export function common(a: readonly Token[], b: readonly Token[]): number {
  let n = 0;
  while (n < a.length && n < b.length && (a[n]!.id === b[n]!.id || a[n]!.id < 0 || b[n]!.id < 0) && a[n]!.text === b[n]!.text) n++;
  return n;
}

/** parting is the first word of the answer that differs, -1 when both say the same. A longer answer differs where the other ends. */
export function parting(a: Recording, b: Recording): number {
  const n = common(a.output, b.output);
  return n === a.output.length && n === b.output.length ? -1 : n;
}

export interface Leading { words: Word[]; text(id: number): string; from: 'lens' | 'logprobs' }

/** leading gives the likeliest words where word k of the answer was drawn: from the last row of the lens, or from the logprobs that were asked for. */
export function leading(r: Recording, ln: Lens | null, k: number): Leading | null {
  const pos = r.prompt.length - 1 + k;
  if (k < 0 || k >= r.output.length) return null;
  if (ln && pos >= 0 && pos < ln.n) return { words: ln.top({ layer: ln.layers - 1, half: 'F' }, pos), text: (id) => ln.text(id), from: 'lens' };
  const t = r.output[k] as (Token & { top?: Token[] }) | undefined, list = t?.top ?? [];
  if (!list.length) return null;
  return { words: list.filter((q) => q.logprob !== undefined).map((q) => ({ id: q.id, p: Math.exp(q.logprob!) })), text: (id) => { const q = list.find((x) => x.id === id); return q ? tokenText(q) : `id ${id}`; }, from: 'logprobs' };
}

/** A word in both; null: below the words that were kept there, then most is the least of those, which it cannot exceed. */
export interface WordChange { key: string; text: string; a: number | null; b: number | null; mostA: number; mostB: number; delta: number | null; bound: boolean }

/** wordChanges lists the leading words of both, the likeliest first. Where one side does not list a word, delta is what the change is at least, in size. */
export function wordChanges(a: Leading, b: Leading, byId: boolean): WordChange[] {
  const key = (l: Leading, id: number): string => (byId ? String(id) : l.text(id)), least = (l: Leading): number => Math.min(...l.words.map((w) => w.p));
  const A = new Map(a.words.map((w) => [key(a, w.id), w])), B = new Map(b.words.map((w) => [key(b, w.id), w])), mostA = least(a), mostB = least(b);
  const out = [...new Set([...A.keys(), ...B.keys()])].map((k): WordChange => {
    const x = A.get(k), y = B.get(k), pa = x?.p ?? null, pb = y?.p ?? null;
    const text = x ? a.text(x.id) : b.text(y!.id), bound = pa === null || pb === null;
    const low = pa === null ? Math.max(0, pb! - mostA) : pb === null ? Math.min(0, mostB - pa) : pb - pa;
    return { key: k, text, a: pa, b: pb, mostA, mostB, delta: bound && low === 0 ? null : low, bound };
  });
  return out.sort((x, y) => Math.max(y.a ?? 0, y.b ?? 0) - Math.max(x.a ?? 0, x.b ?? 0));
}

export interface Spread { n: number; min: number; q1: number; median: number; q3: number; max: number }

/** spreadOf takes the quartiles of samples by linear interpolation between order statistics; null for none. */
export function spreadOf(list: readonly number[]): Spread | null {
  if (!list.length) return null;
  const s = [...list].sort((x, y) => x - y), at = (q: number): number => { const h = (s.length - 1) * q, i = Math.floor(h); return s[i]! + (h - i) * ((s[i + 1] ?? s[i]!) - s[i]!); };
  return { n: s.length, min: s[0]!, q1: at(0.25), median: at(0.5), q3: at(0.75), max: s.at(-1)! };
}

/** decode: one pass that makes one token. prefill: reading the prompt. once: steps outside of passes, each run. */
export type Scope = 'decode' | 'prefill' | 'once';
export const SCOPES: readonly Scope[] = ['decode', 'prefill', 'once'];

/** Fewer runs than these have no spread that one could lean on. */
export const LEAST_RUNS = 5;

export interface StepDiff { id: string; label: string; stage: Stage | null; a: Spread | null; b: Spread | null; /** median of b less median of a, ns */ delta: number | null; /** outside the spread; null: too few runs to say */ news: boolean | null }

const passesFor = (r: Recording, scope: Scope): number[] => r.passes.filter((p) => (scope === 'prefill' ? p.kind === 'prefill' : p.kind === 'decode')).map((p) => p.index);

/** likePasses are the passes that are held against each other: the first decode passes of both, as many as both have, so that they read caches of like length; all prefill passes, summed. */
export function likePasses(a: Recording, b: Recording, scope: Scope): [number[], number[]] {
  const pa = passesFor(a, scope), pb = passesFor(b, scope), n = scope === 'decode' ? Math.min(pa.length, pb.length) : Infinity;
  return [pa.slice(0, n), pb.slice(0, n)];
}

function samples(r: Recording, i: number, scope: Scope, passes: readonly number[]): number[] {
  if (scope === 'once') return r.spansAt(i).filter((p) => (p.pass === undefined || p.pass < 0) && r.isTop(p)).map((p) => p.dur_ns);
  if (!r.inTokens(i)) return [];
  const list = passes.map((p) => r.timeAt(i, p)).filter((v): v is number => v !== null);
  return scope === 'prefill' && list.length ? [list.reduce((x, y) => x + y, 0)] : list;
}

/** wholes are the passes themselves, without what went into captures and breakpoints between the ops. */
function wholes(r: Recording, scope: Scope, passes: readonly number[]): number[] {
  const list = r.passes.filter((p) => passes.includes(p.index)).map((p) => { const q = p as typeof p & { capture_ns?: number; paused_ns?: number }; return q.dur_ns - (q.capture_ns ?? 0) - (q.paused_ns ?? 0); });
  return scope === 'prefill' && list.length ? [list.reduce((x, y) => x + y, 0)] : list;
}

export const WHOLE = 'whole pass';

const diff = (id: string, label: string, stage: Stage | null, a: Spread | null, b: Spread | null): StepDiff => ({
  id, label, stage, a, b, delta: a && b ? b.median - a.median : null,
  news: a && b && a.n >= LEAST_RUNS && b.n >= LEAST_RUNS ? a.q1 > b.q3 || b.q1 > a.q3 : null,
});

/**
 * stepDiffs aligns two walks: of one engine by step id, of two by what their
 * steps do. A difference is news when the middle halves of the runs do not
 * touch. News comes first, then what lies within the spread, then what cannot
 * be told; each the biggest difference first. None where an emulated device
 * ran one of them: its times measure nothing.
 */
export function stepDiffs(a: Recording, b: Recording, scope: Scope): StepDiff[] {
  if (!a.clocked || !b.clocked) return [];
  const [pa, pb] = likePasses(a, b, scope), one = sameEngine(a, b);
  const named = (s: { id: string; label: string }): string => (one && [a, b].some((r) => r.steps.some((x) => x.label === s.label && x.id !== s.id)) ? s.id.replace(/_/g, ' ') : s.label);
  const list = pairSteps(a, b).map(({ a: i, b: j }) => {
    const x = i === null ? null : a.steps[i]!, y = j === null ? null : b.steps[j]!, s = x ?? y!, both = x && y && x.id !== y.id && x.label !== y.label;
    return diff(s.id, both ? `${x.label} ~ ${y.label}` : named(s), s.stage, i === null ? null : spreadOf(samples(a, i, scope, pa)), j === null ? null : spreadOf(samples(b, j, scope, pb)));
  }).filter((d) => d.a || d.b);
  const order = (d: StepDiff): number => (d.delta === null ? 3 : d.news === true ? 0 : d.news === false ? 1 : 2);
  list.sort((x, y) => order(x) - order(y) || Math.abs(y.delta ?? 0) - Math.abs(x.delta ?? 0));
  if (scope !== 'once' && list.length) list.unshift(diff(WHOLE, scope === 'decode' ? 'decode pass' : 'prefill', null, spreadOf(wholes(a, scope, pa)), spreadOf(wholes(b, scope, pb))));
  return list;
}

/** 0 the same word, 1 another word, 2 the text before it differs already. */
export interface LensDiff { layers: number; n: number; cells: Uint8Array; alike: number; changed: number; compared: number; first: number | null; byLayer: number[] }

/** lensDiff holds the leading word of each cell against the other's. Only positions that read the same text are compared. */
export function lensDiff(a: Lens, b: Lens): LensDiff | string {
  if (a.layers !== b.layers) return `The models have ${a.layers} and ${b.layers} layers; their rows do not stand for the same.`;
  const n = Math.max(a.n, b.n), alike = Math.min(common(positions(a.r), positions(b.r)), a.n, b.n), cells = new Uint8Array(a.layers * n).fill(2), byLayer = new Array<number>(a.layers).fill(0), ids = sameModel(a.r, b.r);
  if (!alike) return 'The prompts differ from their first token on; no position reads the same text.';
  let changed = 0, first: number | null = null;
  for (let layer = 0; layer < a.layers; layer++) for (let p = 0; p < alike; p++) {
    const x = a.lead({ layer, half: 'F' }, p), y = b.lead({ layer, half: 'F' }, p), other = ids ? x !== y : a.text(x) !== b.text(y);
    cells[layer * n + p] = other ? 1 : 0;
    if (!other) continue;
    changed++;
    byLayer[layer]!++;
    first ??= layer;
  }
  return { layers: a.layers, n, cells, alike, changed, compared: a.layers * alike, first, byLayer };
}

export interface Fact { name: string; a: string; b: string }

/** paramsThatDiffer lists what was asked for differently; the parts that were off are told elsewhere. */
export function paramsThatDiffer(a: Recording, b: Recording): Fact[] {
  const x = a.file.request.params ?? {}, y = b.file.request.params ?? {}, text = (v: unknown): string => (v === undefined || v === null ? '–' : typeof v === 'string' ? v : JSON.stringify(v));
  const greedy = x['temperature'] === 0 && y['temperature'] === 0;
  return [...new Set([...Object.keys(x), ...Object.keys(y)])].filter((k) => k !== 'ablate' && !(greedy && k === 'seed') && text(x[k]) !== text(y[k])).map((k) => ({ name: k, a: text(x[k]), b: text(y[k]) }));
}
