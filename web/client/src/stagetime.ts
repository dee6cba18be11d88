// How long each stage of a request took, by the rule of package steps (stagetime.go): a lane is in the stage of its innermost
// span that has a step, or whose parent has one, and an instant counts for one stage alone.
import type { Span, Stage, Step } from './schema';

/** Which stage an instant counts for when lanes are in different ones: a scheduler that waits for the model computes. */
const FIRST: readonly Stage[] = ['compute', 'deliver', 'schedule', 'receive'];

interface Open { end: number; stage: Stage | undefined }

/** stageTimes gives ns of the wall clock for each stage. Spans are in the order of their start, parents before children. */
export function stageTimes(spans: readonly Span[], steps: readonly Step[]): Map<Stage, number> {
  const of = new Map(steps.map((s) => [s.id, s.stage])), stages = new Map<Stage, number[]>(), lanes = new Map<string, { stack: Open[]; at: number }>();
  const put = (stage: Stage | undefined, from: number, to: number): void => {
    if (!stage || to <= from) return;
    const list = stages.get(stage);
    if (!list) stages.set(stage, [from, to]);
    else if (list[list.length - 1] === from) list[list.length - 1] = to;
    else list.push(from, to);
  };
  const close = (l: { stack: Open[]; at: number }, t: number): void => {
    for (let top = l.stack.at(-1); top && top.end <= t; top = l.stack.at(-1)) { put(top.stage, l.at, top.end); l.at = Math.max(l.at, top.end); l.stack.pop(); }
  };
  for (const p of spans) {
    let l = lanes.get(p.lane);
    if (!l) lanes.set(p.lane, (l = { stack: [], at: 0 }));
    close(l, p.start_ns);
    const top = l.stack.at(-1);
    put(top?.stage, l.at, p.start_ns);
    l.at = Math.max(l.at, p.start_ns);
    l.stack.push({ end: p.start_ns + p.dur_ns, stage: of.get(p.step) ?? top?.stage });
  }
  for (const l of lanes.values()) close(l, Infinity);
  const out = new Map<Stage, number>();
  let taken: number[] = [], before = 0;
  for (const stage of FIRST) {
    taken = union([...taken, ...(stages.get(stage) ?? [])]);
    let sum = 0;
    for (let i = 0; i < taken.length; i += 2) sum += taken[i + 1]! - taken[i]!;
    out.set(stage, sum - before);
    before = sum;
  }
  return out;
}

/** union joins intervals, from and to in turn, that touch. */
function union(list: number[]): number[] {
  const n = list.length / 2, order = new Uint32Array(n), out: number[] = [];
  for (let i = 0; i < n; i++) order[i] = i;
  order.sort((a, b) => list[2 * a]! - list[2 * b]!);
  for (const i of order) {
    const from = list[2 * i]!, to = list[2 * i + 1]!, last = out.length - 1;
    if (last > 0 && from <= out[last]!) out[last] = Math.max(out[last]!, to);
    else out.push(from, to);
  }
  return out;
}
