// What a view shows when its capture is not there, on its way, too large or
// damaged. Each state says what is so and offers a way on; a recording made
// here can be made again with the capture, on the engine that serves the page.
import { esc } from '../format';
import type { Recording } from '../recording';
import { served } from '../site';

const grid = '<svg width="220" height="64" aria-hidden="true"><path d="M8.5 4v56M24.5 4v56M40.5 4v56M56.5 4v56M4 8.5h58M4 24.5h58M4 40.5h58M4 56.5h58" fill="none" stroke="var(--graphic)" stroke-dasharray="1.5 3.5"/></svg>';

const quoted = (s: string): string => `"${s.replace(/["\\$`]/g, '\\$&').replace(/\s+/g, ' ')}"`;

/** command is what makes this recording again with captures. */
export function command(r: Recording, kinds: string): string {
  const n = Number(r.file.request.params?.['max_tokens'] ?? r.output.length) || 24, name = r.name.length > 80 ? 'the prompt' : r.name;
  return `glassbox trace ${quoted(name || 'Why is the sky blue?')} --capture ${kinds} --max-tokens ${n} -o again.gbx`;
}

export function missingState(r: Recording, title: string, what: string, kinds: string, can: boolean): string {
  const why = r.live ? 'The request is still running; captures come with its end.' : `${what} is copied out of the engine only for a request that asks for it, because it is large.`;
  return `<div class="state">${grid}<h2>${title} is not in this recording</h2><p>${why}</p><p class="m">${esc(command(r, kinds))}</p><div class="acts">${can && !r.live ? '<button data-own="record">Record it now</button>' : ''}<button data-own="copycmd">Copy the command</button></div><p data-status role="status"></p></div>`;
}

export const waitingState = (name: string, bytes: number): string =>
  `<div class="state" role="status" data-wait>${grid}<h2>Fetching ${esc(name)}</h2><p class="m">${(bytes / 1e6).toFixed(1)} MB</p></div>`;

export const failedState = (what: string, message: string): string =>
  `<div class="state" role="alert">${grid}<h2>${esc(what)} did not arrive</h2><p class="m">${esc(message)}</p><div class="acts"><button data-own="again">Try again</button></div></div>`;

export const largeState = (what: string, bytes: number, most: number, shape: number[]): string =>
  `<div class="state" role="alert">${grid}<h2>${esc(what)} is too large for a browser</h2><p>It holds ${(bytes / 1e6).toFixed(0)} MB (${shape.join(' × ')}); this page takes at most ${most / 1e6} MB. Record a shorter prompt or fewer tokens with --max-tokens, or open the .gbx with numpy.load.</p></div>`;

/** canRecord: the page comes from an engine that answers. */
export async function canRecord(host: Element): Promise<boolean> {
  if (!host.hasAttribute('page') || !served()) return false;
  const res = await fetch('/health').catch(() => null);
  return !!res?.ok;
}

/** recordAgain sends the same request once more with captures and gives the id of the new recording. */
export async function recordAgain(r: Recording, kinds: string[]): Promise<string> {
  const q = r.file.request, p = q.params ?? {}, keep: Record<string, unknown> = {};
  for (const k of ['max_tokens', 'temperature', 'seed', 'top_p', 'top_k', 'min_p', 'stop']) if (p[k] !== undefined && p[k] !== null) keep[k] = p[k];
  keep['max_tokens'] ??= Math.max(1, r.output.length);
  const chat = !!q.messages, body = { ...(chat ? { messages: q.messages } : { prompt: q.prompt ?? q.rendered }), ...keep, glassbox: { trace: true, capture: kinds } };
  const res = await fetch(chat ? '/v1/chat/completions' : '/v1/completions', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const id = res.headers.get('X-Glassbox-Trace-Id');
  const said = await res.json().catch(() => null) as { error?: { message?: string } } | null;
  if (!res.ok) throw new Error(said?.error?.message ?? `the server answered ${res.status}`);
  if (!id) throw new Error('the answer names no recording');
  return id;
}

/** hostOf is the custom element a view lives in. */
export const hostOf = (body: HTMLElement): Element => { const root = body.getRootNode(); return root instanceof ShadowRoot ? root.host : body; };

/** removeView takes a view's element away; the focus that was in it goes to the tracer, so that keys go on working. */
export function removeView(el: HTMLElement): void {
  const host = hostOf(el), on = (el.getRootNode() as ShadowRoot | Document).activeElement;
  const inside = !!on && el.contains(on);
  el.remove();
  if (inside && host instanceof HTMLElement) host.focus({ preventScroll: true });
}

const sheets = new Map<string, CSSStyleSheet>();

/** adoptCss adds a style sheet to the tree a view lives in, once. */
export function adoptCss(body: HTMLElement, text: string): void {
  let s = sheets.get(text);
  if (!s) { s = new CSSStyleSheet(); s.replaceSync(text); sheets.set(text, s); }
  const root = body.getRootNode() as ShadowRoot | Document;
  if (!root.adoptedStyleSheets.includes(s)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, s];
}

/** Buttons of the states above: record again and go there, copy the command, try again. */
export function stateButtons(body: HTMLElement, r: Recording, view: string, kinds: string[], again: () => void): void {
  const status = body.querySelector('[data-status]'), host = hostOf(body);
  const say = (t: string): void => { if (status) status.textContent = t; };
  body.querySelector('[data-own="again"]')?.addEventListener('click', again);
  body.querySelector('[data-own="copycmd"]')?.addEventListener('click', () => {
    const text = command(r, kinds.join(','));
    navigator.clipboard.writeText(text).then(() => say('The command is in the clipboard.'), () => say('This page may not use the clipboard; select the line above.'));
  });
  const button = body.querySelector<HTMLButtonElement>('[data-own="record"]');
  button?.addEventListener('click', () => {
    const t0 = performance.now(), tick = setInterval(() => say(`The engine is at it, ${((performance.now() - t0) / 1000).toFixed(1)} s`), 100);
    button.disabled = true;
    recordAgain(r, kinds).then((id) => {
      const to = new URL(location.href);
      to.pathname = `/trace/${encodeURIComponent(id)}`;
      to.searchParams.set('view', view);
      if (host.getAttribute('history') === 'query') location.assign(to);
      else host.setAttribute('src', `/api/traces/${encodeURIComponent(id)}.json?wait=60`);
    }, (e: Error) => { button.disabled = false; say(`Not recorded: ${e.message}`); }).finally(() => clearInterval(tick));
  });
}
