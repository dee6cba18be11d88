// Captured arrays that lie inside the recording's text: base64 of
// little-endian values in C order. What is in a .gbx alone is not here.
import type { Recording } from './recording';

export interface Captured { shape: number[]; values: ArrayLike<number> }

/** IEEE 754 half precision to number. */
function half(h: number): number {
  const s = h & 0x8000 ? -1 : 1, e = (h >> 10) & 31, f = h & 1023;
  if (e === 0) return s * f * 2 ** -24;
  return e === 31 ? (f ? NaN : s * Infinity) : s * (1 + f / 1024) * 2 ** (e - 15);
}

function typed(dtype: string, b: ArrayBuffer): ArrayLike<number> | null {
  switch (dtype.replace(/^[<|=]/, '')) {
    case 'f4': return new Float32Array(b);
    case 'f8': return new Float64Array(b);
    case 'f2': return Array.from(new Uint16Array(b), half);
    case 'u1': return new Uint8Array(b);
    case 'i4': return new Int32Array(b);
    case 'u4': return new Uint32Array(b);
    case 'i2': return new Int16Array(b);
    case 'u2': return new Uint16Array(b);
    default: return null;
  }
}

const seen = new WeakMap<object, Captured | null>();

/** captured decodes array name of a recording once; null when its values are not in the text or do not fit its shape. */
export function captured(r: Recording, name: string): Captured | null {
  const a = r.file.arrays?.[name];
  if (!a?.data) return null;
  const had = seen.get(a);
  if (had !== undefined) return had;
  let out: Captured | null = null;
  try {
    const raw = Uint8Array.from(atob(a.data), (c) => c.charCodeAt(0)), values = typed(a.dtype, raw.buffer);
    if (values && values.length === a.shape.reduce((x, y) => x * y, 1)) out = { shape: a.shape, values };
  } catch { out = null; }
  seen.set(a, out);
  return out;
}

/** row takes the last axis at fixed indexes of the others; null when they are outside. */
export function row(c: Captured, at: number[]): number[] | null {
  let off = 0;
  for (let k = 0; k < c.shape.length - 1; k++) {
    const i = at[k] ?? -1;
    if (i < 0 || i >= c.shape[k]!) return null;
    off = off * c.shape[k]! + i;
  }
  const n = c.shape.at(-1)!;
  return Array.from({ length: n }, (_, k) => c.values[off * n + k]!);
}
