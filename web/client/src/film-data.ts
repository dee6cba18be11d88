// The scenes of the film and the playhead at each moment: a function of the
// time alone. It does not know about the page.
import type { Recording } from './recording';
import { at, fit, INITIAL, type State } from './state';

export interface Scene { at: number; dur: number; chapter: string; text: string; src: string; view: string; from: string; to: string; pass: number; layers: number; passes: number[] }

/** sceneAt is the index of the scene at t seconds. */
export function sceneAt(all: readonly Scene[], t: number): number {
  let n = 0;
  while (n + 1 < all.length && all[n + 1]!.at <= t) n++;
  return n;
}

/** stateAt is the playhead of a scene at t seconds of the film. */
export function stateAt(r: Recording, s: Scene, t: number): State {
  const part = Math.max(0, Math.min(0.9999, (t - s.at) / s.dur)), pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(part * list.length)];
  const a = at(r, { ...INITIAL, step: s.from }), b = Math.max(a, at(r, { ...INITIAL, step: s.to }));
  const steps = r.steps.slice(a, b + 1).filter((x, _, all) => x.count > 0 || all.length === 1);
  return fit(r, { ...INITIAL, view: s.view, step: pick(steps)?.id ?? s.from, pass: pick(s.passes) ?? s.pass, layer: s.layers ? Math.floor(part * s.layers) : Math.floor(r.layers / 2) });
}

/** clock writes seconds as 1:16; parseClock reads that, or plain seconds; NaN for anything else. */
export const clock = (t: number): string => `${Math.floor(t / 60)}:${String(Math.floor(t % 60)).padStart(2, '0')}`;
export function parseClock(s: string): number {
  const m = /^(?:(\d{1,3}):)?(\d{1,4})(?:\.\d+)?$/.exec(s.trim());
  return m ? Number(m[1] ?? 0) * 60 + Number(m[2]) : NaN;
}
