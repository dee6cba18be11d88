// The walk as one line downwards, for narrow screens: each lane has its own
// track, rooms are headings, hand-overs are diamonds between tracks.
import { esc, time } from './format';
import type { Measure } from './layout';
import { handName, mark } from './map';
import { shortPath, STAGE_LETTER, type Recording } from './recording';
import { at, turns, type State } from './state';

export interface TallDrawing { svg: string; height: number; nowY: number }

export function drawTall(r: Recording, s: State, W: number, tw: Measure): TallDrawing {
  const cur = at(r, s), P = 24, tx = 22 + r.lanes.length * 24 + 6, x = (lane: string): number => 22 + r.lanes.findIndex((l) => l.id === lane) * 24, t = turns(r, s);
  let y = 20, g = '', lines = '', nowY = 0, px = 0, py = 0;
  r.steps.forEach((st, i) => {
    const prev = r.steps[i - 1], role = r.roles[i]!, c = `var(--st-${STAGE_LETTER[st.stage]})`, X = x(st.lane), room = st.source.path || st.lane;
    if (prev && prev.lane !== st.lane) {
      const h = handName(r, i - 1);
      y += P;
      g += `<path d="M${X} ${y - 6}l6 6-6 6-6-6z" fill="${i <= cur ? c : 'var(--page)'}" stroke="${c}" stroke-width="1.25"/><text x="${tx}" y="${y + 4}">${esc(h.name)} <tspan class="s">${esc(h.by)}</tspan></text>`;
      lines += seg(px, py, X, y, i <= cur, c);
      px = X; py = y;
    }
    if (!prev || prev.lane !== st.lane || prev.source.path !== st.source.path) {
      y += P;
      g += `<text x="${tx}" y="${y + 4}" class="cap s">${esc(shortPath(room))}</text>`;
    }
    y += P;
    if (i) lines += seg(px, py, X, y, i <= cur, c);
    px = X; py = y;
    const label = `<text x="${tx}" y="${y + 4}" class="${i === cur ? 'on' : i < cur ? '' : 's'}">${esc(st.label)}</text><text x="${W - 14}" y="${y + 4}" class="m s end cap">${r.timed(i) ? time(st.time_ns) : st.count ? 'not measured' : 'not reached'}</text>`;
    let dot = i < cur ? `<circle cx="${X}" cy="${y}" r="4" fill="${c}"/>` : `<circle cx="${X}" cy="${y}" r="3.6" fill="var(--page)" stroke="${c}" stroke-width="1.25"/>`;
    if (i === cur) {
      nowY = y;
      dot = `<rect x="${tx - 6}" y="${y - 10}" width="${tw(st.label, 12) + 12}" height="20" fill="var(--now)"/>${mark(X, y, role.form)}`;
    }
    g += `<g class="st" data-step="${esc(st.id)}"><rect x="0" y="${y - P / 2}" width="${W}" height="${P}" fill="transparent"/>${dot}${label}</g>`;
    const L = r.layerLoop, T = r.tokenLoop;
    if (L && i === L.to) { y += P; g += `<text x="${tx}" y="${y + 4}" class="cap"><tspan class="b">× ${L.n}</tspan><tspan class="s"> layers${t.layer && t.layer.now >= 0 ? `, at L${t.layer.now}` : ''}</tspan></text>`; }
    if (T && i === T.to) { y += P; g += `<text x="${tx}" y="${y + 4}" class="cap"><tspan class="b">× ${T.n}</tspan><tspan class="s"> passes${t.token && t.token.now >= 0 ? `, at ${t.token.now + 1}` : ''}</tspan></text>`; }
  });
  const names = r.lanes.map((l) => `<text transform="translate(${x(l.id) + 4} 14)" class="cap s mid">${esc(l.name[0] ?? '')}</text>`).join('');
  return { svg: names + lines + g, height: y + 30, nowY };
}

function seg(x0: number, y0: number, x1: number, y1: number, done: boolean, c: string): string {
  const d = x0 === x1 ? `M${x0} ${y0}V${y1}` : `M${x0} ${y0}V${y1 - Math.abs(x1 - x0) - 4}L${x1} ${y1 - 4}V${y1}`;
  return `<path d="${d}" fill="none" stroke="${done ? c : 'var(--graphic)'}" stroke-width="${done ? 2.25 : 1}"${done ? '' : ' stroke-dasharray="1.5 3.5"'}/>`;
}
