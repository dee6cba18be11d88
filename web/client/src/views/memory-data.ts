// The pages of the KV cache over time, played from what a recording says
// happened to them. It does not know about drawing.
import type { Recording } from '../recording';
import type { Memory, PageChange } from '../schema';

/** What a page is at a moment, from the point of view of the recorded request. */
export type Kind = 'mine' | 'shared' | 'other' | 'kept' | 'empty';
export const KINDS: readonly Kind[] = ['mine', 'shared', 'other', 'kept', 'empty'];
export const KIND_NAME: Record<Kind, string> = {
  mine: 'this request alone', shared: 'this request and others', other: 'other requests', kept: 'nobody, kept for its prefix', empty: 'empty',
};

export interface PageState { holders: number[]; known: boolean }

/** A moment: every page that is not empty, and how many there are of each kind. */
export interface Moment { t: number; pages: Map<number, PageState>; counts: Record<Kind, number>; held: number[] }

/** memoryOf is the cache of a recording, null where it says nothing of it or what it says is no cache. */
export function memoryOf(r: Recording): Memory | null {
  const m = r.file.memory;
  if (!m || !(m.page_tokens >= 1 && m.page_tokens <= 4096) || !(m.pages >= 0 && m.pages <= 1 << 20)) return null;
  return (m.changes ?? []).every((c) => typeof c.t_ns === 'number' && Array.isArray(c.pages)) ? m : null;
}

export function kindOf(p: PageState | undefined, me: number): Kind {
  if (!p || (!p.holders.length && !p.known)) return 'empty';
  if (!p.holders.length) return 'kept';
  if (!p.holders.includes(me)) return 'other';
  return p.holders.length > 1 ? 'shared' : 'mine';
}

function apply(pages: Map<number, PageState>, c: PageChange): void {
  for (const n of c.pages) {
    let p = pages.get(n);
    if (!p) pages.set(n, (p = { holders: [], known: false }));
    switch (c.what) {
      case 'hold': case 'take': case 'share': if (c.request && !p.holders.includes(c.request)) p.holders.push(c.request); break;
      case 'drop': p.holders = p.holders.filter((h) => h !== c.request); break;
      case 'keep': case 'publish': p.known = true; break;
      case 'evict': p.known = false; break;
    }
    if (!p.holders.length && !p.known) pages.delete(n);
  }
}

/** momentAt plays the changes up to t, those at t included. */
export function momentAt(m: Memory, me: number, t: number): Moment {
  const pages = new Map<number, PageState>(), changes = m.changes ?? [];
  for (const c of changes) {
    if (c.t_ns > t) break;
    apply(pages, c);
  }
  return { t, pages, ...count(m, pages, me) };
}

function count(m: Memory, pages: Map<number, PageState>, me: number): { counts: Record<Kind, number>; held: number[] } {
  const counts: Record<Kind, number> = { mine: 0, shared: 0, other: 0, kept: 0, empty: m.pages }, held: number[] = [];
  for (const [n, p] of pages) {
    const k = kindOf(p, me);
    if (k === 'empty') continue;
    counts[k]++;
    counts.empty--;
    if (k === 'mine' || k === 'shared') held.push(n);
  }
  return { counts, held };
}

/** heldInOrder are the pages of the request in the order of their positions: as it got them. */
export function heldInOrder(m: Memory, me: number, t: number): number[] {
  let held: number[] = [];
  for (const c of m.changes ?? []) {
    if (c.t_ns > t) break;
    if (c.request !== me) continue;
    if (c.what === 'hold' || c.what === 'take' || c.what === 'share') held.push(...c.pages.filter((p) => !held.includes(p)));
    else if (c.what === 'copy' && c.from) held = moved(held, c.from, c.pages);
    else if (c.what === 'drop') held = held.filter((p) => !c.pages.includes(p));
  }
  return held;
}

/** moved puts the copies where the pages they were made from stood. */
function moved(held: number[], from: number[], to: number[]): number[] {
  const rest = held.filter((p) => !to.includes(p));
  from.forEach((f, i) => {
    const at = rest.indexOf(f);
    if (at >= 0) rest[at] = to[i]!; else rest.push(to[i]!);
  });
  return rest;
}

/** series are the counts after each change, for the picture over time. */
export interface Series { t: number[]; counts: Record<Kind, number[]> }

export function seriesOf(m: Memory, me: number): Series {
  const out: Series = { t: [], counts: { mine: [], shared: [], other: [], kept: [], empty: [] } }, pages = new Map<number, PageState>();
  const changes = m.changes ?? [];
  changes.forEach((c, i) => {
    apply(pages, c);
    if (changes[i + 1]?.t_ns === c.t_ns) return;
    const { counts } = count(m, pages, me);
    out.t.push(c.t_ns);
    for (const k of KINDS) out.counts[k].push(counts[k]);
  });
  return out;
}

/** timeAt is the end of what runs under the playhead: the step in its pass, or the last time before. */
export function timeAt(r: Recording, step: number, pass: number, layer: number): number {
  const near = r.spansNear(step, pass, layer).at(-1), own = r.passes.find((p) => p.index === pass);
  return near ? near.start_ns + near.dur_ns : own ? own.start_ns + own.dur_ns : r.total.ns;
}

/** writtenAt is how many positions of the request have keys and values at t: the passes that were over. */
export function writtenAt(r: Recording, t: number): number {
  const me = r.file.request.number;
  let n = 0;
  for (const turn of r.file.turns ?? []) {
    if (turn.start_ns + turn.dur_ns > t) break;
    for (const p of turn.parts) if (p.request === me) n = p.from + p.tokens;
  }
  return n;
}

/** lanesOf gives each request of the turns a row, in the order in which they came. */
export function requestsOf(r: Recording): number[] {
  const seen = new Set<number>();
  for (const t of r.file.turns ?? []) for (const p of t.parts) seen.add(p.request);
  return [...seen].sort((a, b) => a - b);
}

const SAYS: Record<string, string> = {
  hold: 'held at the start', keep: 'kept for their prefix at the start', take: 'taken empty', share: 'shared: found by their prefix', drop: 'given back',
  publish: 'full: known by their prefix now', evict: 'forgotten, to be used anew', copy: 'copied before writing',
};

/** says tells one change in words. */
export function says(c: PageChange, me: number): string {
  const who = c.request === undefined ? '' : c.request === me ? 'this request: ' : `request ${c.request}: `, pages = c.pages.length > 6 ? `${c.pages.length} pages from ${c.pages[0]}` : `page${c.pages.length > 1 ? 's' : ''} ${c.pages.join(', ')}`;
  return `${who}${pages} ${SAYS[c.what] ?? c.what}`;
}
