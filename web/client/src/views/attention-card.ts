// The step card of the Attention view: the head, its scores among all heads,
// and what the row under the cursor looks at. Strings only.
import { sourcePane } from '../card';
import { badge, esc, tokenText } from '../format';
import type { Recording } from '../recording';
import type { Step, Token } from '../schema';
import type { State } from '../state';
import { SCORES, type Attention, type Mean } from './attention-data';

export interface Here { l: number; h: number; row: number; col: number; mean: Mean }

/** nameOf says which map is shown. */
export function nameOf(a: Attention, x: Here): string {
  if (x.mean === 'heads') return `Layer ${x.l}, mean of ${a.heads} heads`;
  if (x.mean === 'layers') return `Head ${x.h}, mean of ${a.layers} layers`;
  return x.mean === 'all' ? `Mean of all ${a.layers * a.heads} heads` : `Layer ${x.l}, head ${x.h}`;
}

/** shortName is the same for a narrow place. */
export function shortName(a: Attention, x: Here): string {
  if (x.mean === 'heads') return `L${x.l}, mean of ${a.heads} heads`;
  if (x.mean === 'layers') return `H${x.h}, mean of ${a.layers} layers`;
  return x.mean === 'all' ? `mean of ${a.layers * a.heads} heads` : `L${x.l} H${x.h}`;
}

const groupLine = (a: Attention, kv: number, h: number): string => {
  const per = kv > 0 && a.heads % kv === 0 ? a.heads / kv : 1, g = Math.floor(h / per), others = Array.from({ length: per }, (_, k) => g * per + k).filter((k) => k !== h);
  return per === 1 ? 'keys and values of its own' : `KV group ${g}, shared with ${others.map((k) => `H${k}`).join(others.length > 2 ? ', ' : ' and ')}`;
};

/** The line that made what is shown. Its chain down to the kernel can be walked only while the playhead is on that step. */
export function ownSource(step: Step, s: State): string {
  if (s.step === step.id) return sourcePane(step, s, 'C');
  const { sources: _, ...line } = step;
  return sourcePane(line, { ...s, source: 0 }, 'C');
}

export const bar = (part: number, color: string, w = 92): string =>
  `<svg width="${w}" height="9" aria-hidden="true"><rect width="${Math.max(part > 0 ? 1 : 0, Math.round(w * Math.min(1, part)))}" height="9" fill="${color}"/></svg>`;

function scoreTable(a: Attention, x: Here): string {
  const g = x.l * a.heads + x.h, N = a.layers * a.heads;
  const rows = SCORES.map((k) => {
    const none = k.id === 'repeat' && !a.repeats, v = none ? 'no token repeats' : a.scores[k.id][g]!.toFixed(k.digits) + badge('derived', k.how);
    return `<tr><td title="${esc(k.how)}">${k.id === 'first' ? 'to first token' : k.id === 'previous' ? 'to previous' : k.id === 'self' ? 'to itself' : k.id === 'repeat' ? 'to repeat’s next' : k.title}${k.unit ? `, ${k.unit}` : ''}</td><td class="mono">${v}</td><td class="mono">${none ? '' : a.rank(k.id, g)}</td></tr>`;
  });
  return `<table class="hs"><thead><tr><th scope="col">score</th><th scope="col">this head</th><th scope="col">rank of ${N}</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** looksAt lists the keys of a row by weight, and what is left of the sum. */
export function looksAt(map: ArrayLike<number>, n: number, row: number, most: number): { top: [number, number][]; others: number; rest: number; sum: number } {
  const all = Array.from({ length: row + 1 }, (_, j): [number, number] => [j, map[row * n + j]!]), top = [...all].sort((p, q) => q[1] - p[1] || p[0] - q[0]).slice(0, most);
  let sum = 0;
  for (let j = 0; j < n; j++) sum += map[row * n + j]!;
  return { top, others: row + 1 - top.length, rest: sum - top.reduce((s, q) => s + q[1], 0), sum };
}

export function attentionCard(r: Recording, s: State, a: Attention, tokens: Token[], x: Here, map: ArrayLike<number>): string {
  const text = (j: number): string => esc(tokens[j] ? tokenText(tokens[j]!) : `position ${j}`), kv = r.file.model.kv_heads ?? a.heads, win = a.window(x.l);
  const step: Step | undefined = r.steps.find((q) => /softmax/.test(q.id)) ?? r.steps.find((q) => /scores|attn/.test(q.id)), no = step ? r.stepIndex.get(step.id)! + 1 : 0;
  let h = `<div class="c-main"><div class="c-pad"><div class="c-where"><span class="sq C" aria-hidden="true">C</span>Compute${step ? ` / ${esc(step.label)}<span class="pos">${no} / ${r.steps.length}</span>` : ''}</div>`;
  h += `<h2>${esc(nameOf(a, x))}</h2><span class="sym">${x.mean ? 'average of weights' + badge('derived', 'arithmetic mean of the recorded weights') : esc(groupLine(a, kv, x.h))}</span>`;
  h += `<p class="lede">One row is one token, looking back.</p><p class="c-p">Each cell is the share of the row’s attention that goes to the column’s token. A row sums to one. These are weights the model used, not a reason for its answer.</p>${win ? `<p class="c-p"><em>Window</em>This layer looks ${win} tokens back at most; farther back every weight is 0.${badge('derived', 'from the weights: zero in every head and row')}</p>` : ''}</div>`;
  if (!x.mean) h += scoreTable(a, x);
  const q = looksAt(map, a.n, x.row, 6), has = q.top.some(([j]) => j === x.col), list = has || x.col > x.row ? q.top : [...q.top.slice(0, 5), [x.col, map[x.row * a.n + x.col]!] as [number, number]];
  const rest = q.sum - list.reduce((t, [, v]) => t + v, 0), others = x.row + 1 - list.length;
  h += `<table class="hs bars"><caption>Row ${x.row}&ensp;<b class="mono">${text(x.row)}</b>&ensp;looks at${badge('measured', 'softmax output, copied out by the engine')}</caption><tbody>`;
  h += list.map(([j, v]) => `<tr${j === x.col ? ' class="on"' : ''}><td class="mono tok">${text(j)}</td><td class="mono s">${j}</td><td>${bar(Math.sqrt(v), j === x.col ? 'var(--text)' : 'var(--fam-A)')}</td><td class="mono" data-exact="${v}" title="${v}">${v.toFixed(4)}</td></tr>`).join('');
  if (others > 0) h += `<tr><td class="s">${others} ${others === 1 ? 'other' : 'others'}</td><td></td><td></td><td class="mono">${rest.toFixed(4)}</td></tr>`;
  h += `<tr class="sum"><td>sum</td><td></td><td></td><td class="mono" title="${q.sum}">${q.sum.toFixed(4)}${badge('derived', 'sum of the row in double precision')}</td></tr></tbody></table></div>`;
  return h + (step ? ownSource(step, s) : '');
}
