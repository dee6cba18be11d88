// View 1, Request: the map of the walk. On a narrow screen the same walk is
// drawn as one line downwards.
import { esc, share, time } from '../format';
import { inset } from '../inset';
import { drawMap, mark, type MapDrawing } from '../map';
import { drawTall, type TallDrawing } from '../maptall';
import { along } from '../route';
import { STAGE_NAME, type Recording } from '../recording';
import { whyWord } from '../position';
import { at } from '../state';
import { answer, laneNames, legend, workerBars } from '../mapnotes';
import type { Table, View, ViewContext, ViewKind } from './view';

export const requestView: ViewKind = {
  n: 1, id: 'request', title: 'Request',
  missing: (r) => (r.steps.length ? null : 'not in this recording: it has no walk'),
  mount: (body, ctx) => new RequestView(body, ctx),
};

export function requestTable(r: Recording, now = -1): Table {
  const total = r.total.ns;
  return {
    caption: 'Every step of the walk. Times are measured and summed over the request; shares are derived: time by end-to-end time.',
    head: ['#', 'stage', 'step', 'lane', 'file', 'time', 'ns', 'ran', 'share %'],
    rows: r.steps.map((s, i) => [i + 1, STAGE_NAME[s.stage], s.title, s.lane, `${s.source.path}${s.source.line ? `:${s.source.line}` : ''}`, s.count === 0 ? 'not reached' : r.timed(i) ? time(s.time_ns) : 'not measured', r.timed(i) ? s.time_ns : '', s.count, r.timed(i) ? share(s.time_ns, total) : '']),
    now,
  };
}

class RequestView implements View {
  private svgEl: SVGSVGElement;
  private overlay: SVGGElement | null = null;
  private drawn: MapDrawing | null = null;
  private tall: TallDrawing | null = null;
  private last = -1;
  private frame = 0;

  constructor(private body: HTMLElement, private ctx: ViewContext) {
    this.svgEl = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    this.svgEl.setAttribute('role', 'group');
    this.svgEl.setAttribute('aria-label', 'Map of the request: lanes are threads, left to right is the order of the walk. The table of this view says the same.');
    body.append(this.svgEl);
    this.svgEl.addEventListener('click', (e) => {
      const why = (e.target as Element).closest('[data-why]')?.getAttribute('data-why');
      if (why) { ctx.set(whyWord(ctx.recording, ctx.state, Number(why))); return; }
      const st = (e.target as Element).closest('[data-step]');
      if (st) ctx.set({ ...ctx.state, step: st.getAttribute('data-step')!, sel: '', source: 0 });
    });
  }

  update(): void {
    cancelAnimationFrame(this.frame);
    const { recording: r, state: s, narrow } = this.ctx, cur = at(r, s), from = this.last;
    this.body.classList.toggle('tall', narrow);
    if (narrow) this.drawNarrow();
    else this.drawWide();
    this.last = cur;
    if (!narrow && this.ctx.motion && Math.abs(cur - from) === 1 && from >= 0) this.travel(Math.min(from, cur), cur > from);
  }

  private drawWide(): void {
    const { recording: r, state: s, measure, scale } = this.ctx;
    const W = this.body.clientWidth / scale, H = this.body.clientHeight / scale;
    if (W < 10 || H < 10) return;
    const m = drawMap(r, s, W, H, measure, {});
    const w = Math.max(m.layout.width, m.layout.needW), h = Math.max(m.layout.height, m.layout.needH);
    this.size(w, h, true);
    this.svgEl.innerHTML = m.svg + this.notes(m, m.layout.width, m.layout.height) + '<g class="moving"></g>';
    this.overlay = this.svgEl.lastElementChild as SVGGElement;
    this.drawn = m;
    this.tall = null;
  }

  private drawNarrow(): void {
    const W = this.body.clientWidth;
    if (W < 10) return;
    this.tall = drawTall(this.ctx.recording, this.ctx.state, W, this.ctx.measure);
    this.size(W, this.tall.height, false);
    this.svgEl.innerHTML = this.tall.svg;
    this.drawn = null;
    this.body.scrollTo({ top: Math.max(0, this.tall.nowY - this.body.clientHeight * 0.45), behavior: this.ctx.motion && Math.abs(at(this.ctx.recording, this.ctx.state) - this.last) === 1 ? 'smooth' : 'auto' });
  }

  private size(w: number, h: number, full: boolean): void {
    this.svgEl.setAttribute('viewBox', `0 0 ${w} ${h}`);
    this.svgEl.setAttribute('width', full ? '100%' : String(w));
    this.svgEl.setAttribute('height', full ? '100%' : String(h));
    this.svgEl.setAttribute('preserveAspectRatio', 'xMinYMin meet');
  }

  /** The insets lie where the U of the map leaves room. */
  private notes(m: MapDrawing, W: number, H: number): string {
    const { recording: r, state: s, measure } = this.ctx, l = m.layout, top = r.lanes[0]!.id;
    const inTop = l.cols.filter((c) => c.lane === top);
    const x0 = Math.max(0, ...inTop.filter((c) => c.stage !== 'deliver').map((c) => c.x + c.w)) + 26;
    const x1 = Math.min(W, ...inTop.filter((c) => c.stage === 'deliver').map((c) => c.x)) - 10 - l.gut - 24;
    const band = l.lanes[0]!, bottom = r.lanes.length > 1 ? m.routes.gapY(0) : H;
    let g = '';
    if (x1 - x0 > 220) g += inset(r, s, { x: x0, y: band.y0 + 8, w: x1 - x0, h: bottom - band.y0 - 22 });
    g += laneNames(r, m, H);
    const ops = l.lanes[m.input.lanes.indexOf(m.input.opsLane)];
    if (!ops || !m.frame) return g;
    const y = ops.y0 + 8, left = m.frame.x0 - 34;
    if (left > 200) g += legend(r, s, 16, y, left) + answer(r, s, { x: 16, y: y + 78, w: left - 16, h: H - y - 78 - 26 }, measure);
    const right = Math.max(...m.input.roles.map((q, i) => (q.res ? l.pos[i]!.x + measure(r.steps[i]!.label, 12) + 26 : 0)), m.frame.x1 + 40);
    g += workerBars(r, s, { x: right, y: y + 34, w: W - right - 20, h: H - y - 40 });
    return g;
  }

  /** travel moves the mark along the track of the last step, in under 200 ms. */
  private travel(edge: number, forward: boolean): void {
    const m = this.drawn, g = this.overlay, r = this.ctx.recording;
    if (!m || !g) return;
    const pts = m.routes.segment(edge), form = m.input.roles[forward ? edge : edge + 1]!.form, t0 = performance.now();
    const tick = (now: number): void => {
      const t = Math.min(1, (now - t0) / 170), e = 1 - (1 - t) ** 3, [x, y] = along(pts, forward ? e : 1 - e);
      g.innerHTML = t < 1 ? mark(x, y, form) : '';
      if (t < 1 && this.ctx.recording === r) this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }

  table(): Table { return requestTable(this.ctx.recording, at(this.ctx.recording, this.ctx.state)); }

  svg(): string {
    return this.svgEl.outerHTML.replace('<svg ', `<svg xmlns="http://www.w3.org/2000/svg" aria-description="${esc(this.ctx.recording.name)}" `);
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.svgEl.remove();
  }
}
