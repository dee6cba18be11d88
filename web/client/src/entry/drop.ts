// What is loaded when a recording is dropped on a page: the tracer takes the
// page's place. The file is read in the browser and sent nowhere.
import { openGbx } from '../gbx';
import { isZip, MOST_BYTES } from '../load';
import { Recording } from '../recording';
import { RecordingError } from '../schema';
import { errorState } from '../states';
import { Tracer } from '../tracer';

if (!customElements.get('glassbox-tracer')) customElements.define('glassbox-tracer', Tracer);

/** open shows a recording from a file in place of the page; going back returns to it. */
export async function open(f: File): Promise<void> {
  const t = document.createElement('glassbox-tracer') as Tracer;
  for (const [k, v] of [['page', ''], ['history', 'hash'], ['home', document.querySelector('a.brand')?.getAttribute('href') ?? '']] as const) t.setAttribute(k, v);
  let error: unknown = null;
  try {
    if (f.size > MOST_BYTES) throw new RecordingError('large', `${f.name}: ${(f.size / 1e6).toFixed(0)} MB; this page takes at most ${MOST_BYTES / 1e6} MB.`, 'Record fewer tokens with --max-tokens.');
    const b = await f.arrayBuffer();
    t.recording = isZip(b) ? await openGbx(b) : Recording.parse(new TextDecoder().decode(b));
  } catch (e) { error = e; }
  history.pushState(null, '', '#');
  addEventListener('popstate', () => { if (!location.hash) location.reload(); });
  document.body.replaceChildren(t);
  document.body.className = 'tracer';
  document.title = `${f.name} - Glassbox`;
  if (error) t.shadowRoot!.innerHTML = errorState(error instanceof RecordingError ? error : new RecordingError('shape', `${f.name}: ${(error as Error).message}`, 'Wanted a recording: a .gbx or .json that Glassbox wrote.'), '');
  else t.focus();
}
