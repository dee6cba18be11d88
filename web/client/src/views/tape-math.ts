// Arithmetic of one output number, done again from the stored weights and the
// captured input: what the kernel adds up, block by block.

/** How a backend takes its input: as it is (run 0), or rounded to codes up to top in runs that share a scale. */
export interface Rounding { run: number; top: number; what: string }

/**
 * roundingOf reads runs off the kernel's name and the largest code off the
 * recording (device.input_top): kernels over quantised weights multiply
 * integers, and round their input in runs of 32, for K formats of 256.
 * Everything else multiplies floats.
 */
export function roundingOf(kernel: string | undefined, top: number | undefined): Rounding {
  const k = kernel ?? '', run = /^m[vm](Q\d_K|K\d)/.test(k) ? 256 : /^m[vm]Q\d_[01]/.test(k) ? 32 : 0;
  if (!run) return { run: 0, top: 0, what: 'the input as it is' };
  if (!top) return { run: 0, top: 0, what: 'the input as it is; how the kernel rounds it is not in this recording' };
  return { run, top, what: `the input in ${bitsFor(top)} bits, ${run} numbers to a scale` };
}

export const bitsFor = (top: number): number => (top > 127 ? 16 : 8);

/** even rounds halves to even, as the kernels do. */
const even = (v: number): number => { const f = Math.floor(v), d = v - f; return d > 0.5 || (d === 0.5 && f % 2 !== 0) ? f + 1 : f; };

/** codeOf: codes of 16 bits are kept in two signed bytes, the lower of which is never -128. */
function codeOf(v: number, top: number): number {
  const n = even(v);
  return top > 127 && n - ((n + 128) >> 8) * 256 === -128 ? n + 1 : n;
}

/** rounded is x as the kernel has it: a code times the scale of its run. */
export function rounded(x: ArrayLike<number>, q: Rounding): { values: Float64Array; codes: Int32Array | null; scales: Float32Array } {
  const values = Float64Array.from(x);
  if (!q.run) return { values, codes: null, scales: new Float32Array() };
  const codes = new Int32Array(x.length), scales = new Float32Array(Math.ceil(x.length / q.run)), f = Math.fround;
  for (let b = 0; b < scales.length; b++) {
    let most = 0;
    const end = Math.min(x.length, (b + 1) * q.run);
    for (let k = b * q.run; k < end; k++) most = Math.max(most, Math.abs(x[k]!));
    const inverse = f(q.top / Math.max(most, f(1e-30)));
    scales[b] = f(f(most) * f(1 / q.top));
    for (let k = b * q.run; k < end; k++) {
      codes[k] = codeOf(f(f(x[k]!) * inverse), q.top);
      values[k] = codes[k]! * scales[b]!;
    }
  }
  return { values, codes, scales };
}

export interface Worked {
  /** sum of w * x in 64 bits over each block of the row */
  parts: number[];
  /** running sum behind each block */
  sums: number[];
  /** the whole with the input as the kernel has it, and with the input as it is */
  value: number;
  plain: number;
  /** sum of |w * x|: what rounding is measured against */
  size: number;
  rounding: Rounding;
}

/** work does row · x, with the input rounded as the kernel rounds it. */
export function work(w: ArrayLike<number>, x: ArrayLike<number>, block: number, q: Rounding): Worked {
  const xs = rounded(x, q).values, parts: number[] = [], sums: number[] = [];
  let value = 0, plain = 0, size = 0;
  for (let a = 0; a < w.length; a += block) {
    let part = 0;
    for (let k = a; k < Math.min(w.length, a + block); k++) {
      part += w[k]! * xs[k]!;
      plain += w[k]! * x[k]!;
      size += Math.abs(w[k]! * xs[k]!);
    }
    value += part;
    parts.push(part);
    sums.push(value);
  }
  return { parts, sums, value, plain, size, rounding: q };
}

/** agrees tells whether a number that came out of float32 arithmetic is the worked one: within a few roundings of what was added up. */
export const agrees = (out: number, w: Worked): boolean => Math.abs(out - w.value) <= 1.5e-6 * w.size + 1e-9;

/** bitsOf says which byte of a block, and which part of it, holds the code of weight k; null where several bytes do. */
export function bitsOf(type: string, k: number): { byte: number; part: 'low' | 'high' | 'all' } | null {
  const first = { Q4_0: 2, Q4_1: 4, Q5_0: 6, Q5_1: 8 }[type];
  if (first !== undefined) return { byte: first + (k % 16), part: k < 16 ? 'low' : 'high' };
  if (type === 'Q8_0') return { byte: 2 + k, part: 'all' };
  return null;
}
