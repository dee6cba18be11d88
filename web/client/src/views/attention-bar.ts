// The choices above the Attention view. Each is one name:value of the state,
// so a press, a key and a link lead to the same place.
import { esc } from '../format';
import type { State } from '../state';
import { SCORES } from './attention-data';
import { opt, withOpt } from './attention-opts';

/** name in opts, words before it, and its values: '' is the first and is left out of links. */
export interface Choice { name: string; label: string; values: [string, string][] }

export const ATTENTION_CHOICES: readonly Choice[] = [
  { name: 'sort', label: 'order', values: [['', 'layer'], ...SCORES.map((k): [string, string] => [k.id, k.title])] },
  { name: 'panes', label: 'show', values: [['', 'both'], ['heads', 'heads'], ['map', 'map']] },
  { name: 'mean', label: 'map of', values: [['', 'one head'], ['heads', 'mean of heads'], ['layers', 'mean of layers'], ['all', 'mean of all']] },
  { name: 'scale', label: 'scale', values: [['', '√'], ['linear', 'linear']] },
  { name: 'range', label: 'to', values: [['', '1'], ['own', 'largest']] },
  { name: 'first', label: 'first token', values: [['', 'shown'], ['hide', 'hidden']] },
];

export function choices(list: readonly Choice[], s: State, off: ReadonlySet<string> = new Set()): string {
  return list.map((c) => {
    const now = opt(s, c.name), on = c.values.some(([v]) => v === now) ? now : '';
    return `<span class="seg" role="group" aria-label="${esc(c.label)}"><span>${esc(c.label)}</span>${c.values.filter(([v]) => !off.has(v) || v === on).map(([v, t]) => `<button data-opt="${c.name}" data-val="${v}" data-k="${c.name}${v}" aria-pressed="${v === on}">${esc(t)}</button>`).join('')}</span>`;
  }).join('');
}

/** keepFocus writes the bar and leaves the focus on the same button. */
export function keepFocus(bar: Element, html: string): void {
  const root = bar.getRootNode() as ShadowRoot | Document, k = bar.contains(root.activeElement) ? root.activeElement!.getAttribute('data-k') : null;
  bar.innerHTML = html;
  if (k) bar.querySelector<HTMLElement>(`[data-k="${k}"]`)?.focus({ preventScroll: true });
}

export function attentionBar(bar: HTMLElement, s: State, ready: boolean, repeats: boolean): void {
  bar.hidden = !ready;
  keepFocus(bar, choices(ATTENTION_CHOICES, s, new Set(repeats ? [] : ['repeat'])));
}

/** pressBar is the state after a press on a choice, or null when the press was elsewhere. */
export function pressBar(t: Element, s: State): State | null {
  const b = t.closest('[data-opt]');
  return b ? withOpt(s, b.getAttribute('data-opt')!, b.getAttribute('data-val')!) : null;
}

/** nextOf is the state with the next value of a choice, past those that are off. */
export function nextOf(list: readonly Choice[], name: string, s: State, off: ReadonlySet<string> = new Set()): State {
  const v = list.find((c) => c.name === name)?.values.map(([x]) => x).filter((x) => !off.has(x)) ?? [''], now = v.indexOf(opt(s, name));
  return withOpt(s, name, v[(Math.max(0, now) + 1) % v.length]!);
}

/** Commands that are a press on a choice. */
export const GRID_COMMANDS: Record<string, Record<string, string>> = {
  attention: { 'grid.order': 'sort', 'grid.mean': 'mean', 'grid.scale': 'scale', 'grid.first': 'first', 'grid.panes': 'panes' },
  lens: { 'grid.order': 'colour', 'grid.mean': 'mid', 'grid.word': 'word', 'grid.second': 'second' },
};
