// The drawing of a module map on a canvas: folders, boxes, what is joined to
// the marked module, and the way of the request. It knows no state of the
// page: all it draws is in the scene.
import { cutMiddle } from '../format';
import type { Box, Modules, Stop, Window } from './modules-data';

export interface Scene {
  m: Modules;
  win: Window;
  W: number;
  H: number;
  route: Stop[];
  /** index of the stop that the playhead is in; -1 before the first */
  now: number;
  /** the marked module, and whether it was picked by hand */
  mark: number;
  picked: boolean;
  /** the sign of the form the request has here */
  sign: string;
  /** stage letter of the first step in a module, '' for none */
  stage: string[];
  edges: 'mark' | 'all' | 'none';
  /** modules that are looked for; null: nothing is */
  found: Set<number> | null;
  /** modules of the path from A, in order */
  path: number[];
  from: number;
  color(name: string): string;
}

/** View is how places of the map become places on the screen. */
export class Lens {
  private sx: number;
  private sy: number;
  private ox: number;
  private oy: number;
  constructor(m: Modules, w: Window, W: number, H: number) {
    this.sx = (W / m.file.width) * w.k;
    this.sy = (H / m.file.height) * w.k;
    this.ox = W / 2 - w.x * this.sx;
    this.oy = H / 2 - w.y * this.sy;
  }

  x(v: number): number { return this.ox + v * this.sx; }
  y(v: number): number { return this.oy + v * this.sy; }
  box(b: Box): [number, number, number, number] { return [this.x(b[0]), this.y(b[1]), b[2] * this.sx, b[3] * this.sy]; }
  mid(b: Box): [number, number] { return [this.x(b[0] + b[2] / 2), this.y(b[1] + b[3] / 2)]; }
  back(x: number, y: number): [number, number] { return [(x - this.ox) / this.sx, (y - this.oy) / this.sy]; }
  /** units of the map a pixel */
  get unit(): [number, number] { return [1 / this.sx, 1 / this.sy]; }
}

type G = CanvasRenderingContext2D;

export function drawModules(g: G, s: Scene): void {
  const lens = new Lens(s.m, s.win, s.W, s.H);
  g.fillStyle = s.color('page');
  g.fillRect(0, 0, s.W, s.H);
  folders(g, s, lens);
  boxes(g, s, lens);
  if (s.edges === 'all') allEdges(g, s, lens);
  way(g, s, lens);
  if (s.edges !== 'none' && s.mark >= 0 && s.path.length < 2) joined(g, s, lens);
  if (s.path.length > 1) path(g, s, lens);
  marks(g, s, lens);
}

function folders(g: G, s: Scene, lens: Lens): void {
  g.textBaseline = 'middle';
  for (const f of s.m.file.folders) {
    const [x, y, w, h] = lens.box(f.box), depth = f.path.split('/').length;
    if (x > s.W || y > s.H || x + w < 0 || y + h < 0) continue;
    g.fillStyle = s.color(depth % 2 ? 'inset' : 'page');
    g.fillRect(x, y, w, h);
    g.strokeStyle = s.color(depth < 3 ? 'rule-2' : 'rule');
    g.lineWidth = 1;
    g.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, Math.max(1, Math.round(w) - 1), Math.max(1, Math.round(h) - 1));
    // the name stays in sight while its folder does
    const room = Math.min(x + w, s.W) - Math.max(x, 0) - 10;
    const bold = depth < 3, size = bold ? 11.5 : 11, unit = 1 / lens.unit[1];
    if (!f.head || room < 18 || (!bold && unit < 0.5)) continue;
    g.font = `${bold ? 600 : 400} ${size}px ${s.color('sans')}`;
    g.fillStyle = s.color(bold ? 'text' : 'text-2');
    g.fillText(fits(g, f.name, room), Math.max(x, 0) + 6, Math.max(y, 0) + Math.min(11, unit * 10));
  }
}

/** fits shortens a text, both ends kept, until it fits; '' where not even three letters do. */
function fits(g: G, text: string, room: number): string {
  if (g.measureText(text).width <= room) return text;
  let lo = 3, hi = text.length - 1;
  if (g.measureText(cutMiddle(text, 4)).width > room) return '';
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (g.measureText(cutMiddle(text, mid)).width <= room) lo = mid;
    else hi = mid - 1;
  }
  return lo > 3 ? cutMiddle(text, lo) : '';
}

function boxes(g: G, s: Scene, lens: Lens): void {
  s.m.list.forEach((m, i) => {
    const [x, y, w, h] = lens.box(m.box);
    if (x > s.W || y > s.H || x + w < 0 || y + h < 0) return;
    const off = s.found && !s.found.has(i), L = s.stage[i], ran = m.state === 'ran' || m.state === 'by_name';
    g.globalAlpha = off ? 0.25 : 1;
    g.fillStyle = s.color(ran ? (L ? `st-${L}-t` : 'lit') : 'page');
    g.fillRect(x, y, w, h);
    if (m.state === 'by_name') hatch(g, x, y, w, h, s.color(L ? `st-${L}` : 'graphic'));
    g.lineWidth = L ? 1.25 : 1;
    g.setLineDash(m.state === 'by_name' ? [4, 2] : m.state === 'none' ? [1, 3] : []);
    g.strokeStyle = s.color(L ? `st-${L}` : ran ? 'graphic' : 'rule-2');
    g.strokeRect(x + 0.5, y + 0.5, Math.max(0.5, w - 1), Math.max(0.5, h - 1));
    g.setLineDash([]);
    if (h >= 13 && w >= 24) {
      g.font = `11px ${s.color('sans')}`;
      g.fillStyle = s.color(ran ? 'text' : 'text-2');
      const t = fits(g, m.label, Math.min(x + w, s.W) - Math.max(x, 0) - 7);
      if (t) g.fillText(t, Math.max(x, 0) + 4, h < 22 ? y + h / 2 : Math.max(y, 0) + 9);
    }
    g.globalAlpha = 1;
  });
}

function hatch(g: G, x: number, y: number, w: number, h: number, color: string): void {
  g.save();
  g.beginPath();
  g.rect(x, y, w, h);
  g.clip();
  g.globalAlpha *= 0.35;
  g.strokeStyle = color;
  g.lineWidth = 1;
  g.beginPath();
  for (let d = -h; d < w; d += 6) { g.moveTo(x + d, y + h); g.lineTo(x + d + h, y); }
  g.stroke();
  g.restore();
}

function allEdges(g: G, s: Scene, lens: Lens): void {
  g.strokeStyle = s.color('graphic');
  g.lineWidth = 0.6;
  g.globalAlpha = 0.22;
  g.beginPath();
  s.m.list.forEach((m) => {
    const [x, y] = lens.mid(m.box);
    for (const [to, , kind] of m.imports) if (kind < 3) { const [a, b] = lens.mid(s.m.list[to]!.box); g.moveTo(x, y); g.lineTo(a, b); }
  });
  g.stroke();
  g.globalAlpha = 1;
}

/** bend is a line between two places that leans to its right, so that there and back are two. */
function bend(g: G, a: [number, number], b: [number, number]): [number, number] {
  const dx = b[0] - a[0], dy = b[1] - a[1], k = 0.12, c: [number, number] = [(a[0] + b[0]) / 2 - dy * k, (a[1] + b[1]) / 2 + dx * k];
  g.beginPath();
  g.moveTo(...a);
  g.quadraticCurveTo(c[0], c[1], b[0], b[1]);
  return c;
}

/** What the marked module imports ends in a filled dot; who imports it begins in a ring. */
function joined(g: G, s: Scene, lens: Lens): void {
  const m = s.m.list[s.mark]!, me = lens.mid(m.box);
  const line = (to: number, kind: number, into: boolean): void => {
    const at = lens.mid(s.m.list[to]!.box);
    g.setLineDash(kind === 2 ? [5, 3] : kind === 3 ? [1, 3] : []);
    g.strokeStyle = s.color(into ? 'graphic' : 'text-2');
    g.lineWidth = s.picked ? 1.1 : 0.8;
    g.globalAlpha = s.picked ? 0.85 : 0.4; // on the walk, the way comes first
    if (into) bend(g, at, me); else bend(g, me, at);
    g.stroke();
    g.setLineDash([]);
    g.beginPath();
    g.arc(at[0], at[1], 3, 0, 7);
    g.fillStyle = s.color(into ? 'page' : 'text-2');
    g.fill();
    if (into) g.stroke();
    g.globalAlpha = 1;
  };
  for (const j of s.m.importers[s.mark]!) line(j, s.m.list[j]!.imports.find((e) => e[0] === s.mark)![2], true);
  for (const [to, , kind] of m.imports) line(to, kind, false);
}

/** The request's way: travelled legs in the colour of their stage, the newest strongest, those to come dotted. */
function way(g: G, s: Scene, lens: Lens): void {
  const at = (n: number): [number, number] => lens.mid(s.m.list[s.route[n]!.module]!.box), quiet = s.picked || s.path.length > 1 ? 0.4 : 1;
  g.lineCap = 'round';
  for (let n = s.route.length - 1; n > 0; n--) {
    if (n <= s.now) continue;
    g.setLineDash([0.5, 4]);
    g.lineWidth = 1.25;
    g.strokeStyle = s.color('graphic');
    g.globalAlpha = 0.7 * quiet;
    bend(g, at(n - 1), at(n));
    g.stroke();
  }
  g.setLineDash([]);
  for (let n = 1; n <= s.now && n < s.route.length; n++) {
    const age = s.now - n, color = s.color(`st-${s.stage[s.route[n]!.module] || 'C'}`);
    for (const halo of [true, false]) {
      g.lineWidth = halo ? 4.5 : 2.25;
      g.strokeStyle = halo ? s.color('page') : color;
      g.globalAlpha = quiet * Math.max(0.3, 1 - age * 0.09) * (halo ? 0.8 : 1);
      bend(g, at(n - 1), at(n));
      g.stroke();
    }
  }
  g.globalAlpha = 1;
  g.lineCap = 'butt';
}

function path(g: G, s: Scene, lens: Lens): void {
  const at = s.path.map((i) => lens.mid(s.m.list[i]!.box));
  for (const halo of [true, false]) {
    g.strokeStyle = s.color(halo ? 'page' : 'text');
    g.lineWidth = halo ? 7 : 3;
    for (let n = 1; n < at.length; n++) { bend(g, at[n - 1]!, at[n]!); g.stroke(); }
  }
  for (let n = 1; n < at.length; n++) {
    const c = bend(g, at[n - 1]!, at[n]!), [x, y] = at[n]!, far = Math.max(1, Math.hypot(x - c[0], y - c[1])), ux = (x - c[0]) / far, uy = (y - c[1]) / far;
    g.beginPath();
    for (const d of [-5, 5]) { g.moveTo(x, y); g.lineTo(x - 10 * ux - d * uy, y - 10 * uy + d * ux); }
    g.lineWidth = 3;
    g.stroke();
  }
}

/** Stops: visited filled, coming hollow, the one under the playhead the square with the request's form. */
function marks(g: G, s: Scene, lens: Lens): void {
  const seen = new Map<number, boolean>();
  s.route.forEach((q, n) => seen.set(q.module, (seen.get(q.module) ?? false) || n <= s.now));
  for (const [i, done] of seen) {
    const [x, y] = lens.mid(s.m.list[i]!.box), c = s.color(`st-${s.stage[i] || 'C'}`);
    g.beginPath();
    g.arc(x, y, 3.6, 0, 7);
    g.fillStyle = done ? c : s.color('page');
    g.fill();
    g.lineWidth = 1.25;
    g.strokeStyle = done ? c : s.color('graphic');
    g.stroke();
  }
  if (s.mark >= 0) {
    const [x, y, w, h] = lens.box(s.m.list[s.mark]!.box);
    outline(g, s, x, y, w, h, 2);
  }
  if (s.from >= 0) flag(g, s, lens, s.from, 'A');
  if (s.path.length > 1) flag(g, s, lens, s.mark, 'B');
  const here = s.route[s.now];
  if (here) {
    const [x, y] = lens.mid(s.m.list[here.module]!.box), r = 9;
    g.fillStyle = s.color('page');
    g.fillRect(x - r - 3, y - r - 3, 2 * r + 6, 2 * r + 6);
    g.fillStyle = s.color('text');
    g.fillRect(x - r, y - r, 2 * r, 2 * r);
    g.font = `600 11px ${s.color('mono')}`;
    g.fillStyle = s.color('page');
    g.textAlign = 'center';
    g.fillText(s.sign, x, y + 0.5);
    g.textAlign = 'left';
  }
}

export function outline(g: G, s: { color(n: string): string }, x: number, y: number, w: number, h: number, width: number): void {
  g.strokeStyle = s.color('page');
  g.lineWidth = width + 4;
  g.strokeRect(x - 1, y - 1, w + 2, h + 2);
  g.strokeStyle = s.color('text');
  g.lineWidth = width;
  g.strokeRect(x - 1, y - 1, w + 2, h + 2);
}

function flag(g: G, s: Scene, lens: Lens, i: number, letter: string): void {
  const [x, y, w] = lens.box(s.m.list[i]!.box), a = Math.max(2, Math.min(s.W - 18, x + w - 8)), b = Math.max(2, y - 8);
  g.fillStyle = s.color('text');
  g.fillRect(a, b, 16, 16);
  g.font = `600 11px ${s.color('sans')}`;
  g.fillStyle = s.color('page');
  g.textAlign = 'center';
  g.fillText(letter, a + 8, b + 8.5);
  g.textAlign = 'left';
}
