// Style sheets of the shadow roots, as constructed sheets: a strict content
// security policy forbids style elements and attributes, not these.
import tokens from '../../../static/css/tokens.css';
import tracer from '../../../static/css/tracer.css';
import hero from '../../../static/css/hero.css';

export const TEXT: Record<'tokens' | 'tracer' | 'hero', string> = { tokens, tracer, hero };
const made = new Map<string, CSSStyleSheet>();

function sheet(name: keyof typeof TEXT): CSSStyleSheet {
  let s = made.get(name);
  if (!s) {
    s = new CSSStyleSheet();
    s.replaceSync(TEXT[name]);
    made.set(name, s);
  }
  return s;
}

export function adopt(root: ShadowRoot, ...names: (keyof typeof TEXT)[]): void {
  root.adoptedStyleSheets = [sheet('tokens'), ...names.map(sheet)];
}
