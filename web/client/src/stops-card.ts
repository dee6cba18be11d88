// The panel in the place of the step card while the engine stands still: the
// values of the op as bars and numbers, an edit box, and the ways on. Strings only.
import { badge, count, esc, signs, time, tokenText } from './format';
import { positions } from './position';
import { STAGE_LETTER, type Recording } from './recording';
import { binned, numberOf, placeName, type StopState, type StopValues } from './stops';

/** What the panel keeps between two drawings: which part, which values, what was typed. */
export interface StopForm { part: string; index: number; count: number; value: string; error: string; log: string[]; busy: boolean }
export const FORM: StopForm = { part: '', index: 0, count: 1, value: '', error: '', log: [], busy: false };

/** four writes a value with four significant digits, small and large ones with an exponent. */
export function four(v: number): string {
  if (!Number.isFinite(v)) return Number.isNaN(v) ? 'NaN' : v > 0 ? '+Inf' : '-Inf';
  if (v === 0) return '0';
  const a = Math.abs(v);
  return (a >= 1e5 || a < 1e-3 ? v.toExponential(3) : v.toPrecision(4)).replace('-', '\u2212').replace('e\u2212', 'e-');
}

export const left = (ms: number): string => `${Math.floor(Math.max(0, ms) / 60_000)}:${String(Math.floor((Math.max(0, ms) % 60_000) / 1000)).padStart(2, '0')}`;

/** blockOf is how many values of a part belong together: those of a head, or the keys of one. */
export function blockOf(r: Recording, p: { shape: number[]; name: string }): { size: number; what: string } | null {
  const [a = 0, b = 0] = p.shape, dim = r.file.model.head_dim ?? 0;
  if (p.shape.length === 2) return { size: b, what: 'head' };
  const heads = dim ? a / dim : 0;
  return dim && Number.isInteger(heads) && heads > 1 && /^(mix|attn_[qkv])$/.test(p.name) ? { size: dim, what: 'head' } : null;
}

/** bars draws the vector around zero, the chosen values between two marks. */
export function bars(v: readonly number[], f: StopForm, W: number, H: number): string {
  const b = binned(v, Math.floor(W / 2)), max = Math.max(1e-30, ...b.filter(Number.isFinite).map(Math.abs)), bw = W / b.length, cy = H / 2, x = (i: number): number => (i / v.length) * W;
  let g = `<rect x="${x(f.index)}" y="0" width="${Math.max(2, x(f.index + f.count) - x(f.index))}" height="${H}" fill="var(--lit)"/>`;
  b.forEach((q, k) => {
    if (Number.isNaN(q)) { g += `<path d="M${k * bw} 2v${H - 4}" stroke="var(--text)" stroke-dasharray="2 2"/>`; return; }
    const h = (Math.abs(q) / max) * (cy - 3);
    g += `<rect x="${k * bw}" y="${q >= 0 ? cy - h : cy}" width="${Math.max(0.8, bw - (bw > 2 ? 0.8 : 0.2))}" height="${Math.max(0.5, h)}" fill="var(--${q >= 0 ? 'pos' : 'neg'})"/>`;
  });
  return `<svg class="hs-bars" viewBox="0 0 ${W} ${H}" width="100%" height="${H}" preserveAspectRatio="none" role="img" aria-label="${count(v.length)} values as bars around zero; values ${f.index} to ${f.index + f.count - 1} are chosen" data-stopbars><line x1="0" x2="${W}" y1="${cy}" y2="${cy}" class="hair2"/>${g}</svg>`;
}

const key = (k: string): string => `<kbd>${k}</kbd>`;

function numbers(v: readonly number[], f: StopForm, block: { size: number; what: string } | null): string {
  const from = Math.max(0, Math.min(f.index, v.length - 12)), cells = v.slice(from, from + 12).map((x, k) => {
    const i = from + k, on = i >= f.index && i < f.index + f.count;
    return `<button data-stopat="${i}" data-k="hn${k}" aria-pressed="${on}" title="value ${i}: ${x}"><i>${block ? `${Math.floor(i / block.size)}·${i % block.size}` : i}</i>${four(x)}</button>`;
  });
  return `<div class="hs-nums" role="group" aria-label="Values from ${from} on">${cells.join('')}</div>`;
}

export function stopCard(r: Recording, st: StopState, v: StopValues | null, f: StopForm): string {
  const p = st.at!, i = r.stepIndex.get(p.op), step = i === undefined ? undefined : r.steps[i], L = step ? STAGE_LETTER[step.stage] : 'C', word = positions(r)[p.token];
  const all = [...(st.in ?? []), ...(st.out ?? [])], own = (st.out ?? []).some((q) => q.id === f.part);
  let h = `<div class="c-main halt"><div class="c-pad"><div class="c-where"><span class="sq ${L}" aria-hidden="true">${L}</span>Standing still<span class="pos" title="then it goes on by itself"><span data-left>${left(st.left_ms)}</span> left<button data-stop="hold" data-k="hold">wait ${key('⇧H')}</button></span></div>`;
  h += `<h2>${esc(step?.title ?? p.op)}</h2><span class="sym">${p.layer >= 0 ? `layer ${p.layer}, ` : ''}token ${p.token}${word ? ` ${esc(signs(tokenText(word)))}` : ''}, pass ${st.pass}${st.waiting ? `; ${st.waiting} other ${st.waiting === 1 ? 'request waits' : 'requests wait'}` : ''}</span>`;
  h += `<div class="hs-ways">${([['continue', 'o', st.next?.length ? `next stop (${st.next.length})` : 'go on'], ['op', 'j', 'next op'], ['layer', 'k', 'next layer'], ['run', '⇧O', 'run to the end']] as const).map(([to, k, t]) => `<button data-stop="${to}" data-k="h${to}">${t} ${key(k)}</button>`).join('')}</div>`;
  h += `<div class="hs-parts seg" role="group" aria-label="What the op read and wrote">${all.map((q) => `<button data-stoppart="${q.id}" data-k="p${q.id}" aria-pressed="${q.id === f.part}">${q.id.startsWith('in') ? 'read' : 'wrote'} ${esc(q.name)} <small>${q.shape.join(' × ')}</small></button>`).join('')}</div>`;
  if (!v) return `${h}<p class="c-p">${all.length ? 'Fetching the values.' : 'This op reads an id and writes into the cache; there is nothing to show.'}</p></div></div>`;
  const x = v.values.map(numberOf), s = v.stats, block = blockOf(r, v), perBar = Math.ceil(x.length / Math.max(1, Math.min(x.length, 144)));
  h += `${bars(x, f, 288, 84)}<p class="hs-cap">${perBar > 1 ? `a bar is the largest of ${perBar} values` : 'a bar a value'}${badge('measured', 'copied out where the op ran')}${s.not_finite ? `; ${s.not_finite} are not finite` : ''}</p>`;
  h += `<dl class="c-io hs-io">${([['min', s.min], ['max', s.max], ['mean', s.mean], ['norm', s.norm]] as const).map(([n, q]) => `<dt>${n}</dt><dd title="${q}">${four(q)}</dd>`).join('')}</dl>${numbers(x, f, block)}`;
  const box = (name: 'index' | 'count' | 'value', label: string, value: string | number, w: number): string => `<label>${label}<input data-stopin="${name}" data-k="i${name}" value="${esc(value)}" size="${w}" inputmode="decimal" autocomplete="off" spellcheck="false"></label>`;
  h += `<div class="hs-edit">${box('index', 'from', f.index, 5)}${box('count', 'values', f.count, 5)}</div><div class="hs-edit">${block ? `<button data-stop="block" data-k="hblock">whole ${block.what} ${key('⇧U')}</button>` : ''}<button data-stop="all" data-k="hall">all ${key('⇧A')}</button></div>`;
  h += own
    ? `<div class="hs-edit">${box('value', `to ${key('e')}`, f.value, 9)}</div><div class="hs-edit"><button data-stop="set" data-k="hset">set ${key('↵')}</button><button data-stop="scale" data-k="hscale">times ${key('⇧M')}</button><button data-stop="zero" data-k="hzero">zero ${key('⇧N')}</button></div>`
    : `<p class="hs-cap">An input cannot be changed: the op has run. Change what it wrote.</p>`;
  h += `<p class="hs-say" role="status">${esc(f.error)}</p>${f.log.length ? `<ol class="hs-log">${f.log.map((t) => `<li>${esc(t)}</li>`).join('')}</ol>` : ''}`;
  return `${h}</div></div>`;
}

/** waitNote says that this request waits for another one. */
export const waitNote = (r: Recording, st: StopState): string => (st.paused && st.at
  ? `<b>The engine stands still</b> for another request, at ${esc(placeName(r, st.at))}. This one goes on in ${left(st.left_ms)} at the latest.` : '');

/** touchedRows are what happened at this step in a finished recording: where it stood, what was changed. */
export function touchedRows(r: Recording, step: string): [string, string][] {
  const q = r.file.request, rows: [string, string][] = [];
  const where = (x: { layer: number; token: number }): string => `${x.layer >= 0 ? `L${x.layer}, ` : ''}token ${x.token}`;
  for (const s of (q.stops ?? []).filter((x) => x.op === step).slice(0, 6)) rows.push(['stood', `${esc(where(s))}, ${time(s.dur_ns)}${badge('measured')} then ${esc(s.ended)}`]);
  for (const e of (q.edits ?? []).filter((x) => x.op === step).slice(0, 8)) rows.push(['edit', esc(editLine(e))]);
  return rows;
}

/** editLine says a change in a line. */
export function editLine(e: { part: string; index: number; count: number; how: string; factor?: number; layer: number; token: number; old: (number | string)[]; new: (number | string)[] }): string {
  const range = e.count === 1 ? `[${e.index}]` : `[${e.index}..${e.index + e.count - 1}]`, at = `${e.layer >= 0 ? `L${e.layer}, ` : ''}token ${e.token}`;
  const one = e.count === 1 ? `, ${four(numberOf(e.old[0] ?? NaN))} to ${four(numberOf(e.new[0] ?? NaN))}` : '';
  const how = e.how === 'zero' ? 'zero' : e.how === 'scale' ? `times ${four(e.factor ?? NaN)}` : e.count === 1 ? 'set' : `set to ${four(numberOf(e.new[0] ?? NaN))}${new Set(e.new).size > 1 ? ' and on' : ''}`;
  return `${at}: ${e.part}${range} ${how}${one}`;
}
