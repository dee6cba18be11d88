// What the Compare view shows while there is no second recording: the list of
// those the server holds, a place to drop a file, and a way to make one.
import { esc, time } from '../format';
import type { Recording } from '../recording';
import { partTitle } from '../ablate';
import type { Listed } from './compare-load';

export interface PickState { list: Listed[] | null; trouble: string; offered: string | null | undefined; error: string; here: string[] }

const when = (t?: string): string => { const d = t ? new Date(t) : null; return d && !Number.isNaN(+d) ? d.toLocaleString('en', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }) : ''; };

/** without says in words what was switched off, as far as a line holds it. */
export function without(names: readonly string[]): string {
  const parts = names.map(partTitle);
  return `without ${parts.slice(0, 3).join('; ')}${parts.length > 3 ? ` and ${parts.length - 3} more` : ''}`;
}

/** others leaves out the recording that is open and those still running; the same prompt comes first, then the newest. */
export function others(r: Recording, list: readonly Listed[], here: readonly string[]): Listed[] {
  const like = (x: Listed): number => (x.prompt?.trim() === r.name ? 0 : 1);
  return list.filter((x) => !here.includes(x.id) && !x.running).sort((x, y) => like(x) - like(y) || (y.started ?? '').localeCompare(x.started ?? ''));
}

export function pickHtml(r: Recording, q: PickState): string {
  const list = q.list ? others(r, q.list, q.here) : null;
  let h = `<div class="cp-pick"><h2>Hold this recording against another</h2>`;
  if (q.error) h += `<p class="cp-err" role="alert">${esc(q.error)}</p>`;
  h += `<div class="acts"><button data-cmd="ablate" data-k="ablate"${q.offered === null ? '' : ' aria-disabled="true"'}>Switch a part off and run again <kbd>Shift K</kbd></button><button data-own="file" data-k="file">Open a file</button></div><p class="s">${q.offered ? esc(q.offered) : 'A .gbx or .json can also be dropped here. It stays on this computer.'}</p>`;
  if (q.trouble) return `${h}<p class="s">${esc(q.trouble)}</p></div>`;
  if (!list) return `${h}<p class="s" role="status">Asking the server what it holds</p></div>`;
  if (!list.length) return `${h}<p class="s">The server holds no other recording. Trace the same prompt again, or switch a part off.</p></div>`;
  const rows = list.slice(0, 200).map((x) => `<tr><td><button data-with="${esc(x.id)}" data-k="w${esc(x.id)}">${esc((x.prompt ?? x.id).slice(0, 80) || x.id)}</button>${x.ablate?.length ? `<span class="s off">${esc(without(x.ablate))}</span>` : ''}</td><td>${esc(x.model ?? '')}</td><td>${esc(when(x.started))}</td><td class="r">${x.numbers?.['prompt_tokens'] ?? ''} + ${x.numbers?.['output_tokens'] ?? ''}</td><td class="r">${x.numbers?.['tpot_ns'] ? time(x.numbers['tpot_ns']) : '–'}</td><td class="m">${esc(x.id)}</td></tr>`);
  return `${h}<table><caption>${list.length} ${list.length === 1 ? 'recording' : 'recordings'} on this server, the same prompt first</caption><thead><tr><th scope="col">prompt</th><th scope="col">model</th><th scope="col">recorded</th><th scope="col" class="r">tokens in + out</th><th scope="col" class="r">each next</th><th scope="col">id</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}
