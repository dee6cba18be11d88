// A page of a workshop. The teacher's page tells the server where its playhead
// is; a follower's page goes along until its reader walks, and comes back with
// one key. ROOM.md describes the messages. It does not know about views.
import { traceNow } from './ask';
import { commandFor } from './commands';
import { RoomLink, type RoomState } from './roomlink';
import type { Panel } from './roompanel';
import { INITIAL } from './state';
import { fromParams, toParams } from './url';
import type { Tracer } from './tracer';

const $ = <T extends HTMLElement = HTMLElement>(q: string): T | null => document.querySelector<T>(q);

/** A move that comes later than this after the last key or pointer was made by the page, not by its reader. */
const OWN_MS = 1500;

function kept(key: string): string | null { try { return sessionStorage.getItem(key); } catch { return null; } }
/** The exercises that were solved on this page, by number from 0. */
export function solved(): number[] {
  try { return (JSON.parse(kept('glassbox.tasks') ?? '[]') as unknown[]).filter((n): n is number => Number.isInteger(n)); } catch { return []; }
}
export function keep(key: string, v: string): void { try { sessionStorage.setItem(key, v); } catch { /* the place is kept by the address alone then */ } }

export class RoomPage {
  readonly tracer = $<Tracer>('glassbox-tracer')!;
  readonly teacher = document.body.dataset['room'] === 'teacher';
  state: RoomState | null = null;
  private along = kept('glassbox.along') !== 'off';
  private link: RoomLink;
  private panel: Panel | null = null;
  private applying = false;
  private pending: { recording: string; query: string } | null = null;
  private touched = -Infinity;
  private sent = '';
  private later: ReturnType<typeof setTimeout> | undefined;
  private gathered = -1;
  private opened = '';
  private sentAt = -Infinity;

  constructor() {
    this.link = new RoomLink(this.teacher, { opened: () => this.again(), state: (s) => this.heard(s), lost: (why) => this.lost(why), refused: (m) => this.say(m) });
    this.listen();
    void this.begin();
  }

  private async begin(): Promise<void> {
    if (this.teacher) {
      const why = await this.showKey();
      if (why) { this.status(why); this.say(why); this.open(this.first()); return; }
    }
    this.link.open();
    setTimeout(() => { if (!this.state) this.open(this.first()); }, 1500); // without the server's word, the page's own
  }

  /** The key comes in the fragment of the address, and goes from there into a cookie that no script reads. */
  private async showKey(): Promise<string> {
    const key = location.hash.slice(1);
    if (!/^[a-z2-7]{8,64}$/.test(key)) return '';
    history.replaceState(history.state, '', location.pathname + location.search);
    const res = await fetch('/api/workshop/key', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ key }) }).catch(() => null);
    if (res?.ok) return '';
    return res ? 'This is not the key of this workshop: open the address that the server printed.' : 'The server does not answer.';
  }

  private first(): string { return new URLSearchParams(location.search).get('rec') ?? this.tracer.dataset['recording'] ?? ''; }

  /** open shows a recording; where it is at hand already, nothing happens. */
  open(id: string, live = false, play = false): void {
    if (!id || this.opened === id) return;
    this.opened = id;
    this.tracer.toggleAttribute('autoplay', play);
    if (live) this.tracer.setAttribute('live', id);
    else {
      this.tracer.setAttribute('src', `/api/traces/${encodeURIComponent(id)}.json`);
      this.tracer.removeAttribute('live');
    }
    const u = new URL(location.href);
    u.searchParams.set('rec', id);
    history.replaceState(history.state, '', u);
  }

  private heard(s: RoomState): void {
    const before = this.state;
    this.state = s;
    if (this.teacher && s.you !== 'teacher') { this.status('not the teacher: open the address that the server printed'); }
    const called = this.gathered >= 0 && s.gather > this.gathered;
    this.gathered = s.gather;
    if (!this.teacher && called && !this.along) { this.setAlong(true); this.say('The teacher has called everyone.'); }
    if (!this.teacher && s.tasks && before && !before.tasks) this.say('The exercises are open: Shift+J.');
    if (this.teacher) {
      if (!s.recording) this.sent = ''; // the server was started again
      if (!before && s.recording && !new URLSearchParams(location.search).has('step')) this.apply(s);
      else if (!before) { this.open(this.first(), !!s.live && s.recording === this.first()); this.publish(); }
      else if (!s.recording) this.publish();
      else if (s.query !== this.lastQuery() && !document.hasFocus() && performance.now() - this.sentAt > 1000) this.apply(s); // another page of the teacher's steers
    } else if (this.along && s.recording) this.apply(s);
    else if (!before) this.open(this.first());
    this.paint();
    this.panel?.changed();
  }

  private lastQuery(): string { return this.sent ? (JSON.parse(this.sent) as { query: string }).query : ''; }

  /** apply goes to a place. While its recording is on the way it waits. */
  private apply(p: { recording: string; query: string; live?: boolean }): void {
    const r = this.tracer.recording;
    if (!r || this.tracer.recordingId !== p.recording) {
      this.pending = p;
      this.open(p.recording, !!p.live);
      return;
    }
    this.pending = null;
    this.applying = true;
    try { this.tracer.set(fromParams(new URLSearchParams(p.query), INITIAL)); } finally { this.applying = false; }
    if (this.teacher) this.sent = this.place();
  }

  private place(): string {
    return JSON.stringify({ type: 'go', recording: this.tracer.recordingId, query: toParams(this.tracer.state).toString(), ...(this.tracer.recording?.live ? { live: true } : {}) });
  }

  /** publish tells where the teacher is: at once, and then every 40 ms at most. */
  private publish(): void {
    if (!this.teacher || this.state?.you !== 'teacher' || !this.tracer.recording || this.later) return;
    const now = this.place();
    if (now === this.sent) return;
    this.sent = now;
    this.sentAt = performance.now();
    this.link.send(now);
    this.later = setTimeout(() => { this.later = undefined; this.publish(); }, 40);
  }

  setAlong(on: boolean): void {
    if (this.teacher || on === this.along) return;
    this.along = on;
    keep('glassbox.along', on ? 'on' : 'off');
    this.link.send(JSON.stringify({ type: 'along', along: on }));
    if (on && this.state?.recording) this.apply(this.state);
    this.paint();
  }

  private listen(): void {
    const t = this.tracer;
    for (const e of ['keydown', 'pointerdown', 'wheel', 'touchend', 'popstate'] as const) addEventListener(e, () => { this.touched = performance.now(); }, { capture: true, passive: true });
    document.addEventListener('keydown', (e) => this.beside(e));
    t.addEventListener('glassbox-state', () => this.moved());
    t.addEventListener('glassbox-ready', () => {
      if (t.recordingId) this.opened = t.recordingId;
      if (this.pending?.recording === t.recordingId) this.apply(this.pending);
      this.publish();
      this.paint();
      this.panel?.changed();
    });
    t.addEventListener('glassbox-presenter', (e) => { const n = (e as CustomEvent<number>).detail; for (const k of [1, 2]) document.body.classList.toggle(`big-${k}`, k === n); }); // bar and panel are read from the back row too
    t.addEventListener('glassbox-command', (e) => { if (this.run((e as CustomEvent<string>).detail)) e.preventDefault(); });
    document.addEventListener('click', (e) => {
      const b = (e.target as Element).closest('[data-do]'), what = b?.getAttribute('data-do');
      if (what && this.run(`room.${what}`) && e.detail > 0 && !b!.closest('dialog') && !['tasks', 'notes', 'panel'].includes(what)) t.focus({ preventScroll: true });
    });
    $('[data-recordings]')?.addEventListener('change', (e) => { const id = (e.target as HTMLSelectElement).value; this.setAlong(false); this.open(id); t.focus({ preventScroll: true }); });
    $('[data-ask]')?.addEventListener('submit', (e) => { e.preventDefault(); void this.ask(e.target as HTMLFormElement); });
    $('[data-to]')?.addEventListener('submit', (e) => {
      e.preventDefault();
      const input = (e.target as HTMLFormElement).querySelector('input')!;
      if (this.everyoneTo(Number(input.value))) { input.value = ''; t.focus({ preventScroll: true }); }
    });
  }

  /** Keys of the tracer work from the buttons of bar and panel too: the tracer takes the focus and the key. */
  private beside(e: KeyboardEvent): void {
    const at = e.target as Element;
    if (e.defaultPrevented || e.key === 'Enter' || e.key === ' ' || !at.matches('.rm-bar button, .rm-side button')) return;
    if (!commandFor(e, { view: this.tracer.state.view, letters: true, room: this.teacher ? 'teacher' : 'follower' })) return;
    e.preventDefault();
    this.tracer.focus({ preventScroll: true });
    this.tracer.dispatchEvent(new KeyboardEvent('keydown', { key: e.key, code: e.code, shiftKey: e.shiftKey, ctrlKey: e.ctrlKey, metaKey: e.metaKey, altKey: e.altKey, cancelable: true }));
  }

  private moved(): void {
    this.panel?.changed();
    if (this.teacher) { this.publish(); this.paint(); return; }
    if (this.applying || !this.along || performance.now() - this.touched > OWN_MS) return;
    this.setAlong(false);
    this.say('On your own now. Backspace goes back to the teacher.');
  }

  private everyoneTo(n: number): boolean {
    const r = this.tracer.recording, step = r?.steps[n - 1];
    if (!r || !step) { this.say(`There is no step ${n || ''}: wanted 1 to ${r?.steps.length ?? 0}.`); return false; }
    this.tracer.set({ ...this.tracer.state, step: step.id, source: 0, sel: '' });
    clearTimeout(this.later);
    this.later = undefined;
    this.publish();
    return this.run('room.gather');
  }

  /** run carries out a command of the workshop, from a key, a button or the palette. */
  run(id: string): boolean {
    switch (id) {
      case 'room.back': this.setAlong(!this.along); return !this.teacher;
      case 'room.gather': this.link.send('{"type":"gather"}'); this.say('Everyone is called here.'); return true;
      case 'room.quiet': this.link.send(JSON.stringify({ type: 'set', quiet: !this.state?.quiet })); return true;
      case 'room.tasks': if (this.teacher) this.link.send(JSON.stringify({ type: 'set', tasks: !this.state?.tasks })); void this.side('tasks', this.teacher ? !this.state?.tasks : undefined); return true;
      case 'room.panel': void this.side('tasks'); return true;
      case 'room.notes': void this.side('notes'); return true;
      case 'room.qr': { const d = $<HTMLDialogElement>('[data-sheet]')!; if (d.open) d.close(); else d.showModal(); return true; }
      case 'room.close': $<HTMLDialogElement>('[data-sheet]')!.close(); this.tracer.focus({ preventScroll: true }); return true;
      default: return false;
    }
  }

  /** The panel beside the tracer; its code comes when it is first shown. */
  private async side(kind: 'tasks' | 'notes', on?: boolean): Promise<void> {
    if (!this.teacher && !this.state?.tasks) { this.say('The exercises are not open yet.'); return; }
    try {
      const { Panel } = await import('./roompanel');
      this.panel ??= new Panel(this, $('.rm-side')!, (m) => this.link.send(m));
    } catch { this.say('That part of the page did not arrive. Check that Glassbox is still running, then try again.'); return; }
    this.panel.show(this.panel.kind === kind && on !== true ? null : on === false ? null : kind);
    $('.rm-main')!.classList.toggle('open', this.panel.kind !== null);
    this.paint();
  }

  private async ask(form: HTMLFormElement): Promise<void> {
    const input = form.querySelector('input')!, button = form.querySelector('button')!, prompt = input.value.trim();
    if (!prompt) return;
    button.disabled = true;
    try {
      const id = await traceNow(prompt, document.body.dataset['model'] || undefined, 48);
      this.setAlong(false);
      const s = $<HTMLSelectElement>('[data-recordings]');
      s?.prepend(new Option(`${id}: ${prompt.slice(0, 60)}`, id, true, true));
      this.open(id, true, true);
      input.value = '';
      this.tracer.focus({ preventScroll: true });
    } catch (e) { this.say(`Not traced: ${(e as Error).message}`); }
    button.disabled = false;
  }

  /** again tells a new connection what the old one knew. */
  private again(): void {
    if (this.teacher) return;
    if (!this.along) this.link.send('{"type":"along","along":false}');
    for (const task of solved()) this.link.send(JSON.stringify({ type: 'done', task, done: true }));
  }

  private lost(why: string): void { this.status(why); }

  private status(text: string): void {
    const el = $('[data-people], [data-along]')!;
    el.textContent = text;
    el.classList.add('off');
  }

  private paint(): void {
    const s = this.state;
    if (!s || !this.link.up) return;
    const pressed = (what: string, on: boolean): void => $(`[data-do="${what}"]`)?.setAttribute('aria-pressed', String(on));
    const ask = $('[data-ask]'), select = $<HTMLSelectElement>('[data-recordings]');
    if (ask) ask.hidden = this.teacher ? s.you !== 'teacher' : s.quiet;
    if (select && this.tracer.recordingId) {
      const id = this.tracer.recordingId;
      if (![...select.options].some((o) => o.value === id)) select.prepend(new Option(`${id}: ${this.tracer.recording?.name.slice(0, 60) ?? ""}`, id));
      select.value = id;
    }
    if (this.teacher) {
      if (s.you !== 'teacher') return;
      const el = $('[data-people]')!, p = s.people ?? { here: 0, along: 0, done: [] };
      el.classList.remove('off');
      el.textContent = `${p.here} here${p.here ? p.along === p.here ? ', all with you' : `, ${p.along} with you` : ''}`;
      const quiet = $('[data-do="quiet"]')!;
      quiet.textContent = s.quiet ? 'prompts closed' : 'prompts open';
      pressed('quiet', !s.quiet);
      pressed('tasks', s.tasks);
      pressed('notes', this.panel?.kind === 'notes');
      return;
    }
    const el = $('[data-along]')!, r = this.tracer.recording, p = new URLSearchParams(s.query), i = r && this.tracer.recordingId === s.recording ? r.stepIndex.get(p.get('step') ?? '') : undefined;
    el.classList.toggle('off', !this.along);
    el.textContent = this.along ? 'With the teacher' : `On your own. Teacher: ${i === undefined ? s.recording || 'not there yet' : `step ${i + 1}, ${r!.steps[i]!.title}`}`;
    $('[data-back]')!.textContent = this.along ? 'let go' : 'back to the teacher';
    pressed('back', this.along);
    const tasks = $('[data-do="panel"]')!;
    tasks.hidden = !s.tasks;
    pressed('panel', this.panel?.kind === 'tasks');
    if (!s.tasks && this.panel?.kind === 'tasks') void this.hide();
  }

  private hide(): void {
    this.panel?.show(null);
    $('.rm-main')!.classList.remove('open');
  }

  /** say tells it where the page tells such things, and to a screen reader. */
  say(text: string): void {
    const el = $('[data-heard]')!;
    el.textContent = text;
    this.tracer.say(text);
  }
}
