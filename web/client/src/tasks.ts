// The exercises of a workshop: what is asked, where it begins, and how an
// answer is checked. Every check reads the recording on the page, so that the
// right answer is found in the data and stands nowhere else.
import type { Captured } from './arrays';
import { bytes, sig3 } from './format';
import { positionOfWord } from './position';
import type { Recording } from './recording';
import { at, type State } from './state';

export interface Verdict { ok: boolean; say: string }
type Arrays = (name: string) => Promise<Captured>;

export interface Task {
  title: string;
  ask: string;
  /** the unit of a number to type in; without one the answer is where the playhead is */
  unit?: string;
  /** the view where it begins, as in a link */
  start: string;
  check(r: Recording, s: State, n: number, arrays: Arrays): Verdict | Promise<Verdict>;
}

/** The recording that all of them are about: it ships, and holds lens, attention and values. */
export const TASK_RECORDING = 'inside-the-pass';

/** The word of task 2 and where it stands in the answer. */
export const WORD = 19;

/** opTimes is the time of each op's step over all decode passes, ns. */
export function opTimes(r: Recording): Map<string, number> {
  const decode = new Set(r.passes.filter((p) => p.kind === 'decode').map((p) => p.index)), out = new Map<string, number>();
  for (const p of r.spans) if (p.op && p.pass !== undefined && decode.has(p.pass) && r.isTop(p)) out.set(p.step, (out.get(p.step) ?? 0) + p.dur_ns);
  return out;
}

const sum = (m: Iterable<number>): number => [...m].reduce((a, b) => a + b, 0);
const near = (n: number, want: number, part: number): boolean => Number.isFinite(n) && Math.abs(n - want) <= part * want;

/** settled is the first row of the lens from which on the likeliest word at a position is the last row's. */
export function settled(ids: Captured, pos: number): number {
  const [layers, places, ranks] = ids.shape as [number, number, number], word = (l: number): number => ids.values[(l * places + pos) * ranks]!;
  let l = layers - 1;
  while (l > 0 && word(l - 1) === word(layers - 1)) l--;
  return l;
}

/** lookBack is how much a head gives the token just before, the mean over all queries that have one. */
export function lookBack(a: Captured, layer: number, head: number): number {
  const [, heads, n] = a.shape as [number, number, number];
  let s = 0;
  for (let q = 1; q < n; q++) s += a.values[((layer * heads + head) * n + q) * n + q - 1]!;
  return s / (n - 1);
}

/** decodeBytes is what each decode pass reads and writes, by pass. */
export function decodeBytes(r: Recording): number[] {
  const by = new Map(r.passes.filter((p) => p.kind === 'decode').map((p) => [p.index, 0]));
  for (const p of r.spans) if (p.op && p.bytes && p.pass !== undefined && by.has(p.pass) && r.isTop(p)) by.set(p.pass, by.get(p.pass)! + p.bytes);
  return [...by.values()];
}

const number = (n: number, unit: string): Verdict | null => (Number.isFinite(n) && n > 0 ? null : { ok: false, say: `Type a number, in ${unit}.` });

export const TASKS: readonly Task[] = [
  {
    title: 'Where the time goes',
    ask: 'Many ops run to make one token. Which of them takes the most time in the decode passes, all layers together? Go to that step.',
    start: 'view=pass&step=attn_q&pass=3',
    check(r, s) {
      const times = opTimes(r), all = sum(times.values()), mine = times.get(s.step), most = Math.max(...times.values());
      if (mine === undefined) return { ok: false, say: `${r.steps[at(r, s)]!.title} is no op of a decode pass. Look at the bars of the Pass view.` };
      const part = `${sig3((100 * mine) / all)} % of the time of all ops`;
      return mine === most ? { ok: true, say: `Yes: ${part}. It is one matrix, and it has a row for every word of the vocabulary.` } : { ok: false, say: `This one takes ${part}. Another takes more.` };
    },
  },
  {
    title: 'The layer where the word changes',
    ask: 'The answer says " because". Find the first layer after which the model would say that word, and stays with it to the end. Put the playhead on that layer.',
    start: `view=lens&step=ffn_residual&pass=${WORD}&layer=12`,
    async check(r, s, _n, arrays) {
      const l = settled(await arrays('lens_ids'), positionOfWord(r, WORD));
      if (s.layer === l) return { ok: true, say: `Yes, layer ${l}. Everything before was thinking, most of it about other words.` };
      return { ok: false, say: s.layer < l ? `After layer ${s.layer} it is not settled yet. Look further down.` : `After layer ${s.layer} the word stands, but it stood before that already.` };
    },
  },
  {
    title: 'A head that looks back one place',
    ask: 'Some heads do one simple thing: every token looks at the token just before it. Find one, and put the playhead on it. Its map is a line beside the diagonal.',
    start: 'view=attention&step=attn_softmax&pass=3&layer=5',
    async check(r, s, _n, arrays) {
      const a = await arrays('attention'), mine = lookBack(a, s.layer, s.head);
      void r;
      return mine > 0.5 ? { ok: true, say: `Yes: L${s.layer} head ${s.head} gives ${sig3(100 * mine)} % of its attention to the token before.` } : { ok: false, say: `L${s.layer} head ${s.head} gives the token before ${sig3(100 * mine)} % on average. Look for more than half.` };
    },
  },
  {
    title: 'What one token costs to read',
    ask: 'How many megabytes do the ops of one decode pass read and write? The Tape, and the card of each step, say what each moves.',
    unit: 'MB',
    start: 'view=tape&step=attn_q&pass=3',
    check(r, _s, n) {
      const all = decodeBytes(r), want = sum(all) / all.length / 1e6, bad = number(n, 'MB');
      if (bad) return bad;
      if (near(n, want, 0.06)) return { ok: true, say: `Yes: ${bytes(want * 1e6)}, for a single token. This is why memory bandwidth decides how fast a model talks.` };
      return { ok: false, say: n < want ? 'It is more. Have you counted all layers, and the last matrix?' : 'It is less. One pass, not all of them.' };
    },
  },
  {
    title: 'What if it were free',
    ask: 'Suppose the feed-forward ops (norm, gate, up, SwiGLU, down, residual) took no time at all. How many times faster would a decode pass be? Count the time of ops alone.',
    unit: 'times',
    start: 'view=pass&step=ffn_gate&pass=3',
    check(r, _s, n) {
      const times = opTimes(r), all = sum(times.values()), ffn = sum([...times].filter(([id]) => id.startsWith('ffn')).map(([, t]) => t)), want = all / (all - ffn), bad = number(n, 'times, such as 1.5');
      if (bad) return bad;
      if (near(n, want, 0.1)) return { ok: true, say: `Yes, about ${sig3(want)} times: the rest, ${sig3((100 * (all - ffn)) / all)} %, stays. The part you cannot speed up sets the limit.` };
      return { ok: false, say: n < want ? 'It would be faster than that. What share of the time is feed-forward?' : 'Not that much: what is not feed-forward still takes its time.' };
    },
  },
];
