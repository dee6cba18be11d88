// The map drawn: SVG text from a recording, a layout and a playhead. Strings
// only, so that the same code draws the view, the home page, close-ups,
// exports and tests. It does not know about the page.
import { esc, exactNs, svgBadge, time } from './format';
import { layoutMap, layoutWide, roomName, type LayoutOptions, type MapInput, type MapLayout, type Measure, inputOf, PAD } from './layout';
import { STAGES, STAGE_LETTER, STAGE_NAME, type Recording } from './recording';
import { path, Routes, type Point } from './route';
import type { Form, Stage } from './schema';
import { at, turns, type State, type Turn } from './state';
import { octagon, stopsOf } from './stops';

export const SIGN: Record<Form, string> = { bytes: '01', json: '{}', text: 'Aa', ids: '#', pages: 'P', vector: 'x', scores: '%', logits: '±', piece: 'Aa' };

/** mark is the request itself: the one square among circles, carrying the sign of its form. */
export function mark(x: number, y: number, form: Form, inverse = false): string {
  const ink = inverse ? 'var(--page)' : 'var(--now)';
  let inside = `<text x="${x}" y="${y + 3.8}" class="m mid sign" fill="${ink}">${SIGN[form]}</text>`;
  if (form === 'pages') {
    inside = [0, 1, 2, 3, 4, 5].map((k) => `<rect x="${x - 4.8 + (k % 3) * 3.4}" y="${y - 3.6 + Math.floor(k / 3) * 3.8}" width="2.6" height="3" fill="${k < 4 ? ink : 'none'}" stroke="${ink}" stroke-width=".8"/>`).join('');
  }
  return `<rect x="${x - 8.5}" y="${y - 7.5}" width="17" height="15" fill="${inverse ? 'var(--now)' : 'var(--page)'}" stroke="var(--now)" stroke-width="2"/>${inside}`;
}

export interface MapOptions extends LayoutOptions {
  /** without names of loops and times: for pictures */
  bare?: boolean;
  /** step that the mark stands on while it travels is not drawn */
  noMark?: boolean;
  /** as wide as it has to be, in place of fitted, and seen through a window around the playhead */
  wide?: boolean;
}

export interface MapDrawing { svg: string; layout: MapLayout; routes: Routes; input: MapInput; frame: { x0: number; x1: number; y: number } | null; pane: Pane | null }

interface Ctx {
  r: Recording; s: State; cur: number; m: MapInput; l: MapLayout; rt: Routes; tw: Measure; o: MapOptions;
  color: (i: number) => string;
  pane: Pane | null;
}

/** The layout does not depend on the playhead: it is made once for a recording and size. */
const laid = new WeakMap<Recording, Map<string, { m: MapInput; l: MapLayout; rt: Routes; v: number }>>();
function laidOut(r: Recording, W: number, H: number, tw: Measure, o: MapOptions): { m: MapInput; l: MapLayout; rt: Routes } {
  const key = JSON.stringify([W, H, o.pitch, o.gap, o.maxRows, o.ruler, o.maxGut, o.wide]);
  let of = laid.get(r);
  if (!of) laid.set(r, (of = new Map()));
  const had = of.get(key);
  if (had && had.v === r.shape) return had;
  if (of.size > 8) of.clear();
  const m = inputOf(r), l = (o.wide ? layoutWide : layoutMap)(m, W, H, tw, o), made = { m, l, rt: new Routes(m, l), v: r.shape };
  of.set(key, made);
  return made;
}

/** shrunk is how much smaller than full size the fitted map is drawn: 1 is full size. */
export function shrunk(r: Recording, W: number, H: number, tw: Measure, o: MapOptions = {}): number {
  const { l } = laidOut(r, W, H, tw, o);
  return Math.min(1, W / Math.max(l.width, l.needW), H / Math.max(l.height, l.needH));
}

/** A window on the sheet, in px of the sheet. */
export interface Pane { x: number; y: number; w: number; h: number }

/** paneAt puts the column of the playhead in the middle of a window of W x H: it moves only when the mark changes its column. */
export function paneAt(l: MapLayout, i: number, W: number, H: number): Pane {
  const p = l.pos[i], c = p && l.cols[p.col], w = Math.max(l.width, l.needW), h = Math.max(l.height, l.needH);
  const x = c ? c.x + c.w / 2 - W / 2 : 0, y = p ? p.y - H / 2 : 0;
  return { x: Math.max(0, Math.min(w - W, x)), y: Math.max(0, Math.min(h - H, y)), w: W, h: H };
}

export function drawMap(r: Recording, s: State, W: number, H: number, tw: Measure, o: MapOptions = {}): MapDrawing {
  const { m, l, rt } = laidOut(r, W, H, tw, o);
  const pane = o.wide ? paneAt(l, at(r, s), W, H) : null;
  const c: Ctx = { r, s, cur: at(r, s), m, l, rt, tw, o, pane, color: (i) => `var(--st-${STAGE_LETTER[r.steps[i]!.stage]})` };
  const t = turns(r, s);
  const loop = layerFrame(c, t.layer);
  const svg = laneRules(c) + ruler(c) + rooms(c) + doors(c) + residual(c) + loop.svg + waitLine(c) + tokenTrack(c, t.token) + tracks(c) + hands(c) + stations(c);
  return { svg, layout: l, routes: rt, input: m, frame: loop.frame, pane };
}

function laneRules({ m, rt, l }: Ctx): string {
  return m.lanes.slice(0, -1).map((_, n) => {
    const y = Math.round(rt.gapY(n)) + 0.5;
    return `<line x1="0" x2="${l.width}" y1="${y}" y2="${y}" class="hair"/>`;
  }).join('');
}

/** Stages are intervals because x never goes back: they become dimension lines with their times. */
export function stageSpans(r: Recording, l: MapLayout): Map<Stage, [number, number]> {
  const out = new Map<Stage, [number, number]>();
  const has = STAGES.filter((k) => r.steps.some((s) => s.stage === k));
  const first = has.map((k) => Math.min(...r.steps.flatMap((s, i) => (s.stage === k && l.pos[i] ? [l.pos[i].x - 10] : []))));
  has.forEach((k, n) => out.set(k, [first[n]!, Math.max(first[n]!, (first[n + 1] ?? l.width - 10) - 4)]));
  return out;
}

function ruler({ r, l, cur, tw, o, pane }: Ctx): string {
  const here = r.steps[cur]?.stage;
  let g = '';
  for (const [stage, [from, to]] of stageSpans(r, l)) {
    // through a window the names stay in sight
    const a = pane ? Math.max(from, pane.x + 16) : from, b = pane ? Math.min(to, pane.x + pane.w - 10) : to;
    if (b <= a) continue;
    const k = STAGE_LETTER[stage], c = `var(--st-${k})`, on = stage === here, ns = r.stageTime(stage), y = 29.5;
    g += `<line x1="${a}" x2="${b}" y1="${y}" y2="${y}" stroke="${c}" stroke-width="${on ? 3 : 1}"/><path d="M${a} ${y - 5}v10M${b} ${y - 5}v10" stroke="${c}"/>`;
    g += `<text x="${a}" y="18.5" fill="${c}" class="b tint">${k}</text>`;
    const name = STAGE_NAME[stage], label = time(ns), free = b - a - 13;
    if (free > tw(name, 12)) g += `<text x="${a + 13}" y="18.5"${on ? ' class="b"' : ''}>${name}</text>`;
    if (ns > 0 && !o.bare && free > tw(name, 12) + label.length * 6.8 + 26) {
      g += `<g><title>${exactNs(ns)} of the wall clock</title><text x="${b - 12}" y="18.5" class="s m end cap">${label}</text>${svgBadge(b - 5, 14.5, 'derived')}</g>`;
    }
  }
  return g;
}

function rooms({ l, cur }: Ctx): string {
  let g = '';
  for (const c of l.cols) for (const q of c.rooms) {
    if (c.op) continue;
    const on = q.steps.includes(cur);
    g += `<rect x="${Math.round(q.x - 10) + 0.5}" y="${Math.round(q.y0) + 0.5}" width="${Math.round(q.w)}" height="${Math.round(q.y1 - q.y0)}" fill="none" stroke="${on ? 'var(--graphic)' : 'var(--rule)'}" shape-rendering="crispEdges"/>`;
    g += `<text x="${q.x + 11}" y="${q.y0 + l.pitch * 0.5 + 6}" class="cap${on ? '' : ' s'}">${esc(roomName(q.name, l.short))}<title>${esc(q.name)}</title></text>`;
  }
  return g;
}

function doors({ rt, m }: Ctx): string {
  let g = '';
  for (let i = 0; i < m.steps.length - 1; i++) for (const [x, y, v] of rt.doors(i)) {
    const X = v ? Math.round(x) + 0.5 : x, Y = v ? y : Math.round(y) + 0.5;
    g += `<line x1="${X - (v ? 0 : 5)}" x2="${X + (v ? 0 : 5)}" y1="${Y - (v ? 5 : 0)}" y2="${Y + (v ? 5 : 0)}" stroke="var(--page)" stroke-width="4"/>`;
  }
  return g;
}

function residual({ m, l }: Ctx): string {
  const res = m.roles.map((q, i) => (q.res ? i : -1)).filter((i) => i >= 0);
  if (res.length < 2) return '';
  return `<line x1="${l.pos[res[0]!]!.x}" x2="${l.pos[res.at(-1)!]!.x}" y1="${l.resY}" y2="${l.resY}" stroke="var(--graphic)"/>`;
}

/** ticks draws one tick a turn between two x and a bar at the turn it is in. Many turns are drawn as their hundredths. */
function ticks(x0: number, x1: number, y: number, t: Turn, color: string): string {
  if (t.n < 1) return '';
  const most = Math.max(1, Math.floor(Math.abs(x1 - x0) / 3)), n = Math.min(t.n, most);
  let g = '';
  for (let i = 0; i < n; i++) {
    const x = x0 + ((x1 - x0) * (i + 0.5)) / n, done = (i * t.n) / n < t.done;
    const h = done ? 4 : 2.5;
    g += `<line x1="${x}" x2="${x}" y1="${y - h}" y2="${y + h}" stroke="${color}" stroke-width="${done ? 2 : 1}"/>`;
  }
  if (t.now >= 0) {
    const x = x0 + ((x1 - x0) * (t.now + 0.5)) / t.n;
    g += `<rect x="${x - 2}" y="${y - 7}" width="4" height="14" fill="var(--text)"/>`;
  }
  return g;
}

const dotted = (on: boolean): string => (on ? '' : ' stroke-dasharray="1.5 3.5"');

function layerFrame({ r, s, m, l, o, cur }: Ctx, t: Turn | null): { svg: string; frame: MapDrawing['frame'] } {
  const loop = r.layerLoop;
  if (!loop || !t) return { svg: '', frame: null };
  const a = l.pos[loop.from]!, z = l.pos[loop.to]!, x0 = a.x - 16, x1 = z.x + 13, ops = l.lanes[m.lanes.indexOf(m.opsLane)]!, y = ops.y1 + 10;
  const on = cur >= loop.from, color = 'var(--st-C)', ry = l.resY;
  let g = `<path d="${path([[x1, ry], [x1, y], [x0, y], [x0, ry]], 8)}" fill="none" stroke="${color}" stroke-width="1.25"${dotted(on)}/>`;
  g += ticks(x0 + 16, x1 - 16, y, t, color) + `<path d="M${x0 - 4} ${ry + 17}l4-7 4 7z" fill="${color}"/>`;
  if (!o.bare) {
    const ns = passLayersTime(r, s.pass, loop.from, loop.to);
    g += `<text x="${x0}" y="${y + 19}" class="cap"><tspan class="b">× ${loop.n}</tspan><tspan class="s"> layers${t.now >= 0 ? ', at ' : ''}</tspan>${t.now >= 0 ? `<tspan class="m">L${t.now}</tspan>` : ''}</text>`;
    if (ns !== null && x1 - x0 > 190) g += `<text x="${x1 - 10}" y="${y + 19}" class="s m end cap">${time(ns)} this pass</text>${svgBadge(x1 - 3, y + 15, 'derived')}`;
  }
  return { svg: g, frame: { x0, x1, y } };
}

/** passLayersTime sums the steps of the layer loop in one pass, ns. */
export function passLayersTime(r: Recording, pass: number, from: number, to: number): number | null {
  let sum = 0, any = false;
  for (let i = from; i <= to; i++) {
    const v = r.timeAt(i, pass);
    if (v !== null) { sum += v; any = true; }
  }
  return any ? sum : null;
}

/** While the workers compute, the loop waits: from the last step before the forward pass to the next in its lane. */
function waitLine({ r, s, m, l, o }: Ctx): string {
  const loop = r.layerLoop, pass = r.passes.find((p) => p.index === s.pass);
  if (!loop || !pass || o.bare) return '';
  let a = loop.from;
  while (a >= 0 && m.steps[a]!.lane === m.opsLane) a--;
  const b = m.steps.findIndex((q, i) => i > loop.to && q.lane === m.steps[a]?.lane);
  if (a < 0 || b < 0) return '';
  const ca = l.cols[l.pos[a]!.col]!, cb = l.cols[l.pos[b]!.col]!, x0 = ca.x + ca.w + 8, x1 = cb.x - 18 - l.gut, y = Math.round(l.pos[a]!.y) + 0.5;
  if (x1 - x0 < 190) return '';
  const mid = (x0 + x1) / 2;
  return `<path d="M${x0} ${y}H${mid - 86}M${mid + 86} ${y}H${x1}M${x0} ${y - 4}v8M${x1} ${y - 4}v8" class="hair2"/><text x="${mid - 5}" y="${y + 4}" class="mid cap s">this pass takes <tspan class="m">${time(pass.dur_ns)}</tspan><title>${exactNs(pass.dur_ns)}</title></text>${svgBadge(mid + 77, y, 'measured')}`;
}

export function tokenRoute(r: Recording, l: MapLayout, rt: Routes): Point[] | null {
  const loop = r.tokenLoop;
  if (!loop) return null;
  const a = l.pos[loop.to]!, b = l.pos[loop.from]!, ax = l.cols[a.col]!.x - 10 - l.gut * 0.5, bx = l.cols[b.col]!.x - 10 - l.gut * 0.5;
  return [[a.x, a.y], [ax + 3, a.y], [ax + 3, rt.loopY], [bx - 3, rt.loopY], [bx - 3, b.y], [b.x - 5, b.y]];
}

function tokenTrack({ r, m, l, rt, o, cur }: Ctx, t: Turn | null): string {
  const pts = tokenRoute(r, l, rt), loop = r.tokenLoop, color = 'var(--st-D)';
  if (!pts || !loop || !t) return '';
  const b = l.pos[loop.from]!, on = cur >= loop.from && t.done > 0 || t.now >= 0;
  let launch = r.layerLoop?.from ?? loop.from;
  while (launch > loop.from && m.steps[launch]!.lane === m.opsLane) launch--;
  const lx = l.pos[launch]!.x, end = pts[1]![0];
  let g = `<path d="${path(pts, 8)}" fill="none" stroke="${color}" stroke-width="1.25"${dotted(on)}/><path d="M${b.x - 13} ${b.y - 3.5}l7 3.5-7 3.5z" fill="${color}"/>`;
  if (end - lx > 260) g += ticks(lx + 124, end - 20, rt.loopY, t, color);
  if (!o.bare && t.n > 0) g += `<text x="${lx + 11}" y="${rt.loopY - 6}" class="cap halo"><tspan class="b">× ${t.n}</tspan><tspan class="s"> ${t.n === 1 ? 'pass' : 'passes'}${t.now >= 0 ? ', at ' : ''}</tspan>${t.now >= 0 ? `<tspan class="m">${r.passNumbers[t.now] ?? t.now}</tspan>` : ''}</text>`;
  return g;
}

function tracks({ m, rt, cur, color }: Ctx): string {
  let g = '';
  for (let i = 0; i < m.steps.length - 1; i++) {
    const d = path(rt.segment(i));
    g += i < cur
      ? `<path d="${d}" fill="none" stroke="${color(i + 1)}" stroke-width="2.25" stroke-linejoin="round"/>`
      : `<path d="${d}" fill="none" stroke="var(--graphic)" stroke-dasharray="1.5 3.5"/>`;
  }
  return g;
}

/** handName says what carries the request across: the engine's name for it, else what the step hands on. */
export function handName(r: Recording, i: number): { name: string; by: string } {
  const s = r.steps[i]!;
  if (s.hand) return { name: s.hand.name, by: s.hand.by ?? '' };
  const out = (s.out ?? '').split(/[,;(]/)[0]!.trim();
  return { name: out && out.length <= 18 ? out : 'hand over', by: '' };
}

function hands(c: Ctx): string {
  const { r, m, rt, cur, color, tw, o } = c;
  let g = '';
  for (let i = 0; i < m.steps.length - 1; i++) {
    const dir = rt.goes(i);
    if (dir === 'same') continue;
    const [x, y] = rt.handAt(i), k = color(i + 1), { name, by } = handName(r, i), end = dir === 'up';
    g += `<path d="M${x} ${y - 6}l6 6-6 6-6-6z" fill="${i < cur ? k : 'var(--page)'}" stroke="${k}" stroke-width="1.25"/>`;
    if (o.bare) continue;
    const sg = rt.segment(i), tight = end && !m.roles[i]!.res && sg.length > 4 && Math.abs(sg[3]![0] - sg[4]![0]) < tw(`${name} ${by}`, 12) + 22;
    const far = end && x < tw(`${name} ${by}`, 12) + 30;
    g += `<text x="${x + (end && !far ? -11 : 11)}" y="${tight ? y + 15 : y - 4}" class="halo${end && !far ? ' end' : ''}">${esc(name)}${by ? ` <tspan class="s">${esc(by)}</tspan>` : ''}</text>`;
  }
  return g;
}

function stations(c: Ctx): string {
  const signs = stopsOf(c.r);
  let g = '', now = '';
  c.m.steps.forEach((s, i) => {
    const res = c.m.roles[i]!.res, p = c.l.pos[i]!, how = signs.get(s.id);
    const one = station(c, i) + (how ? (i === c.cur ? octagon(p.x - 18, p.y, 5, how === 'stood' ? 'currentColor' : 'none') : octagon(p.x, p.y, res ? 9.5 : 7.5, 'none')) : '');
    const tag = `<g class="st" data-step="${esc(s.id)}"><title>${esc(s.title)}: ${s.count === 0 ? 'not reached' : !c.r.timed(i) ? 'not measured' : `${time(s.time_ns)}, ran ${s.count === 1 ? 'once' : `${s.count} times`}`}</title>${one}</g>`;
    if (i === c.cur) now = tag; else g += tag;
  });
  return g + now;
}

function station(c: Ctx, i: number): string {
  const { m, l, cur, color, o } = c, s = m.steps[i]!, q = m.roles[i]!, p = l.pos[i]!, P = l.pitch, k = color(i);
  const hit = `<rect x="${p.x - 10}" y="${p.y - P / 2}" width="${(q.res ? 0 : c.tw(s.label, 12)) + 24}" height="${P}" fill="transparent"/>`;
  if (i === cur && !o.noMark) {
    const y = q.res ? p.y - P / 2 - 8 : p.y, w = c.tw(s.label, 12);
    return `${hit}<rect x="${p.x + 7}" y="${y - P / 2 + 0.5}" width="${w + 9}" height="${P - 1}" fill="var(--now)"/><text x="${p.x + 11}" y="${y + 4.2}" fill="var(--on-now)" class="on">${esc(s.label)}</text>${mark(p.x, p.y, q.form)}`;
  }
  const done = i < cur, dim = done ? '' : 's';
  let dot: string;
  if (s.count === 0 && !c.r.live) dot = `<path d="M${p.x - 4} ${p.y}h8" stroke="var(--graphic)" stroke-width="1.5"/><circle cx="${p.x}" cy="${p.y}" r="2.6" fill="var(--page)" stroke="var(--graphic)" stroke-dasharray="1.5 1.5"/>`;
  else if (q.plus) dot = `<circle cx="${p.x}" cy="${p.y}" r="5.5" fill="${done ? k : 'var(--page)'}" stroke="${k}" stroke-width="1.25"/><path d="M${p.x - 3} ${p.y}h6M${p.x} ${p.y - 3}v6" stroke="${done ? 'var(--page)' : k}" stroke-width="1.25"/>`;
  else dot = done ? `<circle cx="${p.x}" cy="${p.y}" r="3.4" fill="${k}"/>` : `<circle cx="${p.x}" cy="${p.y}" r="3.2" fill="var(--page)" stroke="${k}" stroke-width="1.25"/>`;
  return hit + dot + label(c, i, dim);
}

/** Labels on the residual line go above, below or beside, so that neighbours never meet. */
export function resLabel(m: MapInput, i: number): 'above' | 'over' | 'below' | 'right' {
  const next = m.roles[i + 1], before = m.roles.slice(0, i).some((r) => r.res);
  if (m.roles[i]!.plus) return 'over';
  if (!before) return 'above';
  return next?.res && m.steps[i + 1]!.lane === m.steps[i]!.lane ? 'below' : 'right';
}

function label({ m, l }: Ctx, i: number, dim: string): string {
  const p = l.pos[i]!, t = esc(m.steps[i]!.label);
  if (!m.roles[i]!.res) return `<text x="${p.x + 11}" y="${p.y + 4.2}" class="${dim}">${t}</text>`;
  switch (resLabel(m, i)) {
    case 'over': return `<text x="${p.x}" y="${p.y - 10}" class="mid halo ${dim}">${t}</text>`;
    case 'above': return `<text x="${p.x - 4}" y="${p.y - 10}" class="halo ${dim}">${t}</text>`;
    case 'below': return `<text x="${p.x - 4}" y="${p.y + 18}" class="${dim}">${t}</text>`;
    case 'right': return `<text x="${p.x + 10}" y="${p.y + 4}" class="${dim}">${t}</text>`;
  }
}

export { PAD };
