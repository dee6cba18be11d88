// The stage inside the element: panels, the mounted view, sizes. It draws what
// the element's recording and state say, once a frame at most, and only the
// panels whose content changed.
import { card, spoken } from './card';
import type { Controller } from './controller';
import { esc, setClocked } from './format';
import { places } from './stops';
import { editLine, waitNote } from './stops-card';
import type { Measure } from './layout';
import { outline, stripControls, stripEnd, stripPlot, topBar, type StripOptions } from './panels';
import { type Recording, STAGE_NAME } from './recording';
import { drawMap } from './map';
import { laneNames } from './mapnotes';
import { patch } from './patch';
import { at, depthsAt, goStep, type Depth, type State } from './state';
import { tableHtml, unrolled } from './exports';
import { absentState, fetchingState } from './states';
import { store, stored } from './theme';
import { viewFor } from './views/registry';
import type { View, ViewContext } from './views/view';

export interface StageHost extends HTMLElement {
  readonly recording: Recording | null;
  readonly state: State;
  set(s: State): void;
  /** a view has come up and takes keys */
  shown(): void;
}

const SKELETON = `<div class="stage"><div class="top"></div><nav class="outline" aria-label="Outline of the walk"></nav><section class="view" aria-label="View"><div class="vhead"></div><div class="note" hidden></div><div class="vbody"></div><div class="twin" hidden tabindex="0" role="region" aria-label="Table of this view"></div></section><aside class="card" aria-label="Step"></aside><section class="strip" aria-label="All steps"><div class="s-ctl"></div><div class="s-plot"><svg aria-hidden="true"></svg></div><div class="s-end"></div></section><div class="frame"></div><div class="toast" role="status"></div><div class="vh" aria-live="polite" data-say></div><dialog></dialog></div><div class="unrolled"></div>`;

/** measureText asks the browser, once a text and size. */
export function measurer(el: Element): Measure {
  const g = document.createElement('canvas').getContext('2d')!, seen = new Map<string, number>();
  const family = getComputedStyle(el).getPropertyValue('--sans') || 'sans-serif';
  return (text, px) => {
    const key = `${px} ${text}`;
    let w = seen.get(key);
    if (w === undefined) {
      g.font = `${px}px ${family}`;
      seen.set(key, (w = g.measureText(text).width));
    }
    return w;
  };
}

export class Stage implements ViewContext {
  private root: ShadowRoot;
  private view: View | null = null;
  private viewId = '';
  private frame = 0;
  private drawn = new Map<string, string>();
  private resize: ResizeObserver;
  readonly measure: Measure;
  scale = 1;
  narrow = false;

  constructor(private host: StageHost, private ctl: Controller) {
    this.root = host.shadowRoot!;
    this.root.innerHTML = SKELETON;
    this.measure = measurer(host);
    this.resize = new ResizeObserver(() => this.sized());
    this.resize.observe(host);
    this.restoreSizes();
    this.grips();
    this.gestures();
  }

  get recording(): Recording { return this.host.recording!; }
  get state(): State { return this.host.state; }
  get motion(): boolean { return !matchMedia('(prefers-reduced-motion: reduce)').matches; }
  set(s: State): void { this.ctl.player.stop(); this.host.set(s); }
  say(text: string): void { this.ctl.say(text); }
  $<T extends Element = HTMLElement>(q: string): T { return this.root.querySelector<T>(q)!; }
  get current(): View | null { return this.view; }

  recordingChanged(): void {
    this.unmount();
    this.redraw();
    this.draw(true);
  }

  redraw(): void { this.drawn.clear(); this.draw(); }

  draw(now = false): void {
    if (now) { cancelAnimationFrame(this.frame); this.frame = 0; this.paint(); return; }
    this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.paint(); });
  }

  private sized(): void {
    const w = this.host.clientWidth, h = this.host.clientHeight, stage = this.$('.stage').classList, big = stage.contains('presenter');
    this.narrow = w < 980 && !big;
    const phone = this.narrow && w < 700, stack = this.narrow && !phone;
    stage.toggle('phone', phone);
    stage.toggle('stack', stack);
    stage.toggle('rails', !this.narrow && !big && (w <= 1360 || h <= 780));
    // a large screen gets a larger drawing, not more white
    this.scale = big ? 1.3 : Math.max(1, Math.min(1.5, (w - 536) / 1100, (h - 172) / 760));
    this.drawn.clear();
    this.draw(true); // before the browser paints the new size
  }

  setClass(name: string, on?: boolean): boolean {
    const is = this.$('.stage').classList.toggle(name, on);
    this.sized();
    return is;
  }

  private put(key: string, sig: string, el: Element, html: () => string, write = (e: Element, h: string): void => { e.innerHTML = h; }): boolean {
    const k = `${sig}|${this.recording.version}`;
    if (this.drawn.get(key) === k) return false;
    this.drawn.set(key, k);
    const focus = this.root.activeElement?.getAttribute('data-k'), inside = focus && el.contains(this.root.activeElement);
    write(el, html());
    if (inside) el.querySelector<HTMLElement>(`[data-k="${focus}"]`)?.focus({ preventScroll: true });
    return true;
  }

  private paint(): void {
    const r = this.host.recording, s = this.host.state;
    if (!r || !this.root.querySelector('.stage')) return;
    setClocked(r.clocked);
    const kind = viewFor(s.view, r), where = `${s.step}/${s.pass}/${s.layer}/${s.depth}/${s.source}/${s.sel}`, marks = JSON.stringify(places());
    this.note(r); // before the view: it takes of its height
    this.mount(kind.id, r);
    // the view measures its room: before anything is written, so that the browser need not lay out for it
    const out = this.$('.outline'), outH = out.clientHeight, plot = this.$('.s-plot'), pw = plot.clientWidth, ph = plot.clientHeight;
    this.view?.update();
    this.mark();
    const o = this.strip(s); // the view says who owns the arrows
    this.put('top', `${kind.id}/${r.live}`, this.$('.top'), () => topBar(r, { ...s, view: kind.id }, this.host.getAttribute('home') ?? ''));
    const outlined = this.put('outline', `${s.step}/${outH}/${marks}`, out, () => outline(r, s, Math.max(100, outH - 2)), patch);
    this.put('head', `${kind.id}/${where}`, this.$('.vhead'), () => this.head(kind.title, r, s));
    this.put('ctl', `${o.playing}/${o.speed}`, this.$('.s-ctl'), () => stripControls(o));
    this.put('end', `${o.byTime}/${o.owner}/${o.letters}/${kind.id}`, this.$('.s-end'), () => stripEnd(o));
    const bars = this.view?.strip?.(pw, ph, o.byTime) ?? null;
    this.put('plot', bars ?? `${s.step}/${pw}/${ph}/${o.byTime}`, this.$('.s-plot svg'), () => bars ?? stripPlot(r, s, pw, ph, o.byTime), patch);
    const carded = this.card(r, s, `${where}/${s.token}/${marks}`);
    const twin = this.$('.twin');
    if (!twin.hidden && this.view) this.put('twin', `${kind.id}/${where}/${s.win}/${s.token}/${s.head}/${s.opts}`, twin, () => tableHtml(this.view!.table()));
    if (this.drawn.get('said') !== where) { this.drawn.set('said', where); this.announce(r, s); }
    // reads come after all writes, so that the browser lays out once; and only where something may have moved
    if (outlined) { const now = out.querySelector<HTMLElement>('.now'); if (now && out.scrollHeight > out.clientHeight) now.scrollIntoView({ block: 'nearest' }); }
    if (carded) this.lit();
  }

  /** The card: what a view or a stop says, or the step. Its source pane is left alone while its text is the same. True when that was drawn again. */
  private card(r: Recording, s: State, sig: string): boolean {
    const over = this.ctl.overlay(), own = over ? null : this.view?.card?.() ?? null, el = this.$('.card');
    if (own === null) return this.put('card', over?.sig ?? sig, el, over?.html ?? (() => card(r, s)));
    const cut = own.search(/<div class="src(?: \w)?">/), source = cut < 0 ? '' : own.slice(cut), old = el.querySelector(':scope > .src');
    if (cut < 0 || !old || this.drawn.get('source') !== source || !this.drawn.get('card')) { this.drawn.set('source', source); return this.put('card', own, el, () => own); }
    const k = `${own}|${r.version}`;
    if (this.drawn.get('card') === k) return false;
    this.drawn.set('card', k);
    while (el.firstChild !== old) el.firstChild!.remove();
    old.insertAdjacentHTML('beforebegin', own.slice(0, cut));
    return false;
  }

  /** The lit line stands in the middle of the source pane. */
  private lit(): void {
    const pre = this.$('.src pre'), lit = pre?.querySelector<HTMLElement>('.lit');
    if (pre && lit) pre.scrollTop = lit.offsetTop - (pre.clientHeight - lit.offsetHeight) / 2;
  }

  /** What a reader must know before anything else: parts are missing, values were changed, another request holds this one up. */
  private note(r: Recording): void {
    const cut = r.cutOff, q = r.file.request, n = q.edits?.length ?? 0, halts = q.stops?.length ?? 0, w = this.ctl.stops, parts: string[] = [];
    if (cut) parts.push(`<b>Cut off.</b> ${esc(cut)} What is here is whole up to there; times of steps are at least these.`);
    if (halts) parts.push(`<b>${n ? 'Touched.' : 'Stopped.'}</b> It stood still ${halts === 1 ? 'once' : `${halts} times`}${n ? `, and ${n === 1 ? 'one change was' : `${n} changes were`} made: ${esc(q.edits!.slice(0, 2).map(editLine).join('; '))}${n > 2 ? ' and more' : ''}` : ''}. The times of the request hold it, no op's time does.`);
    if (w.theirs) parts.push(waitNote(r, w.state!));
    const note = this.$('.note'), html = parts.join('<br>');
    note.hidden = !html;
    this.put('note', html, note, () => html);
  }

  private strip(s: State): StripOptions {
    const names: Record<Depth, string> = { stage: 'stages', step: 'steps', token: 'passes', layer: 'layers', kernel: 'kernels' };
    return { byTime: this.ctl.byTime, playing: this.ctl.player.direction, speed: this.ctl.player.speed, owner: this.view?.owner?.() ?? names[s.depth], letters: this.ctl.letters };
  }

  /** The zoom line: request > stage > step > pass > layer > kernel, the depth of the arrows underlined. */
  private head(title: string, r: Recording, s: State): string {
    const i = at(r, s), ds = depthsAt(r, i, s.pass, s.layer), step = r.steps[i]!, k = r.tokenOfPass(s.pass);
    const text: Record<Depth, string> = { stage: STAGE_NAME[step.stage].toLowerCase(), step: step.id, token: k >= 0 ? `token ${k + 1}` : `pass ${s.pass}`, layer: `L${s.layer}`, kernel: s.sel ? r.spans[r.spanIndex.get(s.sel) ?? 0]?.name ?? 'kernel' : 'kernels' };
    const crumbs = ds.map((d) => `<button data-depth="${d}" data-k="d${d}"${d === s.depth ? ' aria-current="true"' : ''}>${esc(text[d])}</button>`).join(' / ');
    return `<h1>${title}</h1><span class="crumb">request / ${crumbs}</span><span class="right">${/^(pass|tape|attention|lens)$/.test(s.view) && r.file.engine.name === 'glassbox' && !r.live ? '<button data-cmd="ablate" data-k="ablate" title="run again without this part, side by side">knock out <kbd>Shift K</kbd></button>' : ''}<span>into, out <kbd>↓</kbd> <kbd>↑</kbd></span><span>token <kbd>n</kbd> <kbd>p</kbd></span><button data-cmd="table" data-k="table">table <kbd>r</kbd></button></span>`;
  }

  private announce(r: Recording, s: State): void {
    const i = at(r, s);
    const el = this.$('[data-say]'), text = spoken(r, s, i);
    clearTimeout(this.saying);
    this.saying = setTimeout(() => { el.textContent = text; }, 160);
  }
  private saying: ReturnType<typeof setTimeout> | undefined;

  private mount(id: string, r: Recording): void {
    if (this.viewId === id) return;
    this.unmount();
    const kind = viewFor(id, r), body = this.$('.vbody');
    this.viewId = id;
    body.querySelector(':scope > .state')?.remove();
    if (kind.mount) { this.view = kind.mount(body, this); return; }
    body.insertAdjacentHTML('beforeend', fetchingState(kind.title));
    const mine = (): boolean => this.viewId === id && !this.view && body.isConnected;
    kind.load!().then((k) => { kind.mount ??= k.mount!; if (mine()) { this.viewId = ''; this.draw(true); } }, () => {
      if (!mine()) return;
      body.querySelector(':scope > .state')!.outerHTML = absentState(kind.title);
      body.querySelector('[data-again]')!.addEventListener('click', () => { this.viewId = ''; this.draw(true); }, { once: true });
    });
  }

  /** The element says which view takes keys; without the mark its code or data is still on the way. */
  private mark(): void {
    const now = this.view && !this.view.busy?.() ? this.viewId : null, was = this.host.getAttribute('data-ready');
    if (now === was) return;
    if (now === null) this.host.removeAttribute('data-ready');
    else { this.host.setAttribute('data-ready', now); this.host.shown(); }
  }

  /** waiting tells whether the code of the view is on the way: keys are kept for it until then. */
  get waiting(): boolean { return !this.view && !this.root.querySelector('[data-again]'); }

  private unmount(): void {
    this.view?.destroy();
    this.view = null;
    this.viewId = '';
  }

  showTable(on?: boolean): void {
    const twin = this.$('.twin');
    twin.hidden = on === undefined ? !twin.hidden : !on;
    const head = this.$('.vhead');
    twin.style.setProperty('top', `${head.offsetHeight}px`);
    this.drawn.delete('twin');
    this.draw(true);
    if (!twin.hidden) twin.querySelector('tr.now')?.scrollIntoView({ block: 'center' });
  }

  print(): void {
    const r = this.recording, m = drawMap(r, goStep(r, this.state, r.steps.length - 1), 1040, 640, this.measure);
    this.$('.unrolled').innerHTML = unrolled(r, `<svg viewBox="0 0 ${m.layout.width} ${m.layout.height}" role="img" aria-label="Map of the request">${m.svg}${laneNames(r, m, m.layout.height)}</svg>`);
  }

  private restoreSizes(): void {
    for (const k of ['card', 'outline']) { const v = Number(stored(`glassbox.size.${k}`)); if (v > 100 && v < 900 && this.host.hasAttribute('page')) this.host.style.setProperty(`--${k}`, `${v}px`); }
  }

  /** Panels can be pulled wider and narrower, by pointer or by arrows on the grip. */
  private grips(): void {
    for (const [cls, key, dir, least, most] of [['g-card', 'card', -1, 260, 760], ['g-out', 'outline', 1, 160, 420]] as const) {
      const g = document.createElement('div');
      g.className = `grip ${cls}`;
      g.tabIndex = 0;
      g.setAttribute('role', 'separator');
      g.setAttribute('aria-orientation', 'vertical');
      g.setAttribute('aria-label', `Width of the ${key === 'card' ? 'step card' : 'outline'}`);
      g.setAttribute('aria-valuemin', String(least));
      g.setAttribute('aria-valuemax', String(most));
      const width = (): number => this.$(key === 'card' ? '.card' : '.outline').clientWidth;
      const to = (v: number): void => { const w = Math.round(Math.max(least, Math.min(most, v))); this.host.style.setProperty(`--${key}`, `${w}px`); g.setAttribute('aria-valuenow', String(w)); store(`glassbox.size.${key}`, String(w)); this.redraw(); };
      g.addEventListener('pointerdown', (e) => {
        g.setPointerCapture(e.pointerId);
        const x0 = e.clientX, w0 = width(), move = (m: PointerEvent): void => to(w0 + dir * (m.clientX - x0));
        g.addEventListener('pointermove', move);
        g.addEventListener('pointerup', () => g.removeEventListener('pointermove', move), { once: true });
      });
      g.addEventListener('dblclick', () => { this.host.style.removeProperty(`--${key}`); store(`glassbox.size.${key}`, ''); this.redraw(); });
      g.addEventListener('keydown', (e) => {
        if (e.key !== 'ArrowLeft' && e.key !== 'ArrowRight') return;
        to(width() + dir * (e.key === 'ArrowRight' ? 16 : -16));
        e.preventDefault();
        e.stopPropagation();
      });
      g.setAttribute('aria-valuenow', String(width()));
      this.$('.stage').append(g);
    }
  }

  /** Swiping the card steps; dragging over the strip scrubs. */
  private gestures(): void {
    let x0 = 0, y0 = 0, on = false;
    for (const el of [this.$('.card'), this.$('.vbody')]) {
      el.addEventListener('touchstart', (e) => { const t = (e as TouchEvent).touches; on = this.narrow && t.length === 1; x0 = t[0]!.clientX; y0 = t[0]!.clientY; }, { passive: true });
      el.addEventListener('touchend', (e) => {
        const t = (e as TouchEvent).changedTouches[0]!, dx = t.clientX - x0;
        if (on && Math.abs(dx) > 50 && Math.abs(dx) > 2 * Math.abs(t.clientY - y0) && !this.$('.vbody canvas')) this.ctl.run(dx < 0 ? 'next' : 'prev');
      });
    }
    const plot = this.$('.s-plot');
    plot.addEventListener('pointerdown', (e) => {
      plot.setPointerCapture((e as PointerEvent).pointerId);
      const scrub = (m: Event): void => {
        const q = plot.getBoundingClientRect(), x = (m as PointerEvent).clientX - q.left;
        const bars = [...plot.querySelectorAll('g[data-step]')], hit = bars.find((b) => { const r = b.querySelector('rect')!; return x < Number(r.getAttribute('x')) + Number(r.getAttribute('width')); }) ?? bars.at(-1);
        const step = hit?.getAttribute('data-step'), layer = hit?.getAttribute('data-layer');
        if (step) this.set({ ...this.state, step, layer: layer ? Number(layer) : this.state.layer, source: 0, sel: '' });
      };
      scrub(e);
      plot.addEventListener('pointermove', scrub);
      plot.addEventListener('pointerup', () => plot.removeEventListener('pointermove', scrub), { once: true });
    });
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.saying);
    this.resize.disconnect();
    this.unmount();
  }
}
