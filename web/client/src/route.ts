// The tracks of the map: how the line goes from one step to the next, where
// it passes a wall, and where a hand-over stands. Geometry only.
import { type MapInput, type MapLayout } from './layout';

export type Point = [number, number];

const near = (a: number, b: number): boolean => Math.abs(a - b) < 0.01;

export class Routes {
  readonly opsAt: number;
  readonly loopY: number;
  readonly handY: number;

  constructor(readonly m: MapInput, readonly l: MapLayout) {
    this.opsAt = m.lanes.indexOf(m.opsLane);
    const above = this.opsAt > 0 ? l.lanes[this.opsAt - 1]!.y1 : 16;
    const below = l.lanes[this.opsAt]?.y0 ?? above;
    this.loopY = above + (below - above) * 0.28;
    this.handY = above + (below - above) * 0.78;
  }

  /** y of the boundary below lane n */
  gapY(n: number): number {
    if (n === this.opsAt - 1) return this.handY;
    return (this.l.lanes[n]!.y1 + (this.l.lanes[n + 1]?.y0 ?? this.l.height)) / 2;
  }

  laneOf(i: number): number {
    return this.m.lanes.indexOf(this.m.steps[i]!.lane);
  }

  /** goes tells how the walk leaves step i: in the same lane, down or up. */
  goes(i: number): 'same' | 'down' | 'up' {
    const d = this.laneOf(i + 1) - this.laneOf(i);
    return d === 0 ? 'same' : d > 0 ? 'down' : 'up';
  }

  /** segment is the polyline from step i to step i+1. */
  segment(i: number): Point[] {
    const { pos, cols, gut, pitch: P } = this.l;
    const a = pos[i]!, b = pos[i + 1]!, ac = cols[a.col]!, bc = cols[b.col]!;
    const ra = this.m.roles[i]!, rb = this.m.roles[i + 1]!;
    if (rb.par > 1) return [[bc.x, b.y - P * 0.5], [b.x, b.y - P * 0.5], [b.x, b.y]];
    if (ra.par > 1 && a.col === b.col) return [[a.x, a.y], [a.x, a.y + P * 0.5], [b.x, a.y + P * 0.5], [b.x, b.y]];
    if (a.col === b.col && !ra.res) return [[a.x, a.y], [b.x, b.y]];
    const gx = b.x - 10 - gut * 0.5;
    switch (this.goes(i)) {
      case 'same':
        if (ra.res && rb.res) return [[a.x, a.y], [b.x, b.y]];
        if (ra.res && rb.op) return [[a.x, a.y], [b.x, a.y], [b.x, b.y]]; // a branch leaves the residual line
        if (rb.res) return [[a.x, a.y], [a.x, ac.bot], [b.x, ac.bot], [b.x, b.y]]; // and comes back
        if (ra.res) return [[a.x, a.y], [gx, a.y], [gx, bc.top], [b.x, bc.top], [b.x, b.y]];
        return [[a.x, a.y], [a.x, ac.bot], [gx, ac.bot], [gx, bc.top], [b.x, bc.top], [b.x, b.y]];
      case 'down': {
        const y = this.gapY(this.laneOf(i));
        return rb.res ? [[a.x, a.y], [a.x, y], [b.x - 14, y], [b.x - 14, b.y], [b.x, b.y]] : [[a.x, a.y], [a.x, y], [b.x, y], [b.x, b.y]];
      }
      case 'up': {
        const y = this.gapY(this.laneOf(i + 1));
        if (ra.res) return [[a.x, a.y], [a.x, y], [gx, y], [gx, bc.top], [b.x, bc.top], [b.x, b.y]];
        const out = Math.max(a.x + ac.w - 10 + gut * 0.5, gx);
        return [[a.x, a.y], [a.x, ac.bot], [out, ac.bot], [out, y], [gx, y], [gx, bc.top], [b.x, bc.top], [b.x, b.y]];
      }
    }
  }

  /** handAt is where the hand-over between step i and i+1 stands. */
  handAt(i: number): Point {
    const up = this.goes(i) === 'up';
    const y = this.gapY(up ? this.laneOf(i + 1) : this.laneOf(i));
    return [up && !this.m.roles[i]!.res ? this.segment(i)[3]![0] : this.l.pos[i]!.x, y];
  }

  /** doors are the gaps in walls where the line between i and i+1 passes: [x, y, in a vertical wall]. */
  doors(i: number): [number, number, boolean][] {
    const { pos, cols } = this.l, a = pos[i]!, b = pos[i + 1]!, ac = cols[a.col]!, bc = cols[b.col]!;
    const out: [number, number, boolean][] = [];
    if (a.col === b.col) {
      const ra = ac.rooms.find((r) => r.steps.includes(i)), rb = bc.rooms.find((r) => r.steps.includes(i + 1));
      if (ra && rb && ra !== rb) out.push([a.x, ra.y1, false]);
      return out;
    }
    const dir = this.goes(i);
    if (!ac.op && ac.rooms.length) out.push(dir === 'down' ? [a.x, ac.bot + 5, false] : [a.x - 10 + ac.w, ac.bot, true]);
    if (!bc.op && bc.rooms.length) out.push(dir === 'down' ? [b.x, bc.rooms[0]!.y0, false] : [b.x - 10, bc.top, true]);
    return out;
  }
}

/** path writes a polyline with 45-degree cuts of r px at its turns, as SVG path data. */
export function path(pts: Point[], r = 7): string {
  const f = (n: number): string => String(Math.round(n * 100) / 100);
  let d = `M${f(pts[0]![0])} ${f(pts[0]![1])}`;
  for (let i = 1; i < pts.length - 1; i++) {
    const [ax, ay] = pts[i - 1]!, [bx, by] = pts[i]!, [cx, cy] = pts[i + 1]!;
    const l1 = Math.hypot(bx - ax, by - ay), l2 = Math.hypot(cx - bx, cy - by), k = Math.min(r, l1 / 2, l2 / 2);
    if (k < 0.5) { d += `L${f(bx)} ${f(by)}`; continue; }
    d += `L${f(bx - ((bx - ax) / l1) * k)} ${f(by - ((by - ay) / l1) * k)}L${f(bx + ((cx - bx) / l2) * k)} ${f(by + ((cy - by) / l2) * k)}`;
  }
  const e = pts.at(-1)!;
  return `${d}L${f(e[0])} ${f(e[1])}`;
}

/** along is the point at part t (0..1) of a polyline: where the moving mark is. */
export function along(pts: Point[], t: number): Point {
  const len = pts.slice(1).map((p, i) => Math.hypot(p[0] - pts[i]![0], p[1] - pts[i]![1]));
  let rest = len.reduce((a, b) => a + b, 0) * t;
  for (let i = 0; i < len.length; i++) {
    if (rest <= len[i]! || i === len.length - 1) {
      const k = near(len[i]!, 0) ? 1 : Math.min(1, rest / len[i]!), a = pts[i]!, b = pts[i + 1]!;
      return [a[0] + (b[0] - a[0]) * k, a[1] + (b[1] - a[1]) * k];
    }
    rest -= len[i]!;
  }
  return pts.at(-1)!;
}
