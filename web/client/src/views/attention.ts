// View 4, Attention: every head in one grid, one map large beside it. The row
// under the cursor is the playhead's position, layer and head are its own.
import { arrayNow, arrayOf } from '../fetcharray';
import { cutMiddle, tokenText } from '../format';
import { goPosition, positionOf, positions } from '../position';
import { noAttention } from './missing';
import type { State } from '../state';
import { attentionCard, shortName, type Here } from './attention-card';
import { Attention, MEANS, SCORES, type ScoreKind } from './attention-data';
import { paintMap, Tiles, type Paint } from './attention-draw';
import { cellUnder, layout, tileUnder, type Layout, type Panes } from './attention-layout';
import { ATTENTION_CHOICES, attentionBar, GRID_COMMANDS, nextOf, pressBar } from './attention-bar';
import { opt, optNumber, withOpt } from './attention-opts';
import { moving, still, type Scene } from './attention-overlay';
import { css, hex, ramp, type Rgb } from './attention-ramp';
import { adoptCss, canRecord, failedState, hostOf, largeState, missingState, removeView, stateButtons, waitingState } from './attention-state';
import sheet from '../../../../static/css/attention.css';
import type { Table, View, ViewContext, ViewKind } from './view';

/** What a tab can hold beside everything else. */
export const MOST = 300_000_000;

export const attentionView: ViewKind = {
  n: 4, id: 'attention', title: 'Attention',
  missing: noAttention,
  mount: (body, ctx) => new AttentionView(body, ctx),
};

/** attentionTable: of the heads, their scores; of a map, its rows. */
export function attentionTable(a: Attention, tokens: string[], x: Here, panes: Panes): Table {
  if (panes === 'heads') {
    const g = x.l * a.heads + x.h;
    return {
      caption: `Scores of all ${a.layers * a.heads} heads, derived from the recorded weights. ${SCORES.map((k) => `${k.title}: ${k.how}`).join('. ')}.`,
      head: ['layer', 'head', ...SCORES.map((k) => k.title)],
      rows: Array.from({ length: a.layers * a.heads }, (_, k) => [Math.floor(k / a.heads), k % a.heads, ...SCORES.map((q) => (q.id === 'repeat' && !a.repeats ? '' : Number(a.scores[q.id][k]!.toFixed(4))))]), now: g,
    };
  }
  const m = a.map(x.l, x.h, x.mean), name = (j: number): string => `${j} ${tokens[j] ?? ''}`;
  return {
    caption: `${shortName(a, x)}: weights, row: token looking, column: token looked at. Measured; sums derived.`,
    head: ['position', 'token', 'sum', ...Array.from({ length: a.n }, (_, j) => name(j))],
    rows: Array.from({ length: a.n }, (_, i) => [i, tokens[i] ?? '', a.rowSum(m, i).toFixed(4), ...Array.from({ length: a.n }, (__, j) => (j > i ? '' : m[i * a.n + j]!.toFixed(4)))]), now: x.row,
  };
}

class AttentionView implements View {
  private root = document.createElement('div');
  private bar = document.createElement('div');
  private room = document.createElement('div');
  private gridCv = document.createElement('canvas');
  private mapCv = document.createElement('canvas');
  private ov = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  private still = document.createElementNS('http://www.w3.org/2000/svg', 'g');
  private moving: SVGGElement[] = [];
  private parts: string[] = [];
  private boxed = { view: '', grid: '', map: '' };
  private gridHit = document.createElement('div');
  private mapHit = document.createElement('div');
  private live = document.createElement('div');
  private a: Attention | null = null;
  private tiles: Tiles | null = null;
  private lay: Layout = { grid: null, map: null };
  private drawn = { grid: '', map: '', still: '', bar: '' };
  private ramp: Rgb[] = [];
  private colors: string[] = [];
  private inset: Rgb = [0, 0, 0];
  private themed = '';
  private dead = false;
  private shown = '';
  private painted = false;
  private labelW = 0;

  constructor(private body: HTMLElement, private ctx: ViewContext) {
    adoptCss(body, sheet);
    this.root.className = 'vw';
    this.bar.className = 'vw-bar';
    this.room.className = 'vw-room';
    this.ov.setAttribute('class', 'ov');
    this.ov.setAttribute('aria-hidden', 'true');
    this.ov.append(this.still);
    this.live.className = 'vh';
    this.live.setAttribute('aria-live', 'polite');
    for (const [el, label] of [[this.gridHit, 'All heads, layers down, heads across. Arrows choose a head, Enter goes to its map.'], [this.mapHit, 'Map of one head, rows look at columns. Arrows move the cell.']] as const) {
      el.className = 'vw-hit';
      el.tabIndex = 0;
      el.setAttribute('role', 'application');
      el.setAttribute('aria-label', label);
    }
    this.room.append(this.gridCv, this.mapCv, this.ov, this.gridHit, this.mapHit, this.live);
    this.root.append(this.bar, this.room);
    body.append(this.root);
    this.listen();
    this.start();
  }

  /** start finds the weights or says why there are none. */
  private start(): void {
    const r = this.ctx.recording, entry = r.file.arrays?.['attention'], host = hostOf(this.body);
    if (!entry) { this.state(missingState(r, 'Attention', 'What every head looks at', 'attention,lens', false)); void canRecord(host).then((can) => { if (!this.dead && can) this.state(missingState(r, 'Attention', 'What every head looks at', 'attention,lens', true)); }); return; }
    const bytes = entry.shape.reduce((x, y) => x * y, Number(entry.dtype.slice(1)));
    if (bytes > MOST) { this.state(largeState('The attention of this recording', bytes, MOST, entry.shape)); return; }
    const had = arrayNow(r, 'attention');
    if (had) { this.ready(() => new Attention(had, this.ids())); return; }
    this.state(waitingState('the attention weights', bytes));
    arrayOf(r, 'attention', host.getAttribute('src')).then((c) => { if (!this.dead) this.ready(() => new Attention(c, this.ids())); }, (e: Error) => { if (!this.dead) this.fail(e); });
  }

  private fail(e: Error): void { this.state(failedState('The attention of this recording', e.message)); }

  private ready(make: () => Attention): void {
    performance.mark('glassbox-attention-data');
    try { this.a = make(); } catch (e) { this.fail(e as Error); return; }
    this.tiles = new Tiles(this.a);
    this.room.querySelector('.state')?.remove();
    this.ctx.draw();
    this.takeFocus();
  }

  busy(): boolean { return !!this.room.querySelector(':scope > [data-wait]'); }

  private state(html: string): void {
    this.room.querySelector('.state')?.remove();
    this.room.insertAdjacentHTML('beforeend', html);
    this.ctx.draw();
    stateButtons(this.room, this.ctx.recording, 'attention', ['attention', 'lens'], () => this.start());
  }

  /** Who came here by key goes on by key: the heads own the arrows, Esc gives them back to the steps. */
  private takeFocus(): void {
    const host = hostOf(this.body) as HTMLElement, inside = (host.shadowRoot?.activeElement ?? null) as Element | null;
    if (document.activeElement === host && (!inside || !inside.closest('dialog'))) (this.panes === 'map' ? this.mapHit : this.gridHit).focus({ preventScroll: true });
  }

  private ids(): number[] { return positions(this.ctx.recording).map((t) => t.id); }

  private get panes(): Panes { const p = opt(this.ctx.state, 'panes'); return p === 'heads' || p === 'map' ? p : this.ctx.narrow ? 'map' : 'both'; }
  private get score(): ScoreKind | null { return SCORES.find((k) => k.id === opt(this.ctx.state, 'sort')) ?? null; }

  /** here reads the playhead: head, row, and the key, which is the largest weight beside the first token until one is chosen. */
  private here(a: Attention): Here {
    const { recording: r, state: s } = this.ctx, mean = MEANS.find((m) => m === opt(s, 'mean')) ?? '';
    const l = Math.min(a.layers - 1, s.layer), h = Math.min(a.heads - 1, s.head), row = Math.min(a.n - 1, positionOf(r, s));
    let col = Math.min(a.n - 1, optNumber(s, 'key', -1));
    if (col < 0) { const m = a.map(l, h, mean); col = 0; for (let j = 1, best = -1; j < row; j++) if (m[row * a.n + j]! > best) { best = m[row * a.n + j]!; col = j; } }
    return { l, h, row, col: Math.min(col, row), mean };
  }

  private order(a: Attention): ArrayLike<number> {
    const k = this.score;
    return k ? a.order(k.id) : Int32Array.from({ length: a.layers * a.heads }, (_, g) => g);
  }

  update(): void {
    const a = this.a, { recording: r, state: s } = this.ctx;
    this.theme();
    const barSig = `${!!a}/${s.opts}/${this.ctx.narrow}`;
    if (barSig !== this.drawn.bar) { this.drawn.bar = barSig; attentionBar(this.bar, s, !!a, !!a?.repeats); }
    if (!a) return;
    const W = this.room.clientWidth / this.ctx.scale, H = this.room.clientHeight / this.ctx.scale, dpr = (devicePixelRatio || 1) * this.ctx.scale;
    if (W < 40 || H < 40) return;
    const x = this.here(a), kv = r.file.model.kv_heads || a.heads, tokens = positions(r);
    if (this.shown !== r.name) { this.shown = r.name; this.labelW = Math.max(20, ...tokens.map((t) => cutMiddle(tokenText(t), 13).length * 7.3)); }
    this.lay = layout({ W, H, layers: a.layers, heads: a.heads, kv, n: a.n, panes: this.panes, zoom: optNumber(s, 'zoom', 0), row: x.row, col: x.col, dpr, label: this.labelW, sorted: !!this.score });
    const p: Paint = { ramp: this.ramp, colors: this.colors, inset: this.inset, linear: opt(s, 'scale') === 'linear', own: opt(s, 'range') === 'own', skipFirst: opt(s, 'first') === 'hide' };
    const map = a.map(x.l, x.h, x.mean), order = this.order(a), g = this.lay.grid, m = this.lay.map, size = `${W}x${H}@${dpr}/${this.themed}/${p.linear}/${p.own}/${p.skipFirst}`, per = kv > 0 && a.heads % kv === 0 ? a.heads / kv : a.heads;
    this.fit(this.gridCv, g ? Math.ceil(g.x + g.w + 4) : 1, H, dpr);
    const gridSig = `${size}/${this.score?.id}/${JSON.stringify(g)}`;
    if (g && gridSig !== this.drawn.grid) { this.drawn.grid = gridSig; this.tiles!.paint(this.gridCv, g, order, per, p, dpr); }
    const edge = m ? { ...m, x: 2, y: 2 } : null; // its canvas is the map and a hairline around it
    if (m) this.fit(this.mapCv, m.size + 4, m.size + 4, dpr, m.x - 2, m.y - 2);
    const mapSig = `${size}/${x.l}/${x.h}/${x.mean}/${JSON.stringify(m)}`;
    if (m && mapSig !== this.drawn.map) { this.drawn.map = mapSig; paintMap(this.mapCv, map, a.n, edge!, p, dpr); }
    this.mapCv.toggleAttribute('hidden', !m);
    this.gridCv.toggleAttribute('hidden', !g);
    const scene: Scene = { a, tokens, prompt: r.prompt.length, lay: this.lay, here: x, map, order, score: this.score, per, linear: p.linear, own: p.own, skipFirst: p.skipFirst, ramp: this.colors, W, H };
    const box = `0 0 ${W} ${H}`;
    if (box !== this.boxed.view) this.ov.setAttribute('viewBox', (this.boxed.view = box));
    const stillSig = `${gridSig}/${JSON.stringify(m)}/${p.own ? mapSig : ''}`;
    if (stillSig !== this.drawn.still) { this.drawn.still = stillSig; this.still.innerHTML = still(scene); }
    moving(scene).forEach((html, k) => {
      if (html === this.parts[k]) return;
      this.parts[k] = html;
      if (!this.moving[k]) this.ov.append((this.moving[k] = document.createElementNS('http://www.w3.org/2000/svg', 'g')));
      this.moving[k]!.innerHTML = html;
    });
    this.place(this.gridHit, g && [g.x - 3, g.y - 3, g.w + 3, g.h + 3]);
    this.place(this.mapHit, m && [m.x, m.y, m.size, m.size]);
    this.announce(a, x, map);
    if (!this.painted) { this.painted = true; performance.mark('glassbox-attention-paint'); }
  }

  /** Nothing is written that is so already: each write would have the browser look at the whole again. */
  private fit(c: HTMLCanvasElement, W: number, H: number, dpr: number, x = 0, y = 0): void {
    const w = Math.round(W * dpr), h = Math.round(H * dpr), k = this.ctx.scale, which = c === this.gridCv ? 'grid' : 'map', at = `${W}/${H}/${x}/${y}/${k}`;
    if (c.width !== w || c.height !== h) { c.width = w; c.height = h; this.drawn[which] = ''; }
    if (this.boxed[which] === at) return;
    this.boxed[which] = at;
    for (const [name, v] of [['width', W], ['height', H], ['left', x], ['top', y]] as const) c.style.setProperty(name, `${v * k}px`);
  }

  private placed = new Map<HTMLElement, string>();
  private place(el: HTMLElement, at: [number, number, number, number] | null): void {
    const sig = `${at}/${this.ctx.scale}`;
    if (this.placed.get(el) === sig) return;
    this.placed.set(el, sig);
    el.hidden = !at;
    if (at) (['left', 'top', 'width', 'height'] as const).forEach((k, n) => el.style.setProperty(k, `${at[n]! * this.ctx.scale}px`));
  }

  private theme(): void {
    const cs = getComputedStyle(this.body), seq = cs.getPropertyValue('--seq');
    if (seq === this.themed) return;
    this.themed = seq;
    this.ramp = ramp(seq);
    this.colors = this.ramp.map(css);
    this.inset = hex(cs.getPropertyValue('--raw-inset'));
  }

  private saying: ReturnType<typeof setTimeout> | undefined;
  private announce(a: Attention, x: Here, map: ArrayLike<number>): void {
    const t = positions(this.ctx.recording), name = (j: number): string => (t[j] ? tokenText(t[j]!) : String(j)), text = `${shortName(a, x)}, row ${x.row} ${name(x.row)}, column ${x.col} ${name(x.col)}: ${map[x.row * a.n + x.col]!.toFixed(4)}`;
    clearTimeout(this.saying);
    this.saying = setTimeout(() => { if (this.live.textContent !== text) this.live.textContent = text; }, 200);
  }

  private set(s: State): void { this.ctx.set(s); }

  private toHead(place: number): void {
    const a = this.a!, o = this.order(a), g = o[Math.max(0, Math.min(o.length - 1, place))]!;
    this.set({ ...this.ctx.state, layer: Math.floor(g / a.heads), head: g % a.heads });
  }

  private placeNow(): number { const a = this.a!, x = this.here(a); return Array.prototype.indexOf.call(this.order(a), x.l * a.heads + x.h) as number; }

  private toCell(row: number, col: number): void {
    const a = this.a!, to = Math.max(0, Math.min(a.n - 1, row));
    this.set(withOpt(goPosition(this.ctx.recording, this.ctx.state, to), 'key', Math.max(0, Math.min(to, col))));
  }

  private listen(): void {
    this.gridHit.addEventListener('keydown', (e) => { if (this.gridKey(e)) { e.preventDefault(); e.stopPropagation(); } });
    this.mapHit.addEventListener('keydown', (e) => { if (this.mapKey(e)) { e.preventDefault(); e.stopPropagation(); } });
    const drag = (el: HTMLElement, go: (x: number, y: number) => void): void => {
      let frame = 0;
      const at = (e: PointerEvent): void => { const q = this.room.getBoundingClientRect(), x = (e.clientX - q.left) / this.ctx.scale, y = (e.clientY - q.top) / this.ctx.scale; cancelAnimationFrame(frame); frame = requestAnimationFrame(() => go(x, y)); };
      el.addEventListener('pointerdown', (e) => { el.setPointerCapture(e.pointerId); el.focus({ preventScroll: true }); at(e); });
      el.addEventListener('pointermove', (e) => { if (e.buttons & 1) at(e); });
      el.addEventListener('click', (e) => e.stopPropagation());
      el.addEventListener('dblclick', () => this.set(withOpt(this.ctx.state, 'panes', this.panes === 'both' ? (el === this.mapHit ? 'map' : 'heads') : '')));
      for (const t of ['focus', 'blur']) el.addEventListener(t, () => this.ctx.draw());
    };
    drag(this.gridHit, (x, y) => { const a = this.a, g = this.lay.grid, kv = this.ctx.recording.file.model.kv_heads ?? 1; if (!a || !g) return; const at = tileUnder(g, x, y, a.heads % kv ? a.heads : a.heads / kv); if (at) this.toHead(at[1] * g.cols + at[0]); });
    drag(this.mapHit, (x, y) => { const m = this.lay.map; if (!this.a || !m) return; const at = cellUnder(m, x, y); if (at) this.toCell(at[0], Math.min(at[0], at[1])); });
    this.bar.addEventListener('click', (e) => { const s = pressBar(e.target as Element, this.ctx.state); if (s) { this.set(s); e.stopPropagation(); } });
  }

  private leave(): void { (hostOf(this.body) as HTMLElement).focus({ preventScroll: true }); this.ctx.draw(); }

  private common(e: KeyboardEvent): boolean | null {
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'c') { void this.copy(); return true; }
    if (e.altKey || e.metaKey) return false;
    switch (e.key) {
      case '.': this.toHead(this.placeNow() + 1); return true;
      case ',': this.toHead(this.placeNow() - 1); return true;
      case '>': this.set({ ...this.ctx.state, layer: this.ctx.state.layer + 1 }); return true;
      case '<': this.set({ ...this.ctx.state, layer: Math.max(0, this.ctx.state.layer - 1) }); return true;
      case 'Escape': this.leave(); return true;
      default: return null;
    }
  }

  private gridKey(e: KeyboardEvent): boolean {
    const a = this.a, g = this.lay.grid;
    if (!a || !g) return false;
    const k = this.common(e);
    if (k !== null) return k;
    const at = this.placeNow(), C = g.cols, c = at % C, N = a.layers * a.heads;
    const to: Record<string, number> = { ArrowRight: c < C - 1 ? at + 1 : at, ArrowLeft: c > 0 ? at - 1 : at, ArrowDown: at + C < N ? at + C : at, ArrowUp: at >= C ? at - C : at, Home: e.ctrlKey ? 0 : at - c, End: e.ctrlKey ? N - 1 : at - c + C - 1, PageDown: Math.min(N - C + c, at + 5 * C), PageUp: Math.max(c, at - 5 * C) };
    if (e.key === 'Enter') { if (this.lay.map) this.mapHit.focus(); else this.set(withOpt(this.ctx.state, 'panes', '')); return true; }
    if (to[e.key] === undefined) return false;
    this.toHead(to[e.key]!);
    return true;
  }

  private mapKey(e: KeyboardEvent): boolean {
    const a = this.a;
    if (!a) return false;
    const k = this.common(e);
    if (k !== null) return k;
    const { row, col } = this.here(a), s = this.ctx.state, zoom = optNumber(s, 'zoom', 0);
    switch (e.key) {
      case 'ArrowRight': this.toCell(row, col + 1); return true;
      case 'ArrowLeft': this.toCell(row, col - 1); return true;
      case 'ArrowDown': this.toCell(row + 1, col); return true;
      case 'ArrowUp': this.toCell(row - 1, col); return true;
      case 'Home': this.toCell(e.ctrlKey ? 0 : row, 0); return true;
      case 'End': this.toCell(e.ctrlKey ? a.n - 1 : row, e.ctrlKey ? a.n - 1 : row); return true;
      case 'PageDown': this.toCell(row + 10, col); return true;
      case 'PageUp': this.toCell(row - 10, col); return true;
      case '+': case '=': this.set(withOpt(s, 'zoom', Math.min(6, zoom + 1))); return true;
      case '-': this.set(withOpt(s, 'zoom', zoom > 1 ? zoom - 1 : '')); return true;
      case '0': this.set(withOpt(s, 'zoom', '')); return true;
      case 'Enter': this.set(withOpt(s, 'panes', this.panes === 'map' ? '' : 'map')); return true;
      default: return false;
    }
  }

  /** The value under the cursor, exactly, with what it is. */
  private async copy(): Promise<void> {
    const a = this.a!, x = this.here(a), t = positions(this.ctx.recording), v = a.map(x.l, x.h, x.mean)[x.row * a.n + x.col]!, text = `${shortName(a, x)}\trow ${x.row} ${t[x.row]?.text ?? ''}\tcolumn ${x.col} ${t[x.col]?.text ?? ''}\t${v}`;
    try { await navigator.clipboard.writeText(text); this.ctx.say(`Copied: ${v}`); } catch { this.ctx.say(text); }
  }

  command(id: string): boolean {
    if (!this.a) return false;
    const choice = GRID_COMMANDS['attention']![id];
    if (choice) { this.set(nextOf(ATTENTION_CHOICES, choice, this.ctx.state, new Set(this.a.repeats ? [] : ['repeat']))); return true; }
    if (id === 'value.copy') { void this.copy(); return true; }
    if (id === 'same.next') { this.toHead(this.placeNow() + 1); return true; }
    if (id === 'same.prev') { this.toHead(this.placeNow() - 1); return true; }
    if (id === 'open') { (this.lay.grid ? this.gridHit : this.mapHit).focus(); return true; }
    return false;
  }

  owner(): string | null {
    const on = (this.body.getRootNode() as ShadowRoot).activeElement;
    return on === this.gridHit ? 'heads' : on === this.mapHit ? 'map cell' : null;
  }

  card(): string | null {
    const a = this.a;
    if (!a) return null;
    const x = this.here(a);
    return attentionCard(this.ctx.recording, this.ctx.state, a, positions(this.ctx.recording), x, a.map(x.l, x.h, x.mean));
  }

  table(): Table {
    if (!this.a) return { caption: 'This recording has no attention weights.', head: [], rows: [] };
    return attentionTable(this.a, positions(this.ctx.recording).map(tokenText), this.here(this.a), this.panes);
  }

  /** Labels stay text; the two bitmaps go in as PNG. */
  svg(): string | null {
    if (!this.a) return null;
    const [, , W, H] = (this.ov.getAttribute('viewBox') ?? '0 0 1 1').split(' '), dpr = (devicePixelRatio || 1) * this.ctx.scale;
    const image = (c: HTMLCanvasElement, on: unknown, x = 0, y = 0): string => (on ? `<image x="${x}" y="${y}" href="${c.toDataURL('image/png')}" width="${c.width / dpr}" height="${c.height / dpr}"/>` : '');
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${W}" height="${H}" viewBox="0 0 ${W} ${H}">${image(this.gridCv, this.lay.grid)}${image(this.mapCv, this.lay.map, (this.lay.map?.x ?? 2) - 2, (this.lay.map?.y ?? 2) - 2)}${this.ov.innerHTML}</svg>`;
  }

  destroy(): void {
    this.dead = true;
    clearTimeout(this.saying);
    removeView(this.root);
  }
}
