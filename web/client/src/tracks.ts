// Spans laid into rows for the timeline: one lane a lane name, rows below it
// for what is nested or overlaps, typed arrays sorted by start. Nothing is
// dropped: every span of the recording is in exactly one row.
import { isClocked } from './format';
import { isNumbers, type Recording } from './recording';
import type { Span } from './schema';

export interface Row { start: Float64Array; end: Float64Array; span: Int32Array; n: number }
export interface Track { lane: string; rows: Row[]; worker?: number }

interface Filling { start: number[]; end: number[]; span: number[]; last: number }

const toRow = (q: Filling): Row => ({ start: Float64Array.from(q.start), end: Float64Array.from(q.end), span: Int32Array.from(q.span), n: q.span.length });

/** tracksOf puts each span into the first row of its lane that is free at its start, below its parent. all, from one on: other spans than the recording's. */
export function tracksOf(r: Recording, all: Span[] = r.spans, from = 0): Track[] {
  const order = Array.from(all.slice(from), (_, i) => i + from).sort((a, b) => all[a]!.start_ns - all[b]!.start_ns || all[b]!.dur_ns - all[a]!.dur_ns || a - b);
  const lanes = new Map<string, Filling[]>();
  for (const l of r.lanes) lanes.set(l.id, []);
  for (const i of order) {
    const p = all[i]!;
    let rows = lanes.get(p.lane);
    if (!rows) lanes.set(p.lane, (rows = []));
    let row = rows.find((q) => q.last <= p.start_ns);
    if (!row) rows.push((row = { start: [], end: [], span: [], last: 0 }));
    row.start.push(p.start_ns);
    row.end.push(p.start_ns + p.dur_ns);
    row.span.push(i);
    row.last = Math.max(p.start_ns + p.dur_ns, row.last);
  }
  return [...lanes].filter(([, rows]) => rows.length > 0).map(([lane, rows]) => ({ lane, rows: rows.map(toRow) }));
}

/** firstEndingAfter is the index of the first span of a row that ends after t (rows do not overlap, so ends are sorted too). */
export function firstEndingAfter(row: Row, t: number): number {
  let lo = 0, hi = row.n;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (row.end[mid]! > t) hi = mid; else lo = mid + 1;
  }
  return lo;
}

/** One thing to draw: a span, or `many` spans that together are narrower than they can be shown. */
export interface Block { x: number; w: number; span: number; many: number }

/**
 * blocks gives what is visible of a row between t0 and t1 on width px. Spans
 * narrower than 1 px merge with their neighbours of the same pixel; a merged
 * block stands for its longest span and knows how many it holds.
 */
export function blocks(row: Row, t0: number, t1: number, width: number, emit: (b: Block) => void): void {
  const k = width / (t1 - t0);
  let x0 = 0, x1 = -1, many = 0, longest = 0, span = -1;
  const flush = (): void => { if (many) emit({ x: x0, w: Math.max(1, x1 - x0), span, many }); many = 0; };
  for (let i = firstEndingAfter(row, t0); i < row.n && row.start[i]! < t1; i++) {
    const x = Math.max(0, (row.start[i]! - t0) * k), e = Math.min(width, (row.end[i]! - t0) * k), d = row.end[i]! - row.start[i]!;
    if (e - x >= 1) {
      flush();
      emit({ x, w: e - x, span: row.span[i]!, many: 1 });
      continue;
    }
    if (many && e - x0 > 1.25) flush();
    if (!many) { x0 = x; longest = -1; }
    if (d > longest) { longest = d; span = row.span[i]!; }
    x1 = e;
    many++;
  }
  flush();
}

/** spanAt finds the span of a row at a time, or the nearest within slack ns. */
export function spanAt(row: Row, t: number, slack: number): number {
  const i = firstEndingAfter(row, t);
  if (i < row.n && row.start[i]! <= t) return row.span[i]!;
  const after = i < row.n ? row.start[i]! - t : Infinity, before = i > 0 ? t - row.end[i - 1]! : Infinity;
  if (Math.min(after, before) > slack) return -1;
  return after < before ? row.span[i]! : row.span[i - 1]!;
}

/** niceStep is the tick distance (1, 2, 5 by a power of ten) that gives at most n ticks over span ns. */
export function niceStep(span: number, n: number): number {
  const raw = span / Math.max(1, n), p = 10 ** Math.floor(Math.log10(raw)), m = raw / p;
  return Math.max(1, p * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10));
}

export const rate = (p: Span): number | null => (p.bytes && p.dur_ns > 0 && isClocked() ? p.bytes / p.dur_ns : null); // bytes/ns = GB/s

/**
 * workersOf makes one row a worker from attrs busy_ns of op spans: how long
 * each worker was busy, drawn from the start of its op (derived: where inside
 * the op it was busy is not recorded).
 */
export function workersOf(r: Recording): Track[] {
  const rows: Filling[] = [];
  let lane = '';
  r.spans.forEach((p, n) => {
    const b = p.attrs?.['busy_ns'];
    if (!isNumbers(b)) return;
    lane = p.lane;
    b.forEach((ns, k) => {
      const q = (rows[k] ??= { start: [], end: [], span: [], last: 0 });
      if (p.start_ns < q.last) return;
      q.start.push(p.start_ns);
      q.last = p.start_ns + Math.min(ns, p.dur_ns);
      q.end.push(q.last);
      q.span.push(n);
    });
  });
  return rows.map((q, worker) => ({ lane, worker, rows: [toRow(q)] }));
}
