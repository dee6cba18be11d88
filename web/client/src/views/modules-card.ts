// The card of view Modules: the step under the playhead, and what is known of
// the module: who imports it, what it imports, and how it comes to be loaded.
import { sourcePane } from '../card';
import { badge, count, esc, inline } from '../format';
import { STAGE_LETTER, STAGE_NAME, type Recording } from '../recording';
import { at, type State } from '../state';
import { KINDS, type Import, type Modules } from './modules-data';

/** The words for a state, and the sign that goes with it everywhere. */
export const STATES = {
  ran: ['ran', 'Ran in this request.'],
  by_name: ['picked by name', 'Ran in this request, though no import leads here from the entries: something picked it by its name at run time.'],
  imported: ['imported only', 'Touched by import alone: loaded, and nothing in it ran for this request.'],
  none: ['not loaded', 'Not loaded for this request.'],
} as const;

const button = (m: Modules, i: number, note = ''): string => `<li><button data-mod="${i}" data-k="m${i}" title="${esc(m.list[i]!.path)}"><i class="mm-s ${m.list[i]!.state}"></i>${esc(short(m, i))}</button>${note}</li>`;

/** short is a module's name without the package all have in common. */
export const short = (m: Modules, i: number): string => { const n = m.list[i]!.name, p = m.file.package; return n.startsWith(p) && n.length > p.length ? n.slice(p.length + 1) : n; };

function list(m: Modules, title: string, items: readonly (readonly [number, string])[], most = 10): string {
  if (!items.length) return `<h3 class="mm-h">${title}: none</h3>`;
  const rows = items.map(([i, note]) => button(m, i, note));
  return `<h3 class="mm-h">${title} <span class="mono">${items.length}</span></h3><ol class="mm-l">${rows.slice(0, most).join('')}</ol>${rows.length > most ? `<details class="mm-more"><summary>${rows.length - most} more</summary><ol class="mm-l">${rows.slice(most).join('')}</ol></details>` : ''}`;
}

const lineOf = (m: Modules, i: number, line: number): string => {
  const href = line ? m.href(i, line) : null;
  return !line || m.file.language === 'go' ? '' : href ? ` <a class="mono s" href="${esc(href)}" title="the line that imports it">:${line}</a>` : ` <span class="mono s">:${line}</span>`;
};

/** chainText is a chain of imports, a module a row, each with the line in the one before that imports it. */
export function chainText(m: Modules, chain: readonly Import[]): string {
  return `<ol class="mm-l mm-c">${chain.map(([i, line, kind], n) => button(m, i, n ? `<span class="s"> ${kind ? KINDS[kind] : ''}</span>${lineOf(m, chain[n - 1]![0], line)}` : '')).join('')}</ol>`;
}

export function modulesCard(r: Recording, s: State, m: Modules, i: number, from: number, picked: boolean): string {
  const step = r.steps[at(r, s)]!, L = STAGE_LETTER[step.stage];
  let h = '<div class="c-main"><div class="c-pad">';
  if (!picked) {
    h += `<div class="c-where"><span class="sq ${L}" aria-hidden="true">${L}</span>${STAGE_NAME[step.stage]}<span class="pos">${at(r, s) + 1} / ${r.steps.length}</span></div><h2>${esc(step.title)}</h2><span class="sym">${esc(step.source.symbol)}</span><p class="lede">${inline(step.short ?? step.text.split('\n')[0]!)}</p>`;
    if (i < 0) return `${h}<p class="c-p">${step.source.path ? `Its file, <code>${esc(step.source.path)}</code>, is not on this map.` : 'This recording names no file for it.'}</p></div></div>${sourcePane(step, s, L)}`;
    h += `<p class="c-p mm-wrap"><em>Module</em><b class="mono">${esc(short(m, i))}</b></p>`;
  } else h += `<div class="c-where"><i class="mm-s ${m.list[i]!.state}"></i>Module, ${STATES[m.list[i]!.state][0]}</div><h2 class="mm-name">${esc(short(m, i))}</h2><span class="sym" title="${esc(m.list[i]!.path)}">${esc(m.list[i]!.path)}</span>`;
  const mod = m.list[i]!, href = m.href(i), here = r.steps.map((q, n) => ({ q, n })).filter(({ q }) => m.ofStep(q) === i);
  h += `<p class="c-p">${STATES[mod.state][1]} ${count(mod.lines)} lines${badge('declared', `counted in ${m.file.title} ${m.file.version}`)}${mod.calls ? `, ${count(mod.calls)} calls${badge('measured', 'spans of the recording in this module')}` : ''}.${href ? ` <a href="${esc(href)}">Read it</a>` : ''}</p></div>`;
  h += '<div class="mm-card">';
  if (picked && here.length) h += `<h3 class="mm-h">Stops of the walk here <span class="mono">${here.length}</span></h3><ol class="mm-l">${here.slice(0, 8).map(({ q, n }) => `<li><button data-step="${esc(q.id)}" data-k="s${n}"><span class="mono s">${n + 1}</span> ${esc(q.title)}</button></li>`).join('')}</ol>`;
  if (from >= 0 && from !== i) {
    const way = m.chain([from], i), back = way ? null : m.chain([i], from);
    h += `<h3 class="mm-h">Path from ${esc(short(m, from))}</h3>${way ? chainText(m, way) : back ? `<p class="c-p">No import leads this way. The other way round:</p>${chainText(m, back)}` : '<p class="c-p">No chain of imports joins the two on this map, in either direction.</p>'}`;
  } else {
    const way = m.chain(m.entries(), i);
    h += way && way.length > 1 ? `<h3 class="mm-h">Loaded by</h3>${chainText(m, way)}` : way ? '<h3 class="mm-h">An entry: it is started, not imported</h3>' : `<h3 class="mm-h">Loaded by</h3><p class="c-p">${mod.state === 'by_name' ? 'No import leads here. A name in a registry, an option or a string does.' : mod.state === 'ran' ? 'A function imports it when it runs, by way of modules that are not on this map.' : 'It is the package around a module that is loaded: Python loads that first.'}</p>`;
  }
  h += list(m, 'Imported by', m.importers[i]!.map((j) => [j, lineOf(m, j, m.list[j]!.imports.find((e) => e[0] === i)![1])] as const));
  h += list(m, 'Imports', [...mod.imports].sort((a, b) => a[2] - b[2]).map(([j, line, kind]) => [j, `<span class="s">${kind ? ` ${KINDS[kind]}` : ''}</span>${lineOf(m, i, line)}`] as const));
  h += `<p class="mm-keys"><button data-cmd="map.from" data-k="mf">path from here <kbd>m</kbd></button>${picked ? '<button data-cmd="map.back" data-k="mb">back to the step <kbd>Esc</kbd></button>' : ''}</p></div></div>`;
  return picked ? h : h + sourcePane(step, s, L);
}
