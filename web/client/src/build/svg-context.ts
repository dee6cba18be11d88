// What of a canvas the drawing code of the views uses, written down as SVG, so
// that the same code draws pictures where there is no browser. It is not a
// canvas: only the calls below are known, and TypeScript says so at the cast.
import { esc } from '../format';
import { helvetica } from './widths';

interface Pen { fillStyle: string; strokeStyle: string; lineWidth: number; globalAlpha: number; font: string; textAlign: string; textBaseline: string; lineCap: string; dash: number[]; hidden: boolean }

export class SvgContext implements Pen {
  fillStyle = ''; strokeStyle = ''; lineWidth = 1; globalAlpha = 1; font = '10px'; textAlign = 'left'; textBaseline = 'alphabetic'; lineCap = 'butt';
  dash: number[] = [];
  hidden = false;
  out = '';
  private d = '';
  private kept: Pen[] = [];

  private look(): string { return `${this.globalAlpha < 1 ? ` opacity="${this.globalAlpha.toFixed(2)}"` : ''}`; }
  private line(): string { return `fill="none" stroke="${this.strokeStyle}"${this.lineWidth === 1 ? '' : ` stroke-width="${this.lineWidth}"`}${this.dash.length ? ` stroke-dasharray="${this.dash.join(' ')}"` : ''}${this.lineCap === 'round' ? ' stroke-linecap="round"' : ''}${this.look()}`; }

  save(): void { const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, lineCap, dash, hidden } = this; this.kept.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, lineCap, dash, hidden }); }
  restore(): void { const p = this.kept.pop(); if (p) Object.assign(this, p); }
  setLineDash(d: number[]): void { this.dash = d; }
  beginPath(): void { this.d = ''; }
  moveTo(x: number, y: number): void { this.d += `M${x} ${y}`; }
  lineTo(x: number, y: number): void { this.d += `L${x} ${y}`; }
  quadraticCurveTo(a: number, b: number, x: number, y: number): void { this.d += `Q${a} ${b} ${x} ${y}`; }
  rect(x: number, y: number, w: number, h: number): void { this.d += `M${x} ${y}h${w}v${h}h${-w}z`; }
  /** whole circles alone */
  arc(x: number, y: number, r: number): void { this.d += `M${x + r} ${y}a${r} ${r} 0 1 0 ${-2 * r} 0a${r} ${r} 0 1 0 ${2 * r} 0`; }
  /** what is clipped is hatching, for which a picture has no room: it is left out until restore */
  clip(): void { this.hidden = true; }
  stroke(): void { if (!this.hidden) this.out += `<path d="${this.d}" ${this.line()}/>`; }
  fill(): void { if (!this.hidden) this.out += `<path d="${this.d}" fill="${this.fillStyle}"${this.look()}/>`; }
  fillRect(x: number, y: number, w: number, h: number): void { this.out += `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${this.fillStyle}"${this.look()}/>`; }
  strokeRect(x: number, y: number, w: number, h: number): void { this.out += `<rect x="${x}" y="${y}" width="${w}" height="${h}" ${this.line()}/>`; }
  private get px(): number { return Number(/([\d.]+)px/.exec(this.font)?.[1] ?? 10); }
  measureText(t: string): { width: number } { return { width: helvetica(t, this.px) }; }
  fillText(t: string, x: number, y: number): void {
    const mid = this.textBaseline === 'middle' ? this.px * 0.35 : 0, cls = [/^600/.test(this.font) ? 'b' : '', /mono/.test(this.font) ? 'm' : '', this.textAlign === 'center' ? 'mid' : '', 'cap'].filter(Boolean).join(' ');
    this.out += `<text x="${x}" y="${y + mid}" class="${cls}" fill="${this.fillStyle}"${this.look()}>${esc(t)}</text>`;
  }
}
