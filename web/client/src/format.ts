// Numbers and tokens as the reader sees them: three significant digits with
// the unit, the exact value kept for titles, focus and exports.
import type { Prov, Token } from './schema';

export const esc = (s: unknown): string =>
  String(s).replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c] ?? c);

/** sig3 writes v with three significant digits and no exponent. */
export function sig3(v: number): string {
  if (v === 0) return '0';
  const a = Math.abs(v);
  if (a >= 1000) return Math.round(v).toLocaleString('en');
  let digits = Math.max(0, 2 - Math.floor(Math.log10(a)));
  if (Number(a.toFixed(digits)) >= 10 ** (3 - digits)) digits = Math.max(0, digits - 1); // 9.996 is 10.0
  return v.toFixed(Math.min(digits, 8));
}

/** What an emulated device takes measures nothing: while a recording of one is shown, no time, share or rate is written anywhere. */
let clocked = true;
export const setClocked = (on: boolean): void => { clocked = on; };
export const isClocked = (): boolean => clocked;
const NOT = 'not measured';

/** nsCell is a time in a table. */
export const nsCell = (ns: number): number | string => (clocked ? ns : NOT);

/** timeParts picks ns, µs, ms or s for a duration in ns. */
export function timeParts(ns: number): [value: string, unit: string] {
  if (!clocked) return [NOT, ''];
  const a = Math.abs(ns);
  if (a < 999.5) return [Number.isInteger(ns) ? String(ns) : sig3(ns), 'ns'];
  if (a < 999_500) return [sig3(ns / 1e3), 'µs'];
  if (a < 999_500_000) return [sig3(ns / 1e6), 'ms'];
  return [sig3(ns / 1e9), 's'];
}

export const time = (ns: number): string => timeParts(ns).join(' ').trimEnd();
export const exactNs = (ns: number): string => (clocked ? `${Math.round(ns).toLocaleString('en')} ns` : NOT);

/** bytes in decimal units, as memory vendors and the tape use them. */
export function bytes(n: number): string {
  const units: [number, string][] = [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']];
  for (const [k, u] of units) if (n >= k * 0.9995) return `${sig3(n / k)} ${u}`;
  return `${n} B`;
}

export const count = (n: number): string => n.toLocaleString('en');

/** sharePart is a part of a whole in per cent; below 0.1 it says so. */
export function share(part: number, whole: number): string {
  if (!(whole > 0) || !clocked) return '–';
  const p = (100 * part) / whole;
  if (p === 0) return '0';
  return p < 0.1 ? '<0.1' : p >= 10 ? p.toFixed(0) : p.toFixed(1);
}

const PROV_TITLE: Record<Prov, string> = {
  measured: 'measured',
  derived: 'derived from measured values',
  declared: 'declared by a file or a vendor, not measured',
};

/**
 * badge is the mark that every number carries: a filled dot for measured, a
 * half dot for derived, a ring for declared. how says where it comes from.
 */
export function badge(prov: Prov, how = ''): string {
  if (!clocked && prov !== 'declared' && !/shape/.test(how)) return '';
  const t = PROV_TITLE[prov] + (how ? `: ${how}` : '');
  return `<span class="bd ${prov}" role="img" aria-label="${esc(t)}" title="${esc(t)}"></span>`;
}

/** svgBadge draws the same mark inside a drawing, centred on x, y. */
export function svgBadge(x: number, y: number, prov: Prov): string {
  if (!clocked && prov === 'measured') return '';
  const ring = `<circle cx="${x}" cy="${y}" r="3" fill="${prov === 'measured' ? 'var(--text-2)' : 'none'}" stroke="var(--text-2)"/>`;
  return prov === 'derived' ? `${ring}<path d="M${x} ${y - 3}a3 3 0 0 0 0 6z" fill="var(--text-2)"/>` : ring;
}

/** num is a number in HTML: value, small unit, badge, exact value in the title. */
export function num(parts: [string, string], exact: string, prov: Prov, how = ''): string {
  if (parts[0] === NOT) return '<span class="none">not measured</span><span class="bd" hidden></span>'; // labels are put before the badge
  return `<span class="num" title="${esc(exact)}" data-exact="${esc(exact)}">${parts[0]}<small>${parts[1]}</small></span>${badge(prov, how)}`;
}

/** timeText is a duration in a line of text, with its badge. */
export function timeText(ns: number, prov: Prov = 'measured', how = ''): string {
  return `<span class="mono nb" title="${exactNs(ns)}">${time(ns)}${badge(prov, how)}</span>`;
}

/** Bytes of a token whose text is not whole UTF-8, as <E4> signs. */
function byteSigns(b64: string): string {
  try {
    return [...atob(b64)].map((c) => `<${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}>`).join('');
  } catch {
    return '<?>';
  }
}

/** signs shows white space as signs, so that no text is blank. */
export function signs(s: string): string {
  if (s === '') return '∅';
  return s
    .replace(/^ +/, (m) => '·'.repeat(m.length))
    .replace(/ +$/, (m) => '·'.repeat(m.length))
    .replace(/\r/g, '␍').replace(/\n/g, '↵').replace(/\t/g, '⇥')
    .replace(/[\u00a0\u00ad\u2000-\u200f\u2028-\u202f\u2060-\u2064\u3000\ufeff]/g, (c) => `<U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, (c) => `<${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}>`);
}

export function tokenText(t: Token): string {
  if (t.bytes && (t.text === '' || t.text.includes('\ufffd'))) return byteSigns(t.bytes);
  return signs(t.text);
}

/** cutMiddle shortens s to n characters and keeps both ends. */
export function cutMiddle(s: string, n: number): string {
  if (s.length <= n) return s;
  const head = Math.ceil((n - 1) / 2);
  return `${s.slice(0, head)}…${s.slice(s.length - (n - 1 - head))}`;
}

/** inline turns `code` and **strong** of a step's text into HTML, all else escaped. */
export function inline(text: string): string {
  return esc(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<b>$1</b>')
    .replace(/\[([^\]]+)\]\((https?:[^)\s]+|\/[^)\s]*)\)/g, '<a href="$2">$1</a>');
}
