// The sheet of "Switch it off and see": the part under the playhead is filled
// in, Enter runs. It shows how far the run is; Esc stops it.
import { again, names, notOffered, offOf, partsAt, partTitle, runAgain, wrongParts } from './ablate';
import { esc } from './format';
import type { Recording } from './recording';
import type { State } from './state';
import { adoptCss } from './views/attention-state';
import sheet from '../../../static/css/ablate.css';

export interface AblateHost {
  host: Element;
  recording: Recording;
  state: State;
  /** a component that has the focus, such as L24.H6 */
  writer: string | null;
  open(html: string): HTMLDialogElement;
  /** both recordings are there: the one shown and this one */
  done(id: string): void;
}

const MOST = 7;

export function ablateSheet(r: Recording, s: State, writer: string | null): string {
  const parts = partsAt(r, s, writer).slice(0, MOST), was = offOf(r), n = Number(r.file.request.params?.['max_tokens']) || r.output.length;
  const chips = parts.map((p) => `<button type="button" data-part="${esc(p.name)}"><b class="mono">${esc(p.name)}</b><span>${esc(p.title)}</span><small>${esc(p.note)}</small></button>`).join('');
  return `<form class="sheet ab" method="dialog"><h2>Switch it off and see<button type="button" data-close data-k="close">Close <kbd>Esc</kbd></button></h2><p class="c-p">The same request runs again with the same seed, without this part. Both recordings then stand side by side.${was.length ? ` Off already, and staying off: ${was.map((p) => esc(partTitle(p))).join('; ')}.` : ''}</p><div class="ab-parts" role="group" aria-label="Parts at the playhead">${chips}</div><label class="ab-line"><span>Parts</span><input name="parts" class="mono" value="${esc(parts[0]?.name ?? '')}" spellcheck="false" autocomplete="off" aria-describedby="ab-say"></label><div class="ab-line" role="radiogroup" aria-label="What it gives instead"><span>Gives</span><label><input type="radio" name="how" value="zero" checked> zero</label><label><input type="radio" name="how" value="mean"> its mean over the prompt</label></div><div class="ab-end"><button type="submit" data-run>Run again <kbd>↵</kbd></button><p id="ab-say" role="status">At most ${n} tokens.</p></div></form>`;
}

/** switchOff opens the sheet and runs what is asked for in it. */
export function switchOff(h: AblateHost): void {
  const { recording: r } = h, d = h.open(ablateSheet(r, h.state, h.writer));
  adoptCss(d, sheet);
  const form = d.querySelector('form')!, input = form.querySelector<HTMLInputElement>('[name="parts"]')!, run = form.querySelector<HTMLButtonElement>('[data-run]')!, say = form.querySelector('#ab-say')!;
  let abort: AbortController | null = null;
  const mark = (): void => { const now = input.value.split(/[\s,]+/); for (const b of form.querySelectorAll('[data-part]')) b.setAttribute('aria-pressed', String(now.includes(b.getAttribute('data-part')!))); };
  const stop = (): void => abort?.abort();
  d.addEventListener('close', stop, { once: true });
  form.querySelector('.ab-parts')!.addEventListener('click', (e) => { const p = (e.target as Element).closest('[data-part]')?.getAttribute('data-part'); if (p) { input.value = p; mark(); } });
  input.addEventListener('input', mark);
  mark();
  run.disabled = true;
  void notOffered(r, h.host).then((why) => {
    if (!form.isConnected) return;
    if (why) { say.textContent = why; say.classList.add('no'); } else { run.disabled = false; input.select(); }
  });
  form.addEventListener('submit', (e) => {
    e.preventDefault();
    if (run.disabled) return;
    const off = names(input.value, form.querySelector<HTMLInputElement>('[value="mean"]')!.checked), bad = wrongParts(r, off);
    if (bad) { say.textContent = bad; return; }
    abort = new AbortController();
    const mine = abort, t0 = performance.now(), q = again(r, off, ['lens']), most = Number(q.body['max_tokens']) || r.output.length;
    let n = 0;
    const tell = (): void => { say.textContent = `Running without ${off.map(partTitle).join('; ')}: ${((performance.now() - t0) / 1000).toFixed(1)} s${q.body['stream'] === true ? `, token ${n} of at most ${most}` : ''}. Esc stops it.`; };
    const tick = setInterval(tell, 100);
    run.disabled = true;
    tell();
    runAgain(q, mine.signal, (k) => { n = k; }).then((id) => { d.removeEventListener('close', stop); if (d.open) d.close(); h.done(id); }, (err: Error) => {
      run.disabled = false;
      say.textContent = mine.signal.aborted ? 'Stopped.' : `Not run: ${err.message}`;
    }).finally(() => clearInterval(tick));
  });
}
