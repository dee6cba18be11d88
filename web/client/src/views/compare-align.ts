// Which steps of two walks do the same. Walks of one engine share their ids; of two engines, steps of the same stage are
// aligned by what they do, as on the page that lays a stage side by side (package view, stages.go).
import type { Recording } from '../recording';
import { STAGES } from '../recording';
import type { Step } from '../schema';

/** Places in the two walks; null: the other has no such step. why: the words that both have in common, where the ids differ. */
export interface Pair { a: number | null; b: number | null; why: string }

export const sameEngine = (a: Recording, b: Recording): boolean => a.file.engine.name === b.file.engine.name;

const DULL = /^(request|step|call|new|the|and|for|one|of|to|in|into|on|at|it|its|make|get|put|with|is|by|from|read|write|run)$/;

const wordsOf = (s: Step): Set<string> => new Set((`${s.id.replace(/_/g, ' ')} ${s.label} ${s.title}`.toLowerCase().match(/[a-z][a-z0-9]+/g) ?? []).filter((w) => !DULL.test(w)).map((w) => w.replace(/s$/, '')));

/** alike says how much two steps do the same, and what. */
function alike(a: Step, b: Step, wa: Set<string>, wb: Set<string>): [number, string] {
  if (a.id === b.id) return [4, ''];
  const both = [...wb].filter((w) => wa.has(w));
  return both.length ? [1 + both.length / 4, both.reduce((x, y) => (y.length > x.length ? y : x))] : [0, ''];
}

/** pairSteps aligns two walks. */
export function pairSteps(a: Recording, b: Recording): Pair[] {
  if (sameEngine(a, b)) {
    const ids = [...new Set([...a.steps, ...b.steps].map((s) => s.id))];
    return ids.map((id) => ({ a: a.stepIndex.get(id) ?? null, b: b.stepIndex.get(id) ?? null, why: '' }));
  }
  const of = (r: Recording, stage: string): number[] => r.steps.flatMap((s, i) => (s.stage === stage ? [i] : []));
  return STAGES.flatMap((stage) => align(a, of(a, stage), b, of(b, stage)));
}

/** align pairs two lists so that the sum of the scores is largest while both keep their order (Needleman and Wunsch, gaps cost nothing). */
function align(a: Recording, x: number[], b: Recording, y: number[]): Pair[] {
  const wx = x.map((i) => wordsOf(a.steps[i]!)), wy = y.map((j) => wordsOf(b.steps[j]!));
  const score = x.map((i, m) => y.map((j, n) => alike(a.steps[i]!, b.steps[j]!, wx[m]!, wy[n]!)));
  const best = Array.from({ length: x.length + 1 }, () => new Float64Array(y.length + 1));
  for (let m = x.length - 1; m >= 0; m--) for (let n = y.length - 1; n >= 0; n--) {
    const s = score[m]![n]![0];
    best[m]![n] = Math.max(best[m + 1]![n]!, best[m]![n + 1]!, s > 0 ? s + best[m + 1]![n + 1]! : 0);
  }
  const out: Pair[] = [];
  for (let m = 0, n = 0; m < x.length || n < y.length;) {
    if (m === x.length || (n < y.length && best[m]![n] === best[m]![n + 1] && best[m]![n] !== best[m + 1]![n])) out.push({ a: null, b: y[n++]!, why: '' });
    else if (n === y.length || best[m]![n] === best[m + 1]![n]) out.push({ a: x[m++]!, b: null, why: '' });
    else { out.push({ a: x[m]!, b: y[n]!, why: score[m]![n]![1] }); m++; n++; }
  }
  return out;
}
