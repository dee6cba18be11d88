// Why slow? The critical path of a request: at each moment the span that it
// was in, of those running the one that began last, as trace/query has it. A
// request's spans hand over to one another, so this is the work it waited
// for. Strings and sums only.
import { badge, count, esc, exactNs, share, time } from './format';
import { STAGE_LETTER, type Recording } from './recording';
import type { Span } from './schema';
import { at, type State } from './state';

export interface Segment { start: number; dur: number; /** index of the span, -1 where nothing ran */ span: number }

/** criticalPath cuts the time from the first byte to the end of the last span into segments that add up to it. spans are in order of start. */
export function criticalPath(spans: readonly Span[]): Segment[] {
  const end = (i: number): number => spans[i]!.start_ns + spans[i]!.dur_ns;
  const before = (i: number, j: number): boolean => {
    const a = spans[i]!, b = spans[j]!;
    return a.start_ns !== b.start_ns ? a.start_ns > b.start_ns : a.dur_ns !== b.dur_ns ? a.dur_ns < b.dur_ns : i > j;
  };
  const heap: number[] = [], out: Segment[] = [];
  const push = (i: number): void => {
    let k = heap.push(i) - 1;
    for (let up = (k - 1) >> 1; k > 0 && before(heap[k]!, heap[up]!); k = up, up = (k - 1) >> 1) [heap[k], heap[up]] = [heap[up]!, heap[k]!];
  };
  const pop = (): void => {
    const last = heap.pop()!;
    if (!heap.length) return;
    heap[0] = last;
    for (let k = 0; ;) {
      let c = 2 * k + 1;
      if (c >= heap.length) return;
      if (c + 1 < heap.length && before(heap[c + 1]!, heap[c]!)) c++;
      if (!before(heap[c]!, heap[k]!)) return;
      [heap[k], heap[c]] = [heap[c]!, heap[k]!];
      k = c;
    }
  };
  let now = 0, whole = 0;
  const emit = (to: number): void => {
    while (now < to) {
      while (heap.length && end(heap[0]!) <= now) pop();
      const who = heap.length ? heap[0]! : -1, until = who < 0 ? to : Math.min(to, end(who)), last = out.at(-1);
      if (last && last.span === who) last.dur += until - now;
      else out.push({ start: now, dur: until - now, span: who });
      now = until;
    }
  };
  spans.forEach((p, i) => { emit(p.start_ns); push(i); whole = Math.max(whole, end(i)); });
  emit(whole);
  return out;
}

export interface Why {
  total: number;
  /** time by step, most first; id '' is the time in which no span ran */
  steps: { id: string; ns: number }[];
  prefill: { ns: number; passes: number };
  decode: { ns: number; passes: number };
  queue: number;
  paused: number;
  captured: number;
  nothing: number;
}

/** whySlow sums the critical path. Time at stops and in captures lies between ops, where no span runs: it is taken out of that. */
export function whySlow(r: Recording): Why {
  const by = new Map<string, number>(), w: Why = { total: 0, steps: [], prefill: { ns: 0, passes: 0 }, decode: { ns: 0, passes: 0 }, queue: 0, paused: 0, captured: 0, nothing: 0 };
  const kind = new Map(r.passes.map((p) => [p.index, p.kind]));
  const spans = r.spans.every((p, i) => !i || r.spans[i - 1]!.start_ns <= p.start_ns) ? r.spans : [...r.spans].sort((a, b) => a.start_ns - b.start_ns);
  for (const s of criticalPath(spans)) {
    const p = spans[s.span], id = p?.step ?? '';
    by.set(id, (by.get(id) ?? 0) + s.dur);
    w.total += s.dur;
    const k = p?.op ? kind.get(p.pass ?? -1) : undefined;
    if (k) w[k === 'prefill' ? 'prefill' : 'decode'].ns += s.dur;
  }
  for (const p of r.passes) {
    w[p.kind === 'prefill' ? 'prefill' : 'decode'].passes++;
    w.paused += p.paused_ns ?? 0;
    w.captured += p.capture_ns ?? 0;
  }
  w.captured += r.file.request.capture_ns ?? 0;
  w.queue = by.get('queue') ?? 0;
  w.nothing = Math.max(0, (by.get('') ?? 0) - w.paused - w.captured);
  w.steps = [...by].filter(([id]) => id !== '').map(([id, ns]) => ({ id, ns })).sort((a, b) => b.ns - a.ns);
  return w;
}

const link = (id: string, text: string, key: string): string => `<button class="why-l" data-step="${esc(id)}" data-k="${key}">${esc(text)}</button>`;
const ms = (ns: number): string => `<span class="mono nb" title="${exactNs(ns)}">${time(ns)}</span>`;

/** whySentence names the critical path in one sentence; every step in it leads to that step. */
export function whySentence(r: Recording, w: Why): string {
  const name = (id: string): string => r.steps[r.stepIndex.get(id) ?? -1]?.label ?? id, pc = (ns: number): string => `${share(ns, w.total)} %`;
  const firstOp = r.steps.find((_, i) => r.roles[i]!.op)?.id ?? '';
  const passes = (k: 'prefill' | 'decode'): string => `${link(firstOp, k === 'prefill' ? (w.prefill.passes === 1 ? "the prompt's pass" : `${w.prefill.passes} passes of the prompt`) : `${count(w.decode.passes)} decode ${w.decode.passes === 1 ? 'pass' : 'passes'}`, `y${k}`)} ${ms(w[k].ns)} (${pc(w[k].ns)})`;
  const most = (w.prefill.ns > w.decode.ns ? ['prefill', 'decode'] : ['decode', 'prefill']) as ('prefill' | 'decode')[];
  const parts = most.filter((k) => w[k].ns > 0).map(passes);
  const top = w.steps.slice(0, 3).map((s, n) => `${link(s.id, name(s.id), `y${n}`)} ${ms(s.ns)} (${pc(s.ns)})`);
  const rest: string[] = [];
  if (w.paused > 0) rest.push(`it stood still at ${r.file.request.stops?.[0] ? link(r.file.request.stops[0].op, 'stops', 'ys') : 'stops'} for ${ms(w.paused)} (${pc(w.paused)})`);
  if (w.queue > w.total / 100) rest.push(`it waited in ${link('queue', name('queue'), 'yq')} for ${ms(w.queue)} (${pc(w.queue)})`);
  if (w.captured > w.total / 100) rest.push(`copying values out took ${ms(w.captured)} (${pc(w.captured)})`);
  rest.push(`${ms(w.nothing)} (${pc(w.nothing)}) no step explains`);
  const known = w.total === r.total.ns ? r.total : { prov: 'derived' as const, how: 'end of the last span' };
  return `Of ${ms(w.total)}${badge(known.prov, known.how)}${parts.length ? ` the request was in ${parts.join(' and in ')}` : ' there were no passes'}; the steps it waited for longest are ${top.join(', ') || 'not measured'}; ${rest.join('; ')}.`;
}

/** whyCard is the answer to "Why slow?" in the place of the step card. */
export function whyCard(r: Recording, s: State): string {
  if (!r.clocked) return '<div class="c-main"><div class="c-pad"><h2>Why slow?</h2><p class="lede">An emulated device ran this: times are not measured.</p></div></div>';
  const w = whySlow(r), max = Math.max(1, w.steps[0]?.ns ?? 0, w.paused, w.captured, w.nothing), cur = r.steps[at(r, s)]!.id, shown = w.steps.filter((x) => r.stepIndex.has(x.id)).slice(0, 14), others = w.steps.slice(shown.length).reduce((a, x) => a + x.ns, 0);
  const row = (id: string, label: string, ns: number, L: string): string => `<tr${id === cur ? ' class="now"' : ''}><td>${id ? `<button data-step="${esc(id)}" data-k="w${esc(id)}">${esc(label)}</button>` : esc(label)}</td><td><svg width="64" height="8" aria-hidden="true"><rect y=".5" width="${Math.max(1, (62 * ns) / max)}" height="7" fill="var(--${id === cur ? 'on-now' : L ? `st-${L}` : 'graphic'})"/></svg></td><td class="r" title="${exactNs(ns)}">${time(ns)}</td><td class="r">${share(ns, w.total)} %</td></tr>`;
  let h = '<div class="c-main"><div class="c-pad"><div class="c-where">The whole request<span class="pos"><button data-cmd="why.slow" data-k="whyx">step card <kbd>Esc</kbd></button></span></div><h2>Why slow?</h2>';
  h += `<p class="lede">${whySentence(r, w)}</p></div><table class="why-t"><caption>Time on the critical path, by step. Derived from measured spans: they add up to the whole.</caption><tbody>`;
  const rows = [...shown.map((x) => ({ id: x.id, label: r.steps[r.stepIndex.get(x.id)!]!.label, ns: x.ns, L: STAGE_LETTER[r.steps[r.stepIndex.get(x.id)!]!.stage] as string })),
    { id: '', label: `${w.steps.length - shown.length} others`, ns: others, L: '' }, { id: '', label: 'stood still', ns: w.paused, L: '' }, { id: '', label: 'values copied out', ns: w.captured, L: '' }];
  h += rows.filter((x) => x.ns > 0).sort((p, q) => q.ns - p.ns).map((x) => row(x.id, x.label, x.ns, x.L)).join('') + row('', 'no step', w.nothing, '');
  return `${h}</tbody></table></div>`;
}
