// What each command does. Keys, buttons, palette and embedders all call run.
import { pickFolder } from './ownsource';
import { helpSheet, palette, paletteList, search, type Hit } from './dialogs';
import { csv, freeSvg, pngOf, save } from './exports';
import { Player } from './player';
import { whyWord } from './position';
import { at, fit, goStage, goStep, goToken, into, move, out, sameOp, type State } from './state';
import type { Stage } from './stage';
import { TRACER } from './style';
import { store, stored, toggleTheme } from './theme';
import { offerStops, onPlaces, placeAt, placeName, places, samePlace, setPlaces, startAgain, toggled } from './stops';
import { stopCard } from './stops-card';
import { StopWatch } from './stops-watch';
import type { Tracer } from './tracer';
import { whyCard } from './why';
import { drawable, VIEWS } from './views/registry';
import { served } from './site';

export class Controller {
  readonly player: Player;
  letters = stored('glassbox.letters') !== 'off';
  byTime = false;
  whySlow = false;
  readonly stops: StopWatch;
  private toast: ReturnType<typeof setTimeout> | undefined;

  constructor(private host: Tracer) {
    this.player = new Player(
      () => (host.recording ? { r: host.recording, s: host.state } : null),
      (s) => host.set(s),
      () => this.stage?.draw(),
      (d, speed) => this.stage?.current?.beat?.(d, speed),
    );
    this.stops = new StopWatch({
      recording: () => host.recording, id: () => host.recordingId, draw: () => this.stage?.draw(), root: () => host.shadowRoot,
      arrived: (st) => { this.player.stop(); this.whySlow = false; this.stage?.setClass('max', false); host.set({ ...host.state, step: st.at!.op, layer: Math.max(0, st.at!.layer), pass: st.pass, sel: '', source: 0 }); },
    });
    onPlaces(() => this.stage?.redraw());
  }

  private get stage(): Stage | null { return (this.host as unknown as { stage: Stage | null }).stage; }
  private el<T extends Element = HTMLElement>(q: string): T | null { return this.host.shadowRoot!.querySelector<T>(q); }

  say(text: string): void {
    const t = this.el('.toast');
    if (!t) return;
    t.textContent = text;
    clearTimeout(this.toast);
    this.toast = setTimeout(() => { t.textContent = ''; }, 4000);
  }

  /** run carries out a command; false means that it had nothing to do and the key stays the browser's. */
  run(id: string): boolean {
    const r = this.host.recording, s = this.host.state, stage = this.stage;
    if (!r || !stage) return false;
    const walk = (f: () => State): true => { this.player.stop(); this.host.set(f()); return true; };
    if (id.startsWith('room.')) return !this.host.dispatchEvent(new CustomEvent('glassbox-command', { detail: id, cancelable: true }));
    if (id.startsWith('halt.')) return this.halt(id.slice(5));
    if (stage.current?.command?.(id)) return true;
    if (id.startsWith('view.')) return this.view(Number(id.slice(5)));
    switch (id) {
      case 'next': return walk(() => move(r, s, 1));
      case 'prev': return walk(() => move(r, s, -1));
      case 'first': return walk(() => goStep(r, s, 0));
      case 'last': return walk(() => goStep(r, s, r.steps.length - 1));
      case 'stage.next': return walk(() => goStage(r, s, 1));
      case 'stage.prev': return walk(() => goStage(r, s, -1));
      case 'token.next': return walk(() => goToken(r, s, 1));
      case 'token.prev': return walk(() => goToken(r, s, -1));
      case 'why': return walk(() => whyWord(r, s, Math.max(0, r.tokenOfPass(s.pass))));
      case 'same.next': return walk(() => sameOp(r, s, 1));
      case 'same.prev': return walk(() => sameOp(r, s, -1));
      case 'into': return walk(() => into(r, s));
      case 'out': return walk(() => out(r, s));
      case 'open': return this.open();
      case 'escape': return this.escape();
      case 'play': this.player.toggle(1); return true;
      case 'play.back': this.player.toggle(-1); return true;
      case 'speed': this.player.faster(); return true;
      case 'why.slow': this.whySlow = !this.whySlow; stage.draw(); return true;
      case 'ablate': this.player.stop(); void this.switchOff(); return true;
      case 'stop.set': this.setStop(); return true;
      case 'stop.trace': void this.traceAgain(); return true;
      case 'stop.clear': setPlaces([]); this.say('All stops are cleared.'); return true;
      case 'find': this.find('Search steps, functions, tokens; > for commands'); return true;
      case 'goto': this.find(`Go to step, 1 to ${r.steps.length}`); return true;
      case 'source': stage.setClass('nosrc'); return true;
      case 'source.folder': pickFolder(() => stage.redraw()); return true;
      case 'table': stage.showTable(); return true;
      case 'max': stage.setClass('max'); return true;
      case 'max.card': stage.setClass('maxcard'); return true;
      case 'width': this.byTime = !this.byTime; stage.draw(); return true;
      case 'copy': void this.copy(); return true;
      case 'theme': toggleTheme(this.host); return true;
      case 'presenter': this.presenter(); return true;
      case 'letters': this.setLetters(!this.letters); return true;
      case 'help': this.help(); return true;
      case 'export.svg': this.picture(); return true;
      case 'export.png': void this.png(); return true;
      case 'export.csv': if (stage.current) save(`${s.view}.csv`, 'text/csv', csv(stage.current.table())); return true;
      default: return false;
    }
  }

  private view(n: number): boolean {
    const v = VIEWS.find((k) => k.n === n), r = this.host.recording!;
    if (!v) return false;
    const why = v.missing(r) ?? (drawable(v) ? null : 'this page cannot draw it yet');
    if (why) this.say(`${v.title}: ${why}.`);
    else this.host.set({ ...this.host.state, view: v.id });
    return true;
  }

  private open(): boolean {
    const r = this.host.recording!, s = this.host.state, n = r.steps[at(r, s)]!.sources?.length ?? 0;
    if (n > 1) this.host.set({ ...s, source: (s.source + 1) % n });
    return n > 1;
  }

  /** Esc: what is open closes, then the selection goes, then the arrows own steps again. */
  private escape(): boolean {
    const stage = this.stage!, s = this.host.state, twin = this.el('.twin');
    if (twin && !twin.hidden) { stage.showTable(false); return true; }
    if (this.whySlow) { this.whySlow = false; stage.draw(); return true; }
    for (const c of ['max', 'maxcard', 'presenter']) if (this.el('.stage')?.classList.contains(c)) { if (c === 'presenter') this.presenter(0); else stage.setClass(c, false); return true; }
    if (this.player.direction) { this.player.stop(); return true; }
    if (s.sel) { this.host.set({ ...s, sel: '' }); return true; }
    if (s.depth !== 'step') { this.host.set({ ...s, depth: 'step' }); return true; }
    return false;
  }

  /** Where stops can be set: a page of ours whose server is an engine. */
  private get canStop(): boolean { return this.host.hasAttribute('page') && served(); }

  /** watch follows what stands still while the request on the page runs. */
  watch(on: boolean): void {
    offerStops(this.canStop);
    if (on && this.canStop) this.stops.start();
    else this.stops.stop();
  }

  /** The sheet of "Switch it off and see". One that was opened over a running request opens again when its recording is whole. */
  private async switchOff(): Promise<void> {
    const { switchOff } = await import('./ablate-dialog').catch(() => { this.say('That part of the page did not arrive. Check that Glassbox is still running, then try again.'); return { switchOff: null }; });
    const host = this.host, r = host.recording, state = host.state;
    if (!r || !switchOff) return;
    const writer = host.shadowRoot!.activeElement?.closest('[data-head]')?.getAttribute('data-head')?.replace(/^(\d+)\.(\d+)$/, 'L$1.H$2') ?? null;
    switchOff({ host, recording: r, state, writer, open: (html) => this.dialog(html), done: (id) => host.set({ ...host.state, view: 'compare', with: id }) });
    if (r.live) host.addEventListener('glassbox-ready', () => { if (this.el('dialog[open] .ab')) void this.switchOff(); }, { once: true });
  }

  private setStop(): void {
    const r = this.host.recording!, p = this.canStop ? placeAt(r, this.host.state) : 'A stop needs the engine: glassbox serve, and this page from it.';
    if (typeof p === 'string') { this.say(p); return; }
    const next = toggled(places(), p);
    setPlaces(next);
    this.say(next.some((q) => samePlace(p, q)) ? `Stop set: ${placeName(r, p)}. Shift+B traces this request again with ${next.length === 1 ? 'it' : `the ${next.length} stops`}.` : `Stop cleared: ${placeName(r, p)}.`);
  }

  private async traceAgain(): Promise<void> {
    const r = this.host.recording!, all = places();
    if (!this.canStop) { this.say('That needs the engine: glassbox serve, and this page from it.'); return; }
    if (!all.length) { this.say('No stop is set: go to an op, a layer and a token, and press b.'); return; }
    this.say('Asking the engine.');
    try {
      const id = await startAgain(r, all);
      setPlaces([]);
      this.host.goLive(id);
    } catch (e) { this.say(`Not traced: ${(e as Error).message}`); }
  }

  /** halt does what a key or button of the panel says while the engine stands still. */
  halt(what: string): boolean {
    if (what === 'edit') { const box = this.el<HTMLInputElement>('[data-stopin="value"]'); box?.focus(); box?.select(); return !!box; }
    if (what === 'chosen') { this.stops.choose(this.stops.form.index, false, this.stops.form.count); return true; }
    return this.stops.act(what);
  }

  /** pressedStop takes clicks on the panel: its buttons, parts, values and bars. */
  pressedStop(t: Element, e: MouseEvent): boolean {
    const near = (a: string): string | null => t.closest(`[${a}]`)?.getAttribute(a) ?? null, act = near('data-stop'), part = near('data-stoppart'), at0 = near('data-stopat'), plot = t.closest('[data-stopbars]');
    if (act) this.halt(act);
    else if (part) this.stops.part(part);
    else if (at0 !== null) this.stops.choose(Number(at0));
    else if (plot) { const q = plot.getBoundingClientRect(); this.stops.choose(Math.floor(((e.clientX - q.left) / q.width) * (this.stops.values?.values.length ?? 0)), e.detail > 1); }
    return !!(act || part || at0 !== null || plot);
  }

  /** overlay is what stands in the place of the step card: the panel of a stop, or the answer to "Why slow?". */
  overlay(): { sig: string; html: () => string } | null {
    const r = this.host.recording!, s = this.host.state, w = this.stops;
    if (this.whySlow) return { sig: `why/${s.step}`, html: () => whyCard(r, s) };
    if (w.ours) return { sig: `halt/${w.version}`, html: () => stopCard(r, w.state!, w.values, w.form) };
    return null;
  }

  /** Presenter type in three sizes: off, large, larger. */
  private presenter(size = ((Number(this.host.getAttribute('data-presenter')) || 0) + 1) % 3): void {
    this.host.setAttribute('data-presenter', String(size));
    this.stage!.setClass('larger', size === 2);
    this.stage!.setClass('presenter', size > 0);
    this.host.dispatchEvent(new CustomEvent('glassbox-presenter', { detail: size }));
    if (size === 1) void (this.host.hasAttribute('room') ? document.documentElement : this.host).requestFullscreen?.().catch(() => undefined);
    else if (size === 0 && document.fullscreenElement) void document.exitFullscreen().catch(() => undefined);
  }

  private async copy(): Promise<void> {
    const link = this.host.link();
    try {
      await navigator.clipboard.writeText(link);
      this.say('The link to exactly this is in the clipboard.');
    } catch { this.say(link); }
  }

  private setLetters(on: boolean): void {
    this.letters = on;
    store('glassbox.letters', on ? 'on' : 'off');
    this.say(on ? 'Single letters are on.' : 'Single letters are off; arrows, Space, Enter, Esc, Home, End, PgUp and PgDn stay.');
    this.stage?.draw();
  }

  private picture(): void {
    const v = this.stage?.current, name = `${this.host.state.view}`, css = (k: string): string => getComputedStyle(this.host).getPropertyValue(k).trim();
    const svg = v?.svg?.(), cv = v?.canvas?.();
    if (svg) save(`${name}.svg`, 'image/svg+xml', freeSvg(svg, css, TRACER));
    else cv?.toBlob((b) => { if (b) save(`${name}.png`, 'image/png', b); });
  }

  /** The same picture as PNG, two px a px. */
  private async png(): Promise<void> {
    const v = this.stage?.current, name = `${this.host.state.view}.png`, css = (k: string): string => getComputedStyle(this.host).getPropertyValue(k).trim(), svg = v?.svg?.();
    try {
      const b = svg ? await pngOf(freeSvg(svg, css, TRACER)) : await new Promise<Blob | null>((done) => { const c = v?.canvas?.(); if (c) c.toBlob(done, 'image/png'); else done(null); });
      if (b) save(name, 'image/png', b);
      else this.say('This view has no picture.');
    } catch { this.say('The picture could not be made. Save it as SVG instead.'); }
  }

  private dialog(html: string): HTMLDialogElement {
    const d = this.el<HTMLDialogElement>('dialog')!;
    d.innerHTML = html;
    d.onclose = () => this.host.focus({ preventScroll: true });
    d.onclick = (e) => { if (e.target === d || (e.target as Element).closest('[data-close]')) d.close(); };
    d.onkeydown = (e) => { if (e.key === 'Escape') { d.close(); e.preventDefault(); } e.stopPropagation(); };
    if (!d.open) d.showModal();
    return d;
  }

  private help(): void {
    const d = this.dialog(helpSheet(this.letters));
    d.querySelector<HTMLInputElement>('[data-letters]')!.onchange = (e) => this.setLetters((e.target as HTMLInputElement).checked);
  }

  /** The palette: type, arrows choose, Enter goes. A bare number goes to that step. */
  private find(hint: string): void {
    const r = this.host.recording!, d = this.dialog(palette(hint)), input = d.querySelector('input')!, list = d.querySelector('.list')!;
    let hits: Hit[] = [], n = 0;
    const paint = (): void => {
      list.innerHTML = paletteList(hits, n);
      input.setAttribute('aria-activedescendant', `hit${n}`);
      list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
    };
    const look = (): void => {
      const step = /^\d+$/.test(input.value.trim()) ? Number(input.value) - 1 : -1, direct = r.steps[step];
      const own = input.value.startsWith('>') ? [] : this.stage?.current?.hits?.(input.value) ?? [];
      hits = [...own.map((f): Hit => ({ kind: 'view', ...f })), ...search(r, input.value)];
      if (direct) hits = [...hits.filter((h) => h.step === direct.id && h.kind === 'step'), ...hits.filter((h) => h.step !== direct.id || h.kind !== 'step')];
      n = 0;
      paint();
    };
    const go = (): void => { const h = hits[n]; d.close(); if (h) this.take(h); };
    input.oninput = look;
    input.onkeydown = (e) => {
      if (e.key === 'ArrowDown' || e.key === 'ArrowUp') { n = (n + (e.key === 'ArrowDown' ? 1 : -1) + hits.length) % Math.max(1, hits.length); paint(); e.preventDefault(); }
      else if (e.key === 'Enter') { go(); e.preventDefault(); }
    };
    list.addEventListener('click', (e) => { const li = (e.target as Element).closest('[data-hit]'); if (li) { n = Number(li.getAttribute('data-hit')); go(); } });
    look();
    input.focus();
  }

  private take(h: Hit): void {
    const r = this.host.recording!, s = this.host.state;
    if (h.cmd) { this.run(h.cmd); return; }
    if (h.go) { h.go(); return; }
    this.player.stop();
    this.host.set(fit(r, { ...s, step: h.step ?? s.step, pass: h.pass ?? s.pass, sel: h.span ?? '', source: 0 }));
  }
}
