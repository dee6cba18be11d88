// View 9, Compare: this recording and a second one side by side. The answers
// with the place where they part, the leading words at the word under the
// playhead, the steps by how much their time differs, the lens cell by cell.
import { again, notOffered, runAgain } from '../ablate';
import { esc, exactNs, signs, time, tokenText, badge } from '../format';
import { goPosition, positionOf, positionOfWord, wordAt } from '../position';
import { stillRunning, hasLens } from './missing';
import type { Recording } from '../recording';
import { at, goStep, type State } from '../state';
import { toHref } from '../url';
import { choices, nextOf, pressBar, keepFocus, type Choice } from './attention-bar';
import { opt } from './attention-opts';
import { adoptCss, hostOf, removeView } from './attention-state';
import { compareCard, numbers, sentence, sideName } from './compare-card';
import { leading, lensDiff, LEAST_RUNS, likePasses, parting, sameModel, stepDiffs, WHOLE, wordChanges, type LensDiff, type Scope, type StepDiff, type WordChange } from './compare-data';
import { changeText, comparePicture, lensBox, lensDiffSvg, percent, rangeAxis, rangeSvg, signedTime, spreadText, wordsHeight, wordsSvg, type LensBox } from './compare-draw';
import { addressOfSecond, FILE, listed, openFile, second, secondNow } from './compare-load';
import { pickHtml, type PickState } from './compare-pick';
import { lensNow, lensOf, type Lens } from './lens-data';
import shared from '../../../../static/css/attention.css';
import sheet from '../../../../static/css/compare.css';
import type { Table, View, ViewContext, ViewKind } from './view';
import { place } from '../site';

export const compareView: ViewKind = {
  n: 9, id: 'compare', title: 'Compare',
  missing: stillRunning,
  mount: (body, ctx) => new CompareView(body, ctx),
};

const CHOICES: readonly Choice[] = [{ name: 'times', label: 'times of', values: [['', 'a decode pass'], ['prefill', 'the prefill'], ['once', 'steps outside passes']] }];
const MOST_WORDS = 8, PLOT = 132, ROW = 20;

export const scopeOf = (s: State): Scope => { const v = opt(s, 'times'); return v === 'prefill' || v === 'once' ? v : 'decode'; };

/** wordUnder is the word of the answer at the playhead, or the first one while the prompt is read. */
export const wordUnder = (r: Recording, s: State): number => Math.max(0, wordAt(r, positionOf(r, s)));

interface Pair { a: Recording; b: Recording; la: Lens | null; lb: Lens | null }

export function compareTable(q: Pair, s: State): Table {
  const { a, b } = q, k = wordUnder(a, s), scope = scopeOf(s), rows: (string | number)[][] = [], d = parting(a, b);
  for (const n of numbers(a, b)) rows.push(['request', n.name, n.a, n.b, n.b - n.a, '', '', 'ns, one request each']);
  for (const w of words(q, k) ?? []) rows.push([`word ${k + 1}`, w.text, w.a ?? `<${w.mostA}`, w.b ?? `<${w.mostB}`, w.delta === null ? '' : changeText(w), '', '', 'probability']);
  for (const x of stepDiffs(a, b, scope)) rows.push([`time, ${scope}`, x.label, x.a?.median ?? '', x.b?.median ?? '', x.delta ?? '', spread(x.a), spread(x.b), x.news === null ? 'ns; too few runs for a spread' : x.news ? 'ns; outside the spread' : 'ns; within the spread']);
  for (let i = 0; i < Math.max(a.output.length, b.output.length); i++) rows.push(['answer', i + 1, a.output[i] ? tokenText(a.output[i]!) : '', b.output[i] ? tokenText(b.output[i]!) : '', '', '', '', i === d ? 'the answers part here' : a.output[i]?.id === b.output[i]?.id ? '' : 'differs']);
  const ld = q.la && q.lb ? lensDiff(q.la, q.lb) : null;
  if (ld && typeof ld !== 'string') for (let l = 0; l < ld.layers; l++) for (let p = 0; p < ld.alike; p++) if (ld.cells[l * ld.n + p] === 1) rows.push(['lens', `L${l}, position ${p}`, q.la!.text(q.la!.lead({ layer: l, half: 'F' }, p)), q.lb!.text(q.lb!.lead({ layer: l, half: 'F' }, p)), '', '', '', 'another word']);
  return { caption: `A: ${sideName(a, b)}. B: ${sideName(b, a)}. ${sentence(a, b)} Times are medians, derived from measured runs, with the quartiles of the runs beside them.`, head: ['what', 'item', 'A', 'B', 'B − A', 'spread of A', 'spread of B', 'note'], rows, now: rows.findIndex((x) => String(x[0]).startsWith('time') && x[1] === stepDiffs(a, b, scope).find((d) => d.id === a.steps[at(a, s)]!.id)?.label) };
}

const spread = (x: StepDiff['a']): string => (x ? `${Math.round(x.q1)} to ${Math.round(x.q3)} ns, ${x.n} ${x.n === 1 ? 'run' : 'runs'}` : '');

export function words(q: Pair, k: number): WordChange[] | null {
  const x = leading(q.a, q.la, k), y = leading(q.b, q.lb, k);
  return x && y ? wordChanges(x, y, sameModel(q.a, q.b)) : null;
}

/** answerHtml is one answer, a button a token; what both say is quiet, the first difference is framed. */
export function answerHtml(r: Recording, d: number, k: number, side: string): string {
  return r.output.map((t, n) => {
    const text = t.text, lead = /^\s*/.exec(text)![0], blank = text.trim() === '', said = blank || t.bytes ? tokenText(t) : signs(text.slice(lead.length));
    const cls = [d < 0 || n < d ? 'same' : n === d ? 'first' : '', n === k ? 'now' : ''].filter(Boolean).join(' ');
    return `${!blank && lead ? ' ' : ''}<button data-word="${n}" data-k="${side}${n}" tabindex="${n === Math.min(k, r.output.length - 1) ? 0 : -1}" class="${cls}"${n === k ? ' aria-current="true"' : ''} title="token ${n + 1}, id ${t.id}${n === d ? ', the first that differs' : ''}">${esc(said)}</button>${text.includes('\n') ? '<br>' : ''}`;
  }).join('') + (d === r.output.length ? '<span class="first end">ends</span>' : '');
}

class CompareView implements View {
  private root = document.createElement('div');
  private bar = document.createElement('div');
  private room = document.createElement('div');
  private input = document.createElement('input');
  private pair: Pair | null = null;
  private wanted: string | null = null;
  private abort = new AbortController();
  private pick: PickState = { list: null, trouble: '', offered: undefined, error: '', here: [] };
  private drawn = { bar: '', body: '', words: '', times: '', lens: '', answers: '' };
  private diffs: StepDiff[] = [];
  private box: LensBox | null = null;
  private lens: LensDiff | string | null = null;
  private lensWait = '';
  private dead = false;

  constructor(private body: HTMLElement, private ctx: ViewContext) {
    adoptCss(body, shared);
    adoptCss(body, sheet);
    this.root.className = 'vw cp';
    this.bar.className = 'vw-bar';
    this.room.className = 'cp-room';
    this.input.type = 'file';
    this.input.accept = '.gbx,.json';
    this.input.hidden = true;
    this.root.append(this.bar, this.room, this.input);
    body.append(this.root);
    this.listen();
    void notOffered(ctx.recording, hostOf(body)).then((why) => { this.pick.offered = why; this.again(); });
  }

  private again(): void { if (!this.dead) { this.drawn = { bar: '', body: '', words: '', times: '', lens: '', answers: '' }; this.ctx.draw(); } }

  /** start brings the recording that the state names. */
  private start(id: string): void {
    this.wanted = id;
    this.abort.abort();
    this.abort = new AbortController();
    const mine = this.abort, a = this.ctx.recording;
    this.pair = null;
    this.lens = null;
    if (!id) { this.choose(); return; }
    const had = secondNow(id);
    if (had) { this.ready(a, had, id); return; }
    second(id, mine.signal).then((b) => { if (!mine.signal.aborted) this.ready(a, b, id); }, (e: Error & { remedy?: string }) => {
      if (mine.signal.aborted) return;
      this.pick.error = `${e.message} ${e.remedy ?? ''}`.trim();
      this.choose();
    });
  }

  private choose(): void {
    this.pair = null;
    const r = this.ctx.recording, src = hostOf(this.body).getAttribute('src') ?? '';
    this.pick.here = [r.file.id ?? '', decodeURIComponent(src.split(/[?#]/)[0]!.split('/').pop() ?? '').replace(/\.(json|gbx)$/, ''), decodeURIComponent(/\/trace\/([^/]+)/.exec(location.pathname)?.[1] ?? '')].filter(Boolean);
    if (!/^https?:$/.test(location.protocol) || !hostOf(this.body).hasAttribute('page')) this.pick.trouble = 'There is no server behind this page, so it knows of no other recordings. Open one from a file.';
    else listed().then((list) => { this.pick.list = list; this.again(); }, (e: Error) => { this.pick.trouble = `The list of recordings did not come: ${e.message}. Open one from a file.`; this.again(); });
    this.again();
  }

  private ready(a: Recording, b: Recording, id: string): void {
    this.pick.error = '';
    this.pair = { a, b, la: null, lb: null };
    this.lensWait = '';
    if (hasLens(a) && hasLens(b)) this.lensWait = 'Fetching the lens of both';
    const mine = this.abort, src = hostOf(this.body).getAttribute('src'), of = (r: Recording, from: string | null): Promise<Lens | null> => (hasLens(r) ? Promise.resolve(lensNow(r)).then((n) => n ?? lensOf(r, from)) : Promise.resolve(null));
    Promise.all([of(a, src), of(b, id.startsWith(FILE) ? null : addressOfSecond(id))]).then(([la, lb]) => {
      if (mine.signal.aborted) return;
      this.pair = { a, b, la, lb };
      this.lens = la && lb ? lensDiff(la, lb) : null;
      this.lensWait = '';
      this.again();
    }, (e: Error) => { if (!mine.signal.aborted) { this.lensWait = `The lens did not come: ${e.message}`; this.again(); } });
    this.again();
  }

  update(): void {
    const { state: s } = this.ctx;
    if (this.wanted !== s.with) this.start(s.with);
    const q = this.pair;
    this.drawBar(q);
    if (!q) { this.drawWaiting(); return; }
    const k = wordUnder(q.a, s), scope = scopeOf(s);
    this.frame();
    this.drawAnswers(q, k);
    this.drawWords(q, k);
    this.drawTimes(q, scope);
    this.drawLens(q);
  }

  private put(key: keyof CompareView['drawn'], sig: string, el: Element | null, html: () => string): boolean {
    if (!el || this.drawn[key] === sig) return false;
    this.drawn[key] = sig;
    keepFocus(el as HTMLElement, html());
    return true;
  }

  private drawBar(q: Pair | null): void {
    const s = this.ctx.state, id = s.with.startsWith(FILE) ? s.with.slice(FILE.length) : s.with;
    this.put('bar', `${!!q}/${s.opts}/${s.with}/${this.pick.offered}`, this.bar, () => (q ? `${choices(CHOICES, s)}<span class="seg"><button data-own="pick" data-k="pick" title="${esc(id)}">another recording <kbd>w</kbd></button>${this.pick.offered === null ? '<button data-cmd="ablate" data-k="ablate">knock out <kbd>Shift K</kbd></button>' : ''}</span>` : ''));
    this.bar.hidden = !q;
  }

  private drawWaiting(): void {
    const id = this.ctx.state.with, wait = !!id && !this.pick.error;
    if (wait) this.put('body', `wait/${id}`, this.room, () => `<div class="state" role="status"><h2>Loading the second recording</h2><p class="m">${esc(id)}</p><div class="acts"><button data-own="pick" data-k="pick">Choose another</button></div></div>`);
    else this.put('body', `pick/${JSON.stringify(this.pick)}`, this.room, () => pickHtml(this.ctx.recording, this.pick));
  }

  private frame(): void {
    const q = this.pair!;
    if (!this.put('body', `both/${this.wanted}`, this.room, () => `<div class="cp-ans">${[q.a, q.b].map((r, n) => `<section aria-label="Answer of ${'AB'[n]}"><h2><i class="cp-${'ab'[n]}" aria-hidden="true"></i><b>${'AB'[n]}</b><span>${esc(sideName(r, n ? q.a : q.b))}</span></h2><p class="cp-t" data-side="${'ab'[n]}"></p></section>`).join('')}</div><p class="cp-say"></p><div class="cp-cols"><div class="cp-left"><h3 class="cp-wt"></h3><div class="cp-w"></div><h3 class="cp-lt"></h3><div class="cp-l" tabindex="0" role="group" aria-label="The lens of both. Arrows move the cell."></div><p class="cp-cell" role="status"></p></div><div class="cp-right"><h3 class="cp-st"></h3><div class="cp-s" tabindex="0" role="region" aria-label="Steps by how much their time differs"></div></div></div>`)) return;
    this.drawn.answers = this.drawn.words = this.drawn.times = this.drawn.lens = '';
    const l = this.room.querySelector<HTMLElement>('.cp-l')!;
    l.addEventListener('keydown', (e) => this.lensKey(e));
    l.addEventListener('pointerdown', (e) => this.lensPress(e));
  }

  private $(sel: string): HTMLElement { return this.room.querySelector<HTMLElement>(sel)!; }

  private drawAnswers(q: Pair, k: number): void {
    const d = parting(q.a, q.b);
    if (this.drawn.answers === `${k}`) return;
    this.drawn.answers = `${k}`;
    for (const [n, r] of [q.a, q.b].entries()) {
      const el = this.$(`[data-side="${'ab'[n]}"]`);
      keepFocus(el, answerHtml(r, d, k, 'ab'[n]!));
      const now = el.querySelector<HTMLElement>('.now') ?? el.querySelector<HTMLElement>('.first');
      if (now && (now.offsetTop < el.scrollTop || now.offsetTop + 20 > el.scrollTop + el.clientHeight)) el.scrollTop = now.offsetTop - 24;
    }
    const at0 = (r: Recording): string => (r.output[d] ? `<b class="mono">${esc(tokenText(r.output[d]!))}</b>` : 'nothing');
    this.$('.cp-say').innerHTML = `${esc(sentence(q.a, q.b))}${d >= 0 ? ` A says ${at0(q.a)}, B says ${at0(q.b)}. <button data-word="${Math.min(d, q.a.output.length - 1)}" data-k="part">Go there</button>` : ''}`;
  }

  private drawWords(q: Pair, k: number): void {
    const el = this.$('.cp-w'), W = el.clientWidth / this.ctx.scale, list = words(q, k)?.slice(0, this.shown) ?? null, d = parting(q.a, q.b);
    if (!this.put('words', `${k}/${W}/${this.lensWait}/${!!q.la}/${!!q.lb}/${this.shown}`, el, () => {
      if (!list) return `<p class="s">${this.noWords(q)}</p>`;
      const H = wordsHeight(list.length);
      return `<svg viewBox="0 0 ${W} ${H}" width="${W * this.ctx.scale}" height="${H * this.ctx.scale}" role="img" aria-label="${esc(list.map((w) => `${w.text}: A ${w.a?.toFixed(3) ?? 'not listed'}, B ${w.b?.toFixed(3) ?? 'not listed'}`).join('; '))}">${wordsSvg(list, this.said(q, k), W)}</svg>${d >= 0 && k > d ? '<p class="s">The answers parted before this word, so the two no longer continue the same text.</p>' : ''}`;
    })) return;
    this.$('.cp-wt').innerHTML = `${this.wordTitle(q, k)}${badge('measured', 'softmax of the logits')}`;
  }

  private get shown(): number { return this.body.clientHeight / this.ctx.scale < 620 ? 6 : MOST_WORDS; }
  private wordTitle(q: Pair, k: number): string { const t = q.a.output[k - 1] ?? q.a.prompt.at(-1); return `Leading words at token ${k + 1}${t ? `, after <span class="mono">${esc(tokenText(t))}</span>` : ''}`; }

  private said(q: Pair, k: number): { a: string; b: string } {
    const ids = sameModel(q.a, q.b), key = (r: Recording): string => { const t = r.output[k]; return t ? (ids ? String(t.id) : tokenText(t)) : ''; };
    return { a: key(q.a), b: key(q.b) };
  }

  private noWords(q: Pair): string {
    if (this.lensWait) return esc(this.lensWait);
    if (wordUnder(q.a, this.ctx.state) >= q.b.output.length) return 'B ends before this word.';
    const none = [q.a, q.b].filter((r) => !hasLens(r) && !r.output.some((t) => (t as { top?: unknown[] }).top?.length)).map((r) => (r === q.a ? 'A' : 'B'));
    return `${none.join(' and ') || 'One of them'} does not hold the leading words. A request with <code>"capture": ["lens"]</code> or <code>"logprobs"</code> does.`;
  }

  private drawTimes(q: Pair, scope: Scope): void {
    const el = this.$('.cp-s'), s = this.ctx.state, step = q.a.steps[at(q.a, s)]!.id;
    if (this.put('times', `${scope}`, el, () => { this.diffs = stepDiffs(q.a, q.b, scope); return this.timesHtml(q, scope); })) {
      const [pa, pb] = likePasses(q.a, q.b, scope), news = this.diffs.filter((d) => d.news && d.id !== WHOLE).length, told = this.diffs.filter((d) => d.news !== null && d.id !== WHOLE).length;
      this.$('.cp-st').innerHTML = `Time by step<span class="s">${scope === 'decode' ? `, a decode pass: ${told ? `${news} of ${told} outside the spread of ${pa.length} passes` : `${pa.length} and ${pb.length} passes, too few for a spread`}` : scope === 'prefill' ? ', one prefill each: no spread' : ', a run outside of passes'}</span>`;
    }
    for (const old of el.querySelectorAll('.now')) { old.classList.remove('now'); old.removeAttribute('aria-current'); }
    const now = el.querySelector<HTMLElement>(`tr[data-row="${step}"]`);
    now?.classList.add('now');
    now?.setAttribute('aria-current', 'true');
    if (now && (now.offsetTop < el.scrollTop + 24 || now.offsetTop + ROW > el.scrollTop + el.clientHeight)) el.scrollTop = Math.max(0, now.offsetTop - el.clientHeight / 2);
  }

  private timesHtml(q: Pair, scope: Scope): string {
    if (!this.diffs.length) return `<p class="s">${q.a.clocked && q.b.clocked ? 'Neither recording has such steps.' : 'Not measured: an emulated device ran one of them.'}</p>`;
    let h = `<table><thead><tr><th scope="col">step</th><th scope="col" class="r">A${badge('derived', 'median of measured runs')}</th><th scope="col" class="r">B${badge('derived', 'median of measured runs')}</th><th scope="col" class="r">B − A</th><th scope="col" class="p"><svg width="${PLOT}" height="20" role="img" aria-label="multiples of A's median">${rangeAxis(PLOT, 20)}</svg></th></tr></thead><tbody>`, part = '';
    for (const d of this.diffs) {
      const p = d.id === WHOLE ? '' : d.delta === null ? 'in one of them only' : d.news === true ? 'outside the spread' : d.news === false ? 'within the spread: no difference to speak of' : `fewer than ${LEAST_RUNS} runs: no spread known`;
      if (p !== part) { part = p; h += `<tr class="cp-g"><th scope="rowgroup" colspan="5">${p}</th></tr>`; }
      h += `<tr data-row="${esc(d.id)}" class="${d.news === true ? 'news' : ''}${d.id === WHOLE ? ' whole' : ''}"><td>${d.id === WHOLE ? esc(d.label) : `<button data-step="${esc(d.id)}" tabindex="-1">${esc(d.label)}</button>`}</td><td class="r" title="${d.a ? `${exactNs(d.a.median)}; ${spreadText(d.a)}` : 'not there'}">${d.a ? time(d.a.median) : '–'}</td><td class="r" title="${d.b ? `${exactNs(d.b.median)}; ${spreadText(d.b)}` : 'not there'}">${d.b ? time(d.b.median) : '–'}</td><td class="r" title="${d.delta === null ? '' : exactNs(d.delta)}">${d.delta === null ? '–' : signedTime(d.delta)}</td><td class="p"><svg width="${PLOT}" height="${ROW}" role="img" aria-label="middle half of the runs: A ${spreadText(d.a)}; B ${spreadText(d.b)}">${rangeSvg(d, PLOT, ROW)}</svg></td></tr>`;
    }
    return `${h}</tbody></table>${scope === 'decode' ? '<p class="s">Marks at the medians, lines over the middle half of the runs, as multiples of A’s median. Only the decode passes that both have are held against each other, so that the caches are of like length.</p>' : ''}`;
  }

  private get cell(): { layer: number; pos: number } { const r = this.ctx.recording, s = this.ctx.state; return { layer: s.layer, pos: positionOf(r, s) }; }

  private drawLens(q: Pair): void {
    const el = this.$('.cp-l'), d = this.lens, W = el.clientWidth / this.ctx.scale, H = el.clientHeight / this.ctx.scale, c = this.cell;
    el.tabIndex = d && typeof d !== 'string' ? 0 : -1;
    if (!this.put('lens', `${c.layer}/${c.pos}/${W}/${H}/${this.lensWait}/${!!d}`, el, () => {
      if (!d || typeof d === 'string') return `<p class="s">${this.lensWait ? esc(this.lensWait) : d ? esc(d) : this.noLens(q)}</p>`;
      this.box = lensBox(d, W, H);
      return `<svg viewBox="0 0 ${W} ${H}" width="${W * this.ctx.scale}" height="${H * this.ctx.scale}" aria-hidden="true">${lensDiffSvg(d, this.box, q.a.prompt.length, c)}</svg>`;
    })) return;
    const t = this.$('.cp-lt'), say = this.$('.cp-cell');
    if (!d || typeof d === 'string') { t.textContent = 'Lens'; say.textContent = ''; return; }
    t.innerHTML = this.lensTitle(d);
    const kind = d.cells[Math.min(d.layers - 1, c.layer) * d.n + c.pos], word = (l: Lens | null): string => (l && c.pos < l.n ? `<span class="mono">${esc(l.text(l.lead({ layer: Math.min(l.layers - 1, c.layer), half: 'F' }, c.pos)))}</span>` : 'nothing');
    say.innerHTML = `L${c.layer}, position ${c.pos}: ${kind === 2 ? `the texts differ before it. A ${word(q.la)}, B ${word(q.lb)}` : kind === 1 ? `A ${word(q.la)}, B ${word(q.lb)}` : `both ${word(q.la)}`}`;
  }

  private lensTitle(d: LensDiff): string { return `Lens<span class="s">, ${d.changed.toLocaleString('en')} of ${d.compared.toLocaleString('en')} cells say another word (${percent(d.changed, d.compared)})${d.first === null ? '' : `, from L${d.first}`}</span>${badge('derived', 'leading words of both, cell by cell')}`; }

  private noLens(q: Pair): string {
    const none = [q.a, q.b].filter((r) => !hasLens(r)).map((r) => (r === q.a ? 'A' : 'B')).join(' and '), can = this.pick.offered === null && sameModel(q.a, q.b) && q.b.file.engine.name === 'glassbox';
    return `${none} ${none.length > 1 ? 'do' : 'does'} not hold the lens, so the rows cannot be compared.${can ? ` <button data-own="lens" data-k="lens">Run ${none} again with it</button> <span data-lens-say role="status"></span>` : ''}`;
  }

  /** withLens runs the requests that hold no lens again, with it, and holds the new recordings against each other. */
  private async withLens(): Promise<void> {
    const q = this.pair, say = this.room.querySelector('[data-lens-say]'), button = this.room.querySelector<HTMLButtonElement>('[data-own="lens"]');
    if (!q || !button || button.disabled) return;
    button.disabled = true;
    const mine = this.abort, t0 = performance.now(), tick = setInterval(() => { if (say) say.textContent = `${((performance.now() - t0) / 1000).toFixed(1)} s`; }, 100);
    try {
      const ids: string[] = [];
      for (const r of [q.a, q.b]) ids.push(hasLens(r) ? '' : await runAgain(again(r, [], ['lens']), mine.signal, () => undefined));
      for (const id of ids) if (id) await second(id, mine.signal); // a recording is whole a moment after its answer
      const s = { ...this.ctx.state, with: ids[1] || this.ctx.state.with }, host = hostOf(this.body);
      if (!ids[0]) { this.ctx.set(s); return; }
      if (host.getAttribute('history') === 'query') location.assign(toHref(new URL(`/trace/${encodeURIComponent(ids[0])}`, location.href).toString(), s, 'query'));
      else { this.ctx.set(s); host.setAttribute('src', `/api/traces/${encodeURIComponent(ids[0])}.json?wait=60`); }
    } catch (e) {
      button.disabled = false;
      if (say && !mine.signal.aborted) say.textContent = `Not run: ${(e as Error).message}`;
    } finally { clearInterval(tick); }
  }

  private lensKey(e: KeyboardEvent): void {
    const c = this.cell, to: Record<string, [number, number]> = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }, go = to[e.key];
    if (e.ctrlKey || e.metaKey || e.altKey || typeof this.lens === 'string' || !this.lens) return;
    if (e.key === 'Escape') (hostOf(this.body) as HTMLElement).focus({ preventScroll: true });
    else if (e.key === 'Enter') this.ctx.set({ ...this.ctx.state, view: 'lens' });
    else if (go) this.toCell(c.layer + go[0], c.pos + go[1]);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  private toCell(layer: number, pos: number): void {
    const d = this.lens as LensDiff, r = this.ctx.recording;
    this.ctx.set({ ...goPosition(r, this.ctx.state, pos), layer: Math.max(0, Math.min(d.layers - 1, layer)) });
  }

  private lensPress(e: PointerEvent): void {
    const svg = this.$('.cp-l svg'), b = this.box;
    if (!svg || !b || typeof this.lens === 'string' || !this.lens) return;
    const q = svg.getBoundingClientRect(), k = this.ctx.scale;
    this.toCell(Math.floor(((e.clientY - q.top) / k - b.top) / b.ch), Math.floor(((e.clientX - q.left) / k - b.left) / b.cw));
    this.$('.cp-l').focus({ preventScroll: true });
    e.preventDefault();
  }

  private listen(): void {
    this.bar.addEventListener('click', (e) => { const s = pressBar(e.target as Element, this.ctx.state); if (s) { this.ctx.set(s); e.stopPropagation(); } });
    this.root.addEventListener('click', (e) => {
      const t = e.target as Element, r = this.ctx.recording, s = this.ctx.state, near = (a: string): string | null => t.closest(`[${a}]`)?.getAttribute(a) ?? null;
      const own = near('data-own'), id = near('data-with'), word = near('data-word'), step = near('data-row');
      if (own === 'file') this.input.click();
      else if (own === 'pick') this.other();
      else if (own === 'lens') void this.withLens();
      else if (id) this.ctx.set({ ...s, with: id });
      else if (word) this.ctx.set(goPosition(r, s, positionOfWord(r, Math.min(Number(word), r.output.length - 1))));
      else if (step && r.stepIndex.has(step)) this.ctx.set(goStep(r, s, r.stepIndex.get(step)!));
      if (t.closest('.cp-l')) e.stopPropagation(); // the focus stays on the cell
    });
    this.input.addEventListener('change', () => { const f = this.input.files?.[0]; if (f) void this.take(f); });
    this.root.addEventListener('dragover', (e) => { e.preventDefault(); this.root.classList.add('drop'); });
    this.root.addEventListener('dragleave', () => this.root.classList.remove('drop'));
    this.root.addEventListener('drop', (e) => { e.preventDefault(); this.root.classList.remove('drop'); const f = e.dataTransfer?.files[0]; if (f) void this.take(f); });
  }

  private other(): void { this.pick.error = ''; if (this.ctx.state.with) this.ctx.set({ ...this.ctx.state, with: '' }); else this.choose(); }

  private async take(f: File): Promise<void> {
    try {
      const id = await openFile(f);
      this.wanted = null; // a file of the same name may hold another recording
      if (this.dead) return;
      if (id === this.ctx.state.with) this.ctx.draw(); else this.ctx.set({ ...this.ctx.state, with: id });
    } catch (e) {
      this.pick.error = `${(e as Error).message} ${(e as { remedy?: string }).remedy ?? ''}`.trim();
      if (this.pair) this.ctx.say(this.pick.error); else this.again();
    }
    this.input.value = '';
  }

  /** Arrows walk the steps in the order of their difference. */
  command(id: string): boolean {
    const { recording: r, state: s } = this.ctx, list = this.pair ? this.diffs.filter((d) => r.stepIndex.has(d.id)) : [];
    const go = (n: number): true => { const d = list[Math.max(0, Math.min(list.length - 1, n))]!; this.ctx.set(goStep(r, s, r.stepIndex.get(d.id)!)); return true; };
    const now = list.findIndex((d) => d.id === s.step);
    if (id === 'compare.times') { if (this.pair) this.ctx.set(nextOf(CHOICES, 'times', s)); return true; }
    if (id === 'compare.with') { this.other(); return true; }
    if (id === 'value.copy' && this.pair) { void this.copy(); return true; }
    if (!list.length || s.depth !== 'step') return false;
    if (id === 'next') return go(now + 1);
    if (id === 'prev') return go(now < 0 ? 0 : now - 1);
    if (id === 'first') return go(0);
    return id === 'last' ? go(list.length - 1) : false;
  }

  private async copy(): Promise<void> {
    const d = this.diffs.find((x) => x.id === this.ctx.state.step);
    if (!d) { this.ctx.say('The step under the playhead is not in this list.'); return; }
    const text = `${d.id}: A ${d.a ? `${d.a.median} ns (${spread(d.a)})` : 'not there'}, B ${d.b ? `${d.b.median} ns (${spread(d.b)})` : 'not there'}`;
    try { await navigator.clipboard.writeText(text); this.ctx.say(`In the clipboard: ${text}`); } catch { this.ctx.say(text); }
  }

  owner(): string | null { return this.pair && this.ctx.state.depth === 'step' ? 'differences' : null; }

  card(): string | null {
    const q = this.pair, id = this.ctx.state.with;
    return q ? compareCard(q.a, q.b, id.startsWith(FILE) || !hostOf(this.body).hasAttribute('page') || !/^https?:$/.test(location.protocol) ? null : place(`/trace/${encodeURIComponent(id)}`)) : null;
  }

  table(): Table { return this.pair ? compareTable(this.pair, this.ctx.state) : { caption: 'There is no second recording yet.', head: [], rows: [] }; }

  svg(): string | null {
    const q = this.pair, s = this.ctx.state;
    if (!q) return null;
    const k = wordUnder(q.a, s), text = (r: Recording): string => r.file.request.text ?? r.output.map((t) => t.text).join(''), plain = (h: string): string => h.replace(/<[^>]*>/g, '').replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/&amp;/g, '&'), d = this.lens;
    return comparePicture({ width: 1000, title: q.a.name.slice(0, 90), sides: [sideName(q.a, q.b), sideName(q.b, q.a)], answers: [text(q.a), text(q.b)], sentence: sentence(q.a, q.b), words: words(q, k)?.slice(0, MOST_WORDS) ?? [], said: this.said(q, k), wordTitle: plain(this.wordTitle(q, k)),
      lens: d && typeof d !== 'string' ? { d, prompt: q.a.prompt.length, now: this.cell, title: plain(this.lensTitle(d)) } : null, steps: this.diffs, stepTitle: plain(this.$('.cp-st').innerHTML), measure: this.ctx.measure });
  }

  destroy(): void {
    this.dead = true;
    this.abort.abort();
    removeView(this.root);
  }
}
