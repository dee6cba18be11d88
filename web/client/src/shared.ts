// One request for a recording, however many elements of a page show it.
import { load } from './load';
import type { Recording } from './recording';

const shared = new Map<string, Promise<Recording>>();

export function sharedRecording(src: string): Promise<Recording> {
  let p = shared.get(src);
  if (!p) {
    p = load(src, new AbortController().signal);
    p.catch(() => shared.delete(src));
    shared.set(src, p);
  }
  return p;
}
