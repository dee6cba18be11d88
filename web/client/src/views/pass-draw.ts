// The pass drawn: the residual line with its branches and the layer dial, one
// row an op, and below it the kernels of the op under the playhead. SVG text
// only, from a model and a place; it does not know about the page.
import { bytes, esc, exactNs, share, sig3, svgBadge, time } from '../format';
import { isNumbers } from '../recording';
import { path, type Point } from '../route';
import type { Roof } from '../schema';
import { gbs, gflops, isInteger, kernelsOf, spreadOf, type OpRow, type PassModel, type Scope } from './pass-data';
import { HOW_TO_ROOF, copies, memoryRoof, roofTitle } from './pass-roof';
import type { Recording } from '../recording';

export interface PassPlace { r: Recording; m: PassModel; cur: number; layer: number; scope: Scope; roof: Roof | null; W: number; H: number }

/** x of everything, for a width. */
function columns(W: number): Record<'dial' | 'res' | 'op' | 'name' | 'shape' | 'layers' | 'layersW' | 'bar' | 'barW' | 'ns' | 'share' | 'bytes' | 'gbs' | 'flops' | 'end', number> {
  const end = W - 16, name = 152, wide = W >= 880, shape = name + 106, layers = wide ? shape + 84 : shape, layersW = wide ? 116 : 76;
  const flops = end - 4, gb = flops - 66, by = gb - 52, sh = by - 66, ns = sh - 46, bar = layers + layersW + 16;
  return { dial: 34, res: 70, op: 108, name, shape: wide ? shape : -1, layers, layersW, bar, barW: Math.max(40, ns - 54 - bar), ns, share: sh, bytes: by, gbs: gb, flops, end };
}

export interface PassLayout { top: number; rh: number; foot: number; y: (n: number) => number; c: ReturnType<typeof columns> }

export function layoutPass(rows: number, W: number, H: number): PassLayout {
  const top = 36, below = 152, rh = Math.max(14, Math.min(26, Math.floor((H - top - below) / (rows + 1))));
  return { top, rh, y: (n) => top + n * rh + rh / 2, foot: top + (rows + 1) * rh, c: columns(W) };
}

const fam = (f: string): string => `var(--fam-${f})`;
const state = (n: number, cur: number): 'done' | 'now' | 'coming' => (n < cur ? 'done' : n === cur ? 'now' : 'coming');

export function drawPass(p: PassPlace): string {
  const l = layoutPass(p.m.rows.length, p.W, p.H);
  return heads(p, l) + band(p, l) + tracks(p, l) + dial(p, l) + p.m.rows.map((o, n) => row(p, l, o, n)).join('') + nothing(p, l) + total(p, l) + beneath(p, l);
}

function heads({ r, m, scope, layer, roof }: PassPlace, { c }: PassLayout): string {
  const h = (x: number, t: string, end = false, b: 'measured' | 'derived' | '' = ''): string => `<text x="${x - (end && b ? 9 : 0)}" y="20" class="cap s${end ? ' end' : ''}">${t}</text>${b ? svgBadge(end ? x - 3 : x + 9, 16.5, b) : ''}`;
  let g = h(c.name, 'op') + (c.shape > 0 ? h(c.shape, 'shape') : '') + h(c.layers, r.layers > 1 ? `each layer, 0 to ${r.layers - 1}` : 'layer');
  g += h(c.bar, scope === 'all' ? `all ${r.layers} layers` : `layer ${layer}`);
  const whisker = `${m.like} ${m.pass.kind} pass${m.like === 1 ? '' : 'es'} of this size`;
  if (m.like > 1) g += `<g><title>Line: least to most of ${whisker}. Tick: their median.</title><path d="M${c.bar + 86} 16.5h18M${c.bar + 93} 13v7" stroke="var(--text-2)"/><text x="${c.bar + 108}" y="20" class="cap s">${c.barW > 150 ? `of ${m.like} passes` : `n = ${m.like}`}</text></g>`;
  g += h(c.ns, 'time', true, 'measured') + h(c.share, 'share', true) + h(c.bytes, 'bytes', true) + h(c.gbs, 'GB/s', true) + `<g><title>A multiply and an add are two operations; on 8-bit integers where the weights are quantised. ${roof ? esc(roofTitle(roof)) : ''}</title>${h(c.flops, 'Gop/s', true, 'derived')}</g>`;
  return `${g}<line x1="${c.name}" x2="${c.end}" y1="28.5" y2="28.5" class="hair2"/>`;
}

function band({ m, cur, W }: PassPlace, { y, rh, c }: PassLayout): string {
  let g = cur >= 0 && cur < m.rows.length ? `<rect x="${c.name - 8}" y="${y(cur) - rh / 2}" width="${W - c.name - 4}" height="${rh}" fill="var(--lit)"/>` : '';
  m.rows.forEach((o, n) => {
    const before = m.rows[n - 1];
    if (!before || !(before.layered !== o.layered || (before.plus && !o.res))) return;
    const yy = Math.round(y(n) - rh / 2) + 0.5;
    g += `<line x1="${c.name - 8}" x2="${c.end}" y1="${yy}" y2="${yy}" class="hair"/>`;
  });
  return g;
}

const xOf = (o: OpRow, c: PassLayout['c']): number => (o.res ? c.res : c.op + Math.max(0, o.par - 1) * 13);

/** The branch an op is on: counted from the top, by the adds before it. */
function branchColors(rows: OpRow[]): string[] {
  const out: string[] = [];
  let from = 0;
  rows.forEach((o, n) => {
    if (!o.plus && n !== rows.length - 1) return;
    const own = rows.slice(from, n + 1).filter((q) => !q.res), main = own.find((q) => q.family === 'F') ?? own.find((q) => q.family === 'A') ?? own[0];
    for (let k = from; k <= n; k++) out[k] = fam(main?.family ?? 'A');
    from = n + 1;
  });
  return out;
}

/** Where a row that ran beside others comes back: values at the write to the cache, all others at the next row. */
function backAt(rows: OpRow[], n: number, next: number): number {
  const kv = rows.findIndex((q, k) => k >= next && q.family === 'K');
  return /(^|_)v$/.test(rows[n]!.id) && kv >= 0 ? kv : next;
}

function tracks({ m, cur, r }: PassPlace, { y, rh, c }: PassLayout): string {
  const rows = m.rows, color = branchColors(rows), last = rows.length - 1;
  if (last < 1) return '';
  const draw = (pts: Point[], k: string, done: boolean): string => `<path d="${path(pts)}" fill="none" ${done ? `stroke="${k}" stroke-width="2.25"` : 'stroke="var(--graphic)" stroke-dasharray="1.5 3.5"'}/>`;
  const at = Math.max(0, Math.min(cur, last)), lastRes = rows.reduce((a, o, n) => (o.res && n <= at ? n : a), 0);
  let g = `<line x1="${c.res}" x2="${c.res}" y1="${y(0)}" y2="${y(last)}" stroke="var(--graphic)"/>`;
  if (cur >= 0) g += `<line x1="${c.res}" x2="${c.res}" y1="${y(0)}" y2="${y(lastRes) + (rows[at]!.res ? 0 : rh * 0.5)}" stroke="var(--text)" stroke-width="3"/>`;
  if (r.file.model.width) g += `<text transform="translate(${c.res - 9},${y(Math.min(last, 8))}) rotate(-90)" class="mid cap s">residual line, ${r.file.model.width} wide</text>`;
  for (let n = 1; n <= last; n++) {
    const o = rows[n]!, b = rows[n - 1]!, x = xOf(o, c), k = color[n]!, done = n <= cur, up = y(n) - rh / 2;
    if (o.res && b.res) continue;
    if (o.res) { g += draw([[c.op, y(n - 1)], [c.op, y(n)], [c.res, y(n)]], k, done); continue; }
    if (b.res) { g += draw([[c.res, up], [x, up], [x, y(n)]], k, done); continue; }
    if (o.par > 1) { // leaves the input of its group, where the first of it does
      const first = n - o.par + 1, from = y(first) - rh / 2;
      g += draw([[c.op, from], [x, from], [x, y(n)]], k, done);
      continue;
    }
    if (b.par > 1 || rows.some((q, j) => j < n && q.par > 1 && backAt(rows, j, afterGroup(rows, j)) === n)) {
      for (let j = 0; j < n; j++) {
        if (rows[j]!.par < 1 || backAt(rows, j, afterGroup(rows, j)) !== n) continue;
        const xj = xOf(rows[j]!, c);
        g += xj === x ? draw([[x, y(j)], [x, y(n)]], k, done) : draw([[xj, y(j)], [xj, up], [x, up], [x, y(n)]], k, done);
      }
      if (b.par > 0) continue;
    }
    g += draw([[c.op, y(n - 1)], [x, y(n)]], k, done);
  }
  return g;
}

const afterGroup = (rows: OpRow[], j: number): number => { let n = j + 1; while (rows[n] && rows[n]!.par > 1) n++; return n; };

/** The loop over the layers with one tick a layer; each can be clicked. */
function dial({ r, m, layer, cur }: PassPlace, { y, rh, c }: PassLayout): string {
  const from = m.rows.findIndex((o) => o.layered), to = m.rows.reduce((a, o, n) => (o.layered ? n : a), -1), L = r.layers;
  if (from < 0 || L < 2) return '';
  const y0 = y(from) - rh / 2 - 2, y1 = y(to) + rh / 2, at = (l: number): number => y0 + 14 + ((y1 - y0 - 28) * (l + 0.5)) / L, k = 'var(--st-C)', past = cur > to ? L : cur < from ? 0 : layer;
  let g = `<path d="${path([[c.res, y1], [c.dial, y1], [c.dial, y0], [c.res - 5, y0]], 8)}" fill="none" stroke="${k}" stroke-width="1.25"/><path d="M${c.res - 9} ${y0 - 4}l7 4-7 4z" fill="${k}"/>`;
  for (let l = 0; l < L; l++) {
    const yy = at(l), h = Math.max(2, (y1 - y0 - 28) / L);
    g += `<g class="st" data-layer="${l}"><title>layer ${l}</title><rect x="${c.dial - 18}" y="${yy - h / 2}" width="30" height="${h}" fill="transparent"/>${l === layer ? '' : `<line x1="${c.dial - (l < past ? 4.5 : 3)}" x2="${c.dial + (l < past ? 4.5 : 3)}" y1="${yy}" y2="${yy}" stroke="${k}" stroke-width="${l < past ? 2 : 1}"/>`}</g>`;
  }
  g += `<rect x="${c.dial - 8}" y="${at(layer) - 2}" width="16" height="4" fill="var(--text)"/><text x="${c.dial - 11}" y="${at(layer) + 4}" class="m end cap">${layer}</text>`;
  return `${g}<text x="${c.dial - 18}" y="${y1 + 16}" class="cap b">× ${L}</text>`;
}

function station(o: OpRow, x: number, yy: number, z: 'done' | 'now' | 'coming'): string {
  const k = fam(o.family);
  if (z === 'now') return `<circle cx="${x}" cy="${yy}" r="5.2" fill="var(--page)" stroke="var(--now)" stroke-width="2.25"/><circle cx="${x}" cy="${yy}" r="2.6" fill="${k}"/>`;
  if (!o.plus) return `<circle cx="${x}" cy="${yy}" r="${z === 'done' ? 3.6 : 3.4}" fill="${z === 'done' ? k : 'var(--page)'}" stroke="${k}" stroke-width="1.25"/>`;
  const ink = z === 'done' ? 'var(--text)' : 'var(--graphic)';
  return `<circle cx="${x}" cy="${yy}" r="6" fill="${z === 'done' ? ink : 'var(--page)'}" stroke="${ink}" stroke-width="1.25"/><path d="M${x - 3.2} ${yy}h6.4M${x} ${yy - 3.2}v6.4" stroke="${z === 'done' ? 'var(--page)' : 'var(--graphic)'}" stroke-width="1.25"/>`;
}

/** One bar a layer, against the slowest one; what is above three medians is cut off there and drawn with a gap. */
function layerBars(o: OpRow, { layers: x, layersW: w }: PassLayout['c'], yy: number, rh: number, layer: number): string {
  const n = o.layers.length, known = o.layers.filter((v) => v !== null), most = Math.max(1, ...known), max = Math.min(most, 3 * (spreadOf(known)?.median ?? most)), pitch = w / Math.max(1, n), base = yy + (rh - 7) / 2;
  const bw = Math.max(0.5, pitch - (pitch > 2.5 ? 1 : 0));
  let rest = '', mine = '', gaps = '';
  o.layers.forEach((v, l) => { // one path for all: hundreds of elements would cost the frame
    if (v === null) return;
    const h = Math.max(1, Math.min(1, v / max) * (rh - 7)), at = x + l * pitch, d = `M${at.toFixed(1)} ${base.toFixed(1)}v${(-h).toFixed(1)}h${bw.toFixed(1)}v${h.toFixed(1)}z`;
    if (l === layer) mine += d; else rest += d;
    if (v > max) gaps += `M${(at - 1).toFixed(1)} ${(base - h + 4).toFixed(1)}h${(pitch + 2).toFixed(1)}`;
  });
  return `<path d="${rest}" fill="var(--rule-2)"/><path d="${mine}" fill="var(--text)"/>${gaps ? `<path d="${gaps}" stroke="var(--page)"/>` : ''}`;
}

/** bar of this pass, with the spread over passes like it as a line. What lies right of the plot ends in an arrow. */
function timeBar(o: OpRow, { bar: x, barW: w }: PassLayout['c'], yy: number, rh: number, z: string, scale: number): string {
  const k = fam(o.family), sx = (v: number): number => Math.min(w, v * scale);
  let g = o.ns === null ? '' : `<rect x="${x + (z === 'coming' ? 0.5 : 0)}" y="${yy - rh * 0.28}" width="${Math.max(1, sx(o.ns))}" height="${rh * 0.56}" fill="${z === 'coming' ? 'none' : k}" stroke="${k}"/>`;
  const s = o.spread;
  if (s && s.n > 1 && s.max * scale > 4) {
    const a = x + sx(s.min), b = x + sx(s.max), mid = x + sx(s.median), off = s.max * scale > w;
    g += `<g><title>${s.n} passes: least ${time(s.min)}, median ${time(s.median)}, most ${time(s.max)}</title><path d="M${a} ${yy}H${b}" stroke="var(--page)" stroke-width="3"/><path d="M${a} ${yy}H${b}M${mid} ${yy - 4}v8${off ? `M${b - 4} ${yy - 3}l4 3-4 3` : ''}" stroke="var(--text)" fill="none"/></g>`;
  }
  return g;
}

const num = (v: number | null): string => (v === null ? '–' : v >= 1000 ? Math.round(v).toLocaleString('en') : sig3(v));

function row({ m, cur, layer }: PassPlace, { y, rh, c }: PassLayout, o: OpRow, n: number): string {
  const yy = y(n), z = state(n, cur), k = fam(o.family), all = m.ops + lost(m), x = xOf(o, c);
  let g = `<g class="st" data-step="${esc(o.id)}"><rect x="${c.res - 8}" y="${yy - rh / 2}" width="${c.end - c.res + 8}" height="${rh}" fill="transparent"/>`;
  g += station(o, x, yy, z);
  g += `<rect x="${c.name + 0.5}" y="${yy - 6}" width="12" height="12" fill="${z === 'coming' ? 'none' : k}" stroke="${k}"/><text x="${c.name + 6.5}" y="${yy + 4}" class="mid cap b" fill="${z === 'coming' ? 'var(--text)' : 'var(--page)'}">${o.plus ? '+' : o.family}</text>`;
  g += `<text x="${c.name + 20}" y="${yy + 4}"${z === 'now' ? ' class="b"' : ''}>${esc(o.label)}</text>${c.shape > 0 ? `<text x="${c.shape}" y="${yy + 4}" class="m s cap">${esc(o.shape)}</text>` : ''}`;
  g += layerBars(o, c, yy, rh, layer) + timeBar(o, c, yy, rh, z, c.barW / Math.max(1, ...m.rows.map((q) => q.ns ?? 0)));
  const t = (at: number, text: string, title = '', dim = true): string => `<text x="${at}" y="${yy + 4}" class="m end cap${dim ? ' s' : ''}">${text}${title ? `<title>${esc(title)}</title>` : ''}</text>`;
  g += o.ns === null ? t(c.ns, m.rows.some((q) => q.ns !== null) ? 'did not run' : 'not measured') : t(c.ns, time(o.ns), exactNs(o.ns), false) + t(c.share, `${share(o.ns, all)}%`);
  return `${g}${t(c.bytes, o.bytes ? bytes(o.bytes) : '–', `${o.bytes} bytes`)}${t(c.gbs, num(gbs(o.bytes, o.ns)), '', o.bytes < 1e6)}${t(c.flops, num(gflops(o.flops, o.ns)))}</g>`;
}

/** lost is what lies outside the ops: waits inside them are part of their times already. */
const lost = (m: PassModel): number => (m.unexplained ? m.unexplained.before + m.unexplained.between + m.unexplained.after : 0);

function nothing({ m, scope }: PassPlace, { y, rh, c }: PassLayout): string {
  const u = m.unexplained, yy = y(m.rows.length);
  if (!u) return '';
  const whole = m.pass.dur_ns, title = `${u.how}. ${m.pass.capture_ns ? `Values were copied out or changed for ${exactNs(m.pass.capture_ns)}, between the ops. ` : ''}Before the first op ${time(u.before)}, between ops ${time(u.between)}, after the last ${time(u.after)}${u.workers ? `; ${u.workers} worker${u.workers === 1 ? '' : 's'} stood at barriers ${time(u.wait)} on average, which is inside the times above` : ''}.`;
  const kept = Math.min(m.pass.capture_ns ?? 0, lost(m)), text = `no op: ${kept ? `captures ${time(kept)}, ` : ''}dispatch ${time(lost(m) - kept)}${u.workers > 1 ? `, barriers ${time(u.wait)} a worker` : u.workers === 1 ? ', one worker: no barriers' : ''}`;
  return `<g><title>${esc(title)}</title><line x1="${c.name - 8}" x2="${c.end}" y1="${Math.round(yy - rh / 2) + 0.5}" y2="${Math.round(yy - rh / 2) + 0.5}" class="hair"/><rect x="${c.name + 0.5}" y="${yy - 6}" width="12" height="12" fill="none" stroke="var(--graphic)" stroke-dasharray="2 2"/><text x="${c.name + 20}" y="${yy + 4}">${text}</text>${svgBadge(c.bar - 12, yy, 'measured')}<rect x="${c.bar}" y="${yy - rh * 0.2}" width="${Math.max(1, (c.barW * u.total) / Math.max(1, ...m.rows.map((q) => q.ns ?? 0)) > c.barW ? c.barW : (c.barW * u.total) / Math.max(1, ...m.rows.map((q) => q.ns ?? 0)))}" height="${rh * 0.4}" fill="none" stroke="var(--graphic)" stroke-dasharray="2 2"/><text x="${c.ns}" y="${yy + 4}" class="m end cap">${time(u.total)}</text><text x="${c.share}" y="${yy + 4}" class="m end cap s">${share(u.total, whole)}%</text><text x="${c.end - 4}" y="${yy + 4}" class="end cap s">of the pass${scope === 'one' ? ', all layers' : ''}</text></g>`;
}

function total({ r, m, scope, layer }: PassPlace, { foot, c }: PassLayout): string {
  const ns = scope === 'all' ? m.pass.dur_ns : m.ops, y = foot + 15, n = m.pass.tokens;
  const name = scope === 'all' ? `${m.pass.kind}, ${n === 1 ? 'one token' : `${n} tokens`}` : `layer ${layer} and what is outside the layers`;
  return `<line x1="${c.name - 8}" x2="${c.end}" y1="${foot + 0.5}" y2="${foot + 0.5}" class="hair2"/><text x="${c.name}" y="${y}" class="b">${name}</text><text x="${c.ns}" y="${y}" class="m end cap b">${time(ns)}<title>${exactNs(ns)}</title></text><text x="${c.share}" y="${y}" class="m end cap">${scope === 'all' && r.clocked ? '100%' : ''}</text><text x="${c.bytes}" y="${y}" class="m end cap">${m.bytes ? bytes(m.bytes) : '–'}</text><text x="${c.gbs}" y="${y}" class="m end cap">${num(gbs(m.bytes, ns))}</text><text x="${c.flops}" y="${y}" class="m end cap">${num(gflops(m.flops, ns))}</text>`;
}

/** Below the table: the kernels of the op, how near it comes to what the machine can do, and its workers. */
function beneath(p: PassPlace, l: PassLayout): string {
  const o = p.m.rows[p.cur], y = l.foot + 36, { c } = l;
  if (!o) return `<text x="${c.name}" y="${y}" class="s">${p.cur < 0 ? 'The playhead is before the pass. Right enters it.' : 'The playhead is behind the pass. Left enters it.'}</text>`;
  const ks = kernelsOf(p.r, o.spans), half = Math.max(c.name + 330, Math.round((c.name + c.end) / 2) + 20), where = o.layered ? (p.scope === 'all' ? `${p.r.layers} layers` : `layer ${p.layer}`) : 'once';
  let g = `<text x="${c.name}" y="${y}" class="b">Kernels of ${esc(o.label)}<tspan class="s" font-weight="400">, ${where}</tspan></text>`;
  const room = Math.max(1, Math.min(3, Math.floor((p.H - y - 74) / 15)));
  ks.slice(0, room).forEach((k, n) => {
    const yy = y + 17 + n * 15;
    g += `<text x="${c.name}" y="${yy}" class="m">${esc(k.name)}<tspan class="s"> ${esc(k.variant)}</tspan></text><text x="${half - 24}" y="${yy}" class="m end cap"><tspan class="s">${k.launches} × ${k.threads ? `${k.threads} thread${k.threads === 1 ? '' : 's'}` : 'threads not recorded'}  </tspan>${time(k.ns)}</text>`;
  });
  if (ks.length > room) g += `<text x="${half - 24}" y="${y}" class="end cap s">${ks.length - room} more in the table</text>`;
  return g + gauges(p, o, half, y, c.end) + workers(p, o, l, y + 17 + Math.min(room, ks.length) * 15 + 6);
}

/** How near: a bar from nothing to the roof; what passes it is drawn past it. */
function gauges({ roof }: PassPlace, o: OpRow, x: number, y: number, end: number): string {
  const read = gbs(o.bytes, o.ns), work = gflops(o.flops, o.ns), s = o.spread, w = Math.max(60, end - x - 270);
  let g = '';
  const gauge = (yy: number, name: string, v: number | null, unit: string, top: number | null, what: string, over: string): string => {
    const label = `<text x="${x}" y="${yy + 4}" class="cap s">${name}</text><text x="${x + 132}" y="${yy + 4}" class="m end cap">${v === null ? '–' : `${num(v)} ${unit}`}</text>`;
    if (!top) return `${label}<text x="${x + 142}" y="${yy + 4}" class="cap s">${what}: not measured</text>`;
    const full = x + 142 + w * 0.8, k = v === null ? 0 : Math.min(w, (v / top) * w * 0.8), past = v !== null && v > top;
    return `${label}<rect x="${x + 142}" y="${yy - 4}" width="${Math.max(0.5, k)}" height="8" fill="${fam(o.family)}"/><path d="M${full} ${yy - 7}v14" stroke="var(--text)" stroke-dasharray="2 2"/><text x="${end}" y="${yy + 4}" class="end cap s"><tspan class="m" fill="var(--text)">${v === null ? '' : `${share(v, top)}%`}</tspan> ${past ? over : `of ${num(top)} ${what}`}</text>`;
  };
  if (s) g += `<text x="${end}" y="${y}" class="end cap s">${s.n > 1 ? `${s.n} passes: least <tspan class="m" fill="var(--text)">${time(s.min)}</tspan>, median <tspan class="m" fill="var(--text)">${time(s.median)}</tspan>, most <tspan class="m" fill="var(--text)">${time(s.max)}</tspan>` : 'the only pass of its kind and size'}</text>`;
  const memory = roof && memoryRoof(roof), int = isInteger(o.spans[0]?.kernel), arith = roof && (int ? roof.int8_gops : roof.f32_gflops);
  g += gauge(y + 13, 'read', read, 'GB/s', memory?.max ?? null, roof && copies(roof) ? 'copy' : 'memory', 'above what memory gave');
  g += gauge(y + 28, 'computed', work, 'Gop/s', arith?.max ?? null, int ? '8-bit' : 'float', `of ${num(arith?.max ?? 0)}`);
  return `<g><title>${roof ? `${esc(roofTitle(roof))}. What is above memory was read from a cache, or the roof was measured while the machine was busy.` : HOW_TO_ROOF}</title>${g}</g>`;
}

/** The workers of one span of the op: busy, then waiting at the barrier. Where inside the op a worker was busy is not recorded. */
function workers({ layer, H }: PassPlace, o: OpRow, { c }: PassLayout, y0: number): string {
  const span = o.layered ? o.spans.find((p) => p.layer === layer) : o.spans[0], busy = span?.attrs?.['busy_ns'];
  const y = Math.max(y0, 0), left = H - y - 34;
  if (!span || !isNumbers(busy) || !busy.length || left < 12) return '';
  const n = Math.min(busy.length, Math.floor(left / 7)), h = Math.max(5, Math.min(18, left / n - 3)), x0 = c.name, x1 = c.end, k = (x1 - x0) / Math.max(1, span.dur_ns);
  let g = '';
  for (let w = 0; w < n; w++) {
    const yy = y + 6 + w * (h + 3), e = Math.min(span.dur_ns, busy[w]!), wait = span.dur_ns - e;
    if (h > 9 || w === 0) g += `<text x="${x0 - 10}" y="${yy + h / 2 + 4}" class="cap end">${h > 9 ? `worker ${w}` : 'workers'}</text>`;
    g += `<g><title>worker ${w}: busy ${exactNs(e)}, waited ${exactNs(wait)}</title><rect x="${x0}" y="${yy}" width="${Math.max(0.5, e * k)}" height="${h}" fill="${fam(o.family)}"/>${wait * k > 1 ? `<rect x="${x0 + e * k}" y="${yy + 0.5}" width="${wait * k}" height="${h - 1}" fill="none" stroke="var(--graphic)" stroke-dasharray="2 2"/>` : ''}</g>`;
  }
  const ay = y + 6 + n * (h + 3) + 1, where = o.layered ? `L${layer}, ` : '';
  g += `<line x1="${x0}" x2="${x1}" y1="${ay + 0.5}" y2="${ay + 0.5}" class="hair2"/><text x="${x0}" y="${ay + 14}" class="m s cap">0</text><text x="${x1}" y="${ay + 14}" class="m cap end">${time(span.dur_ns)}</text>`;
  return `${g}<text x="${(x0 + x1) / 2}" y="${ay + 14}" class="mid cap s">${where}${busy.length === 1 ? 'one worker took the whole op' : `filled: busy, drawn from the start; dashed: waiting at the barrier${n < busy.length ? `; ${n} of ${busy.length} workers` : ''}`}</text>`;
}
