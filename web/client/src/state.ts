// The playhead: one per tracer, the same in all views. Keys, clicks, links
// and play end in the functions below, so they lead to the same state.
// It does not know about the page or the URL.
import { lastOfPass, passOfPosition, positions } from './position';
import { STAGES, type Recording } from './recording';

/** How deep the arrows are: request > stage > step > token > layer > kernel. */
export type Depth = 'stage' | 'step' | 'token' | 'layer' | 'kernel';
export const DEPTHS: readonly Depth[] = ['stage', 'step', 'token', 'layer', 'kernel'];

export interface State {
  view: string;
  /** step id */
  step: string;
  /** pass index, as in the recording */
  pass: number;
  layer: number;
  /** position in the sequence while it is not the last of its pass, else -1 */
  token: number;
  head: number;
  depth: Depth;
  /** place in the chain of sources of the step, 0 = the step's own line */
  source: number;
  /** selected span id, '' = none */
  sel: string;
  /** what a view keeps for itself, for example the window of the timeline */
  win: string;
  /** choices of the views, as name:value,name:value */
  opts: string;
  /** the recording that this one is held against, '' = none */
  with: string;
}

export const INITIAL: State = { view: 'request', step: '', pass: 0, layer: 0, token: -1, head: 0, depth: 'step', source: 0, sel: '', win: '', opts: '', with: '' };

const clamp = (v: number, lo: number, hi: number): number => Math.max(lo, Math.min(hi, v));

/** fit makes any state a state of this recording: unknown steps become the first, numbers go to the nearest there is. */
export function fit(r: Recording, s: State): State {
  const step = r.stepIndex.has(s.step) ? s.step : (r.steps[0]?.id ?? '');
  const i = r.stepIndex.get(step) ?? 0;
  const nums = r.passNumbers;
  const pass = nums.length ? nums.reduce((a, b) => (Math.abs(b - s.pass) < Math.abs(a - s.pass) ? b : a), nums[0]!) : 0;
  const layer = clamp(s.layer, 0, Math.max(0, (r.layers || 1) - 1));
  const depths = depthsAt(r, i, pass, layer);
  const depth = depths.includes(s.depth) ? s.depth : 'step';
  const chain = r.steps[i]?.sources?.length ?? 0;
  const head = clamp(s.head, 0, Math.max(0, (r.file.model.heads ?? 1) - 1));
  // a move of the pass by anyone takes the position along; the last position of a pass needs no number
  const own = s.token >= 0 && s.token < positions(r).length && passOfPosition(r, s.token) === pass && s.token !== lastOfPass(r, pass);
  return { ...s, step, pass, layer, token: own ? s.token : -1, head, depth, source: clamp(s.source, 0, Math.max(0, chain - 1)), sel: s.sel && r.spanIndex.has(s.sel) ? s.sel : '' };
}

export const at = (r: Recording, s: State): number => r.stepIndex.get(s.step) ?? 0;

/** depthsAt lists the depths that step i has. */
export function depthsAt(r: Recording, i: number, pass: number, layer: number): Depth[] {
  const d: Depth[] = ['stage', 'step'];
  if (r.inTokens(i) && r.passes.length > 1) d.push('token');
  if (r.inLayers(i)) d.push('layer');
  if (kernelsAt(r, i, pass, layer).length > 0) d.push('kernel');
  return d;
}

/** kernelsAt lists ids of the spans below the one under the playhead: kernels and launches. */
export function kernelsAt(r: Recording, i: number, pass: number, layer: number): string[] {
  return r.spansAt(i, pass, layer).filter((p) => r.isTop(p)).flatMap((p) => r.children(p.id).map((k) => k.id));
}

export function goStep(r: Recording, s: State, i: number): State {
  const step = r.steps[clamp(i, 0, r.steps.length - 1)]!.id;
  return fit(r, { ...s, step, source: 0, sel: '' });
}

const passAt = (r: Recording, s: State): number => Math.max(0, r.passNumbers.indexOf(s.pass));

export function goPass(r: Recording, s: State, n: number): State {
  const nums = r.passNumbers;
  return fit(r, { ...s, pass: nums[clamp(n, 0, nums.length - 1)] ?? 0, sel: '' });
}

/** move goes one to the right (+1) or left (-1) at the depth the arrows are at. */
export function move(r: Recording, s: State, d: 1 | -1): State {
  switch (s.depth) {
    case 'stage': return goStage(r, s, d);
    case 'step': return goStep(r, s, at(r, s) + d);
    case 'token': return goPass(r, s, passAt(r, s) + d);
    case 'layer': return fit(r, { ...s, layer: s.layer + d, sel: '' });
    case 'kernel': {
      const ks = kernelsAt(r, at(r, s), s.pass, s.layer);
      return { ...s, sel: ks[clamp(ks.indexOf(s.sel) + d, 0, ks.length - 1)] ?? '' };
    }
  }
}

/** into and out change the depth; into a kernel selects the first one. */
export function into(r: Recording, s: State): State {
  const ds = depthsAt(r, at(r, s), s.pass, s.layer);
  const depth = ds[Math.min(ds.length - 1, ds.indexOf(s.depth) + 1)] ?? s.depth;
  const sel = depth === 'kernel' && s.depth !== 'kernel' ? (kernelsAt(r, at(r, s), s.pass, s.layer)[0] ?? '') : s.sel;
  return { ...s, depth, sel };
}

export function out(r: Recording, s: State): State {
  const ds = depthsAt(r, at(r, s), s.pass, s.layer);
  const depth = ds[Math.max(0, ds.indexOf(s.depth) - 1)] ?? s.depth;
  return { ...s, depth, sel: s.depth === 'kernel' ? '' : s.sel };
}

/** goStage goes to the first step of the next stage, or of this one and then the one before. */
export function goStage(r: Recording, s: State, d: 1 | -1): State {
  const i = at(r, s), here = r.steps[i]!.stage;
  const first = (k: number): number => r.steps.findIndex((x) => x.stage === STAGES[k]);
  const has = STAGES.map((_, k) => k).filter((k) => first(k) >= 0);
  const n = has.indexOf(STAGES.indexOf(here));
  if (d < 0 && i > first(has[n]!) && s.depth !== 'stage') return goStep(r, s, first(has[n]!));
  return goStep(r, s, first(has[clamp(n + d, 0, has.length - 1)]!));
}

export const goToken = (r: Recording, s: State, d: 1 | -1): State => {
  const k = r.tokenOfPass(s.pass);
  if (k < 0) return goPass(r, s, passAt(r, s) + d);
  return fit(r, { ...s, pass: r.passOfToken(clamp(k + d, 0, r.output.length - 1)), sel: '' });
};

/** sameOp goes to the next or previous time this step ran: the next layer, then the next pass. */
export function sameOp(r: Recording, s: State, d: 1 | -1): State {
  const i = at(r, s);
  if (!r.inLayers(i)) return goPass(r, s, passAt(r, s) + d);
  const layer = s.layer + d, p = passAt(r, s);
  if (layer >= 0 && layer < r.layers) return fit(r, { ...s, layer, sel: '' });
  const to = p + d;
  if (to < 0 || to >= r.passes.length) return s;
  return fit(r, { ...goPass(r, s, to), layer: d > 0 ? 0 : r.layers - 1 });
}

/** Where the playhead is in the two loops: turns done, whether inside, and the turn it is in. */
export interface Turn { n: number; done: number; now: number }

export function turns(r: Recording, s: State): { layer: Turn | null; token: Turn | null } {
  const i = at(r, s), L = r.layerLoop, T = r.tokenLoop, p = passAt(r, s);
  const layer = L && { n: L.n, done: i < L.from ? 0 : i > L.to ? L.n : s.layer, now: i >= L.from && i <= L.to ? s.layer : -1 };
  const inT = !!T && i >= T.from && (i <= T.to || r.inTokens(i));
  const token = T && { n: r.passes.length, done: i < T.from ? 0 : inT ? p : r.passes.length, now: inT ? p : -1 };
  return { layer, token };
}

/** tokensOut is how many output tokens have left when the playhead is here. */
export function tokensOut(r: Recording, s: State): { left: number; making: number } {
  const i = at(r, s), T = r.tokenLoop;
  if (!T) {
    const deliver = r.steps.findIndex((x) => x.stage === 'deliver');
    return { left: deliver >= 0 && i >= deliver ? r.output.length : 0, making: 0 };
  }
  if (i < T.from) return { left: 0, making: -1 };
  if (i > T.to && !r.inTokens(i)) return { left: r.output.length, making: -1 };
  let before = 0;
  for (let k = 0; k < r.output.length; k++) if (r.passOfToken(k) < s.pass) before = k + 1;
  const here = r.tokenOfPass(s.pass);
  const gone = i > T.to && here >= 0;
  return { left: gone ? here + 1 : before, making: gone ? -1 : here };
}
