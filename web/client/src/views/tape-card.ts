// The step card and the table of the tape.
import { splitText, sourcePane } from '../card';
import { badge, bytes, count, esc, exactNs, inline, nsCell, num, share, sig3, time, timeParts } from '../format';
import type { Recording } from '../recording';
import type { State } from '../state';
import { copies, memoryRoof, roofOf } from './pass-roof';
import { rateOf, readSoFar, stopsOf, type Item, type Tape } from './tape-data';
import { num6, type Detail } from './tape-detail';
import { rounded } from './tape-math';
import type { Table } from './view';

const few = (v: ArrayLike<number> | null, from: number): string => (v ? `${Array.from({ length: Math.min(4, v.length - from) }, (_, k) => num6(Number((v[from + k] ?? 0).toPrecision(3)))).join(' ')} …` : '');

function lead(x: Item): string {
  if (x.kind === 'cache') return 'The cache is read for every token, and grows with the text.';
  if (x.op === 'embed') return 'Of the embedding, one row a token is read.';
  if (x.rows === 1) return 'A norm has one weight a column.';
  return 'Every weight is read once for every pass.';
}

function body(x: Item): string {
  if (x.kind === 'cache') return 'Keys and values of the tokens so far lie in pages of the KV cache. The model file has nothing of them: they were written by the passes before, and this read is what grows as the answer does.';
  if (x.op === 'embed') return 'The table has a row for every token. A pass takes the rows of its own tokens, copies them to the residual line, and leaves the rest alone.';
  if (x.rows === 1) return 'The vector is small, is read from a cache after the first time, and stays in 32 bits in most files.';
  return `The tape is the model file in the order in which the engine reads it. The block below is as the file stores it; the CPU backend lays the same codes out anew for its instructions, 16 rows side by side, and never writes floats back.${x.op === 'lm_head' ? ' The head is read last and whole, however few rows want logits.' : ''}`;
}

export function tapeCard(r: Recording, s: State, t: Tape, n: number, d: Detail | null): string {
  const x = t.items[n]!, step = r.steps[x.step], rate = rateOf(x), roof = roofOf(r), memory = roof && memoryRoof(roof), stops = stopsOf(t), stop = stops.findIndex((q) => n >= q.from && n <= q.to);
  let h = `<div class="c-main"><div class="c-pad"><div class="c-where"><span class="sq C" aria-hidden="true">C</span>Compute / ${esc(step?.label ?? x.op)}<span class="pos" title="stop ${stop + 1} of ${stops.length} of the walk">${n + 1} / ${t.items.length}</span></div>`;
  h += `<h2>${esc(x.kind === 'cache' ? (/mix$/.test(x.op) ? 'Values of the cache' : 'Keys of the cache') : `${step?.title ?? x.op}: the weights`)}</h2><span class="sym" title="${esc(x.name)}">${esc(x.kind === 'cache' ? `layer ${x.layer}, ${x.op}` : `${x.name || 'name not recorded'}${x.type ? `, ${x.type}` : ''}`)}</span>`;
  h += `<p class="lede">${lead(x)}</p><p class="c-p">${body(x)}</p>`;
  const does = step?.short ?? (step ? splitText(step.text).lede : '');
  if (does) h += `<p class="c-p"><em>What it does</em>${inline(does)}</p>`;
  h += `</div><div class="c-time"><div>${num(cut(bytes(x.bytes)), `${count(Math.round(x.bytes))} bytes`, x.kind === 'cache' ? 'derived' : 'declared', x.kind === 'cache' ? 'from shapes' : 'as stored in the file').replace('</span><span class="bd', '</span>read<span class="bd')}</div>`;
  h += x.ns < 0 ? '<div><span class="none">not measured</span>this read</div><div></div></div>' : `<div>${num(timeParts(x.ns), exactNs(x.ns), 'measured', 'time of the op').replace('</span><span class="bd', '</span>this read<span class="bd')}</div><div>${rate === null ? '<span class="none">–</span>' : num([sig3(rate), 'GB/s'], `${x.bytes} bytes in ${x.ns} ns`, 'derived', 'bytes by time of the op').replace('</span><span class="bd', `</span>${memory ? `${share(rate, memory.max)}% of ${copies(roof!) ? 'copy' : 'roof'}` : 'no roof'}<span class="bd`)}</div></div>`;
  const so = readSoFar(t, n), rows: [string, string][] = [['so far', `${bytes(so.bytes)}${so.ns === null ? '' : `, ${time(so.ns)}`}${badge('derived', 'sum of what was read')}`]];
  if (so.cache) rows.push(['cache', `${bytes(so.cache)} of ${bytes(t.cache)}`]);
  if (x.rows > 1) rows.push(['shape', `${count(x.rows)} rows × ${count(x.cols)}`]);
  if (d && d.x.n === n) {
    const from = d.block?.first ?? 0;
    if (d.input && x.op !== 'embed') rows.push([x.kind === 'cache' ? 'in' : `x[${from}..]`, few(d.input, from)]);
    if (d.block) rows.push([x.rows > 1 ? `w[${d.row}]` : 'w', few(d.block.values, 0)]);
    if (d.output) rows.push([`out[${x.rows > 1 ? d.row : from}..]`, few(d.output, x.rows > 1 && x.op !== 'embed' ? d.row : from)]);
  }
  h += `<dl class="c-io tp-io">${rows.map(([k, v]) => `<dt>${esc(k)}</dt><dd>${v}</dd>`).join('')}</dl></div>`;
  return h + (step ? sourcePane(step, s, 'C') : '');
}

const cut = (s: string): [string, string] => { const [a = '', b = ''] = s.split(' '); return [a, b]; };

/** At a matrix the table lists the tape; inside one, the sum of the row block by block, or the weights of the block. */
export function tapeTable(t: Tape | null, d: Detail | null, label: (x: Item) => string): Table {
  if (!t) return { caption: 'The recording has no such pass.', head: [], rows: [] };
  if (d?.block && (d.level === 'block' || d.level === 'weight')) {
    const q = d.block, xs = d.input && d.x.op !== 'embed' ? d.input : null, kernel = xs && d.worked?.rounding.run ? rounded(xs, d.worked.rounding).values : xs;
    let sum = 0;
    return {
      caption: `${d.x.name}, row ${d.row}, block ${d.blk} of ${q.blocks}: bytes ${q.bytes} at offset ${q.offset} of the tensor. ${q.formula}. Stored values are declared; x is captured${d.worked ? `, ${d.worked.rounding.what}` : ''}; products are derived.`,
      head: ['column', 'q', 'scale', 'min', 'w', 'x', 'x in the kernel', 'w × x', 'sum in the block'], now: d.level === 'weight' ? d.wt : -1,
      rows: q.values.map((w, i) => { const c = q.first + i, g = Math.floor(i / q.group), k = kernel?.[c]; if (k !== undefined) sum += w * k; return [c, q.codes?.[i] ?? '', q.scale?.[g] ?? '', q.min?.[g] ?? '', w, xs?.[c] ?? '', k ?? '', k === undefined ? '' : w * k, k === undefined ? '' : sum]; }),
    };
  }
  if (d?.worked && (d.level === 'row' || d.sum)) {
    const w = d.worked;
    return {
      caption: `${d.x.name}, row ${d.row}: ${w.rounding.what}. Worked ${w.value}; came out ${d.output?.[d.row] ?? 'not captured'}; with the input as it is ${w.plain}. Sum of sizes ${w.size}.`,
      head: ['block', 'columns', 'sum of w × x', 'running sum'], now: d.blk,
      rows: w.parts.map((v, i) => [i, `${i * d.span} to ${Math.min(d.x.cols, (i + 1) * d.span) - 1}`, v, w.sums[i]!]),
    };
  }
  let read = 0;
  return {
    caption: `Pass ${t.pass.index}, ${t.pass.kind}: everything that is read, in order. Bytes of weights are declared by the file, bytes of the cache derived from shapes, times measured, rates derived.${t.named ? '' : ' The recording does not name its weights: bytes are those of the ops, with inputs and outputs.'}`,
    head: ['#', 'kind', 'layer', 'op', 'tensor', 'type', 'rows', 'columns', 'bytes', 'weights read so far', 'start ns', 'ns', 'GB/s'], now: t.items.findIndex((x) => d?.x.n === x.n),
    rows: t.items.map((x) => { if (x.kind === 'weight') read += x.bytes; const v = rateOf(x); return [x.n + 1, x.kind === 'cache' ? 'KV cache' : 'weights', x.layer < 0 ? '' : x.layer, label(x), x.name, x.type, x.rows || '', x.cols || '', Math.round(x.bytes), Math.round(read), x.start < 0 ? '' : nsCell(x.start), x.ns < 0 ? '' : x.ns, v === null ? '' : v.toFixed(2)]; }),
  };
}
