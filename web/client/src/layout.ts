// The map's layout, from (lane, room, order) alone: no positions are written
// by hand. The rules are: consecutive steps of one file in one lane are a
// visit; visits stack into columns; x never goes back, so that stages are
// intervals; a change of lane needs only a short drop to the right.
// It does not know about drawing or the page; text widths come from outside.
import { shortPath, type Recording } from './recording';
import type { Role } from './roles';
import type { Stage, Step } from './schema';

/** Width in px of text at a size in px, in the sans face. */
export type Measure = (text: string, px: number) => number;

export interface Visit { lane: string; room: string; steps: number[]; res: boolean; op: boolean }
export interface Room { name: string; x: number; w: number; y0: number; y1: number; steps: number[] }
export interface Column { lane: string; visits: Visit[]; rows: number; op: boolean; res: boolean; stage: Stage; x: number; w: number; rooms: Room[]; top: number; bot: number }
export interface Place { x: number; y: number; col: number }
export interface Band { y0: number; y1: number }

export interface MapInput {
  steps: Step[];
  roles: Role[];
  lanes: string[];
  opsLane: string;
  /** index of the last step of the layer loop, -1 without one */
  layerEnd: number;
}

export interface MapLayout {
  cols: Column[];
  pos: Place[];
  lanes: Band[];
  pitch: number;
  gut: number;
  width: number;
  height: number;
  /** what the drawing needs; more than width or height means it does not fit */
  needW: number;
  needH: number;
  short: boolean;
  resY: number;
}

export interface LayoutOptions { pitch?: number; gap?: number; maxRows?: number[]; ruler?: number; maxGut?: number }

export const PAD = 18;
const PAR_GAP = 11;

export const inputOf = (r: Recording): MapInput => ({
  steps: r.steps, roles: r.roles, lanes: r.lanes.map((l) => l.id), opsLane: r.opsLane, layerEnd: r.layerLoop?.to ?? -1,
});

/** 1. Cut the walk into visits: same lane, same room, nothing in between. */
export function visitsOf(m: MapInput): Visit[] {
  const out: Visit[] = [];
  m.steps.forEach((s, i) => {
    const r = m.roles[i]!, room = r.op ? '' : s.source.path || s.lane, last = out.at(-1);
    const same = last && last.lane === s.lane && last.room === room && last.op === r.op && !r.res && !last.res;
    if (same) last.steps.push(i);
    else out.push({ lane: s.lane, room, steps: [i], res: r.res, op: r.op });
  });
  return out;
}

/** Offset in x of a step that stands side by side with others, from the first of them. */
export function parOffset(m: MapInput, i: number, tw: Measure): number {
  let x = 0;
  for (let n = m.roles[i]!.par; n > 1; n--) x += 11 + tw(m.steps[i - (m.roles[i]!.par - n) - 1]!.label, 12) + PAR_GAP;
  return x;
}

const rowsOf = (m: MapInput, v: Visit): number =>
  v.res ? 0 : v.steps.filter((i) => m.roles[i]!.par <= 1).length + (v.op ? 0 : 1);

/** 2. Stack visits of one stage and lane into columns, first fit. */
function columnsOf(m: MapInput, visits: Visit[], max: number[]): Column[] {
  const cols: Column[] = [];
  for (const v of visits) {
    const rows = rowsOf(m, v), c = cols.at(-1), stage = m.steps[v.steps[0]!]!.stage;
    const limit = max[m.lanes.indexOf(v.lane)] ?? 8;
    if (c && !v.res && !c.res && !v.op && !c.op && c.lane === v.lane && c.stage === stage && c.rows + rows <= limit) {
      c.visits.push(v);
      c.rows += rows;
    } else cols.push({ lane: v.lane, visits: [v], rows, op: v.op, res: v.res, stage, x: 0, w: 0, rooms: [], top: 0, bot: 0 });
  }
  return cols;
}

export const roomName = (path: string, short: boolean): string => (short ? path.split('/').pop() ?? path : shortPath(path));

function widths(m: MapInput, cols: Column[], short: boolean, tw: Measure): void {
  for (const c of cols) {
    if (c.res) {
      const i = c.visits[0]!.steps[0]!;
      c.w = m.layerEnd >= 0 && i > m.layerEnd && i + 1 < m.steps.length && m.roles[i + 1]!.res ? Math.max(26, tw(m.steps[i]!.label, 12) - 4) : 18;
      continue;
    }
    const names = c.visits.flatMap((v) => v.steps.map((i) => tw(m.steps[i]!.label, 12) + parOffset(m, i, tw)));
    const rooms = c.visits.map((v) => (v.op ? 0 : tw(roomName(v.room, short), 11)));
    c.w = (c.op ? 20 : 23) + Math.max(...names, ...rooms);
  }
}

/** 3. Place columns for one gutter; returns the width used. */
function place(m: MapInput, cols: Column[], gut: number): number {
  const drop = gut * 0.6 + 16, right = new Map<string, number>();
  let px = 0, prev = '';
  cols.forEach((c, i) => {
    const free = right.get(c.lane) ?? 0;
    let x = i === 0 ? 0 : c.lane === prev ? free : Math.max(free, px + drop);
    if (c.res) x = Math.max(x, px + (c.lane === prev ? 0 : drop));
    c.x = x;
    right.set(c.lane, x + c.w + (c.res ? 4 : gut));
    px = c.x;
    prev = c.lane;
  });
  // a track that goes up leaves to the right of its column and needs room there
  return Math.max(...cols.map((c, i) => {
    const next = cols[i + 1];
    const up = next && m.lanes.indexOf(next.lane) < m.lanes.indexOf(c.lane);
    return c.x + c.w + (up && !c.res ? gut * 0.5 : 0);
  }));
}

function fitGutter(m: MapInput, cols: Column[], room: number, maxGut: number): { gut: number; used: number } {
  let lo = 6, hi = maxGut;
  for (let k = 0; k < 20; k++) {
    const mid = (lo + hi) / 2;
    if (place(m, cols, mid) <= room) lo = mid; else hi = mid;
  }
  return { gut: lo, used: place(m, cols, lo) };
}

/** 4. y: a lane is as high as its tallest column; what is left over goes between the lanes. */
function vertical(m: MapInput, cols: Column[], H: number, o: Required<LayoutOptions>): { lanes: Band[]; need: number; resY: number } {
  const P = o.pitch, resTop = P * 1.7;
  const tallest = (id: string, f: (c: Column) => number): number => Math.max(0, ...cols.filter((c) => c.lane === id).map(f));
  const heights = m.lanes.map((id) => id === m.opsLane
    ? resTop + tallest(id, (c) => c.rows * P + (c.op ? 0 : 6 * c.visits.length)) + 4 + P * 0.6
    : tallest(id, (c) => c.rows * P + 6 * c.visits.length) + 5);
  const need = o.ruler + heights.reduce((a, b) => a + b, 0) + o.gap * (m.lanes.length - 1) + 36;
  const free = Math.max(0, H - need);
  let y = o.ruler + free * 0.14;
  const lanes = heights.map((h) => {
    const band = { y0: y, y1: y + h };
    y += h + o.gap + free * 0.22;
    return band;
  });
  const ops = lanes[m.lanes.indexOf(m.opsLane)];
  return { lanes, need, resY: (ops?.y0 ?? 0) + resTop * 0.62 };
}

function stations(m: MapInput, cols: Column[], lanes: Band[], resY: number, P: number, tw: Measure): Place[] {
  const pos: Place[] = [];
  cols.forEach((c, ci) => {
    const band = lanes[m.lanes.indexOf(c.lane)]!, ops = c.lane === m.opsLane && m.layerEnd >= 0, resTop = ops ? P * 1.7 : 0;
    let y = band.y0 + resTop;
    for (const v of c.visits) {
      if (c.res) {
        for (const i of v.steps) pos[i] = { x: c.x, y: resY, col: ci };
        continue;
      }
      const y0 = y;
      y += c.op ? P * 0.45 : P;
      for (const i of v.steps) {
        if (m.roles[i]!.par > 1) y -= P;
        pos[i] = { x: c.x + parOffset(m, i, tw), y: y + P / 2, col: ci };
        y += P;
      }
      if (!c.op) y += 6;
      c.rooms.push({ name: v.room, x: c.x, w: c.w, y0, y1: y, steps: v.steps });
    }
    c.bot = c.op ? y + 4 : y - 5;
    c.top = c.op ? band.y0 + resTop + P * 0.1 : band.y0 + resTop + P * 0.5 + 3;
  });
  return pos;
}

function attempt(m: MapInput, W: number, H: number, tw: Measure, o: Required<LayoutOptions>, short: boolean): MapLayout {
  const cols = columnsOf(m, visitsOf(m), o.maxRows);
  widths(m, cols, short, tw);
  const room = W - 2 * PAD - 4;
  const { gut, used } = fitGutter(m, cols, room, o.maxGut);
  for (const c of cols) c.x += PAD + 8;
  const v = vertical(m, cols, H, o);
  const pos = stations(m, cols, v.lanes, v.resY, o.pitch, tw);
  return { cols, pos, lanes: v.lanes, pitch: o.pitch, gut, width: W, height: H, needW: W + Math.max(0, used - room), needH: v.need, short, resY: v.resY };
}

/** cramped counts the stages whose interval is too short for their name. */
function cramped(l: MapLayout, tw: Measure): number {
  const first = new Map<Stage, number>();
  for (const c of l.cols) if (!first.has(c.stage)) first.set(c.stage, c.x);
  const at = [...first];
  return at.filter(([stage, x], n) => (at[n + 1]?.[1] ?? l.width) - x < tw(stage, 12) + 24).length;
}

/** mixes lists every choice of one value from each list; with many lanes the lists are cut short. */
function mixes(lists: number[][]): number[][] {
  const few = lists.length > 3 ? lists.map((l) => l.filter((v) => v !== 1 && v !== 3)) : lists;
  return few.reduce<number[][]>((all, l) => all.flatMap((a) => l.map((v) => [...a, v])), [[]]).slice(0, 400);
}

/**
 * layoutMap fits the walk into W x H px. When names of folders do not fit it
 * drops them, then makes columns taller; what still does not fit is told by
 * needW and needH, and the caller scales the drawing.
 */
export function layoutMap(m: MapInput, W: number, H: number, tw: Measure, opt: LayoutOptions = {}, final = false): MapLayout {
  const o: Required<LayoutOptions> = {
    pitch: opt.pitch ?? Math.max(15, Math.min(20, Math.floor((H - 180) / 25))),
    gap: opt.gap ?? (H > 700 ? 44 : H > 600 ? 34 : 28), ruler: opt.ruler ?? 40, maxGut: opt.maxGut ?? 60,
    maxRows: opt.maxRows ?? m.lanes.map(() => 8),
  };
  if (m.steps.length === 0) return { cols: [], pos: [], lanes: [], pitch: o.pitch, gut: 0, width: W, height: H, needW: W, needH: H, short: false, resY: 0 };
  // Each candidate costs: taller columns, a tighter pitch, rooms without their folders. The cheapest that fits wins.
  let best: MapLayout | null = null, cost = Infinity, over = Infinity;
  for (const more of mixes(m.lanes.map((id) => (id === m.opsLane && m.layerEnd >= 0 ? [0] : [0, 1, 2, 3, 5])))) for (const short of [false, true]) {
    const opts = { ...o, maxRows: o.maxRows.map((r, n) => r + more[n]!) };
    let l = attempt(m, W, H, tw, opts, short);
    for (let P = o.pitch - 1; l.needW <= W && l.needH > H && P >= Math.min(14, o.pitch); P--) l = attempt(m, W, H, tw, { ...opts, pitch: P }, short);
    const out = Math.max(l.needW / W, l.needH / H, 1), price = more.reduce((a, b) => a + b, 0) / more.length + (o.pitch - l.pitch) * 1.2 + (short ? 3 : 0) + 2 * cramped(l, tw);
    if (out < over - 1e-6 || (out === over && price < cost)) { best = l; over = out; cost = price; }
  }
  const b = best!, k = Math.max(b.needW / W, b.needH / H);
  // too much for this size: lay it out on a larger sheet of the same shape
  return k > 1 && !final ? layoutMap(m, Math.ceil(W * k), Math.ceil(H * k), tw, opt, true) : b;
}

/**
 * layoutWide is for a sheet that is as wide as the walk needs at full size,
 * seen through a window of W x H px: nothing is made smaller to fit.
 */
export function layoutWide(m: MapInput, W: number, H: number, tw: Measure, opt: LayoutOptions = {}): MapLayout {
  let l = layoutMap(m, W, H, tw, opt, true);
  for (let k = 0; k < 3 && l.needW > l.width; k++) l = layoutMap(m, Math.ceil(l.needW) + 1, H, tw, opt, true);
  return l;
}
