// <glassbox-tracer>: the whole stage over one recording. Attributes:
//   src       address of a recording (or a JSON script child, or .recording)
//   view, step, pass, layer   where it opens
//   history   query | hash: the page's address follows the playhead
//   page      this page is ours: keys from the start, theme of the page
//   live      follow this running request ("" = the next one) on /api/live
//   room      teacher | follower: a page of a workshop, whose commands go to the page
//   theme     light | dark;  home: where the name links to
import { commandFor } from './commands';
import { Controller } from './controller';
import { EarlyKeys } from './early';
import { RecordingError } from './schema';
import { idOf, inline, load } from './load';
import { Live } from './live';
import { Recording } from './recording';
import { whyWord } from './position';
import { fromHref, fromParams, isMove, toHref, type Where } from './url';
import { fit, INITIAL, type State } from './state';
import { errorState, emptyState, loadingState, waitingState } from './states';
import { adopt, TRACER } from './style';
import { followTheme } from './theme';
import { Stage } from './stage';

const WATCHED = ['src', 'view', 'step', 'pass', 'layer', 'live'];

export class Tracer extends HTMLElement {
  static readonly observedAttributes = WATCHED;
  private rec: Recording | null = null;
  private st: State = INITIAL;
  private stage: Stage | null = null;
  private ctl: Controller;
  private abort: AbortController | null = null;
  private live: Live | null = null;
  private offs: (() => void)[] = [];
  private lastPush = 0;
  private pending: ReturnType<typeof setTimeout> | undefined;
  private loadedFrom = '';
  private alive = false;
  private early = new EarlyKeys();
  /** a recording is on its way */
  private coming = false;

  constructor() {
    super();
    adopt(this.attachShadow({ mode: 'open' }), TRACER);
    this.ctl = new Controller(this);
  }

  /** recording is the one shown; setting it shows another and keeps the playhead where it is. */
  get recording(): Recording | null { return this.rec; }
  set recording(v: Recording | object | string | null) {
    if (v === null) { this.rec = null; this.show(); return; }
    try {
      this.rec = v instanceof Recording ? v : Recording.parse(v);
      this.st = fit(this.rec, this.st);
      this.show();
    } catch (e) { this.fail(e); }
  }

  get state(): State { return this.st; }

  private get where(): Where | null {
    const h = this.getAttribute('history');
    return h === 'query' || h === 'hash' ? h : null;
  }

  connectedCallback(): void {
    this.alive = true;
    if (!this.hasAttribute('tabindex')) this.tabIndex = 0;
    if (!this.hasAttribute('role')) this.setAttribute('role', this.hasAttribute('page') ? 'main' : 'region');
    if (!this.hasAttribute('aria-label')) this.setAttribute('aria-label', 'Request tracer. Arrows walk, question mark lists the keys.');
    this.offs.push(followTheme(this, () => this.stage?.redraw()));
    this.st = this.startState();
    this.listen();
    // a script in the head runs before the children of this element are parsed
    if (!this.rec && document.readyState === 'loading' && !this.hasAttribute('src') && !this.hasAttribute('live')) {
      const ready = (): void => this.first();
      document.addEventListener('DOMContentLoaded', ready, { once: true });
      this.offs.push(() => document.removeEventListener('DOMContentLoaded', ready));
    } else this.first();
    if (this.hasAttribute('page') && (document.activeElement === document.body || !document.activeElement)) this.focus({ preventScroll: true });
  }

  private first(): void {
    const child = this.rec ? null : this.tryInline();
    if (this.rec) this.show();
    else if (child === null) this.begin();
  }

  disconnectedCallback(): void {
    this.alive = false;
    this.abort?.abort();
    this.live?.close();
    this.ctl.player.stop();
    this.ctl.watch(false);
    this.stage?.destroy();
    this.stage = null;
    for (const off of this.offs) off();
    this.offs = [];
  }

  attributeChangedCallback(name: string, old: string | null, now: string | null): void {
    if (!this.alive || old === now) return;
    if (name === 'src' || name === 'live') this.begin();
    else if (this.rec) this.set(fit(this.rec, this.fromAttributes(this.st)));
  }

  private fromAttributes(base: State): State {
    const p = new URLSearchParams();
    for (const k of ['view', 'step', 'pass', 'layer']) { const v = this.getAttribute(k); if (v !== null) p.set(k, v); }
    return fromParams(p, base);
  }

  private startState(): State {
    const s = this.fromAttributes(INITIAL);
    return this.where ? fromHref(location.href, this.where, s) : s;
  }

  private tryInline(): true | null {
    try {
      const r = inline(this);
      if (!r) return null;
      this.recording = r;
    } catch (e) { this.fail(e); }
    return true;
  }

  /** begin loads src or opens the live channel; while it waits it says how long it has waited. */
  begin(): void {
    this.abort?.abort();
    this.live?.close();
    if (this.hasAttribute('live')) { this.follow(this.getAttribute('live') || null); return; }
    const src = this.getAttribute('src');
    if (!src) { if (!this.rec) this.blank(emptyState(this.getAttribute('home') ?? '')); return; }
    void this.fetchFrom(src, false);
  }

  private async fetchFrom(src: string, quiet: boolean): Promise<void> {
    const abort = (this.abort = new AbortController());
    if (!quiet) { this.coming = true; this.blank(loadingState(src)); }
    try {
      const r = await load(src, abort.signal);
      if (abort.signal.aborted) return;
      this.loadedFrom = src;
      this.recording = r;
    } catch (e) {
      if (abort.signal.aborted) return;
      if (quiet) this.ctl.say(`The finished recording could not be fetched: ${(e as Error).message}`);
      else this.fail(e);
    }
  }

  private follow(id: string | null): void {
    this.coming = !!id;
    this.blank(id ? loadingState(`live, ${id}`) : waitingState(this.getAttribute('home') ?? ''));
    this.live = new Live(this.getAttribute('live-url') ?? '/api/live', id, {
      start: (name, r) => { this.loadedFrom = `/api/traces/${encodeURIComponent(name)}.json`; this.recording = r; if (this.hasAttribute('autoplay')) this.ctl.player.start(1); },
      grow: () => this.stage?.draw(),
      end: (name) => void this.fetchFrom(`/api/traces/${encodeURIComponent(name)}.json`, true),
      fail: (message) => {
        if (this.rec) this.ctl.say(message);
        else if (id) void this.fetchFrom(`/api/traces/${encodeURIComponent(id)}.json`, false);
        else this.fail(new RecordingError('network', message, 'Try again, or open a finished recording.'));
      },
    });
    this.live.open();
  }

  private fail(e: unknown): void {
    const err = e instanceof RecordingError ? e : new RecordingError('shape', (e as Error).message ?? String(e), 'Reload the page. If it stays, the recording is damaged.');
    this.rec = null;
    this.coming = false;
    this.early.drop();
    this.blank(errorState(err, this.getAttribute('home') ?? ''));
  }

  private blank(html: string): void {
    this.stage?.destroy();
    this.stage = null;
    this.removeAttribute('data-ready');
    this.shadowRoot!.innerHTML = html;
    const t0 = performance.now(), el = this.shadowRoot!.querySelector('[data-elapsed]');
    if (el) {
      const tick = (): void => { if (el.isConnected) { el.textContent = `${((performance.now() - t0) / 1000).toFixed(1)} s`; setTimeout(tick, 100); } };
      tick();
    }
  }

  private show(): void {
    if (!this.alive || !this.rec) return;
    if (!this.rec.steps.length) { this.blank(emptyState(this.getAttribute('home') ?? '')); return; }
    this.st = fit(this.rec, this.st);
    this.coming = false;
    this.stage ??= new Stage(this, this.ctl);
    this.ctl.watch(this.rec.live);
    this.stage.recordingChanged();
    this.writeUrl(this.st, true);
    this.dispatchEvent(new CustomEvent('glassbox-ready', { bubbles: true, composed: true }));
  }

  /** shown is called when a view is up: keys that came before it are for it. */
  shown(): void {
    this.early.replay(() => this.shadowRoot!.activeElement ?? this, () => !!this.stage && !this.stage.waiting);
  }

  /** set moves the playhead. Keys, clicks, play and links all end here. */
  set(s: State): void {
    if (!this.rec) return;
    const next = fit(this.rec, s), move = isMove(this.st, next);
    if (JSON.stringify(next) === JSON.stringify(this.st)) return;
    this.st = next;
    this.stage?.draw();
    this.queueUrl(move);
    this.dispatchEvent(new CustomEvent('glassbox-state', { detail: { ...next }, bubbles: true, composed: true }));
  }

  /** A held key must not flood the history: the first change is written at once, the rest when it rests. */
  private queueUrl(move: boolean): void {
    if (!this.where) return;
    const now = performance.now(), playing = this.ctl.player.direction !== 0;
    if (playing) { // every half second is enough, and no entry of its own
      this.pending ??= setTimeout(() => this.writeUrl(this.st, true), 500);
      return;
    }
    clearTimeout(this.pending);
    if (move && now - this.lastPush > 200) { this.writeUrl(this.st, false); return; }
    this.pending = setTimeout(() => this.writeUrl(this.st, !move), 200);
  }

  private writeUrl(s: State, replace: boolean): void {
    if (!this.where) return;
    clearTimeout(this.pending);
    this.pending = undefined;
    const href = toHref(location.href, s, this.where);
    if (href === location.href) return;
    this.lastPush = performance.now();
    try { history[replace ? 'replaceState' : 'pushState'](null, '', href); } catch { /* a sandboxed frame has no history of its own */ }
  }

  /** recordingId is the name of the recording on the page, '' where it has none. */
  get recordingId(): string { return this.loadedFrom ? idOf(this.loadedFrom) : ''; }

  /** goLive follows another request of this server in this page's place: the page stays, so that its streams go on. */
  goLive(id: string): void {
    if (this.where === 'query' && !this.hasAttribute('room')) {
      const to = new URL(location.href);
      to.pathname = `/trace/${encodeURIComponent(id)}`;
      history.pushState({ glassbox: id }, '', to);
      const mine = to.pathname;
      addEventListener('popstate', () => { if (location.pathname !== mine) location.reload(); }, { once: true });
    }
    this.setAttribute('live', id);
  }

  /** say shows a short message where the tracer's own stand. */
  say(text: string): void { this.ctl.say(text); }

  /** link is the address of exactly this state. */
  link(): string {
    if (this.where) return toHref(location.href, this.st, this.where);
    const base = this.getAttribute('link') ?? (this.loadedFrom ? `/trace/${encodeURIComponent(idOf(this.loadedFrom))}` : location.href);
    return toHref(new URL(base, location.href).toString(), this.st, 'query');
  }

  private listen(): void {
    const root = this.shadowRoot!;
    const on = <K extends keyof HTMLElementEventMap>(el: EventTarget, type: K | string, f: (e: Event) => void): void => { el.addEventListener(type, f); this.offs.push(() => el.removeEventListener(type, f)); };
    on(this, 'keydown', (e) => this.key(e as KeyboardEvent));
    // a page of ours has no other use for keys: it takes them too when nothing has the focus
    on(document, 'keydown', (e) => { if (this.hasAttribute('page') && (e.target === document.body || e.target === document.documentElement)) this.key(e as KeyboardEvent); });
    on(root, 'click', (e) => this.pressed(e as MouseEvent));
    on(root, 'input', (e) => { const el = e.target as HTMLInputElement, name = el.getAttribute?.('data-stopin'); if (name) this.ctl.stops.typed(name, el.value); });
    on(window, 'popstate', () => { if (this.where && this.rec) { this.st = fit(this.rec, fromHref(location.href, this.where, INITIAL)); this.ctl.player.stop(); this.stage?.draw(); } });
    on(window, 'hashchange', () => { if (this.where === 'hash' && this.rec) this.set(fromHref(location.href, 'hash', INITIAL)); });
    on(window, 'beforeprint', () => this.stage?.print());
  }

  private key(e: KeyboardEvent): void {
    if (e.defaultPrevented) return;
    if (!this.rec || this.stage?.waiting) {
      if ((this.rec || this.coming) && commandFor(e, { view: this.st.view, letters: this.ctl.letters, room: this.getAttribute('room') ?? '' })) this.early.keep(e);
      return;
    }
    const inner = this.shadowRoot!.activeElement;
    if (inner instanceof HTMLInputElement && inner.hasAttribute('data-stopin')) {
      if (e.key === 'Enter') { this.ctl.halt(inner.getAttribute('data-stopin') === 'value' ? 'set' : 'chosen'); e.preventDefault(); }
      if (e.key === 'Escape') { this.focus({ preventScroll: true }); e.preventDefault(); }
      return;
    }
    if (inner instanceof HTMLInputElement || inner?.closest('dialog')) return;
    if ((e.key === 'Enter' || e.key === ' ') && inner && inner.matches('button, a, [role="separator"]')) return;
    const c = commandFor(e, { view: this.st.view, letters: this.ctl.letters, paused: this.ctl.stops.ours, room: this.getAttribute('room') ?? '' });
    if (c && this.ctl.run(c.id)) e.preventDefault();
  }

  private pressed(e: MouseEvent): void {
    const t = e.target as Element, near = (a: string): string | null => t.closest(`[${a}]`)?.getAttribute(a) ?? null;
    const act = near('data-act');
    if (act === 'retry') { this.begin(); return; }
    if (!this.rec || t.closest('dialog, input')) return;
    if (this.ctl.pressedStop(t, e)) { if (e.detail > 0) this.focus({ preventScroll: true }); return; }
    const why = t.closest('.vbody') ? null : near('data-why');
    if (why) { this.ctl.player.stop(); this.set(whyWord(this.rec, this.st, Number(why))); return; }
    const cmd = near('data-cmd'), step = near('data-step'), source = near('data-source'), depth = near('data-depth');
    if (cmd) this.ctl.run(cmd);
    else if (depth) this.set({ ...this.st, depth: depth as State['depth'] });
    else if (source !== null) this.set({ ...this.st, source: Number(source) });
    else if (step && !t.closest('.vbody')) { this.ctl.player.stop(); this.set({ ...this.st, step, source: 0, sel: '' }); }
    if (e.detail > 0 && !this.shadowRoot!.querySelector('dialog[open]')) this.focus({ preventScroll: true });
  }
}
