// Stops: places inside a pass where the engine is to stand still, set with
// one key for the next Trace, and what /api/stops says while one does. It
// does not know about panels or how it is drawn.
import { signs, tokenText } from './format';
import { positionOf, positions } from './position';
import type { Recording } from './recording';
import { at, type State } from './state';
import { store, stored } from './theme';

/** A place: after op of a layer (-1 outside the layers) has run for the token at a position; null is the last of the prompt. */
export interface Place { op: string; layer: number; token: number | null }

export const MOST_PLACES = 64;
const KEY = 'glassbox.stops';

const isPlace = (p: unknown): p is Place => {
  const q = p as Partial<Place> | null;
  return !!q && typeof q.op === 'string' && Number.isInteger(q.layer) && (q.token === null || Number.isInteger(q.token));
};

/** readPlaces takes what was kept; anything else is no place. */
export function readPlaces(text: string | null): Place[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(list) ? list.filter(isPlace).slice(0, MOST_PLACES) : [];
  } catch { return []; }
}

let list: Place[] | null = null;
const changed = new Set<() => void>();

/** places are the stops that the next Trace takes along. */
export const places = (): readonly Place[] => (list ??= readPlaces(stored(KEY)));

export function setPlaces(next: Place[]): void {
  list = next;
  store(KEY, JSON.stringify(next));
  for (const f of changed) f();
}

/** onPlaces calls back after each change; the result takes it off again. */
export function onPlaces(f: () => void): () => void { changed.add(f); return () => changed.delete(f); }

let offered = false;
/** offerStops says whether pages offer to set stops; offersStops asks. */
export function offerStops(on: boolean): void { offered = on; }
export const offersStops = (): boolean => offered;

export const samePlace = (a: Place, b: Place): boolean => a.op === b.op && a.layer === b.layer && a.token === b.token;

/** placeAt is the place under the playhead, or why there is none. */
export function placeAt(r: Recording, s: State): Place | string {
  const i = at(r, s), step = r.steps[i]!;
  if (r.file.engine.name !== 'glassbox') return `${r.file.engine.name} does not stand still; the engine of this program does.`;
  if (!r.roles[i]!.op) return `A stop is set at an op of the pass, such as ${r.steps.find((_, k) => r.roles[k]!.op)?.label ?? 'an op'}; ${step.label} is none.`;
  const pos = positionOf(r, s), tail = r.prompt.length - 1;
  if (/^(out_norm|lm_head)$/.test(step.id) && pos < tail) return `${step.label} runs only for tokens that a word follows: from the last token of the prompt on.`;
  return { op: step.id, layer: r.inLayers(i) ? s.layer : -1, token: pos === tail ? null : pos };
}

/** toggled sets a place or takes it off. */
export const toggled = (all: readonly Place[], p: Place): Place[] => (all.some((q) => samePlace(p, q)) ? all.filter((q) => !samePlace(p, q)) : [...all, p].slice(-MOST_PLACES));

/** placeName says a place in words. */
export function placeName(r: Recording | null, p: Place): string {
  const label = r?.steps[r.stepIndex.get(p.op) ?? -1]?.label ?? p.op, where = p.layer >= 0 ? `${label}, layer ${p.layer}` : label;
  if (p.token === null) return `${where}, last token of the prompt`;
  const t = r ? positions(r)[p.token] : undefined;
  return `${where}, token ${p.token}${t ? ` ${signs(tokenText(t))}` : ''}`;
}

/** wirePlaces is the field of the request. */
export const wirePlaces = (all: readonly Place[]): Record<string, unknown>[] =>
  all.map((p) => ({ op: p.op, ...(p.layer >= 0 ? { layer: p.layer } : {}), ...(p.token === null ? {} : { token: p.token }) }));

/** stopsOf gives the steps that carry a sign: set for the next Trace, or stood at in this recording. */
export function stopsOf(r: Recording): Map<string, 'set' | 'stood'> {
  const m = new Map<string, 'set' | 'stood'>();
  for (const h of r.file.request.stops ?? []) m.set(h.op, 'stood');
  if (r.file.engine.name === 'glassbox') for (const p of places()) m.set(p.op, 'set');
  return m;
}

/** The sign: an octagon; filled where the engine stood still, open where it is to. */
export const octagon = (x: number, y: number, q: number, fill: 'none' | 'page' | 'currentColor'): string => {
  const k = q * 0.42;
  return `<path d="M${x - k} ${y - q}h${2 * k}l${q - k} ${q - k}v${2 * k}l${k - q} ${q - k}h${-2 * k}l${k - q} ${k - q}v${-2 * k}z" fill="${fill === 'page' ? 'var(--page)' : fill}" stroke="currentColor" stroke-width="1.25"/>`;
};

export interface StopPart { id: string; name: string; shape: number[]; axes: string[] }
export interface StopState {
  id: string; request: string; trace?: string; paused: boolean; waiting: number; pass: number; since_ms: number; left_ms: number; edits: number;
  at?: { op: string; layer: number; token: number }; next?: { op: string; layer: number; token: number }[]; in?: StopPart[]; out?: StopPart[];
}
export interface StopValues extends StopPart { stats: { min: number; max: number; mean: number; norm: number; zeros: number; not_finite: number }; values: (number | string)[] }
export interface StopChange { part: string; index: number; count: number; values?: number[]; scale?: number; zero?: true }

async function call<T>(path: string, body?: unknown): Promise<T> {
  const res = await fetch(path, body === undefined ? {} : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const text = await res.text(), said = text ? JSON.parse(text) as unknown : null;
  if (!res.ok) throw new Error((said as { error?: { message?: string } } | null)?.error?.message ?? `the server answered ${res.status}`);
  return said as T;
}

const of = (id: string): string => `/api/stops/${encodeURIComponent(id)}`;

/** What the page asks of /api/stops; docs/stops.md describes it. */
export const stopsApi = {
  state: async (): Promise<StopState | null> => (await call<{ stops: StopState[] }>('/api/stops')).stops[0] ?? null,
  values: (id: string, part: string): Promise<StopValues> => call(`${of(id)}/values?part=${encodeURIComponent(part)}`),
  edit: (id: string, c: StopChange): Promise<{ old: (number | string)[]; new: (number | string)[] }> => call(`${of(id)}/edit`, c),
  resume: (id: string, to: string): Promise<null> => call(`${of(id)}/resume`, { to }),
  hold: (id: string): Promise<null> => call(`${of(id)}/hold`, {}),
};

/** again is the request of a recording once more, with stops; streamed, so that the page can follow it. */
export function again(r: Recording, all: readonly Place[]): { path: string; body: Record<string, unknown> } {
  const q = r.file.request, p = q.params ?? {}, keep: Record<string, unknown> = {};
  for (const k of ['max_tokens', 'temperature', 'seed', 'top_p', 'top_k', 'min_p', 'stop']) if (p[k] !== undefined && p[k] !== null) keep[k] = p[k];
  keep['max_tokens'] ??= Math.max(1, r.output.length);
  const off = Array.isArray(p['ablate']) ? { ablate: p['ablate'] } : {};
  return {
    path: q.messages ? '/v1/chat/completions' : '/v1/completions',
    body: { ...(q.messages ? { messages: q.messages } : { prompt: q.prompt ?? q.rendered }), ...keep, stream: true, glassbox: { trace: true, ...off, stop: wirePlaces(all) } },
  };
}

/** startAgain sends it and gives the id of the recording as soon as there is one. The answer is read to its end: a request nobody reads is dropped. */
export async function startAgain(r: Recording, all: readonly Place[]): Promise<string> {
  const { path, body } = again(r, all);
  const res = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const id = res.headers.get('X-Glassbox-Trace-Id');
  if (!res.ok || !id) throw new Error(((await res.json().catch(() => null)) as { error?: { message?: string } } | null)?.error?.message ?? `the server answered ${res.status}`);
  void res.body?.pipeTo(new WritableStream()).catch(() => undefined);
  return id;
}

/** numberOf reads a value as JSON has it: NaN and the infinities are words. */
export const numberOf = (v: number | string): number => (typeof v === 'number' ? v : v === '+Inf' ? Infinity : v === '-Inf' ? -Infinity : NaN);

/** binned draws n values on at most w bars: each the value of largest size in its bin, or NaN where one is not finite. */
export function binned(v: readonly number[], w: number): number[] {
  const n = Math.min(v.length, Math.max(1, w)), out = new Array<number>(n).fill(0);
  v.forEach((x, k) => {
    const b = Math.floor((k * n) / v.length);
    if (!Number.isFinite(x)) out[b] = NaN;
    else if (!Number.isNaN(out[b]!) && Math.abs(x) > Math.abs(out[b]!)) out[b] = x;
  });
  return out;
}
