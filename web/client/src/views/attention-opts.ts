// What the views keep of the reader's choices in the state: one text of
// name:value pairs, so that a link holds them. Unknown names stay.
import type { State } from '../state';

const read = (s: string): Map<string, string> => new Map(s.split(',').filter((p) => p.includes(':')).map((p) => [p.slice(0, p.indexOf(':')), p.slice(p.indexOf(':') + 1)]));

export const opt = (s: State, name: string): string => read(s.opts).get(name) ?? '';

export function optNumber(s: State, name: string, other: number): number {
  const v = opt(s, name);
  return /^\d{1,6}$/.test(v) ? Number(v) : other;
}

/** withOpt sets or, with '', drops a choice. */
export function withOpt(s: State, name: string, value: string | number): State {
  const m = read(s.opts);
  if (value === '') m.delete(name);
  else m.set(name, String(value));
  return { ...s, opts: [...m].map(([k, v]) => `${k}:${v}`).join(',') };
}
