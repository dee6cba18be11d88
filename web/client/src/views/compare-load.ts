// The second recording: from the server by its id, or from a file that was
// opened or dropped. A few are kept, so that going back is at once. It does
// not know how they are compared.
import { openGbx } from '../gbx';
import { isZip, load, MOST_BYTES } from '../load';
import { Recording } from '../recording';
import { RecordingError } from '../schema';
import { place } from '../site';

/** A line of the list of recordings that the server holds. */
export interface Listed { id: string; started?: string; prompt?: string; engine?: string; model?: string; device?: string; bytes?: number; running?: boolean; numbers?: Record<string, number>; ablate?: string[] }

const KEEP = 3;
const held = new Map<string, Recording>();

function keep(id: string, r: Recording): Recording {
  held.delete(id);
  held.set(id, r);
  for (const old of held.keys()) { if (held.size <= KEEP) break; held.delete(old); }
  return r;
}

export const FILE = 'file:';
export const addressOfSecond = (id: string): string => place(`/api/traces/${encodeURIComponent(id)}.json`);

/** secondNow is the second recording when it has come already. */
export const secondNow = (id: string): Recording | null => held.get(id) ?? null;

export async function second(id: string, signal: AbortSignal): Promise<Recording> {
  const had = held.get(id);
  if (had) return had;
  if (id.startsWith(FILE)) throw new RecordingError('missing', `${id.slice(FILE.length)} was opened from a file.`, 'A link cannot hold a file. Open it again.');
  return keep(id, await load(`${addressOfSecond(id)}?wait=60`, signal));
}

/** openFile reads a recording from a file and gives the name it goes by in the state. */
export async function openFile(f: File): Promise<string> {
  if (f.size > MOST_BYTES) throw new RecordingError('large', `${f.name}: ${(f.size / 1e6).toFixed(0)} MB; this page takes at most ${MOST_BYTES / 1e6} MB.`, 'Record fewer tokens with --max-tokens.');
  const b = await f.arrayBuffer(), id = FILE + f.name;
  keep(id, isZip(b) ? await openGbx(b) : Recording.parse(new TextDecoder().decode(b)));
  return id;
}

/** listed asks the server what it holds. */
export async function listed(): Promise<Listed[]> {
  const res = await fetch(place('/api/traces'));
  if (!res.ok) throw new Error(`the server answered ${res.status}`);
  const list: unknown = await res.json();
  return Array.isArray(list) ? list.filter((x): x is Listed => typeof (x as Listed | null)?.id === 'string') : [];
}
