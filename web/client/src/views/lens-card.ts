// The step card of the Lens view: what would be said here, how sure, and
// since when. Strings only.
import { badge, esc, tokenText } from '../format';
import { wordAt } from '../position';
import type { State } from '../state';
import { bar, ownSource } from './attention-card';
import type { Cell, Lens, Row } from './lens-data';

export const rowName = (row: Row): string => (row.half === 'A' ? `L${row.layer}, after attention` : `L${row.layer}`);

/** odds writes a probability to four digits, small ones as less than the last digit. */
export const odds = (p: number): string => (p > 0 && p < 0.00005 ? '<0.0001' : p.toFixed(4));

export function lensCard(ln: Lens, s: State, row: Row, pos: number, c: Cell): string {
  const r = ln.r, input = ln.inputs[pos], k = wordAt(r, pos), q = k >= 0 ? ln.said(k) : null, step = r.steps.find((x) => /lm_head|logits/.test(x.id)) ?? r.steps.at(-1)!, last = row.layer === ln.layers - 1 && row.half === 'F', no = r.stepIndex.get(step.id)! + 1;
  const word = (id: number): string => esc(ln.text(id)), lead = c.top[0]!;
  let h = `<div class="c-main"><div class="c-pad"><div class="c-where"><span class="sq C" aria-hidden="true">C</span>Compute / ${esc(step.label)}<span class="pos">${no} / ${r.steps.length}</span></div>`;
  h += `<h2>${row.half === 'A' ? 'In' : 'After'} layer ${row.layer}, <span class="mono wd">${word(lead.id)}</span></h2><span class="sym">position ${pos}, input ${esc(input ? tokenText(input) : '')}</span>`;
  h += `<p class="lede">${last ? 'This row is what the model really says.' : 'What would the model say if it stopped here?'}</p><p class="c-p">The residual ${row.half === 'A' ? 'between attention and feed-forward' : 'after this block'} is scaled by the last norm and multiplied with the head, as if no layer followed. The norm is computed anew for each row.</p>`;
  h += '<p class="c-p"><em>Often wrong</em>Early rows are not thoughts. The early lines are not yet written in the head’s terms.</p></div>';
  h += `<table class="hs bars"><thead><tr><th scope="col">would say</th><th></th><th></th><th scope="col">probability</th></tr></thead><tbody>${c.top.map((w) => `<tr${w.id === ln.final(pos) ? ' class="on"' : ''}><td class="mono tok" title="id ${w.id}">${word(w.id)}</td><td></td><td>${bar(Math.sqrt(w.p), w.id === ln.final(pos) ? 'var(--text)' : 'var(--fam-E)')}</td><td class="mono" title="${w.p}">${odds(w.p)}</td></tr>`).join('')}</tbody></table>`;
  const line = (a: string, b: string): string => `<tr><td>${a}</td><td></td><td class="mono">${b}</td></tr>`, stays = ln.stays(pos);
  h += `<table class="hs"><tbody>${line('entropy', c.entropy === null ? 'not in this recording' : `${c.entropy.toFixed(2)} bits${badge('derived', 'over the whole vocabulary, by the engine')}`)}${line(`rank of <span class="mono">${word(ln.final(pos))}</span>, the final word`, c.rank === null ? `below ${ln.ranks}` : `${c.rank}${badge('derived', 'words of this row with a higher logit, plus one')}`)}${line('first row that says it and stays', `L${stays}`)}${q ? line('word of the answer here', `${word(q.said)}${q.said === ln.final(pos) ? '' : ', drawn, not the likeliest'}`) : line('the text goes on with', ln.inputs[pos + 1] ? esc(tokenText(ln.inputs[pos + 1]!)) : '')}</tbody></table>`;
  h += '<dl class="c-io"><dt>dot</dt><dd>says the final word already</dd><dt>rule</dt><dd>word differs from the row above</dd></dl></div>';
  return h + ownSource(step, s);
}
