// The lower half of the tape: under the playhead, the matrix as a picture, a
// row of it against the input, and one stored block taken apart. SVG text
// only, from what has arrived; what has not is said.
import { bytes, count, esc, sig3 } from '../format';
import type { Item } from './tape-data';
import { agrees, bitsFor, bitsOf, type Worked } from './tape-math';
import type { Block, Picture } from './tape-weights';

/** How deep the arrows are inside a matrix. */
export type Level = 'matrix' | 'row' | 'block' | 'weight';
export const LEVELS: readonly Level[] = ['matrix', 'row', 'block', 'weight'];

export interface Detail {
  x: Item;
  label: string;
  row: number; blk: number; wt: number;
  level: Level;
  picture: Picture | null;
  /** data address of the painted picture, rows along x */
  url: string;
  block: Block | null;
  input: ArrayLike<number> | null;
  output: ArrayLike<number> | null;
  worked: Worked | null;
  /** weights in one block of the row */
  span: number;
  /** why there are no weights, no values */
  noFile: string;
  noValues: string;
  /** the sum in figures instead of the block */
  sum: boolean;
  rowNote: string;
  /** play runs past: nothing is fetched */
  fast: boolean;
}

export interface Box { x0: number; x1: number; y: number; h: number; big: boolean; from: [number, number] }

export const num6 = (v: number): string => (v === 0 ? '0' : Math.abs(v) >= 1e-4 && Math.abs(v) < 1e5 ? Number(v.toPrecision(6)).toString() : v.toExponential(4));
const num4 = (v: number): string => (v === 0 ? '0' : Math.abs(v) >= 1e-3 && Math.abs(v) < 1e4 ? Number(v.toPrecision(4)).toString() : v.toExponential(2));
const minus = (s: string): string => s.replace(/-/g, '−');

/** The picture of the matrix; the input stands beside its columns, what came out below its rows. */
export interface DetailLayout { picX: number; picY: number; picW: number; picH: number; rowX: number; rowW: number; low: number }

/** px for the two vectors along the picture */
const BESIDE = 26, BELOW = 20;

export function layoutDetail(b: Box): DetailLayout {
  const w = b.x1 - b.x0, all = Math.floor(w * 0.38), picY = b.y + (b.big ? 44 : 34), room = Math.max(74, Math.min(b.big ? 158 : 100, Math.floor((b.h - picY + b.y) * 0.4)));
  return { picX: b.x0, picY, picW: all - BESIDE, picH: room - BELOW, rowX: b.x0 + all + 34, rowW: w - all - 34, low: picY + room + (b.big ? 52 : 45) };
}

export function drawDetail(d: Detail, b: Box): string {
  const l = layoutDetail(b);
  if (d.x.kind === 'cache' || d.noFile) return leader(b, l, l.picX + l.picW) + vectors(d, b, l);
  const low = d.sum && d.worked ? sumLines(d, b, l) : apart(d, b, l);
  return leader(b, l, l.picX + l.picW) + picture(d, l) + rowOf(d, b, l) + low;
}

const leader = (b: Box, l: DetailLayout, right: number): string =>
  `<path d="M${b.from[0].toFixed(1)} ${b.y + 1}V${b.y + 8}L${l.picX} ${l.picY - 16}V${l.picY}M${b.from[1].toFixed(1)} ${b.y + 1}V${b.y + 8}L${right} ${l.picY - 16}V${l.picY}" class="hair2"/>`;

/** The whole matrix: rows from left to right, columns from top to bottom. */
function picture(d: Detail, l: DetailLayout): string {
  const { picX: x, picY: y, picW: w, picH: h } = l, p = d.picture;
  let g = `<text x="${x + 8}" y="${y - 6}" class="b halo">${esc(d.label)}</text>`;
  if (!p) return `${g}<rect x="${x - 0.5}" y="${y - 0.5}" width="${w + 1}" height="${h + 1}" fill="none" stroke="var(--rule-2)" stroke-dasharray="1.5 3.5"/><text x="${x + w / 2}" y="${y + h / 2 + 4}" class="mid cap s">${d.fast ? 'passing' : 'fetching'}</text>`;
  const per = `${sig3(p.rows / p.height)} × ${sig3(p.cols / p.width)}`, what = p.kind === 'mean' ? `mean w of ${per}` : `largest |w| of ${per}`, at = (v: number, n: number, room: number): number => ((v + 0.5) / n) * room;
  g += `<text x="${x + w}" y="${y - 6}" class="end cap s halo">${what}, ${p.kind === 'mean' ? `−${num4(p.top)} to ${num4(p.top)}` : `0 to ${num4(p.top)}`}</text>`;
  g += `<image x="${x}" y="${y}" width="${w}" height="${h}" preserveAspectRatio="none" href="${d.url}" class="px" image-rendering="pixelated"/><rect x="${x - 0.5}" y="${y - 0.5}" width="${w + 1}" height="${h + 1}" fill="none" stroke="var(--rule-2)"/>`;
  const rx = x + at(d.row, d.x.rows, w), top = y + (d.blk * d.span / d.x.cols) * h, bh = Math.max(2, (d.span / d.x.cols) * h);
  g += d.x.rows > 1 ? `<path d="M${rx} ${y - 3}v${h + 6}" stroke="var(--page)" stroke-width="5"/><rect x="${rx - 1.5}" y="${y - 3.5}" width="3" height="${h + 7}" fill="none" stroke="var(--text)" stroke-width="1.25"/>` : '';
  g += `<rect x="${rx - 4.5}" y="${top}" width="9" height="${bh}" fill="none" stroke="var(--page)" stroke-width="4"/><rect x="${rx - 4.5}" y="${top}" width="9" height="${bh}" fill="none" stroke="var(--text)" stroke-width="1.75"/>`;
  g += along(d.input && d.x.op !== 'embed' ? d.input : null, d.x.cols, h, (at0, a) => [x + w + 5 + (BESIDE - 6) / 2, y + at0, a * ((BESIDE - 6) / 2), 0], 'the input: one number a column') + (d.x.rows > 1 && d.x.op !== 'embed' ? along(d.output, d.x.rows, w, (at0, a) => [x + at0, y + h + 4 + (BELOW - 4) / 2, 0, -a * ((BELOW - 4) / 2)], 'what came out: one number a row') : '');
  if (d.x.rows > 1) g += `<text x="${x}" y="${y + h + BELOW + 14}" class="m s cap">row 0</text><text x="${x + w}" y="${y + h + BELOW + 14}" class="m s cap end">${d.x.rows - 1}</text><text x="${Math.max(x + 56, Math.min(x + w - 56, rx))}" y="${y + h + BELOW + 14}" class="m mid cap b">${d.row}</text>`;
  return g;
}

/** along draws a vector beside the picture, a line a pixel: of the numbers that fall on it the largest, with its sign. */
function along(v: ArrayLike<number> | null, n: number, px: number, line: (at: number, part: number) => [number, number, number, number], title: string): string {
  if (!v || v.length < n) return '';
  const count0 = Math.min(px, n), top: number[] = [];
  for (let k = 0; k < count0; k++) {
    let best = 0;
    for (let i = Math.floor((k * n) / count0); i < Math.floor(((k + 1) * n) / count0); i++) if (Math.abs(v[i]!) > Math.abs(best)) best = v[i]!;
    top.push(best);
  }
  const most = Math.max(1e-12, ...top.map(Math.abs)), step = px / count0, draw = (sign: 1 | -1): string => top.map((a, k) => { const [x, y, dx, dy] = line((k + 0.5) * step, a / most); return a * sign > 0 ? `M${x.toFixed(1)} ${y.toFixed(1)}l${dx.toFixed(2)} ${dy.toFixed(2)}` : ''; }).join('');
  const [x0, y0] = line(0, 0), [x1, y1] = line(px, 0);
  return `<g><title>${title}, largest ${num4(most)}</title><path d="M${x0.toFixed(1)} ${y0.toFixed(1)}L${x1.toFixed(1)} ${y1.toFixed(1)}" class="hair2"/><path d="${draw(1)}" stroke="var(--pos)" stroke-width="${Math.max(0.8, step).toFixed(2)}"/><path d="${draw(-1)}" stroke="var(--neg)" stroke-width="${Math.max(0.8, step).toFixed(2)}"/></g>`;
}

/** The row as its blocks, and what each adds to the number that comes out. */
function rowOf(d: Detail, b: Box, l: DetailLayout): string {
  const { rowX: x, picY: y, rowW: w } = l, h = l.picH + BELOW, n = Math.max(1, Math.ceil(d.x.cols / d.span)), bw = w / n, size = d.block ? d.block.bytes.length / 2 : 0, k = `var(--fam-${d.x.family})`;
  let g = `<text x="${x}" y="${y - 6}" class="b halo">${d.x.rows > 1 ? `Row ${d.row}` : 'The vector'}<tspan class="s" font-weight="400">  ${esc(d.rowNote)}</tspan></text><text x="${b.x1}" y="${y - 6}" class="end cap s halo">${n} ${size ? `blocks of ${size} bytes` : 'blocks'}</text>`;
  if (bw >= 4) for (let i = 0; i < n; i++) { const now = i === d.blk; g += `<rect x="${(x + i * bw + 0.5).toFixed(1)}" y="${y + 0.5}" width="${(bw - (bw > 6 ? 2 : 1)).toFixed(1)}" height="14" fill="${now ? 'var(--text)' : i < d.blk ? k : `var(--fam-${d.x.family}-t)`}" stroke="${now ? 'var(--text)' : k}" stroke-width="${bw > 6 ? 1 : 0.5}" class="st" data-blk="${i}"/>`; }
  else g += `<rect x="${x}" y="${y + 0.5}" width="${w}" height="14" fill="var(--fam-${d.x.family}-t)" stroke="${k}"/><rect x="${x}" y="${y + 0.5}" width="${d.blk * bw}" height="14" fill="${k}"/><rect x="${x + d.blk * bw - 1}" y="${y - 1}" width="${Math.max(3, bw)}" height="17" fill="var(--text)"/>`;
  if (d.x.rows === 1) return g + flat(d, l);
  if (d.x.op === 'embed') return `${g}<text x="${x}" y="${y + 38}" class="cap s">The row is copied as it is; nothing is multiplied.</text>`;
  if (!d.worked) return `${g}<text x="${x}" y="${y + 38}" class="cap s">${esc(d.noValues || d.fast ? '' : d.input ? 'fetching the row' : 'fetching the vectors')}</text>`;
  const { parts, sums } = d.worked, most = Math.max(1e-12, ...sums.map(Math.abs)) * 1.1, y0 = y + 22, hh = h - 24, zero = y0 + hh / 2, sy = (v: number): number => zero - (v / most) * (hh / 2);
  g += `<line x1="${x}" x2="${b.x1}" y1="${Math.round(zero) + 0.5}" y2="${Math.round(zero) + 0.5}" class="hair2"/>`;
  parts.forEach((v, i) => {
    const a = sy(sums[i]! - v), z = sy(sums[i]!), on = i <= d.blk, c = v >= 0 ? 'var(--pos)' : 'var(--neg)';
    g += `<rect x="${(x + i * bw + (bw > 8 ? 2 : 0.3)).toFixed(1)}" y="${Math.min(a, z).toFixed(1)}" width="${Math.max(0.8, bw - (bw > 8 ? 5 : 0.6)).toFixed(1)}" height="${Math.max(1, Math.abs(a - z)).toFixed(1)}" fill="${on ? c : 'var(--page)'}" stroke="${c}" stroke-width="${bw > 4 ? 1 : 0.4}"/>`;
    if (bw > 8) g += `<path d="M${(x + i * bw + 2).toFixed(1)} ${z.toFixed(1)}h${bw.toFixed(1)}" stroke="var(--graphic)"/>`;
  });
  const out = d.output?.[d.row], fits = out !== undefined && agrees(out, d.worked);
  g += `<text x="${x}" y="${y + h + 15}" class="cap s">running sum of row · x <tspan class="m" fill="var(--text)">${minus(num6(sums[d.blk] ?? 0))}</tspan> behind block ${d.blk}</text>`;
  return `${g}<text x="${b.x1}" y="${y + h + 15}" class="end cap"><tspan class="s">worked </tspan><tspan class="m">${minus(num6(d.worked.value))}</tspan><tspan class="s">, came out </tspan><tspan class="m b">${out === undefined ? 'not captured' : minus(num6(out))}</tspan>${out === undefined ? '' : `<tspan class="s"> ${fits ? '=' : d.worked.rounding.run || !/not in this/.test(d.worked.rounding.what) ? '≠' : '≈ (rounding of the input not recorded)'}</tspan>`}</text>`;
}

/** A norm or an embedding has one vector: no sum, the numbers themselves. */
function flat(d: Detail, l: DetailLayout): string {
  const y = l.picY + 34, rms = d.input ? Math.sqrt(Array.from(d.input, (v) => v * v).reduce((a, v) => a + v, 0) / Math.max(1, d.input.length)) : null;
  const say = (n: number, t: string): string => `<text x="${l.rowX}" y="${y + n * 18}" class="cap">${t}</text>`;
  return say(0, `<tspan class="s">out[c] = x[c] ÷ rms(x) × w[c]</tspan>`) + (rms === null ? '' : say(1, `<tspan class="s">rms(x), without the small number that keeps it from 0: </tspan><tspan class="m">${num6(rms)}</tspan>`));
}

const bars = (v: ArrayLike<number>, n: number, x: number, ew: number, cy: number, h: number, color: (v: number, i: number) => string): string => {
  const most = Math.max(1e-12, ...Array.from({ length: n }, (_, i) => Math.abs(v[i] ?? 0)));
  let g = '';
  for (let i = 0; i < n; i++) {
    const a = v[i] ?? 0, hh = (Math.abs(a) / most) * h;
    g += `<rect x="${(x + i * ew + (ew > 8 ? 2 : 0)).toFixed(2)}" y="${(a > 0 ? cy - hh : cy).toFixed(2)}" width="${Math.max(0.5, ew - (ew > 8 ? 5 : ew > 2 ? 0.8 : 0)).toFixed(2)}" height="${Math.max(0.7, hh).toFixed(2)}" fill="${color(a, i)}"/>`;
  }
  return g;
};

const signed = (v: number): string => (v >= 0 ? 'var(--pos)' : 'var(--neg)');

/** One stored block: its bytes by meaning, the codes in them, the weights they stand for, the input against them, the products. */
function apart(d: Detail, b: Box, l: DetailLayout): string {
  const y0 = l.low, q = d.block, lab = 64, w = b.x1 - b.x0, k = `var(--fam-${d.x.family})`;
  let g = `<line x1="${b.x0}" x2="${b.x1}" y1="${y0 - 28.5}" y2="${y0 - 28.5}" class="hair"/>`;
  if (!q) return `${g}<text x="${b.x0}" y="${y0 - 9}" class="s">${d.fast ? 'Playing in the pass’s own time. Space stops here and shows the numbers.' : `fetching block ${d.blk} of row ${d.row}`}</text>`;
  const n = q.values.length, ew = (w - lab) / n, raw = q.bytes.match(/../g) ?? [], uw = (w - lab) / raw.length, grp = Math.floor(d.wt / q.group);
  const scale = q.scale ? `<tspan class="s">${q.scale.length > 1 ? `scale ${grp} ` : 'd '}</tspan>${minus(num4(q.scale[grp] ?? 0))}` : '', min = q.min ? `<tspan class="s">   ${q.min.length > 1 ? `min ${grp} ` : 'm '}</tspan>${minus(num4(q.min[grp] ?? 0))}` : '';
  g += `<text x="${b.x0}" y="${y0 - 9}" class="b">Block ${d.blk}${d.x.rows > 1 ? ` of row ${d.row}` : ''}<tspan class="s" font-weight="400">   ${raw.length} bytes hold ${n} weights: ${esc(q.formula)}</tspan></text><text x="${b.x1}" y="${y0 - 9}" class="end m">${scale}${min}</text>`;
  g += `<text x="${b.x0}" y="${y0 + 14}" class="cap s">stored</text>`;
  const hit = bitsOf(q.type, d.wt), at = d.level === 'weight';
  raw.forEach((v, i) => {
    const part = q.parts.find((p) => i >= p.first && i < p.first + p.bytes), codes = !!part && /^q|^w$/.test(part.name), x = b.x0 + lab + i * uw, on = at && hit?.byte === i;
    g += `<g><title>byte ${i} of the block: ${v}, ${esc(part ? `${part.name}, ${part.kind}` : '')}</title><rect x="${(x + 0.5).toFixed(1)}" y="${y0 + 0.5}" width="${Math.max(0.6, uw - (uw > 8 ? 2 : 0.4)).toFixed(1)}" height="19" fill="${codes ? `var(--fam-${d.x.family}-t)` : 'var(--lit)'}" stroke="${on ? 'var(--text)' : codes ? k : 'var(--graphic)'}" stroke-width="${on ? 2 : uw > 6 ? 1 : 0.4}"/>${uw > 15 ? `<text x="${(x + uw / 2).toFixed(1)}" y="${y0 + 14}" class="m mid cap">${on && hit.part !== 'all' ? (hit.part === 'low' ? `<tspan class="s">${v[0]}</tspan><tspan class="b">${v[1]}</tspan>` : `<tspan class="b">${v[0]}</tspan><tspan class="s">${v[1]}</tspan>`) : v}</text>` : ''}</g>`;
  });
  if (uw <= 15) g += q.parts.map((p) => `<text x="${(b.x0 + lab + p.first * uw).toFixed(1)}" y="${y0 + 32}" class="cap s">${esc(p.name)}</text>`).filter((_, i) => q.parts[i]!.bytes * uw > 26).join('');
  let y = y0 + (uw > 15 ? 26 : 38);
  if (q.codes && ew > 13) {
    g += `<text x="${b.x0}" y="${y + 9}" class="cap s">q</text>` + q.codes.map((c, i) => `<text x="${(b.x0 + lab + i * ew + ew / 2 - 1).toFixed(1)}" y="${y + 9}" class="m mid cap${at && i === d.wt ? ' b' : ' s'}">${minus(String(c))}</text>`).join('');
    y += 15;
  }
  const x = d.input && d.x.op !== 'embed' ? Array.from({ length: n }, (_, i) => d.input![q.first + i] ?? 0) : null, norm = d.x.rows === 1;
  const rows: [string, ArrayLike<number>, boolean][] = [['w', q.values, true]];
  if (x) rows.push(['x', x, false]);
  if (x && !norm) rows.push(['w × x', q.values.map((v, i) => v * x[i]!), true]);
  if (d.output && (norm || d.x.op === 'embed')) rows.push(['out', Array.from({ length: n }, (_, i) => d.output![q.first + i] ?? 0), true]);
  const foot = at ? 20 : 4, rh = Math.max(18, Math.min(rows.length === 1 ? 84 : 50, (b.y + b.h - foot - y) / rows.length));
  for (const [name, v, hue] of rows) {
    const cy = Math.round(y + rh / 2) + 0.5;
    g += `<text x="${b.x0}" y="${cy + 4}">${name}</text><line x1="${b.x0 + lab}" x2="${b.x1}" y1="${cy}" y2="${cy}" class="hair2"/>` + bars(v, n, b.x0 + lab, ew, cy, rh / 2 - 1.5, (a) => (hue ? signed(a) : 'var(--graphic)'));
    y += rh;
  }
  if (!at) return `${g}<g class="st">${Array.from({ length: n }, (_, i) => `<rect x="${(b.x0 + lab + i * ew).toFixed(2)}" y="${y0 + 22}" width="${ew.toFixed(2)}" height="${Math.max(1, y - y0 - 22).toFixed(1)}" fill="transparent" data-wt="${i}"><title>${tip(d, i)}</title></rect>`).join('')}</g>`;
  const cx = b.x0 + lab + d.wt * ew;
  return `${g}<rect x="${(cx - 0.5).toFixed(1)}" y="${y0 + 23}" width="${Math.max(3, ew - 1).toFixed(1)}" height="${(y - y0 - 22).toFixed(1)}" fill="none" stroke="var(--text)" stroke-width="1.5"/><text x="${b.x0 + lab}" y="${y + 13}" class="m cap">${esc(tip(d, d.wt))}</text>`;
}

/** tip is weight i of the block in figures: from its code to what it adds. */
export function tip(d: Detail, i: number): string {
  const q = d.block;
  if (!q) return '';
  const g = Math.floor(i / q.group), c = q.first + i, w = q.values[i] ?? 0, code = q.codes?.[i], x = d.input && d.x.op !== 'embed' ? d.input[c] : undefined;
  const how = code === undefined ? '' : ` = ${num4(q.scale?.[g] ?? 0)} × ${q.zero ? `(${code} − ${q.zero})` : code}${q.min ? ` ${q.min[g]! < 0 ? '−' : '+'} ${num4(Math.abs(q.min[g]!))}` : ''}`;
  const prod = x === undefined ? '' : d.x.rows > 1 ? `;  w × x = ${num6(w)} × ${num6(x)} = ${num6(w * x)}` : `;  x = ${num6(x)}`;
  return minus(`w[${d.x.rows > 1 ? `${d.row}, ` : ''}${c}]${how} = ${num6(w)}${prod}`);
}

/** The sum in figures: each block's part and the sum so far, then what came out. */
function sumLines(d: Detail, b: Box, l: DetailLayout): string {
  const s = d.worked!, y0 = l.low, room = Math.max(1, Math.floor((b.y + b.h - y0 - 44) / 15)), cols = 4, per = Math.max(1, Math.ceil(s.parts.length / (room * cols))), lines = Math.min(room, Math.ceil(s.parts.length / per / cols)), cw = (b.x1 - b.x0) / cols, out = d.output?.[d.row];
  let g = `<line x1="${b.x0}" x2="${b.x1}" y1="${y0 - 28.5}" y2="${y0 - 28.5}" class="hair"/><text x="${b.x0}" y="${y0 - 9}" class="b">out[${d.row}] by hand<tspan class="s" font-weight="400">   each block: sum of w × x over its ${d.span} columns, and the running sum; ${esc(s.rounding.what)}</tspan></text>`;
  for (let i = 0, line = 0; i < s.parts.length; i += per, line++) {
    const to = Math.min(s.parts.length, i + per) - 1, part = s.parts.slice(i, to + 1).reduce((a, v) => a + v, 0), x = b.x0 + Math.floor(line / lines) * cw, y = y0 + 10 + (line % lines) * 15, now = d.blk >= i && d.blk <= to;
    g += `<g class="st" data-blk="${i}">${now ? `<rect x="${x - 4}" y="${y - 11}" width="${cw - 16}" height="15" fill="var(--lit)"/>` : ''}<text x="${x}" y="${y}" class="m cap s">${per > 1 ? `${i}–${to}` : i}</text><text x="${x + 108}" y="${y}" class="m cap end" fill="${signed(part)}">${part >= 0 ? '+' : '−'}${num6(Math.abs(part))}</text><text x="${x + cw - 26}" y="${y}" class="m cap end">${minus(num6(s.sums[to]!))}</text></g>`;
  }
  const y = b.y + b.h - 22;
  const diff = out === undefined ? '' : `; came out <tspan class="m b">${minus(out.toPrecision(9))}</tspan>, ${agrees(out, s) ? 'the same to float rounding' : 'not the same'}: off by <tspan class="m">${minus((out - s.value).toExponential(1))}</tspan> in sums of size <tspan class="m">${sig3(s.size)}</tspan>`;
  g += `<text x="${b.x0}" y="${y}" class="cap"><tspan class="s">worked in 64 bits </tspan><tspan class="m">${minus(s.value.toPrecision(9))}</tspan>${diff}</text>`;
  if (s.rounding.run) g += `<text x="${b.x0}" y="${y + 16}" class="cap s">with the input as it is, not rounded to ${bitsFor(s.rounding.top)} bits: <tspan class="m" fill="var(--text)">${minus(s.plain.toPrecision(8))}</tspan>, which is what rounding the input changes: <tspan class="m" fill="var(--text)">${minus((s.value - s.plain).toExponential(1))}</tspan></text>`;
  return g;
}

/** Without the file, or for the cache: the vectors that went in and came out, every number a bar. */
function vectors(d: Detail, b: Box, l: DetailLayout): string {
  const y = l.picY, why = d.x.kind === 'cache' ? `${/mix$/.test(d.x.op) ? 'Values' : 'Keys'} come from the KV cache, ${bytes(d.x.bytes)} in this pass; they are no weights and lie in no file.` : `${d.noFile[0]?.toUpperCase() ?? ''}${d.noFile.slice(1)}.`;
  let g = `<text x="${b.x0 + 8}" y="${y - 6}" class="b halo">${esc(d.label)}</text><text x="${b.x0 + 8}" y="${y + 16}" class="s">${esc(why)}</text>`;
  if (!d.input && !d.output) return g;
  const list = ([['in', d.input], ['out', d.output]] as const).filter(([, v]) => v && v.length), h = Math.min(120, (b.y + b.h - y - 40) / Math.max(1, list.length));
  list.forEach(([name, v], i) => {
    const cy = Math.round(y + 40 + i * h + (h - 22) / 2) + 0.5, n = v!.length, show = Math.min(n, Math.floor((b.x1 - b.x0 - 64) / 0.5)), ew = (b.x1 - b.x0 - 64) / show, most = Math.max(...Array.from(v!, Math.abs));
    g += `<text x="${b.x0}" y="${cy + 4}">${name}</text><line x1="${b.x0 + 64}" x2="${b.x1}" y1="${cy}" y2="${cy}" class="hair2"/>${bars(v!, show, b.x0 + 64, ew, cy, (h - 26) / 2, (a) => (name === 'in' ? 'var(--graphic)' : signed(a)))}<text x="${b.x1}" y="${cy + (h - 26) / 2 + 13}" class="end cap s">${count(n)} numbers, largest <tspan class="m" fill="var(--text)">${num4(most)}</tspan>${show < n ? `; the first ${count(show)} are drawn` : ''}</text>`;
  });
  return g;
}
