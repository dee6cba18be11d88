// Watches /api/stops while a live request is on the page, and carries out
// what the panel is told. It does not draw: it calls back.
import { blockOf, FORM, left, type StopForm } from './stops-card';
import { numberOf, stopsApi, type StopState, type StopValues } from './stops';
import type { Recording } from './recording';

const EVERY = 300; // ms

export interface StopHost {
  recording(): Recording | null;
  /** id of the recording on the page */
  id(): string;
  /** something changed that is drawn */
  draw(): void;
  /** the engine has just stopped at a place of this page's request */
  arrived(st: StopState): void;
  root(): ParentNode | null;
}

export class StopWatch {
  state: StopState | null = null;
  values: StopValues | null = null;
  form: StopForm = { ...FORM };
  private timer: ReturnType<typeof setTimeout> | undefined;
  private seen = '';
  private on = false;
  private at = 0;
  version = 0;

  constructor(private host: StopHost) {}

  start(): void { if (!this.on) { this.on = true; void this.look(); } }

  stop(): void {
    this.on = false;
    clearTimeout(this.timer);
    this.state = this.values = null;
    this.seen = '';
    this.form = { ...FORM, log: [] };
  }

  /** ours tells whether this page's request stands still. */
  get ours(): boolean { return !!this.state?.paused && !!this.state.at && this.state.trace === this.host.id(); }
  /** theirs tells whether another request does, so that this one waits. */
  get theirs(): boolean { return !!this.state?.paused && !!this.state.at && this.state.trace !== this.host.id(); }

  private async look(): Promise<void> {
    clearTimeout(this.timer);
    try { await this.take(await stopsApi.state()); } catch { /* the next look may reach the server again */ }
    if (this.on) this.timer = setTimeout(() => void this.look(), EVERY);
  }

  private async take(st: StopState | null): Promise<void> {
    if (!this.on) return;
    const was = this.ours || this.theirs;
    this.state = st;
    this.at = performance.now();
    const now = st?.paused && st.at ? `${st.id}/${st.pass}/${st.at.op}/${st.at.layer}/${st.at.token}` : '';
    if (now === this.seen) { this.tick(); if (was !== (this.ours || this.theirs)) this.redraw(); return; }
    this.seen = now;
    this.values = null;
    if (this.ours) {
      this.form = { ...FORM, part: st!.out?.[0]?.id ?? st!.in?.[0]?.id ?? '', log: this.form.log };
      this.host.arrived(st!);
      await this.fetch();
    } else this.redraw();
  }

  private redraw(): void { this.version++; this.host.draw(); }

  /** The rest of the time is written without a new drawing, so that what is typed stays. */
  private tick(): void {
    const el = this.host.root()?.querySelector('[data-left]');
    if (el && this.state) el.textContent = left(this.state.left_ms - (performance.now() - this.at));
  }

  private async fetch(): Promise<void> {
    const st = this.state, part = this.form.part;
    if (!st || !part) { this.redraw(); return; }
    try { this.values = await stopsApi.values(st.id, part); } catch (e) { this.form.error = (e as Error).message; }
    this.clamp();
    this.redraw();
  }

  private get size(): number { return this.values?.values.length ?? 0; }

  private clamp(): void {
    const f = this.form, n = this.size;
    f.index = Math.max(0, Math.min(n - 1, Math.round(f.index) || 0));
    f.count = Math.max(1, Math.min(n - f.index, Math.round(f.count) || 1));
  }

  typed(name: string, text: string): void {
    if (name === 'value') this.form.value = text;
    else if (name === 'index') this.form.index = Number(text);
    else if (name === 'count') this.form.count = Number(text);
  }

  choose(index: number, whole = false, values = 1): void {
    const b = this.values && this.host.recording() ? blockOf(this.host.recording()!, this.values) : null;
    this.form.index = whole && b ? Math.floor(index / b.size) * b.size : index;
    this.form.count = whole && b ? b.size : values;
    this.form.error = '';
    this.clamp();
    this.redraw();
  }

  part(id: string): void { this.form = { ...this.form, part: id, index: 0, count: 1, error: '' }; this.values = null; void this.fetch(); }

  /** act does what a button or key says; false when nothing stands still. */
  act(what: string): boolean {
    if (!this.ours) return false;
    const f = this.form, st = this.state!;
    this.clamp();
    switch (what) {
      case 'block': this.choose(f.index, true); return true;
      case 'all': f.index = 0; f.count = this.size; this.redraw(); return true;
      case 'zero': void this.edit({ zero: true }); return true;
      case 'set': case 'scale': {
        const v = Number(f.value.replace('\u2212', '-').replace(',', '.'));
        if (f.value.trim() === '' || !Number.isFinite(v)) { f.error = `Type a number first; "${f.value}" is none.`; this.redraw(); return true; }
        void this.edit(what === 'set' ? { values: [v] } : { scale: v });
        return true;
      }
      case 'hold': void this.run(() => stopsApi.hold(st.id)); return true;
      default: void this.run(() => stopsApi.resume(st.id, what)); return true;
    }
  }

  private async run(f: () => Promise<unknown>): Promise<void> {
    this.form.error = '';
    try { await f(); } catch (e) { this.form.error = (e as Error).message; this.redraw(); }
    await this.look();
  }

  private async edit(c: { values?: number[]; scale?: number; zero?: true }): Promise<void> {
    const f = this.form, st = this.state!;
    f.error = '';
    try {
      const e = await stopsApi.edit(st.id, { part: f.part, index: f.index, count: f.count, ...c });
      const range = f.count === 1 ? `${f.index}` : `${f.index} to ${f.index + f.count - 1}`, some = f.count === 1 ? `${numberOf(e.old[0]!).toPrecision(4)} is ${numberOf(e.new[0]!).toPrecision(4)}` : c.zero ? 'are zero' : c.scale !== undefined ? `are times ${c.scale}` : `are ${c.values![0]}`;
      f.log = [`${st.at!.op}${st.at!.layer >= 0 ? ` L${st.at!.layer}` : ''}, token ${st.at!.token}: ${f.count === 1 ? 'value' : 'values'} ${range}${f.count === 1 ? ':' : ''} ${some}`, ...f.log].slice(0, 8);
    } catch (e) { f.error = (e as Error).message; }
    await this.fetch();
  }
}
