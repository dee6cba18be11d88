// Positions: the places of the sequence, prompt first, then the answer. Pass
// and position say the same thing at two grains: a prefill pass runs many
// positions, a decode pass runs one. It does not know about the page.
import type { Recording } from './recording';
import type { Token } from './schema';
import type { State } from './state';

/** positions lists the tokens that went into the model, in order. The last token of the answer never does. */
export const positions = (r: Recording): Token[] => [...r.prompt, ...r.output.slice(0, -1)];

/** positionOfWord is the position whose row says word k of the answer. */
export const positionOfWord = (r: Recording, k: number): number => Math.max(0, r.prompt.length - 1 + k);

/** wordAt is the word of the answer that was drawn at a position, or -1. */
export function wordAt(r: Recording, pos: number): number {
  const k = pos - r.prompt.length + 1;
  return k >= 0 && k < r.output.length ? k : -1;
}

/** lastOfPass is the position at which a pass ends: the one whose logits were drawn from, where there was a draw. */
export function lastOfPass(r: Recording, pass: number): number {
  const k = r.tokenOfPass(pass);
  if (k >= 0) return positionOfWord(r, k);
  let end = 0;
  for (const p of r.passes) {
    if (p.kind === 'prefill') end += p.tokens;
    if (p.index === pass) break;
  }
  return Math.max(0, Math.min(r.prompt.length, end) - 1);
}

/** passOfPosition is the pass that ran a position. */
export function passOfPosition(r: Recording, pos: number): number {
  const k = wordAt(r, pos);
  if (k >= 0) return r.passOfToken(k);
  const pre = r.passes.filter((p) => p.kind === 'prefill');
  let end = r.prompt.length - pre.reduce((a, p) => a + p.tokens, 0); // tokens that a kept prefix gave
  for (const p of pre) if (pos < (end += p.tokens)) return p.index;
  return pre.at(-1)?.index ?? r.passNumbers.at(-1) ?? 0;
}

/** positionOf is where the playhead is: the state's own position while it lies in the state's pass, else the end of that pass. */
export const positionOf = (r: Recording, s: State): number => (s.token >= 0 ? s.token : lastOfPass(r, s.pass));

/** goPosition puts the playhead on a position, and with it on the pass that ran it. */
export function goPosition(r: Recording, s: State, pos: number): State {
  const most = Math.max(0, positions(r).length - 1), token = Math.max(0, Math.min(most, pos));
  return { ...s, token, pass: passOfPosition(r, token), sel: '' };
}

/** whyWord is the state that answers "why this token?": the lens at word k of the answer, in its last row. */
export const whyWord = (r: Recording, s: State, k: number): State =>
  ({ ...goPosition(r, s, positionOfWord(r, k)), view: 'lens', layer: Math.max(0, r.layers - 1) });
