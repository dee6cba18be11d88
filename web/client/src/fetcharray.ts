// Where captured arrays come from: the recording's own text when they are
// small, the .gbx it was opened from, or the server that holds it. Each is
// fetched once. It does not know about views.
import { captured, type Captured } from './arrays';
import { parseNpy } from './npy';
import type { Recording } from './recording';

type Source = (name: string) => Promise<ArrayBuffer>;

const sources = new WeakMap<Recording, Source>();
const asked = new WeakMap<Recording, Map<string, Promise<Captured>>>();
const here = new WeakMap<Recording, Map<string, Captured>>();

/** provide says where the arrays of a recording come from; without it, from the server. */
export const provide = (r: Recording, from: Source): void => { sources.set(r, from); };

/** addressOf is where the server keeps the arrays of a recording: beside its text. src is the address it was loaded from. */
export function addressOf(r: Recording, src: string | null, name: string): string {
  const at = src?.split(/[?#]/)[0], base = at && /\/api\/traces\/[^/]+$/.test(at) ? at.replace(/\.(json|gbx)$/, '') : `/api/traces/${encodeURIComponent(r.file.id ?? '')}`;
  return `${base}/arrays/${name.split('/').map(encodeURIComponent).join('/')}`;
}

async function fromServer(url: string): Promise<ArrayBuffer> {
  const res = await fetch(url).catch(() => null);
  if (!res) throw new Error(`${url}: no answer from the server`);
  if (!res.ok) throw new Error(`${url}: the server answered ${res.status} ${res.statusText}`);
  return res.arrayBuffer();
}

/** arrayNow is the array when it has come already, or lies in the text; else null. */
export const arrayNow = (r: Recording, name: string): Captured | null => here.get(r)?.get(name) ?? captured(r, name);

/** arrayOf fetches an array. A failed fetch is not kept: asking again tries again. */
export function arrayOf(r: Recording, name: string, src: string | null): Promise<Captured> {
  const had = arrayNow(r, name);
  if (had) return Promise.resolve(had);
  const map = asked.get(r) ?? new Map<string, Promise<Captured>>();
  asked.set(r, map);
  let p = map.get(name);
  if (!p) {
    const from = sources.get(r) ?? ((n: string) => fromServer(addressOf(r, src, n)));
    p = from(name).then((b) => {
      const a = parseNpy(b), want = r.file.arrays?.[name]?.shape;
      if (want && want.join() !== a.shape.join()) throw new Error(`${name}: the recording says shape (${want.join(', ')}), the file has (${a.shape.join(', ')})`);
      const got = here.get(r) ?? new Map<string, Captured>();
      here.set(r, got.set(name, a));
      return a;
    });
    p.catch(() => map.delete(name));
    map.set(name, p);
  }
  return p;
}
