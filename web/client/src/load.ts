// Where a recording comes from: a script child of the element (one-file
// export), a property, or an address. Errors say what to do about them.
import { Recording } from './recording';
import { RecordingError } from './schema';

/** Above this many bytes the tab would run out of memory before it showed anything. */
export const MOST_BYTES = 400_000_000;

/** isZip: the zip form of a recording, a .gbx. */
export const isZip = (b: ArrayBuffer): boolean => b.byteLength > 22 && new DataView(b).getUint32(0, true) === 0x04034b50;

export function inline(host: HTMLElement): Recording | null {
  const s = host.querySelector('script[type="application/json"]');
  return s?.textContent ? Recording.parse(s.textContent) : null;
}

export async function load(src: string, signal: AbortSignal): Promise<Recording> {
  let res: Response;
  try {
    res = await fetch(src, { signal, headers: { Accept: 'application/json' } });
  } catch (e) {
    if (signal.aborted) throw e;
    throw new RecordingError('network', `${src}: no answer from the server.`, 'Check that Glassbox is still running, then try again.');
  }
  if (res.status === 404) throw new RecordingError('missing', `${src}: the server holds no recording of this name.`, 'It may have been deleted or the server restarted. The list of recordings shows what there is.');
  if (!res.ok) throw new RecordingError('network', `${src}: the server answered ${res.status} ${res.statusText}.`, 'Try again; the server log has the reason.');
  const size = Number(res.headers.get('Content-Length') ?? 0);
  if (size > MOST_BYTES) {
    throw new RecordingError('large', `${src}: ${(size / 1e6).toFixed(0)} MB; this page takes at most ${MOST_BYTES / 1e6} MB.`, 'Record fewer tokens with --max-tokens, or look at it with glassbox export --to perfetto.');
  }
  const body = await res.arrayBuffer();
  return isZip(body) ? (await import('./gbx')).openGbx(body) : Recording.parse(new TextDecoder().decode(body));
}

/** idOf is the name of a recording in an address such as /api/traces/ID.json. */
export function idOf(src: string): string {
  return decodeURIComponent(src.split(/[?#]/)[0]!.split('/').pop() ?? '').replace(/\.(json|gbx)$/, '');
}
