// View 8, Modules: the files of the engine as boxes in their folders, and the
// request's way over them. The map is drawn beforehand and comes from the
// server; what is marked, looked for and enlarged is in the state.
import { esc } from '../format';
import { SIGN } from '../map';
import { place } from '../site';
import { STAGE_LETTER, type Recording } from '../recording';
import { at, type State } from '../state';
import grid from '../../../../static/css/attention.css';
import sheet from '../../../../static/css/modules.css';
import { adoptCss, hostOf, removeView } from './attention-state';
import { choices, keepFocus, nextOf, pressBar, type Choice } from './attention-bar';
import { opt, withOpt } from './attention-opts';
import { modulesCard, short, STATES } from './modules-card';
import { fitWindow, Modules, readWindow, windowOn, writeWindow, type Stop, type Window } from './modules-data';
import { drawModules, Lens, outline, type Scene } from './modules-draw';
import { noModules } from './missing';
import type { Found, Table, View, ViewContext, ViewKind } from './view';

export const modulesView: ViewKind = {
  n: 8, id: 'modules', title: 'Modules',
  missing: noModules,
  mount: (body, ctx) => new ModulesView(body, ctx),
};

const EDGES: readonly Choice[] = [{ name: 'edges', label: 'imports', values: [['', 'of the marked one'], ['all', 'all'], ['none', 'none']] }];

/** Maps that have come, by their address: two tracers and every change of view share one. */
const maps = new Map<string, Promise<Modules>>();

function mapOf(url: string): Promise<Modules> {
  let p = maps.get(url);
  if (!p) {
    p = fetch(url).then((res) => { if (!res.ok) throw new Error(`the server answered ${res.status}`); return res.json(); }).then(Modules.parse);
    p.catch(() => maps.delete(url));
    maps.set(url, p);
  }
  return p;
}

/** modulesTable is the map as a table: a module a row. */
export function modulesTable(m: Modules, r: Recording, mark: number): Table {
  const stops = new Map<number, number[]>(), f = m.file;
  r.steps.forEach((s, i) => { const k = s.count > 0 ? m.ofStep(s) : -1; if (k >= 0) stops.set(k, [...(stops.get(k) ?? []), i + 1]); });
  return {
    caption: `${m.list.length} modules of ${f.title} ${f.version}, of ${f.files} in all. ${f.rules.map((q) => `${q.rule}: ${q.modules}`).join('. ')}. Lines and imports are counted in the source; calls are measured.`,
    head: ['module', 'path', 'state', 'lines', 'calls', 'imports', 'imported by', 'stops of the walk', 'imports, by name'],
    rows: m.list.map((q, i) => [q.name, q.path, STATES[q.state][0], q.lines, q.calls ?? 0, q.imports.length, m.importers[i]!.length, (stops.get(i) ?? []).join(' '), q.imports.map((e) => m.list[e[0]]!.name).join(' ')]),
    now: mark,
  };
}

class ModulesView implements View {
  private root = document.createElement('div');
  private bar = document.createElement('div');
  private room = document.createElement('div');
  private cv = document.createElement('canvas');
  private over = document.createElement('canvas');
  private hit = document.createElement('div');
  private info = document.createElement('div');
  private live = document.createElement('div');
  private input = document.createElement('input');
  private segs = document.createElement('span');
  private m: Modules | null = null;
  private way: Stop[] = [];
  private wayOf = '';
  private stage: string[] = [];
  private hover = -1;
  private query = '';
  private drawn = '';
  private colors = new Map<string, string>();
  private themed = '';
  private dead = false;
  private offs: (() => void)[] = [];

  constructor(private body: HTMLElement, private ctx: ViewContext) {
    adoptCss(body, grid);
    adoptCss(body, sheet);
    this.root.className = 'vw mm';
    this.bar.className = 'vw-bar mm-bar';
    this.room.className = 'vw-room';
    this.info.className = 'tl-info mm-info';
    this.live.className = 'vh';
    this.live.setAttribute('aria-live', 'polite');
    this.cv.setAttribute('role', 'img');
    this.over.setAttribute('aria-hidden', 'true');
    this.hit.className = 'vw-hit mm-hit';
    this.hit.tabIndex = 0;
    this.hit.setAttribute('role', 'application');
    this.hit.setAttribute('aria-label', 'Map of modules. Arrows go to the module beside, plus and minus enlarge, m begins a path, Escape goes back to the steps.');
    this.input.type = 'search';
    this.input.placeholder = 'find a module';
    this.input.setAttribute('aria-label', 'Find a module: Enter goes to the first found');
    this.input.spellcheck = false;
    this.segs.className = 'mm-segs';
    this.bar.append(this.input, this.segs);
    this.room.append(this.cv, this.over, this.hit, this.live);
    this.root.append(this.bar, this.room, this.info);
    body.append(this.root);
    this.listen();
    this.start();
  }

  private start(): void {
    const url = place(`/static/modmaps/${encodeURIComponent(this.ctx.recording.file.engine.name)}.json`);
    this.room.querySelector('.state')?.remove();
    mapOf(url).then((m) => { if (!this.dead) { this.m = m; this.wayOf = ''; this.ctx.draw(); } }, (e: Error) => {
      if (this.dead) return;
      this.room.insertAdjacentHTML('beforeend', `<div class="state" role="alert"><h2>The map of modules did not arrive</h2><p class="m">${esc(`${url}: ${e.message}`)}</p><p>It comes from the server. Check that Glassbox is still running.</p><div class="acts"><button data-again>Try again</button></div></div>`);
      this.room.querySelector('[data-again]')!.addEventListener('click', () => this.start(), { once: true });
      this.ctx.draw();
    });
  }

  busy(): boolean { return !this.m && !this.room.querySelector('.state'); }

  /** A module picked by hand holds until the playhead moves. */
  private get picked(): number {
    const v = opt(this.ctx.state, 'mod'), cut = v.indexOf('@');
    return this.m && cut > 0 && v.slice(cut + 1) === this.ctx.state.step ? this.m.by.get(v.slice(0, cut)) ?? -1 : -1;
  }

  private get here(): number { return this.m?.ofStep(this.ctx.recording.steps[at(this.ctx.recording, this.ctx.state)]) ?? -1; }
  private get mark(): number { const p = this.picked; return p >= 0 ? p : this.here; }
  private get from(): number { return this.m?.by.get(opt(this.ctx.state, 'from')) ?? -1; }
  private get win(): Window { return readWindow(this.ctx.state.win, this.m!.file); }

  private pick(i: number, keep = true): void {
    const m = this.m!, s = this.ctx.state;
    this.set(withOpt(keep ? this.follow(s, i) : s, 'mod', i < 0 ? '' : `${m.list[i]!.name}@${s.step}`));
  }

  /** follow moves the window where a module is out of sight. */
  private follow(s: State, i: number): State {
    const w = this.win, b = this.m?.list[i]?.box, f = this.m!.file;
    if (!b || w.k <= 1) return s;
    const x = b[0] + b[2] / 2, y = b[1] + b[3] / 2, hw = (f.width / w.k) * 0.42, hh = (f.height / w.k) * 0.42;
    const to = fitWindow({ k: w.k, x: Math.max(x - hw, Math.min(x + hw, w.x)), y: Math.max(y - hh, Math.min(y + hh, w.y)) }, f);
    return { ...s, win: writeWindow(to) };
  }

  private set(s: State): void { this.ctx.set(s); }

  private zoom(k: number, x?: number, y?: number): void {
    const w = this.win, b = this.m!.list[this.mark]?.box, cx = x ?? (b ? b[0] + b[2] / 2 : w.x), cy = y ?? (b ? b[1] + b[3] / 2 : w.y), k2 = Math.max(1, Math.min(24, w.k * k)), q = w.k / k2;
    this.set({ ...this.ctx.state, win: writeWindow(fitWindow({ k: k2, x: cx + (w.x - cx) * q, y: cy + (w.y - cy) * q }, this.m!.file)) });
  }

  private pan(dx: number, dy: number): void {
    const w = this.win, f = this.m!.file;
    this.set({ ...this.ctx.state, win: writeWindow(fitWindow({ ...w, x: w.x + (dx * f.width) / w.k, y: w.y + (dy * f.height) / w.k }, f)) });
  }

  command(id: string): boolean {
    const m = this.m, s = this.ctx.state;
    if (!m) return false;
    switch (id) {
      case 'zoom.in': case 'time.in': this.zoom(1.5); return true;
      case 'zoom.out': case 'time.out': this.zoom(1 / 1.5); return true;
      case 'zoom.fit': this.set({ ...s, win: '' }); return true;
      case 'time.left': this.pan(-0.2, 0); return true;
      case 'time.right': this.pan(0.2, 0); return true;
      case 'focus': { const b = m.list[this.mark]?.box; if (!b) return false; const to = writeWindow(windowOn(b, m.file)); this.set({ ...s, win: to === s.win ? '' : to }); return true; }
      case 'open': this.hit.focus({ preventScroll: true }); return true;
      case 'map.from': this.begin(); return true;
      case 'map.clear': this.set(withOpt(s, 'from', '')); return true;
      case 'map.edges': this.set(nextOf(EDGES, 'edges', s)); return true;
      case 'map.back': this.pick(-1); return true;
      case 'escape':
        if (this.query) { this.query = this.input.value = ''; this.ctx.draw(); return true; }
        if (this.picked >= 0) { this.pick(-1); return true; }
        if (this.from >= 0) { this.set(withOpt(s, 'from', '')); return true; }
        return false;
      default: return false;
    }
  }

  /** The marked module becomes the start of a path; once more: no path. */
  private begin(): void {
    const i = this.mark, m = this.m!;
    if (i < 0) return;
    const same = this.from === i;
    this.set(withOpt(this.ctx.state, 'from', same ? '' : m.list[i]!.name));
    if (!same) this.ctx.say(`Path from ${short(m, i)}: go to another module, by click, arrows or search.`);
  }

  /** What the palette finds here: modules. */
  hits(query: string): Found[] {
    const m = this.m;
    if (!m) return [];
    return m.find(query, 12).map((i) => ({ label: short(m, i), hint: `module, ${STATES[m.list[i]!.state][0]}`, letter: 'm', go: () => this.pick(i) }));
  }

  private get route(): Stop[] {
    const r = this.ctx.recording, m = this.m!, key = `${r.version}/${m.file.engine}`;
    if (key === this.wayOf) return this.way;
    this.wayOf = key;
    this.way = m.route(r);
    this.stage = m.list.map(() => '');
    for (const q of this.way) this.stage[q.module] ||= STAGE_LETTER[r.steps[q.steps[0]!]!.stage];
    return this.way;
  }

  private scene(W: number, H: number): Scene {
    const m = this.m!, { recording: r, state: s } = this.ctx, i = at(r, s), route = this.route, from = this.from, mark = this.mark;
    let now = -1;
    route.forEach((q, n) => { if (q.steps[0]! <= i) now = n; });
    const found = this.query ? new Set(m.find(this.query, m.list.length)) : null;
    const way = from >= 0 && mark >= 0 && mark !== from ? m.chain([from], mark) ?? [...(m.chain([mark], from) ?? [])] : null;
    return { m, win: this.win, W, H, route, now, mark, picked: this.picked >= 0, sign: SIGN[r.roles[i]!.form], stage: this.stage, edges: (opt(s, 'edges') || 'mark') as Scene['edges'],
      found, path: way?.map((e) => e[0]) ?? [], from, color: (n) => this.color(n) };
  }

  private color(name: string): string {
    let c = this.colors.get(name);
    if (c === undefined) this.colors.set(name, (c = getComputedStyle(this.body).getPropertyValue(`--${name}`).trim()));
    return c;
  }

  update(): void {
    const m = this.m, s = this.ctx.state, theme = getComputedStyle(this.body).getPropertyValue('--raw-page');
    if (theme !== this.themed) { this.themed = theme; this.colors.clear(); this.drawn = ''; }
    keepFocus(this.segs, m ? choices(EDGES, s) + this.key(m) : '');
    if (!m) return;
    const k = this.ctx.scale, W = this.room.clientWidth / k, H = this.room.clientHeight / k;
    if (W < 40 || H < 40) return;
    const sc = this.scene(W, H), sig = [W, H, k, s.step, s.win, s.opts, this.query, this.wayOf, sc.now].join('|');
    if (sig !== this.drawn) {
      this.drawn = sig;
      drawModules(this.size(this.cv), sc);
      this.cv.setAttribute('aria-label', `${m.list.length} modules of ${m.file.title} in their folders, size by lines; the request has been to ${sc.now + 1} of ${sc.route.length} stops. The table of this view has the same.`);
      this.tellLive(m, sc.mark);
    }
    this.paintOver();
  }

  /** Legend and counts: each state with its sign. */
  private key(m: Modules): string {
    const c = m.counts();
    return `<span class="mm-key">${(['ran', 'by_name', 'imported', 'none'] as const).filter((q) => c[q]).map((q) => `<span title="${esc(STATES[q][1])}"><i class="mm-s ${q}"></i>${STATES[q][0]} <b class="mono">${c[q]}</b></span>`).join('')}</span>`;
  }

  private size(c: HTMLCanvasElement): CanvasRenderingContext2D {
    const W = this.room.clientWidth, H = this.room.clientHeight, d = devicePixelRatio || 1;
    if (c.width !== Math.round(W * d) || c.height !== Math.round(H * d)) { c.width = Math.round(W * d); c.height = Math.round(H * d); }
    const g = c.getContext('2d')!;
    g.setTransform(d * this.ctx.scale, 0, 0, d * this.ctx.scale, 0, 0);
    return g;
  }

  private paintOver(): void {
    const g = this.size(this.over), m = this.m!, k = this.ctx.scale;
    g.clearRect(0, 0, this.over.width, this.over.height);
    if (this.hover >= 0) {
      const [x, y, w, h] = new Lens(m, this.win, this.room.clientWidth / k, this.room.clientHeight / k).box(m.list[this.hover]!.box);
      outline(g, { color: (n) => this.color(n) }, x, y, w, h, 1);
    }
    this.tell(this.hover >= 0 ? this.hover : this.mark);
  }

  /** The line below: hover shows here what the mark shows. */
  private tell(i: number): void {
    const m = this.m!, q = m.list[i], f = m.file, n = this.query ? m.find(this.query, m.list.length).length : 0;
    const start = `<span class="dim">${esc(f.title)} ${esc(f.version)}: ${m.list.length} of ${f.files} modules</span>`;
    const from = this.from >= 0 ? `<span>path from <b>A</b> ${esc(short(m, this.from))} <button data-cmd="map.clear" data-k="mapclear">clear</button></span>` : '';
    const found = this.query ? `<span><b>${n}</b> found</span>` : '';
    const html = found + from + (q ? `<span><i class="mm-s ${q.state}"></i><b>${esc(short(m, i))}</b></span><span>${STATES[q.state][0]}</span><span class="mono">${q.lines} lines</span><span class="mono">imports ${q.imports.length}, by ${m.importers[i]!.length}</span>` : '') + start;
    if (this.info.innerHTML !== html) this.info.innerHTML = html;
  }

  private saying: ReturnType<typeof setTimeout> | undefined;
  private tellLive(m: Modules, i: number): void {
    const q = m.list[i];
    clearTimeout(this.saying);
    if (q) this.saying = setTimeout(() => { this.live.textContent = `${short(m, i)}, ${STATES[q.state][0]}, ${q.lines} lines, imports ${q.imports.length}, imported by ${m.importers[i]!.length}`; }, 200);
  }

  private on(el: EventTarget, type: string, f: (e: Event) => void, o?: AddEventListenerOptions): void {
    el.addEventListener(type, f, o);
    this.offs.push(() => el.removeEventListener(type, f));
  }

  private listen(): void {
    this.on(this.bar, 'click', (e) => { const s = pressBar(e.target as Element, this.ctx.state); if (s) { this.set(s); e.stopPropagation(); } });
    this.on(this.input, 'input', () => { this.query = this.input.value.trim(); this.ctx.draw(); });
    this.on(this.input, 'keydown', (ev) => {
      const e = ev as KeyboardEvent;
      if (e.key === 'Enter' && this.m) { const first = this.m.find(this.query, 1)[0]; if (first !== undefined) { this.pick(first); this.hit.focus({ preventScroll: true }); } e.preventDefault(); }
      if (e.key === 'Escape') { this.query = this.input.value = ''; (hostOf(this.body) as HTMLElement).focus({ preventScroll: true }); this.ctx.draw(); e.preventDefault(); }
      e.stopPropagation();
    });
    this.on(this.hit, 'keydown', (e) => { if (this.key2(e as KeyboardEvent)) { e.preventDefault(); e.stopPropagation(); } });
    for (const t of ['focus', 'blur']) this.on(this.hit, t, () => this.ctx.draw());
    this.on(this.body.getRootNode(), 'click', (e) => { // in the card, which is not ours
      const b = (e.target as Element).closest?.('.card [data-mod]');
      if (b && this.m) { this.pick(Number(b.getAttribute('data-mod'))); e.stopPropagation(); }
    }, { capture: true });
    this.pointer();
  }

  private key2(e: KeyboardEvent): boolean {
    const m = this.m, way: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }, d = way[e.key];
    if (!m || e.ctrlKey || e.metaKey || e.altKey) return false;
    if (d && e.shiftKey) { this.pan(d[0] * 0.1, d[1] * 0.1); return true; }
    if (d) { this.pick(m.beside(Math.max(0, this.mark), ...d)); return true; }
    if (e.key === 'Enter') return this.command('focus');
    if (e.key === 'Escape') { if (!this.query && this.from < 0) this.pick(-1); else this.command('escape'); (hostOf(this.body) as HTMLElement).focus({ preventScroll: true }); this.ctx.draw(); return true; }
    return false;
  }

  private spot(e: MouseEvent): [number, number] {
    const q = this.room.getBoundingClientRect(), k = this.ctx.scale;
    return new Lens(this.m!, this.win, this.room.clientWidth / k, this.room.clientHeight / k).back((e.clientX - q.left) / k, (e.clientY - q.top) / k);
  }

  private pointer(): void {
    let down: { x: number; y: number; w: Window; moved: boolean } | null = null;
    this.on(this.hit, 'pointerdown', (ev) => { const e = ev as PointerEvent; if (!this.m) return; down = { x: e.clientX, y: e.clientY, w: this.win, moved: false }; this.hit.setPointerCapture(e.pointerId); });
    this.on(this.hit, 'pointermove', (ev) => {
      const e = ev as PointerEvent, m = this.m;
      if (!m) return;
      if (!down) { const h = m.under(...this.spot(e)); if (h !== this.hover) { this.hover = h; this.paintOver(); } return; }
      if (Math.hypot(e.clientX - down.x, e.clientY - down.y) > 4) down.moved = true;
      if (!down.moved) return;
      const { width, height } = m.file, w = down.w;
      this.set({ ...this.ctx.state, win: writeWindow(fitWindow({ k: w.k, x: w.x - ((e.clientX - down.x) / this.room.clientWidth) * (width / w.k), y: w.y - ((e.clientY - down.y) / this.room.clientHeight) * (height / w.k) }, m.file)) });
    });
    this.on(this.hit, 'pointerup', (ev) => { if (down && !down.moved && this.m) { const i = this.m.under(...this.spot(ev as PointerEvent)); this.press(i); } down = null; });
    this.on(this.hit, 'pointerleave', () => { this.hover = -1; if (this.m) this.paintOver(); });
    this.on(this.hit, 'click', (e) => e.stopPropagation());
    this.on(this.hit, 'dblclick', () => this.command('focus'));
    this.on(this.hit, 'wheel', (ev) => {
      const e = ev as WheelEvent;
      if (!this.m || !(e.ctrlKey || e.metaKey || (hostOf(this.body) as HTMLElement).matches(':focus, :focus-within'))) return;
      e.preventDefault();
      this.zoom(Math.exp(Math.max(-0.5, Math.min(0.5, -e.deltaY / 300))), ...this.spot(e));
    }, { passive: false });
  }

  /** A click marks a module; beside all of them it takes the mark back to the step. The arrows stay with the walk. */
  private press(i: number): void {
    (hostOf(this.body) as HTMLElement).focus({ preventScroll: true });
    this.pick(i, false);
  }

  owner(): string | null { return (this.body.getRootNode() as ShadowRoot).activeElement === this.hit ? 'modules' : null; }

  card(): string | null { return this.m ? modulesCard(this.ctx.recording, this.ctx.state, this.m, this.mark, this.from, this.picked >= 0) : null; }

  table(): Table { return this.m ? modulesTable(this.m, this.ctx.recording, this.mark) : { caption: 'The map has not come yet.', head: [], rows: [] }; }
  canvas(): HTMLCanvasElement { return this.cv; }

  destroy(): void {
    this.dead = true;
    clearTimeout(this.saying);
    this.offs.forEach((f) => f());
    removeView(this.root);
  }
}
