// What stands beside the map: names of lanes, the legend, the answer piece by
// piece, and what each worker did in the current pass. Strings only.
import { esc, exactNs, svgBadge, time, tokenText } from './format';
import type { MapLayout, Measure } from './layout';
import { mark, type MapDrawing, type Pane } from './map';
import { isNumbers, STAGE_LETTER, type Recording } from './recording';
import { at, tokensOut, turns, type State } from './state';

interface Box { x: number; y: number; w: number; h: number }

export function laneNames(r: Recording, m: MapDrawing, H: number, x = 0): string {
  return r.lanes.map((l, n) => {
    const y = n < r.lanes.length - 1 ? m.routes.gapY(n) - 7 : H - 12;
    return `<text x="${x + 16}" y="${y}" class="cap halo"><tspan class="b">${esc(l.name)}</tspan>${l.note ? `<tspan class="s">  ${esc(l.note)}</tspan>` : ''}</text>`;
  }).join('');
}

export function legend(r: Recording, s: State, x0: number, y0: number, x1: number): string {
  const c = 'var(--graphic)', form = r.roles[at(r, s)]!.form, col = Math.min(124, (x1 - x0) / 2);
  const items: [string, string][] = [
    [`<path d="M0 0h28" stroke="${c}" stroke-width="2.25"/><circle cx="14" cy="0" r="3.4" fill="${c}"/>`, 'visited'],
    [mark(14, 0, form), 'the request'],
    [`<path d="M0 0h28" stroke="${c}" stroke-dasharray="1.5 3.5"/><circle cx="14" cy="0" r="3.2" fill="var(--page)" stroke="${c}" stroke-width="1.25"/>`, 'to come'],
    [`<path d="M14 -6l6 6-6 6-6-6z" fill="none" stroke="${c}" stroke-width="1.25"/>`, 'hand-over'],
    [svgBadge(14, 0, 'measured'), 'measured'],
    [svgBadge(14, 0, 'derived'), 'derived'],
  ];
  return items.map(([d, t], i) => `<g transform="translate(${x0 + (i % 2) * col} ${y0 + Math.floor(i / 2) * 20})">${d}<text x="36" y="4" class="s">${t}</text></g>`).join('');
}

/** The answer: what has left is underlined in green, what is being made in ink, what will come is grey. */
export function answer(r: Recording, s: State, b: Box, tw: Measure, px = 15): string {
  const out = tokensOut(r, s), list = r.output, lead = px * 1.65;
  if (b.h < 40) return '';
  let g = `<text x="${b.x}" y="${b.y}" class="cap s">the answer, piece by piece</text>`;
  if (list.length === 0) return `${g}<text x="${b.x}" y="${b.y + lead}" class="s">${r.live ? 'nothing yet' : 'no output tokens in this recording'}</text>`;
  let x = b.x, y = b.y + 22;
  const cls = px > 15 ? 'big' : 'ans';
  // start so that the piece being made is in view
  const rows = Math.max(1, Math.floor((b.h - 16) / lead)), lines: string[][] = [[]], focus = out.making >= 0 ? out.making : out.left - 1;
  let focusLine = 0;
  const texts = list.map(tokenText), widths = texts.map((v) => tw(v.replace(/^·+/, ''), px));
  // a line breaks before a piece that begins with a space, not inside a word
  const unit = (k: number): number => { let w = widths[k]!; for (let n = k + 1; n < list.length && !texts[n]!.startsWith('·') && w < b.w; n++) w += widths[n]!; return w; };
  list.forEach((t, k) => {
    const text = texts[k]!, word = text.replace(/^·+/, ''), lead0 = text.length > word.length && x > b.x ? px * 0.29 : 0, w = widths[k]!, whole = text.startsWith('·') || text === '↵' ? Math.min(unit(k), b.w) : w;
    if (x + lead0 + whole > b.x + b.w && x > b.x) { x = b.x; lines.push([]); }
    else x += lead0;
    const state = k < out.left ? 0 : k === out.making ? 1 : 2;
    lines.at(-1)!.push(`<text x="${x}" y="0" class="${cls}${state === 2 ? ' s' : ''} st" data-why="${k}">${esc(word)}<title>${esc(text)}, id ${t.id}: why this token?</title></text><path d="M${x} 5.5h${w}" stroke="var(--${['st-D', 'text', 'rule-2'][state]})" stroke-width="${state === 2 ? 1 : 2}"/>`);
    if (k === focus) focusLine = lines.length - 1;
    x += w;
  });
  const from = Math.max(0, Math.min(lines.length - rows, focusLine - rows + 2));
  lines.slice(from, from + rows).forEach((l, n) => { g += `<g transform="translate(0 ${y + n * lead})">${l.join('')}</g>`; });
  y += rows * lead;
  return g;
}

/** Busy time of each worker in this pass, by layer: attrs busy_ns of op spans. */
export function busyByLayer(r: Recording, pass: number): { workers: number; parts: { layer: number; dur: number; busy: number[] }[] } {
  const parts: { layer: number; dur: number; busy: number[] }[] = [];
  let workers = 0;
  for (const p of spansOfPass(r, pass)) {
    const b = p.attrs?.['busy_ns'];
    if (!isNumbers(b)) continue;
    workers = Math.max(workers, b.length);
    const layer = p.layer ?? -1;
    let q = parts.at(-1);
    if (!q || q.layer !== layer) parts.push((q = { layer, dur: 0, busy: [] }));
    q.dur += p.dur_ns;
    b.forEach((v, k) => { q.busy[k] = (q.busy[k] ?? 0) + v; });
  }
  return { workers, parts };
}

function spansOfPass(r: Recording, pass: number): Recording['spans'] {
  return r.steps.flatMap((_, i) => (r.roles[i]!.op ? r.spansAt(i, pass) : [])).sort((a, z) => a.start_ns - z.start_ns);
}

export function workerBars(r: Recording, s: State, b: Box): string {
  const pass = r.passes.find((p) => p.index === s.pass);
  if (!pass || b.w < 90) return '';
  const { workers, parts } = busyByLayer(r, s.pass), whole = parts.reduce((a, p) => a + p.dur, 0);
  let g = `<text x="${b.x}" y="${b.y - 8}" class="cap s">pass ${pass.index}, ${pass.kind}, <tspan class="m">${time(pass.dur_ns)}</tspan><title>${exactNs(pass.dur_ns)}</title></text>`;
  if (b.w > 160) g += svgBadge(b.x + 6 + `pass ${pass.index}, ${pass.kind}, ${time(pass.dur_ns)}`.length * 5.9, b.y - 12, 'measured');
  if (!workers || whole <= 0 || !r.clocked) return `${g}<text x="${b.x}" y="${b.y + 10}" class="cap s">work of each worker:</text><text x="${b.x}" y="${b.y + 24}" class="cap s">${r.clocked ? 'not in this recording' : 'not measured'}</text>`;
  const t = turns(r, s).layer, here = t ? (t.now >= 0 ? t.now : t.done) : r.layers, shown = Math.min(workers, Math.max(1, Math.floor((b.h - 40) / 34)));
  for (let k = 0; k < shown; k++) {
    const y = b.y + 10 + k * 34, sum = parts.reduce((a, p) => a + (p.busy[k] ?? 0), 0);
    g += `<text x="${b.x}" y="${y + 4}" class="cap">worker ${k}</text><text x="${b.x + b.w - 10}" y="${y + 4}" class="cap s m end">${Math.round((100 * sum) / whole)} %</text>${svgBadge(b.x + b.w - 3, y + 0.5, 'derived')}`;
    let x = b.x;
    parts.forEach((p, n) => {
      const w = (p.dur / whole) * b.w, full = Math.max(0.3, (w * (p.busy[k] ?? 0)) / p.dur - 0.6), L = p.layer < 0 ? (n === 0 ? -1 : r.layers) : p.layer;
      const done = L < here, now = L === here && t?.now !== -1;
      g += `<rect x="${x}" y="${y + 9.5}" width="${full}" height="9" fill="${now ? 'var(--text)' : done ? 'var(--st-C)' : 'none'}"${done || now ? '' : ' stroke="var(--st-C)" stroke-width=".8"'}/>`;
      x += w;
    });
  }
  const y = b.y + 24 + shown * 34;
  g += `<text x="${b.x}" y="${y}" class="cap s">${r.layers} layers, then the head;</text><text x="${b.x}" y="${y + 14}" class="cap s">${workers > 1 ? 'gaps: one waits for the other' : 'one worker ran this pass alone'}</text>`;
  if (shown < workers) g += `<text x="${b.x}" y="${y + 28}" class="cap s">${workers - shown} more workers in the table</text>`;
  return g;
}

/** finder is the whole map in a corner of a window on it: columns in their lanes, the window, and the key that shows it all. */
export function finder(r: Recording, l: MapLayout, cur: number, v: Pane): string {
  const W = Math.max(l.width, l.needW), w = 190, k = w / W, h = 5 * r.lanes.length + 5, y0 = v.y + v.h - h - 12, seen = new Set<number>();
  const free = (x: number): boolean => !l.cols.some((c) => c.x - 14 < x + w + 6 && x - 6 < c.x + c.w && c.rooms.some((q) => q.y1 > y0 - 22));
  const right = v.x + v.w - w - 14, x0 = [right, right - 130, right - 260, v.x + 240].find(free) ?? right;
  for (let i = 0; i <= cur; i++) if (l.pos[i]) seen.add(l.pos[i]!.col);
  const cols = l.cols.map((c, n) => `<rect x="${(x0 + c.x * k).toFixed(1)}" y="${y0 + 3 + 5 * r.lanes.findIndex((q) => q.id === c.lane)}" width="${Math.max(1.5, c.w * k - 1).toFixed(1)}" height="4" fill="${seen.has(n) ? `var(--st-${STAGE_LETTER[c.stage]})` : 'none'}" stroke="var(--st-${STAGE_LETTER[c.stage]})" stroke-width=".7"/>`).join('');
  return `<g class="finder" data-do="map.whole"><title>The whole map: f</title><rect x="${x0 - 6}" y="${y0 - 18}" width="${w + 12}" height="${h + 22}" fill="var(--page)" stroke="var(--rule)"/><text x="${x0}" y="${y0 - 5}" class="cap s">window on the map</text><text x="${x0 + w}" y="${y0 - 5}" class="cap s end"><tspan class="m b">f</tspan> all of it</text>${cols}<rect x="${(x0 + v.x * k).toFixed(1)}" y="${y0 + 0.5}" width="${(v.w * k).toFixed(1)}" height="${h}" fill="none" stroke="var(--text)" stroke-width="1.25"/></g>`;
}
