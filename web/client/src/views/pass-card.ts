// The step card of the pass: the op's words, its time in the layer, in all
// layers and as a share of the pass, the spread, and the line that did it.
import { stackRow } from '../calls';
import { splitText, sourcePane } from '../card';
import { badge, bytes, esc, exactNs, inline, num, share, sig3, time, timeParts } from '../format';
import { attrAt, isText, type Recording } from '../recording';
import type { State } from '../state';
import { gbs, gflops, kernelsOf, spreadOf, type PassModel } from './pass-data';

const labelled = (html: string, what: string): string => html.replace('</span><span class="bd', `</span>${what}<span class="bd`);

export function passCard(r: Recording, s: State, m: PassModel, n: number): string | null {
  const o = m.rows[n], step = o && r.steps[o.i];
  if (!o || !step) return null;
  const src = step.sources?.[s.source] ?? step.source, cut = splitText(step.text), lede = step.short ?? cut.lede, rest = step.short ? (step.body ?? step.text).split(/\n\s*\n/) : cut.rest, next = m.rows[n + 1];
  let h = `<div class="c-main"><div class="c-pad"><div class="c-where"><span class="sq C" aria-hidden="true">C</span>Compute / pass ${m.pass.index}<span class="pos">${n + 1} / ${m.rows.length}</span></div><h2>${esc(step.title)}</h2><span class="sym" title="${esc(src.symbol)}">${esc(src.symbol)}${o.shape ? ` (${esc(o.shape)})` : ''}</span>`;
  h += `<p class="lede">${inline(lede)}</p>${rest.map((p) => `<p class="c-p">${inline(p)}</p>`).join('')}`;
  const hands = step.hands_on ?? step.out;
  if (hands) h += `<p class="c-p"><em>Hands on</em>${inline(hands)}${next ? ` <em>to ${esc(next.label)}</em>` : ''}</p>`;
  if (step.wrong) h += `<p class="c-p"><em>Often wrong</em>${inline(step.wrong)}</p>`;
  if (step.link) h += `<p class="c-p"><a href="${esc(step.link)}">More on this step</a></p>`;
  return `${h}</div>${times(r, s, m, n)}${facts(r, s, m, n)}</div>${sourcePane(step, s, 'C')}`;
}

function times(r: Recording, s: State, m: PassModel, n: number): string {
  const o = m.rows[n]!, one = o.layered ? o.layers[s.layer] ?? null : null, known = o.layers.filter((v) => v !== null), all = o.layered ? (known.length ? known.reduce((a, v) => a + v, 0) : null) : o.ns;
  const cell = (ns: number | null, what: string, how: string): string => `<div>${ns === null ? `<span class="none">${r.cutOff || r.live || !r.clocked ? 'not measured' : 'did not run'}</span>${what}` : labelled(num(timeParts(ns), exactNs(ns), 'measured', how), what)}</div>`;
  const part = all === null ? '<div></div>' : `<div>${labelled(num([share(all, m.pass.dur_ns), '%'], `${all} of ${m.pass.dur_ns} ns`, 'derived', 'time of the op by time of the pass'), 'of the pass')}</div>`;
  if (!o.layered) return `<div class="c-time">${cell(all, 'once', 'wall time of the op')}${part}<div></div></div>`;
  return `<div class="c-time">${cell(one, `layer ${s.layer}`, 'wall time of the op')}${cell(all, `${r.layers} layers`, 'sum over layers')}${part}</div>`;
}

function facts(r: Recording, s: State, m: PassModel, n: number): string {
  const o = m.rows[n]!, here = o.layered ? o.spans.filter((p) => p.layer === s.layer) : o.spans, rows: [string, string][] = [], step = r.steps[o.i]!, q = o.spread, l = spreadOf(o.layers.filter((v) => v !== null));
  const a = attrAt(here, 'in', isText) ?? step.in, z = attrAt(here, 'out', isText) ?? step.out, k = kernelsOf(r, o.spans)[0];
  if (q && q.n > 1) rows.push(['passes', `${time(q.min)} to ${time(q.max)}, n = ${q.n}${badge('measured', `median ${time(q.median)}`)}`]);
  if (l && l.n > 1) rows.push(['layers', `${time(l.min)} to ${time(l.max)}, n = ${l.n}${badge('measured', `median ${time(l.median)}`)}`]);
  const rate = gbs(o.bytes, o.ns), work = gflops(o.flops, o.ns);
  if (o.bytes) rows.push(['data', `${bytes(o.bytes)}${rate === null ? '' : ` at ${sig3(rate)} GB/s`}${badge('derived', 'bytes from shapes, by the time of the op')}`]);
  if (work !== null) rows.push(['work', `${sig3(o.flops / 1e6)} Mop at ${sig3(work)} Gop/s${badge('derived', 'operations from shapes, by the time of the op')}`]);
  if (a) rows.push(['in', esc(a)]);
  if (z) rows.push(['out', esc(z)]);
  if (k) rows.push(['ran', esc(`${k.name} ${k.variant}`.trim())]);
  rows.push(...stackRow(r, step, here[0]));
  return `<dl class="c-io pv-io">${rows.map(([x, v]) => `<dt>${x}</dt><dd>${v}</dd>`).join('')}</dl>`;
}
