// The pictures of the Attention view: all tiles into one bitmap, one map into
// another. Canvas only; labels and cursors are drawn elsewhere.
import type { Attention } from './attention-data';
import { tileAt, type GridLayout, type MapLayout } from './attention-layout';
import { packed, type Rgb } from './attention-ramp';

export interface Paint { ramp: Rgb[]; colors: string[]; inset: Rgb; linear: boolean; own: boolean; skipFirst: boolean }

/** lut maps a square-root code 0..255 of a weight to a step of the ramp; top is the code that is drawn as the end of the ramp. */
export function lut(linear: boolean, top: number): Uint8Array {
  const t = Math.max(1, top);
  return Uint8Array.from({ length: 256 }, (_, c) => { const x = Math.min(1, c / t); return Math.round(255 * (linear ? x * x : x)); });
}

export class Tiles {
  private codes = new Uint8Array();
  private tops = new Uint8Array();
  private key = '';

  constructor(private a: Attention) {}

  /** The pooled codes of all heads, made once for a size of block. */
  private prepare(g: GridLayout, skip: boolean): void {
    const key = `${g.pool}/${skip}`, N = this.a.layers * this.a.heads, mm = g.m * g.m;
    if (key === this.key) return;
    this.key = key;
    this.codes = new Uint8Array(N * mm);
    this.tops = new Uint8Array(N);
    for (let q = 0; q < N; q++) {
      const part = this.codes.subarray(q * mm, (q + 1) * mm);
      this.a.pooled(Math.floor(q / this.a.heads), q % this.a.heads, g.pool, skip, part);
      let top = 0;
      for (let k = 0; k < mm; k++) if (part[k]! > top) top = part[k]!;
      this.tops[q] = top;
    }
  }

  /** paint draws every tile; order[k] is the head at place k, row by row. */
  paint(cv: HTMLCanvasElement, g: GridLayout, order: ArrayLike<number>, per: number, p: Paint, dpr: number): void {
    this.prepare(g, p.skipFirst);
    const c = cv.getContext('2d')!, W = cv.width, H = cv.height, im = c.createImageData(W, H), px = new Uint32Array(im.data.buffer), colors = packed(p.ramp), masked = packed([p.inset])[0]!;
    const { m, k } = g, shared = lut(p.linear, 255), hidden = p.skipFirst ? 1 : 0;
    for (let at = 0; at < order.length; at++) {
      const q = order[at]!, [tx, ty] = tileAt(g, at % g.cols, Math.floor(at / g.cols), per), x0 = Math.round(tx * dpr), y0 = Math.round(ty * dpr), t = p.own ? lut(p.linear, this.tops[q]!) : shared;
      if (y0 + m * k > H || x0 + m * k > W) continue;
      for (let i = 0; i < m; i++) {
        const from = q * m * m + i * m, line = (y0 + i * k) * W + x0;
        for (let j = 0; j < m; j++) {
          const color = j > i || (hidden && g.pool === 1 && j === 0) ? masked : colors[t[this.codes[from + j]!]!]!;
          for (let a = 0; a < k; a++) px.fill(color, line + a * W + j * k, line + a * W + (j + 1) * k);
        }
      }
    }
    c.putImageData(im, 0, 0);
  }
}

/** topOf is the largest weight of a map, without its first column when that is hidden. */
export function topOf(map: ArrayLike<number>, n: number, skip: boolean): number {
  let top = 0;
  for (let k = 0; k < map.length; k++) if (map[k]! > top && !(skip && k % n === 0)) top = map[k]!;
  return top || 1;
}

/** shade is the step of the ramp, 0..255, of weight w when top is its end. */
export const shade = (w: number, top: number, linear: boolean): number => { const x = Math.max(0, Math.min(1, w / top)); return Math.round(255 * (linear ? x : Math.sqrt(x))); };

/** paintMap draws the shown part of one map. Small maps get hairlines between cells; the masked half stays clear. */
export function paintMap(cv: HTMLCanvasElement, map: ArrayLike<number>, n: number, m: MapLayout, p: Paint, dpr: number): void {
  const c = cv.getContext('2d')!, top = p.own ? topOf(map, n, p.skipFirst) : 1;
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.clearRect(0, 0, cv.width, cv.height);
  if (m.n * m.n <= 16_384) {
    const line = m.cell >= 5 ? 1 : 0, colors = p.colors;
    for (let r = 0; r < m.n; r++) for (let k = 0; k < m.n; k++) {
      const i = m.r0 + r, j = m.c0 + k;
      if (j > i || (p.skipFirst && j === 0)) continue;
      c.fillStyle = colors[shade(map[i * n + j]!, top, p.linear)]!;
      c.fillRect(Math.round((m.x + k * m.cell) * dpr), Math.round((m.y + r * m.cell) * dpr), Math.round((m.cell - line) * dpr), Math.round((m.cell - line) * dpr));
    }
    return;
  }
  const small = new OffscreenCanvas(m.n, m.n), sc = small.getContext('2d')!, im = sc.createImageData(m.n, m.n), px = new Uint32Array(im.data.buffer), words = packed(p.ramp);
  for (let r = 0; r < m.n; r++) for (let k = 0; k < m.n; k++) {
    const i = m.r0 + r, j = m.c0 + k;
    if (j <= i && !(p.skipFirst && j === 0)) px[r * m.n + k] = words[shade(map[i * n + j]!, top, p.linear)]!;
  }
  sc.putImageData(im, 0, 0);
  c.imageSmoothingEnabled = false;
  c.drawImage(small, Math.round(m.x * dpr), Math.round(m.y * dpr), Math.round(m.size * dpr), Math.round(m.size * dpr));
}
