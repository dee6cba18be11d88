// What leaves the page: CSV of a table, a view as SVG with its text as text,
// a canvas as PNG, and the unrolled walk for print.
import { esc, exactNs, inline, share, time } from './format';
import { STAGES, STAGE_NAME, type Recording } from './recording';
import type { Table } from './views/view';

const cell = (v: string | number): string => (/[",\n\r]/.test(String(v)) ? `"${String(v).replace(/"/g, '""')}"` : String(v));

/** csv writes a table after RFC 4180. */
export const csv = (t: Table): string => [t.head, ...t.rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';

export function tableHtml(t: Table): string {
  const right = t.head.map((_, c) => t.rows.every((r) => typeof r[c] === 'number' || r[c] === '' || /^[<\d]/.test(String(r[c]))));
  const row = (r: (string | number)[], n: number): string => `<tr${n === t.now ? ' class="now" aria-current="true"' : ''}>${r.map((v, c) => `<td${right[c] ? ' class="r"' : ''}>${esc(v)}</td>`).join('')}</tr>`;
  return `<table><caption>${esc(t.caption)}</caption><thead><tr>${t.head.map((h, c) => `<th scope="col"${right[c] ? ' class="r"' : ''}>${esc(h)}</th>`).join('')}</tr></thead><tbody>${t.rows.map(row).join('')}</tbody></table>`;
}

/** freeSvg makes an SVG of the page stand alone: tokens become colours, the sheet for text goes in. */
export function freeSvg(svg: string, css: (name: string) => string, sheet: string): string {
  const rules = [...sheet.matchAll(/^(?:svg |\.hair|:where\(svg)[^\n]*$/gm)].map((m) => m[0]).join('\n');
  const solve = (s: string): string => { let t = s; for (let k = 0; k < 4 && t.includes('var('); k++) t = t.replace(/var\((--[\w-]+)\)/g, (_, n: string) => css(n) || 'currentColor'); return t; };
  const at = svg.indexOf('>') + 1;
  return solve(`${svg.slice(0, at)}<style>${rules}</style><rect width="100%" height="100%" fill="var(--page)"/>${svg.slice(at)}`);
}

/** sized gives a free-standing SVG the width and height of its viewBox, which an image needs. */
export function sized(svg: string): { svg: string; w: number; h: number } {
  const [, , w = 0, h = 0] = (/viewBox="([^"]*)"/.exec(svg)?.[1] ?? '').split(/\s+/).map(Number), end = svg.indexOf('>');
  const head = svg.slice(0, end).replace(/\s(?:width|height)="[^"]*"/g, '');
  return { svg: `${head} width="${w}" height="${h}"${svg.slice(end)}`, w, h };
}

/** pngOf paints a free-standing SVG, k device px a px. */
export async function pngOf(free: string, k = 2): Promise<Blob | null> {
  const { svg, w, h } = sized(free), img = new Image(), cv = document.createElement('canvas');
  img.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await img.decode();
  cv.width = Math.ceil(w * k);
  cv.height = Math.ceil(h * k);
  cv.getContext('2d')!.drawImage(img, 0, 0, cv.width, cv.height);
  return new Promise((done) => cv.toBlob(done, 'image/png'));
}

export function save(name: string, type: string, data: string | Blob): void {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(typeof data === 'string' ? new Blob([data], { type }) : data);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 2000);
}

/** unrolled is the whole walk as a document, for print; figure is the map at its last step. */
export function unrolled(r: Recording, figure = ''): string {
  const f = r.file, t = r.total;
  let h = `<h1>${esc(r.name)}</h1><p>${esc([f.model.name, f.model.quantization, f.device.name, f.engine.name, f.engine.commit, f.started].filter(Boolean).join(', '))}. ${time(t.ns)} (${exactNs(t.ns)}, ${t.prov}). Times of steps are measured and summed; shares are derived.</p>`;
  h += `<p>Answer: ${esc(r.file.request.text ?? r.output.map((t) => t.text).join(''))}</p>`;
  if (figure) h += `<div class="fig">${figure}</div>`;
  for (const stage of STAGES) {
    const list = r.steps.map((s, i) => ({ s, i })).filter(({ s }) => s.stage === stage);
    if (!list.length) continue;
    h += `<h2>${STAGE_NAME[stage]}, ${time(r.stageTime(stage))}</h2>`;
    for (const { s, i } of list) {
      const code = s.source.code, ref = `${s.source.path}:${s.source.line} ${s.source.symbol} ${s.source.commit}`;
      const seven = code?.lines.map((line, n) => ({ line, no: code.first + n })).filter(({ no }) => Math.abs(no - s.source.line) <= 3) ?? [];
      h += `<article><h3>${i + 1}. ${esc(s.title)}: ${s.count ? `${time(s.time_ns)}, ran ${s.count === 1 ? 'once' : `${s.count} times`}, ${share(s.time_ns, t.ns)} %` : 'not reached'}</h3><p>${inline(s.text)}</p>${s.in ? `<p>in: ${esc(s.in)}</p>` : ''}${s.out ? `<p>out: ${esc(s.out)}</p>` : ''}${s.source.path ? `<p>${esc(ref)}</p>` : ''}${seven.length ? `<pre>${seven.map(({ line, no }) => `<div${no === s.source.line ? ' class="lit"' : ''}>${no}  ${esc(line)}</div>`).join('')}</pre>` : ''}</article>`;
    }
  }
  return h;
}
