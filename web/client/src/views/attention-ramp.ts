// The sequential ramp of the theme as a table of 256 colours, and contrast of
// text on it after WCAG 2.2. Numbers only.

export type Rgb = [number, number, number];

export function hex(s: string): Rgb {
  const h = s.trim().replace('#', ''), full = h.length === 3 ? [...h].map((c) => c + c).join('') : h;
  return [0, 2, 4].map((k) => parseInt(full.slice(k, k + 2), 16) || 0) as Rgb;
}

/** ramp reads a list of hex colours, spaced evenly, and gives 256 steps of the part 0..upTo of it. */
export function ramp(seq: string, upTo = 1): Rgb[] {
  const stops = seq.split(',').map(hex), last = stops.length - 1;
  return Array.from({ length: 256 }, (_, k) => {
    const x = Math.min(last, (k / 255) * upTo * last), a = Math.min(last - 1, Math.floor(x)), f = x - a, p = stops[Math.max(0, a)]!, q = stops[Math.min(last, a + 1)]!;
    return [0, 1, 2].map((c) => Math.round(p[c]! + (q[c]! - p[c]!) * f)) as Rgb;
  });
}

export const css = (c: Rgb): string => `rgb(${c.join(',')})`;

/** packed gives the table as little-endian RGBA words, for an ImageData. */
export const packed = (t: Rgb[]): Uint32Array => Uint32Array.from(t, ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);

const part = (v: number): number => { const f = v / 255; return f <= 0.04045 ? f / 12.92 : ((f + 0.055) / 1.055) ** 2.4; };
export const luminance = (c: Rgb): number => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);

/** contrast ratio of two colours, 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const x = luminance(a), y = luminance(b);
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
