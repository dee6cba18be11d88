// "The request, as it is here": the nine forms in a row and, below, what the
// request holds at this step, drawn from the recording alone. Where the
// recording holds no content for a form, the step's own in and out lines are
// shown instead. Strings only.
import { cutMiddle, esc, sig3, signs, svgBadge, time, tokenText } from './format';
import { captured, row } from './arrays';
import { mark } from './map';
import { attrAt, isNumber, isNumbers, isText, type Recording } from './recording';
import type { Form, Span, Token } from './schema';
import { at, type State } from './state';

const CHAIN: [Form, string][] = [['bytes', 'bytes'], ['json', 'JSON'], ['text', 'text'], ['ids', 'ids'], ['pages', 'pages'], ['vector', 'vector'], ['scores', 'scores'], ['logits', 'logits'], ['piece', 'piece']];

interface Box { x: number; y: number; w: number; h: number }
interface At { r: Recording; s: State; i: number; form: Form; spans: Span[] }

export function inset(r: Recording, s: State, b: Box): string {
  const i = at(r, s), form = r.roles[i]!.form, deliver = r.steps[i]!.stage === 'deliver';
  let on = CHAIN.findIndex((c) => c[0] === form);
  if (deliver && (form === 'text' || form === 'bytes' || form === 'json')) on = CHAIN.length - 1;
  const last = on === CHAIN.length - 1 ? CHAIN.find((c) => c[0] === form)! : CHAIN.at(-1)!, chain = [...CHAIN.slice(0, -1), last];
  const n = chain.length, y = b.y + 18.5;
  let g = `<text x="${b.x}" y="${b.y}" class="cap s">The request, as it is here</text><line x1="${b.x}" x2="${b.x + b.w}" y1="${y}" y2="${y}" class="hair2"/>`;
  chain.forEach(([f, name], k) => {
    const cx = b.x + 4 + (k * (b.w - 8)) / (n - 1), here = k === on;
    g += here ? mark(cx, y, f, true) : `<rect x="${cx - 3}" y="${y - 3}" width="6" height="6" fill="${k < on ? 'var(--graphic)' : 'var(--page)'}" stroke="var(--graphic)"/>`;
    const cls = k === 0 ? '' : k === n - 1 ? 'end' : 'mid';
    g += `<text x="${k === 0 ? b.x : k === n - 1 ? b.x + b.w : cx}" y="${b.y + 37}" class="${cls} cap ${here ? 'b' : 's'}">${name}</text>`;
  });
  const c: At = { r, s, i, form, spans: r.spansNear(i, s.pass, s.layer) };
  return g + content(c, { x: b.x, y: b.y + 58, w: b.w, h: b.h - 58 });
}

function content(c: At, b: Box): string {
  const draw = { bytes: bytesOf, json: jsonOf, text: textOf, ids: idsOf, pages: pagesOf, vector: vectorOf, scores: scoresOf, logits: logitsOf, piece: pieceOf }[c.form];
  const g = draw(c, b) || inOut(c, b);
  return g + (['bytes', 'json', 'text', 'ids', 'piece'].includes(c.form) || captured(c.r, 'attention') ? '' : runs(c, { ...b, y: b.y + 62, h: b.h - 62 }));
}

const line = (b: Box, n: number, text: string, cls = ''): string =>
  `<text x="${b.x}" y="${b.y + 4 + n * 17}" class="m ${cls}" xml:space="preserve">${esc(text)}</text>`;

function wrap(text: string, chars: number, rows: number): string[] {
  const out: string[] = [];
  let rest = text;
  while (rest && out.length < rows) {
    out.push(rest.slice(0, chars));
    rest = rest.slice(chars);
  }
  if (rest && out.length) out[out.length - 1] = `${out.at(-1)!.slice(0, chars - 1)}…`;
  return out;
}
/** wrapWords breaks after line ends and at spaces. */
function wrapWords(text: string, chars: number, rows: number): string[] {
  const out: string[] = [''];
  for (const word of text.match(/[^ ↵]*(?:↵+| +|$)/g) ?? []) {
    if (!word) continue;
    const last = out.at(-1)!;
    if (last && (last.endsWith('↵') || last.length + word.trimEnd().length > chars)) out.push(word);
    else out[out.length - 1] = last + word;
  }
  const fitted = out.flatMap((l) => wrap(l, chars, rows));
  return fitted.length > rows ? [...fitted.slice(0, rows - 1), `${fitted[rows - 1]!.slice(0, chars - 1)}…`] : fitted;
}
const fitChars = (b: Box): number => Math.max(12, Math.floor(b.w / 7.3));
const fitRows = (b: Box): number => Math.max(1, Math.floor((b.h + 8) / 17));

/** The step's own lines, from its spans or from the walk. */
export function inOut({ r, i, spans }: { r: Recording; i: number; spans: Span[] }, b: Box): string {
  const s = r.steps[i]!, a = attrAt(spans, 'in', isText) ?? s.in, z = attrAt(spans, 'out', isText) ?? s.out;
  let g = '', n = 0;
  for (const [k, v] of [['in', a], ['out', z]] as const) {
    if (!v) continue;
    g += `<text x="${b.x}" y="${b.y + 4 + n * 17}" class="s cap">${k}</text>`;
    for (const row of wrap(signs(v), fitChars({ ...b, w: b.w - 30 }), Math.max(1, Math.floor(fitRows(b) / 2)))) g += line({ ...b, x: b.x + 30 }, n++, row);
  }
  return g || `<text x="${b.x}" y="${b.y + 4}" class="s">${s.count === 0 ? 'Not reached in this request.' : 'What went in and out is not in this recording.'}</text>`;
}

function bytesOf(c: At, b: Box): string {
  const peek = attrAt(c.spans, 'peek', isText);
  if (!peek) return inOut(c, b);
  let g = '';
  const enc = new TextEncoder().encode(peek), per = fitChars(b) >= 56 ? 12 : 8;
  for (let n = 0; n < fitRows(b) && n * per < enc.length; n++) {
    const row = [...enc.slice(n * per, n * per + per)];
    const hex = row.map((v) => v.toString(16).padStart(2, '0')).join(' ').padEnd(per * 3 - 1);
    g += line(b, n, `${(n * per).toString(16).padStart(4, '0')}  ${hex}  ${row.map((v) => (v > 31 && v < 127 ? String.fromCharCode(v) : '.')).join('')}`, n ? 's' : '');
  }
  return g;
}

function jsonOf(c: At, b: Box): string {
  const q = c.r.file.request;
  if (c.r.steps[c.i]!.stage === 'deliver') return pieceOf(c, b) || inOut(c, b);
  const what = { ...(q.messages ? { messages: q.messages } : { prompt: q.prompt }), ...q.params };
  const rows: string[] = [];
  for (const [k, v] of Object.entries(what)) {
    const item = `${JSON.stringify(k)}: ${JSON.stringify(v)}`, last = rows.at(-1);
    if (last !== undefined && last.length + item.length + 2 <= fitChars(b) - 2) rows[rows.length - 1] = `${last}, ${item}`;
    else rows.push(item);
  }
  const text = rows.flatMap((row) => wrap(row, fitChars(b) - 2, 3)).slice(0, fitRows(b));
  return text.map((row, n) => line(b, n, (n === 0 ? '{ ' : '  ') + row)).join('');
}

/** At delivery the text is the piece of this pass, beside what has left before it. */
function pieceOf(c: At, b: Box): string {
  const k = c.r.tokenOfPass(c.s.pass), t = c.r.output[k];
  if (!t || !c.r.inTokens(c.i)) return '';
  const before = c.r.output.slice(Math.max(0, k - 12), k).map(tokenText).join('');
  let g = `<text x="${b.x}" y="${b.y + 18}" class="m big" xml:space="preserve"><tspan class="s">${esc(before.slice(-22))}</tspan><tspan class="b">${esc(tokenText(t))}</tspan></text>`;
  g += `<text x="${b.x}" y="${b.y + 42}" class="cap s">piece ${k + 1} of ${c.r.output.length}, id <tspan class="m">${t.id}</tspan></text>`;
  const o = attrAt(c.spans, 'out', isText);
  if (o) g += line({ ...b, y: b.y + 58 }, 0, cutMiddle(signs(o), fitChars(b)), 's');
  return g;
}

function textOf(c: At, b: Box): string {
  if (c.r.steps[c.i]!.stage === 'deliver') return pieceOf(c, b);
  const text = c.r.file.request.rendered;
  if (!text) return '';
  return wrapWords(signs(text), fitChars(b), fitRows(b)).map((t, n) => line(b, n, t)).join('');
}

/** Ids with their pieces, the last of the prompt first in view; after a pass, the token it drew. */
function idsOf(c: At, b: Box): string {
  const per = Math.max(3, Math.min(7, Math.floor(b.w / 78))), cw = b.w / per, rows = Math.max(1, Math.floor((b.h + 10) / 34));
  const late = c.r.steps[c.i]!.stage === 'deliver';
  const all: Token[] = [...c.r.prompt, ...(late ? c.r.output.slice(0, c.r.tokenOfPass(c.s.pass) + 1) : [])];
  const list = all.slice(-per * rows);
  return list.map((t, n) => {
    const x = b.x + (n % per) * cw, y = b.y + Math.floor(n / per) * 34, now = late && n === list.length - 1;
    return `<text x="${x}" y="${y + 2}" class="m${now ? ' b' : ''}">${esc(cutMiddle(tokenText(t), Math.floor((cw - 6) / 7.3)))}<title>${esc(t.text)}</title></text><text x="${x}" y="${y + 16}" class="m s cap">${t.id}</text>`;
  }).join('');
}

/** The page table: attrs pages (numbers), page_size, tokens, shared (number of shared pages). */
function pagesOf(c: At, b: Box): string {
  const pages = attrAt(c.spans, 'pages', isNumbers), size = attrAt(c.spans, 'page_size', isNumber);
  if (!pages) return inOut(c, b);
  if (!size) return pageNumbers(pages, b) + inOut(c, { ...b, y: b.y + 60, h: b.h - 60 });
  const used = attrAt(c.spans, 'tokens', isNumber) ?? 0, shared = attrAt(c.spans, 'shared', isNumber) ?? 0;
  const fitN = Math.min(pages.length, Math.max(1, Math.floor((b.w + 16) / 110))), from = Math.max(0, pages.length - fitN), pw = Math.min(120, (b.w - 16 * (fitN - 1)) / fitN);
  const perRow = Math.ceil(size / 2), cell = pw / perRow;
  let g = '';
  for (let p = from; p < pages.length; p++) {
    const x = b.x + (p - from) * (pw + 16);
    g += `<text x="${x}" y="${b.y + 4}" class="cap"><tspan class="s">page </tspan><tspan class="m">${pages[p]}</tspan><tspan class="s">${p < shared ? '  shared' : ''}</tspan></text>`;
    for (let k = 0; k < size; k++) {
      const full = p * size + k < used, x1 = x + (k % perRow) * cell + 0.5, y1 = b.y + 12 + Math.floor(k / perRow) * cell + 0.5;
      g += `<rect x="${x1}" y="${y1}" width="${cell - 2}" height="${cell - 2}" fill="${full ? (p < shared ? 'var(--st-S-t)' : 'var(--st-S)') : 'none'}" stroke="var(--st-S)"/>`;
    }
  }
  return `${g}<text x="${b.x}" y="${b.y + 34 + 2 * cell}" class="cap s">${from > 0 ? `${from} pages before these; ` : ''}${used} of ${pages.length * size} rows taken</text>`;
}

/** How long the step took each time: in every layer of this pass, or in every pass. */
function runs(c: At, b: Box): string {
  if (b.h < 58 || c.spans.some((p) => p.attrs && ['probs', 'scores', 'values', 'top_ids'].some((k) => k in p.attrs!))) return '';
  const layered = c.r.inLayers(c.i), keys = layered ? Array.from({ length: c.r.layers }, (_, k) => k) : c.r.passNumbers;
  const v = keys.map((k) => (layered ? c.r.timeAt(c.i, c.s.pass, k) : c.r.timeAt(c.i, k))), some = v.filter((x): x is number => x !== null);
  if (some.length < 4) return '';
  const max = Math.max(...some), H = Math.min(92, b.h - 40), cw = b.w / keys.length, base = b.y + 8 + H, now = layered ? c.s.layer : keys.indexOf(c.s.pass);
  let g = `<text x="${b.x}" y="${b.y}" class="cap s">${layered ? `this step in each layer of pass ${c.s.pass}` : 'this step in each pass'}, at most <tspan class="m">${time(max)}</tspan></text>${svgBadge(b.x + b.w - 4, b.y - 4, 'measured')}`;
  v.forEach((x, k) => { if (x !== null) g += `<rect x="${b.x + k * cw + 0.5}" y="${base - (x / max) * (H - 8)}" width="${Math.max(0.8, cw - 2)}" height="${Math.max(1, (x / max) * (H - 8))}" fill="${k === now ? 'var(--text)' : 'var(--st-C)'}"><title>${layered ? `L${k}` : `pass ${keys[k]}`}: ${x} ns</title></rect>`; });
  g += `<line x1="${b.x}" x2="${b.x + b.w}" y1="${base + 0.5}" y2="${base + 0.5}" class="hair2"/><text x="${b.x}" y="${base + 14}" class="cap m s">${layered ? 'L0' : keys[0]}</text><text x="${b.x + b.w}" y="${base + 14}" class="cap m s end">${layered ? `L${keys.length - 1}` : keys.at(-1)}</text>`;
  return g;
}

/** Without the size of a page only which pages are held is known. */
function pageNumbers(pages: number[], b: Box): string {
  const n = Math.min(pages.length, Math.max(1, Math.floor((b.w - 40) / 38))), from = pages.length - n;
  return `${pages.slice(from).map((p, k) => `<rect x="${b.x + k * 38 + 0.5}" y="${b.y + 2.5}" width="30" height="22" fill="var(--st-S-t)" stroke="var(--st-S)"/><text x="${b.x + k * 38 + 15.5}" y="${b.y + 18}" class="m mid">${p}</text>`).join('')}<text x="${b.x}" y="${b.y + 40}" class="cap s">${from > 0 ? `the last ${n} of ${pages.length} pages` : `${pages.length} ${pages.length === 1 ? 'page' : 'pages'} of the cache`}</text>`;
}

/** A vector as bars around zero: what was captured of this step, or attrs values (numbers), of width attrs.width or the model's. */
function vectorOf(c: At, b: Box): string {
  const tape = captured(c.r, `tape_out/${c.s.layer}/${c.r.steps[c.i]!.id}`), v = attrAt(c.spans, 'values', isNumbers) ?? (tape ? Array.from(tape.values) : null);
  if (!v || v.length === 0) return inOut(c, b);
  const n = Math.min(v.length, Math.floor(b.w / 3)), max = Math.max(1e-12, ...v.slice(0, n).map(Math.abs)), H = Math.max(20, Math.min(b.h - 22, 84)), cy = b.y + H / 2 - 4;
  let g = '';
  for (let k = 0; k < n; k++) {
    const h = ((Math.abs(v[k]!) / max) * H) / 2;
    g += `<rect x="${b.x + k * 3}" y="${v[k]! > 0 ? cy - h : cy}" width="2" height="${h + 0.4}" fill="var(--${v[k]! > 0 ? 'pos' : 'neg'})"/>`;
  }
  const width = attrAt(c.spans, 'width', isNumber) ?? c.r.file.model.width ?? v.length;
  return `${g}<line x1="${b.x}" x2="${b.x + b.w}" y1="${cy}" y2="${cy}" class="hair2"/><text x="${b.x}" y="${b.y + H + 10}" class="m s cap">x[0..${n - 1}] of ${width}</text><text x="${b.x + b.w - 10}" y="${b.y + H + 10}" class="m s cap end">max ${sig3(max)}</text>${svgBadge(b.x + b.w - 4, b.y + H + 6, 'measured')}`;
}

/** One row of scores against the keys so far: attrs scores or probs (numbers), head. */
function scoresOf(c: At, b: Box): string {
  const kept = captured(c.r, 'attention'), q = c.r.prompt.length - 1 + Math.max(0, c.r.tokenOfPass(c.s.pass));
  const v = attrAt(c.spans, 'probs', isNumbers) ?? attrAt(c.spans, 'scores', isNumbers) ?? (kept ? row(kept, [c.s.layer, 0, q])?.slice(0, q + 1) : null);
  if (!v || v.length === 0) return inOut(c, b);
  const head = attrAt(c.spans, 'head', isNumber) ?? (kept ? 0 : null), T = v.length, cw = b.w / T, H = Math.max(24, Math.min(b.h - 40, 100)), base = b.y + H, lo = Math.min(0, ...v), max = Math.max(...v) - lo || 1;
  let g = '';
  v.forEach((a, k) => { const h = ((a - lo) / max) * H; g += `<rect x="${b.x + k * cw + 0.5}" y="${base - h}" width="${Math.max(0.6, cw - 2)}" height="${h}" fill="${k === T - 1 ? 'var(--text)' : 'var(--st-C)'}"/>`; });
  g += `<line x1="${b.x}" x2="${b.x + b.w}" y1="${base + 0.5}" y2="${base + 0.5}" class="hair2"/>`;
  const names = [...c.r.prompt, ...c.r.output].map(tokenText), top = v.map((a, k) => [a, k] as const).sort((p, q) => q[0] - p[0]).slice(0, 4).map((p) => p[1]).concat(T - 1);
  let taken: [number, number][] = [];
  for (const k of [...new Set([T - 1, ...top])]) {
    const name = cutMiddle(names[k] ?? '', 14), w = name.length * 6.7, x = Math.max(b.x, Math.min(b.x + b.w - w, b.x + k * cw + cw / 2 - w / 2));
    if (taken.some(([p, q]) => x < q + 8 && x + w > p - 8)) continue;
    taken = [...taken, [x, x + w]];
    g += `<line x1="${b.x + k * cw + cw / 2 - 1}" x2="${b.x + k * cw + cw / 2 - 1}" y1="${base + 1}" y2="${base + 6}" class="hair2"/><text x="${x}" y="${base + 18}" class="cap m">${esc(name)}</text>`;
  }
  return `${g}<text x="${b.x}" y="${base + 36}" class="cap s">the newest token against ${T} keys${head === null ? '' : `, head ${head}${c.r.file.model.heads ? ` of ${c.r.file.model.heads}` : ''}`}</text>${svgBadge(b.x + b.w - 4, base + 32, 'measured')}`;
}

/** best gives the indexes of the n largest values, largest first. */
function best(v: ArrayLike<number>, n: number): number[] {
  const top: number[] = [];
  for (let i = 0; i < v.length; i++) {
    let k = top.length;
    while (k > 0 && v[top[k - 1]!]! < v[i]!) k--;
    if (k < n) { top.splice(k, 0, i); if (top.length > n) top.pop(); }
  }
  return top;
}

interface Cand { id: number; text: string; p: number; how: string }
function candidates(c: At): Cand[] {
  const ids = attrAt(c.spans, 'top_ids', isNumbers), vals = attrAt(c.spans, 'top_logits', isNumbers) ?? attrAt(c.spans, 'top_probs', isNumbers), texts = attrAt(c.spans, 'top_texts', Array.isArray as unknown as (v: unknown) => v is string[]);
  const known = (id: number): string => [...c.r.output, ...c.r.prompt].find((t) => t.id === id)?.text ?? '';
  if (ids && vals) return ids.map((id, n) => ({ id, text: texts?.[n] ?? known(id), p: vals[n] ?? 0, how: '' }));
  const k = c.r.tokenOfPass(c.s.pass), t = c.r.output[k], all = k === 0 ? captured(c.r, 'logits') : null;
  if (all) return best(all.values, 5).map((id) => ({ id, text: known(id), p: all.values[id]!, how: '' }));
  return t?.logprob !== undefined ? [{ id: t.id, text: t.text, p: Math.exp(t.logprob), how: 'drawn' }] : [];
}

function logitsOf(c: At, b: Box): string {
  const list = candidates(c);
  if (list.length === 0) return inOut(c, b);
  const n = Math.min(list.length, 5, Math.max(1, Math.floor(b.h / 18))), max = Math.max(...list.map((k) => Math.abs(k.p)), list.length === 1 ? 1 : 1e-12);
  let g = '';
  for (let k = 0; k < n; k++) {
    const q = list[k]!, y = b.y + k * 18;
    g += `<text x="${b.x}" y="${y + 5}" class="m">${q.text === '' ? 'id' : esc(cutMiddle(tokenText({ id: q.id, text: q.text }), 11))}</text><text x="${b.x + 116}" y="${y + 5}" class="m s end">${q.id}</text><rect x="${b.x + 128}" y="${y - 4}" width="${Math.max(1, ((b.w - 206) * Math.abs(q.p)) / max)}" height="9" fill="var(--st-C)"/><text x="${b.x + b.w - 10}" y="${y + 5}" class="m end">${sig3(q.p)}</text>${svgBadge(b.x + b.w - 3, y + 1, list[0]!.how ? 'derived' : 'measured')}`;
  }
  if (list[0]!.how) g += `<text x="${b.x}" y="${b.y + 26}" class="cap s">the token drawn at this pass and its probability, e to its log-probability</text>`;
  return g;
}
