// The step card: what happens here, what it takes and hands on, how long it
// took, and the source with its line lit. Strings only.
import { stackRow } from './calls';
import { badge, bytes, count, esc, exactNs, inline, num, share, sig3, signs, time, timeParts, tokenText } from './format';
import { editorHref } from './editor';
import { hasFolder, ownCode } from './ownsource';
import { attrAt, isText, STAGE_LETTER, STAGE_NAME, type Recording } from './recording';
import type { Source, Span, Step } from './schema';
import { at, type State } from './state';
import { octagon, offersStops, placeAt, placeName, places, samePlace } from './stops';
import { touchedRows } from './stops-card';
import { rate } from './tracks';

/** splitText takes the first sentence as the lead and leaves the rest as paragraphs. */
export function splitText(text: string): { lede: string; rest: string[] } {
  const clean = text.trim().replace(/\r\n/g, '\n');
  const m = /^([\s\S]*?[.!?])(\s+|$)([\s\S]*)$/.exec(clean);
  if (!m || m[1]!.includes('\n\n')) {
    const [first = '', ...more] = clean.split(/\n\s*\n/);
    return { lede: first, rest: more };
  }
  return { lede: m[1]!, rest: m[3] ? m[3].split(/\n\s*\n/).filter((p) => p.trim()) : [] };
}

/** words of a step: its parts where the recording has them, else its text cut up. A step never reached says why first. */
function words(step: Step, live: boolean): { lede: string; rest: string[] } {
  const why = step.count === 0 && !live ? /^Not reached: .*$/m.exec(step.text)?.[0] : undefined;
  const w = step.short ? { lede: step.short, rest: (step.body ?? step.text).split(/\n\s*\n/) } : splitText(step.text);
  return why && (step.body || step.short) ? { lede: why, rest: [w.lede, ...w.rest.map((t) => t.replace(why, '').trim()).filter(Boolean)] } : w;
}

export function card(r: Recording, s: State): string {
  const i = at(r, s), step = r.steps[i]!, L = STAGE_LETTER[step.stage], next = r.steps[i + 1], spans = r.spansNear(i, s.pass, s.layer);
  const src = step.sources?.[s.source] ?? step.source, { lede, rest } = words(step, r.live);
  let h = `<div class="c-main"><div class="c-pad"><div class="c-where"><span class="sq ${L}" aria-hidden="true">${L}</span>${STAGE_NAME[step.stage]}<span class="pos">${i + 1} / ${r.steps.length}</span></div>`;
  h += `<h2>${esc(step.title)}</h2><span class="sym" title="${esc(src.symbol)}">${esc(src.symbol)}</span>`;
  if (lede) h += `<p class="lede">${inline(lede)}</p>`;
  h += rest.map((p) => `<p class="c-p">${inline(p)}</p>`).join('');
  const hands = step.hands_on ?? step.out;
  if (hands) h += `<p class="c-p"><em>Hands on</em>${inline(hands)}${next ? ` <em>to ${esc(next.label)}</em>` : ''}</p>`;
  if (step.wrong) h += `<p class="c-p"><em>Often wrong</em>${inline(step.wrong)}</p>`;
  if (step.link) h += `<p class="c-p"><a href="${esc(step.link)}">More on this step</a></p>`;
  return `${h}</div>${times(r, s, i)}${acts(r, s, i)}${values(r, s, step, spans)}${answerWords(r, s)}</div>${sourcePane(step, s, L)}`;
}

const WORDS = 9; // before and after the one being made

/** The answer around the word being made; each asks why it was said. */
function answerWords(r: Recording, s: State): string {
  const list = r.output, now = r.tokenOfPass(s.pass);
  if (!list.length) return '';
  const mid = now < 0 ? 0 : now, from = Math.max(0, Math.min(mid - WORDS, list.length - 2 * WORDS - 1)), to = Math.min(list.length, from + 2 * WORDS + 1);
  const word = (k: number): string => `<button data-why="${k}" data-k="why${k}"${k === now ? ' aria-current="true"' : ''} title="Why this token? Word ${k + 1} of ${list.length}, id ${list[k]!.id}">${esc(tokenText(list[k]!))}</button>`;
  return `<div class="c-words"><span>the answer: why this token?</span>${from ? '… ' : ''}${Array.from({ length: to - from }, (_, n) => word(from + n)).join('')}${to < list.length ? ' …' : ''}</div>`;
}

/** What can be done from here: stops, and the question about the whole request. */
function acts(r: Recording, s: State, i: number): string {
  const all = places(), p = offersStops() && r.roles[i]!.op ? placeAt(r, s) : '', here = typeof p !== 'string' && all.some((q) => samePlace(p, q));
  let h = `<div class="c-acts">${r.output.length ? '<button data-cmd="why" data-k="whyt">why this token? <kbd>i</kbd></button>' : ''}<button data-cmd="why.slow" data-k="whys">why slow? <kbd>⇧I</kbd></button>`;
  if (typeof p !== 'string') h += `<button data-cmd="stop.set" data-k="stop">${here ? 'clear the stop' : 'stop here'} <kbd>b</kbd></button>`;
  if (offersStops() && all.length) h += `<button data-cmd="stop.trace" data-k="stopt">trace again <kbd>⇧B</kbd></button>`;
  h += '</div>';
  if (offersStops() && all.length) h += `<p class="c-stops">${octagonSign}${all.length === 1 ? 'Stop' : `${all.length} stops`} for the next Trace: ${all.slice(0, 3).map((q) => esc(placeName(r, q))).join('; ')}${all.length > 3 ? ' and more' : ''}. <button data-cmd="stop.clear" data-k="stopc">clear</button></p>`;
  return h;
}

const octagonSign = `<svg width="11" height="11" aria-hidden="true">${octagon(5.5, 5.5, 4.5, 'none')}</svg> `;

/** A number that is not there: the step did not run then, or, where spans were lost, nobody knows. */
const none = (r: Recording, what: string): string => `<div><span class="none">${r.cutOff || r.live || !r.clocked ? 'not measured' : 'did not run'}</span>${what}</div>`;

function times(r: Recording, s: State, i: number): string {
  const step = r.steps[i]!;
  if (step.count === 0) return `<div class="c-time"><div><span class="none">${r.live ? 'not yet' : 'not reached'}</span>in this request</div></div>`;
  if (!r.timed(i)) return `<div class="c-time"><div><span class="none">not measured</span>ran ${count(step.count)} ${step.count === 1 ? 'time' : 'times'}</div></div>`;
  const layered = r.inLayers(i), inPass = r.inTokens(i) && r.passes.length > 1;
  const here = layered || inPass ? r.timeAt(i, s.pass, layered && s.depth === 'layer' ? s.layer : undefined) : step.time_ns;
  const what = layered && s.depth === 'layer' ? `L${s.layer}, this pass` : layered || inPass ? 'this pass' : step.count === 1 ? 'once' : `${count(step.count)} times`;
  const cell = (ns: number, t: string, prov: 'measured' | 'derived', how: string): string => `<div>${num(timeParts(ns), exactNs(ns), prov, how).replace('</span><span class="bd', `</span>${t}<span class="bd`)}</div>`;
  const clock = r.file.clock?.name ? `clock ${r.file.clock.name}, resolution ${r.file.clock.resolution_ns} ns` : 'clock not named in the recording';
  const part = (): string => `<div>${num([share(step.time_ns, r.total.ns), '%'], `${step.time_ns} of ${r.total.ns} ns`, 'derived', 'time of this step by end-to-end time').replace('</span><span class="bd', '</span>of the request<span class="bd')}</div>`;
  const first = here === null ? none(r, what) : cell(here, what, 'measured', clock);
  if (step.count === 1 && !layered && !inPass) return `<div class="c-time">${first}${part()}</div>`;
  const all = layered || inPass ? cell(step.time_ns, layered || step.count >= r.passes.length ? `${count(r.passes.length)} passes` : `in ${count(step.count)} ${step.count === 1 ? 'run' : 'runs'}`, 'measured', `sum of ${count(step.count)} runs, ${clock}`) : cell(step.time_ns / step.count, 'each', step.count === 1 ? 'measured' : 'derived', `${exactNs(step.time_ns)} by ${step.count}`);
  return `<div class="c-time">${first}${all}${part()}</div>`;
}

/** What went in and out here: from the spans under the playhead, else from the walk. */
function values(r: Recording, s: State, step: Step, spans: Span[]): string {
  const rows: [string, string][] = [], p = s.sel ? r.spans[r.spanIndex.get(s.sel) ?? -1] : spans[0];
  const a = attrAt(spans, 'in', isText) ?? step.in, z = attrAt(spans, 'out', isText) ?? step.out;
  const where = p?.layer === undefined || p.layer < 0 ? '' : ` in L${p.layer}`; // the time above may be of all layers
  if (a) rows.push(['in', esc(signs(a))]);
  if (z) rows.push(['out', esc(signs(z))]);
  if (p?.kernel) rows.push(['ran', esc(p.kernel)]);
  if (p?.bytes) {
    const bw = rate(p);
    rows.push(['data', `${bytes(p.bytes)}${badge('derived', 'from shapes')}${bw ? ` at ${sig3(bw)} GB/s${badge('derived', 'bytes by time')}` : ''}${where}`]);
  }
  if (p?.flops) rows.push(['work', `${sig3(p.flops / 1e6)} MFLOP${badge('derived', 'from shapes')}${where}`]);
  rows.push(...stackRow(r, step, p), ...touchedRows(r, step.id));
  if (s.sel && p) rows.unshift(['span', `${esc(p.name)} ${esc(p.id)}`]);
  return rows.length ? `<dl class="c-io">${rows.map(([k, v]) => `<dt>${k}</dt><dd title="${v.replace(/<[^>]*>/g, '')}">${v}</dd>`).join('')}</dl>` : '';
}

/** href of a line at its commit, where the repository is one that can be linked. */
export function sourceHref(src: Source): string | null {
  if (!src.repo || !src.path || src.commit === 'unknown' || !src.commit) return null;
  const base = /^https?:\/\//.test(src.repo) ? src.repo : /^[\w.-]+\/[\w.-]+$/.test(src.repo) ? `https://github.com/${src.repo}` : /^github\.com\//.test(src.repo) ? `https://${src.repo}` : '';
  return base ? `${base.replace(/\.git$/, '')}/blob/${src.commit}/${src.path}${src.line ? `#L${src.line}` : ''}` : null;
}

const commitName = (c: string): string => (/^[0-9a-f]{40}$/.test(c) ? c.slice(0, 7) : c);

/** spoken is what a screen reader hears at a step: where it is, how long it took, what it hands on. */
export function spoken(r: Recording, s: State, i: number): string {
  const step = r.steps[i]!, ns = r.timed(i) ? r.inLayers(i) || r.inTokens(i) ? r.timeAt(i, s.pass, r.inLayers(i) && s.depth === 'layer' ? s.layer : undefined) : step.time_ns : null;
  const where = `Step ${i + 1} of ${r.steps.length}, ${STAGE_NAME[step.stage]}: ${step.title}${s.depth === 'layer' ? `, layer ${s.layer}` : s.depth === 'token' ? `, pass ${s.pass}` : ''}.`;
  const took = step.count === 0 ? 'Not reached.' : ns === null ? 'Time not measured.' : `${time(ns)}${r.inLayers(i) || r.inTokens(i) ? ' in this pass' : ''}.`, hands = (step.hands_on ?? step.out ?? '').replace(/[`*]/g, '').trim();
  return `${where} ${took}${hands ? ` Hands on ${hands}${/[.!?]$/.test(hands) ? '' : '.'}` : ''}`;
}

export function sourcePane(step: Step, s: State, L: string): string {
  const chain = step.sources ?? [], src = chain[s.source] ?? step.source;
  if (!src.path) return `<div class="src"><div class="src-h"><span class="path">no source line in this recording</span></div></div>`;
  const href = sourceHref(src), where = `<b>${esc(src.path.split('/').slice(-2).join('/'))}:${src.line || '?'}</b>`;
  const edit = editorHref(src);
  const at0 = src.commit && src.commit !== 'unknown' ? `at ${esc(commitName(src.commit))}` : 'commit unknown';
  let h = `<div class="src ${L}">`;
  if (chain.length > 1) h += `<div class="chain" role="group" aria-label="From the model's line down to the kernel">${chain.map((c, n) => `<button data-source="${n}" data-k="c${n}" aria-pressed="${n === s.source}">${n ? '› ' : ''}${esc(c.symbol.split('.').pop() ?? c.path)}</button>`).join('')}</div>`;
  h += `<div class="src-h">${href ? `<a href="${esc(href)}" title="${esc(src.path)}" data-k="src">${where}</a>` : `<span class="path" title="${esc(src.path)}">${where}</span>`}${edit ? `<a class="at" href="${esc(edit)}" title="Open the file on this computer in the editor. It may differ from the one that ran." data-k="edit">edit</a>` : ''}<span class="at" title="${esc(src.commit)}">${at0}</span></div>`;
  h += code(src);
  return `${h}</div>`;
}

function code(src: Source): string {
  if (src.code?.lines?.length) return codeLines(src.code.first, src.code.lines, src.line);
  const own = ownCode(src), button = `<button data-cmd="source.folder" data-k="own">${hasFolder() ? 'another folder' : 'show it from a folder of mine'}</button>`;
  if (!own) return `<p class="src-own">${hasFolder() ? 'Your folder has no such file' : 'The code itself is not in this recording'}: ${button}</p>`;
  const told = own.found === 'there' ? 'from your folder' : own.found === 'moved' ? `from your folder, where it is at line ${own.line}` : 'from your folder, where the function is not near this line';
  return `<p class="src-own" title="${esc(own.file)}">${told}: ${button}</p>${codeLines(own.first, own.lines, own.line)}`;
}

function codeLines(first: number, lines: readonly string[], lit: number): string {
  const rows = lines.map((t, n) => `<div${first + n === lit ? ' class="lit" aria-current="true"' : ''}><i>${first + n}</i><span>${esc(t) || ' '}</span></div>`);
  return `<pre tabindex="0" role="region" aria-label="Source, line ${lit} is lit">${rows.join('')}</pre>`;
}
