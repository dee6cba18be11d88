// A recording with its indexes. Everything the views show is asked from here;
// nothing on screen is known from elsewhere. It does not know about the page.
import { stageTimes } from './stagetime';
import { setClocked } from './format';
import { rolesOf, type Role } from './roles';
import { parseTrace, type Pass, type Span, type Stage, type Step, type Token, type TraceFile } from './schema';

export const STAGES: readonly Stage[] = ['receive', 'schedule', 'compute', 'deliver'];
export const STAGE_LETTER: Record<Stage, string> = { receive: 'R', schedule: 'S', compute: 'C', deliver: 'D' };
export const STAGE_NAME: Record<Stage, string> = { receive: 'Receive', schedule: 'Schedule', compute: 'Compute', deliver: 'Deliver' };

export interface Lane { id: string; name: string; note: string }
/** Steps from..to (indexes) run n times. */
export interface Loop { from: number; to: number; n: number }

/** Names of the lanes of our own engine, for recordings that give ids alone. */
const LANE_NAMES: Record<string, string> = { http: 'HTTP goroutine', loop: 'Engine loop', workers: 'Workers' };

export class Recording {
  readonly file: TraceFile;
  readonly steps: Step[];
  readonly stepIndex = new Map<string, number>();
  readonly spans: Span[];
  /** span indexes by step, in order of start */
  readonly byStep: number[][];
  readonly spanIndex = new Map<string, number>();
  readonly passes: Pass[];
  readonly lanes: Lane[];
  private roleCache: Role[] | null = null;
  private loopCache: { layer: Loop | null; token: Loop | null } | null = null;
  private byPass: ({ map: Map<number, number[]>; seen: number } | undefined)[] = [];
  private kids: Map<string, number[]> | null = null;
  private stages: { version: number; ns: Map<Stage, number> } | null = null;
  private known: { version: number; layers: number; end: number } | null = null;
  /** counts appends; part of every cache key */
  version = 0;
  live = false;

  constructor(file: TraceFile) {
    this.file = file;
    this.steps = file.walk;
    this.steps.forEach((s, i) => this.stepIndex.set(s.id, i));
    this.byStep = this.steps.map(() => []);
    this.spans = [];
    this.passes = file.passes;
    const ids = [...new Set(this.steps.map((s) => s.lane))];
    this.lanes = ids.map((id) => {
      const l = file.lanes?.find((x) => x.id === id);
      return { id, name: l?.title ?? LANE_NAMES[id] ?? id, note: l?.note ?? '' };
    });
    this.index(file.spans);
    if (!this.clocked) setClocked(false);
  }

  /** clocked is false for an emulated device: what it takes measures nothing. */
  get clocked(): boolean { return this.file.device.kind !== 'emulated'; }

  static parse(input: string | unknown): Recording {
    return new Recording(parseTrace(input));
  }

  /** append takes spans and passes of a running request; times and counts of the walk grow with them. */
  append(spans: Span[], passes: Pass[] = []): void {
    for (const p of passes) {
      const at = this.passes.findIndex((q) => q.index === p.index);
      if (at < 0) this.passes.push(p); else this.passes[at] = p;
    }
    this.index(spans);
    for (const p of spans) {
      const i = this.stepIndex.get(p.step);
      const s = i === undefined ? undefined : this.steps[i];
      if (s && this.isTop(p)) {
        s.time_ns += p.dur_ns;
        s.count++;
      }
    }
    this.changed();
  }

  appendTokens(tokens: Token[], text?: string): void {
    (this.file.request.output_tokens ??= []).push(...tokens);
    if (text !== undefined) this.file.request.text = text;
    this.changed();
  }

  changed(): void {
    this.version++;
    this.roleCache = null;
    this.loopCache = null;
    this.kids = null;
  }

  private index(spans: Span[]): void {
    for (const p of spans) {
      const n = this.spans.push(p) - 1;
      if (p.id) this.spanIndex.set(p.id, n);
      const i = this.stepIndex.get(p.step);
      if (i !== undefined) this.byStep[i]!.push(n);
    }
  }

  /** isTop is false for a span inside another span of the same step, which must not be counted twice. */
  isTop(p: Span): boolean {
    if (!p.parent) return true;
    const at = this.spanIndex.get(p.parent);
    return at === undefined || this.spans[at]!.step !== p.step;
  }

  get roles(): Role[] {
    return (this.roleCache ??= rolesOf(this.steps, this.steps.map((_, i) => this.layered(i)), this.opsLane));
  }

  /** layered tells whether step i runs once a layer. Before any span has come, ids of the loop decide. */
  private layered(i: number): boolean {
    const list = this.byStep[i]!;
    const loop = this.file.loops?.find((l) => l.over === 'layers');
    const ends = loop && [this.stepIndex.get(loop.from), this.stepIndex.get(loop.to)];
    if (ends && ends[0] !== undefined && ends[1] !== undefined) return i >= Math.min(ends[0], ends[1]) && i <= Math.max(ends[0], ends[1]);
    if (list.length) return list.some((n) => this.spans[n]!.layer !== undefined && this.spans[n]!.layer! >= 0);
    return this.live && this.steps[i]!.stage === 'compute' && /(^|_)(attn|ffn|rope|kv)(_|$)/.test(this.steps[i]!.id);
  }

  /** opsLane is the lane in which the forward pass runs: the lane of the steps that carry layers. */
  get opsLane(): string {
    const at = this.steps.findIndex((_, i) => this.layered(i));
    if (at >= 0) return this.steps[at]!.lane;
    return this.steps.find((s) => s.stage === 'compute')?.lane ?? '';
  }

  get layers(): number {
    if (this.file.model.layers) return this.file.model.layers;
    return this.extent.layers;
  }

  /** extent is what of the spans is asked for at every drawing: how many layers they name, and the end of the last one. */
  private get extent(): { version: number; layers: number; end: number } {
    if (this.known?.version === this.version) return this.known;
    let layers = 0, end = 0;
    for (const p of this.spans) {
      if (p.layer !== undefined && p.layer >= layers) layers = p.layer + 1;
      end = Math.max(end, p.start_ns + p.dur_ns);
    }
    return (this.known = { version: this.version, layers, end });
  }

  /** typicalPass is the number of the decode pass of median length among the first dozen; the last pass where none decodes. */
  typicalPass(): number {
    const decode = this.passes.filter((p) => p.kind === 'decode').slice(0, 12);
    const byTime = decode.sort((a, b) => a.dur_ns - b.dur_ns);
    return byTime[byTime.length >> 1]?.index ?? this.passNumbers.at(-1) ?? 0;
  }

  /** passIndexes are the numbers of the passes, in order; a pass need not begin at 0. */
  get passNumbers(): number[] {
    return this.passes.map((p) => p.index);
  }

  /** shape changes when the map has to be laid out anew. */
  get shape(): number {
    const l = this.layerLoop;
    return l ? l.from * 4096 + l.to : -1;
  }

  private get loops(): { layer: Loop | null; token: Loop | null } {
    return (this.loopCache ??= { layer: this.findLayerLoop(), token: this.findTokenLoop() });
  }
  get layerLoop(): Loop | null { return this.loops.layer; }
  get tokenLoop(): Loop | null { return this.loops.token; }

  private findLayerLoop(): Loop | null {
    const on = this.steps.map((_, i) => this.layered(i));
    const from = on.indexOf(true), to = on.lastIndexOf(true);
    return from < 0 || this.layers < 2 ? null : { from, to, n: this.layers };
  }

  private seenPasses(i: number): number {
    const seen = new Set<number>();
    for (const n of this.byStep[i]!) {
      const p = this.spans[n]!.pass;
      if (p !== undefined && p >= 0) seen.add(p);
      if (seen.size > 1) return 2;
    }
    return seen.size;
  }

  /** tokenLoop is the turn that makes one token: it enters at the first step that runs once a pass, and leaves at the last such step of the same lane. */
  private findTokenLoop(): Loop | null {
    const n = this.passes.length;
    const given = this.file.loops?.find((l) => l.over === 'tokens');
    if (given) {
      const from = this.stepIndex.get(given.to), to = this.stepIndex.get(given.from);
      if (from !== undefined && to !== undefined) return { from, to, n };
    }
    if (n < 2) return null;
    const turns = this.steps.map((_, i) => this.seenPasses(i) > 1);
    const from = turns.indexOf(true);
    if (from < 0) return null;
    let to = from;
    this.steps.forEach((s, i) => { if (turns[i] && s.lane === this.steps[from]!.lane && i > to && !(s.count <= 1)) to = i; });
    return to > from ? { from, to, n } : null;
  }

  inLayers(i: number): boolean { const l = this.layerLoop; return !!l && i >= l.from && i <= l.to; }
  inTokens(i: number): boolean { return this.seenPasses(i) > 0; }

  /** Span indexes of step i by pass; empty for a step outside passes. */
  private passesOf(i: number): Map<number, number[]> {
    const had = this.byPass[i];
    if (had && had.seen === this.byStep[i]!.length) return had.map;
    const map = new Map<number, number[]>();
    for (const n of this.byStep[i]!) {
      const p = this.spans[n]!.pass;
      if (p === undefined || p < 0) continue;
      const list = map.get(p);
      if (list) list.push(n); else map.set(p, [n]);
    }
    this.byPass[i] = { map, seen: this.byStep[i]!.length };
    return map;
  }

  /** spansAt lists the spans of step i, narrowed to a pass and a layer where the step has them. */
  spansAt(i: number, pass?: number, layer?: number): Span[] {
    let list: Span[];
    const by = pass === undefined ? null : this.passesOf(i);
    if (by && by.size) list = (by.get(pass!) ?? []).map((n) => this.spans[n]!);
    else list = this.byStep[i]!.map((n) => this.spans[n]!);
    if (layer !== undefined && list.some((p) => p.layer !== undefined && p.layer >= 0)) list = list.filter((p) => p.layer === layer);
    return list;
  }

  /** spansNear is spansAt, or where the step did not run in that pass, its spans of the last pass before. */
  spansNear(i: number, pass: number, layer: number): Span[] {
    const here = this.spansAt(i, pass, layer);
    if (here.length) return here;
    const before = this.byStep[i]!.map((n) => this.spans[n]!).filter((p) => (p.pass ?? -1) <= pass), last = before.at(-1)?.pass;
    return before.filter((p) => p.pass === last);
  }

  /** timeAt sums top spans of step i, ns; null when it has none there ("not measured", never 0). */
  timeAt(i: number, pass?: number, layer?: number): number | null {
    let sum = 0, n = 0;
    if (!this.clocked) return null;
    for (const p of this.spansAt(i, pass, layer)) if (this.isTop(p)) { sum += p.dur_ns; n++; }
    return n ? sum : null;
  }

  /** children of a span: kernels, launches and whatever else says it belongs to it. */
  children(id: string): Span[] {
    if (!this.kids) {
      this.kids = new Map();
      this.spans.forEach((p, n) => {
        if (!p.parent) return;
        const list = this.kids!.get(p.parent);
        if (list) list.push(n); else this.kids!.set(p.parent, [n]);
      });
    }
    return (this.kids.get(id) ?? []).map((n) => this.spans[n]!);
  }

  /** timed tells whether step i has a measured time at all. */
  timed(i: number): boolean { return this.clocked && this.steps[i]!.count > 0 && (this.steps[i]!.time_ns > 0 || this.byStep[i]!.length > 0); }

  /** stageTime is the wall-clock time of a stage, ns; where a recording has no spans, the sum of its steps. */
  stageTime(stage: Stage): number {
    if (!this.clocked) return 0;
    if (!this.spans.length) return this.steps.reduce((a, s) => a + (s.stage === stage ? s.time_ns : 0), 0);
    if (this.stages?.version !== this.version) this.stages = { version: this.version, ns: stageTimes(this.spans, this.steps) };
    return this.stages.ns.get(stage) ?? 0;
  }

  /** total is the whole request in ns, with how it is known. */
  get total(): { ns: number; prov: 'measured' | 'derived'; how: string } {
    const e2e = this.file.numbers?.['e2e_ns'];
    if (e2e) return { ns: e2e, prov: 'measured', how: 'first byte in to last byte out' };
    return { ns: this.extent.end, prov: 'derived', how: 'end of the last span' };
  }

  get prompt(): Token[] { return this.file.request.prompt_tokens ?? []; }
  get output(): Token[] { return this.file.request.output_tokens ?? []; }

  /** passOfToken is the pass whose logits output token k was drawn from. */
  passOfToken(k: number): number {
    const t = this.output[k];
    if (t?.pass !== undefined) return t.pass;
    const nums = this.passNumbers;
    const lastPrefill = this.passes.reduce((a, p, n) => (p.kind === 'prefill' ? n : a), 0);
    return nums[Math.min(nums.length - 1, lastPrefill + k)] ?? 0;
  }

  /** tokenOfPass is the index of the first output token drawn from pass p, or -1. */
  tokenOfPass(p: number): number {
    return this.output.findIndex((_, k) => this.passOfToken(k) === p);
  }

  /** cutOff says what is missing from the recording, or null when it is whole. */
  get cutOff(): string | null {
    const d = this.file.dropped;
    const parts: string[] = [];
    if (this.file.partial) parts.push(`The run was over before the recording was.${this.file.missing?.length ? ` Not there: ${this.file.missing.join(', ')}.` : ''}`);
    if (d && d.spans > 0) parts.push(`${d.spans.toLocaleString('en')} spans are missing${d.why ? `: ${d.why}` : ''}.`);
    return parts.length ? parts.join(' ') : null;
  }

  get name(): string {
    const r = this.file.request;
    const said = r.messages?.filter((m) => m.role === 'user').at(-1)?.content ?? r.prompt ?? r.rendered ?? '';
    return typeof said === 'string' ? said.trim() : JSON.stringify(said);
  }
}

/** shortPath keeps the last two parts of a path: the room's name on the map. */
export function shortPath(path: string): string {
  const parts = path.split('/').filter(Boolean);
  return parts.slice(-2).join('/');
}

/** attrAt finds an attribute on the spans given, newest first. */
export function attrAt<T>(spans: Span[], key: string, is: (v: unknown) => v is T): T | null {
  for (let n = spans.length - 1; n >= 0; n--) {
    const v = spans[n]!.attrs?.[key];
    if (is(v)) return v;
  }
  return null;
}
export const isNumbers = (v: unknown): v is number[] => Array.isArray(v) && v.every((x) => typeof x === 'number');
export const isText = (v: unknown): v is string => typeof v === 'string' && v !== '';
export const isNumber = (v: unknown): v is number => typeof v === 'number' && Number.isFinite(v);
