// View 3, Tape: every matrix in the order in which it is read, the real
// numbers under the playhead.
import sheet from '../../../../static/css/tape.css';
import { esc, time } from '../format';
import { at, fit, type State } from '../state';
import { noOps } from './missing';
import type { Beat } from '../player';
import { opt, withOpt } from './attention-opts';
import { adoptCss, canRecord, hostOf, missingState, stateButtons } from './attention-state';
import { otherKind } from './pass';
import { roofOf } from './pass-roof';
import { familyStrip } from './pass-strip';
import { tapeCard, tapeTable } from './tape-card';
import { beatFrom, spotOf, tapeOf, type Item, type Spot, type Tape } from './tape-data';
import { drawDetail, layoutDetail, LEVELS, num6, tip, type Box, type Detail } from './tape-detail';
import { boxOf, drawStrip, layoutStrip, type Strip } from './tape-draw';
import { levelOf, Values } from './tape-values';
import type { Table, View, ViewContext, ViewKind } from './view';
import { served } from '../site';

export const tapeView: ViewKind = {
  n: 3, id: 'tape', title: 'Tape',
  missing: noOps,
  mount: (body, ctx) => new TapeView(body, ctx),
};

const OWN = ['tl', 'row', 'blk', 'wt'] as const;
/** shallow goes back to the matrix: what was chosen inside another one means nothing here. */
const shallow = (s: State): State => OWN.reduce((a, k) => withOpt(a, k, ''), s);

class TapeView implements View {
  private bar = document.createElement('div');
  private svgEl = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  private miss = document.createElement('div');
  private live = document.createElement('div');
  private values: Values;
  private d: Detail | null = null;
  private anim: { n: number; t0: number; ms: number } | null = null;
  private frame = 0;
  private texts = { bar: '', miss: '' };
  /** the state that d is of */
  private seen: State | null = null;
  private dead = false;
  private can = false;

  constructor(private body: HTMLElement, private ctx: ViewContext) {
    adoptCss(body, sheet);
    this.bar.className = 'tp-bar';
    this.miss.className = 'tp-miss';
    this.svgEl.setAttribute('class', 'tp');
    this.svgEl.setAttribute('role', 'group');
    this.svgEl.setAttribute('aria-label', 'The tape: all weights in the order of reading. The table of this view says the same.');
    body.classList.add('tp-body');
    this.live.className = 'vh';
    this.live.setAttribute('aria-live', 'polite');
    body.append(this.bar, this.svgEl, this.miss, this.live);
    const host = hostOf(body), again = (): void => { if (!this.dead) ctx.draw(); };
    this.values = new Values(ctx.recording, host.getAttribute('src'), again);
    // weights come from the server that the recording comes from; on a page of ours it can be recorded again as well
    const asked = served() && (host.hasAttribute('page') || /^\/?api\//.test(host.getAttribute('src') ?? ''));
    void canRecord(host).then((can) => { this.can = can; return this.values.weights.open(asked); });
    this.svgEl.addEventListener('click', (e) => this.clicked(e));
    this.svgEl.addEventListener('pointermove', (e) => { if (e.buttons === 1 && (e.target as Element).closest('[data-item]')) this.clicked(e); }); // scrub
    this.bar.addEventListener('click', (e) => { const q = (e.target as Element).closest('[data-do]')?.getAttribute('data-do'); if (q) this.command(q); });
  }

  private get tape(): Tape | null { return tapeOf(this.ctx.recording, this.ctx.state.pass); }
  private spot(t: Tape): Spot { return spotOf(this.ctx.recording, t, this.ctx.state); }
  private label(x: Item): string { const r = this.ctx.recording; return r.steps[x.step]?.label ?? x.op; }
  private css(k: string): string { return getComputedStyle(this.body).getPropertyValue(k).trim(); }

  /** stateAt is the playhead on an item. */
  private stateAt(x: Item, s = this.ctx.state): State {
    const r = this.ctx.recording, step = r.steps[x.step]?.id ?? s.step;
    return fit(r, { ...shallow(s), step, layer: x.layer >= 0 ? x.layer : s.layer, depth: 'step', source: 0, sel: '' });
  }

  private clicked(e: Event): void {
    const el = e.target as Element, near = (a: string): number => Number(el.closest(`[${a}]`)?.getAttribute(a) ?? -1), s = this.ctx.state, t = this.tape;
    const item = near('data-item'), blk = near('data-blk'), wt = near('data-wt');
    if (item >= 0 && t) this.ctx.set(this.stateAt(t.items[item]!));
    else if (blk >= 0) this.ctx.set(withOpt(withOpt(withOpt(this.pinned(s), 'tl', 'block'), 'blk', blk), 'wt', ''));
    else if (wt >= 0) this.ctx.set(withOpt(withOpt(this.pinned(s), 'tl', 'weight'), 'wt', wt));
    else if (el.closest('image') && this.d) {
      const q = el.getBoundingClientRect(), m = e as MouseEvent, part = (v: number, n: number): number => Math.max(0, Math.min(n - 1, Math.floor(v * n)));
      const row = part((m.clientX - q.left) / q.width, this.d.x.rows), col = part((m.clientY - q.top) / q.height, this.d.x.cols);
      this.ctx.set(withOpt(withOpt(withOpt(withOpt(s, 'tl', 'row'), 'row', row), 'blk', Math.floor(col / this.d.span)), 'wt', ''));
    }
  }

  /** pinned writes the row and block that are shown into the state, so that a move starts from them. */
  private pinned(s: State): State { return this.d ? withOpt(withOpt(s, 'row', this.d.row), 'blk', this.d.blk) : s; }

  update(): void {
    const { scale } = this.ctx, t = this.tape, W = Math.max(680, this.body.clientWidth / scale), H = Math.max(460, (this.body.clientHeight - 28) / scale);
    if (this.body.clientWidth < 10) return;
    this.controls(t);
    this.svgEl.setAttribute('viewBox', `0 0 ${W} ${H}`);
    this.svgEl.setAttribute('width', String(W * scale));
    this.svgEl.setAttribute('height', String(H * scale));
    if (!t || !t.items.length) { this.svgEl.innerHTML = '<text x="20" y="40">This pass has no op that reads weights.</text>'; return; }
    const { cur } = this.spot(t);
    if (this.anim && this.anim.n !== cur) this.anim = null;
    this.draw(t, W, H);
    if (this.anim && !this.frame) this.frame = requestAnimationFrame(this.tick);
  }

  /** Between two beats only the playhead moves. */
  private tick = (now: number): void => {
    this.frame = 0;
    if (this.dead || !this.anim) return;
    if (now - this.anim.t0 >= this.anim.ms) this.anim = null;
    this.update();
  };

  private draw(t: Tape, W: number, H: number): void {
    const { recording: r, state: s } = this.ctx, spot = this.spot(t), a = this.anim, part = a ? Math.min(1, (performance.now() - a.t0) / a.ms) : 1;
    const p: Strip = { t, ...spot, part, byTime: opt(s, 'tw') === 'time', roof: roofOf(r), W, H, label: (x) => this.label(x) };
    const l = layoutStrip(W, H), n = Math.max(0, spot.cur), x = t.items[n]!, box: Box = { x0: l.x0, x1: l.x1, y: l.below + 1, h: H - l.below - 8, big: l.big, from: boxOf(p, l, n) };
    const seq = `${this.css('--seq')}|${this.css('--raw-page')}|${this.css('--raw-neg')}|${this.css('--raw-pos')}`, dl = layoutDetail(box);
    this.seen = s;
    this.d = this.values.detail(x, s, this.label(x), !a || a.ms > 250, dl.picW, dl.picH, seq);
    this.svgEl.innerHTML = drawStrip(p) + drawDetail(this.d, box);
    this.say(this.d);
    this.missing(dl.rowX, dl.picY + 18, dl.rowW, l.big);
  }

  /** Inside a matrix readers hear the number under the cursor; the step itself is said by the stage. */
  private say(d: Detail): void {
    const out = d.output?.[d.row], text = d.level === 'matrix' || d.fast ? '' : d.level === 'weight' ? tip(d, d.wt) : d.level === 'block' ? `block ${d.blk} of row ${d.row}` : `row ${d.row}${out === undefined ? '' : `, came out ${num6(out)}`}`;
    if (this.live.textContent !== text) this.live.textContent = text;
  }

  /** Values were not captured: said where they would stand, with the way to have them. */
  private missing(x: number, y: number, w: number, big: boolean): void {
    const { recording: r, scale } = this.ctx, show = !this.values.captured && this.d !== null && this.d.x.op !== 'embed';
    this.miss.hidden = !show;
    if (!show) return;
    for (const [k, v] of [['left', x], ['top', y + 28], ['width', w]] as const) this.miss.style.setProperty(k, `${v * scale}px`);
    const html = missingState(r, 'What went in and came out', 'Every vector of one pass', 'values', this.can);
    if (html !== this.texts.miss) {
      this.miss.innerHTML = this.texts.miss = html;
      stateButtons(this.miss, r, 'tape', ['values'], () => this.ctx.draw());
    }
    this.miss.classList.toggle('small', !big);
  }

  private controls(t: Tape | null): void {
    const { state: s } = this.ctx, seg = (on: boolean, cmd: string, text: string): string => `<button data-do="${on ? '' : cmd}" aria-pressed="${on}">${text}</button>`;
    const byTime = opt(s, 'tw') === 'time', mean = opt(s, 'px') === 'mean', at0 = this.values.at, level = levelOf(s), pre = t?.pass.kind === 'prefill';
    const other = at0 && at0.pass !== s.pass ? `<button data-do="tape.there">numbers are of pass ${at0.pass}, position ${at0.position}: go there</button>` : at0 ? `<span title="Vectors were copied out between the ops of this pass: its workers rested, and its times are longer than those of the passes after it.">numbers of position ${at0.position}</span>` : '';
    const html = `<span class="seg"><span>width</span>${seg(!byTime, 'tape.width', 'bytes')}${seg(byTime, 'tape.width', 'time')}<kbd>w</kbd></span><span class="seg"><span>picture</span>${seg(!mean, 'tape.kind', 'largest')}${seg(mean, 'tape.kind', 'mean')}<kbd>m</kbd></span><span class="seg">${seg(opt(s, 'sum') === '1', 'tape.sum', 'by hand').replace('data-do=""', 'data-do="tape.sum"')}<kbd>h</kbd></span><span class="seg"><button data-do="pass.kind">${pre ? 'prefill' : 'decode'}</button><kbd>d</kbd></span><span class="tp-what">${other}${other ? '; ' : ''}arrows: ${level === 'matrix' ? 'matrices' : level === 'row' ? 'rows' : level === 'block' ? 'blocks' : 'weights'}${this.values.fault || this.values.weights.fault ? `; ${esc(this.values.fault || this.values.weights.fault)}` : ''}</span>`;
    if (html !== this.texts.bar) { this.bar.innerHTML = this.texts.bar = html; }
  }

  command(id: string): boolean {
    const { recording: r, state: s } = this.ctx, t = this.tape, set = (n: State): true => { this.anim = null; this.ctx.set(n); return true; };
    if (!t || !t.items.length) return false;
    if (this.seen !== s) this.update(); // keys may come faster than frames: what they act on must be of this state
    const level = levelOf(s), k = LEVELS.indexOf(level);
    switch (id) {
      case 'next': return this.step(t, 1);
      case 'prev': return this.step(t, -1);
      case 'first': return this.step(t, -Infinity);
      case 'last': return this.step(t, Infinity);
      case 'stage.next': case 'stage.prev': return set(this.stateAt(this.layerFrom(t, id === 'stage.next' ? 1 : -1)));
      case 'into': if (this.d && !this.d.noFile && this.d.x.kind === 'weight' && k < 3) set(withOpt(this.pinned(s), 'tl', LEVELS[this.d.x.rows === 1 && k === 0 ? 2 : k + 1]!)); return true;
      case 'open': return this.command('into');
      case 'out': if (k > 0) { set(withOpt(s, 'tl', k === 1 || (k === 2 && this.d?.x.rows === 1) ? '' : LEVELS[k - 1]!)); return true; } return false;
      case 'escape': return k > 0 ? set(withOpt(s, 'tl', '')) : opt(s, 'sum') === '1' ? set(withOpt(s, 'sum', '')) : false;
      case 'layer.next': case 'layer.prev': return set(fit(r, { ...shallow(s), layer: s.layer + (id === 'layer.next' ? 1 : -1) }));
      case 'tape.width': return set(withOpt(s, 'tw', opt(s, 'tw') === 'time' ? '' : 'time'));
      case 'tape.kind': return set(withOpt(s, 'px', opt(s, 'px') === 'mean' ? '' : 'mean'));
      case 'tape.sum': return this.sum();
      case 'tape.there': { const p = this.values.at; return p ? set(fit(r, { ...s, pass: p.pass })) : true; }
      case 'pass.kind': { const o = otherKind(r, s); if (o) set(o); else this.ctx.say('This recording has passes of one kind only.'); return true; }
      case 'value.copy': void this.copy(); return true;
      default: return false;
    }
  }

  private sum(): true {
    const s = this.ctx.state, on = opt(s, 'sum') === '1';
    if (!on && this.d && !this.d.worked) this.ctx.say(this.d.x.kind === 'cache' || this.d.x.rows < 2 ? 'A sum is worked out for matrices only.' : this.d.noFile || this.d.noValues ? 'The sum needs the model file and the captured vectors; one of them is not here.' : 'The row is on its way.');
    this.ctx.set(withOpt(this.pinned(s), 'sum', on ? '' : '1'));
    return true;
  }

  /** step moves at the level the arrows are at; ±Infinity goes to its end. */
  private step(t: Tape, by: number): true {
    const s = this.ctx.state, d = this.d, to = (at0: number, n: number): number => Math.max(0, Math.min(n - 1, at0 + by));
    this.anim = null;
    if (levelOf(s) === 'matrix' || !d) {
      const { cur, past } = this.spot(t), exact = t.items[cur] && t.items[cur]!.step === at(this.ctx.recording, s);
      const n = past && by < 0 && by > -Infinity ? cur : !exact && by === -1 && cur >= 0 ? cur : to(cur, t.items.length);
      this.ctx.set(this.stateAt(t.items[n]!));
    } else if (d.level === 'row') this.ctx.set(withOpt(withOpt(s, 'row', to(d.row, d.x.rows)), 'wt', ''));
    else if (d.level === 'block') this.ctx.set(withOpt(withOpt(this.pinned(s), 'blk', to(d.blk, Math.ceil(d.x.cols / d.span))), 'wt', ''));
    else this.ctx.set(withOpt(this.pinned(s), 'wt', to(d.wt, d.block?.values.length ?? d.span)));
    return true;
  }

  /** layerFrom is the first item of the next group, or of this one and then the one before. */
  private layerFrom(t: Tape, d: 1 | -1): Item {
    const { cur } = this.spot(t), n = t.groups.findIndex((g) => cur >= g.from && cur <= g.to), here = t.groups[Math.max(0, n)]!;
    if (d < 0 && cur > here.from) return t.items[here.from]!;
    return t.items[t.groups[Math.max(0, Math.min(t.groups.length - 1, n + d))]!.from]!;
  }

  beat(d: 1 | -1, speed: number): Beat | null {
    const t = this.tape;
    if (!t || !t.items.length) return null;
    const { cur, past } = this.spot(t), b = past && d > 0 ? null : beatFrom(t, cur, d);
    if (!b) return null;
    this.anim = this.ctx.motion && d > 0 ? { n: b.n, t0: performance.now(), ms: b.ms / speed } : null;
    return { state: this.stateAt(t.items[b.n]!), ms: b.ms };
  }

  private async copy(): Promise<void> {
    const d = this.d, x = d?.x;
    if (!d || !x) return;
    const text = d.level === 'weight' && d.block ? tip(d, d.wt) : d.level === 'block' && d.block ? `${x.name} row ${d.row} block ${d.blk}: ${d.block.values.join(' ')}` : d.level === 'row' && d.output ? `${x.name} out[${d.row}] = ${d.output[d.row]}` : `${x.name || x.op}: ${x.bytes} bytes, ${x.ns} ns`;
    try { await navigator.clipboard.writeText(text); this.ctx.say(`In the clipboard: ${text.slice(0, 90)}`); } catch { this.ctx.say(text.slice(0, 160)); }
  }

  strip(w: number, h: number, byTime: boolean): string | null {
    const t = this.tape, r = this.ctx.recording;
    if (!t || !t.items.length) return null;
    return familyStrip(t.items.map((x) => ({ step: r.steps[x.step]?.id ?? x.op, layer: x.layer, label: this.label(x), family: x.family, ns: x.ns, size: x.bytes })), this.spot(t).cur, w, h, byTime);
  }

  owner(): string | null { const l = levelOf(this.ctx.state); return l === 'matrix' ? 'matrices' : `${l}s`; }

  card(): string | null {
    const t = this.tape;
    if (!t || !t.items.length) return null;
    const { cur } = this.spot(t);
    return tapeCard(this.ctx.recording, this.ctx.state, t, Math.max(0, cur), this.d);
  }

  table(): Table { return tapeTable(this.tape, this.d, (x) => this.label(x)); }

  svg(): string {
    const { recording: r, state: s } = this.ctx, t = this.tape;
    return this.svgEl.outerHTML.replace('<svg ', `<svg xmlns="http://www.w3.org/2000/svg" aria-description="${esc(`${r.name}; pass ${s.pass}${t ? `, ${time(t.pass.dur_ns)}` : ''}`)}" `);
  }

  destroy(): void {
    this.dead = true;
    cancelAnimationFrame(this.frame);
    this.body.classList.remove('tp-body');
    for (const e of [this.bar, this.svgEl, this.miss, this.live]) e.remove();
  }
}
