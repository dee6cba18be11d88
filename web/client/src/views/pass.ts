// View 2, Pass: one forward pass op by op, with times summed over the layers
// or of the layer under the dial.
import passCss from '../../../../static/css/pass.css';
import { bytes, esc, exactNs, nsCell, sig3, time } from '../format';
import { STAGE_NAME, type Recording } from '../recording';
import { at, goPass, goStep, type State } from '../state';
import { opt, withOpt } from './attention-opts';
import { adoptCss } from './attention-state';
import { besideHtml, besideTable, peerName, peerOf } from './pass-beside';
import { passCard } from './pass-card';
import { gbs, gflops, kernelsOf, passModel, type PassModel, type Scope } from './pass-data';
import { drawPass } from './pass-draw';
import { roofOf } from './pass-roof';
import { familyStrip } from './pass-strip';
import { noOps, opSteps } from './missing';
import type { Peer } from '../schema';
import type { Table, View, ViewContext, ViewKind } from './view';

export const passView: ViewKind = {
  n: 2, id: 'pass', title: 'Pass',
  missing: noOps,
  mount: (body, ctx) => new PassView(body, ctx),
};

export const scopeOf = (s: State): Scope => (opt(s, 'layers') === 'one' ? 'one' : 'all');

/** rowUnder is the row of the playhead: -1 before the pass, the number of rows behind it. */
export function rowUnder(r: Recording, s: State): number {
  const ops = opSteps(r), i = at(r, s), n = ops.indexOf(i);
  return n >= 0 ? n : i < (ops[0] ?? 0) ? -1 : ops.length;
}

/** otherKind goes to the first pass of the other kind, prefill or decode; null where there is none. */
export function otherKind(r: Recording, s: State): State | null {
  const pre = r.passes.find((p) => p.index === s.pass)?.kind === 'prefill';
  const n = r.passes.findIndex((p) => (p.kind === 'prefill') !== pre);
  return n < 0 ? null : goPass(r, s, r.passNumbers.indexOf(r.passes[n]!.index));
}

export function passTable(r: Recording, s: State): Table {
  const m = passModel(r, s.pass, s.layer, scopeOf(s)), scope = scopeOf(s);
  if (!m) return { caption: 'The recording has no such pass.', head: [], rows: [] };
  const u = m.unexplained, head = ['op', 'shape', 'ns', 'share %', 'least ns', 'median ns', 'most ns', 'passes', 'bytes', 'GB/s', 'flops', 'Gop/s', 'kernels', 'launches', 'threads'];
  const rows: (string | number)[][] = m.rows.map((o) => {
    const ks = kernelsOf(r, o.spans), s0 = o.spread;
    return [o.label, o.shape, o.ns ?? (r.clocked ? 'did not run' : 'not measured'), o.ns === null ? '' : (100 * o.ns / m.pass.dur_ns).toFixed(2), s0?.min ?? '', s0?.median ?? '', s0?.max ?? '', s0?.n ?? 0, o.bytes, fixed(gbs(o.bytes, o.ns)), o.flops, fixed(gflops(o.flops, o.ns)),
      ks.map((k) => `${k.name} ${k.variant} ${r.clocked ? `${k.ns} ns` : ''}`.trim()).join('; '), o.spans.length, Math.max(0, ...ks.map((k) => k.threads))];
  });
  const line = (name: string, ns: number): (string | number)[] => [name, '', Math.round(ns), (100 * ns / m.pass.dur_ns).toFixed(2), ...Array<string>(11).fill('')];
  if (u) rows.push(line('no op: before the first', u.before), line('no op: between', u.between), line('no op: after the last', u.after), line(`waiting at barriers, mean of ${u.workers} workers, inside the times of ops`, u.wait), line('no op and barriers together', u.total));
  rows.push(['the pass', '', nsCell(m.pass.dur_ns), r.clocked ? '100' : '', '', '', '', '', m.bytes, fixed(gbs(m.bytes, m.pass.dur_ns)), m.flops, fixed(gflops(m.flops, m.pass.dur_ns)), '', '', '']);
  return { caption: `Pass ${m.pass.index}, ${m.pass.kind} of ${m.pass.tokens} tokens, ${scope === 'all' ? `summed over ${r.layers} layers` : `layer ${s.layer}`}. Times are measured; shares are of the pass; bytes and flops are derived from shapes, rates from both. Spread over the ${m.like} passes of this kind and size.`, head, rows, now: rowUnder(r, s) };
}

const fixed = (v: number | null): string | number => (v === null ? '' : Number(v.toFixed(2)));

class PassView implements View {
  private bar = document.createElement('div');
  private svgEl = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  private besideEl = document.createElement('div');
  private barText = '';

  constructor(private body: HTMLElement, private ctx: ViewContext) {
    adoptCss(body, passCss);
    this.bar.className = 'pv-bar';
    this.svgEl.setAttribute('class', 'pv');
    this.svgEl.setAttribute('role', 'group');
    this.svgEl.setAttribute('aria-label', 'One pass: the residual line with its branches, and a row for each op. The table of this view says the same.');
    body.classList.add('pv-body');
    this.besideEl.className = 'pv-beside';
    this.besideEl.tabIndex = 0;
    this.besideEl.setAttribute('role', 'region');
    this.besideEl.setAttribute('aria-label', 'Ops of two engines, the biggest difference first');
    this.besideEl.hidden = true;
    body.append(this.bar, this.svgEl, this.besideEl);
    this.besideEl.addEventListener('click', (e) => this.clicked(e));
    this.svgEl.addEventListener('click', (e) => this.clicked(e));
    this.bar.addEventListener('click', (e) => { const q = (e.target as Element).closest('[data-do]')?.getAttribute('data-do'); if (q) { this.command(q); e.stopPropagation(); } });
  }

  private get model(): PassModel | null { const s = this.ctx.state; return passModel(this.ctx.recording, s.pass, s.layer, scopeOf(s)); }

  /** the other engine, while it is shown */
  private get beside(): Peer | null { return opt(this.ctx.state, 'beside') === 'on' ? peerOf(this.ctx.recording) : null; }

  private clicked(e: Event): void {
    const t = e.target as Element, { state: s } = this.ctx, layer = t.closest('[data-layer]')?.getAttribute('data-layer'), step = t.closest('[data-step]')?.getAttribute('data-step');
    if (layer) this.ctx.set({ ...s, layer: Number(layer), sel: '' });
    else if (step) this.ctx.set({ ...s, step, source: 0, sel: '' });
  }

  update(): void {
    const { recording: r, state: s, scale } = this.ctx, m = this.model;
    const W = Math.max(680, this.body.clientWidth / scale), H = Math.max(420, (this.body.clientHeight - 28) / scale);
    this.controls();
    const peer = this.beside;
    this.svgEl.style.display = peer ? 'none' : '';
    this.besideEl.hidden = !peer;
    if (peer) { this.besideEl.innerHTML = besideHtml(r, peer, s.step); return; }
    if (this.body.clientWidth < 10) return;
    this.svgEl.setAttribute('viewBox', `0 0 ${W} ${H}`);
    this.svgEl.setAttribute('width', String(W * scale));
    this.svgEl.setAttribute('height', String(H * scale));
    this.svgEl.innerHTML = m ? drawPass({ r, m, cur: rowUnder(r, s), layer: s.layer, scope: scopeOf(s), roof: roofOf(r), W, H }) : `<text x="20" y="40">This pass is not in the recording.</text>`;
  }

  private controls(): void {
    const { recording: r, state: s } = this.ctx, m = this.model, scope = scopeOf(s), seg = (on: boolean, cmd: string, text: string): string => `<button data-do="${cmd}" aria-pressed="${on}">${text}</button>`;
    const peer = peerOf(r), seg2 = (on: boolean, name: string): string => `<span class="seg">${seg(on, 'pass.beside', `beside ${esc(name)}`)}<kbd>w</kbd></span>`;
    const pre = m?.pass.kind === 'prefill', both = otherKind(r, s) !== null, k = r.tokenOfPass(s.pass);
    const html = `<span class="seg">${seg(!pre, pre ? 'pass.kind' : '', 'decode')}${seg(pre, pre ? '' : 'pass.kind', 'prefill')}${both ? '<kbd>d</kbd>' : ''}</span><span class="seg"><span>times of</span>${seg(scope === 'all', scope === 'all' ? '' : 'pass.scope', r.layers > 1 ? `all ${r.layers} layers` : 'the layer')}${seg(scope === 'one', scope === 'one' ? '' : 'pass.scope', `layer ${s.layer}`)}<kbd>a</kbd></span><span class="seg"><span>layer</span><button data-do="layer.prev" aria-label="Layer before"><kbd>[</kbd></button><button data-do="layer.next" aria-label="Layer after"><kbd>]</kbd></button></span>${peer ? seg2(opt(s, 'beside') === 'on', peerName(peer)) : ''}<span class="pv-what">pass ${s.pass}${k >= 0 ? `, gives token ${k + 1} of ${r.output.length}` : ''}${m && m.pass.requests > 1 ? `; ${m.pass.requests} requests share it` : ''}</span>`;
    if (html !== this.barText) { this.bar.innerHTML = this.barText = html; }
  }

  command(id: string): boolean {
    const { recording: r, state: s } = this.ctx, ops = opSteps(r), cur = rowUnder(r, s);
    const go = (n: number): true => { const i = ops[Math.max(0, Math.min(ops.length - 1, n))]; if (i !== undefined && i !== at(r, s)) this.ctx.set(goStep(r, s, i)); return true; };
    switch (id) {
      case 'next': return s.depth === 'step' && go(cur + 1);
      case 'prev': return s.depth === 'step' && go(cur - 1);
      case 'first': return go(0);
      case 'last': return go(ops.length - 1);
      case 'layer.next': case 'layer.prev': this.ctx.set({ ...s, layer: Math.max(0, Math.min(r.layers - 1, s.layer + (id === 'layer.next' ? 1 : -1))), sel: '' }); return true;
      case 'pass.scope': this.ctx.set(withOpt(s, 'layers', scopeOf(s) === 'all' ? 'one' : '')); return true;
      case 'pass.kind': { const t = otherKind(r, s); if (t) this.ctx.set(t); else this.ctx.say('This recording has passes of one kind only.'); return true; }
      case 'pass.beside': if (peerOf(r)) this.ctx.set(withOpt(s, 'beside', this.beside ? '' : 'on')); else this.ctx.say('No other engine was timed beside this recording.'); return true;
      case 'value.copy': void this.copy(); return true;
      default: return false;
    }
  }

  private async copy(): Promise<void> {
    const { recording: r, state: s } = this.ctx, m = this.model, o = m?.rows[rowUnder(r, s)];
    if (!m || !o || o.ns === null) { this.ctx.say('There is no value under the playhead.'); return; }
    const text = `${o.id}, pass ${m.pass.index}, ${scopeOf(s) === 'all' ? 'all layers' : `layer ${s.layer}`}: ${o.ns} ns, ${o.bytes} bytes, ${o.flops} flops`;
    try { await navigator.clipboard.writeText(text); this.ctx.say(`In the clipboard: ${text}`); } catch { this.ctx.say(text); }
  }

  card(): string | null {
    const { recording: r, state: s } = this.ctx, m = this.model;
    return m && s.depth !== 'kernel' ? passCard(r, s, m, rowUnder(r, s)) : null;
  }

  strip(w: number, h: number, byTime: boolean): string | null {
    const { recording: r, state: s } = this.ctx, m = this.model;
    return m && familyStrip(m.rows.map((o) => ({ step: o.id, layer: -1, label: o.label, family: o.family, ns: o.ns ?? -1, size: o.ns ?? 0 })), rowUnder(r, s), w, h, byTime);
  }

  owner(): string | null {
    const { recording: r, state: s } = this.ctx, k = r.tokenOfPass(s.pass);
    return s.depth !== 'step' ? null : k >= 0 ? `ops of token ${k + 1}` : 'ops of the pass';
  }

  table(): Table { const peer = this.beside; return peer ? besideTable(this.ctx.recording, peer) : passTable(this.ctx.recording, this.ctx.state); }

  svg(): string {
    const { recording: r, state: s } = this.ctx, m = this.model;
    const about = `${r.name}; ${STAGE_NAME.compute}, pass ${s.pass}; ${m ? `${time(m.pass.dur_ns)} (${exactNs(m.pass.dur_ns)}), ${bytes(m.bytes)}, ${sig3(m.flops / 1e9)} GFLOP` : ''}`;
    return this.svgEl.outerHTML.replace('<svg ', `<svg xmlns="http://www.w3.org/2000/svg" aria-description="${esc(about)}" `);
  }

  destroy(): void {
    this.body.classList.remove('pv-body');
    this.bar.remove();
    this.svgEl.remove();
    this.besideEl.remove();
  }
}
