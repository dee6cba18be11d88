// <glassbox-picture src kind step>: a small close-up of a recording, drawn by
// the code that draws the view. kind: request (the map around a step), pass
// (time of each op), answer (the pieces). For cards; it takes no keys.
import { esc, num, timeParts, exactNs, sig3 } from './format';
import { load } from './load';
import { drawMap } from './map';
import { answer } from './mapnotes';
import { Recording } from './recording';
import { measurer } from './stage';
import { at, fit, INITIAL } from './state';
import { adopt, TRACER } from './style';
import { followTheme } from './theme';
import type { Measure } from './layout';

/** One request for a recording, however many pictures show it. */
const shared = new Map<string, Promise<Recording>>();
export function sharedRecording(src: string): Promise<Recording> {
  let p = shared.get(src);
  if (!p) {
    p = load(src, new AbortController().signal);
    p.catch(() => shared.delete(src));
    shared.set(src, p);
  }
  return p;
}

/** closeUp draws one kind of picture, W x H px. */
export function closeUp(kind: string, r: Recording, step: string, W: number, H: number, tw: Measure): string {
  const s = fit(r, { ...INITIAL, step, pass: r.typicalPass(), layer: Math.floor(r.layers / 2) });
  const svg = (body: string, box = `0 0 ${W} ${H}`): string => `<svg width="${W}" height="${H}" viewBox="${box}" role="img" aria-label="${esc(kind)}: ${esc(r.name)}">${body}</svg>`;
  if (kind === 'answer') return svg(answer(r, s, { x: 0, y: 14, w: W, h: H - 14 }, tw));
  if (kind === 'pass') return svg(passBars(r, s.pass, W, H));
  const m = drawMap(r, s, 1000, 640, tw, { gap: 36, pitch: 18 }), p = m.layout.pos[at(r, s)]!;
  return svg(m.svg, `${Math.max(0, p.x - W * 0.3)} ${Math.max(0, p.y - H * 0.62)} ${W} ${H}`);
}

/** The largest ops of a pass as bars, with their family's letter. */
function passBars(r: Recording, pass: number, W: number, H: number): string {
  const ops = r.steps.map((s, i) => ({ s, i, ns: r.roles[i]!.op ? r.timeAt(i, pass) ?? 0 : 0 })).filter((o) => o.ns > 0);
  const n = Math.max(1, Math.floor(H / 16)), top = [...ops].sort((a, b) => b.ns - a.ns).slice(0, n).sort((a, b) => a.i - b.i), max = Math.max(1, ...top.map((o) => o.ns)), h = H / Math.max(1, top.length);
  return top.map((o, k) => {
    const f = r.roles[o.i]!.family, y = k * h + h / 2;
    return `<rect x="0" y="${y - 6}" width="12" height="12" fill="var(--fam-${f})"/><text x="6" y="${y + 4}" class="mid cap b" fill="var(--page)">${f}</text><text x="19" y="${y + 4}">${esc(o.s.label)}</text><rect x="84" y="${y - 5}" width="${Math.max(1, (o.ns / max) * (W - 84 - 56))}" height="10" fill="var(--fam-${f})"/><text x="${W}" y="${y + 4}" class="m end s">${sig3(o.ns / 1e3)}<tspan class="s"> µs</tspan></text>`;
  }).join('');
}

export class Picture extends HTMLElement {
  private off: (() => void)[] = [];
  private rec: Recording | null = null;

  constructor() {
    super();
    adopt(this.attachShadow({ mode: 'open' }), TRACER);
  }

  set recording(v: Recording | object | string) { this.rec = v instanceof Recording ? v : Recording.parse(v); this.paint(); }

  connectedCallback(): void {
    const src = this.getAttribute('src'), seen = new ResizeObserver(() => this.paint());
    seen.observe(this);
    this.off = [followTheme(this, () => this.paint()), () => seen.disconnect()];
    if (!this.rec && src) sharedRecording(src).then((r) => { this.rec = r; this.paint(); }, () => { this.shadowRoot!.innerHTML = '<p class="sym">no picture: the recording did not arrive</p>'; });
  }

  disconnectedCallback(): void { for (const f of this.off) f(); this.off = []; }

  private paint(): void {
    const r = this.rec, W = this.clientWidth, H = this.clientHeight;
    if (!r || !this.isConnected || W < 20 || H < 20) return;
    const kind = this.getAttribute('kind') ?? 'request', step = this.getAttribute('step') ?? r.steps.find((x) => /scores/.test(x.id))?.id ?? r.steps.find((_, i) => r.inLayers(i))?.id ?? r.steps[0]!.id;
    this.shadowRoot!.innerHTML = closeUp(kind, r, step, W, H, measurer(this));
  }
}

export const totalNumber = (r: Recording): string => num(timeParts(r.total.ns), exactNs(r.total.ns), r.total.prov, r.total.how);
