// The card of the Compare view: what the two recordings are, what was asked
// differently, and the numbers of the whole request. Strings only.
import { offOf, partTitle } from '../ablate';
import { badge, esc, exactNs, time } from '../format';
import type { Recording } from '../recording';
import { sameEngine } from './compare-align';
import { common, paramsThatDiffer, parting, sameModel } from './compare-data';
import { signedTime } from './compare-draw';

/** editsOf counts values that were changed while the request stood still. */
const editsOf = (r: Recording): number => { const e = (r.file.request as { edits?: unknown }).edits; return Array.isArray(e) ? e.length : 0; };

/** sideName says what sets a recording apart from the other. */
export function sideName(r: Recording, other: Recording): string {
  const off = offOf(r), was = offOf(other), mine = off.filter((p) => !was.includes(p)), n = editsOf(r);
  const parts = [...(mine.length ? [`without ${mine.map(partTitle).join('; ')}`] : []), ...(n ? [`with ${n} ${n === 1 ? 'change' : 'changes'} made at a stop`] : [])];
  if (parts.length) return parts.join(', ');
  if (was.length > 0 && was.some((p) => !off.includes(p))) return off.length ? `without ${off.map(partTitle).join('; ')} alone` : 'with every part on';
  if (editsOf(other)) return 'untouched';
  if (!sameEngine(r, other)) return `${r.file.engine.name} ${r.file.engine.version ?? ''}`.trim();
  const same = r.name === other.name ? `recorded ${whenOf(r)}` : `“${r.name.slice(0, 60)}”`;
  return [same, sameModel(r, other) ? '' : r.file.model.name ?? ''].filter(Boolean).join(', ');
}

const whenOf = (r: Recording): string => { const d = r.file.started ? new Date(r.file.started) : null; return d && !Number.isNaN(+d) ? d.toLocaleString('en', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }) : 'unknown'; };

/** sentence says where the answers part. */
export function sentence(a: Recording, b: Recording): string {
  const p = common(a.prompt, b.prompt), d = parting(a, b);
  const unknown = !a.prompt.length ? 'A' : !b.prompt.length ? 'B' : '', read = unknown ? `${unknown} does not hold the tokens of its prompt. ` : p === a.prompt.length && p === b.prompt.length ? '' : p === 0 ? 'The prompts differ from their first token. ' : `The prompts differ from token ${p} on. `;
  if (d < 0) return `${read}Both answers are the same ${a.output.length} tokens.`;
  const ends = d >= a.output.length ? 'A ends there' : d >= b.output.length ? 'B ends there' : '';
  return `${read}The answers part at token ${d + 1}${ends ? `: ${ends}` : ''}.`;
}

export function compareCard(a: Recording, b: Recording, href: string | null): string {
  const line = (k: string, x: string, y: string): string => (x === y ? `<tr><td>${k}</td><td colspan="2" class="c">${x}</td></tr>` : `<tr><td>${k}</td><td>${x}</td><td>${y}</td></tr>`), f = a.file, g = b.file;
  const off = (r: Recording): string => esc(offOf(r).join(', ') || 'nothing');
  let h = `<div class="c-main"><div class="c-pad"><div class="c-where">Compare<span class="pos">A / B</span></div><h2>${esc(sideName(b, a))}</h2><p class="lede">${esc(sentence(a, b))}</p><p class="c-p">A is the recording that is open, B the other. Both ran at their own time, so a step counts as slower or faster only where the middle halves of its runs do not touch.</p>`;
  if (offOf(b).some((p) => !offOf(a).includes(p))) h += `<p class="c-p"><em>Often wrong</em>${parting(a, b) >= 0 ? 'A part that changes the answer when it is off is needed here. That does not say that it does this alone, or what it is for.' : 'The answer stays. That does not say that the part does nothing: others may make up for it, and the leading words may have moved.'}</p>`;
  h += `</div><table class="hs cp-f"><thead><tr><th scope="col"></th><th scope="col">A</th><th scope="col">B</th></tr></thead><tbody>${line('off', off(a), off(b))}${line('model', esc(f.model.name ?? f.model.file ?? 'unknown'), esc(g.model.name ?? g.model.file ?? 'unknown'))}${line('engine', esc(`${f.engine.name} ${f.engine.version ?? ''}`), esc(`${g.engine.name} ${g.engine.version ?? ''}`))}${line('device', esc(f.device.name ?? 'unknown'), esc(g.device.name ?? 'unknown'))}${line('threads', String(f.device.threads ?? 'unknown'), String(g.device.threads ?? 'unknown'))}${line('recorded', esc(whenOf(a)), esc(whenOf(b)))}${line('prompt', `${a.prompt.length} tokens`, `${b.prompt.length} tokens`)}${line('answer', `${a.output.length} tokens`, `${b.output.length} tokens`)}${paramsThatDiffer(a, b).map((p) => line(esc(p.name), esc(p.a), esc(p.b))).join('')}</tbody></table>`;
  h += `<table class="hs cp-f cp-n"><thead><tr><th scope="col">whole request</th><th scope="col">A</th><th scope="col">B</th><th scope="col">B − A</th></tr></thead><tbody>${numbers(a, b).map((n) => `<tr><td>${n.name}</td><td class="mono" title="${exactNs(n.a)}">${time(n.a)}</td><td class="mono" title="${exactNs(n.b)}">${time(n.b)}</td><td class="mono" title="${exactNs(n.b - n.a)}">${signedTime(n.b - n.a)}</td></tr>`).join('')}</tbody></table><p class="c-p cp-foot">${a.clocked && b.clocked ? `One request each, measured${badge('measured', 'clocks of the two recordings')}; no spread.` : 'Times are not measured: an emulated device ran one of them.'}${captured(a) !== captured(b) ? ' One of them holds captures, which take time of their own.' : ''}${[a, b].some((r) => offOf(r).some((p) => p.endsWith('=mean'))) ? ' For a mean the prompt runs twice, so the first token comes later.' : ''}</p>${href ? `<p class="c-p cp-foot"><a href="${esc(href)}" data-k="openb">Open B alone</a></p>` : ''}</div>`;
  return h;
}

const captured = (r: Recording): boolean => Object.keys(r.file.arrays ?? {}).length > 0;

/** numbers of the whole request that both have, ns. */
export function numbers(a: Recording, b: Recording): { name: string; a: number; b: number }[] {
  if (!a.clocked || !b.clocked) return [];
  const x = a.file.numbers ?? {}, y = b.file.numbers ?? {};
  return ([['first token', 'ttft_ns'], ['each next', 'tpot_ns'], ['end to end', 'e2e_ns']] as const).filter(([, k]) => x[k] && y[k]).map(([name, k]) => ({ name, a: x[k]!, b: y[k]! }));
}
