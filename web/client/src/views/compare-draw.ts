// The drawings of the Compare view: how the leading words moved, where the
// middle half of the runs of a step lies, and the lens with the cells that
// say another word. SVG strings only. A is hollow, B is filled, everywhere.
import { cutMiddle, esc, sig3, time } from '../format';
import type { LensDiff, Spread, StepDiff, WordChange } from './compare-data';

export const signedTime = (ns: number): string => (ns === 0 ? '0 ns' : `${ns < 0 ? '−' : '+'}${time(Math.abs(ns))}`);
const prob = (p: number): string => (p > 0 && p < 0.0005 ? '<0.001' : p.toFixed(3));
const still = (w: WordChange): boolean => Math.abs(w.delta ?? 0) < 0.0005;
export const changeText = (w: WordChange): string => (w.delta === null ? '–' : still(w) ? (w.bound ? '–' : '0.000') : `${w.bound ? (w.delta < 0 ? '≤ ' : '≥ ') : ''}${w.delta < 0 ? '−' : '+'}${Math.abs(w.delta).toFixed(3)}`);

export const markA = (x: number, y: number, r = 3.5): string => `<circle cx="${x}" cy="${y}" r="${r}" fill="var(--page)" stroke="var(--text)" stroke-width="1.5"/>`;
export const markB = (x: number, y: number, r = 3.5): string => `<rect x="${x - r}" y="${y - r}" width="${2 * r}" height="${2 * r}" fill="var(--text)"/>`;

export const WORD_ROW = 19;
export const wordsHeight = (n: number): number => 34 + n * WORD_ROW;

/** wordsSvg draws a line from the probability in A to the one in B for each word. now is the word said in A and in B. */
export function wordsSvg(list: readonly WordChange[], said: { a: string; b: string }, W: number): string {
  const left = Math.min(110, W * 0.27), nums = 176, room = W - left - nums - 14, plot = room >= 48, x = (p: number): number => left + p * room, chars = Math.max(4, Math.floor((left - 8) / 7.3));
  let s = '';
  for (const p of plot ? [0, 0.5, 1] : []) s += `<path d="M${x(p) + 0.5} 18v${list.length * WORD_ROW + 4}" class="hair"/><text x="${x(p)}" y="12" class="m mid s cap">${p}</text>`;
  const c1 = W - 120, c2 = W - 68;
  s += `<text x="${c1}" y="12" class="end s cap">A</text><text x="${c2}" y="12" class="end s cap">B</text><text x="${W}" y="12" class="end s cap">B − A</text>`;
  list.forEach((w, n) => {
    const y = 22 + n * WORD_ROW + 10, by = w.key === said.a || w.key === said.b, a = w.a, b = w.b;
    const tip = `${w.text}: A ${a ?? `below ${w.mostA}`}, B ${b ?? `below ${w.mostB}`}${w.delta === null ? '' : `, change ${w.bound ? 'at least ' : ''}${w.delta}`}`;
    const up = (w.delta ?? 0) >= 0;
    s += `<g><title>${esc(tip)}</title><rect y="${y - 13}" width="${W}" height="${WORD_ROW}" fill="transparent"/><text x="0" y="${y}" class="m${by ? ' b' : ''}">${esc(cutMiddle(w.text, chars))}</text>`;
    if (plot) s += a !== null && b !== null ? `<path d="M${x(a)} ${y - 4}H${x(b)}" stroke="${up ? 'var(--pos)' : 'var(--neg)'}" stroke-width="2.5"/>` : `<path d="M${x(a ?? 0)} ${y - 4}H${x(b ?? 0)}" stroke="${up ? 'var(--pos)' : 'var(--neg)'}" stroke-width="1.5" stroke-dasharray="2 2.5"/>`;
    if (plot && a !== null) s += markA(x(a), y - 4);
    if (plot && b !== null) s += markB(x(b), y - 4, 3);
    s += `<text x="${c1}" y="${y}" class="m end${a === null ? ' s cap' : ''}">${a === null ? `&lt;${w.mostA.toFixed(3)}` : esc(prob(a))}</text><text x="${c2}" y="${y}" class="m end${b === null ? ' s cap' : ''}">${b === null ? `&lt;${w.mostB.toFixed(3)}` : esc(prob(b))}</text><text x="${W}" y="${y}" class="m end" fill="${w.delta === null || still(w) ? 'var(--text-2)' : up ? 'var(--pos)' : 'var(--neg)'}">${esc(changeText(w))}</text></g>`;
  });
  return s;
}

/** Ratios to A's median, from a quarter to four times, on a log scale. */
const OCT = 2;
const rx = (v: number, w: number): number => 6 + ((Math.max(-OCT, Math.min(OCT, Math.log2(v))) + OCT) / (2 * OCT)) * (w - 12);

export const rangeAxis = (w: number, h: number): string =>
  [-2, -1, 0, 1, 2].map((e) => `<text x="${rx(2 ** e, w)}" y="${h - 4}" class="m mid s cap">${2 ** e}</text>`).join('');

/** rangeSvg draws the middle half of the runs of one step in A above and in B below, as multiples of A's median. */
export function rangeSvg(d: StepDiff, w: number, h: number): string {
  const base = d.a?.median || d.b?.median || 1, y = h / 2, one = (q: Spread, dy: number, thick: number): string => (q.n > 1 && q.median > 0 ? `<path d="M${rx(Math.max(1e-9, q.q1 / base), w)} ${y + dy}H${rx(Math.max(1e-9, q.q3 / base), w)}" stroke="${thick > 2 ? 'var(--text)' : 'var(--graphic)'}" stroke-width="${thick}"/>` : '');
  let s = `<path d="M${rx(1, w)} 0v${h}" class="hair2"/>${[0.25, 0.5, 2, 4].map((v) => `<path d="M${rx(v, w)} 0v${h}" class="hair"/>`).join('')}`;
  if (d.a) s += one(d.a, -3.5, 2) + markA(rx(1, w), y - 3.5, 2.5);
  if (d.b) { const v = Math.max(1e-9, d.b.median / base); s += one(d.b, 3.5, 3) + markB(rx(v, w), y + 3.5, 2.5) + (Math.abs(Math.log2(v)) > OCT ? `<text x="${v > 1 ? w - 14 : 14}" y="${y + 8}" class="cap ${v > 1 ? 'end' : ''}">${v > 1 ? '→' : '←'}</text>` : ''); }
  return s;
}

export const spreadText = (q: Spread | null): string => (q ? (q.n > 1 ? `${time(q.q1)} to ${time(q.q3)}, ${q.n} runs` : 'one run') : 'not there');

export interface LensBox { left: number; top: number; cw: number; ch: number; w: number; h: number }

/** lensBox places the grid: cells as large as fit, at most 14 px high. */
export function lensBox(d: LensDiff, W: number, H: number): LensBox {
  const left = 30, top = 4, cw = (W - left - 2) / d.n, ch = Math.max(2, Math.min(14, (H - top - 20) / d.layers));
  return { left, top, cw, ch, w: cw * d.n, h: ch * d.layers };
}

/** One path for all cells of a kind: runs along a row become one rectangle. */
function cellsPath(d: LensDiff, b: LensBox, kind: number): string {
  let s = '';
  const gap = b.ch > 4 ? 1 : 0;
  for (let l = 0; l < d.layers; l++) for (let p = 0; p < d.n; p++) {
    if (d.cells[l * d.n + p] !== kind) continue;
    let e = p + 1;
    if (kind !== 1 || b.cw < 3) while (e < d.n && d.cells[l * d.n + e] === kind) e++;
    const f = (v: number): string => v.toFixed(1);
    s += `M${f(b.left + p * b.cw)} ${f(b.top + l * b.ch)}h${f((e - p) * b.cw - (b.cw > 4 ? 1 : 0))}v${f(b.ch - gap)}h${f(-(e - p) * b.cw + (b.cw > 4 ? 1 : 0))}z`;
    p = e - 1;
  }
  return s;
}

/** lensDiffSvg draws which cells say another word; prompt is how many positions read the prompt. */
export function lensDiffSvg(d: LensDiff, b: LensBox, prompt: number, now: { layer: number; pos: number }): string {
  let s = `<defs><pattern id="cp-no" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0v5" stroke="var(--rule-2)"/></pattern></defs>`;
  s += `<path d="${cellsPath(d, b, 2)}" fill="url(#cp-no)"/><path d="${cellsPath(d, b, 0)}" fill="var(--lit)"/><path d="${cellsPath(d, b, 1)}" fill="var(--st-C)"/>`;
  const every = Math.ceil(d.layers / Math.max(1, Math.floor(b.h / 15)) / 5) * 5 || 5;
  for (let l = 0; l < d.layers; l++) if (l === d.layers - 1 || (l % every === 0 && (d.layers - 1 - l) * b.ch > 11)) s += `<text x="${b.left - 5}" y="${b.top + l * b.ch + b.ch / 2 + 4}" class="m end s cap">L${l}</text>`;
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((t) => t * b.cw >= 30) ?? 2000;
  for (let p = 0; p < d.n; p += step) s += `<text x="${b.left + (p + 0.5) * b.cw}" y="${b.top + b.h + 13}" class="m mid s cap">${p}</text>`;
  if (prompt > 0 && prompt < d.n) s += `<path d="M${b.left + prompt * b.cw - 0.5} ${b.top - 3}v${b.h + 5}" stroke="var(--st-D)"/>`;
  if (now.pos < d.n) s += `<rect x="${b.left + now.pos * b.cw - 1}" y="${b.top + now.layer * b.ch - 1}" width="${Math.max(4, b.cw + 1)}" height="${Math.max(4, b.ch + 1)}" fill="none" stroke="var(--page)" stroke-width="4"/><rect x="${b.left + now.pos * b.cw - 1}" y="${b.top + now.layer * b.ch - 1}" width="${Math.max(4, b.cw + 1)}" height="${Math.max(4, b.ch + 1)}" fill="none" stroke="var(--text)" stroke-width="2"/>`;
  return s;
}

export interface Shot {
  width: number; title: string; sides: [string, string]; answers: [string, string]; sentence: string;
  words: readonly WordChange[]; said: { a: string; b: string }; wordTitle: string;
  lens: { d: LensDiff; prompt: number; now: { layer: number; pos: number }; title: string } | null;
  steps: readonly StepDiff[]; stepTitle: string; measure(text: string, px: number): number;
}

function wrap(text: string, w: number, measure: Shot['measure'], most: number): string[] {
  const out: string[] = [];
  for (const word of text.replace(/\s*\n\s*/g, ' ↵ ').split(' ')) {
    const last = out.at(-1);
    if (last !== undefined && measure(`${last} ${word}`, 12) <= w) out[out.length - 1] = `${last} ${word}`;
    else out.push(word);
  }
  return out.length > most ? [...out.slice(0, most - 1), `${out[most - 1]} …`] : out;
}

/** comparePicture is the whole view as one drawing that stands alone. */
export function comparePicture(q: Shot): string {
  const W = q.width, col = (W - 40 - 28) / 2, xB = 20 + col + 28, rows = q.steps.slice(0, 24), lines = q.answers.map((t) => wrap(t, col, q.measure, 8)) as [string[], string[]];
  let y = 28, s = `<text x="20" y="${y}" class="b big">${esc(q.title)}</text>`;
  y += 26;
  [20, xB].forEach((x, n) => {
    s += (n ? markB : markA)(x + 5, y - 4) + `<text x="${x + 16}" y="${y}" class="b">${n ? 'B' : 'A'}  ${esc(cutMiddle(q.sides[n]!, Math.floor(col / 6.6)))}</text>`;
    lines[n]!.forEach((t, k) => { s += `<text x="${x}" y="${y + 19 + k * 17}">${esc(t)}</text>`; });
  });
  y += 19 + 17 * Math.max(lines[0].length, lines[1].length) + 8;
  s += `<text x="20" y="${y}" class="s">${esc(q.sentence)}</text>`;
  y += 28;
  const top = y;
  s += `<text x="20" y="${y}" class="b">${esc(q.wordTitle)}</text><g transform="translate(20 ${y + 8})">${q.words.length ? wordsSvg(q.words, q.said, col) : '<text y="14" class="s">not in both recordings</text>'}</g>`;
  let left = y + 8 + (q.words.length ? wordsHeight(q.words.length) : 24);
  if (q.lens) {
    const b = lensBox(q.lens.d, col, 230);
    s += `<text x="20" y="${left + 18}" class="b">${esc(q.lens.title)}</text><g transform="translate(20 ${left + 26})">${lensDiffSvg(q.lens.d, b, q.lens.prompt, q.lens.now)}</g>`;
    left += 26 + b.h + 24;
  }
  const num = xB + col - 130, plot = 120;
  s += `<text x="${xB}" y="${top}" class="b">${esc(q.stepTitle)}</text><text x="${num - 142}" y="${top + 18}" class="end s cap">A, median</text><text x="${num - 71}" y="${top + 18}" class="end s cap">B, median</text><text x="${num}" y="${top + 18}" class="end s cap">B − A</text><g transform="translate(${num + 10} ${top + 2})">${rangeAxis(plot, 20)}</g>`;
  rows.forEach((d, n) => {
    const ry = top + 36 + n * 18, grey = d.news === true ? '' : ' s';
    s += `<text x="${xB}" y="${ry}"${grey ? ' class="s"' : ''}>${esc(d.label)}</text><text x="${num - 142}" y="${ry}" class="m end${grey}">${d.a ? time(d.a.median) : '–'}</text><text x="${num - 71}" y="${ry}" class="m end${grey}">${d.b ? time(d.b.median) : '–'}</text><text x="${num}" y="${ry}" class="m end${d.news ? ' b' : grey}">${d.delta === null ? '–' : signedTime(d.delta)}</text><g transform="translate(${num + 10} ${ry - 13})">${rangeSvg(d, plot, 18)}</g>`;
  });
  const H = Math.max(left, top + 36 + rows.length * 18) + 12;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${W} ${H}" width="${W}" height="${H}" role="img">${s}</svg>`;
}

export const percent = (part: number, whole: number): string => `${sig3((100 * part) / Math.max(1, whole))} %`;
