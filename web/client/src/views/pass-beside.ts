// Our ops beside the nodes of another engine that do the same: one table, the
// biggest difference first. It does not know about the page.
import { badge, esc, exactNs, share, time } from '../format';
import type { Recording } from '../recording';
import type { Peer } from '../schema';
import { passModel, spreadOf } from './pass-data';
import type { Table } from './view';

export interface Beside { /** steps here; empty where nothing here does it */ ids: string[]; label: string; nodes: string; note: string; ours: number | null; theirs: number | null }

const ENGINES: Record<string, string> = { llamacpp: 'llama.cpp', vllm: 'vLLM', sglang: 'SGLang' };
export const peerName = (p: Peer): string => ENGINES[p.engine.name] ?? p.engine.name;
export const peerOf = (r: Recording): Peer | null => r.file.peers?.[0] ?? null;

/** decodeMedian is the median decode pass here, ns. */
export const decodeMedian = (r: Recording): number | null => spreadOf(r.passes.filter((p) => p.kind === 'decode').map((p) => p.dur_ns))?.median ?? null;

/** besideRows holds medians of decode passes, summed over layers, against each other; ops that only one of them has come too. */
export function besideRows(r: Recording, p: Peer): Beside[] {
  const first = r.passes.find((q) => q.kind === 'decode'), m = first ? passModel(r, first.index, 0, 'all') : null, left = new Map((m?.rows ?? []).map((o) => [o.id, o]));
  const rows: Beside[] = p.ops.map((o) => {
    const ids = o.ops ?? [], here = ids.flatMap((id) => left.get(id) ?? []);
    for (const id of ids) left.delete(id);
    const known = here.filter((q) => q.spread !== null);
    return { ids: here.map((q) => q.id), label: here.map((q) => q.label).join(', ') || '(none)', nodes: o.nodes.join(', '), note: o.note ?? '', ours: known.length ? known.reduce((a, q) => a + q.spread!.median, 0) : null, theirs: o.ns };
  });
  for (const o of left.values()) rows.push({ ids: [o.id], label: o.label, nodes: '(none)', note: '', ours: o.spread?.median ?? null, theirs: null });
  return rows.sort((a, b) => Math.abs((b.theirs ?? 0) - (b.ours ?? 0)) - Math.abs((a.theirs ?? 0) - (a.ours ?? 0)));
}

const sum = (v: (number | null)[]): number => v.reduce<number>((a, x) => a + (x ?? 0), 0);

/** besideNotes says what the numbers are, and what timing cost. */
export function besideNotes(r: Recording, p: Peer, rows: Beside[]): string[] {
  const name = peerName(p), mine = decodeMedian(r), ours = sum(rows.map((x) => x.ours)), theirs = sum(rows.map((x) => x.theirs));
  return [
    `A decode pass: here ${mine === null ? 'not measured' : time(mine)} while recorded, of which ops ${time(ours)}. ${name} ${p.engine.version} ${time(p.pass_ns)}; ${time(p.timed_ns)} with its nodes timed (timing cost ${share(p.timed_ns - p.pass_ns, p.pass_ns)} %), of which nodes ${time(theirs)}.`,
    `Same model file, prompt, machine and ${p.threads} thread${p.threads === 1 ? '' : 's'}, in turns; medians over ${r.passes.filter((q) => q.kind === 'decode').length} passes here and ${p.passes} there, summed over layers. ${name}: ${p.how}.`,
  ];
}

export function besideTable(r: Recording, p: Peer): Table {
  const rows = besideRows(r, p);
  return {
    caption: besideNotes(r, p, rows).join(' '), head: ['op here', `node in ${peerName(p)}`, 'ours ns', 'theirs ns', 'difference ns', 'theirs by ours', 'note'],
    rows: rows.map((x) => [x.label, x.nodes, x.ours ?? 'none', x.theirs ?? 'none', Math.round((x.theirs ?? 0) - (x.ours ?? 0)), x.ours && x.theirs ? (x.theirs / x.ours).toFixed(2) : '', x.note]),
  };
}

export function besideHtml(r: Recording, p: Peer, cur: string): string {
  const rows = besideRows(r, p), most = Math.max(1, ...rows.map((x) => Math.max(x.ours ?? 0, x.theirs ?? 0))), name = peerName(p);
  const cell = (ns: number | null): string => (ns === null ? '<td class="n none">none</td>' : `<td class="n" title="${exactNs(Math.round(ns))}">${time(ns)}</td>`);
  // widths are attributes: the page's policy lets no style come from a text
  const bar = (ns: number | null, y: number, cls: string): string => `<rect class="${cls}" x="0.5" y="${y}" width="${((98 * (ns ?? 0)) / most + 0.2).toFixed(2)}%" height="5"/>`;
  const body = rows.map((x) => {
    const d = (x.theirs ?? 0) - (x.ours ?? 0), here = x.ids.includes(cur);
    return `<tr${x.ids[0] ? ` data-step="${esc(x.ids[0])}"` : ''}${here ? ' aria-current="step"' : ''}><th scope="row">${esc(x.label)}</th><td class="k">${esc(x.nodes)}${x.note ? `<small>${esc(x.note)}</small>` : ''}</td>${cell(x.ours)}${cell(x.theirs)}<td class="n">${d < 0 ? '\u2212' : '+'}${time(Math.abs(d))}</td><td class="n">${x.ours && x.theirs ? `${(x.theirs / x.ours).toFixed(2)}` : ''}</td><td class="bars"><svg width="100%" height="15" aria-hidden="true">${bar(x.ours, 1.5, 'us')}${bar(x.theirs, 8.5, 'they')}</svg></td></tr>`;
  }).join('');
  return `${besideNotes(r, p, rows).map((t) => `<p>${esc(t)}</p>`).join('')}<table><thead><tr><th scope="col">op here</th><th scope="col">node in ${esc(name)}</th><th scope="col" class="n">ours${badge('measured', 'median decode pass, summed over layers')}</th><th scope="col" class="n">${esc(name)}${badge('measured', p.how)}</th><th scope="col" class="n">difference${badge('derived', 'theirs less ours')}</th><th scope="col" class="n">ratio${badge('derived', 'theirs by ours')}</th><th scope="col">ours above, ${esc(name)} below</th></tr></thead><tbody>${body}</tbody></table>`;
}
