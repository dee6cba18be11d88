// View 6, Timeline: true time, one lane a lane name, passes on top. Canvas for
// the spans, HTML for what is under the pointer or selected.
import { CALL_LANES, callSpans } from '../calls';
import { badge, bytes, esc, exactNs, isClocked, nsCell, sig3, time, timeText } from '../format';
import { STAGE_LETTER, type Recording } from '../recording';
import { at, fit } from '../state';
import type { Span } from '../schema';
import { blocks, niceStep, rate, spanAt, tracksOf, workersOf, type Row, type Track } from '../tracks';
import { requestsOf } from './memory-data';
import { noSpans } from './missing';
import type { Table, View, ViewContext, ViewKind } from './view';

export const timelineView: ViewKind = {
  n: 6, id: 'timeline', title: 'Timeline',
  missing: noSpans,
  mount: (body, ctx) => new TimelineView(body, ctx),
};

const LEFT = 132, TOP = 26, PASS = 18, GAP = 16, RIGHT = 16, FOOT = 46;
/** A row of the requests that share the loop, px, and how many rows there is room for. */
const SHARER = 11, SHARERS = 12;
interface Placed { row: Row; y: number }

class TimelineView implements View {
  private cv = document.createElement('canvas');
  private over = document.createElement('canvas');
  private info = document.createElement('div');
  /** the spans, then those of calls to a device's driver; rows hold indexes into it */
  private all: Span[] = [];
  private tracks: Track[] = [];
  private placed: Placed[] = [];
  /** rowOf is the place in placed of each span, -1 where it has none. */
  private rowOf = new Int32Array();
  private painted = '';
  private names: { y: number; text: string; note: string }[] = [];
  private group = new Uint8Array();
  private groupNames: string[] = [];
  private builtFor = '';
  private hover = -1;
  private colors: Record<string, string> = {};
  private themed = '';
  private range: [number, number] | null = null;
  private scroll = 0;
  private rowH = 20;
  private sharers: number[] = [];

  constructor(private body: HTMLElement, private ctx: ViewContext) {
    this.cv.setAttribute('role', 'img');
    this.cv.setAttribute('aria-label', 'Timeline of all spans. The table of this view has the same numbers.');
    this.over.setAttribute('aria-hidden', 'true');
    this.info.className = 'tl-info';
    body.append(this.cv, this.over, this.info);
    this.listen();
  }

  private get end(): number { return Math.max(1, this.ctx.recording.total.ns); }

  /** The window of time, ns. It is part of the URL. */
  private get win(): [number, number] {
    const m = /^(\d+)-(\d+)$/.exec(this.ctx.state.win);
    return m && Number(m[2]) > Number(m[1]) ? [Number(m[1]), Number(m[2])] : [0, this.end];
  }

  private setWin(a: number, b: number): void {
    const span = Math.max(50, Math.min(this.end, b - a));
    const a0 = Math.max(0, Math.min(this.end - span, a));
    const whole = span >= this.end;
    this.ctx.set({ ...this.ctx.state, win: whole ? '' : `${Math.round(a0)}-${Math.round(a0 + span)}` });
  }

  private zoom(k: number, at = 0.5): void {
    const [a, b] = this.win, c = a + (b - a) * at, s = (b - a) * k;
    this.setWin(c - s * at, c + s * (1 - at));
  }

  command(id: string): boolean {
    const [a, b] = this.win, d = (b - a) * 0.2;
    switch (id) {
      case 'zoom.in': case 'time.in': this.zoom(1 / 1.6, this.focusAt()); return true;
      case 'zoom.out': case 'time.out': this.zoom(1.6, this.focusAt()); return true;
      case 'zoom.fit': this.setWin(0, this.end); return true;
      case 'time.left': this.setWin(a - d, b - d); return true;
      case 'time.right': this.setWin(a + d, b + d); return true;
      case 'focus': case 'open': return this.focus();
      case 'escape': if (!this.range) return false; this.range = null; this.update(); return true;
      default: return false;
    }
  }

  private selected(): number {
    const { recording: r, state: s } = this.ctx;
    if (s.sel) return r.spanIndex.get(s.sel) ?? -1;
    const p = r.spansAt(at(r, s), s.pass, s.layer)[0];
    return p ? r.spanIndex.get(p.id) ?? -1 : -1;
  }

  private focusAt(): number {
    const p = this.ctx.recording.spans[this.selected()], [a, b] = this.win;
    if (!p) return 0.5;
    const t = (p.start_ns + p.dur_ns / 2 - a) / (b - a);
    return t >= 0 && t <= 1 ? t : 0.5;
  }

  private focus(): boolean {
    const p = this.ctx.recording.spans[this.selected()];
    if (!p) return false;
    const [a, b] = this.win, mid = p.start_ns + p.dur_ns / 2, s = b - a;
    if (Math.abs(mid - (a + b) / 2) > s * 0.02) this.setWin(mid - s / 2, mid + s / 2);
    else this.setWin(mid - Math.max(p.dur_ns, 200) * 2, mid + Math.max(p.dur_ns, 200) * 2);
    return true;
  }

  update(): void { this.paint(); }

  /** Where the lanes begin: below the passes, and below the requests where there is more than one. */
  private get head(): number { return TOP + PASS + (this.sharers.length > 1 ? Math.min(this.sharers.length, SHARERS) * SHARER + 8 : 0); }

  private place(): void {
    const r = this.ctx.recording, H = this.body.clientHeight, key = `${r.version}/${r.spans.length}/${r.file.calls?.length}/${H}`;
    if (key === this.builtFor) return;
    this.builtFor = key;
    this.all = [...r.spans, ...callSpans(r)];
    this.tracks = [...tracksOf(r), ...tracksOf(r, this.all, r.spans.length).sort((a, b) => (a.lane < b.lane ? 1 : -1)), ...workersOf(r)];
    this.sharers = requestsOf(r);
    const rows = this.tracks.reduce((a, t) => a + t.rows.length, 0);
    this.rowH = Math.round(Math.max(20, Math.min(64, (H - this.head - FOOT - GAP * (this.tracks.length + 1)) / Math.max(1, rows))));

    this.placed = [];
    this.names = [];
    const ids = new Map<string, number>();
    this.group = Uint8Array.from(this.all, (p) => {
      const k = this.groupOf(p);
      if (!ids.has(k)) ids.set(k, ids.size);
      return ids.get(k)!;
    });
    this.groupNames = [...ids.keys()];
    this.rowOf = new Int32Array(this.all.length).fill(-1);
    let y = this.head + GAP;
    for (const t of this.tracks) {
      const l = r.lanes.find((x) => x.id === t.lane);
      this.names.push(t.worker === undefined ? { y, text: l?.name ?? CALL_LANES[t.lane] ?? t.lane, note: `${t.rows.reduce((a, q) => a + q.n, 0).toLocaleString('en')} spans` } : { y, text: `worker ${t.worker}`, note: 'busy, derived' });
      for (const row of t.rows) {
        if (t.worker === undefined) for (const n of row.span) this.rowOf[n] = this.placed.length;
        this.placed.push({ row, y });
        y += this.rowH;
      }
      y += GAP + (t.rows.length * this.rowH < 30 ? 12 : 0);
    }
  }

  private theme(): void {
    const cs = getComputedStyle(this.body), key = cs.getPropertyValue('--page');
    if (key === this.themed) return;
    this.themed = key;
    for (const k of ['page', 'text', 'text-2', 'rule', 'rule-2', 'graphic', 'st-R', 'st-S', 'st-C', 'st-D', 'fam-A', 'fam-F', 'fam-N', 'fam-E', 'fam-K', 'st-S-t', 'st-R-t', 'inset', 'sans', 'mono']) this.colors[k] = cs.getPropertyValue(`--${k}`).trim();
  }

  private size(c: HTMLCanvasElement): CanvasRenderingContext2D {
    const W = this.body.clientWidth, H = this.body.clientHeight, k = devicePixelRatio || 1;
    if (c.width !== Math.round(W * k) || c.height !== Math.round(H * k)) { c.width = Math.round(W * k); c.height = Math.round(H * k); c.style.setProperty('width', `${W}px`); c.style.setProperty('height', `${H}px`); }
    const g = c.getContext('2d')!;
    g.setTransform(k, 0, 0, k, 0, 0);
    g.clearRect(0, 0, W, H);
    return g;
  }

  private paint(): void {
    this.place();
    this.theme();
    const W = this.body.clientWidth, H = this.body.clientHeight, { state: s } = this.ctx, key = [this.builtFor, this.themed, W, devicePixelRatio, this.scroll, s.win, s.pass].join();
    if (key !== this.painted) this.paintSpans(W, H);
    this.painted = key;
    this.paintOver();
  }

  private paintSpans(W: number, H: number): void {
    const g = this.size(this.cv);
    this.axis(g, W, H);
    this.passRow(g, W);
    if (this.sharers.length > 1) this.sharerRows(g, W);
    g.save();
    g.beginPath();
    g.rect(0, this.head, W, H - this.head - FOOT);
    g.clip();
    g.translate(0, -this.scroll);
    for (const p of this.placed) if (p.y + this.rowH > this.scroll && p.y < this.scroll + H) this.row(g, p, W);
    this.labels(g);
    g.restore();
  }

  private axis(g: CanvasRenderingContext2D, W: number, H: number): void {
    const [a, b] = this.win, w = W - LEFT - RIGHT, step = niceStep(b - a, w / 90);
    g.font = `11px ${this.colors['mono']}`;
    g.fillStyle = this.colors['text-2']!;
    g.strokeStyle = this.colors['rule']!;
    g.lineWidth = 1;
    g.beginPath();
    for (let t = Math.ceil(a / step) * step; t <= b; t += step) {
      const x = Math.round(LEFT + ((t - a) / (b - a)) * w) + 0.5;
      g.moveTo(x, TOP - 6);
      g.lineTo(x, H - FOOT);
      if (x < W - 44) g.fillText(tick(t, step), x + 4, TOP - 10);
    }
    g.stroke();
  }

  private passRow(g: CanvasRenderingContext2D, W: number): void {
    const [a, b] = this.win, w = W - LEFT - RIGHT;
    g.fillStyle = this.colors['text-2']!;
    g.font = `11px ${this.colors['sans']}`;
    g.fillText('passes', 16, TOP + 12);
    for (const p of this.ctx.recording.passes) {
      const x0 = LEFT + Math.max(0, ((p.start_ns - a) / (b - a)) * w), x1 = LEFT + Math.min(w, ((p.start_ns + p.dur_ns - a) / (b - a)) * w);
      if (x1 < LEFT || x0 > LEFT + w || x1 <= x0) continue;
      const now = p.index === this.ctx.state.pass;
      g.fillStyle = now ? this.colors['text']! : p.kind === 'decode' ? this.colors['inset']! : this.colors['st-R-t']!;
      g.fillRect(x0, TOP, Math.max(0.5, x1 - x0 - 0.5), PASS - 4);
      g.strokeStyle = this.colors['rule-2']!;
      if (x1 - x0 > 2) g.strokeRect(x0 + 0.5, TOP + 0.5, x1 - x0 - 1, PASS - 5);
      const text = `${p.index}`, long = `${p.index} ${p.kind}, ${p.tokens} ${p.tokens === 1 ? 'token' : 'tokens'}${p.requests > 1 ? `, ${p.requests} requests` : ''}`;
      g.fillStyle = now ? this.colors['page']! : this.colors['text-2']!;
      const fitText = x1 - x0 > g.measureText(long).width + 8 ? long : x1 - x0 > 22 ? text : '';
      if (fitText) g.fillText(fitText, x0 + 4, TOP + 11);
    }
  }

  /** A row for each request of the loop: what of it was in each turn. A prompt's chunk is tall, a token of an answer low; this request is dark. */
  private sharerRows(g: CanvasRenderingContext2D, W: number): void {
    const { recording: r } = this.ctx, [a, b] = this.win, w = W - LEFT - RIGHT, me = r.file.request.number, rows = this.sharers.slice(0, SHARERS);
    g.font = `10px ${this.colors['sans']}`;
    rows.forEach((n, i) => {
      g.fillStyle = this.colors[n === me ? 'text' : 'text-2']!;
      g.fillText(n === me ? 'this request' : `request ${n}`, 16, TOP + PASS + i * SHARER + 9, LEFT - 24);
    });
    if (this.sharers.length > rows.length) g.fillText(`and ${this.sharers.length - rows.length} more`, 70, TOP + 12, LEFT - 74);
    for (const t of r.file.turns ?? []) {
      const x0 = LEFT + Math.max(0, ((t.start_ns - a) / (b - a)) * w), x1 = LEFT + Math.min(w, ((t.start_ns + t.dur_ns - a) / (b - a)) * w);
      if (x1 <= x0) continue;
      for (const p of t.parts) {
        const i = rows.indexOf(p.request);
        if (i < 0) continue;
        const h = p.kind === 'prefill' ? SHARER - 2 : 4;
        g.fillStyle = this.colors[p.request === me ? 'text' : p.kind === 'prefill' ? 'st-R' : p.kind === 'decode' ? 'st-C' : 'st-S']!;
        g.fillRect(x0, TOP + PASS + i * SHARER + (SHARER - 1 - h), Math.max(0.5, x1 - x0 - 0.5), h);
      }
    }
  }

  /** The group decides the colour: op families inside the forward pass, stages elsewhere. */
  private groupOf(p: Span): string {
    const r = this.ctx.recording, i = r.stepIndex.get(p.step);
    if (i === undefined) return 'graphic';
    const q = r.roles[i]!;
    return q.op ? `fam-${q.family}` : `st-${STAGE_LETTER[r.steps[i]!.stage]}`;
  }

  private row(g: CanvasRenderingContext2D, p: Placed, W: number): void {
    const [a, b] = this.win, w = W - LEFT - RIGHT;
    g.font = `11px ${this.colors['sans']}`;
    blocks(p.row, a, b, w, (q) => {
      const key = this.groupNames[this.group[q.span]!]!, x = LEFT + q.x;
      g.fillStyle = this.colors[key] ?? this.colors['graphic']!;
      g.fillRect(x, p.y, q.w > 3 ? q.w - 0.75 : q.w, this.rowH - 4);
      if (q.w < 12) return;
      const name = this.all[q.span]!.name, tw = g.measureText(name).width;
      g.fillStyle = this.colors['page']!;
      if (tw + 8 < q.w) g.fillText(name, x + 4, p.y + 12);
      else if (q.w > 13) g.fillText(key.slice(-1), x + 3, p.y + 12);
    });
  }

  private labels(g: CanvasRenderingContext2D): void {
    for (const n of this.names) {
      g.font = `600 11px ${this.colors['sans']}`;
      g.fillStyle = this.colors['text']!;
      g.fillText(n.text, 16, n.y + 12, LEFT - 24);
      g.font = `11px ${this.colors['sans']}`;
      g.fillStyle = this.colors['text-2']!;
      g.fillText(n.note, 16, n.y + 26, LEFT - 24);
    }
  }

  private paintOver(): void {
    const g = this.size(this.over), W = this.body.clientWidth, H = this.body.clientHeight, [a, b] = this.win, w = W - LEFT - RIGHT;
    const sel = this.selected();
    for (const [n, width] of [[this.hover, 1], [sel, 2]] as const) {
      const at = n >= 0 ? this.find(n) : null, p = this.all[n];
      if (!at || !p) continue;
      const x0 = LEFT + Math.max(-2, ((p.start_ns - a) / (b - a)) * w), x1 = LEFT + Math.min(w + 2, ((p.start_ns + p.dur_ns - a) / (b - a)) * w);
      if (x1 < LEFT || x0 > LEFT + w) continue;
      g.lineWidth = width + 3;
      g.strokeStyle = this.colors['page']!;
      g.strokeRect(x0 - 2, at.y - this.scroll - 2, Math.max(4, x1 - x0 + 3), this.rowH);
      g.lineWidth = width;
      g.strokeStyle = this.colors['text']!;
      g.strokeRect(x0 - 2, at.y - this.scroll - 2, Math.max(4, x1 - x0 + 3), this.rowH);
    }
    this.arrows(g, w);
    if (this.range) {
      const [t0, t1] = this.range, x0 = LEFT + ((t0 - a) / (b - a)) * w, x1 = LEFT + ((t1 - a) / (b - a)) * w;
      g.strokeStyle = this.colors['text']!;
      g.lineWidth = 1;
      g.strokeRect(x0, TOP, x1 - x0, H - FOOT - TOP);
    }
    this.tell(this.hover >= 0 ? this.hover : sel);
  }

  /** An arrow from each call of what is under the pointer, or selected, to what the device did for it. */
  private arrows(g: CanvasRenderingContext2D, w: number): void {
    const r = this.ctx.recording, [a, b] = this.win, n = this.hover >= 0 ? this.hover : this.selected(), p = this.all[n];
    if (!p || this.all.length === r.spans.length) return;
    const call = p.attrs?.['call'], x = (t: number): number => LEFT + ((t - a) / (b - a)) * w;
    g.save();
    g.beginPath();
    g.rect(LEFT, this.head, w, this.body.clientHeight);
    g.clip();
    g.strokeStyle = g.fillStyle = this.colors['text']!;
    g.lineWidth = 1;
    this.all.forEach((d, k) => {
      const h = this.all[k - 1]!;
      if (d.lane !== 'device' || k < r.spans.length || (call === undefined ? d.id !== p.id : d.attrs!['call'] !== call)) return;
      const from = this.find(k - 1), to = this.find(k), x0 = x(h.start_ns + h.dur_ns / 2), x1 = x(d.start_ns);
      if (!from || !to || Math.max(x0, x1) < LEFT || Math.min(x0, x1) > LEFT + w) return;
      const y0 = from.y - this.scroll + this.rowH - 4, y1 = to.y - this.scroll;
      g.beginPath();
      g.moveTo(x0, y0);
      g.lineTo(x1, y1 - 5);
      g.stroke();
      g.beginPath();
      g.moveTo(x1, y1);
      g.lineTo(x1 - 3.5, y1 - 6);
      g.lineTo(x1 + 3.5, y1 - 6);
      g.fill();
    });
    g.restore();
  }

  private find(span: number): Placed | null {
    return this.placed[this.rowOf[span] ?? -1] ?? null;
  }

  /** The line below: hover shows here what selection shows. */
  private tell(n: number): void {
    const p = this.all[n], res = p?.lane === 'device' ? this.ctx.recording.passes.find((q) => q.index === p.pass)?.clocks?.residual_ns : undefined;
    const range = this.range ? `<span>range ${timeText(Math.abs(this.range[1] - this.range[0]), 'derived', 'between the two marks')}</span>` : '';
    if (!p) { this.info.innerHTML = range || '<span class="dim">Select a span with the pointer, or walk with the arrows.</span>'; return; }
    const bw = rate(p), bits = [`<b>${esc(p.name)}</b>`, p.kernel && p.kernel !== p.name ? `<span class="mono">${esc(p.kernel)}</span>` : '', `at ${timeText(p.start_ns, p.prov)}`, `took ${timeText(p.dur_ns, p.prov)}`, esc(p.lane),
      p.pass !== undefined && p.pass >= 0 ? `pass ${p.pass}` : '', p.layer !== undefined && p.layer >= 0 ? `L${p.layer}` : '', p.bytes ? `${bytes(p.bytes)}${badge('derived', 'from shapes')}` : '', bw ? `${sig3(bw)} GB/s${badge('derived', 'bytes by time')}` : '', res === undefined ? '' : `clocks tied within ${timeText(res)}`, isClocked() ? '' : 'order alone is true: an emulated device'];
    this.info.innerHTML = range + bits.filter(Boolean).map((t) => `<span>${t}</span>`).join('');
  }

  private timeAt(x: number): number {
    const [a, b] = this.win;
    return a + ((x - LEFT) / (this.body.clientWidth - LEFT - RIGHT)) * (b - a);
  }

  private hit(x: number, y: number): number {
    const [a, b] = this.win, slack = ((b - a) / (this.body.clientWidth - LEFT - RIGHT)) * 3;
    const p = this.placed.find((q) => y + this.scroll >= q.y - 2 && y + this.scroll < q.y + this.rowH - 2);
    return p && x >= LEFT - 3 ? spanAt(p.row, this.timeAt(x), slack) : -1;
  }

  private listen(): void {
    let down: { x: number; y: number; a: number; b: number; moved: boolean; range: boolean } | null = null;
    const el = this.over, pt = (e: PointerEvent | WheelEvent): [number, number] => { const q = el.getBoundingClientRect(); return [e.clientX - q.left, e.clientY - q.top]; };
    el.addEventListener('pointerdown', (e) => { const [x, y] = pt(e), [a, b] = this.win; down = { x, y, a, b, moved: false, range: e.shiftKey }; el.setPointerCapture(e.pointerId); });
    el.addEventListener('pointermove', (e) => {
      const [x, y] = pt(e);
      if (!down) { const h = this.hit(x, y); if (h !== this.hover) { this.hover = h; this.paintOver(); } return; }
      if (Math.abs(x - down.x) > 3) down.moved = true;
      if (!down.moved) return;
      if (down.range) { this.range = [this.timeAt(down.x), this.timeAt(x)]; this.paintOver(); return; }
      const k = (down.b - down.a) / (this.body.clientWidth - LEFT - RIGHT);
      this.scroll = Math.max(0, Math.min(Math.max(0, (this.placed.at(-1)?.y ?? 0) + 60 - this.body.clientHeight + FOOT), this.scroll - e.movementY));
      this.setWin(down.a - (x - down.x) * k, down.b - (x - down.x) * k);
    });
    el.addEventListener('pointerup', (e) => { const [x, y] = pt(e); if (down && !down.moved) this.pick(this.hit(x, y)); down = null; });
    el.addEventListener('pointerleave', () => { this.hover = -1; this.paintOver(); });
    el.addEventListener('dblclick', () => this.focus());
    el.addEventListener('wheel', (e) => {
      const own = e.ctrlKey || e.metaKey || this.body.getRootNode() instanceof ShadowRoot && (this.body.getRootNode() as ShadowRoot).host.matches(':focus, :focus-within');
      if (!own) return;
      e.preventDefault();
      const [x] = pt(e), [a, b] = this.win, f = Math.max(0, Math.min(1, (x - LEFT) / (this.body.clientWidth - LEFT - RIGHT)));
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.setWin(a + (e.deltaX / 600) * (b - a), b + (e.deltaX / 600) * (b - a));
      else this.zoom(Math.exp(Math.max(-0.5, Math.min(0.5, e.deltaY / 300))), f);
    }, { passive: false });
  }

  /** A click on a span is the same as walking to it. */
  private pick(n: number): void {
    const { recording: r, state: s } = this.ctx, p = this.all[n];
    if (!p) { this.ctx.set({ ...s, sel: '' }); return; }
    const step = r.stepIndex.has(p.step) ? p.step : s.step;
    this.ctx.set(fit(r, { ...s, step, pass: p.pass !== undefined && p.pass >= 0 ? p.pass : s.pass, layer: p.layer !== undefined && p.layer >= 0 ? p.layer : s.layer, sel: p.id, source: 0 }));
  }

  table(): Table { return timelineTable(this.ctx.recording, this.win, this.selected()); }
  canvas(): HTMLCanvasElement { return this.cv; }
  destroy(): void { this.cv.remove(); this.over.remove(); this.info.remove(); }
}

function tick(t: number, step: number): string {
  if (!isClocked()) return '';
  const [k, u]: [number, string] = step >= 1e9 ? [1e9, 's'] : step >= 1e6 ? [1e6, 'ms'] : step >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  return `${Math.round(t / k).toLocaleString('en')} ${u}`;
}

/** The table twin: the spans in the window, at most 2,000 rows; it says what it left out. */
export function timelineTable(r: Recording, win: [number, number], sel: number): Table {
  const list = [...r.spans, ...callSpans(r)].map((p, n) => ({ p, n })).filter(({ p }) => p.start_ns < win[1] && p.start_ns + p.dur_ns > win[0]);
  const most = 2000, shown = list.slice(0, most);
  return {
    caption: `${shown.length.toLocaleString('en')} of ${list.length.toLocaleString('en')} spans from ${exactNs(win[0])} to ${exactNs(win[1])}${list.length > most ? '; zoom in for the others' : ''}. Provenance in the last column.`,
    head: ['span', 'step', 'lane', 'pass', 'layer', 'start', 'took', 'start ns', 'ns', 'bytes', 'provenance'],
    rows: shown.map(({ p }) => [p.name, p.step, p.lane, p.pass ?? '', p.layer ?? '', time(p.start_ns), time(p.dur_ns), nsCell(p.start_ns), nsCell(p.dur_ns), p.bytes ?? '', p.prov]),
    now: shown.findIndex(({ n }) => n === sel),
  };
}
