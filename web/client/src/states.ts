// What the stage shows when there is no recording to show: each state says
// what is so and offers a way on.
import { esc } from './format';
import type { RecordingError } from './schema';

const skeleton = '<svg width="220" height="64" aria-hidden="true"><path d="M8 8v34l7 7h30l7-7V15l7-7h6l7 7v34l7 7h24" fill="none" stroke="var(--graphic)" stroke-dasharray="1.5 3.5"/><circle cx="8" cy="8" r="3.4" fill="var(--page)" stroke="var(--graphic)"/><circle cx="8" cy="28" r="3.4" fill="var(--page)" stroke="var(--graphic)"/><circle cx="72" cy="28" r="3.4" fill="var(--page)" stroke="var(--graphic)"/></svg>';

const home = (h: string): string => (h ? `<a href="${esc(h)}">All recordings</a>` : '');

/** The code of a view is on its way. */
export const fetchingState = (title: string): string => `<div class="state" role="status"><h2>Fetching the view ${esc(title)}</h2></div>`;

export const absentState = (title: string): string =>
  `<div class="state" role="alert"><h2>The view ${esc(title)} did not arrive</h2><p>Its code comes from the server when it is first shown. Check that Glassbox is still running.</p><div class="acts"><button data-again>Try again</button></div></div>`;

export function loadingState(src: string): string {
  return `<div class="state" role="status">${skeleton}<h2>Loading the recording</h2><p class="m">${esc(src)}</p><p>Waited <span class="mono" data-elapsed>0.0 s</span></p><div class="acts"><button data-act="retry">Try again</button></div></div>`;
}

/** waitingState is the live page before anything is traced. */
export function waitingState(h: string): string {
  return `<div class="state" role="status">${skeleton}<h2>Waiting for a traced request</h2><p>The next one that this server gets is drawn here while it runs. Press Trace on the <a href="/">first page</a> in another tab, or send any chat request with the header</p><p class="m">X-Glassbox-Trace: 1</p><p>Waited <span class="mono" data-elapsed>0.0 s</span></p><div class="acts">${home(h)}</div></div>`;
}

export function emptyState(h: string): string {
  return `<div class="state">${skeleton}<h2>No recording here yet</h2><p>Ask the engine something with tracing on, or open a recording. On the command line:</p><p class="m">glassbox trace "Why is the sky blue?" -o sky.json</p><div class="acts">${home(h)}</div></div>`;
}

const TITLE: Record<RecordingError['kind'], string> = {
  schema: 'This page cannot read the recording',
  shape: 'The recording is damaged',
  network: 'The recording did not arrive',
  missing: 'There is no such recording',
  large: 'The recording is too large for a browser',
};

export function errorState(e: RecordingError, h: string): string {
  const retry = e.kind === 'network' || e.kind === 'missing' ? '<button data-act="retry">Try again</button>' : '';
  return `<div class="state" role="alert">${skeleton}<h2>${TITLE[e.kind]}</h2><p class="m">${esc(e.message)}</p><p>${esc(e.remedy)}</p><div class="acts">${retry}${home(h)}</div></div>`;
}
