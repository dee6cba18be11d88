// What one pass took, op by op: times summed over layers or of one layer, the
// spread over passes of its kind, bytes and flops, the kernels beneath, and
// what no op explains. Everything is computed from the op spans. It does not
// know about the page.
import { callsFor } from '../calls';
import { isClocked } from '../format';
import { opSteps } from './missing';
import { lastOfPass } from '../position';
import { isNumbers, type Recording } from '../recording';
import type { Family } from '../roles';
import type { Pass, Span } from '../schema';

/** all: summed over layers; one: the layer under the dial, and what is outside the layers. */
export type Scope = 'all' | 'one';

export interface Spread { min: number; median: number; max: number; n: number }

export interface OpRow {
  /** step index */
  i: number;
  id: string;
  label: string;
  family: Family;
  shape: string;
  layered: boolean;
  res: boolean;
  plus: boolean;
  par: number;
  /** of the pass, in order of start */
  spans: Span[];
  /** ns of each layer; null where none was recorded. Empty outside the layers. */
  layers: (number | null)[];
  /** in the scope; null: not measured */
  ns: number | null;
  bytes: number;
  flops: number;
  spread: Spread | null;
}

export interface Kernel { name: string; variant: string; launches: number; threads: number; ns: number; bytes: number; flops: number }

/** What no op explains, ns. wait is the mean over workers of the time they stood at barriers, inside the times of ops. */
export interface Unexplained { before: number; between: number; after: number; wait: number; workers: number; total: number; how: string }

export interface PassModel {
  pass: Pass;
  rows: OpRow[];
  /** sum of the ops in the scope, ns */
  ops: number;
  bytes: number;
  flops: number;
  unexplained: Unexplained | null;
  /** of how many passes the spreads are */
  like: number;
}

const median = (v: number[]): number => { const s = [...v].sort((a, b) => a - b), m = s.length >> 1; return s.length % 2 ? s[m]! : (s[m - 1]! + s[m]!) / 2; };
export const spreadOf = (v: number[]): Spread | null => (v.length ? { min: Math.min(...v), median: median(v), max: Math.max(...v), n: v.length } : null);

/** Times of step i by pass, and inside by layer (index layer + 1; 0 is outside the layers). */
type Times = Map<number, Float64Array>;
const kept = new WeakMap<Recording, { version: number; steps: Map<number, Times> }>();

function timesOf(r: Recording, i: number): Times {
  let k = kept.get(r);
  if (!k || k.version !== r.version) kept.set(r, (k = { version: r.version, steps: new Map() }));
  const had = k.steps.get(i);
  if (had) return had;
  const out: Times = new Map();
  if (!r.clocked) return out;
  for (const n of r.byStep[i]!) {
    const p = r.spans[n]!;
    if (p.pass === undefined || p.pass < 0 || !r.isTop(p)) continue;
    let row = out.get(p.pass);
    if (!row) out.set(p.pass, (row = new Float64Array(r.layers + 1).fill(NaN)));
    const at = (p.layer ?? -1) + 1;
    if (at >= 0 && at < row.length) row[at] = (Number.isNaN(row[at]!) ? 0 : row[at]!) + p.dur_ns;
  }
  k.steps.set(i, out);
  return out;
}

const sum = (v: ArrayLike<number>): number | null => { let s = 0, n = 0; for (let k = 0; k < v.length; k++) if (!Number.isNaN(v[k]!)) { s += v[k]!; n++; } return n ? s : null; };

function inScope(row: Float64Array | undefined, layer: number, layered: boolean, scope: Scope): number | null {
  if (!row) return null;
  if (scope === 'all' || !layered) return sum(row);
  const v = row[layer + 1]!;
  return Number.isNaN(v) ? null : v;
}

/** likePasses are the passes a pass may be compared with: same kind, same number of tokens. */
export const likePasses = (r: Recording, p: Pass): Pass[] => r.passes.filter((q) => q.kind === p.kind && (q.batch_tokens ?? q.tokens) === (p.batch_tokens ?? p.tokens));

/** shapeOf writes what an op takes and gives: from the weights' shapes, else from the model's. */
export function shapeOf(r: Recording, id: string, pass: number): string {
  const m = r.file.model, t = m.tensors?.find((x) => x.op === id);
  if (t && t.rows > 1) return id === 'embed' ? `id → ${t.cols}` : `${t.cols} → ${t.rows}`;
  if (t) return String(t.cols);
  const keys = lastOfPass(r, pass) + 1, hd = m.head_dim;
  if (/(softmax|scores)$/.test(id)) return m.heads ? `${m.heads} × ${keys}` : '';
  if (/mix$/.test(id)) return m.heads && hd ? `${m.heads} × ${hd}` : '';
  if (/^rope/.test(id)) return m.heads && m.kv_heads && hd ? `${m.heads + m.kv_heads} × ${hd}` : '';
  if (/^kv_write/.test(id)) return m.kv_heads && hd ? `2 × ${m.kv_heads * hd}` : '';
  if (/swiglu|geglu|act$/.test(id)) return m.ffn ? String(m.ffn) : '';
  if (/residual|norm|add/.test(id)) return m.width ? String(m.width) : '';
  return '';
}

/** unexplainedOf measures what lies between the ops of a pass and, where the workers' busy times are recorded, inside them. */
export function unexplainedOf(p: Pass, spans: Span[]): Unexplained | null {
  const ops = [...spans].sort((a, b) => a.start_ns - b.start_ns);
  if (!ops.length) return null;
  const end = p.start_ns + p.dur_ns;
  let between = 0, at = ops[0]!.start_ns + ops[0]!.dur_ns, wait = 0, workers = 0;
  for (const q of ops.slice(1)) {
    between += Math.max(0, q.start_ns - at);
    at = Math.max(at, q.start_ns + q.dur_ns);
  }
  for (const q of ops) {
    const busy = q.attrs?.['busy_ns'];
    if (!isNumbers(busy) || !busy.length) continue;
    workers = Math.max(workers, busy.length);
    wait += busy.reduce((a, b) => a + Math.max(0, q.dur_ns - b), 0) / busy.length;
  }
  const before = Math.max(0, ops[0]!.start_ns - p.start_ns), after = Math.max(0, end - at);
  return { before, between, after, wait, workers, total: before + between + after + wait, how: workers ? 'gaps between op spans, and times of ops less the busy times of the workers' : 'gaps between op spans; busy times of workers are not recorded' };
}

/** kernelsOf groups spans by the kernel that ran. On a device these are the launches of an op, whose bytes are known where it has one alone. */
export function kernelsOf(r: Recording, spans: Span[]): Kernel[] {
  const out = new Map<string, Kernel>();
  const add = (full: string, ns: number, threads: number, p: Span | null): void => {
    const cut = full.indexOf(' '), k = out.get(full) ?? { name: (cut > 0 ? full.slice(0, cut) : full) || '(no kernel named)', variant: cut > 0 ? full.slice(cut + 1) : '', launches: 0, threads: 0, ns: 0, bytes: 0, flops: 0 };
    k.launches++;
    k.ns += ns;
    k.bytes += p?.bytes ?? 0;
    k.flops += p?.flops ?? 0;
    k.threads = Math.max(k.threads, threads);
    out.set(full, k);
  };
  for (const p of spans) {
    const on = callsFor(r, p.id).filter((c) => c.kernel && c.device), busy = p.attrs?.['busy_ns'];
    for (const c of on) add(c.kernel!, c.device!.dur_ns, c.threads ?? 0, on.length === 1 ? p : null);
    if (!on.length) add(p.kernel ?? '', p.dur_ns, isNumbers(busy) ? busy.length : 0, p);
  }
  return [...out.values()].sort((a, b) => b.ns - a.ns);
}

const models = new WeakMap<Recording, Map<string, PassModel>>();

/** passModel is the pass at a scope; null when the recording has no such pass. */
export function passModel(r: Recording, index: number, layer: number, scope: Scope): PassModel | null {
  const pass = r.passes.find((p) => p.index === index);
  if (!pass) return null;
  const key = `${r.version}/${index}/${scope === 'one' ? layer : ''}/${scope}`;
  let m = models.get(r);
  if (!m) models.set(r, (m = new Map()));
  const had = m.get(key);
  if (had) return had;
  if (m.size > 64) m.clear();
  const made = build(r, pass, layer, scope);
  m.set(key, made);
  return made;
}

function build(r: Recording, pass: Pass, layer: number, scope: Scope): PassModel {
  const like = likePasses(r, pass), rows: OpRow[] = [], all: Span[] = [];
  for (const i of opSteps(r)) {
    const role = r.roles[i]!, step = r.steps[i]!, spans = r.spansAt(i, pass.index).filter((p) => r.isTop(p) && p.pass === pass.index);
    const layered = r.inLayers(i), times = timesOf(r, i), mine = times.get(pass.index);
    const here = scope === 'one' && layered ? spans.filter((p) => p.layer === layer) : spans;
    all.push(...spans);
    rows.push({
      i, id: step.id, label: role.plus && /^add$/i.test(step.label) ? 'residual add' : step.label, family: role.family, shape: shapeOf(r, step.id, pass.index),
      layered, res: role.res, plus: role.plus, par: role.par, spans: here,
      layers: layered && mine ? Array.from({ length: r.layers }, (_, l) => (Number.isNaN(mine[l + 1]!) ? null : mine[l + 1]!)) : [],
      ns: inScope(mine, layer, layered, scope),
      bytes: here.reduce((a, p) => a + (p.bytes ?? 0), 0), flops: here.reduce((a, p) => a + (p.flops ?? 0), 0),
      spread: spreadOf(like.flatMap((q) => { const v = inScope(times.get(q.index), layer, layered, scope); return v === null ? [] : [v]; })),
    });
  }
  const total = (f: (o: OpRow) => number): number => rows.reduce((a, o) => a + f(o), 0);
  return { pass, rows, ops: total((o) => o.ns ?? 0), bytes: total((o) => o.bytes), flops: total((o) => o.flops), unexplained: r.clocked ? unexplainedOf(pass, all) : null, like: like.length };
}

/** rates of a time: GB/s and GFLOP/s; null where there is nothing to divide. */
export const gbs = (bytes: number, ns: number | null): number | null => (bytes > 0 && ns && isClocked() ? bytes / ns : null);
export const gflops = (flops: number, ns: number | null): number | null => (flops > 0 && ns && isClocked() ? flops / ns : null);

/** isInteger: kernels over quantised weights multiply 8-bit integers; all else is floats. */
export const isInteger = (kernel: string | undefined): boolean => /^m[vm](Q\d|K\d)/.test(kernel ?? '');
