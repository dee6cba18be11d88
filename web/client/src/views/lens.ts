// View 5, Lens: layers down, positions across, each cell the word the model
// would say from there. The words are a real table; the overview, the bars
// and the close-up are drawn beside it. Position and layer are the playhead's.
import { } from '../fetcharray';
import { cutMiddle, esc, tokenText } from '../format';
import { goPosition, positionOf, wordAt, whyWord } from '../position';
import { noLens, hasLens, hasArray } from './missing';
import type { State } from '../state';
import { choices, GRID_COMMANDS, keepFocus, nextOf, pressBar, type Choice } from './attention-bar';
import { opt, withOpt } from './attention-opts';
import { css, ramp, type Rgb } from './attention-ramp';
import { adoptCss, canRecord, failedState, hostOf, missingState, removeView, stateButtons, waitingState } from './attention-state';
import { lensCard, odds, rowName } from './lens-card';
import { lensArrays, lensNow, lensOf, part, type Cell, type Colour, type Lens, type Pair, type Row } from './lens-data';
import { next, pairKey, pairNow, pairText, pick } from './lens-pick';
import { lastTwo, layerBars, whoWrote } from './lens-writers';
import { lensPicture, type Picture } from './lens-picture';
import shared from '../../../../static/css/attention.css';
import sheet from '../../../../static/css/lens.css';
import type { Table, View, ViewContext, ViewKind } from './view';

export const lensView: ViewKind = {
  n: 5, id: 'lens', title: 'Lens',
  missing: noLens,
  mount: (body, ctx) => new LensView(body, ctx),
};

const CHOICES: readonly Choice[] = [
  { name: 'colour', label: 'colour', values: [['', 'probability'], ['rank', 'rank of the final word'], ['entropy', 'entropy']] },
  { name: 'mid', label: 'rows', values: [['', 'after block'], ['on', '+ after attention']] },
];
const LEFT = 46, CELL = 61, BARS = 126, MINI = 30, HEAD = 32;

/** lensTable lists every row and position with its leading words, and who wrote the chosen word, or decided between the chosen two. */
export function lensTable(ln: Lens, mid: boolean, now: { row: Row; pos: number }, chosen: Pair | null = null): Table {
  const rows = ln.rows(mid), out: (string | number)[][] = [];
  rows.forEach((row, n) => {
    for (let pos = 0; pos < ln.n; pos++) {
      const c = ln.cell(row, pos, rows[n - 1] ?? null);
      out.push([row.layer, row.half === 'A' ? 'attention' : 'block', pos, ln.inputs[pos] ? tokenText(ln.inputs[pos]!) : '', c.entropy === null ? '' : c.entropy.toFixed(3), c.rank ?? '', ...c.top.flatMap((w) => [ln.text(w.id), odds(w.p)])]);
    }
  });
  const at = rows.findIndex((q) => q.layer === now.row.layer && q.half === now.row.half) * ln.n + now.pos, k = wordAt(ln.r, now.pos), pair = chosen ?? ln.pair(k), wrote = ln.writers(k, pair), what = pair ? pairText(ln, pair) : '';
  for (const w of wrote ?? []) out.push([/^L(\d+)/.exec(w.name)?.[1] ?? '', `wrote: ${w.name}`, now.pos, ln.inputs[now.pos] ? tokenText(ln.inputs[now.pos]!) : '', '', '', what, w.v, ...Array.from({ length: 2 * (ln.ranks - 1) }, () => '')]);
  return {
    caption: `The word of each layer and position: the residual through the last norm and the head. Probabilities are derived from measured logits; entropy in bits; rank of the final word.${wrote ? ` Rows “wrote” at the end: what each component added to the ${pair!.against ? 'difference of logits,' : 'logit of'} ${what}, at position ${now.pos}; they add up to ${wrote.reduce((t, w) => t + w.v, 0).toFixed(4)}.` : ''}`,
    head: ['layer', 'after', 'position', 'input', 'entropy', 'rank', ...Array.from({ length: ln.ranks }, (_, k) => [`word ${k + 1}`, `p ${k + 1}`]).flat()],
    rows: out, now: at,
  };
}

class LensView implements View {
  private root = document.createElement('div');
  private bar = document.createElement('div');
  private room = document.createElement('div');
  private mini = document.createElement('canvas');
  private ov = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  private bars = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  private pane = document.createElement('div');
  private grid = document.createElement('table');
  private miniHit = document.createElement('div');
  private ask = document.createElement('div');
  private ln: Lens | null = null;
  private drawn = { table: '', mini: '', bars: '', side: '', bar: '' };
  private ramp: Rgb[] = [];
  private themed = '';
  private first = 0;
  private cols = 0;
  private rowH = 19;
  private dead = false;
  private picture: Picture | null = null;

  constructor(private body: HTMLElement, private ctx: ViewContext) {
    adoptCss(body, shared);
    adoptCss(body, sheet);
    this.root.className = 'vw';
    this.bar.className = 'vw-bar';
    this.room.className = 'vw-room';
    this.pane.className = 'ln-pane';
    this.miniHit.className = 'vw-hit';
    this.ask.className = 'askword';
    this.ov.setAttribute('class', 'ov');
    this.bars.setAttribute('aria-hidden', 'true');
    this.grid.setAttribute('role', 'grid');
    this.grid.tabIndex = 0;
    this.grid.setAttribute('aria-label', 'The word of each layer and position. Arrows move, Enter opens attention there.');
    this.pane.append(this.grid, this.bars);
    this.room.append(this.mini, this.ov, this.pane, this.miniHit, this.ask);
    this.root.append(this.bar, this.room);
    body.append(this.root);
    this.ov.setAttribute('role', 'group');
    this.ov.setAttribute('aria-label', 'Who wrote the word, and the last two layers');
    this.listen();
    this.start();
  }

  private start(): void {
    const r = this.ctx.recording, host = hostOf(this.body), none = (can: boolean): void => this.state(missingState(r, 'The lens', 'What each layer would say', 'attention,lens', can));
    if (!hasLens(r)) { none(false); void canRecord(host).then((can) => { if (!this.dead && can) none(true); }); return; }
    try {
      const had = lensNow(r);
      if (had) { this.ready(had); return; }
    } catch (e) { this.fail(e as Error); return; }
    const bytes = lensArrays(r).reduce((t, n) => { const a = r.file.arrays![n]!; return t + a.shape.reduce((x, y) => x * y, Number(a.dtype.slice(1))); }, 0);
    this.state(waitingState('the lens', bytes));
    lensOf(r, host.getAttribute('src')).then((ln) => { if (!this.dead) this.ready(ln); }, (e: Error) => { if (!this.dead) this.fail(e); });
  }

  private ready(ln: Lens): void {
    performance.mark('glassbox-lens-data');
    this.ln = ln;
    this.room.querySelector('.state')?.remove();
    this.ctx.draw();
    const host = hostOf(this.body) as HTMLElement;
    if (document.activeElement === host && !host.shadowRoot?.activeElement?.closest('dialog')) this.grid.focus({ preventScroll: true });
  }

  private fail(e: Error): void { this.state(failedState('The lens of this recording', e.message)); }

  busy(): boolean { return !!this.room.querySelector(':scope > [data-wait]'); }

  private state(html: string): void {
    this.room.querySelector('.state')?.remove();
    this.room.insertAdjacentHTML('beforeend', html);
    this.ctx.draw();
    stateButtons(this.room, this.ctx.recording, 'lens', ['attention', 'lens'], () => this.start());
  }

  private get mid(): boolean { return opt(this.ctx.state, 'mid') === 'on' && !!this.ln?.hasMid; }
  private get pair(): Pair | null { return this.ln ? pairNow(this.ln, wordAt(this.ln.r, this.pos), this.ctx.state) : null; }
  private get colour(): Colour { const c = opt(this.ctx.state, 'colour'); return c === 'rank' || c === 'entropy' ? c : 'probability'; }
  private get row(): Row { const s = this.ctx.state; return { layer: Math.min(this.ln!.layers - 1, s.layer), half: this.mid && opt(s, 'half') === 'A' ? 'A' : 'F' }; }
  private get pos(): number { return Math.min(this.ln!.n - 1, positionOf(this.ctx.recording, this.ctx.state)); }

  update(): void {
    const { state: s, narrow } = this.ctx, ln = this.ln;
    this.theme();
    const barSig = `${!!ln}/${s.opts}/${narrow}`;
    if (barSig !== this.drawn.bar) {
      this.drawn.bar = barSig;
      this.bar.hidden = !ln;
      keepFocus(this.bar, choices(CHOICES.filter((c) => c.name !== 'mid' || ln?.hasMid), s));
    }
    if (!ln) return;
    const W = this.room.clientWidth / this.ctx.scale, H = this.room.clientHeight / this.ctx.scale;
    if (W < 60 || H < 60) return;
    const rows = ln.rows(this.mid), writers = !narrow && hasArray(ln.r, 'attr'), sideW = narrow ? 0 : Math.max(236, Math.min(300, W * 0.3)), barW = writers ? BARS : 0;
    const room = W - LEFT - barW - (sideW ? sideW + 44 : 10);
    this.cols = Math.max(1, Math.min(ln.n, Math.floor(room / CELL)));
    const cw = Math.min(96, Math.floor(room / this.cols)), top = MINI + 18, bodyH = H - top - HEAD - 22;
    this.rowH = Math.max(15, Math.min(22, Math.floor(bodyH / rows.length)));
    const pos = this.pos;
    if (pos < this.first || pos >= this.first + this.cols || this.first + this.cols > ln.n) this.first = Math.max(0, Math.min(ln.n - this.cols, pos - this.cols + 1));
    this.placePane(W, H, top, cw, barW, rows.length);
    this.drawTable(ln, rows, cw, barW);
    this.drawMini(ln, cw * this.cols);
    this.drawBars(ln, rows, LEFT + cw * this.cols + 14, barW);
    const sideX = LEFT + cw * this.cols + barW + 40;
    this.drawOver(ln, W, H, cw, top, rows.length, sideW ? { x: sideX, w: W - sideX - 20 } : null);
    this.select(rows, pos);
  }

  private placePane(W: number, H: number, top: number, cw: number, barW: number, n: number): void {
    const k = this.ctx.scale, css = this.pane.style, wide = LEFT + cw * this.cols + barW + 24, tall = Math.min(H - top - (HEAD + n * this.rowH > H - top ? 20 : 0), HEAD + n * this.rowH + 22);
    for (const [name, v] of [['top', top], ['width', Math.min(W, wide)], ['height', tall]] as const) css.setProperty(name, `${v}px`); // zoom below scales these too
    this.pane.style.setProperty('--rh', `${this.rowH}px`);
    if (k !== 1) css.setProperty('zoom', String(k));
    else css.removeProperty('zoom');
  }

  private drawTable(ln: Lens, rows: Row[], cw: number, barW: number): void {
    const sig = `${this.first}/${this.cols}/${cw}/${this.mid}/${this.colour}/${this.themed}/${this.rowH}/${barW}`;
    if (sig === this.drawn.table) return;
    this.drawn.table = sig;
    const list = Array.from({ length: this.cols }, (_, k) => this.first + k), vocab = ln.r.file.model.vocab ?? 2;
    this.grid.setAttribute('aria-colcount', String(ln.n));
    this.grid.setAttribute('aria-rowcount', String(rows.length));
    this.grid.style.setProperty('width', `${LEFT + cw * this.cols + barW + 14}px`);
    let h = `<colgroup><col>${list.map(() => '<col>').join('')}<col></colgroup><thead><tr><th></th>${list.map((p) => `<th scope="col" data-c="${p}" aria-colindex="${p + 1}"><small>${p}</small>${esc(cutMiddle(ln.inputs[p] ? tokenText(ln.inputs[p]!) : '', Math.floor(cw / 7.4)))}</th>`).join('')}<th class="into"></th></tr></thead><tbody>`;
    const colors: (Rgb | null)[] = [];
    rows.forEach((row, n) => {
      h += `<tr><th scope="row">${row.half === 'A' ? 'A' : `L${row.layer}`}</th>`;
      for (const p of list) {
        const c = ln.cell(row, p, rows[n - 1] ?? null), t = part(c, this.colour, vocab), most = Math.floor((cw - (c.same ? 14 : 7)) / 7.3);
        colors.push(t === null ? null : this.ramp[Math.round(255 * Math.min(1, t))]!);
        h += `<td id="c${n}-${p}" role="gridcell" data-r="${n}" data-c="${p}" aria-colindex="${p + 1}" class="${c.same ? 'fin' : ''}${c.changed ? ' chg' : ''}${t === null ? ' none' : ''}">${esc(cutMiddle(ln.text(c.top[0]!.id), Math.max(3, most)))}</td>`;
      }
      h += '</tr>';
    });
    this.grid.innerHTML = `${h}</tbody>`;
    this.grid.querySelectorAll('col').forEach((c, k) => c.style.setProperty('width', `${k === 0 ? LEFT : k <= list.length ? cw : barW + 14}px`));
    this.grid.querySelectorAll('td').forEach((td, k) => { if (colors[k]) td.style.setProperty('background', css(colors[k]!)); });
    this.picture = { rows, list, cw, rowH: this.rowH, left: LEFT, head: HEAD, colors };
  }

  /** All positions at a glance; the frame is what the table shows. */
  private drawMini(ln: Lens, w: number): void {
    const dpr = (devicePixelRatio || 1) * this.ctx.scale, sig = `${w}/${dpr}/${this.colour}/${this.themed}`, W = Math.round((LEFT + w + 4) * dpr), H = Math.round((MINI + 8) * dpr);
    (['left', 'top', 'width', 'height'] as const).forEach((k, n) => this.miniHit.style.setProperty(k, `${[LEFT, 4, w, MINI + 4][n]! * this.ctx.scale}px`));
    if (sig === this.drawn.mini) return;
    this.drawn.mini = sig;
    this.mini.width = W;
    this.mini.height = H;
    this.mini.style.setProperty('width', `${W / (devicePixelRatio || 1)}px`);
    this.mini.style.setProperty('height', `${H / (devicePixelRatio || 1)}px`);
    const g = this.mini.getContext('2d')!, mw = w / ln.n, lh = MINI / ln.layers, vocab = ln.r.file.model.vocab ?? 2;
    g.setTransform(dpr, 0, 0, dpr, 0, 0);
    for (let p = 0; p < ln.n; p++) for (let l = 0; l < ln.layers; l++) {
      const t = part(ln.cell({ layer: l, half: 'F' }, p, null), this.colour, vocab);
      if (t === null) continue;
      g.fillStyle = css(this.ramp[Math.round(255 * Math.min(1, t))]!);
      g.fillRect(LEFT + p * mw, 6 + l * lh, Math.max(0.6, mw - (mw > 4 ? 1 : 0)), lh + 0.2);
    }
  }

  private drawBars(ln: Lens, rows: Row[], x: number, w: number): void {
    const k = wordAt(ln.r, this.pos), pair = this.pair, sig = `${k}/${pairKey(pair)}/${this.drawn.table}/${w}`;
    this.bars.style.setProperty('left', `${x}px`);
    this.bars.style.setProperty('top', `${HEAD}px`);
    if (sig === this.drawn.bars) return;
    this.drawn.bars = sig;
    this.bars.setAttribute('width', String(Math.max(0, w)));
    this.bars.setAttribute('height', String(rows.length * this.rowH + 16));
    const into = this.grid.querySelector('.into');
    if (into) into.innerHTML = w && k >= 0 ? `<small>${pair?.against ? `against ${esc(cutMiddle(ln.text(pair.against.id), 9))}` : 'into the logit of'}</small><b>${esc(cutMiddle(ln.text(pair?.of.id ?? ln.said(k).said), 9))}</b> <span>by layer</span>` : '';
    this.bars.innerHTML = w && k >= 0 ? layerBars(ln, k, pair, rows, this.rowH, w) : '';
  }

  private drawOver(ln: Lens, W: number, H: number, cw: number, top: number, n: number, side: { x: number; w: number } | null): void {
    const pos = this.pos, k = wordAt(ln.r, pos), w = cw * this.cols, mw = w / ln.n, x0 = LEFT + this.first * mw, x1 = LEFT + (this.first + this.cols) * mw, cut = ln.r.prompt.length;
    const sig = `${W}/${H}/${pos}/${this.first}/${pairKey(this.pair)}/${this.drawn.table}/${k}`;
    if (sig === this.drawn.side) return;
    this.drawn.side = sig;
    this.ov.setAttribute('viewBox', `0 0 ${W} ${H}`);
    let g = `<text x="${LEFT - 8}" y="18" class="end cap s">all</text><text x="${LEFT - 8}" y="31" class="end cap m s">${ln.n}</text><rect x="${LEFT - 0.5}" y="5.5" width="${w}" height="${MINI + 1}" class="hair"/><rect x="${x0 - 1}" y="4" width="${x1 - x0 + 1}" height="${MINI + 4}" fill="none" stroke="var(--text)" stroke-width="1.5"/><path d="M${LEFT + (pos + 0.5) * mw} ${MINI + 8}v5" stroke="var(--text)" stroke-width="2"/><path d="M${x0} ${MINI + 8}L${LEFT} ${top}M${x1} ${MINI + 8}L${LEFT + w} ${top}" class="hair"/>`;
    if (cut > 0 && cut < ln.n) g += `<path d="M${LEFT + cut * mw - 0.5} 2v${MINI + 6}" stroke="var(--st-D)"/>`;
    g += this.legend(LEFT + w, Math.min(H - 8, top + HEAD + n * this.rowH + 14), ln);
    this.ask.innerHTML = '';
    if (side) g += this.side(ln, k, side, H);
    keepFocus(this.ov, g);
  }

  private side(ln: Lens, k: number, at: { x: number; w: number }, H: number): string {
    if (k < 0) {
      const words = ln.r.output.slice(0, 64).map((t, n) => `<button data-why="${n}">${esc(cutMiddle(tokenText(t), 14))}</button>`).join(' ');
      this.ask.innerHTML = `<p>Position ${this.pos} reads the prompt. Who wrote a word is recorded for the words of the answer. <b>Why this word?</b></p><p>${words}</p>`;
      for (const [p, v] of [['left', at.x], ['top', 6], ['width', at.w]] as const) this.ask.style.setProperty(p, `${v * this.ctx.scale}px`);
      const y = Math.max(140, this.ask.offsetHeight / this.ctx.scale + 34);
      return lastTwo(ln, this.pos, { x: at.x, y, w: at.w, h: Math.min(260, H - y - 6) });
    }
    const close = Math.max(150, Math.min(250, H * 0.36)), who = whoWrote(ln, k, this.pair, { x: at.x, y: 16, w: at.w, h: H - close - 16 });
    const y = 16 + who.h + 26;
    return who.svg + lastTwo(ln, this.pos, { x: at.x, y, w: at.w, h: H - y - 6 });
  }

  private legend(right: number, y: number, ln: Lens): string {
    const w = 120, x = right - w - 62, v = ln.r.file.model.vocab ?? 2, [a, b, name] = this.colour === 'probability' ? ['0', '1', '√p'] : this.colour === 'rank' ? [v.toLocaleString('en'), '1', 'rank, log'] : [Math.log2(v).toFixed(1), '0', 'bits'];
    let g = '';
    for (let i = 0; i < 60; i++) g += `<rect x="${x + i * 2}" y="${y - 8}" width="2.2" height="7" fill="${css(this.ramp[Math.round((i / 59) * 255)]!)}"/>`;
    return `${g}<rect x="${x + 0.5}" y="${y - 8.5}" width="${w}" height="8" class="hair2"/><text x="${x - 5}" y="${y}" class="m s cap end">${a}</text><text x="${x + w + 5}" y="${y}" class="m s cap">${b}</text><text x="${x + w + 11 + b!.length * 6.7}" y="${y}" class="s cap">${name}</text>`;
  }

  private select(rows: Row[], pos: number): void {
    const now = this.row, n = rows.findIndex((q) => q.layer === now.layer && q.half === now.half), id = `c${n}-${pos}`;
    for (const old of this.grid.querySelectorAll('.now, .on')) old.classList.remove('now', 'on');
    const td = this.grid.querySelector<HTMLElement>(`#${id}`);
    this.grid.setAttribute('aria-activedescendant', id);
    for (const old of this.grid.querySelectorAll('[aria-selected]')) old.removeAttribute('aria-selected');
    td?.classList.add('now');
    td?.setAttribute('aria-selected', 'true');
    td?.parentElement?.firstElementChild?.classList.add('on');
    this.grid.querySelector(`thead [data-c="${pos}"]`)?.classList.add('on');
    if (td && this.pane.scrollHeight > this.pane.clientHeight + 1) {
      const a = td.offsetTop + HEAD, top = td.offsetTop;
      if (top - HEAD < this.pane.scrollTop) this.pane.scrollTop = Math.max(0, top - HEAD - this.rowH);
      else if (a > this.pane.scrollTop + this.pane.clientHeight) this.pane.scrollTop = a - this.pane.clientHeight + this.rowH;
    }
  }

  private theme(): void {
    const cs = getComputedStyle(this.body), seq = cs.getPropertyValue('--seq');
    if (seq === this.themed) return;
    this.themed = seq;
    this.ramp = lensRamp(seq);
  }

  private at(n: number, pos: number): State {
    const rows = this.ln!.rows(this.mid), q = rows[Math.max(0, Math.min(rows.length - 1, n))]!, s = goPosition(this.ctx.recording, this.ctx.state, Math.max(0, Math.min(this.ln!.n - 1, pos)));
    return withOpt({ ...s, layer: q.layer }, 'half', q.half === 'A' ? 'A' : '');
  }

  private get rowNow(): number { const now = this.row; return this.ln!.rows(this.mid).findIndex((q) => q.layer === now.layer && q.half === now.half); }

  private listen(): void {
    this.grid.addEventListener('keydown', (e) => { if (this.key(e)) { e.preventDefault(); e.stopPropagation(); } });
    this.grid.addEventListener('pointerdown', (e) => {
      const td = (e.target as Element).closest('[data-c]');
      if (!td) return;
      this.grid.focus({ preventScroll: true });
      this.ctx.set(this.at(td.hasAttribute('data-r') ? Number(td.getAttribute('data-r')) : this.rowNow, Number(td.getAttribute('data-c'))));
      e.preventDefault();
    });
    this.grid.addEventListener('dblclick', () => this.open());
    for (const t of ['focus', 'blur']) this.grid.addEventListener(t, () => this.ctx.draw());
    const scrub = (e: PointerEvent): void => { const q = this.miniHit.getBoundingClientRect(); if (this.ln) this.ctx.set(this.at(this.rowNow, Math.floor(((e.clientX - q.left) / q.width) * this.ln.n))); };
    this.miniHit.addEventListener('pointerdown', (e) => { this.miniHit.setPointerCapture(e.pointerId); scrub(e); });
    this.miniHit.addEventListener('pointermove', (e) => { if (e.buttons & 1) scrub(e); });
    const toHead = (e: Event): void => {
      const h = (e.target as Element).closest('[data-head]')?.getAttribute('data-head')?.split('.').map(Number);
      if (h) { this.ctx.set({ ...this.ctx.state, view: 'attention', layer: h[0]!, head: h[1]! }); e.stopPropagation(); e.preventDefault(); }
    };
    const toWord = (e: Event): void => {
      const c = (e.target as Element).closest('[data-opt]'), ln = this.ln;
      if (c && ln) { this.ctx.set(pick(ln, wordAt(ln.r, this.pos), this.ctx.state, c.getAttribute('data-opt') as 'word' | 'second', c.getAttribute('data-val')!)); e.stopPropagation(); e.preventDefault(); }
    };
    this.ov.addEventListener('click', (e) => { toHead(e); toWord(e); });
    this.ov.addEventListener('keydown', (e) => { if (e.key === 'Enter') toHead(e); if (e.key === 'Enter' || e.key === ' ') toWord(e); });
    this.room.addEventListener('click', (e) => {
      const k = (e.target as Element).closest('[data-why]')?.getAttribute('data-why');
      if (k) { this.ctx.set(whyWord(this.ctx.recording, this.ctx.state, Number(k))); this.grid.focus({ preventScroll: true }); }
      if ((e.target as Element).closest('table, [data-why], .vw-hit')) e.stopPropagation();
    });
    this.bar.addEventListener('click', (e) => { const s = pressBar(e.target as Element, this.ctx.state); if (s) { this.ctx.set(s); e.stopPropagation(); } });
  }

  private open(): void { this.ctx.set({ ...this.ctx.state, view: 'attention' }); }

  private key(e: KeyboardEvent): boolean {
    const ln = this.ln;
    if (!ln) return false;
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'c') { void this.copy(); return true; }
    if (e.altKey || e.metaKey) return false;
    const n = this.rowNow, p = this.pos, last = ln.rows(this.mid).length - 1;
    const to: Record<string, [number, number]> = { ArrowRight: [n, p + 1], ArrowLeft: [n, p - 1], ArrowDown: [n + 1, p], ArrowUp: [n - 1, p], Home: [e.ctrlKey ? 0 : n, 0], End: [e.ctrlKey ? last : n, ln.n - 1], PageDown: [n + 5, p], PageUp: [n - 5, p] };
    if (e.key === 'Escape') { (hostOf(this.body) as HTMLElement).focus({ preventScroll: true }); this.ctx.draw(); return true; }
    if (e.key === 'Enter') { this.open(); return true; }
    const go = to[e.key];
    if (go) this.ctx.set(this.at(go[0], go[1]));
    return !!go;
  }

  private cellNow(): Cell { const rows = this.ln!.rows(this.mid), n = this.rowNow; return this.ln!.cell(rows[n]!, this.pos, rows[n - 1] ?? null); }

  private async copy(): Promise<void> {
    const ln = this.ln!, c = this.cellNow(), text = `${rowName(this.row)}\tposition ${this.pos}\t${c.top.map((w) => `${ln.text(w.id)} ${w.p}`).join('\t')}`;
    try { await navigator.clipboard.writeText(text); this.ctx.say(`Copied: ${ln.text(c.top[0]!.id)} ${c.top[0]!.p}`); } catch { this.ctx.say(text); }
  }

  command(id: string): boolean {
    const ln = this.ln, choice = GRID_COMMANDS['lens']![id];
    if (ln && (choice === 'word' || choice === 'second')) { this.chose(ln, choice); return true; }
    if (ln && choice) { if (choice !== 'mid' || ln.hasMid) this.ctx.set(nextOf(CHOICES, choice, this.ctx.state)); return true; }
    if (ln && id === 'value.copy') { void this.copy(); return true; }
    if (!ln || id !== 'open') return false;
    this.grid.focus();
    return true;
  }

  private chose(ln: Lens, side: 'word' | 'second'): void {
    this.ctx.set(next(ln, wordAt(ln.r, this.pos), this.ctx.state, side));
    const p = this.pair;
    this.ctx.say(p ? `Who wrote ${pairText(ln, p)}` : 'Who wrote a word is recorded for the words of the answer');
  }

  owner(): string | null { return (this.body.getRootNode() as ShadowRoot).activeElement === this.grid ? 'lens cell' : null; }

  card(): string | null { return this.ln ? lensCard(this.ln, this.ctx.state, this.row, this.pos, this.cellNow()) : null; }

  table(): Table { return this.ln ? lensTable(this.ln, this.mid, { row: this.row, pos: this.pos }, this.pair) : { caption: 'This recording has no lens.', head: [], rows: [] }; }

  svg(): string | null {
    if (!this.ln || !this.picture) return null;
    const dpr = devicePixelRatio || 1, bars = { x: Number.parseFloat(this.bars.style.getPropertyValue('left')), svg: this.bars.innerHTML };
    return lensPicture(this.ln, this.picture, { box: this.ov.getAttribute('viewBox')!, top: MINI + 18, over: this.ov.innerHTML, bars, mini: { href: this.mini.toDataURL('image/png'), w: this.mini.width / dpr, h: this.mini.height / dpr }, now: { n: this.rowNow, pos: this.pos } });
  }

  destroy(): void {
    this.dead = true;
    removeView(this.root);
  }
}

/** lensRamp is the theme's ramp, cut so that ink stays readable on all of it. */
export const lensRamp = (seq: string): Rgb[] => ramp(seq, seq.trim().startsWith('#0') ? 0.42 : 0.5);
