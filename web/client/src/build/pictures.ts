// The close-ups of the first page's cards, drawn when the site is built: each
// from a recording that ships, by the code that draws its view. Run by
// "go run . -pictures" in cmd/internal/bundle, under node; what it writes is
// an SVG a card and cards.json, with what was counted.
import { readdirSync, readFileSync, rmSync, mkdirSync, writeFileSync } from 'node:fs';
import { arrayOf } from '../fetcharray';
import { bytes, count, time } from '../format';
import { openGbx } from '../gbx';
import { drawMap, SIGN } from '../map';
import { STAGE_LETTER, type Recording } from '../recording';
import type { Step } from '../schema';
import { at, fit, INITIAL, type State } from '../state';
import { Attention } from '../views/attention-data';
import { lensOf, part } from '../views/lens-data';
import { lensPicture } from '../views/lens-picture';
import { memoryChart, memoryGrid } from '../views/memory';
import { memoryOf, momentAt, seriesOf, timeAt } from '../views/memory-data';
import { hasArray, hasLens } from '../views/missing';
import { Modules, windowOn } from '../views/modules-data';
import { drawModules, Lens } from '../views/modules-draw';
import { passModel } from '../views/pass-data';
import { drawPass, layoutPass } from '../views/pass-draw';
import { roofOf } from '../views/pass-roof';
import { tapeOf } from '../views/tape-data';
import { drawStrip } from '../views/tape-draw';
import { SvgContext } from './svg-context';
import { helvetica } from './widths';

/** Px of a picture. Cards are narrower: they show its left part. */
const W = 360, H = 144;

/** A card, as the page gets it. view is where its link leads. */
export interface Card { id: string; title: string; n: number; recording: string; view: string; step: string; facts: string }

/** Of a recording that ships: its name, the text and the arrays. */
interface Shipped { name: string; r: Recording }

interface Kind {
  id: string;
  title: string;
  n: number;
  view: string;
  /** whether this recording has what the card shows; of several the first of `first`, else the first by name, is taken */
  has(r: Recording): boolean;
  first?: string;
  facts(r: Recording): string;
  draw(r: Recording, s: State): Promise<string> | string;
  /** the step it is drawn at, where that is not the middle of a layer */
  at?(r: Recording): Step;
}

const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;
const ours = (r: Recording): boolean => r.file.engine.name === 'glassbox';
const decodes = (r: Recording): number[] => r.passes.filter((p) => p.kind === 'decode').map((p) => p.dur_ns).sort((a, b) => a - b);

/** around is the playhead that a close-up shows: the middle of a layer in a usual pass. */
export function around(r: Recording): State {
  const step = r.steps.find((s) => /scores/.test(s.id)) ?? r.steps.find((s, i) => s.stage === 'compute' && r.inLayers(i)) ?? r.steps.find((s) => s.stage === 'compute') ?? r.steps[0]!;
  return fit(r, { ...INITIAL, step: step.id, pass: r.typicalPass(), layer: Math.floor(r.layers / 2) });
}

function request(r: Recording, s: State): string {
  const m = drawMap(r, s, 1000, 640, helvetica, { gap: 36, pitch: 18 }), p = m.layout.pos[at(r, s)]!;
  return svg(m.svg, [Math.max(0, p.x - 62), Math.max(0, p.y - H * 0.6), W, H]);
}

function pass(r: Recording, s: State): string {
  const m = passModel(r, s.pass, s.layer, 'all')!, cur = m.rows.findIndex((o) => o.id === s.step), w = 720, h = 600, l = layoutPass(m.rows.length, w, h);
  return svg(drawPass({ r, m, cur, layer: s.layer, scope: 'all', roof: roofOf(r), W: w, H: h }), [96, l.y(Math.max(0, cur - 4)) - l.rh / 2, W, H]);
}

function tape(r: Recording, s: State): string {
  const t = tapeOf(r, s.pass)!, cur = t.items.findIndex((x) => x.kind === 'weight' && x.layer === s.layer && /up$/.test(x.op));
  return svg(drawStrip({ t, cur: Math.max(0, cur), past: false, part: 0.6, byTime: false, roof: roofOf(r), W: 560, H: 500, label: (x) => r.steps[x.step]?.label ?? x.op }), [84, 22, W, H]);
}

/** Heads of some layers, as the grid of the view pools them; a step of the ramp a path. */
async function attention(r: Recording): Promise<string> {
  const a = new Attention(await arrayOf(r, 'attention', null), []), tile = 30, pitch = 36, pool = Math.max(1, Math.ceil(a.n / 15)), m = Math.ceil(a.n / pool), cell = tile / m, code = new Uint8Array(m * m), levels = Array.from({ length: 10 }, () => '');
  const from = Math.floor(a.layers / 2) - 2, cols = Math.min(a.heads, Math.floor(W / pitch));
  let back = '';
  for (let l = 0; l < 4; l++) for (let h = 0; h < cols; h++) {
    a.pooled(from + l, h, pool, false, code);
    const x0 = h * pitch, y0 = l * pitch + 2;
    back += `M${x0} ${y0}h${tile}v${tile}h${-tile}z`;
    for (let i = 0; i < m; i++) for (let j = 0; j <= i;) {
      const q = Math.round((code[i * m + j]! / 255) * 9), start = j;
      while (j <= i && Math.round((code[i * m + j]! / 255) * 9) === q) j++;
      if (q > 0) levels[q] += `M${x0 + start * cell} ${y0 + i * cell}h${(j - start) * cell}v${cell}h${-(j - start) * cell}z`;
    }
  }
  return svg(`<path d="${back}" fill="var(--inset)"/>${levels.map((d, q) => (d ? `<path d="${d}" fill="var(--q${q})"/>` : '')).join('')}`, [0, 0, W, H]);
}

/** The last layers at the first words of the answer. */
async function lens(r: Recording): Promise<string> {
  const ln = await lensOf(r, null), n = 6, rows = Array.from({ length: n }, (_, k) => ({ layer: ln.layers - n + k, half: 'F' as const })), list = Array.from({ length: 5 }, (_, k) => r.prompt.length - 1 + k).filter((p) => p < ln.n), vocab = r.file.model.vocab ?? 0;
  const colors = rows.flatMap((row, k) => list.map((p) => [Math.round((part(ln.cell(row, p, rows[k - 1] ?? null), 'probability', vocab) ?? 0) * 5), 0, 0] as [number, number, number]));
  const drawn = lensPicture(ln, { rows, list, cw: 64, rowH: 19, left: 32, head: 30, colors }, { box: `0 0 ${W} ${H}`, top: 0, over: '', bars: { x: 0, svg: '' }, mini: { href: '', w: 0, h: 0 }, now: { n: n - 2, pos: list[1] ?? 0 } });
  return svg(drawn.replace(/^<svg[^>]*>/, '').replace(/<\/svg>$/, '').replace(/<image[^>]*>/, '').replace(/rgb\((\d),0,0\)/g, 'var(--q$1)'), [0, 0, W, H]);
}

function memory(r: Recording): string {
  const m = memoryOf(r)!, me = r.file.request.number ?? 0, p = r.passes.filter((x) => x.kind === 'decode').at(-1) ?? r.passes.at(-1)!, last = r.steps.findIndex((x) => /lm_head/.test(x.id)), t = timeAt(r, Math.max(0, last), p.index, 0);
  const inner = (s: string): string => s.replace(/^<svg[^>]*>/, '').replace(/<\/svg>$/, '');
  return svg(`<g class="mem">${inner(memoryChart(r, m, seriesOf(m, me), t, p.index, W))}<g transform="translate(0 118)">${cull(bare(inner(memoryGrid(m, momentAt(m, me, t), me, W))), [0, 0, W, H - 118])}</g></g>`, [0, 0, W, H]);
}

/** The module maps that ship, by engine. */
const maps = new Map<string, Modules>();

/** Part of the map where the request is, drawn by the view's code for a canvas. */
function modules(r: Recording, s: State): string {
  const m = maps.get(r.file.engine.name)!, route = m.route(r), i = at(r, s), stage = m.list.map(() => ''), w = 1.6 * W, h = 1.6 * H;
  for (const q of route) stage[q.module] ||= STAGE_LETTER[r.steps[q.steps[0]!]!.stage];
  const now = route.reduce((a, q, n) => (q.steps[0]! <= i ? n : a), -1), here = route[now]!.module, win = windowOn(m.list[here]!.box, m.file, 1.7), g = new SvgContext();
  drawModules(g as unknown as CanvasRenderingContext2D, { m, win, W: w, H: h, route, now, mark: here, picked: false, sign: SIGN[r.roles[i]!.form], stage, edges: 'none', found: null, path: [], from: -1, color: (n) => `var(--${n})` });
  const [x, y] = new Lens(m, win, w, h).mid(m.list[here]!.box);
  return svg(g.out, [Math.max(0, Math.min(w - W, x - 110)), Math.max(0, Math.min(h - H, y - H * 0.55)), W, H]);
}

/** What an engine's own walk is, in numbers. */
const engine = (r: Recording): string => `${plural(r.steps.length, 'step')}, ${plural(r.lanes.length, 'lane')}, ${plural(r.spans.length, 'span')}`;
const other = (name: string, title: string): Kind => ({ id: name, title, n: 1, view: 'request', has: (r) => r.file.engine.name.toLowerCase().replace(/[^a-z]/g, '') === name, facts: engine, draw: request });

/** In the order of the page. */
export const KINDS: readonly Kind[] = [
  { id: 'request', title: 'Request', n: 1, view: 'request', first: 'why-is-the-sky-blue', has: ours, facts: (r) => `${plural(r.steps.length, 'step')}, ${plural(r.lanes.length, 'lane')}`, draw: request },
  { id: 'pass', title: 'Pass', n: 2, view: 'pass', first: 'why-is-the-sky-blue', has: (r) => ours(r) && decodes(r).length > 0, draw: pass,
    facts: (r) => { const d = decodes(r), ops = new Set(r.spans.filter((p) => p.op && p.pass === r.typicalPass()).map((p) => p.op)); return `${plural(ops.size, 'op')}, ${time(d[d.length >> 1]!)} a token`; } },
  { id: 'tape', title: 'Tape', n: 3, view: 'tape', first: 'inside-the-pass', has: (r) => ours(r) && (r.file.model.tensors?.length ?? 0) > 0 && decodes(r).length > 0, draw: tape,
    facts: (r) => { const t = tapeOf(r, r.typicalPass())!; return `${plural(t.items.filter((x) => x.kind === 'weight').length, 'matrix', 'matrices')}, ${bytes(Math.round(t.bytes))} a token`; } },
  { id: 'attention', title: 'Attention', n: 4, view: 'attention', first: 'inside-the-pass', has: (r) => hasArray(r, 'attention'), draw: attention,
    facts: (r) => { const [L, h, n] = r.file.arrays!['attention']!.shape; return `${plural(L!, 'layer')}, ${plural(h!, 'head')}, ${plural(n!, 'position')}`; } },
  { id: 'lens', title: 'Lens', n: 5, view: 'lens', first: 'inside-the-pass', has: hasLens, draw: lens,
    facts: (r) => { const [L, n, k] = r.file.arrays!['lens_ids']!.shape; return `${plural(L!, 'layer')}, ${plural(n!, 'position')}, ${plural(k!, 'word')} each`; } },
  { id: 'memory', title: 'Memory', n: 7, view: 'memory', first: 'one-of-four', has: (r) => memoryOf(r) !== null, draw: memory,
    facts: (r) => { const m = memoryOf(r)!; return `${plural(m.pages, 'page')} of ${m.page_tokens} positions, ${plural(m.changes?.length ?? 0, 'change')}`; } },
  { id: 'modules', title: 'Modules', n: 8, view: 'modules', first: 'chat-in-vllm', has: (r) => maps.has(r.file.engine.name), draw: modules, at: (r) => r.steps.find((x) => x.id === 'schedule') ?? r.steps[Math.floor(r.steps.length / 3)]!,
    facts: (r) => { const m = maps.get(r.file.engine.name)!, c = m.counts(); return `${m.file.title}: ${plural(m.list.length, 'module')}, ${count(c.ran + c.by_name)} ran`; } },
  other('llamacpp', 'llama.cpp'), other('vllm', 'vLLM'), other('sglang', 'SGLang'),
];

/** bare takes out what is for the pointer alone. */
const bare = (s: string): string => s.replace(/<title>[^<]*<\/title>/g, '').replace(/><\/rect>/g, '/>');

/** Left, top, width and height of what is seen. */
type Part = [number, number, number, number];

/** svg closes a drawing: its part in box, less what a picture has no use for. */
function svg(body: string, [x, y, w, h]: Part): string {
  const out = cull(bare(body).replace(/ (?:data-[\w-]+|role|aria-\w+|tabindex|class)="[^"]*"/g, (a) => (a.startsWith(' class') && a !== ' class="st"' ? a : '')), [x, y, w, h]);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="${short(`${x} ${y} ${w} ${h}`)}" aria-hidden="true">${short(out)}</svg>`;
}

/** Numbers to a tenth of a px. */
const short = (s: string): string => s.replace(/\d+\.\d{2,}/g, (v) => String(Math.round(Number(v) * 10) / 10));

/** cull leaves out words, boxes and circles that lie outside of the box. Nothing here is in a moved group but what is meant to be. */
function cull(body: string, [x, y, w, h]: Part): string {
  if (/<g [^>]*transform=/.test(body)) return body;
  const out = (a: number, b: number, c: number, d: number): boolean => b < x - 2 || a > x + w + 2 || d < y - 2 || c > y + h + 2;
  const num = (attrs: string, name: string): number => Number(new RegExp(` ${name}="(-?[\\d.]+)"`).exec(attrs)?.[1] ?? NaN);
  let s = body.replace(/<text([^>]*)>((?:(?!<\/text>).)*)<\/text>/g, (all, a: string, t: string) => { const tx = num(a, 'x'), ty = num(a, 'y'), wide = t.replace(/<[^>]*>/g, '').length * 8; return out(tx - wide, tx + wide, ty - 18, ty + 6) ? '' : all; });
  s = s.replace(/<rect([^>]*)\/>/g, (all, a: string) => { const rx = num(a, 'x'), ry = num(a, 'y'); return / fill="transparent"/.test(a) || out(rx, rx + num(a, 'width'), ry, ry + num(a, 'height')) ? '' : all; });
  s = s.replace(/<line([^>]*)\/>/g, (all, a: string) => (out(Math.min(num(a, 'x1'), num(a, 'x2')), Math.max(num(a, 'x1'), num(a, 'x2')), Math.min(num(a, 'y1'), num(a, 'y2')), Math.max(num(a, 'y1'), num(a, 'y2'))) ? '' : all));
  s = s.replace(/<circle([^>]*)\/>/g, (all, a: string) => { const cx = num(a, 'cx'), cy = num(a, 'cy'), r = num(a, 'r'); return out(cx - r, cx + r, cy - r, cy + r) ? '' : all; });
  s = s.replace(/<path d="([^"]*)"[^>]*\/>/g, (all, d: string) => { // one whose corners all lie to one side is not seen
    const at = [...d.matchAll(/[ML](-?[\d.]+)[ ,](-?[\d.]+)/g)].map((q) => [Number(q[1]), Number(q[2])] as const), far = 40;
    return !at.length || /[HVACSQT]/.test(d) || !(at.every((q) => q[1] < y - far) || at.every((q) => q[1] > y + h + far) || at.every((q) => q[0] > x + w + far) || at.every((q) => q[0] < x - far)) ? all : '';
  });
  for (let last = ''; last !== s;) { last = s; s = s.replace(/<g(?: [^>]*)?><\/g>/g, '').replace(/<g ?>((?:(?!<\/?g[ >]).)*)<\/g>/g, '$1'); }
  return s;
}

/** shelf reads the recordings of a folder, the first page's first. */
async function shelf(dir: string): Promise<Shipped[]> {
  const out: Shipped[] = [];
  for (const f of readdirSync(dir).filter((n) => n.endsWith('.gbx')).sort()) {
    const raw = readFileSync(`${dir}/${f}`);
    out.push({ name: f.slice(0, -4), r: await openGbx(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength) as ArrayBuffer) });
  }
  return out;
}

/** pictures draws every card that the recordings have something for. */
export async function pictures(all: Shipped[]): Promise<{ cards: Card[]; files: Map<string, string> }> {
  const cards: Card[] = [], files = new Map<string, string>();
  for (const k of KINDS) {
    const can = all.filter((q) => k.has(q.r)), q = can.find((x) => x.name === k.first) ?? can[0];
    if (!q) continue;
    const s = { ...around(q.r), ...(k.at ? { step: k.at(q.r).id } : {}) };
    files.set(`${k.id}.svg`, `${await k.draw(q.r, s)}\n`);
    cards.push({ id: k.id, title: k.title, n: k.n, recording: q.name, view: k.view, step: s.step, facts: k.facts(q.r) });
  }
  files.set('cards.json', `${JSON.stringify(cards, null, 1)}\n`);
  return { cards, files };
}

/** write puts them into a folder, in place of what was there. */
export async function write(from: string, to: string): Promise<void> {
  const dir = `${from}/../modmaps`;
  for (const f of readdirSync(dir).filter((n) => n.endsWith('.json')).sort()) maps.set(f.slice(0, -5), Modules.parse(JSON.parse(readFileSync(`${dir}/${f}`, 'utf8'))));
  const { files } = await pictures(await shelf(from));
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  for (const [name, text] of files) writeFileSync(`${to}/${name}`, text);
}
