// The attention weights of a recording and what is measured on them: scores
// of each head, averages, row sums, the window of a layer. Arithmetic only.
import type { Captured } from '../arrays';

export type Mean = '' | 'heads' | 'layers' | 'all';
export const MEANS: readonly Mean[] = ['', 'heads', 'layers', 'all'];

export type ScoreId = 'entropy' | 'first' | 'previous' | 'self' | 'repeat' | 'distance';
export interface ScoreKind { id: ScoreId; title: string; unit: string; digits: number; how: string }

/** What is measured on each head. Each is a mean over rows from the second on, because the first row has no choice. */
export const SCORES: readonly ScoreKind[] = [
  { id: 'entropy', title: 'entropy', unit: 'bits', digits: 2, how: 'entropy of a row in bits, mean over rows' },
  { id: 'first', title: 'first token', unit: '', digits: 3, how: 'weight on the first token, mean over rows' },
  { id: 'previous', title: 'previous', unit: '', digits: 3, how: 'weight on the token just before, mean over rows' },
  { id: 'self', title: 'self', unit: '', digits: 3, how: 'weight on the row’s own token, mean over rows' },
  { id: 'repeat', title: 'repeat, next', unit: '', digits: 3, how: 'weight on the tokens that followed earlier copies of the row’s token, mean over the rows that have one' },
  { id: 'distance', title: 'distance', unit: 'tokens', digits: 1, how: 'how many tokens back the weight lies, mean over rows' },
];

export class Attention {
  readonly layers: number;
  readonly heads: number;
  readonly n: number;
  private readonly v: ArrayLike<number>;
  private scoreCache: Record<ScoreId, Float64Array> | null = null;
  private rankCache = new Map<ScoreId, Int32Array>();
  private windowCache: number[] | null = null;
  private means = new Map<string, Float32Array>();

  /** a has shape (layer, head, query, key); ids are the token ids of the positions. */
  constructor(a: Captured, private ids: number[]) {
    const [L, H, q, k] = a.shape;
    if (a.shape.length !== 4 || !L || !H || !q || q !== k) throw new Error(`attention: wanted shape (layer, head, query, key) with as many keys as queries, found (${a.shape.join(', ')})`);
    this.layers = L;
    this.heads = H;
    this.n = q;
    this.v = a.values;
  }

  at(l: number, h: number, i: number, j: number): number {
    return this.v[((l * this.heads + h) * this.n + i) * this.n + j]!;
  }

  /** map is one head's square, or an average of squares: over the heads of layer l, over the layers of head h, over all. */
  map(l: number, h: number, mean: Mean): ArrayLike<number> {
    const nn = this.n * this.n, base = (l * this.heads + h) * nn;
    if (mean === '') return this.v instanceof Float32Array ? this.v.subarray(base, base + nn) : Array.from({ length: nn }, (_, k) => this.v[base + k]!);
    const key = mean === 'heads' ? `l${l}` : mean === 'layers' ? `h${h}` : 'all';
    let out = this.means.get(key);
    if (out) return out;
    const sum = new Float64Array(nn);
    let count = 0;
    for (let a = 0; a < this.layers; a++) for (let b = 0; b < this.heads; b++) {
      if ((mean === 'heads' && a !== l) || (mean === 'layers' && b !== h)) continue;
      const from = (a * this.heads + b) * nn;
      for (let k = 0; k < nn; k++) sum[k]! += this.v[from + k]!;
      count++;
    }
    out = Float32Array.from(sum, (x) => x / count);
    this.means.set(key, out);
    return out;
  }

  /** pooled is one head as m x m bytes, each the largest weight of its block, square-root coded: 255 sqrt(w). Max keeps thin stripes. */
  pooled(l: number, h: number, pool: number, skipFirst: boolean, out: Uint8Array): void {
    const n = this.n, m = Math.ceil(n / pool), base = (l * this.heads + h) * n * n;
    out.fill(0);
    for (let i = 0; i < n; i++) {
      const to = Math.floor(i / pool) * m, from = base + i * n;
      for (let j = skipFirst ? 1 : 0; j <= i; j++) {
        const w = this.v[from + j]!;
        if (w <= 0) continue;
        const c = Math.min(255, Math.round(Math.sqrt(w) * 255)), k = to + ((j / pool) | 0);
        if (c > out[k]!) out[k] = c;
      }
    }
  }

  /** rowSum adds a row in double precision. */
  rowSum(map: ArrayLike<number>, i: number): number {
    let s = 0;
    for (let j = 0; j < this.n; j++) s += map[i * this.n + j]!;
    return s;
  }

  /** worstRow is the largest distance of a row sum from one, over all heads. */
  get worstRow(): number {
    let worst = 0;
    for (let r = 0; r < this.layers * this.heads * this.n; r++) {
      let s = 0;
      for (let j = 0; j < this.n; j++) s += this.v[r * this.n + j]!;
      worst = Math.max(worst, Math.abs(s - 1));
    }
    return worst;
  }

  /** copies[i] lists the positions just after earlier copies of token i. */
  private copies(): number[][] {
    const seen = new Map<number, number[]>();
    return Array.from({ length: this.n }, (_, i) => {
      const id = this.ids[i];
      if (id === undefined) return [];
      const before = seen.get(id) ?? [];
      seen.set(id, [...before, i]);
      return before.map((j) => j + 1).filter((j) => j <= i);
    });
  }

  /** scores has one number for each head, index l * heads + h. */
  get scores(): Record<ScoreId, Float64Array> {
    if (this.scoreCache) return this.scoreCache;
    const { n, layers: L, heads: H } = this, N = L * H, rows = Math.max(1, n - 1), copies = this.copies(), with_ = Math.max(1, copies.filter((c, i) => i > 0 && c.length).length);
    const make = (): Float64Array => new Float64Array(N);
    const s = { entropy: make(), first: make(), previous: make(), self: make(), repeat: make(), distance: make() };
    for (let g = 0; g < N; g++) {
      let ent = 0, first = 0, prev = 0, self = 0, rep = 0, dist = 0;
      for (let i = 1; i < n; i++) {
        const at = (g * n + i) * n;
        first += this.v[at]!;
        prev += this.v[at + i - 1]!;
        self += this.v[at + i]!;
        for (const j of copies[i]!) rep += this.v[at + j]!;
        for (let j = 0; j <= i; j++) {
          const w = this.v[at + j]!;
          if (w > 0) { ent -= w * Math.log2(w); dist += w * (i - j); }
        }
      }
      s.entropy[g] = ent / rows;
      s.first[g] = first / rows;
      s.previous[g] = prev / rows;
      s.self[g] = self / rows;
      s.repeat[g] = rep / with_;
      s.distance[g] = dist / rows;
    }
    return (this.scoreCache = s);
  }

  /** repeats tells whether any token occurs twice: without one the repeat score says nothing. */
  get repeats(): boolean { return this.copies().some((c, i) => i > 0 && c.length > 0); }

  /** order lists heads from the highest score down. */
  order(id: ScoreId): Int32Array {
    let o = this.rankCache.get(id);
    if (!o) {
      const s = this.scores[id];
      o = Int32Array.from(s.keys()).sort((a, b) => s[b]! - s[a]! || a - b);
      this.rankCache.set(id, o);
    }
    return o;
  }

  rank(id: ScoreId, g: number): number { return this.order(id).indexOf(g) + 1; }

  /** window of layer l: how many tokens back a row may look when weights farther back are zero in every head and row; 0: all. Derived. */
  window(l: number): number {
    this.windowCache ??= Array.from({ length: this.layers }, (_, a) => {
      let far = 0;
      for (let h = 0; h < this.heads; h++) for (let i = this.n - 1; i > far; i--) for (let j = 0; j < i - far; j++) if (this.at(a, h, i, j) !== 0) { far = i - j; break; }
      return far >= this.n - 1 ? 0 : far + 1;
    });
    return this.windowCache[l] ?? 0;
  }
}
