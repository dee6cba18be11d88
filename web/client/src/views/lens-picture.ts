// The Lens view as one SVG of its own: the table as rectangles and text, and
// what was drawn around it. Strings only.
import { cutMiddle, esc, tokenText } from '../format';
import { css, type Rgb } from './attention-ramp';
import type { Lens, Row } from './lens-data';

/** What the table on the page shows. colors runs row by row. */
export interface Picture { rows: Row[]; list: number[]; cw: number; rowH: number; left: number; head: number; colors: (Rgb | null)[] }
export interface Around { box: string; top: number; over: string; bars: { x: number; svg: string }; mini: { href: string; w: number; h: number }; now: { n: number; pos: number } }

export function lensPicture(ln: Lens, p: Picture, a: Around): string {
  const [, , W = 1, H = 1] = a.box.split(' ').map(Number), y0 = a.top + p.head, tall = Math.max(H, y0 + p.rows.length * p.rowH + 24);
  let g = `<image href="${a.mini.href}" width="${a.mini.w}" height="${a.mini.h}"/>${a.over}<g transform="translate(${a.bars.x} ${y0})">${a.bars.svg}</g>`;
  p.list.forEach((pos, k) => {
    const x = p.left + k * p.cw, on = pos === a.now.pos;
    g += `<text x="${x + p.cw / 2}" y="${a.top + 11}" class="m mid s cap">${pos}</text><text x="${x + p.cw / 2}" y="${a.top + 25}" class="m mid${on ? ' b' : ''}">${esc(cutMiddle(ln.inputs[pos] ? tokenText(ln.inputs[pos]!) : '', Math.floor(p.cw / 7.4)))}</text>`;
  });
  p.rows.forEach((row, n) => {
    const y = y0 + n * p.rowH, base = y + p.rowH / 2 + 4;
    g += `<text x="${p.left - 8}" y="${base}" class="m end cap ${n === a.now.n ? 'b' : 's'}">${row.half === 'A' ? 'A' : `L${row.layer}`}</text>`;
    p.list.forEach((pos, k) => {
      const c = ln.cell(row, pos, p.rows[n - 1] ?? null), x = p.left + k * p.cw, color = p.colors[n * p.list.length + k];
      g += `<rect x="${x}" y="${y}" width="${p.cw - 1}" height="${p.rowH - 1}" fill="${color ? css(color) : 'none'}"/>${c.changed ? `<path d="M${x} ${y + 0.5}h${p.cw - 1}" stroke="var(--text)" fill="none"/>` : ''}${c.same ? `<circle cx="${x + 7}" cy="${y + p.rowH / 2}" r="2" fill="var(--text)"/>` : ''}<text x="${x + (c.same ? 13 : 5)}" y="${base}" class="m">${esc(cutMiddle(ln.text(c.top[0]!.id), Math.max(3, Math.floor((p.cw - (c.same ? 14 : 7)) / 7.3))))}<title>${esc(ln.text(c.top[0]!.id))} ${c.top[0]!.p}</title></text>`;
      if (n === a.now.n && pos === a.now.pos) g += `<rect x="${x}" y="${y}" width="${p.cw - 1}" height="${p.rowH - 1}" fill="none" stroke="var(--text)" stroke-width="2"/>`;
    });
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${W}" height="${tall}" viewBox="0 0 ${W} ${tall}">${g}</svg>`;
}
