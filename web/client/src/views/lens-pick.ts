// Which word's writers the Lens view shows, and against which other one: the
// choice in the state, and the list of leading words to choose from.
import { cutMiddle, esc, svgBadge } from '../format';
import type { State } from '../state';
import { opt, withOpt } from './attention-opts';
import type { Candidate, Lens, Pair } from './lens-data';
import type { Box } from './lens-writers';

type Side = 'word' | 'second';

export const pairNow = (ln: Lens, k: number, s: State): Pair | null => ln.pair(k, opt(s, 'word'), opt(s, 'second'));

/** pairKey tells two choices apart. */
export const pairKey = (p: Pair | null): string => (p ? `${p.of.id}/${p.against?.id ?? ''}` : '');

/** pairText is the words as text. */
export const pairText = (ln: Lens, p: Pair): string => ln.text(p.of.id) + (p.against ? ` against ${ln.text(p.against.id)}` : '');

/** pick chooses a word of output token k. A word taken for one side that the other has changes places; the one it was already set against is let go. */
export function pick(ln: Lens, k: number, s: State, side: Side, key: string): State {
  const now = pairNow(ln, k, s), c = ln.candidates(k).find((x) => x.key === key), put = (of: Candidate, against: Candidate | null): State => withOpt(withOpt(s, 'word', of.key === 'said' ? '' : of.key), 'second', against?.key ?? '');
  if (!now || !c) return s;
  const { of, against } = now;
  if (side === 'word') return put(c, c.key === against?.key ? of : against);
  if (c.key === of.key) return against ? put(against, of) : s;
  return put(of, c.key === against?.key ? null : c);
}

/** next goes on to the next word of a side; against runs past none. */
export function next(ln: Lens, k: number, s: State, side: Side): State {
  const now = pairNow(ln, k, s), list = ln.candidates(k);
  if (!now || list.length < 2) return s;
  if (side === 'word') return pick(ln, k, s, 'word', list[(list.findIndex((c) => c.key === now.of.key) + 1) % list.length]!.key);
  const rest = list.filter((c) => c.key !== now.of.key), at = now.against ? rest.findIndex((c) => c.key === now.against!.key) : -1;
  return withOpt(s, 'second', rest[at + 1]?.key ?? '');
}

const ROW = 16;

/** wordList draws the words to choose from, with their logits: of which the bars speak, and against which. */
export function wordList(ln: Lens, k: number, p: Pair, b: Box): { svg: string; h: number } {
  const list = ln.candidates(k), of = b.x + 8, against = b.x + 46, word = b.x + 80, right = b.x + b.w - 10;
  let s = `<text x="${of}" y="${b.y}" class="mid cap s">of</text><text x="${against}" y="${b.y}" class="mid cap s">against</text><text x="${word}" y="${b.y}" class="cap s">leading word</text><text x="${right}" y="${b.y}" class="end cap s">logit</text>${svgBadge(b.x + b.w - 3, b.y - 4, 'measured')}`;
  const radio = (c: Candidate, side: Side, x: number, x0: number, w: number, y: number, on: boolean): string =>
    `<g data-opt="${side}" data-val="${c.key}" data-k="${side}${c.id}" class="st" tabindex="0" role="button" aria-pressed="${on}" aria-label="${side === 'word' ? 'who wrote' : 'against'} ${esc(ln.text(c.id))}"><rect x="${x0}" y="${y - 12}" width="${w}" height="${ROW}" fill="transparent"/><circle cx="${x}" cy="${y - 4}" r="4" fill="none" stroke="var(--text-2)"/>${on ? `<circle cx="${x}" cy="${y - 4}" r="2.2" fill="var(--text)"/>` : ''}</g>`;
  list.forEach((c, n) => {
    const y = b.y + (n + 1) * ROW, on = c.key === p.of.key;
    const side = on || c.key === p.against?.key, text = ln.text(c.id);
    s += radio(c, 'word', of, b.x - 4, 26, y, on) + radio(c, 'second', against, b.x + 28, 38, y, c.key === p.against?.key);
    s += `<g data-opt="word" data-val="${c.key}" class="st"><title>${esc(text)}, id ${c.id}${c.rank ? `, rank ${c.rank}` : ''}${c.key === 'said' ? ', said' : ''}${c.logit === null ? '' : `: logit ${c.logit}`}</title><rect x="${word - 4}" y="${y - 12}" width="${right - word + 4}" height="${ROW}" fill="transparent"/><text x="${word}" y="${y}" class="m${side ? ' b' : ''}">${esc(cutMiddle(text, Math.max(6, Math.floor((b.w - 150) / 7.3))))}</text>${c.logit === null ? '' : `<text x="${right}" y="${y}" class="m end">${c.logit.toFixed(3)}</text>`}</g>`;
  });
  return { svg: s, h: list.length * ROW + 6 };
}
