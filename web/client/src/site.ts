// Where things are. On a server paths begin at its root. A copy of the site as
// files (glassbox export --to site) may lie in any folder of any host: its
// pages say how far up its first page is, and nothing in it asks an engine.
const up = typeof document === 'undefined' ? undefined : document.documentElement.dataset['root'];

/** asFiles: this page is of such a copy. */
export const asFiles = up !== undefined;

/** served: this page comes from a server of ours, which can be asked. */
export const served = (): boolean => !asFiles && /^https?:$/.test(location.protocol);

/** place is the address of a path of the site. Of recordings a copy holds the packed form. */
export function place(path: string): string {
  if (up === undefined) return path;
  return path === '/api/traces' ? `${up}api/traces/index.json` : up + path.slice(1).replace(/^(api\/traces\/.*)\.json$/, '$1.gbx');
}
