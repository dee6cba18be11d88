// Right part of the Lens view: who wrote a word of the answer, as signed bars
// that add up to its logit; each layer's sum beside its row; and the last two
// layers close up. SVG strings only.
import { cutMiddle, esc, svgBadge } from '../format';
import { kindOf, leading, signed, type Lens, type Pair, type Row } from './lens-data';
import { wordList } from './lens-pick';

export interface Box { x: number; y: number; w: number; h: number }

const letter = (x: number, y: number, k: string): string => `<rect x="${x}" y="${y - 9}" width="12" height="12" fill="var(--fam-${k})"/><text x="${x + 6}" y="${y + 1}" class="mid cap b" fill="var(--page)">${k}</text>`;
const short = (t: string, n: number): string => esc(cutMiddle(t, n));

/** headOf names the head of a component such as L24.H6, or null. */
export const headOf = (name: string): [number, number] | null => { const m = /^L(\d+)\.H(\d+)$/.exec(name); return m ? [Number(m[1]), Number(m[2])] : null; };

export const label = (name: string): string => (name === 'embed' ? 'embedding' : name.replace('.', ' '));

/** whoWrote draws the words of output token k to choose from and the bars of the chosen pair, and returns how high all is. b.h is the room for it. */
export function whoWrote(ln: Lens, k: number, pair: Pair | null, b: Box): { svg: string; h: number } {
  const list = ln.writers(k, pair), against = !!pair?.against, said = ln.text(pair?.of.id ?? ln.said(k).said);
  let s = `<text x="${b.x}" y="${b.y}" class="b">Who wrote <tspan class="m">${short(said, 12)}</tspan>${pair?.against ? `<tspan class="s" font-weight="400"> against </tspan><tspan class="m">${short(ln.text(pair.against.id), 10)}</tspan>` : ''}</text>`;
  if (!list || !pair) return { svg: `${s}<text x="${b.x}" y="${b.y + 20}" class="s cap">not in this recording</text>`, h: 30 };
  const words = ln.candidates(k).length > 1 ? wordList(ln, k, pair, { ...b, y: b.y + 18 }) : { svg: '', h: -18 }, above = 18 + words.h, most = Math.max(4, Math.floor((b.h - above - 68) / 17));
  s += words.svg;
  const { top, others, rest, sum } = leading(list, most), rows: [string, number, string][] = top.map((w) => [w.name, w.v, kindOf(w.name)]);
  if (others > 0) rows.push([`${others} others`, rest, '']);
  const r = 17, y0 = b.y + 14 + above, left = 94, nums = 62, lo = Math.min(0, ...rows.map((x) => x[1])), hi = Math.max(0, ...rows.map((x) => x[1])), span = hi - lo || 1, room = b.w - left - nums - 8, k1 = room / span, zero = b.x + left + -lo * k1;
  s += `<path d="M${zero + 0.5} ${y0}v${rows.length * r}" class="hair2"/>`;
  rows.forEach(([name, v, kind], n) => {
    const y = y0 + n * r + r / 2 + 4, w = Math.max(1, Math.abs(v) * k1), head = headOf(name);
    s += `<g${head ? ` data-head="${head.join('.')}" class="st" tabindex="0" role="link"` : ''}><title>${esc(label(name))}: ${v}${head ? '; opens its attention map' : ''}</title><rect x="${b.x}" y="${y - 12}" width="${b.w}" height="${r}" fill="transparent"/>${kind ? letter(b.x, y - 1, kind) : ''}<text x="${b.x + 18}" y="${y}" class="${kind ? 'm' : 's'}">${esc(label(name))}</text><rect x="${v >= 0 ? zero : zero - w}" y="${y - 8.5}" width="${w}" height="9" fill="${v >= 0 ? 'var(--pos)' : 'var(--neg)'}"/><text x="${b.x + b.w}" y="${y}" class="m end">${signed(v)}</text></g>`;
  });
  const y = y0 + rows.length * r, engine = pair.of.logit === null || pair.against?.logit === null ? null : pair.of.logit - (pair.against?.logit ?? 0);
  s += `<path d="M${b.x} ${y + 2.5}h${b.w}" class="hair2"/><text x="${b.x}" y="${y + 17}">${against ? 'sum = difference of logits' : 'sum = logit'}</text><text x="${b.x + b.w - 10}" y="${y + 17}" class="m end b">${against ? signed(sum) : sum.toFixed(3)}<title>${sum}</title></text>${svgBadge(b.x + b.w - 3, y + 13, 'derived')}`;
  if (engine !== null) s += `<text x="${b.x}" y="${y + 32}" class="s cap">the engine’s own ${against ? 'difference' : 'logit'}</text><text x="${b.x + b.w - 10}" y="${y + 32}" class="m end s cap">${against ? signed(engine) : engine.toFixed(3)}<title>${engine}</title></text>${svgBadge(b.x + b.w - 3, y + 28, 'measured')}`;
  return { svg: s, h: y - b.y + (engine === null ? 22 : 36) };
}

/** layerBars stand beside the rows: what attention and feed-forward of each layer added to the logit. */
export function layerBars(ln: Lens, k: number, pair: Pair | null, rows: Row[], rh: number, w: number): string {
  const by = ln.byLayer(k, pair);
  if (!by) return '';
  const all = by.flatMap((q) => [q.A, q.F]), lo = Math.min(0, ...all), hi = Math.max(0, ...all), k1 = (w - 16) / (hi - lo || 1), zero = 8 + -lo * k1, double = rows.some((q) => q.half === 'A');
  let s = `<path d="M${zero + 0.5} 0v${rows.length * rh}" class="hair2"/>`;
  const one = (v: number, y: number, h: number, fam: string, what: string): string => `<g><title>${what}: ${signed(v, 4)}</title><rect x="${v >= 0 ? zero : zero + v * k1}" y="${y}" width="${Math.max(0.7, Math.abs(v) * k1)}" height="${h}" fill="var(--fam-${fam})"/></g>`;
  rows.forEach((q, n) => {
    const v = by[q.layer]!, h = Math.max(2, double ? Math.min(9, rh - 4) : (rh - 5) / 2), y = n * rh;
    if (double) s += one(q.half === 'A' ? v.A : v.F, y + (rh - h) / 2, h, q.half, `L${q.layer} ${q.half === 'A' ? 'attention' : 'feed-forward'}`);
    else s += one(v.A, y + 2, h, 'A', `L${q.layer} attention`) + one(v.F, y + 3 + h, h, 'F', `L${q.layer} feed-forward`);
  });
  const step = [1, 2, 5, 10, 20, 50].find((t) => ((hi - lo) / t) * 26 <= w) ?? 100;
  for (let v = Math.ceil(lo / step) * step; v <= hi; v += step) s += `<text x="${zero + v * k1}" y="${rows.length * rh + 12}" class="m mid s cap">${v > 0 ? `+${v}` : String(v).replace('-', '−')}</text>`;
  return s;
}

const head = (name: string): [string, string] => { const m = /^L(\d+)\.(attn|ffn)$/.exec(name); return m ? [`L${m[1]}`, m[2] === 'ffn' ? 'F' : 'A'] : [name.replace(/^before .*/, 'in'), '']; };

/** lastTwo draws how the leading words stand in the last two layers: rank is height, a line follows a word. */
export function lastTwo(ln: Lens, pos: number, b: Box): string {
  const c = ln.closeUp(pos), k = pos - ln.r.prompt.length + 1;
  let s = `<text x="${b.x}" y="${b.y}" class="b">The last two layers</text>`;
  if (!c || b.h < 70) return c ? '' : `${s}<text x="${b.x}" y="${b.y + 18}" class="s cap">not in this recording</text>`;
  const win = k >= 0 && k < ln.r.output.length ? ln.said(k).said : ln.final(pos), logits = c.unit === 'logit', n = c.stages.length, top = b.y + 34, lines = logits ? c.words[0]!.length : Math.min(c.words[0]!.length, Math.max(1, Math.floor((b.h - 40) / 25)));
  const pitch = logits ? Math.max(11, Math.min(19, Math.floor((b.h - 38) / lines))) : Math.min(31, Math.floor((b.h - 38) / lines)), side = logits ? 50 : 0, step = (b.w - side) / n, shown = Math.min(lines, Math.floor((b.h - 36) / pitch));
  s += `<text x="${b.x + b.w - 10}" y="${b.y}" class="end s cap">${b.w < 256 ? c.unit : logits ? `${lines} leading words, logit` : `${lines} leading words, probability`}${logits || k < 1 ? '' : '<title>This recording has the logits of ten words for the first word of the answer only; here it is the probabilities of the leading ones.</title>'}</text>${svgBadge(b.x + b.w - 3, b.y - 4, 'measured')}`;
  const x = (i: number): number => b.x + i * step, y = (r: number): number => top + r * pitch + (logits ? pitch / 2 : 8);
  c.stages.forEach((name, i) => { const [t, f] = head(name); s += `<text x="${x(i)}" y="${top - 12}" class="cap m s">${esc(t)}</text>${f ? letter(x(i) + t.length * 6.7 + 3, top - 12, f) : ''}`; });
  let front = '';
  c.words.forEach((list, i) => list.slice(0, shown).forEach((w, r) => {
    const on = w.id === win, next = i < n - 1 ? c.words[i + 1]!.slice(0, shown).findIndex((q) => q.id === w.id) : -1, value = logits ? w.p.toFixed(1) : w.p.toFixed(3), word = cutMiddle(ln.text(w.id), logits ? 7 : Math.max(4, Math.floor(step / 7.6))), prev = i > 0 ? c.words[i - 1]!.find((q) => q.id === w.id) : undefined;
    const tw = (logits ? value.length * 6.7 : word.length * 7.3) + 3;
    if (next >= 0) s += `<path d="M${x(i) + tw} ${y(r) - 4}L${x(i + 1) - 3} ${y(next) - 4}" stroke="${on ? 'var(--text)' : 'var(--rule-2)'}" stroke-width="${on ? 1.5 : 1}" fill="none"/>`;
    const tip = `<title>${esc(ln.text(w.id))}, id ${w.id}: ${c.unit} ${w.p}${prev ? `, ${signed(w.p - prev.p, 4)} here` : ''}</title>`;
    front += logits ? `<text x="${x(i)}" y="${y(r)}" class="m cap halo${on ? ' b' : ' s'}">${value}${tip}</text>` : `<text x="${x(i)}" y="${y(r)}" class="m halo${on ? ' b' : ''}">${esc(word)}${tip}</text><text x="${x(i)}" y="${y(r) + 12}" class="m s cap halo">${value}</text>`;
    if (logits && i === n - 1) front += `<text x="${b.x + b.w}" y="${y(r)}" class="m end cap${on ? ' b' : ''}">${esc(word)}${tip}</text>`;
  }));
  return s + front;
}
