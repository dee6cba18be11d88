// <glassbox-hero src prompt>: the home page's first screen. The shipped
// recording is drawn beneath the prompt by the map's own code; the first key
// steps it. Trace asks the engine with tracing on and opens the live walk.
import { traceRequest } from './ask';
import { commandFor } from './commands';
import { badge, cutMiddle, esc, exactNs, time, tokenText } from './format';
import { drawMap } from './map';
import { answer, laneNames } from './mapnotes';
import { drawTall } from './maptall';
import { sharedRecording } from './shared';
import { measurer } from './stage';
import { Player } from './player';
import sheet from '../../../static/css/hero.css';
import { Recording } from './recording';
import { RecordingError } from './schema';
import { errorState, loadingState } from './states';
import { fit, goStage, goStep, INITIAL, into, move, out, type State } from './state';
import { placeName, places, setPlaces } from './stops';
import { adopt, TRACER } from './style';
import { followTheme, stored } from './theme';
import { toHref } from './url';
import { asFiles, place } from './site';

/** In a copy of the site as files there is no engine to ask. */
const FILES = `<div><p class="need">This copy of the site has no engine behind it. To ask one of your own, run <code>glassbox</code> and open the address it prints.</p><span class="under" role="status"></span></div>`;

export class Hero extends HTMLElement {
  private rec: Recording | null = null;
  private st: State = INITIAL;
  private offs: (() => void)[] = [];
  private player = new Player(() => (this.rec ? { r: this.rec, s: this.st } : null), (s) => this.set(s), () => undefined);
  private busy = false;

  constructor() {
    super();
    adopt(this.attachShadow({ mode: 'open', delegatesFocus: false }), TRACER, sheet);
  }

  connectedCallback(): void {
    this.setAttribute('page', '');
    const prompt = this.getAttribute('prompt') ?? 'Why is the sky blue?';
    this.shadowRoot!.innerHTML = `<section class="hero"><div><h1><slot name="title">One request, from socket to stream.</slot></h1><p><slot>Glassbox is an inference engine you can see through. Ask it something; step through every function it ran.</slot></p></div>${asFiles ? FILES : ''}<form${asFiles ? ' hidden' : ''}><label for="p">Prompt</label><div class="field"><input id="p" name="prompt" value="${esc(prompt)}" spellcheck="false" autocomplete="off"><button type="submit">Trace <kbd>↵</kbd></button></div><span class="under" role="status"></span></form></section><section class="h-map" tabindex="0" role="group" aria-label="A recorded request. Arrows walk it, Enter opens it."></section>`;
    const root = this.shadowRoot!;
    const seen = new ResizeObserver(() => this.paint());
    seen.observe(this.map);
    this.offs = [followTheme(this, () => this.paint()), () => seen.disconnect()];
    root.querySelector('form')!.addEventListener('submit', (e) => { e.preventDefault(); void this.trace(root.querySelector('input')!.value); });
    root.querySelector('.under')!.addEventListener('click', (e) => { if ((e.target as Element).closest('[data-unstop]')) { setPlaces([]); if (this.rec) this.ready(this.rec); } });
    const key = (e: KeyboardEvent): void => this.key(e);
    document.addEventListener('keydown', key);
    this.offs.push(() => document.removeEventListener('keydown', key));
    this.map.addEventListener('click', (e) => { const st = (e.target as Element).closest('[data-step]'); if (st) this.set({ ...this.st, step: st.getAttribute('data-step')! }); });
    if (this.rec) this.ready(this.rec);
    else void this.fetch();
  }

  disconnectedCallback(): void { this.player.stop(); for (const f of this.offs) f(); this.offs = []; }

  private get map(): HTMLElement { return this.shadowRoot!.querySelector<HTMLElement>('.h-map')!; }
  /** An answer without an end would make a recording that no page can hold. */
  private get limit(): number { return Number(this.getAttribute('max-tokens') ?? 96); }
  private get src(): string { return this.getAttribute('src') ?? ''; }

  set recording(v: Recording | object | string) { this.rec = v instanceof Recording ? v : Recording.parse(v); if (this.isConnected) this.ready(this.rec); }

  private async fetch(): Promise<void> {
    if (!this.src) return;
    this.map.innerHTML = loadingState(this.src);
    try { this.ready(await sharedRecording(this.src)); } catch (e) {
      this.map.innerHTML = errorState(e instanceof RecordingError ? e : new RecordingError('shape', String(e), 'Reload the page.'), '');
    }
  }

  private ready(r: Recording): void {
    this.rec = r;
    const step = this.getAttribute('step') ?? r.steps.find((s) => /scores/.test(s.id))?.id ?? r.steps[0]?.id ?? '';
    this.st = fit(r, { ...INITIAL, step, pass: r.typicalPass(), layer: Math.floor(r.layers / 2) });
    const f = r.file, day = f.started ? new Date(f.started) : null;
    this.tell(`${esc([f.model.name, f.model.quantization].filter(Boolean).join(', '))}${this.hasAttribute('builtin') ? ', inside the binary' : ''}. Below: recorded ${day && !Number.isNaN(+day) ? day.toLocaleDateString('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }) : 'earlier'}${f.device.name ? ` on ${esc(cutMiddle(f.device.name, 40))}` : ''}${f.device.threads ? `, ${f.device.threads} threads` : ''}, <span class="mono nb" title="${exactNs(r.total.ns)}">${time(r.total.ns)}${badge(r.total.prov, r.total.how)}</span>${this.stopLine()}`);
    this.map.innerHTML = '<svg role="img" aria-label="Map of the recorded request"></svg><span class="hint"><kbd>→</kbd> steps, <kbd>Space</kbd> plays, <kbd>↵</kbd> opens it, <kbd>?</kbd> keys</span>';
    this.paint();
  }

  /** What the next Trace will stop at, with a way to take it off. */
  private stopLine(): string {
    const all = places();
    return all.length ? `. <b>It will stand still at ${all.length === 1 ? esc(placeName(this.rec, all[0]!)) : `${all.length} stops`}.</b> <button type="button" data-unstop>clear</button>` : '';
  }

  private tell(html: string): void { this.shadowRoot!.querySelector('.under')!.innerHTML = html; }

  private set(s: State): void {
    if (!this.rec) return;
    this.st = fit(this.rec, s);
    requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    const r = this.rec, el = this.map, svg = el?.querySelector('svg');
    if (!r || !svg || !el.clientWidth || el.querySelector('.state')) return;
    const W = el.clientWidth, H = el.clientHeight, tw = measurer(this);
    if (W < 700) {
      const t = drawTall(r, this.st, W, tw);
      svg.setAttribute('width', String(W));
      svg.setAttribute('height', String(t.height));
      svg.innerHTML = t.svg;
      el.scrollTop = Math.max(0, t.nowY - H * 0.45);
      return;
    }
    const m = drawMap(r, this.st, W, H, tw, { gap: 46, pitch: 16, maxRows: r.lanes.map((_, n) => (n === 0 ? 5 : n === 1 ? 7 : 8)) }), l = m.layout;
    svg.setAttribute('width', String(W));
    svg.setAttribute('height', String(H));
    svg.setAttribute('viewBox', `0 0 ${Math.max(l.width, l.needW)} ${Math.max(l.height, l.needH)}`);
    const top = l.cols.filter((c) => c.lane === r.lanes[0]!.id), a = Math.max(0, ...top.filter((c) => c.stage !== 'deliver').map((c) => c.x + c.w)) + 40, b = Math.min(W, ...top.filter((c) => c.stage === 'deliver').map((c) => c.x)) - 60;
    let g = m.svg + this.ids(r, a, b, l.lanes[0]!.y0 + 16) + laneNames(r, m, H + 4);
    const ops = l.lanes[m.input.lanes.indexOf(m.input.opsLane)];
    if (ops && m.frame) g += answer(r, this.st, { x: 16, y: ops.y0 + 20, w: m.frame.x0 - 100, h: H - ops.y0 - 46 }, tw, 18);
    svg.innerHTML = g;
  }

  /** The end of the prompt as pieces and ids. */
  private ids(r: Recording, a: number, b: number, y: number): string {
    const n = Math.min(r.prompt.length, Math.floor((b - a) / 62));
    if (n < 2) return '';
    const cw = (b - a) / n, list = r.prompt.slice(-n);
    return `<text x="${a}" y="${y - 4}" class="cap s">text becomes ids: the last ${n} of ${r.prompt.length}</text>${list.map((t, k) => `<rect x="${a + k * cw + 0.5}" y="${y + 6.5}" width="${cw - 7}" height="40" fill="none" stroke="var(--rule-2)"/><text x="${a + k * cw + (cw - 7) / 2}" y="${y + 23}" class="m mid">${esc(cutMiddle(tokenText(t), Math.max(3, Math.floor((cw - 10) / 7.3))))}<title>${esc(t.text)}</title></text><text x="${a + k * cw + (cw - 7) / 2}" y="${y + 39}" class="m mid s cap">${t.id}</text>`).join('')}`;
  }

  private openHref(): string {
    const base = this.getAttribute('open') ?? `/trace/${encodeURIComponent(this.src.split('/').pop()!.replace(/\.json$/, ''))}`;
    return toHref(new URL(base, location.href).toString(), this.st, 'query');
  }

  private key(e: KeyboardEvent): void {
    const r = this.rec, from = e.composedPath()[0];
    if (!r || e.defaultPrevented || from instanceof HTMLInputElement || from instanceof HTMLTextAreaElement || from instanceof HTMLSelectElement) return;
    const onMap = from === this.map, onBody = from === document.body;
    if (!onMap && !onBody) return;
    const c = commandFor(e, { view: 'request', letters: stored('glassbox.letters') !== 'off' });
    const s = this.st, f: Record<string, () => State> = { next: () => move(r, s, 1), prev: () => move(r, s, -1), 'stage.next': () => goStage(r, s, 1), 'stage.prev': () => goStage(r, s, -1) };
    if (onMap) Object.assign(f, { into: () => into(r, s), out: () => out(r, s), first: () => goStep(r, s, 0), last: () => goStep(r, s, r.steps.length - 1) });
    if (!c) return;
    if (onBody && (c.id.startsWith('stage.') || this.map.getBoundingClientRect().bottom < 0)) return; // the page scrolls with PgDn until the map has focus
    if (c.id === 'play') this.player.toggle(1);
    else if (c.id === 'open') location.assign(this.openHref());
    else if (c.id === 'help') location.assign(place('/docs/keys'));
    else if (f[c.id]) { this.player.stop(); this.set(f[c.id]!()); }
    else return;
    if (onBody) this.map.focus({ preventScroll: true }); // from here on all keys of the walk work
    e.preventDefault();
  }

  /** trace sends the prompt and goes to the live walk as soon as the answer's header names the recording. */
  async trace(prompt: string): Promise<void> {
    if (this.busy || !prompt.trim()) return;
    this.busy = true;
    const button = this.shadowRoot!.querySelector('button')!, t0 = performance.now();
    button.disabled = true;
    const tick = setInterval(() => this.tell(`Asking the engine for at most ${this.limit} tokens, <span class="mono">${((performance.now() - t0) / 1000).toFixed(1)} s</span>`), 100);
    try {
      const res = await fetch('/v1/chat/completions', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(traceRequest(prompt, this.getAttribute('model') ?? undefined, this.limit)) });
      const id = res.headers.get('X-Glassbox-Trace-Id');
      if (!res.ok || !id) {
        const said = res.ok ? 'the answer names no recording' : ((await res.json().catch(() => null)) as { error?: { message?: string } } | null)?.error?.message ?? `the server answered ${res.status}`;
        throw new Error(said);
      }
      setPlaces([]); // they were for this one
      await this.follow(id, res);
    } catch (e) {
      this.tell(`Not traced: ${esc((e as Error).message)}. The recording below still walks.`);
      button.disabled = false;
      this.busy = false;
    } finally { clearInterval(tick); }
  }

  /**
   * follow puts the live tracer in place of this page's content, so that the
   * streamed answer is read to its end and the request is not cancelled.
   */
  private async follow(id: string, res: Response): Promise<void> {
    void res.body?.pipeTo(new WritableStream()).catch(() => undefined);
    const { Tracer } = await import('./tracer');
    if (!customElements.get('glassbox-tracer')) customElements.define('glassbox-tracer', Tracer);
    const t = document.createElement('glassbox-tracer');
    for (const [k, v] of [['page', ''], ['live', id], ['autoplay', ''], ['history', 'query'], ['home', '/']] as const) t.setAttribute(k, v);
    history.pushState({ glassbox: id }, '', `/trace/${encodeURIComponent(id)}`);
    document.body.replaceChildren(t);
    document.body.className = 'tracer';
    addEventListener('popstate', () => { if (!location.pathname.startsWith('/trace/')) location.reload(); });
    t.focus();
  }
}

