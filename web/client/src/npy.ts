// Reader of NumPy's .npy format, versions 1 to 3, little-endian and C order,
// as numpy.lib.format describes it. It does not know about recordings.
import type { Captured } from './arrays';

/** IEEE 754 half precision to single. */
function halves(u: Uint16Array): Float32Array {
  const out = new Float32Array(u.length);
  for (let k = 0; k < u.length; k++) {
    const h = u[k]!, s = h & 0x8000 ? -1 : 1, e = (h >> 10) & 31, f = h & 1023;
    out[k] = e === 0 ? s * f * 2 ** -24 : e === 31 ? (f ? NaN : s * Infinity) : s * (1 + f / 1024) * 2 ** (e - 15);
  }
  return out;
}

/** valuesOf views bytes as numbers of a dtype such as f4; a copy is made only where the bytes do not lie on a boundary. */
export function valuesOf(dtype: string, b: ArrayBuffer, from: number, n: number): ArrayLike<number> {
  const size = Number(dtype.slice(1)), off = from % size === 0 ? from : 0, buf = off === from ? b : b.slice(from, from + n * size);
  switch (dtype) {
    case 'f4': return new Float32Array(buf, off, n);
    case 'f8': return new Float64Array(buf, off, n);
    case 'f2': return halves(new Uint16Array(buf, off, n));
    case 'u1': return new Uint8Array(buf, off, n);
    case 'i1': return new Int8Array(buf, off, n);
    case 'u2': return new Uint16Array(buf, off, n);
    case 'i2': return new Int16Array(buf, off, n);
    case 'u4': return new Uint32Array(buf, off, n);
    case 'i4': return new Int32Array(buf, off, n);
    case 'i8': return Array.from(new BigInt64Array(buf, off, n), Number);
    case 'u8': return Array.from(new BigUint64Array(buf, off, n), Number);
    default: throw new Error(`dtype: wanted f2, f4, f8 or a whole number of 1 to 8 bytes, found ${dtype}`);
  }
}

/** parseNpy reads a whole .npy file. */
export function parseNpy(b: ArrayBuffer): Captured {
  const u = new Uint8Array(b), v = new DataView(b);
  if (u.length < 12 || u[0] !== 0x93 || String.fromCharCode(...u.subarray(1, 6)) !== 'NUMPY') throw new Error('offset 0: wanted the start of a NumPy file, found something else');
  const wide = u[6]! >= 2, len = wide ? v.getUint32(8, true) : v.getUint16(8, true), at = (wide ? 12 : 10) + len;
  if (at > u.length) throw new Error(`offset ${wide ? 12 : 10}: the header has ${len} bytes, the file ends at ${u.length}`);
  const head = new TextDecoder('latin1').decode(u.subarray(wide ? 12 : 10, at));
  const descr = /'descr':\s*'([^']*)'/.exec(head)?.[1] ?? '', shape = /'shape':\s*\(([^)]*)\)/.exec(head)?.[1];
  if (shape === undefined || !/'fortran_order':\s*False/.test(head)) throw new Error('header: wanted a shape and C order');
  if (!/^[<|=]/.test(descr)) throw new Error(`header: descr: wanted a little-endian number such as <f4, found ${descr}`);
  const dims = shape.split(',').map((x) => x.trim()).filter(Boolean).map(Number), n = dims.reduce((x, y) => x * y, 1), dtype = descr.slice(1), need = n * Number(dtype.slice(1));
  if (u.length - at < need) throw new Error(`offset ${at}: shape (${dims.join(', ')}) of ${dtype} takes ${need} bytes, the file has ${u.length - at}`);
  return { shape: dims, values: valuesOf(dtype, b, at, n) };
}
