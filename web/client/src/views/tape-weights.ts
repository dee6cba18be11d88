// The model file of the server that the page comes from: blocks, rows and
// pictures of its weights, each asked for once. A recording of another model
// is never mixed with it.
import type { Recording } from '../recording';
import type { ModelTensor } from '../schema';

export interface Block {
  name: string; type: string; row: number; block: number; blocks: number; first: number; offset: number;
  /** hexadecimal */
  bytes: string;
  parts: { name: string; first: number; bytes: number; kind: string }[];
  formula: string; group: number; zero: number;
  codes?: number[]; scale?: number[]; min?: number[];
  values: number[];
}

export interface Picture { name: string; kind: 'absmax' | 'mean'; rows: number; cols: number; width: number; height: number; top: number; levels: Uint8Array }

/** Why the weights cannot be shown, '' when they can, null while it is not known. */
export type Standing = string | null;

interface Reply { model: { name?: string; file?: string; sha256?: string }; tensors: ModelTensor[] }

async function json<T>(url: string): Promise<T> {
  const res = await fetch(url).catch(() => null);
  if (!res) throw new Error('no answer from the server');
  const body = await res.json().catch(() => null) as { error?: { message?: string } } | null;
  if (!res.ok) throw new Error(body?.error?.message ?? `the server answered ${res.status}`);
  return body as T;
}

/** Newest kept of each kind: rows of a head are large, and so is a walk. */
const MOST = 200;

export class Weights {
  standing: Standing = null;
  private got = new Map<string, unknown>();
  /** under way, or failed: neither is asked for again by itself */
  private asked = new Set<string>();
  /** what went wrong last, of one thing asked for */
  fault = '';

  constructor(private r: Recording, private changed: () => void) {}

  /** open asks the server what it has. Where there is no server the standing says so. */
  async open(live: boolean): Promise<void> {
    if (!live) { this.stand('no server holds the model file here: open the recording with glassbox serve to look into the weights'); return; }
    try {
      const q = await json<Reply>('/api/weights'), mine = this.r.file.model.sha256;
      if (!mine) this.stand('the recording does not say which model file it was made with');
      else if (q.model.sha256 !== mine) this.stand(`${q.model.file && q.model.file === this.r.file.model.file ? 'this server has another file of this name open' : `this server has ${q.model.file ?? 'another model'} open, not ${this.r.file.model.file ?? 'the model of the recording'}`} (SHA-256 ${(q.model.sha256 ?? 'not known').slice(0, 8)}, recorded with ${mine.slice(0, 8)}): only what the recording holds is shown`);
      else this.stand('');
    } catch (e) { this.stand((e as Error).message); }
  }

  private stand(why: string): void { this.standing = why; this.changed(); }

  private want<T>(key: string, ask: () => Promise<T>): T | null {
    if (this.standing !== '') return null;
    const had = this.got.get(key);
    if (had !== undefined) return had as T;
    if (this.asked.has(key)) return null;
    this.asked.add(key);
    ask().then((v) => { if (this.got.size >= MOST) this.got.delete(this.got.keys().next().value!); this.got.set(key, v); this.asked.delete(key); this.fault = ''; }, (e: Error) => { this.fault = e.message; })
      .finally(() => this.changed());
    return null;
  }

  private url(name: string, what: string): string { return `/api/weights/${encodeURIComponent(name)}/${what}`; }

  block(name: string, row: number, block: number): Block | null {
    const u = this.url(name, `block?row=${row}&block=${block}`);
    return this.want(u, () => json<Block>(u));
  }

  row(name: string, row: number): Float32Array | null {
    const u = this.url(name, `row?r=${row}`);
    return this.want(u, async () => {
      const res = await fetch(u);
      if (!res.ok) throw new Error(`the server answered ${res.status}`);
      return new Float32Array(await res.arrayBuffer());
    });
  }

  picture(name: string, width: number, height: number, kind: 'absmax' | 'mean'): Picture | null {
    const u = this.url(name, `image?width=${width}&height=${height}&kind=${kind}`);
    return this.want(u, async () => {
      const q = await json<Omit<Picture, 'levels'> & { levels: string }>(u);
      return { ...q, levels: Uint8Array.from(atob(q.levels), (c) => c.charCodeAt(0)) };
    });
  }
}
