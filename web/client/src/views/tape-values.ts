// What the tape shows under its playhead, put together from what has arrived:
// captured vectors, stored blocks, rows and pictures. It asks for what is
// missing and never for the same thing twice.
import { arrayNow, arrayOf } from '../fetcharray';
import { hasArray } from './missing';
import { lastOfPass, positions } from '../position';
import type { Recording } from '../recording';
import type { State } from '../state';
import { opt, optNumber } from './attention-opts';
import { ramp, hex, type Rgb } from './attention-ramp';
import { tapePassOf, type Item } from './tape-data';
import { roundingOf, work, type Worked } from './tape-math';
import { LEVELS, type Detail, type Level } from './tape-detail';
import { Weights, type Picture } from './tape-weights';

export const levelOf = (s: State): Level => { const v = opt(s, 'tl') as Level; return LEVELS.includes(v) ? v : 'matrix'; };

export class Values {
  readonly weights: Weights;
  fault = '';
  private asked = new Set<string>();
  private worked = new Map<string, Worked>();
  private urls = new Map<string, string>();

  constructor(private r: Recording, private src: string | null, private changed: () => void) {
    this.weights = new Weights(r, changed);
  }

  /** captured tells whether the recording has vectors in and out of ops. */
  get captured(): boolean { return hasArray(this.r, 'tape_pass') || Object.keys(this.r.file.arrays ?? {}).some((k) => k.startsWith('tape_out/')); }

  /** array gives one that has come, or asks for it. */
  array(name: string, ask = true): ArrayLike<number> | null {
    if (!hasArray(this.r, name)) return null;
    const a = arrayNow(this.r, name);
    if (a) return a.values;
    if (ask && !this.asked.has(name)) {
      this.asked.add(name);
      arrayOf(this.r, name, this.src).then(() => { this.fault = ''; }, (e: Error) => { this.fault = e.message; }).finally(() => this.changed());
    }
    return null;
  }

  /** Which pass and position the vectors are of. */
  get at(): { pass: number; position: number } | null { return tapePassOf(this.array('tape_pass') ?? undefined); }

  private vector(side: 'in' | 'out', x: Item, ask: boolean): ArrayLike<number> | null { return this.array(`tape_${side}/${x.layer}/${x.op}`, ask); }

  /** The row that is shown when none was chosen: of the embedding the token's, else the one of the largest number that came out. */
  row(x: Item, s: State, out: ArrayLike<number> | null): { row: number; note: string } {
    const pos = this.at?.position ?? lastOfPass(this.r, s.pass), chosen = optNumber(s, 'row', -1);
    if (chosen >= 0 && chosen < x.rows) return { row: chosen, note: '' };
    if (x.op === 'embed') return { row: Math.min(Math.max(0, x.rows - 1), positions(this.r)[pos]?.id ?? 0), note: `the token at position ${pos}` };
    if (!out || x.rows < 2) return { row: 0, note: '' };
    let n = 0;
    const head = x.op === 'lm_head', size = (v: number): number => (head ? v : Math.abs(v));
    for (let k = 1; k < x.rows; k++) if (size(out[k] ?? 0) > size(out[n] ?? 0)) n = k;
    return { row: n, note: head ? 'the largest logit' : 'the largest number that came out' };
  }

  /** detail of an item. ask false: only what is here, while play runs past. */
  detail(x: Item, s: State, label: string, ask: boolean, w: number, h: number, seq: string): Detail {
    const input = this.vector('in', x, ask), output = this.vector('out', x, ask), { row, note } = this.row(x, s, output), standing = this.weights.standing;
    const noFile = x.kind === 'cache' ? '' : standing === null ? 'asking the server for its model file' : standing || (x.name ? '' : 'the recording does not name its weights');
    const open = ask && !noFile && x.kind === 'weight', kind = opt(s, 'px') === 'mean' ? 'mean' : 'absmax';
    const picture = open ? this.weights.picture(x.name, Math.min(x.cols, Math.max(8, Math.floor(h / 2))), Math.min(x.rows, Math.max(16, Math.floor(w / 2))), kind) : null;
    const weights = open && x.rows > 1 ? this.weights.row(x.name, row) : null, span = spanOf(x.type);
    const worked = weights && input && x.op !== 'embed' ? this.work(x, row, weights, input, span) : null;
    const blocks = Math.max(1, Math.ceil(x.cols / span)), blk = Math.min(blocks - 1, optNumber(s, 'blk', worked ? largest(worked.parts) : 0));
    const block = open ? this.weights.block(x.name, row, blk) : null, wt = Math.min((block?.values.length ?? span) - 1, optNumber(s, 'wt', 0));
    return { x, label, row, blk, wt, level: levelOf(s), picture, url: picture ? this.paint(picture, seq) : '', block, input, output, worked, span, noFile, noValues: this.captured ? '' : 'not captured', sum: opt(s, 'sum') === '1', rowNote: note, fast: !ask };
  }

  private work(x: Item, row: number, w: Float32Array, v: ArrayLike<number>, span: number): Worked {
    const key = `${x.layer}/${x.op}/${row}`, had = this.worked.get(key);
    if (had) return had;
    if (this.worked.size > 200) this.worked.clear();
    const made = work(w, v, span, roundingOf(x.span?.kernel, this.r.file.device.input_top));
    this.worked.set(key, made);
    return made;
  }

  /** paint makes the picture's pixels, rows along x; the seq text names the theme's colours. */
  private paint(p: Picture, seq: string): string {
    const key = `${p.name}/${p.kind}/${p.width}/${p.height}/${seq}`, had = this.urls.get(key);
    if (had) return had;
    if (this.urls.size > 60) this.urls.clear();
    const cv = document.createElement('canvas'), [steps = '', page = '#fff', neg = '#00f', pos = '#f80'] = seq.split('|');
    cv.width = p.height;
    cv.height = p.width;
    const g = cv.getContext('2d')!, img = g.createImageData(cv.width, cv.height), table = p.kind === 'mean' ? twoSided(hex(neg), hex(page), hex(pos)) : ramp(steps);
    for (let y = 0; y < p.height; y++) for (let x = 0; x < p.width; x++) {
      const v = p.levels[y * p.width + x]!, c = table[p.kind === 'mean' ? v : Math.round(255 * Math.sqrt(v / 255))]!, at = 4 * (x * p.height + y);
      img.data[at] = c[0]; img.data[at + 1] = c[1]; img.data[at + 2] = c[2]; img.data[at + 3] = 255;
    }
    g.putImageData(img, 0, 0);
    const url = cv.toDataURL('image/png');
    this.urls.set(key, url);
    return url;
  }
}

const largest = (v: number[]): number => v.reduce((a, x, i) => (Math.abs(x) > Math.abs(v[a]!) ? i : a), 0);

/** Weights that a block of a type holds; formats without blocks are shown 32 at a time. */
export const spanOf = (type: string): number => (/_K$/.test(type) ? 256 : 32);

function twoSided(a: Rgb, zero: Rgb, b: Rgb): Rgb[] {
  const mix = (x: Rgb, y: Rgb, f: number): Rgb => [0, 1, 2].map((c) => Math.round(x[c]! + (y[c]! - x[c]!) * f)) as Rgb;
  return Array.from({ length: 256 }, (_, v) => (v < 128 ? mix(zero, a, Math.sqrt((128 - v) / 127)) : mix(zero, b, Math.sqrt((v - 128) / 127))));
}
