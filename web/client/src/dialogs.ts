// The ? sheet and the palette. Both are made from the command registry.
import { COMMANDS, keyName, type Command } from './commands';
import { esc, time, tokenText } from './format';
import { STAGE_LETTER, STAGE_NAME, type Recording } from './recording';

const keysOf = (c: Command): string => c.keys.map((k) => keyName(k).split(' ').map((p) => `<kbd>${esc(p)}</kbd>`).join(' ')).join(' or ');

export function helpSheet(letters: boolean): string {
  const groups = [...new Set(COMMANDS.map((c) => c.group))];
  const part = (g: string): string => `<section><h3>${g}${g === 'Timeline' ? ', while it is shown' : ''}</h3>${COMMANDS.filter((c) => c.group === g && c.keys.length).map((c) => `<div class="k"><span>${esc(c.title)}</span><span>${keysOf(c)}</span></div>`).join('')}</section>`;
  return `<div class="sheet"><h2>Keys<button data-close data-k="close">Close <kbd>Esc</kbd></button></h2><div class="cols">${groups.map(part).join('')}</div><p class="foot">Arrows, Space, Enter, Esc, Home, End, PgUp and PgDn walk everything alone. <label><input type="checkbox" data-letters ${letters ? 'checked' : ''}> single letters</label>. A filled dot is measured, a half dot derived, a ring declared.</p></div>`;
}

export interface Hit { kind: 'step' | 'token' | 'command' | 'span' | 'view'; label: string; hint: string; letter: string; step?: string; pass?: number; cmd?: string; span?: string; go?: () => void }

const has = (text: string, words: string[]): boolean => words.every((w) => text.includes(w));

/** search finds steps, tokens, kernels and commands; a leading > searches commands alone. */
export function search(r: Recording, query: string, most = 40): Hit[] {
  const only = query.startsWith('>'), q = (only ? query.slice(1) : query).trim().toLowerCase(), words = q.split(/\s+/).filter(Boolean);
  const hits: Hit[] = [];
  if (!only) {
    r.steps.forEach((s, i) => {
      if (has(`${i + 1} ${s.title} ${s.label} ${s.id} ${s.source.symbol} ${s.source.path} ${s.stage}`.toLowerCase(), words)) {
        hits.push({ kind: 'step', label: `${i + 1}  ${s.title}`, hint: `${STAGE_NAME[s.stage]}, ${s.count ? time(s.time_ns) : 'not reached'}`, letter: STAGE_LETTER[s.stage], step: s.id });
      }
    });
    if (words.length) {
      const seen = new Set<string>();
      for (const p of r.spans) {
        if (!p.kernel || seen.has(p.kernel) || !has(p.kernel.toLowerCase(), words)) continue;
        seen.add(p.kernel);
        hits.push({ kind: 'span', label: p.kernel, hint: `kernel of ${p.step}`, letter: 'k', step: p.step, span: p.id, ...(p.pass !== undefined ? { pass: p.pass } : {}) });
      }
      r.output.forEach((t, k) => {
        if (has(`${t.text} ${t.id}`.toLowerCase(), words)) hits.push({ kind: 'token', label: tokenText(t), hint: `output token ${k + 1}, id ${t.id}`, letter: '#', pass: r.passOfToken(k) });
      });
    }
  }
  if (only || words.length) for (const c of COMMANDS) if (!c.hidden && has(`${c.title} ${c.id}`.toLowerCase(), words)) hits.push({ kind: 'command', label: c.title, hint: c.keys.map(keyName).join(', '), letter: '>', cmd: c.id });
  return hits.slice(0, most);
}

export function paletteList(hits: Hit[], at: number): string {
  if (!hits.length) return '<p>Nothing found. Steps are found by name, number, function and file; tokens by text and id.</p>';
  return `<ul role="listbox" id="hits" aria-label="Found">${hits.map((h, n) => `<li role="option" id="hit${n}" data-hit="${n}" aria-selected="${n === at}">${'RSCD'.includes(h.letter) ? `<span class="sq ${h.letter}" aria-hidden="true">${h.letter}</span>` : `<span class="mono" aria-hidden="true">${esc(h.letter)}</span>`}<span>${esc(h.label)}</span><span class="h">${esc(h.hint)}</span></li>`).join('')}</ul>`;
}

export const palette = (hint: string): string =>
  `<div class="pal"><input type="text" role="combobox" aria-expanded="true" aria-controls="hits" aria-label="${esc(hint)}" placeholder="${esc(hint)}" spellcheck="false" autocomplete="off"><div class="list"></div></div>`;
