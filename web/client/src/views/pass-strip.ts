// The strip below the stage while a pass or the tape is shown: ops or tiles in
// place of steps, in the colours of their families. SVG text only.
import { esc, time } from '../format';
import type { Family } from '../roles';
import { niceStep } from '../tracks';

export interface Bar { step: string; layer: number; label: string; family: Family; ns: number; /** what the height stands for */ size: number }

/** strip draws equal widths, or true time with an axis; heights are logarithms of size. The bar at cur is the playhead's. */
export function familyStrip(bars: Bar[], cur: number, W: number, H: number, byTime: boolean): string {
  const n = bars.length, all = bars.reduce((a, b) => a + Math.max(0, b.ns), 0);
  if (!n || W < 40) return '';
  const room = W - 32, base = H > 70 ? H - 26 : H - 16, top = H > 70 ? 24 : 14, timed = byTime && all > 0, max = Math.log10(Math.max(10, ...bars.map((b) => b.size))), low = Math.min(max - 1, Math.log10(Math.max(1, Math.min(...bars.map((b) => b.size).filter((v) => v > 0)))) - 0.5);
  let g = '', x = 16, cx = 16;
  bars.forEach((b, i) => {
    const w = timed ? (room * Math.max(0, b.ns)) / all : room / n, k = `var(--fam-${b.family})`, h = timed ? base - top : b.size > 0 ? Math.max(2, ((Math.log10(Math.max(1, b.size)) - low) / (max - low)) * (base - top)) : 1, gap = w > 4 ? 1.5 : w > 1.2 ? 0.4 : 0, now = i === cur, coming = i > cur;
    if (now) cx = x + w / 2;
    const y = base - h, ww = Math.max(0.4, w - gap), hollow = coming && w >= 4;
    g += `<g data-step="${esc(b.step)}"${b.layer >= 0 ? ` data-layer="${b.layer}"` : ''}>${w > 1 ? `<title>${esc(`${b.layer >= 0 ? `L${b.layer} ` : ''}${b.label}`)}: ${b.ns >= 0 ? time(b.ns) : 'not measured'}</title>` : ''}<rect x="${x.toFixed(2)}" y="0" width="${Math.max(0.4, w).toFixed(2)}" height="${H}" fill="transparent"/><rect x="${(x + (hollow ? 1 : 0.3)).toFixed(2)}" y="${(y + (hollow ? 0.5 : 0)).toFixed(1)}" width="${(hollow ? Math.max(0.5, w - 2.5) : ww).toFixed(2)}" height="${Math.max(0.5, h - (hollow ? 1 : 0)).toFixed(1)}" fill="${now ? 'var(--text)' : hollow ? 'none' : k}"${hollow ? ` stroke="${k}"` : coming ? ' opacity=".4"' : ''}/></g>`;
    if (n < 60 && H > 70 && !timed && (i === 0 || letter(bars, i) !== letter(bars, i - 1))) g += `${i ? `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${top - 8}" y2="${H - 8}" class="hair2"/>` : ''}<text x="${(x + 2).toFixed(1)}" y="${H - 10}" class="cap b" fill="var(--fam-${letter(bars, i)})">${letter(bars, i)}</text>`;
    x += w;
  });
  if (timed && H > 70) g += axis(all, room, base);
  return `${g}<line x1="16" x2="${W - 16}" y1="${base + 0.5}" y2="${base + 0.5}" class="hair2"/>${cur >= 0 ? `<line x1="${cx.toFixed(1)}" x2="${cx.toFixed(1)}" y1="8" y2="${base}" stroke="var(--text)"/><path d="M${(cx - 5).toFixed(1)} 4h10l-5 7z" fill="var(--text)"/>` : ''}`;
}

/** The letter of the part a bar belongs to: norms, adds and the cache go with their branch. */
function letter(bars: Bar[], i: number): Family {
  const f = bars[i]!.family;
  if (f === 'E' || f === 'A' || f === 'F') return f;
  for (let k = i + 1; k < bars.length; k++) if (bars[k]!.family === 'A' || bars[k]!.family === 'F') return /residual|add/.test(bars[i]!.step) ? before(bars, i) : bars[k]!.family;
  return /residual|add/.test(bars[i]!.step) ? before(bars, i) : 'E';
}

const before = (bars: Bar[], i: number): Family => { for (let k = i - 1; k >= 0; k--) { const f = bars[k]!.family; if (f === 'A' || f === 'F') return f; } return 'E'; };

function axis(all: number, room: number, base: number): string {
  const step = niceStep(all, 8);
  let g = '';
  for (let t = 0; t <= all; t += step) {
    const x = 16 + (room * t) / all;
    g += `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${base}" y2="${base + 4}" class="hair2"/><text x="${x.toFixed(1)}" y="${base + 16}" class="m s cap${t ? ' mid' : ''}">${t ? time(t) : '0'}</text>`;
  }
  return g;
}
