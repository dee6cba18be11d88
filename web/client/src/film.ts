// <glassbox-film>: the tour that plays by itself. Its scenes are the list on
// the page; each is a stretch of a walk over a recording, shown by a tracer.
// What is on screen is a function of the time alone, so every moment is a
// link and the tour can be stepped into anywhere.
import { clock, parseClock, sceneAt, stateAt, type Scene } from './film-data';
import { esc } from './format';
import type { Tracer } from './tracer';

const SPEEDS = [1, 1.5, 2, 0.5];
/** A scene waits at its end for the voice, but no longer than this, s. */
const MOST_WAIT = 20;

/** readScenes takes the scenes from the list of the page. */
export function readScenes(items: Iterable<HTMLElement>): Scene[] {
  return [...items].map((li) => {
    const d = li.dataset, [from = '', to = from] = (d['steps'] ?? '').split(' ');
    return { at: Number(d['at']), dur: Number(d['for']), chapter: d['chapter'] ?? '', text: li.querySelector('p span')?.textContent ?? '', src: d['src'] ?? '', view: d['view'] ?? 'request', from, to, pass: Number(d['pass'] ?? 0), layers: Number(d['layers'] ?? 0), passes: (d['passes'] ?? '').split(' ').filter(Boolean).map(Number) };
  });
}

export class Film extends HTMLElement {
  private scenes: Scene[] = [];
  private length = 0;
  private t = 0;
  private playing = false;
  private ready = false;
  private shown = -1;
  private loaded = '';
  private speed = 1;
  private voice = false;
  private saying: SpeechSynthesisUtterance | null = null;
  private held = 0;
  private last = 0;
  private frame = 0;
  private tracer!: Tracer;
  private offs: (() => void)[] = [];

  connectedCallback(): void {
    this.scenes = readScenes(document.querySelectorAll<HTMLElement>('.scenes li'));
    this.length = Number(this.getAttribute('length')) || 0;
    if (!this.scenes.length) return;
    this.build();
    const on = (el: EventTarget, type: string, f: (e: Event) => void, capture = false): void => { el.addEventListener(type, f, capture); this.offs.push(() => el.removeEventListener(type, f, capture)); };
    on(document, 'keydown', (e) => this.key(e as KeyboardEvent), true);
    on(this, 'click', (e) => this.pressed(e.target as Element));
    on(this.tracer, 'pointerdown', () => this.pause());
    on(this.tracer, 'glassbox-ready', () => { this.ready = true; this.apply(); });
    on(this.range, 'input', () => { this.pause(); this.seek(Number(this.range.value)); });
    on(window, 'popstate', () => this.fromAddress());
    on(document, 'click', (e) => { // a time in the text is a moment here, not another page
      const a = (e.target as Element).closest<HTMLAnchorElement>('.scenes a[href^="?t="]');
      if (!a || (e as MouseEvent).ctrlKey || (e as MouseEvent).metaKey) return;
      e.preventDefault();
      this.pause();
      this.seek(parseClock(a.textContent ?? ''));
      this.scrollIntoView();
    });
    const asked = this.fromAddress();
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches && !asked) this.play();
    this.tracer.focus({ preventScroll: true });
  }

  disconnectedCallback(): void { this.pause(); for (const f of this.offs) f(); this.offs = []; }

  private $<T extends HTMLElement = HTMLElement>(q: string): T { return this.querySelector<T>(q)!; }
  private get range(): HTMLInputElement { return this.$<HTMLInputElement>('input'); }
  private get scene(): Scene { return this.scenes[sceneAt(this.scenes, this.t)]!; }

  private build(): void {
    const marks = this.scenes.filter((s) => s.chapter);
    this.innerHTML = `<section class="fm" aria-label="Film"><div class="fm-stage"></div><div class="fm-say"><b></b><p role="status"></p></div><div class="fm-bar"><button type="button" data-do="play"></button><input type="range" min="0" max="${this.length}" step="1" value="0" aria-label="Time in the film"><span class="mono fm-t"></span><button type="button" data-do="speed"></button><button type="button" data-do="voice" aria-pressed="false">narration off</button><button type="button" data-do="link">copy link</button></div><nav class="fm-marks" aria-label="Chapters of the film">${marks.map((s) => `<button type="button" data-seek="${s.at}"><span class="mono">${clock(s.at)}</span> ${esc(s.chapter)}</button>`).join('')}<span class="s fm-keys"><kbd>Space</kbd> plays, <kbd>→</kbd> steps, <kbd>⇧→</kbd> chapters</span></nav></section>`;
    this.tracer = document.createElement('glassbox-tracer') as Tracer;
    this.tracer.setAttribute('aria-label', 'What the film shows. When it is paused, arrows walk.');
    this.$('.fm-stage').append(this.tracer);
    if (!('speechSynthesis' in window)) this.$('[data-do="voice"]').hidden = true;
  }

  /** fromAddress goes to the moment that the address names, and tells whether it names one. */
  private fromAddress(): boolean {
    const t = parseClock(new URLSearchParams(location.search).get('t') ?? '');
    this.seek(Number.isNaN(t) ? 0 : t, false);
    return !Number.isNaN(t);
  }

  private seek(t: number, write = true): void {
    this.t = Math.max(0, Math.min(this.length, Number.isNaN(t) ? 0 : t));
    this.hush();
    this.shown = -1;
    this.apply();
    if (write) this.writeAddress();
  }

  private writeAddress(): void { history.replaceState(null, '', `?t=${clock(this.t)}`); }

  /** apply shows what belongs to the time. */
  private apply(): void {
    const n = sceneAt(this.scenes, this.t), s = this.scenes[n]!;
    if (s.src !== this.loaded) {
      this.loaded = s.src;
      this.ready = false;
      this.tracer.setAttribute('view', s.view);
      this.tracer.setAttribute('src', s.src);
    } else if (this.ready && this.tracer.recording) this.tracer.set(stateAt(this.tracer.recording, s, this.t));
    if (n !== this.shown) {
      this.shown = n;
      const chapter = this.scenes.slice(0, n + 1).filter((x) => x.chapter).at(-1)!;
      this.$('.fm-say b').textContent = chapter.chapter;
      this.$('.fm-say p').textContent = s.text;
      for (const b of this.querySelectorAll('[data-seek]')) b.toggleAttribute('aria-current', Number(b.getAttribute('data-seek')) === chapter.at);
      this.speak();
    }
    this.bar();
  }

  private bar(): void {
    this.range.value = String(Math.floor(this.t));
    this.range.setAttribute('aria-valuetext', `${clock(this.t)} of ${clock(this.length)}`);
    this.$('.fm-t').textContent = `${clock(this.t)} / ${clock(this.length)}`;
    const play = this.$('[data-do="play"]'), name = this.playing ? 'Pause' : this.t >= this.length ? 'Again' : 'Play';
    if (play.textContent !== name) play.textContent = name;
    this.$('[data-do="speed"]').textContent = `${this.speed}×`;
    this.toggleAttribute('data-playing', this.playing);
  }

  private play(): void {
    if (this.t >= this.length) this.seek(0);
    this.playing = true;
    this.last = performance.now();
    this.apply();
    this.speak();
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(this.tick);
  }

  private pause(): void {
    if (!this.playing) return;
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.hush();
    this.bar();
    this.writeAddress();
  }

  /** tick moves the time, unless a recording is on its way or the voice has not said all of a scene. */
  private tick = (now: number): void => {
    if (!this.playing) return;
    const dt = Math.min(0.5, (now - this.last) / 1000), s = this.scene, end = s.at + s.dur;
    this.last = now;
    if (this.ready) {
      let t = this.t + dt * this.speed;
      if (t >= end && this.saying && this.held < MOST_WAIT) { this.held += dt; t = end - 0.01; }
      this.t = Math.min(this.length, t);
      this.apply();
      if (this.t >= this.length) { this.pause(); return; }
    }
    this.frame = requestAnimationFrame(this.tick);
  };

  private hush(): void {
    this.saying = null;
    this.held = 0;
    if (this.voice) speechSynthesis.cancel();
  }

  private speak(): void {
    if (!this.voice || !this.playing) return;
    this.hush();
    const u = new SpeechSynthesisUtterance(this.scene.text);
    u.lang = 'en';
    u.rate = Math.min(2, this.speed);
    u.onend = u.onerror = () => { if (this.saying === u) this.saying = null; };
    this.saying = u;
    speechSynthesis.speak(u);
  }

  private faster(): void {
    this.speed = SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length]!;
    this.bar();
  }

  private narrate(): void {
    this.hush();
    this.voice = !this.voice;
    const b = this.$('[data-do="voice"]');
    b.setAttribute('aria-pressed', String(this.voice));
    b.textContent = this.voice ? 'narration on' : 'narration off';
    this.speak();
  }

  private async link(): Promise<void> {
    const to = new URL(`?t=${clock(this.t)}`, location.href).href, b = this.$('[data-do="link"]');
    try { await navigator.clipboard.writeText(to); b.textContent = 'copied'; } catch { this.writeAddress(); b.textContent = 'in the address'; }
    setTimeout(() => { b.textContent = 'copy link'; }, 2000);
  }

  private pressed(el: Element): void {
    const what = el.closest('[data-do]')?.getAttribute('data-do'), to = el.closest('[data-seek]')?.getAttribute('data-seek');
    if (to) { this.seek(Number(to)); if (this.playing) this.last = performance.now(); }
    if (what === 'play') { if (this.playing) this.pause(); else this.play(); }
    if (what === 'speed') this.faster();
    if (what === 'voice') this.narrate();
    if (what === 'link') void this.link();
  }

  /** Space, v and Shift with an arrow are the film's; any other key of the walk pauses and is the tracer's. */
  private key(e: KeyboardEvent): void {
    const from = e.composedPath()[0] as Element, mine = from === document.body || e.composedPath().includes(this.tracer);
    if (e.ctrlKey || e.metaKey || e.altKey || !mine || from instanceof HTMLInputElement || this.tracer.shadowRoot?.querySelector('dialog[open]')) return;
    const eat = (): void => { e.preventDefault(); e.stopPropagation(); };
    if (e.key === ' ' && !(from instanceof HTMLButtonElement)) { if (this.playing) this.pause(); else this.play(); eat(); }
    else if (e.key === 'v') { this.faster(); eat(); }
    else if (e.shiftKey && (e.key === 'ArrowRight' || e.key === 'ArrowLeft')) { this.chapter(e.key === 'ArrowRight' ? 1 : -1); eat(); }
    else if (/^(Arrow|Home$|End$|Page|Enter$|[0-9a-z,.[\]]$)/.test(e.key)) {
      this.pause();
      if (from === document.body) { this.tracer.focus({ preventScroll: true }); this.tracer.dispatchEvent(new KeyboardEvent('keydown', { key: e.key, code: e.code, shiftKey: e.shiftKey, bubbles: true, composed: true, cancelable: true })); eat(); }
    }
  }

  private chapter(d: 1 | -1): void {
    const marks = this.scenes.filter((s) => s.chapter).map((s) => s.at), to = d > 0 ? marks.find((m) => m > this.t) : marks.filter((m) => m < this.t - 1).at(-1) ?? 0;
    if (to !== undefined) this.seek(to);
  }
}
