// Play: the request walks by itself. At the end of the layer loop the dial
// runs to the last layer, at the end of the token loop to the last pass, so
// one walk shows the whole request. It never outruns what is recorded.
import type { Recording } from './recording';
import { at, goPass, goStep, type State } from './state';

export const SPEEDS = [1, 2, 4, 0.5] as const;
const STEP_MS = 520, LAYER_MS = 34, TOKEN_MS = 110;

export interface Beat { state: State; ms: number }

/** nextBeat is the state that follows in play and how long it stays; null at the end of what there is. */
export function nextBeat(r: Recording, s: State, d: 1 | -1): Beat | null {
  const i = at(r, s), L = r.layerLoop, T = r.tokenLoop, p = r.passNumbers.indexOf(s.pass);
  const back = d < 0;
  if (L && i === (back ? L.from : L.to)) {
    const layer = s.layer + d;
    if (layer >= 0 && layer < L.n) return { state: { ...s, layer, sel: '' }, ms: LAYER_MS };
  }
  if (T && i === (back ? T.from : T.to)) {
    const to = p + d;
    if (to >= 0 && to < r.passes.length) return { state: goPass(r, s, to), ms: TOKEN_MS };
    if (r.live && !back) return { state: s, ms: TOKEN_MS }; // wait for more
  }
  const to = i + d;
  if (to < 0 || to >= r.steps.length) return null;
  if (r.live && !back && r.steps[to]!.count === 0 && i > (T?.from ?? 0)) return { state: s, ms: TOKEN_MS };
  return { state: enter(r, goStep(r, s, to), d), ms: STEP_MS };
}

/** Entering a loop forward begins at its first turn, backwards at its last. */
function enter(r: Recording, s: State, d: 1 | -1): State {
  const i = at(r, s), L = r.layerLoop, T = r.tokenLoop;
  let t = s;
  if (L && i === (d > 0 ? L.from : L.to)) t = { ...t, layer: d > 0 ? 0 : L.n - 1 };
  if (T && i === (d > 0 ? T.from : T.to)) t = goPass(r, t, d > 0 ? 0 : r.passes.length - 1);
  return t;
}

export class Player {
  direction: 0 | 1 | -1 = 0;
  speed = 1;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private get: () => { r: Recording; s: State } | null, private set: (s: State) => void, private changed: () => void, private own: (d: 1 | -1, speed: number) => Beat | null | undefined = () => undefined) {}

  /** beat asks the view first: the tape plays in the pass's own time. */
  private beat(r: Recording, s: State, d: 1 | -1): Beat | null {
    const b = this.own(d, this.speed);
    return b === undefined ? nextBeat(r, s, d) : b;
  }

  toggle(d: 1 | -1): void {
    if (this.direction) this.stop();
    else this.start(d);
  }

  start(d: 1 | -1): void {
    const now = this.get();
    if (!now) return;
    this.direction = d;
    if (!this.beat(now.r, now.s, d)) this.set(enter(now.r, goStep(now.r, { ...now.s, pass: 0, layer: 0 }, d > 0 ? 0 : now.r.steps.length - 1), d));
    this.changed();
    this.next(STEP_MS / 2);
  }

  private next(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const now = this.get();
      if (!now || !this.direction) return;
      const b = this.beat(now.r, now.s, this.direction);
      if (!b) { this.stop(); return; }
      if (b.state !== now.s) this.set(b.state);
      this.next(b.ms);
    }, ms / this.speed);
  }

  faster(): void {
    const n = SPEEDS.indexOf(this.speed as (typeof SPEEDS)[number]);
    this.speed = SPEEDS[(n + 1) % SPEEDS.length]!;
    this.changed();
  }

  stop(): void {
    clearTimeout(this.timer);
    if (!this.direction) return;
    this.direction = 0;
    this.changed();
  }
}
