// View 7, Memory: the pages of the KV cache. On top how many are whose over
// time, below every page at the playhead, and the request's own page table
// with the tokens whose keys and values it holds.
import { badge, bytes, esc, exactNs, nsCell, time, timeText, tokenText } from '../format';
import type { Recording } from '../recording';
import type { Memory } from '../schema';
import { at, fit } from '../state';
import sheet from '../../../../static/css/memory.css';
import { adoptCss } from './attention-state';
import { heldInOrder, KINDS, KIND_NAME, kindOf, memoryOf, momentAt, says, seriesOf, timeAt, writtenAt, type Kind, type Moment, type Series } from './memory-data';
import { noMemory } from './missing';
import type { Table, View, ViewContext, ViewKind } from './view';

export const memoryView: ViewKind = {
  n: 7, id: 'memory', title: 'Memory',
  missing: noMemory,
  mount: (body, ctx) => new MemoryView(body, ctx),
};

const PAD = 16, LEFT = 66, CHART = 112, CELL = 14, GAP = 2;
/** The letter of a kind, so that it is not told by colour alone. */
const MARK: Record<Kind, string> = { mine: '', shared: 's', other: 'o', kept: 'k', empty: '' };

class MemoryView implements View {
  private el = document.createElement('div');
  private series: Series | null = null;
  private seriesOf = '';

  constructor(private body: HTMLElement, private ctx: ViewContext) {
    adoptCss(body, sheet);
    this.el.className = 'mem';
    body.append(this.el);
    this.el.addEventListener('click', (e) => {
      const t = (e.target as Element).closest('[data-pass]')?.getAttribute('data-pass');
      if (t) ctx.set(fit(ctx.recording, { ...ctx.state, pass: Number(t), sel: '' }));
    });
  }

  private get memory(): Memory { return memoryOf(this.ctx.recording)!; }
  private get me(): number { return this.ctx.recording.file.request.number ?? 0; }
  private get now(): number { const { recording: r, state: s } = this.ctx; return timeAt(r, at(r, s), s.pass, s.layer); }

  update(): void {
    const r = this.ctx.recording, m = this.memory, key = `${r.version}/${m.changes?.length ?? 0}`;
    if (key !== this.seriesOf || !this.series) { this.series = seriesOf(m, this.me); this.seriesOf = key; }
    const W = this.body.clientWidth, t = this.now, moment = momentAt(m, this.me, t);
    if (W < 40) return;
    this.el.innerHTML = `<div class="mem-top">${head(m, moment, t)}${memoryChart(r, m, this.series, t, this.ctx.state.pass, W - 2 * PAD)}</div><div class="mem-pages">${memoryGrid(m, moment, this.me, W - 2 * PAD)}</div>${own(r, m, this.me, t)}`;
  }

  card(): string | null {
    const m = this.memory, t = this.now, me = this.me, moment = momentAt(m, me, t), last = [...(m.changes ?? [])].reverse().filter((c) => c.t_ns <= t).slice(0, 6);
    const held = moment.held.length, rows: [string, string][] = [
      ['a page', `${m.page_tokens} positions, ${bytes(m.page_bytes)}${badge('derived', 'shape of the model and the number formats')}`],
      ['a token', `${bytes(m.bytes_per_token)}, keys ${esc(m.keys)}, values ${esc(m.values)}${badge('derived', 'shape of the model and the number formats')}`],
      ['this request', `${held} pages, ${bytes(held * m.page_bytes)}${badge('derived', 'pages held by bytes of a page')}`],
      ['written', `${writtenAt(this.ctx.recording, t)} positions of ${held * m.page_tokens}${badge('measured', 'passes that were over')}`],
      ['the cache', `${m.pages} pages, ${bytes(m.pages * m.page_bytes)}${badge('declared', 'by the engine')}`],
      ['prefix cache', m.prefix_cache ? 'on: full pages are found by the tokens before them' : 'off'],
    ];
    return `<div class="c-main"><div class="c-pad"><div class="c-where">KV cache at ${timeText(t, 'measured')}</div><h2>Whose pages</h2><p class="lede">Keys and values of each token lie in pages of ${m.page_tokens} positions. A request gets a page when it has filled the last.</p><dl class="c-io mem-io">${rows.map(([k, v]) => `<dt>${k}</dt><dd>${v}</dd>`).join('')}</dl><h3 class="mem-h">What happened last</h3>${last.length ? `<ol class="mem-log">${last.map((c) => `<li><span class="m">${time(c.t_ns)}</span> ${esc(says(c, me))}</li>`).join('')}</ol>` : '<p class="c-p">Nothing yet.</p>'}</div></div>`;
  }

  table(): Table {
    const m = this.memory, changes = m.changes ?? [], t = this.now;
    return {
      caption: `Every change of a page, in order. Times are measured. At ${exactNs(t)}: ${KINDS.map((k) => `${momentAt(m, this.me, t).counts[k]} ${KIND_NAME[k]}`).join('; ')}.`,
      head: ['time', 'ns', 'what', 'request', 'pages', 'from'],
      rows: changes.map((c) => [time(c.t_ns), nsCell(c.t_ns), c.what, c.request === this.me ? 'this' : c.request ?? '', c.pages.join(' '), c.from?.join(' ') ?? '']),
      now: changes.reduce((n, c, i) => (c.t_ns <= t ? i : n), -1),
    };
  }

  svg(): string | null { return this.el.querySelector('svg')?.outerHTML ?? null; }
  destroy(): void { this.el.remove(); }
}

function head(m: Memory, moment: Moment, t: number): string {
  return `<p class="mem-key">${KINDS.map((k) => `<span><i class="pg ${k}">${MARK[k]}</i>${KIND_NAME[k]} <b class="m">${moment.counts[k]}</b></span>`).join('')}<span class="dim">${m.pages} pages at ${time(t)}</span></p>`;
}

/** The counts over time as steps, the request's own at the bottom. Empty pages are the rest and not drawn. */
export function memoryChart(r: Recording, m: Memory, s: Series, t: number, pass: number, W: number): string {
  const end = Math.max(1, r.total.ns, s.t.at(-1) ?? 0), w = Math.max(10, W - LEFT - 8), x = (ns: number): number => LEFT + (ns / end) * w;
  const shown: Kind[] = ['mine', 'shared', 'other', 'kept'], most = Math.max(1, ...s.t.map((_, i) => shown.reduce((a, k) => a + s.counts[k][i]!, 0)));
  const y = (n: number): number => CHART - 20 - (n / most) * (CHART - 34), base = s.t.map(() => 0);
  let out = '';
  for (const k of shown) {
    let d = '', back = '';
    s.t.forEach((tn, i) => {
      const lo = base[i]!, hi = lo + s.counts[k][i]!, x0 = x(tn), x1 = x(s.t[i + 1] ?? end);
      d += `${d ? 'L' : 'M'}${x0.toFixed(1)} ${y(hi).toFixed(1)}L${x1.toFixed(1)} ${y(hi).toFixed(1)}`;
      back = `L${x1.toFixed(1)} ${y(lo).toFixed(1)}L${x0.toFixed(1)} ${y(lo).toFixed(1)}${back}`;
      base[i] = hi;
    });
    if (d) out += `<path class="a ${k}" d="${d}${back}Z"/>`;
  }
  const ticks = r.passes.map((p) => `<rect class="tick ${p.kind}${p.index === pass ? ' now' : ''}" data-pass="${p.index}" x="${x(p.start_ns).toFixed(1)}" y="${CHART - 16}" width="${Math.max(1, (p.dur_ns / end) * w - 0.5).toFixed(1)}" height="10"><title>pass ${p.index}, ${p.kind}</title></rect>`).join('');
  return `<svg width="${W}" height="${CHART}" viewBox="0 0 ${W} ${CHART}" role="img" aria-label="Pages by holder over ${esc(time(end))}; at most ${most} of ${m.pages} are not empty"><text x="0" y="${y(most) + 8}" class="cap s">${most} pages</text><text x="0" y="${CHART - 7}" class="cap s">passes</text>${out}<path class="hair" d="M${LEFT} ${CHART - 19.5}H${LEFT + w}"/>${ticks}<path class="playhead" d="M${x(t).toFixed(1)} 4V${CHART - 4}"/></svg>`;
}

/** Every page as a cell; rows are as long as fits. */
export function memoryGrid(m: Memory, moment: Moment, me: number, W: number): string {
  const per = Math.max(8, Math.min(m.pages, Math.floor((W - LEFT) / (CELL + GAP)))), rows = Math.ceil(m.pages / per);
  const most = 40, shown = Math.min(rows, most);
  let out = '';
  for (let n = 0; n < Math.min(m.pages, shown * per); n++) {
    const p = moment.pages.get(n), k = kindOf(p, me), x = LEFT + (n % per) * (CELL + GAP), y = Math.floor(n / per) * (CELL + GAP);
    if (n % per === 0) out += `<text x="0" y="${y + 11}" class="cap s m">${n}</text>`;
    out += `<rect class="pg ${k}" x="${x + 0.5}" y="${y + 0.5}" width="${CELL - 1}" height="${CELL - 1}">${k === 'empty' ? '' : `<title>page ${n}: ${KIND_NAME[k]}${p!.holders.length ? `, requests ${p!.holders.map((h) => (h === me ? 'this' : h)).join(', ')}` : ''}</title>`}</rect>`;
    if (MARK[k]) out += `<text x="${x + CELL / 2}" y="${y + 10.5}" class="mid pgm">${MARK[k]}</text>`;
  }
  const h = shown * (CELL + GAP) + (rows > shown ? 16 : 0);
  if (rows > shown) out += `<text x="${LEFT}" y="${h - 3}" class="cap s">and ${m.pages - shown * per} more pages; the table has all that happened to them</text>`;
  return `<svg width="${W}" height="${h}" viewBox="0 0 ${W} ${h}" role="img" aria-label="All ${m.pages} pages at the playhead: ${KINDS.map((k) => `${moment.counts[k]} ${KIND_NAME[k]}`).join(', ')}">${out}</svg>`;
}

/** The request's page table: a row a page, a cell a position. */
function own(r: Recording, m: Memory, me: number, t: number): string {
  const held = heldInOrder(m, me, t), written = writtenAt(r, t), q = r.file.request, prompt = q.prompt_tokens ?? [], all = [...prompt, ...(q.output_tokens ?? [])];
  if (!held.length) return '<p class="mem-none">This request holds no page at this moment.</p>';
  const moment = momentAt(m, me, t), most = 64;
  const rows = held.slice(0, most).map((n, i) => {
    const cells = Array.from({ length: m.page_tokens }, (_, k) => {
      const pos = i * m.page_tokens + k, tok = all[pos];
      return pos < written && tok ? `<li class="${pos < prompt.length ? 'R' : 'D'}" title="position ${pos}, id ${tok.id}">${esc(tokenText(tok))}</li>` : '<li class="free"></li>';
    }).join('');
    return `<tr><th scope="row">page ${n}${kindOf(moment.pages.get(n), me) === 'shared' ? ' <abbr title="shared with other requests">s</abbr>' : ''}</th><td class="m s">${i * m.page_tokens}</td><td><ol>${cells}</ol></td></tr>`;
  }).join('');
  return `<div class="mem-own"><table><caption>The request's page table: ${held.length} pages, ${written} positions written</caption><thead><tr><th scope="col">page</th><th scope="col">from</th><th scope="col">positions</th></tr></thead><tbody>${rows}</tbody></table>${held.length > most ? `<p class="dim">and ${held.length - most} more pages</p>` : ''}</div>`;
}
