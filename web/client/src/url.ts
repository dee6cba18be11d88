// The URL is the state: what is at its first value is left out, so that links
// stay short, and what is unknown in a link is ignored.
import { DEPTHS, INITIAL, type Depth, type State } from './state';

export type Where = 'query' | 'hash';

const KEYS: readonly (keyof State)[] = ['view', 'step', 'pass', 'layer', 'token', 'head', 'depth', 'source', 'sel', 'win', 'opts', 'with'];

/** toParams writes the state. View and step are always there: a link says what it shows. */
export function toParams(s: State): URLSearchParams {
  const p = new URLSearchParams();
  for (const k of KEYS) {
    const v = String(s[k]);
    if (k === 'view' || (k === 'step' && v) || v !== String(INITIAL[k])) p.set(k, v);
  }
  return p;
}

const whole = (v: string | null, other: number): number => (v !== null && /^\d{1,9}$/.test(v) ? Number(v) : other);

/** fromParams reads a link on top of a state. */
export function fromParams(p: URLSearchParams, base: State = INITIAL): State {
  const depth = p.get('depth');
  return {
    view: p.get('view') ?? base.view,
    step: p.get('step') ?? base.step,
    pass: whole(p.get('pass'), base.pass),
    layer: whole(p.get('layer'), base.layer),
    token: whole(p.get('token'), base.token),
    head: whole(p.get('head'), base.head),
    depth: DEPTHS.includes(depth as Depth) ? (depth as Depth) : base.depth,
    source: whole(p.get('source'), base.source),
    sel: p.get('sel') ?? base.sel,
    win: p.get('win') ?? base.win,
    opts: p.get('opts') ?? base.opts,
    with: p.get('with') ?? base.with,
  };
}

/** toHref puts the state into the query or the hash of an address and keeps parameters that are not ours. */
export function toHref(href: string, s: State, where: Where): string {
  const u = new URL(href);
  const mine = toParams(s);
  const into = where === 'query' ? u.searchParams : new URLSearchParams(u.hash.slice(1));
  for (const k of KEYS) into.delete(k);
  mine.forEach((v, k) => into.set(k, v));
  if (where === 'query') u.search = into.toString();
  else u.hash = into.toString();
  return u.toString();
}

export function fromHref(href: string, where: Where, base: State = INITIAL): State {
  const u = new URL(href);
  return fromParams(where === 'query' ? u.searchParams : new URLSearchParams(u.hash.slice(1)), base);
}

/** isMove tells whether a change deserves an entry in the browser's history of its own. */
export function isMove(a: State, b: State): boolean {
  return a.view !== b.view || a.step !== b.step || a.pass !== b.pass || a.layer !== b.layer || a.token !== b.token || a.head !== b.head || a.depth !== b.depth || a.with !== b.with;
}
