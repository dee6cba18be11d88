// Where things stand in the Attention view: the grid of heads on the left,
// one map large on the right. Geometry only, in CSS px; tiles are cut so that
// a cell is a whole number of device px.

export type Panes = 'both' | 'heads' | 'map';

export interface GridLayout { x: number; y: number; pitch: number; tile: number; gap: number; cols: number; rows: number; group: number; w: number; h: number; pool: number; m: number; k: number }
export interface MapLayout { x: number; y: number; cell: number; n: number; r0: number; c0: number; size: number; label: number; font: number; step: number; side: boolean; foot: number }
export interface Layout { grid: GridLayout | null; map: MapLayout | null }

export interface Ask {
  W: number; H: number; layers: number; heads: number; kv: number; n: number; panes: Panes; zoom: number; row: number; col: number; dpr: number;
  /** width of the longest token label, px */
  label: number;
  /** heads stand by rank, not by layer: no brackets */
  sorted: boolean;
}

const TOP = 38, LEFT = 40, FOOT = 92;

const clamp = (v: number, lo: number, hi: number): number => Math.max(lo, Math.min(hi, v));

function gridOf(a: Ask): GridLayout {
  const per = a.kv > 0 && a.heads % a.kv === 0 ? a.heads / a.kv : a.heads, groups = a.sorted ? 1 : a.heads / per;
  const room = (a.panes === 'both' ? Math.min(a.W * 0.44, a.W - 340) : a.W - 16) - LEFT;
  const fit = (group: number): number => Math.min((a.H - TOP - 4) / a.layers, (room - group * (groups - 1)) / a.heads);
  const pitch = clamp(Math.floor(fit(fit(8) >= 14 ? 8 : 3)), 3, 46), group = pitch >= 14 ? 8 : 3, gap = pitch >= 16 ? 3 : pitch >= 9 ? 2 : 1;
  const device = Math.max(1, Math.floor((pitch - gap) * a.dpr)), pool = Math.max(1, Math.ceil(a.n / device)), m = Math.ceil(a.n / pool), k = Math.max(1, Math.floor(device / m));
  return { x: LEFT, y: TOP, pitch, gap, tile: (m * k) / a.dpr, cols: a.heads, rows: a.layers, group: a.sorted ? 0 : group, pool, m, k, w: a.heads * pitch + group * (groups - 1), h: a.layers * pitch };
}

/** x and y of the tile in column c and row r; per is the number of heads of a KV group. */
export function tileAt(g: GridLayout, c: number, r: number, per: number): [number, number] {
  return [g.x + c * g.pitch + (g.group ? Math.floor(c / per) * g.group : 0), g.y + r * g.pitch];
}

/** tileUnder finds column and row of the tile at a point, or null between and beside tiles. */
export function tileUnder(g: GridLayout, x: number, y: number, per: number): [number, number] | null {
  const r = Math.floor((y - g.y) / g.pitch);
  if (r < 0 || r >= g.rows) return null;
  for (let c = 0; c < g.cols; c++) {
    const [tx] = tileAt(g, c, r, per);
    if (x >= tx - 1 && x < tx + g.pitch) return [c, r];
  }
  return null;
}

function mapOf(a: Ask, left: number): MapLayout {
  const label = clamp(a.label + 10, 40, 96), x = left + label, y = TOP, availW = a.W - x - 14, availH = a.H - y - FOOT;
  const least = 4, most = 22, fitCell = Math.floor(Math.min(availW, availH) / a.n), cell0 = clamp(fitCell, least, most);
  const wide = a.zoom > 0 || fitCell < least, cell = cell0 * (1 + a.zoom * 0.5) | 0;
  const room = wide ? Math.min(availW - 96, availH) : Math.min(availW, availH), n = clamp(Math.floor(room / cell), 1, a.n), size = n * cell;
  const start = (at: number): number => clamp(at - (n >> 1), 0, a.n - n), font = cell >= 12 ? 12 : 11;
  return { x, y, cell, n, r0: start(a.row), c0: start(a.col), size, label, font, step: Math.max(1, Math.ceil((font + 0.5) / cell)), side: n < a.n, foot: y + size + FOOT };
}

/** layout places both panes. */
export function layout(a: Ask): Layout {
  const grid = a.panes === 'map' ? null : gridOf(a), left = grid ? grid.x + grid.w + 26 : 12;
  return { grid, map: a.panes === 'heads' ? null : mapOf(a, left) };
}

/** cellUnder finds row and key at a point of the map, or null. */
export function cellUnder(m: MapLayout, x: number, y: number): [number, number] | null {
  const c = Math.floor((x - m.x) / m.cell), r = Math.floor((y - m.y) / m.cell);
  return c < 0 || r < 0 || c >= m.n || r >= m.n ? null : [m.r0 + r, m.c0 + c];
}

/** windowPath outlines what lies farther back than a sliding window of win tokens, in the shown part of the map. */
export function windowPath(m: MapLayout, win: number): string {
  let d = '';
  for (let r = 0; r < m.n; r++) {
    const to = Math.min(m.n, m.r0 + r + 1 - win - m.c0);
    if (to > 0) d += `M${m.x} ${m.y + r * m.cell}h${to * m.cell}v${m.cell}h${-to * m.cell}z`;
  }
  return d;
}

/** maskPath outlines the masked half inside the shown part of the map, as SVG path data; '' when none is in it. */
export function maskPath(m: MapLayout): string {
  let d = '';
  for (let r = 0; r < m.n; r++) {
    const from = Math.max(0, m.r0 + r + 1 - m.c0);
    if (from < m.n) d += `M${m.x + from * m.cell} ${m.y + r * m.cell}h${(m.n - from) * m.cell}v${m.cell}h${-(m.n - from) * m.cell}z`;
  }
  return d;
}
