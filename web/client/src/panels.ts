// The panels around the view: top bar, outline with its rail, and the strip
// of all steps. Strings only; clicks are found by their data attributes.
import { badge, esc, exactNs, share, time } from './format';
import { STAGES, STAGE_LETTER, STAGE_NAME, type Recording } from './recording';
import { at, type State } from './state';
import { octagon, stopsOf } from './stops';
import type { Stage } from './schema';
import { drawable, VIEWS } from './views/registry';

export const LOGO = '<svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true"><rect x="1.75" y="1.75" width="16.5" height="16.5"/><path d="M1.75 10H6l3-4.5 3 9 2-4.5h4.25"/></svg>';

const sep = '<i>|</i>';

/** What was recorded, on what, and how long it took. */
export function metaLine(r: Recording): string {
  const f = r.file, t = r.total, model = [f.model.name ?? f.model.architecture, f.model.quantization].filter(Boolean).join(', ');
  const device = f.device.kind && f.device.kind !== 'cpu' ? [f.device.name, f.device.kind].filter(Boolean).join(', ') : f.device.threads ? `${f.device.threads} CPU threads` : '';
  const engine = `${f.engine.name}${f.engine.version ? ` ${f.engine.version}` : ''}`;
  const parts = [`<b>${esc(r.name.slice(0, 60) || f.request.id || 'recording')}</b>`, r.live ? 'live' : t.ns === 0 ? 'no times' : `<span title="${exactNs(t.ns)}" class="mono">${time(t.ns)}</span>${badge(t.prov, t.how)}`, esc(device || f.device.name || ''), esc(model)];
  return `<span title="${esc(`${engine}; ${f.device.name ?? ''}; recorded ${f.started ?? 'at an unknown time'}`)}">${parts.filter(Boolean).join(sep)}</span>`;
}

export function topBar(r: Recording, s: State, home: string): string {
  const tabs = VIEWS.map((v) => {
    const why = drawable(v) ? v.missing(r) : v.missing(r) ?? 'this page cannot draw it yet', on = v.id === s.view;
    return `<button data-cmd="view.${v.n}" data-k="v${v.n}"${on ? ' aria-current="page"' : ''}${why ? ` aria-disabled="true" title="${esc(`${v.title}: ${why}`)}"` : ''}><sup>${v.n}</sup>${v.title}${why ? `<span class="vh">, ${esc(why)}</span>` : ''}</button>`;
  }).join('');
  const brand = home ? `<a class="brand" href="${esc(home)}">${LOGO}<span>glassbox</span></a>` : `<span class="brand">${LOGO}<span>glassbox</span></span>`;
  return `${brand}<div class="meta">${metaLine(r)}</div><nav class="views" aria-label="Views">${tabs}</nav><div class="keys"><button data-cmd="find" data-k="find"><kbd>/</kbd> search</button><button data-cmd="help" data-k="help" aria-label="Keys"><kbd>?</kbd></button></div>`;
}

const bar = (part: number, hollow: boolean, color: string): string =>
  `<svg width="36" height="8" aria-hidden="true"><path d="M.5 0v8" stroke="var(--rule-2)"/><rect x="${hollow ? 1.5 : 1}" y="${hollow ? 1 : 0.5}" width="${Math.max(hollow ? 0.5 : 1, 34 * part)}" height="${hollow ? 6 : 7}" fill="${hollow ? 'none' : color}" stroke="${hollow ? color : 'none'}"/></svg>`;

const stopSign = (how?: 'set' | 'stood'): string => (how ? ` <svg width="11" height="11" role="img" aria-label="${how === 'set' ? 'a stop is set' : 'it stood still here'}"><title>${how === 'set' ? 'a stop is set for the next Trace' : 'the engine stood still here'}</title>${octagon(5.5, 5.5, 4.5, how === 'stood' ? 'currentColor' : 'none')}</svg>` : '');

/** The outline: stages with their times; the stage one is in lists its steps. */
export function outline(r: Recording, s: State, height: number): string {
  const cur = at(r, s), here = r.steps[cur]?.stage;
  const past = (k: Stage): boolean => STAGES.indexOf(k) < STAGES.indexOf(here ?? 'receive');
  const stops = stopsOf(r);
  let h = '';
  for (const k of STAGES) {
    const list = r.steps.map((x, i) => ({ x, i })).filter(({ x }) => x.stage === k);
    if (!list.length) continue;
    const L = STAGE_LETTER[k], on = k === here, ns = r.stageTime(k);
    h += `<button class="o-st${on ? ' on' : ''}" data-step="${esc(list[0]!.x.id)}" data-k="s${L}" aria-expanded="${on}"><span class="sq ${L}${on || past(k) ? '' : ' hollow'}" aria-hidden="true">${L}</span><span>${STAGE_NAME[k]}</span><span class="v" title="${exactNs(ns)} of the wall clock">${ns ? time(ns) + badge('derived', 'wall-clock time of the spans of its steps; an instant counts for one stage') : '–'}</span></button>`;
    if (!on) continue;
    const max = Math.max(1, ...list.map(({ x }) => x.time_ns));
    h += `<div class="o-list">${list.map(({ x, i }) => {
      const z = i < cur ? 'done' : i === cur ? 'now' : 'coming';
      const v = x.count === 0 ? (r.live ? '–' : 'not run') : !r.timed(i) ? '–' : `${time(x.time_ns)}${badge('measured', `${x.count} times, summed`)}`;
      return `<button class="o-row ${z}" data-step="${esc(x.id)}" data-k="r${i}"${z === 'now' ? ' aria-current="step"' : ''}><span class="n">${i + 1}</span><span title="${esc(x.title)}">${esc(x.label)}${stopSign(stops.get(x.id))}</span>${bar(r.clocked ? x.time_ns / max : 0, z === 'coming', z === 'now' ? 'var(--on-now)' : `var(--st-${L})`)}<span class="v" title="${exactNs(x.time_ns)}">${v}</span></button>`;
    }).join('')}</div>`;
  }
  return h + rail(r, cur, height);
}

function rail(r: Recording, cur: number, H: number): string {
  const n = r.steps.length, y = (i: number): number => 14 + ((H - 28) * i) / Math.max(1, n - 1);
  let g = '';
  for (const k of STAGES) {
    const a = r.steps.findIndex((x) => x.stage === k);
    if (a < 0) continue;
    const b = r.steps.reduce((m, x, i) => (x.stage === k ? i : m), a), L = STAGE_LETTER[k];
    g += `<g class="st" data-step="${esc(r.steps[a]!.id)}"><line x1="28" x2="28" y1="${y(a)}" y2="${y(b)}" stroke="var(--st-${L})"/><rect x="6" y="${y(a) - 5}" width="13" height="13" fill="var(--st-${L})"/><text x="12.5" y="${y(a) + 5.5}" class="mid cap b" fill="var(--page)">${L}</text></g>`;
  }
  const stops = stopsOf(r);
  r.steps.forEach((x, i) => {
    const c = `var(--st-${STAGE_LETTER[x.stage]})`;
    if (stops.has(x.id)) g += octagon(38, y(i), 3.5, stops.get(x.id) === 'stood' ? 'currentColor' : 'page');
    g += `<g class="st" data-step="${esc(x.id)}"><title>${i + 1} ${esc(x.title)}</title><rect x="20" y="${y(i) - 5}" width="18" height="10" fill="transparent"/>${i < cur ? `<circle cx="28" cy="${y(i)}" r="2.5" fill="${c}"/>` : i > cur ? `<circle cx="28" cy="${y(i)}" r="2.2" fill="var(--page)" stroke="${c}"/>` : `<rect x="22.5" y="${y(i) - 5.5}" width="11" height="11" fill="var(--page)" stroke="var(--text)" stroke-width="2.5"/>`}</g>`;
  });
  return `<svg class="rail" width="43" height="${H}">${g}</svg>`;
}

export interface StripOptions { byTime: boolean; playing: 0 | 1 | -1; speed: number; owner: string; letters: boolean }

const ICON = {
  prev: '<svg width="14" height="14" aria-hidden="true"><path d="M10 2 4 7l6 5M2.5 2v10" fill="none" stroke="currentColor" stroke-width="1.4"/></svg>',
  next: '<svg width="14" height="14" aria-hidden="true"><path d="M4 2l6 5-6 5M11.5 2v10" fill="none" stroke="currentColor" stroke-width="1.4"/></svg>',
  play: '<svg width="14" height="14" aria-hidden="true"><path d="M3.5 2 11.5 7l-8 5z" fill="currentColor"/></svg>',
  pause: '<svg width="14" height="14" aria-hidden="true"><path d="M3.5 2.5v9M10.5 2.5v9" stroke="currentColor" stroke-width="2.4"/></svg>',
};

export function stripControls(o: StripOptions): string {
  return `<button data-cmd="prev" data-k="prev" aria-label="Previous step">${ICON.prev}</button><button class="play" data-cmd="play" data-k="play" aria-label="${o.playing ? 'Pause' : 'Play'}" aria-pressed="${o.playing !== 0}">${o.playing ? ICON.pause : ICON.play}</button><button data-cmd="next" data-k="next" aria-label="Next step">${ICON.next}</button><button class="speed" data-cmd="speed" data-k="speed" aria-label="${o.speed}x speed">${o.speed}x</button>`;
}

export function stripEnd(o: StripOptions): string {
  return `<span>Width</span><span class="seg"><button data-cmd="width" data-k="w0" aria-pressed="${!o.byTime}">equal</button><button data-cmd="width" data-k="w1" aria-pressed="${o.byTime}">time</button></span><span>Height</span><span>time, log</span><span>Arrows walk</span><span class="own" title="${o.letters ? 'single letters are on' : 'single letters are off'}">${esc(o.owner)}</span>`;
}

/** x positions of the strip's bars: equal widths, or measured time with at least 2 px a step so that each can be hit. */
export function stripBars(r: Recording, W: number, byTime: boolean): { x: number; w: number }[] {
  const n = r.steps.length, room = W - 32, all = r.steps.reduce((a, s) => a + s.time_ns, 0), least = Math.min(2, room / Math.max(1, n));
  let x = 16;
  return r.steps.map((s) => {
    const w = byTime && all > 0 ? least + ((room - least * n) * s.time_ns) / all : room / n;
    const q = { x, w };
    x += w;
    return q;
  });
}

export function stripPlot(r: Recording, s: State, W: number, H: number, byTime: boolean): string {
  if (W < 40 || !r.steps.length) return '';
  const cur = at(r, s), bars = stripBars(r, W, byTime), base = H > 70 ? H - 26 : H - 16, top = H > 70 ? 24 : 14, max = Math.log10(Math.max(10, ...r.steps.map((x) => x.time_ns)));
  let g = '';
  r.steps.forEach((x, i) => {
    const { x: x0, w } = bars[i]!, L = STAGE_LETTER[x.stage], c = `var(--st-${L})`, h = r.timed(i) ? Math.max(2, (Math.log10(Math.max(1, x.time_ns)) / max) * (base - top)) : 1, gap = w > 4 ? 1.5 : 0.4;
    const rect = i === cur ? `<rect x="${x0 + 0.5}" y="${base - h}" width="${Math.max(1, w - gap)}" height="${h}" fill="var(--text)"/>`
      : i < cur ? `<rect x="${x0 + 0.5}" y="${base - h}" width="${Math.max(0.6, w - gap)}" height="${h}" fill="${c}"/>`
        : w < 4 ? `<rect x="${x0 + 0.5}" y="${base - h}" width="${Math.max(0.6, w - gap)}" height="${h}" fill="${c}" opacity=".45"/>`
          : `<rect x="${x0 + 1}" y="${base - h + 0.5}" width="${w - 2.5}" height="${Math.max(0.5, h - 1)}" fill="none" stroke="${c}"/>`;
    g += `<g data-step="${esc(x.id)}"><title>${i + 1} ${esc(x.title)}: ${r.timed(i) ? time(x.time_ns) : x.count ? 'not measured' : 'not reached'}</title><rect x="${x0}" y="0" width="${w}" height="${H}" fill="transparent"/>${rect}</g>`;
    if (i === 0 || r.steps[i - 1]!.stage !== x.stage) {
      if (i) g += `<line x1="${x0}" x2="${x0}" y1="${top - 8}" y2="${H - 8}" class="hair2"/>`;
      if (H > 70) g += `<text x="${x0 + 1}" y="${H - 10}" class="cap b" fill="${c}">${L}</text>`;
    }
  });
  const cx = bars[cur]!.x + bars[cur]!.w / 2;
  return `${g}<line x1="16" x2="${W - 16}" y1="${base + 0.5}" y2="${base + 0.5}" class="hair2"/><line x1="${cx}" x2="${cx}" y1="8" y2="${base}" stroke="var(--text)"/><path d="M${cx - 5} 4h10l-5 7z" fill="var(--text)"/>`;
}

export const shareOf = (r: Recording, i: number): string => share(r.steps[i]!.time_ns, r.total.ns);
