// Helpers of the tests of captured arrays: .npy and zip files made here, byte by byte.
import { crc32, deflateRawSync } from 'node:zlib';

type Numbers = Float32Array | Int32Array | Uint16Array | Uint8Array;
const DESCR = new Map<string, string>([['Float32Array', '<f4'], ['Int32Array', '<i4'], ['Uint16Array', '<f2'], ['Uint8Array', '|u1']]);

/** npy is what numpy.save writes: version 1.0, padded to 64 bytes. */
export function npy(shape: number[], v: Numbers, order = 'False'): ArrayBuffer {
  const dict = `{'descr': '${DESCR.get(v.constructor.name)}', 'fortran_order': ${order}, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`;
  const pad = 64 - ((10 + dict.length + 1) % 64), head = `${dict}${' '.repeat(pad)}\n`, out = new Uint8Array(10 + head.length + v.byteLength);
  out.set([0x93, ...[...'NUMPY'].map((c) => c.charCodeAt(0)), 1, 0, head.length & 255, head.length >> 8]);
  out.set(new TextEncoder().encode(head), 10);
  out.set(new Uint8Array(v.buffer, v.byteOffset, v.byteLength), 10 + head.length);
  return out.buffer;
}

/** zip packs members; every second one is stored, the others deflated. */
export function zip(files: Record<string, Uint8Array>): ArrayBuffer {
  const parts: Buffer[] = [], dir: Buffer[] = [];
  let at = 0, n = 0;
  for (const [name, raw] of Object.entries(files)) {
    const packed = n++ % 2 === 0, body = packed ? deflateRawSync(raw) : Buffer.from(raw), key = Buffer.from(name), head = Buffer.alloc(30), entry = Buffer.alloc(46), sum = crc32 ? crc32(raw) : 0;
    for (const [b, o] of [[head, 4], [entry, 6]] as const) { b.writeUInt16LE(20, o); b.writeUInt16LE(packed ? 8 : 0, o + 4); b.writeUInt32LE(sum, o + 10); b.writeUInt32LE(body.length, o + 14); b.writeUInt32LE(raw.length, o + 18); b.writeUInt16LE(key.length, o + 22); }
    head.writeUInt32LE(0x04034b50, 0);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt32LE(at, 42);
    parts.push(head, key, body);
    dir.push(entry, key);
    at += 30 + key.length + body.length;
  }
  const d = Buffer.concat(dir), end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(n, 8);
  end.writeUInt16LE(n, 10);
  end.writeUInt32LE(d.length, 12);
  end.writeUInt32LE(at, 16);
  const all = Buffer.concat([...parts, d, end]);
  return all.buffer.slice(all.byteOffset, all.byteOffset + all.length) as ArrayBuffer;
}

/** softmaxMaps is attention of a model of random weights: q and k are linear maps of random vectors, rows are causal softmax. Deterministic. */
export function softmaxMaps(L: number, H: number, n: number, width = 8): Float32Array {
  let seed = 1;
  const rand = (): number => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed / 2 ** 31 - 1; };
  const x = Array.from({ length: n }, () => Array.from({ length: width }, rand)), out = new Float32Array(L * H * n * n);
  for (let g = 0; g < L * H; g++) {
    const w = Array.from({ length: width }, () => Array.from({ length: width }, () => 2 * rand())), q = x.map((v) => w.map((r) => r.reduce((a, c, k) => a + c * v[k]!, 0)));
    for (let i = 0; i < n; i++) {
      const s = x.slice(0, i + 1).map((v) => v.reduce((a, c, k) => a + c * q[i]![k]!, 0)), top = Math.max(...s), e = s.map((v) => Math.exp(v - top)), sum = e.reduce((a, c) => a + c, 0);
      e.forEach((v, j) => { out[(g * n + i) * n + j] = v / sum; });
    }
  }
  return out;
}
