// View 1, Request: the map of the walk. On a narrow screen the same walk is
// drawn as one line downwards.
import { esc, share, time } from '../format';
import { inset } from '../inset';
import { drawMap, mark, shrunk, type MapDrawing, type Pane } from '../map';
import { drawTall, type TallDrawing } from '../maptall';
import { along } from '../route';
import { STAGE_NAME, type Recording } from '../recording';
import { whyWord } from '../position';
import { at } from '../state';
import { answer, finder, laneNames, legend, workerBars } from '../mapnotes';
import { opt, withOpt } from './attention-opts';
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

/** Below this part of full size words are too small to read: the map is shown at full size, through a window. */
const READABLE = 0.9;

class RequestView implements View {
  private pane: Pane | null = null;
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
      if ((e.target as Element).closest('[data-do="map.whole"]')) { this.command('map.whole'); e.stopPropagation(); return; }
      const st = (e.target as Element).closest('[data-step]');
      if (st) ctx.set({ ...ctx.state, step: st.getAttribute('data-step')!, sel: '', source: 0 });
    });
  }

  update(): void {
    cancelAnimationFrame(this.frame);
    const { recording: r, state: s, narrow } = this.ctx, cur = at(r, s), from = this.last, pane = this.pane;
    this.body.classList.toggle('tall', narrow);
    if (narrow) this.drawNarrow();
    else this.drawWide();
    this.last = cur;
    if (!narrow && this.ctx.motion && Math.abs(cur - from) === 1 && from >= 0) this.travel(Math.min(from, cur), cur > from, pane);
  }

  private drawWide(): void {
    const { recording: r, state: s, measure, scale } = this.ctx;
    const W = this.body.clientWidth / scale, H = this.body.clientHeight / scale;
    if (W < 10 || H < 10) return;
    const wide = opt(s, 'map') !== 'all' && shrunk(r, W, H, measure) < READABLE;
    const m = drawMap(r, s, W, H, measure, wide ? { wide } : {}), l = m.layout;
    const w = Math.max(l.width, l.needW), h = Math.max(l.height, l.needH);
    this.pane = m.pane;
    this.size(w, h, true);
    if (this.pane) this.look(this.pane);
    this.svgEl.innerHTML = m.svg + this.notes(m, w, wide ? h : l.height, this.pane) + (this.pane ? finder(r, l, at(r, s), this.pane) : '') + '<g class="moving"></g>';
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

  private look(p: Pane): void { this.svgEl.setAttribute('viewBox', `${p.x} ${p.y} ${p.w} ${p.h}`); }

  command(id: string): boolean {
    const { recording: r, state: s, measure, scale, narrow } = this.ctx;
    if (id !== 'map.whole') return false;
    if (narrow || shrunk(r, this.body.clientWidth / scale, this.body.clientHeight / scale, measure) >= READABLE) this.ctx.say('All of the map is shown already.');
    else this.ctx.set(withOpt(s, 'map', opt(s, 'map') === 'all' ? '' : 'all'));
    return true;
  }

  /** The insets lie where the U of the map leaves room; through a window, in what it shows of that room. */
  private notes(m: MapDrawing, W: number, H: number, pane: Pane | null): string {
    const { recording: r, state: s, measure } = this.ctx, l = m.layout, top = r.lanes[0]!.id;
    const inTop = l.cols.filter((c) => c.lane === top);
    const near = pane?.x ?? 0, far = near + (pane?.w ?? W);
    const x0 = Math.max(pane ? near + 16 : 0, Math.max(0, ...inTop.filter((c) => c.stage !== 'deliver').map((c) => c.x + c.w)) + 26);
    const x1 = Math.min(far - 20, Math.min(W, ...inTop.filter((c) => c.stage === 'deliver').map((c) => c.x)) - 10 - l.gut - 24, x0 + (pane ? 620 : W));
    const band = l.lanes[0]!, bottom = r.lanes.length > 1 ? m.routes.gapY(0) : H;
    let g = '';
    if (x1 - x0 > 220) g += inset(r, s, { x: x0, y: band.y0 + 8, w: x1 - x0, h: bottom - band.y0 - 22 });
    g += laneNames(r, m, pane ? pane.y + pane.h : H, near);
    const ops = l.lanes[m.input.lanes.indexOf(m.input.opsLane)];
    if (!ops || !m.frame) return g;
    // where other steps of the lane lie before or behind the loop there is less room, or none
    const inOps = l.cols.filter((c) => c.lane === m.input.opsLane && !c.res);
    const y = ops.y0 + 8, left = Math.min(m.frame.x0 - 34, ...inOps.map((c) => c.x - 34));
    if (left > 200 && near === 0) g += legend(r, s, 16, y, left) + answer(r, s, { x: 16, y: y + 78, w: left - 16, h: H - y - 78 - 26 }, measure);
    const right = Math.max(...m.input.roles.map((q, i) => (q.res ? l.pos[i]!.x + measure(r.steps[i]!.label, 12) + 26 : 0)), m.frame.x1 + 40);
    const end = Math.min(W, ...inOps.filter((c) => c.x + c.w > right).map((c) => c.x));
    g += workerBars(r, s, { x: right, y: y + 34, w: end - right - 20, h: H - y - 40 });
    return g;
  }

  /** travel moves the mark along the track of the last step, in under 200 ms. */
  private travel(edge: number, forward: boolean, before: Pane | null): void {
    const m = this.drawn, g = this.overlay, r = this.ctx.recording, to = this.pane, same = before && to && before.w === to.w && before.h === to.h ? before : null;
    if (!m || !g) return;
    const pts = m.routes.segment(edge), form = m.input.roles[forward ? edge : edge + 1]!.form, t0 = performance.now();
    const tick = (now: number): void => {
      const t = Math.min(1, (now - t0) / 170), e = 1 - (1 - t) ** 3, [x, y] = along(pts, forward ? e : 1 - e);
      g.innerHTML = t < 1 ? mark(x, y, form) : '';
      if (same && to) this.look({ ...to, x: same.x + (to.x - same.x) * e, y: same.y + (to.y - same.y) * e });
      if (t < 1 && this.ctx.recording === r) this.frame = requestAnimationFrame(tick);
    };
    if (same && to) this.look(same);
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
