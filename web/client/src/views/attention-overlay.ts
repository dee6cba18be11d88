// Labels, cursors, legend and row profile of the Attention view, as SVG text.
// Strings only.
import { cutMiddle, esc, svgBadge, tokenText } from '../format';
import type { Token } from '../schema';
import type { Attention, ScoreKind } from './attention-data';
import { maskPath, tileAt, windowPath, type GridLayout, type Layout, type MapLayout } from './attention-layout';
import { topOf } from './attention-draw';
import { shortName, type Here } from './attention-card';

export interface Scene { a: Attention; tokens: Token[]; prompt: number; lay: Layout; here: Here; map: ArrayLike<number>; order: ArrayLike<number>; score: ScoreKind | null; per: number; linear: boolean; own: boolean; skipFirst: boolean; ramp: string[]; W: number; H: number }

const say = (q: Scene, j: number, most = 13): string => esc(cutMiddle(q.tokens[j] ? tokenText(q.tokens[j]!) : `#${j}`, most));

/** What does not change while the cursor moves: all labels, too, since text is what costs. */
export function still(q: Scene): string {
  return (q.lay.grid ? gridLabels(q, q.lay.grid) + lineNames(q, q.lay.grid) : '') + (q.lay.map ? mapFrame(q, q.lay.map) + legend(q, q.lay.map) + axes(q, q.lay.map) : '');
}

/** What moves with head, row and key, in parts: each is drawn again only when it has changed. */
export function moving(q: Scene): string[] {
  const g = q.lay.grid, m = q.lay.map;
  return [g ? gridCursor(q, g) : '', m ? mapName(q, m) : '', m ? mapCursor(q, m) + cursorNames(q, m) : '', m ? readout(q, m) : '', m ? profile(q, m) : '', m ? lookedAt(q, m) : ''];
}

/** A label that stands out from those around it: the page's colour behind it hides what it lies on. */
const over = (x: number, y: number, w: number, h: number, at: string, cls: string, text: string): string =>
  `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="var(--page)"/><text ${at} class="${cls}">${text}</text>`;

function gridLabels(q: Scene, g: GridLayout): string {
  const sorted = !!q.score, mid = g.tile / 2;
  let s = '';
  if (sorted) return `${svgBadge(g.x + 3, g.y - 24, 'derived')}<text x="${g.x + 11}" y="${g.y - 20}" class="cap">${esc(q.score!.title)}${q.score!.unit ? `, ${q.score!.unit}` : ''}: highest first</text><text x="${g.x + 11}" y="${g.y - 7}" class="cap s">left to right, then down</text>`;
  if (g.pitch >= 18) for (let c = 0; c < g.cols; c++) s += `<text x="${tileAt(g, c, 0, q.per)[0] + mid}" y="${g.y - 6}" class="m mid s cap">H${c}</text>`;
  if (q.per > 1) for (let k = 0, n = Math.ceil(g.cols / q.per); k < n; k++) {
    const x0 = tileAt(g, k * q.per, 0, q.per)[0], x1 = tileAt(g, Math.min(g.cols, (k + 1) * q.per) - 1, 0, q.per)[0] + g.tile, room = x1 - x0, label = room > 46 ? `KV ${k}` : room > 14 ? String(k) : '';
    s += `<path d="M${x0 + 0.5} ${g.y - 19.5}v-4h${room - 1}v4" fill="none" stroke="var(--st-S)"/>`;
    if (label) s += `<rect x="${(x0 + x1) / 2 - label.length * 4 - 2}" y="${g.y - 33}" width="${label.length * 8 + 4}" height="13" fill="var(--page)"/><text x="${(x0 + x1) / 2}" y="${g.y - 20}" class="mid cap" fill="var(--st-S)">${label}</text>`;
  }
  return s;
}

const frame = (x: number, y: number, w: number, h: number): string =>
  `<rect x="${x - 2}" y="${y - 2}" width="${w + 4}" height="${h + 4}" fill="none" stroke="var(--page)" stroke-width="4"/><rect x="${x - 2}" y="${y - 2}" width="${w + 4}" height="${h + 4}" fill="none" stroke="var(--text)" stroke-width="2"/>`;

function gridCursor(q: Scene, g: GridLayout): string {
  const { l, h, mean } = q.here, sorted = !!q.score, place = (i: number): [number, number] => tileAt(g, i % g.cols, Math.floor(i / g.cols), q.per), at = sorted ? Array.prototype.indexOf.call(q.order, l * q.a.heads + h) as number : l * g.cols + h, [x, y] = place(at);
  let s = '';
  if (mean === 'heads' && !sorted) s += frame(g.x, y, g.w - (g.pitch - g.tile), g.tile);
  else if (mean === 'layers' && !sorted) s += frame(x, g.y, g.tile, g.h - (g.pitch - g.tile));
  else if (mean === 'all') s += frame(g.x, g.y, g.w - (g.pitch - g.tile), g.h - (g.pitch - g.tile));
  else s += frame(x, y, g.tile, g.tile);
  const line = Math.floor(at / g.cols), ly = g.y + line * g.pitch + g.tile / 2 + 4, thin = g.pitch < 11 ? 2 * 11 : 13;
  s += over(0, ly - thin / 2 - 4, g.x - 5, thin, `x="${g.x - 8}" y="${ly}"`, 'm end cap b', lineName(q, g, line));
  if (!sorted) s += `<rect x="${x + g.tile / 2 - 12}" y="${g.y - 17}" width="24" height="14" fill="var(--page)"/><text x="${x + g.tile / 2}" y="${g.y - 6}" class="m mid cap b">H${h}</text>`;
  const m = q.lay.map;
  if (m) s += `<path d="M${mean === 'heads' || mean === 'all' ? g.x + g.w - (g.pitch - g.tile) + 3 : x + g.tile + 3} ${Math.round(y + g.tile / 2) + 0.5}H${Math.round(g.x + g.w + 10) + 0.5}V${m.y - 15.5}H${m.x - m.label + 8}" fill="none" stroke="var(--graphic)"/>`;
  return s;
}

const lineName = (q: Scene, g: GridLayout, r: number): string => (q.score ? q.a.scores[q.score.id][q.order[r * g.cols]!]!.toFixed(Math.min(2, q.score.digits)) : `L${r}`);

/** Names of the lines: layers, or the score of the first head in a line. Thinned where lines are close. */
function lineNames(q: Scene, g: GridLayout): string {
  const step = Math.max(1, Math.ceil(11 / g.pitch));
  let s = '';
  for (let r = 0; r < g.rows; r += step) s += `<text x="${g.x - 8}" y="${g.y + r * g.pitch + g.tile / 2 + 4}" class="m end cap s">${lineName(q, g, r)}</text>`;
  return s;
}

function mapFrame(q: Scene, m: MapLayout): string {
  let s = `<defs><pattern id="at-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="5" stroke="var(--rule)" stroke-width="1"/></pattern></defs><path d="${maskPath(m)}" fill="url(#at-hatch)" shape-rendering="crispEdges"/>`;
  if (q.skipFirst && m.c0 === 0) s += `<rect x="${m.x}" y="${m.y}" width="${m.cell}" height="${m.size}" fill="var(--inset)"/>`;
  const cut = q.prompt - m.r0;
  if (cut > 0 && cut < m.n) {
    const to = m.x + Math.min(m.n, Math.max(0, q.prompt - m.c0)) * m.cell, y = m.y + cut * m.cell - 0.5;
    s += `<path d="M${m.x - 6} ${y}H${to + 4}" stroke="var(--st-D)"/>${m.x + m.size - to > 130 ? `<text x="${to + 9}" y="${y + 4}" class="cap halo" fill="var(--st-D)">rows below: the answer</text>` : ''}`;
  }
  return m.size < 330 ? s : s + `<text x="${m.x + m.size}" y="${m.y - 10}" class="end cap s">column: token looked at, row: token looking</text>`;
}

/** The legend lies in the masked half, or beside a map that is cut out of a larger one. */
function legend(q: Scene, m: MapLayout): string {
  const w = 132, x = m.side ? m.x + m.size + 16 : m.x + m.size - w - 14, y = m.y + 10, W = m.side ? 76 : w, top = q.own ? topOf(q.map, q.a.n, q.skipFirst) : 1;
  if (!m.side && m.size < 250) return '';
  let s = `<rect x="${x - 10}" y="${y - 4}" width="${W + 20}" height="52" fill="var(--page)"/><text x="${x}" y="${y + 8}" class="cap s">weight, ${q.linear ? 'linear' : '√'}${q.own ? ', to the map’s largest' : ''}</text>`;
  for (let k = 0; k < 64; k++) s += `<rect x="${x + (k * W) / 64}" y="${y + 14}" width="${W / 64 + 0.4}" height="9" fill="${q.ramp[Math.round((k / 63) * 255)]}"/>`;
  s += `<rect x="${x + 0.5}" y="${y + 14.5}" width="${W - 1}" height="8" class="hair2"/>`;
  for (const v of (m.side ? [0, 0.25, 1] : q.linear ? [0, 0.25, 0.5, 1] : [0, 0.1, 0.25, 0.5, 1])) {
    const part = q.linear ? v : Math.sqrt(v), px = x + part * W, shown = v * top, t = q.own ? shown.toPrecision(2).replace(/\.?0+$/, '') : String(v).replace(/^0\./, '.');
    if (q.own && v !== 0 && v !== 1 && v !== 0.25) continue;
    s += `<path d="M${px} ${y + 23}v3" class="hair2"/><text x="${px}" y="${y + 37}" class="m s cap ${v === 0 ? '' : v === 1 ? 'end' : 'mid'}">${t}</text>`;
  }
  return s;
}

/** Where the label of a row or, on its side, of a column stands. */
const labelAt = (m: MapLayout, k: number, down: boolean): string =>
  down ? `x="${m.x - 7}" y="${m.y + k * m.cell + m.cell / 2 + 4}"` : `transform="translate(${m.x + k * m.cell + m.cell / 2 + 4} ${m.y + m.size + 7}) rotate(-90)"`;

/** Token texts on both axes, thinned where cells are small. */
function axes(q: Scene, m: MapLayout): string {
  let s = '';
  for (const [from, down] of [[m.r0, true], [m.c0, false]] as const) for (let k = 0; k < m.n; k += m.step) s += `<text ${labelAt(m, k, down)} class="m end s${m.font < 12 ? ' cap' : ''}">${say(q, from + k, down ? 13 : 11)}</text>`;
  return s;
}

/** The cursor's own two labels. They hide those that they would lie on, whole. */
function cursorNames(q: Scene, m: MapLayout): string {
  const y1 = m.y + m.size, line = m.font + 3;
  const room = (k: number): [number, number] => { // from the middle of the label: how far the labels before and after it reach
    const far = (d: number): number => (d * m.cell < line ? d * m.cell + line / 2 : line / 2), off = k % m.step;
    return [far(off || m.step), far(m.step - off)];
  };
  const r = q.here.row - m.r0, c = q.here.col - m.c0, mid = m.cell / 2;
  let s = '';
  if (r >= 0 && r < m.n) { const [up, down] = room(r); s += over(m.x - m.label + 4, m.y + r * m.cell + mid - up, m.label - 6, up + down, labelAt(m, r, true), 'm end b', say(q, q.here.row, 13)); }
  if (c >= 0 && c < m.n) { const [left, right] = room(c); s += over(m.x + c * m.cell + mid - left, y1 + 3, left + right, 84, labelAt(m, c, false), 'm end b', say(q, q.here.col, 11)); }
  return s;
}

const mapName = (q: Scene, m: MapLayout): string => `<text x="${m.x - m.label + 14}" y="${m.y - 11}" class="b">${esc(shortName(q.a, q.here))}</text>`;

function mapCursor(q: Scene, m: MapLayout): string {
  const { row, col } = q.here, r = row - m.r0, c = col - m.c0, y = m.y + r * m.cell, x = m.x + c * m.cell, inR = r >= 0 && r < m.n, inC = c >= 0 && c < m.n;
  const win = q.here.mean === '' || q.here.mean === 'heads' ? q.a.window(q.here.l) : 0;
  let s = win ? `<path d="${windowPath(m, win)}" fill="url(#at-hatch)" shape-rendering="crispEdges"><title>outside the window of ${win} tokens</title></path>` : '';
  if (inR) {
    const to = Math.min(m.n, row + 1 - m.c0);
    s += `<rect x="${m.x - 1.5}" y="${y - 1.5}" width="${Math.max(0, to) * m.cell + 2}" height="${m.cell + 2}" fill="none" stroke="var(--text)"/>`;
  }
  if (inC && col <= row) {
    const from = Math.max(0, col - m.r0), y0 = m.y + from * m.cell;
    s += `<rect x="${x - 1.5}" y="${y0 - 1.5}" width="${m.cell + 2}" height="${(m.n - from) * m.cell + 2}" fill="none" stroke="var(--text)"/>`;
    if (inR) s += `<rect x="${x - 2}" y="${y - 2}" width="${m.cell + 3}" height="${m.cell + 3}" fill="none" stroke="var(--page)" stroke-width="4"/><rect x="${x - 2}" y="${y - 2}" width="${m.cell + 3}" height="${m.cell + 3}" fill="none" stroke="var(--text)" stroke-width="2"/>`;
  }
  return s;
}

/** Value and row sum of the cursor, in the masked half below the legend. */
function readout(q: Scene, m: MapLayout): string {
  const { row, col } = q.here, v = q.map[row * q.a.n + col]!, end = !m.side, x = m.side ? m.x + m.size + 10 : m.x + m.size - 14, y = m.y + 82;
  if (!m.side && m.size < 250) return '';
  const line = (n: number, t: string, cls: string): string => `<text x="${x}" y="${y + n * 16}" class="${cls}${end ? ' end' : ''} halo">${t}</text>`;
  return line(0, col > row ? 'masked: a later token' : `${say(q, row, 12)} → ${say(q, col, 12)}`, 'm') + (col > row ? '' : line(1.2, v.toFixed(4), 'm big')) + line(2.3, `row sum ${q.a.rowSum(q.map, row).toFixed(4)}`, 'm cap s');
}

/** Who looks at the column's token, row by row, where there is room beside the map. */
function lookedAt(q: Scene, m: MapLayout): string {
  const x = m.x + m.size + 22, w = Math.min(140, q.W - x - 16), { col, row } = q.here;
  if (m.side || w < 90) return '';
  let top = 0, s = `<text x="${x}" y="${m.y - 10}" class="cap s">looked at: <tspan class="m b" fill="var(--text)">${say(q, col, 11)}</tspan></text><path d="M${x - 0.5} ${m.y}v${m.size}" class="hair2"/>`;
  for (let i = col; i < q.a.n; i++) top = Math.max(top, q.map[i * q.a.n + col]!);
  const bars = ['', ''];
  for (let r = 0; r < m.n; r++) {
    const i = m.r0 + r;
    if (i < col) continue;
    const part = q.map[i * q.a.n + col]! / (top || 1), bw = Math.max(0.5, (q.linear ? part : Math.sqrt(part)) * w);
    bars[i === row ? 1 : 0] += `M${x} ${m.y + r * m.cell}h${bw.toFixed(1)}v${Math.max(1, m.cell - 1.5)}h${-bw.toFixed(1)}z`;
  }
  s += `<path d="${bars[0]}" fill="var(--fam-A)"/><path d="${bars[1]}" fill="var(--text)"/>`;
  return `${s}<text x="${x}" y="${m.y + m.size + 15}" class="cap s">width ${q.linear ? 'linear' : '√'}, largest <tspan class="m">${top.toFixed(4)}</tspan></text>`;
}

function profile(q: Scene, m: MapLayout): string {
  const y = m.foot + 4, h = Math.min(110, q.H - y - 14), { row, col } = q.here;
  if (h < 34) return '';
  let top = 0;
  for (let j = q.skipFirst ? 1 : 0; j <= row; j++) top = Math.max(top, q.map[row * q.a.n + j]!);
  let s = `<text x="${m.x}" y="${y - 6}" class="cap s">row ${row}, <tspan class="m">${say(q, row)}</tspan></text><text x="${m.x + m.size}" y="${y - 6}" class="cap s end">height ${q.linear ? 'linear' : '√'}, largest <tspan class="m">${top.toFixed(4)}</tspan></text>`;
  const bars = ['', ''], bw = Math.max(1, m.cell - 1.5);
  for (let c = 0; c < m.n; c++) {
    const j = m.c0 + c;
    if (j > row || (q.skipFirst && j === 0)) continue;
    const part = q.map[row * q.a.n + j]! / (top || 1), hh = Math.max(0.5, (q.linear ? part : Math.sqrt(part)) * (h - 4));
    bars[j === col ? 1 : 0] += `M${m.x + c * m.cell} ${y + h}v${-hh.toFixed(1)}h${bw}v${hh.toFixed(1)}z`;
  }
  return `${s}<path d="${bars[0]}" fill="var(--fam-A)"/><path d="${bars[1]}" fill="var(--text)"/><path d="M${m.x} ${y + h + 0.5}h${m.size}" class="hair2"/>`;
}
