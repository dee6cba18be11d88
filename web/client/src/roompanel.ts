// The panel beside the tracer in a workshop: exercises for everybody, notes
// for the teacher.
import { arrayOf } from './fetcharray';
import { esc } from './format';
import { keep, solved, type RoomPage } from './room';
import { INITIAL } from './state';
import { TASK_RECORDING, TASKS } from './tasks';
import { fromParams } from './url';

export class Panel {
  kind: 'tasks' | 'notes' | null = null;
  private done = new Set(solved());
  private notes: Record<string, string> | null = null;
  private file = '';
  private step = '';
  private saving: ReturnType<typeof setTimeout> | undefined;

  constructor(private page: RoomPage, private el: HTMLElement, private send: (m: string) => void) {
    el.addEventListener('submit', (e) => { e.preventDefault(); void this.answer(e.target as HTMLFormElement); });
    el.addEventListener('click', (e) => { const b = (e.target as Element).closest('[data-start]'); if (b) this.start(Number(b.getAttribute('data-start'))); });
    el.addEventListener('input', (e) => { if ((e.target as Element).matches('textarea')) this.typed(); });
    el.addEventListener('focusout', () => void this.save());
  }

  show(kind: Panel['kind']): void {
    void this.save();
    this.kind = kind;
    this.el.hidden = kind === null;
    this.step = '';
    if (kind === 'tasks') this.tasks();
    if (kind === 'notes') void this.openNotes();
    if (kind === null) this.page.tracer.focus({ preventScroll: true });
    else this.el.querySelector<HTMLElement>('textarea, [data-start]')?.focus({ preventScroll: true });
  }

  /** changed is called when the playhead or the room has moved. */
  changed(): void {
    if (this.kind === 'notes') this.note();
    if (this.kind !== 'tasks') return;
    const here = this.here();
    for (const e of this.el.querySelectorAll('[data-here]')) if (e.textContent !== here) e.textContent = here;
    const p = this.page.state?.people;
    if (this.page.teacher && p) this.el.querySelectorAll<HTMLElement>('[data-solved]').forEach((e, n) => {
      e.textContent = `${p.done[n] ?? 0} of ${p.here} have solved it`;
      e.nextElementSibling!.querySelector('i')!.style.width = `${p.here ? (100 * (p.done[n] ?? 0)) / p.here : 0}%`;
    });
  }

  private here(): string {
    const t = this.page.tracer, r = t.recording, s = t.state;
    if (!r || t.recordingId !== TASK_RECORDING) return 'another recording';
    const i = r.stepIndex.get(s.step) ?? 0;
    return `${r.steps[i]!.label}, L${s.layer}${s.view === 'attention' ? `, head ${s.head}` : ''}`;
  }

  private tasks(): void {
    this.el.innerHTML = `<h2>Exercises<button type="button" data-do="panel">close</button></h2><p class="s">Five questions to one recording. Each answer is checked against what was measured in it. Begin each from its start; the keys of the tracer work as ever.</p>${TASKS.map((t, n) => `<form class="rm-task${this.done.has(n) ? ' done' : ''}" data-task="${n}"><h3>${n + 1}. ${esc(t.title)}</h3><p>${esc(t.ask)}</p>${this.page.teacher ? '<p class="s" data-solved></p><div class="rm-bar2" aria-hidden="true"><i></i></div>' : ''}<button type="button" data-start="${n}" aria-label="Start exercise ${n + 1}">start</button> ${t.unit ? `<label>my answer <input name="n" inputmode="decimal" autocomplete="off" maxlength="12"> ${esc(t.unit)}</label>` : '<span class="s">my answer: <span data-here></span></span>'} <button class="rm-go" aria-label="Check exercise ${n + 1}">check</button><p data-said role="status">${this.done.has(n) ? 'Solved.' : ''}</p></form>`).join('')}`;
    this.changed();
  }

  private start(n: number): void {
    const page = this.page, t = page.tracer, to = (): void => t.set(fromParams(new URLSearchParams(TASKS[n]!.start), INITIAL));
    page.setAlong(false);
    if (t.recordingId === TASK_RECORDING && t.recording) to();
    else {
      const ready = (): void => { if (t.recordingId === TASK_RECORDING) { t.removeEventListener('glassbox-ready', ready); to(); } };
      t.addEventListener('glassbox-ready', ready);
      page.open(TASK_RECORDING);
    }
    t.focus({ preventScroll: true });
  }

  private async answer(form: HTMLFormElement): Promise<void> {
    const n = Number(form.dataset['task']), task = TASKS[n]!, t = this.page.tracer, r = t.recording, said = form.querySelector('[data-said]')!;
    form.classList.remove('no');
    if (!r || t.recordingId !== TASK_RECORDING) { said.textContent = 'Press start first: the question is about another recording.'; return; }
    const typed = task.unit ? Number(form.querySelector('input')!.value.trim().replace(',', '.') || NaN) : NaN;
    try {
      const v = await task.check(r, t.state, typed, (name) => arrayOf(r, name, t.getAttribute('src')));
      said.textContent = v.say;
      form.classList.toggle('no', !v.ok);
      if (v.ok) { this.done.add(n); form.classList.add('done'); this.tell(n, true); }
    } catch (e) { said.textContent = `It could not be checked: ${(e as Error).message}.`; }
    keep('glassbox.tasks', JSON.stringify([...this.done]));
  }

  private tell(task: number, done: boolean): void { if (!this.page.teacher) this.send(JSON.stringify({ type: 'done', task, done })); }

  private async openNotes(): Promise<void> {
    this.el.innerHTML = '<h2>Notes<button type="button" data-do="notes">close</button></h2><p class="s" data-for></p><p><textarea aria-label="Note for this step" spellcheck="true" maxlength="8000"></textarea></p><p class="s" role="status" data-kept></p>';
    this.el.querySelector<HTMLElement>('textarea')!.focus({ preventScroll: true });
    const res = await fetch('/api/workshop/notes').catch(() => null), body = (await res?.json().catch(() => null)) as { file?: string; notes?: Record<string, string>; error?: { message: string } } | null;
    if (!res?.ok || !body?.notes) { this.kept(body?.error?.message ?? 'The notes could not be read: the server does not answer.'); return; }
    this.notes = body.notes;
    this.file = body.file ?? '';
    this.step = '';
    this.note();
  }

  private kept(text: string): void { const k = this.el.querySelector('[data-kept]'); if (k) k.textContent = text; }

  /** note shows that of the step under the playhead. */
  private note(): void {
    const r = this.page.tracer.recording, step = this.page.tracer.state.step, box = this.el.querySelector('textarea');
    if (!r || !box || !this.notes || this.step === step) return;
    void this.save();
    this.step = step;
    const i = r.stepIndex.get(step) ?? 0;
    this.el.querySelector('[data-for]')!.textContent = `Step ${i + 1}, ${r.steps[i]!.title}. Only you see this.`;
    box.value = this.notes[step] ?? '';
    this.kept(`Kept in ${this.file}`);
  }

  private typed(): void {
    clearTimeout(this.saving);
    this.saving = setTimeout(() => void this.save(), 600);
  }

  private async save(): Promise<void> {
    clearTimeout(this.saving);
    const box = this.el.querySelector('textarea'), step = this.step;
    if (!box || !step || !this.notes || (this.notes[step] ?? '') === box.value) return;
    const text = (this.notes[step] = box.value);
    const res = await fetch(`/api/workshop/notes/${encodeURIComponent(step)}`, { method: 'PUT', body: text }).catch(() => null);
    if (res?.ok) this.kept(`Kept in ${this.file}`);
    else this.kept(((await res?.json().catch(() => null)) as { error?: { message: string } } | null)?.error?.message ?? 'Not kept: the server does not answer.');
  }
}
