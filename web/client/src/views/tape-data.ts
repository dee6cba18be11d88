// The tape: what one pass reads, in the order in which it reads it. Weights
// from the model's file, and between them the keys and values of the cache.
// Everything comes from the op spans and the list of weights in the
// recording. It does not know about the page or the weights themselves.
import { lastOfPass } from '../position';
import { isNumber, type Recording } from '../recording';
import type { Family } from '../roles';
import type { Pass, Span } from '../schema';
import { at, type State } from '../state';

export interface Item {
  n: number;
  kind: 'weight' | 'cache';
  op: string;
  layer: number;
  /** step index */
  step: number;
  /** in the model's file; '' where the recording does not name it, and of the cache */
  name: string;
  type: string;
  rows: number;
  cols: number;
  /** read in this pass */
  bytes: number;
  family: Family;
  /** ns from the pass's start; ns -1: not measured */
  start: number;
  ns: number;
  span: Span | null;
  /** bytes of weights read before */
  at: number;
}

export interface Group { layer: number; from: number; to: number; at: number; bytes: number }

export interface Tape {
  pass: Pass;
  items: Item[];
  groups: Group[];
  /** all weights, and all keys and values */
  bytes: number;
  cache: number;
  named: boolean;
}

const isCache = (id: string): boolean => /(^|_)(scores|mix)$/.test(id);
const isMatrix = (p: Span): boolean => /^(m[vm]|dot)/.test(p.kernel ?? '') || /^(embed|lm_head)$/.test(p.op ?? '') || /(^|_)(q|k|v|out|gate|up|down)$/.test(p.op ?? '');

/** cacheBytes is how much of a span's traffic is keys or values: what is left when scores, queries and results are taken off. Null where several requests share the pass. */
export function cacheBytes(r: Recording, pass: Pass, p: Span): number | null {
  const { heads, head_dim: hd } = r.file.model;
  if (!heads || !hd || pass.requests > 1 || !p.bytes) return null;
  const end = lastOfPass(r, pass.index) + 1, t = pass.tokens;
  let keys = 0;
  for (let k = 0; k < t; k++) keys += end - k;
  const kv = p.bytes - 4 * keys * heads - 4 * t * heads * hd;
  return kv > 0 ? kv : null;
}

const kept = new WeakMap<Recording, Map<string, Tape>>();

export function tapeOf(r: Recording, index: number): Tape | null {
  const pass = r.passes.find((p) => p.index === index);
  if (!pass) return null;
  let m = kept.get(r);
  if (!m) kept.set(r, (m = new Map()));
  const key = `${r.version}/${index}`, had = m.get(key);
  if (had) return had;
  if (m.size > 16) m.clear();
  const made = build(r, pass);
  m.set(key, made);
  return made;
}

type Rough = Omit<Item, 'n' | 'at'>;

function build(r: Recording, pass: Pass): Tape {
  const spans = new Map<string, Span>(), order: Rough[] = [], tensors = r.file.model.tensors ?? [];
  for (let i = 0; i < r.steps.length; i++) {
    if (!r.roles[i]!.op) continue;
    for (const p of r.spansAt(i, pass.index)) if (p.pass === pass.index && r.isTop(p)) spans.set(`${p.layer ?? -1}/${p.op ?? p.step}`, p);
  }
  const rough = (op: string, layer: number, span: Span | null, rest: Pick<Item, 'kind' | 'name' | 'type' | 'rows' | 'cols' | 'bytes'>): void => {
    const step = r.stepIndex.get(op) ?? -1;
    order.push({ ...rest, op, layer, step, family: step < 0 ? 'A' : rest.kind === 'cache' ? 'K' : r.roles[step]!.family, start: span ? span.start_ns - pass.start_ns : -1, ns: span && r.clocked ? span.dur_ns : -1, span });
  };
  for (const t of tensors) {
    const bytes = t.op === 'embed' && t.rows ? (t.bytes / t.rows) * pass.tokens : t.bytes;
    rough(t.op, t.layer, spans.get(`${t.layer}/${t.op}`) ?? null, { kind: 'weight', name: t.name, type: t.type, rows: t.rows, cols: t.cols, bytes });
  }
  for (const p of spans.values()) {
    const op = p.op ?? p.step, none = { name: '', type: '', rows: 0, cols: 0 };
    if (isCache(op)) rough(op, p.layer ?? -1, p, { kind: 'cache', ...none, bytes: cacheBytes(r, pass, p) ?? p.bytes ?? 0 });
    else if (!tensors.length && p.bytes && isMatrix(p)) rough(op, p.layer ?? -1, p, { kind: 'weight', ...none, bytes: p.bytes });
  }
  // in order of time where it was measured, else as the list has it
  const place = new Map(order.map((o, k) => [o, k]));
  order.sort((a, b) => (a.start >= 0 && b.start >= 0 ? a.start - b.start : place.get(a)! - place.get(b)!));
  return lay(pass, order, tensors.length > 0);
}

function lay(pass: Pass, order: Rough[], named: boolean): Tape {
  const items: Item[] = [], groups: Group[] = [];
  let bytes = 0, cache = 0;
  order.forEach((o, n) => {
    items.push({ ...o, n, at: bytes });
    const g = groups.at(-1);
    if (!g || g.layer !== o.layer) groups.push({ layer: o.layer, from: n, to: n, at: bytes, bytes: 0 });
    const h = groups.at(-1)!;
    h.to = n;
    if (o.kind === 'weight') { bytes += o.bytes; h.bytes += o.bytes; } else cache += o.bytes;
  });
  return { pass, items, groups, bytes, cache, named };
}

/** Where the playhead is: an item, or before the first (-1), or behind the last (all read). */
export interface Spot { cur: number; past: boolean }

/** spotOf finds the item of the state's step and layer; of another op of the pass, the last one read before it. */
export function spotOf(r: Recording, t: Tape, s: State): Spot {
  const i = at(r, s), hit = t.items.findIndex((x) => x.step === i && (x.layer === s.layer || x.layer < 0));
  if (hit >= 0) return { cur: hit, past: false };
  const role = r.roles[i]!, last = t.items.length - 1;
  if (role.op && r.inLayers(i)) return { cur: t.items.reduce((a, x) => (x.layer === s.layer && x.step <= i ? x.n : x.layer >= 0 && x.layer < s.layer ? Math.max(a, x.n) : a), 0), past: false };
  if (role.op) return { cur: t.items.reduce((a, x) => (x.step <= i ? Math.max(a, x.n) : a), 0), past: false };
  return i < (t.items[0]?.step ?? 0) ? { cur: -1, past: false } : { cur: last, past: true };
}

export const groupOf = (t: Tape, n: number): Group | null => t.groups.find((g) => n >= g.from && n <= g.to) ?? null;

/** A stop of the walk: one item of the slow layer, or a whole layer of the rest. */
export interface Stop { from: number; to: number; slow: boolean }

/** stopsOf is the walk: what lies outside the layers and the layers' first one item by item, then a stop for each other layer. */
export function stopsOf(t: Tape): Stop[] {
  const slow = t.groups.find((g) => g.layer >= 0)?.layer ?? 0;
  return t.groups.flatMap((g): Stop[] => (g.layer < 0 || g.layer === slow ? Array.from({ length: g.to - g.from + 1 }, (_, k) => ({ from: g.from + k, to: g.from + k, slow: true })) : [{ from: g.from, to: g.to, slow: false }]));
}

/** Playing: ms for what the pass needed ns for. The slow stops share SLOW_MS, the rest FAST_MS, each in its own time. */
const SLOW_MS = 11_000, FAST_MS = 9_000, LEAST_MS = 320, FRAME_MS = 33;

export interface Pace { slow: number; fast: number }

export function paceOf(t: Tape): Pace {
  let slow = 0, fast = 0;
  for (const s of stopsOf(t)) for (let n = s.from; n <= s.to; n++) { const ns = Math.max(0, t.items[n]!.ns); if (s.slow) slow += ns; else fast += ns; }
  return { slow: slow ? SLOW_MS / slow : 0, fast: fast ? FAST_MS / fast : 0 };
}

/** beatFrom gives the item after n in play and how long it stays, ms; fast items go by several to a frame. Null at the end. */
export function beatFrom(t: Tape, n: number, d: 1 | -1): { n: number; ms: number } | null {
  const pace = paceOf(t), stops = stopsOf(t), slow = new Set(stops.filter((s) => s.slow).map((s) => s.from)), ns = (k: number): number => Math.max(0, t.items[k]!.ns);
  let to = n + d;
  if (to < 0 || to >= t.items.length) return null;
  if (slow.has(to)) return { n: to, ms: Math.max(LEAST_MS, ns(to) * pace.slow) };
  let ms = ns(to) * pace.fast;
  while (ms < FRAME_MS && to + d >= 0 && to + d < t.items.length && !slow.has(to + d)) { to += d; ms += ns(to) * pace.fast; }
  return { n: to, ms: Math.max(FRAME_MS, ms) };
}

export interface Total { bytes: number; ns: number | null; cache: number }

/** readSoFar is what has been read when part of item n is done. */
export function readSoFar(t: Tape, n: number, part = 1): Total {
  const x = t.items[n];
  if (!x) return { bytes: 0, ns: 0, cache: 0 };
  let cache = 0;
  for (let k = 0; k < n; k++) if (t.items[k]!.kind === 'cache') cache += t.items[k]!.bytes;
  return { bytes: x.at + (x.kind === 'weight' ? x.bytes * part : 0), ns: x.ns < 0 ? null : x.start + x.ns * part, cache: cache + (x.kind === 'cache' ? x.bytes * part : 0) };
}

export const rateOf = (x: Item): number | null => (x.ns > 0 && x.bytes > 0 ? x.bytes / x.ns : null);

/** tapePass is the pass and position that the captured vectors are of, from array tape_pass. */
export function tapePassOf(values: ArrayLike<number> | undefined): { pass: number; position: number } | null {
  return values && values.length === 2 && isNumber(values[0]) && isNumber(values[1]) ? { pass: values[0], position: values[1] } : null;
}
