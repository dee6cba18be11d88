// The upper half of the tape: the rate it is read at, the strip of all
// weights, the cache's reads below it, and one layer large. SVG text only.
import { bytes, count, esc, exactNs, sig3, time } from '../format';
import type { Roof } from '../schema';
import { groupOf, rateOf, readSoFar, type Item, type Tape } from './tape-data';
import { HOW_TO_ROOF, copies, memoryRoof, roofTitle } from './pass-roof';

export interface Strip {
  t: Tape;
  cur: number;
  past: boolean;
  /** part of the current item that is read, 0..1 */
  part: number;
  byTime: boolean;
  roof: Roof | null;
  W: number;
  H: number;
  /** short name of an op, as on the map */
  label: (x: Item) => string;
}

export interface StripLayout { x0: number; x1: number; big: boolean; rateY: number; rateH: number; tapeY: number; tapeH: number; cacheY: number; cacheH: number; layerY: number; layerH: number; below: number }

export function layoutStrip(W: number, H: number): StripLayout {
  const big = H > 610, rateY = big ? 20 : 14, rateH = big ? 54 : 30, tapeY = rateY + rateH + 8, tapeH = big ? 32 : 24, cacheH = big ? 16 : 11, cacheY = tapeY + tapeH + 4, layerY = cacheY + cacheH + (big ? 58 : 44), layerH = big ? 44 : 28;
  return { x0: 20, x1: W - 20, big, rateY, rateH, tapeY, tapeH, cacheY, cacheH, layerY, layerH, below: layerY + layerH };
}

/** scaleOf gives x of the start and end of an item, and of a part of it. */
export function scaleOf(p: Strip, l: StripLayout): (x: Item, part?: number) => [number, number] {
  const w = l.x1 - l.x0;
  if (p.byTime) return (x, part = 1) => { const k = w / Math.max(1, p.t.pass.dur_ns), a = l.x0 + Math.max(0, x.start) * k; return [a, a + Math.max(0, x.ns) * part * k]; };
  return (x, part = 1) => { const k = w / Math.max(1, p.t.bytes), a = l.x0 + x.at * k; return [a, a + (x.kind === 'weight' ? x.bytes * part * k : 0)]; };
}

const f2 = (v: number): string => v.toFixed(2);
const isDone = (p: Strip, n: number): boolean => n < p.cur || (p.past && n <= p.cur);

export function drawStrip(p: Strip): string {
  const l = layoutStrip(p.W, p.H), sx = scaleOf(p, l);
  return rates(p, l, sx) + tiles(p, l, sx) + cache(p, l, sx) + head(p, l, sx) + layer(p, l, sx);
}

type Scale = ReturnType<typeof scaleOf>;

/** The rate of each item as one line, the roof of memory across it. Items narrower than a pixel are joined. */
function rates(p: Strip, l: StripLayout, sx: Scale): string {
  const list = p.t.items.filter((x) => x.kind === 'weight' && rateOf(x) !== null && x.bytes > 16_384), memory = p.roof && memoryRoof(p.roof);
  if (!list.length) return `<text x="${l.x0}" y="${l.rateY}" class="cap s">rates are not measured in this recording</text>`;
  const all = list.map((x) => rateOf(x)!).sort((a, b) => a - b), top = Math.max(all[Math.floor(all.length * 0.95)]!, memory?.max ?? 0) * 1.12, y = (v: number): number => l.rateY + 8 + (l.rateH - 8) * (1 - Math.min(1, v / top));
  let d = '', end = -1;
  for (const x of list) {
    const [a, b] = sx(x), v = f2(y(rateOf(x)!));
    d += end >= 0 && a - end < 2 ? `L${f2(a)} ${v}L${f2(b)} ${v}` : `M${f2(a)} ${v}L${f2(b)} ${v}`;
    end = b;
  }
  const px = playX(p, l, sx), under = y(0);
  let g = `<clipPath id="tp-r"><rect x="0" y="0" width="${f2(px)}" height="${p.H}"/></clipPath><clipPath id="tp-n"><rect x="${f2(px)}" y="0" width="${p.W}" height="${p.H}"/></clipPath>`;
  g += `<line x1="${l.x0}" x2="${l.x1}" y1="${Math.round(under) + 0.5}" y2="${Math.round(under) + 0.5}" class="hair"/>`;
  g += `<path d="${d}" fill="none" stroke="var(--text)" stroke-width="1.25" clip-path="url(#tp-r)"/><path d="${d}" fill="none" stroke="var(--graphic)" stroke-dasharray="1.5 2.5" clip-path="url(#tp-n)"/>`;
  g += `<text x="${l.x0 + 10}" y="${l.rateY}" class="cap s">read at, GB/s from 0 to ${sig3(top)}</text>`;
  if (!memory) return `${g}<g><title>${HOW_TO_ROOF}</title><text x="${l.x1}" y="${l.rateY}" class="end cap s">what memory can do: not measured here</text></g>`;
  return `${g}<line x1="${l.x0}" x2="${l.x1}" y1="${y(memory.max)}" y2="${y(memory.max)}" stroke="var(--graphic)" stroke-dasharray="4 3"/><g><title>${esc(roofTitle(p.roof!))}</title><text x="${l.x1}" y="${l.rateY}" class="end cap s">${copies(p.roof!) ? 'copies in the device' : 'memory can do'} <tspan class="m" fill="var(--text)">${sig3(memory.max)} GB/s</tspan>, best of ${memory.runs} runs</text></g>`;
}

export function playX(p: Strip, l: StripLayout, sx: Scale): number {
  const x = p.t.items[p.cur];
  return x ? sx(x, p.past ? 1 : p.part)[1] : l.x0;
}

function tiles(p: Strip, l: StripLayout, sx: Scale): string {
  let g = '', head = '';
  for (const x of p.t.items) {
    if (x.kind !== 'weight') continue;
    const [a, b] = sx(x), w = b - a, done = isDone(p, x.n), k = `var(--fam-${x.family})`;
    if (w < 0.12 && x.n !== p.cur) continue;
    const ww = Math.max(0.4, w - (w > 1.5 ? 0.6 : 0.25));
    g += `<rect x="${f2(a)}" y="${l.tapeY}" width="${f2(ww)}" height="${l.tapeH}" fill="${done ? k : `var(--fam-${x.family}-t)`}" data-item="${x.n}"/>`;
    if (x.n === p.cur && !p.past) g += `<rect x="${f2(a)}" y="${l.tapeY}" width="${f2(Math.max(0.4, ww * p.part))}" height="${l.tapeH}" fill="${k}"/>`;
    if (w > 40) {
      const name = `${x.family}  ${p.label(x)}`, dims = x.rows > 1 ? `, ${count(x.rows)} × ${count(x.cols)}` : '', text = fitting(w - 10, `${name}${dims}${x.type ? `, ${x.type}` : ''}`, name + dims, name, p.label(x), x.family);
      head += `<rect x="${f2(a + 0.5)}" y="${l.tapeY + 0.5}" width="${f2(w - 1)}" height="${l.tapeH - 1}" fill="none" stroke="${k}"/><text x="${f2((a + b) / 2)}" y="${l.tapeY + l.tapeH / 2 + 4}" class="mid" fill="${done || (x.n === p.cur && p.part > 0.6) ? 'var(--page)' : 'var(--text)'}">${esc(text)}</text>`;
    }
  }
  return `<g class="st">${g}</g>${head}<rect x="${l.x0 - 0.5}" y="${l.tapeY - 0.5}" width="${l.x1 - l.x0 + 1}" height="${l.tapeH + 1}" fill="none" stroke="var(--rule-2)"/>`;
}

/** Keys and values come from the cache, not from the file: their own track, one line a read, as high as its bytes. */
function cache(p: Strip, l: StripLayout, sx: Scale): string {
  const list = p.t.items.filter((x) => x.kind === 'cache'), y = l.cacheY, h = l.cacheH, max = Math.max(1, ...list.map((x) => x.bytes));
  let g = `<line x1="${l.x0}" x2="${l.x1}" y1="${y + h + 0.5}" y2="${y + h + 0.5}" class="hair2"/>`;
  for (const x of list) {
    const [a, b] = sx(x), w = Math.max(1.1, b - a), hh = Math.max(1, (x.bytes / max) * h), done = isDone(p, x.n) || x.n === p.cur, off = /mix$/.test(x.op) && !p.byTime ? 1.6 : 0;
    g += `<rect x="${f2(a - (p.byTime ? 0 : 1.3) + off)}" y="${f2(y + h - hh)}" width="${f2(w)}" height="${f2(hh)}" fill="${done ? 'var(--fam-K)' : 'var(--page)'}" stroke="var(--fam-K)" stroke-width="${done ? 0 : 0.6}" data-item="${x.n}"/>`;
  }
  const marks: string[] = [];
  let lastX = -99;
  const cg = groupOf(p.t, p.cur), own = cg && cg.layer >= 0 ? sx(p.t.items[cg.from]!)[0] : -99;
  for (const q of p.t.groups) {
    if (q.layer < 0) continue;
    const a = sx(p.t.items[q.from]!)[0], here = q === cg;
    marks.push(`<line x1="${f2(a)}" x2="${f2(a)}" y1="${y + h}" y2="${y + h + (q.layer % 5 ? 3 : 6)}" class="hair2"/>`);
    if (!here && (q.layer % 5 || a - lastX < 30 || Math.abs(a - own) < 28)) continue;
    if (!here) lastX = a;
    marks.push(`<text x="${f2(a + 1)}" y="${y + h + 16}" class="m cap halo${here ? ' b' : ' s'}">L${q.layer}</text>`);
  }
  const last = p.t.groups.at(-1), lx = last && last.layer < 0 ? sx(p.t.items[last.from]!)[0] : l.x1;
  const from = Math.max(lx + 34, own + 34), whole = list.length ? `K  KV cache, ${list.length} reads of ${bytes(p.t.cache)} together` : 'K  reads of the KV cache are not in this recording';
  const text = fitting(l.x1 + 12 - from, whole, list.length ? `K  KV cache, ${bytes(p.t.cache)}` : 'K  not recorded', 'K');
  return `<g class="st">${g}</g>${marks.join('')}<g><title>${esc(whole)}</title><text x="${from}" y="${y + h + 16}" class="cap s halo">${esc(text)}</text></g>`;
}

function head(p: Strip, l: StripLayout, sx: Scale): string {
  const x = playX(p, l, sx), r = readSoFar(p.t, p.cur, p.past ? 1 : p.part), left = x > l.x1 - 250, ms = r.ns === null ? 'time not measured' : time(r.ns);
  const y = l.rateY + l.rateH - 1, text = `${bytes(r.bytes)} of ${bytes(p.t.bytes)}, ${ms}`, tw = text.length * 7.3 + 8;
  return `<line x1="${f2(x)}" x2="${f2(x)}" y1="${l.rateY - 2}" y2="${l.cacheY + l.cacheH + 3}" stroke="var(--text)" stroke-width="1.5"/><path d="M${f2(x - 5)} ${l.rateY - 9}h10l-5 7z" fill="var(--text)"/><rect x="${f2(left ? x - 8 - tw : x + 4)}" y="${y - 12}" width="${f2(tw)}" height="16" fill="var(--page)"/><text x="${f2(left ? x - 8 : x + 8)}" y="${y}" class="m halo${left ? ' end' : ''}"><tspan class="b">${bytes(r.bytes)}</tspan><tspan class="s"> of ${bytes(p.t.bytes)}, ${ms}</tspan></text>`;
}

/** One layer large: its tiles with name, shape and bytes. */
function layer(p: Strip, l: StripLayout, sx: Scale): string {
  const q = groupOf(p.t, Math.max(0, p.cur));
  if (!q) return '';
  const list = p.t.items.slice(q.from, q.to + 1), w = l.x1 - l.x0, a = sx(list[0]!)[0], z = Math.max(a + 0.8, sx(list.at(-1)!)[1]), y = l.layerY, t0 = l.cacheY + l.cacheH + 1;
  const name = q.layer >= 0 ? `Layer ${q.layer}` : q.from === 0 ? 'Before the layers' : 'Behind the layers';
  let g = `<path d="M${f2(a)} ${t0}V${t0 + 19}L${l.x0} ${y - 17}V${y}M${f2(z)} ${t0}V${t0 + 19}L${l.x1} ${y - 17}V${y}" class="hair2"/>`;
  g += `<text x="${l.x0 + 8}" y="${y - 7}" class="b halo">${name}</text><text x="${l.x1 - 8}" y="${y - 7}" class="end cap s halo">${bytes(q.bytes)}, ${p.byTime ? 'width = bytes here too; ' : ''}scale <tspan class="m">${sig3(p.t.bytes / Math.max(1, q.bytes))} : 1</tspan></text>`;
  for (const x of list) g += x.kind === 'weight' ? large(p, l, x, l.x0 + ((x.at - q.at) / Math.max(1, q.bytes)) * w, (x.bytes / Math.max(1, q.bytes)) * w) : notch(p, l, x, l.x0 + ((x.at - q.at) / Math.max(1, q.bytes)) * w);
  return g;
}

/** boxOf is where an item stands in the layer's strip. */
export function boxOf(p: Strip, l: StripLayout, n: number): [number, number] {
  const q = groupOf(p.t, n), x = p.t.items[n];
  if (!q || !x) return [l.x0, l.x1];
  const w = (l.x1 - l.x0) / Math.max(1, q.bytes), a = l.x0 + (x.at - q.at) * w;
  return [a, Math.max(a + 1, a + (x.kind === 'weight' ? x.bytes * w : 0))];
}

/** fitting is the longest of some texts that a width holds, at 7 px a character; '' when none does. */
export const fitting = (w: number, ...texts: string[]): string => texts.find((t) => t.length * 7 <= w) ?? '';

/** A label for little room: whole, then its last word, then the first letters of its words. */
const short = (label: string, w: number): string => fitting(w, label, label.split(' ').at(-1)!, label.split(' ').map((t) => t[0]).join(''));

function large(p: Strip, l: StripLayout, x: Item, a: number, w: number): string {
  const { layerY: y, layerH: h } = l, k = `var(--fam-${x.family})`, now = x.n === p.cur && !p.past, done = isDone(p, x.n), title = `<title>${esc(`${p.label(x)}${x.name ? `, ${x.name}` : ''}: ${count(Math.round(x.bytes))} bytes${x.ns >= 0 ? `, ${exactNs(x.ns)}` : ''}`)}</title>`;
  if (w < 3) return `<g class="st" data-item="${x.n}">${title}<rect x="${f2(a)}" y="${y}" width="${f2(Math.max(1.2, w))}" height="${h + 1}" fill="${done || now ? k : 'var(--rule-2)'}"/>${now ? `<path d="M${f2(a)} ${y - 4}v${h + 9}" stroke="var(--text)" stroke-width="1.5"/>` : ''}</g>`;
  const filled = done ? 1 : now ? p.part : 0, ww = w - 1.5, ink = filled > 0.5 ? 'var(--page)' : 'var(--text)';
  let g = `<rect x="${f2(a + 0.5)}" y="${y + 0.5}" width="${f2(ww)}" height="${h}" fill="var(--fam-${x.family}-t)" stroke="${k}"/>`;
  if (filled) g += `<rect x="${f2(a + 0.5)}" y="${y + 0.5}" width="${f2(ww * filled)}" height="${h}" fill="${k}"/>`;
  if (now) g += `<rect x="${f2(a + 1)}" y="${y + 1}" width="${f2(ww - 1)}" height="${h - 1}" fill="none" stroke="var(--page)" stroke-width="3"/><rect x="${f2(a)}" y="${y}" width="${f2(ww + 1)}" height="${h + 1}" fill="none" stroke="var(--text)" stroke-width="2"/>`;
  if (now && p.part < 1) g += `<path d="M${f2(a + ww * filled)} ${y - 4}v${h + 9}" stroke="var(--text)" stroke-width="1.5"/>`;
  const two = h > 36 && w > 60, dims = x.rows > 1 ? `${count(x.rows)} × ${count(x.cols)}  ` : '', size = fitting(w - 12, bytes(x.bytes)), shape = size && fitting(w - 12, dims + size) ? dims : '';
  if (w > 14) g += `<text x="${f2(a + Math.min(7, w / 4))}" y="${two ? y + h / 2 - 3 : y + h / 2 + 4}" class="b" fill="${ink}">${esc(short(p.label(x), w - 9))}</text>`;
  if (two) g += `<text x="${f2(a + 7)}" y="${y + h / 2 + 13}" class="m cap" fill="${ink}">${shape}${size}</text>`;
  else if (w > 150) g += `<text x="${f2(a + w - 9)}" y="${y + h / 2 + 4}" class="m cap end" fill="${ink}">${shape}${size}</text>`;
  return `<g class="st" data-item="${x.n}">${title}${g}</g>`;
}

/** A read of the cache has no width on a tape of weights: a notch below it, where it happens. */
function notch(p: Strip, l: StripLayout, x: Item, a: number): string {
  const y = l.layerY + l.layerH + 2, mix = /mix$/.test(x.op), now = x.n === p.cur && !p.past, done = isDone(p, x.n) || now, xx = a + (mix ? 7 : -7);
  return `<g class="st" data-item="${x.n}"><title>${esc(`${mix ? 'values' : 'keys'} from the KV cache: ${count(Math.round(x.bytes))} bytes${x.ns >= 0 ? `, ${exactNs(x.ns)}` : ''}`)}</title><rect x="${f2(xx - 5)}" y="${y}" width="10" height="10" fill="${done ? 'var(--fam-K)' : 'var(--page)'}" stroke="${now ? 'var(--text)' : 'var(--fam-K)'}" stroke-width="${now ? 2 : 1}"/><text x="${f2(xx)}" y="${y + 8.5}" class="mid sign" fill="${done ? 'var(--page)' : 'var(--text)'}">${mix ? 'v' : 'k'}</text></g>`;
}
