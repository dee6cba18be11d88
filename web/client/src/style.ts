// Style sheets of the shadow roots, as constructed sheets: a strict content
// security policy forbids style elements and attributes, not these.
import tokens from '../../../static/css/tokens.css';
import tracer from '../../../static/css/tracer.css';

/** TRACER is the sheet of the stage and of every drawing, as text. */
export const TRACER: string = tracer;
const made = new Map<string, CSSStyleSheet>();

function sheet(text: string): CSSStyleSheet {
  let s = made.get(text);
  if (!s) made.set(text, ((s = new CSSStyleSheet()), s.replaceSync(text), s));
  return s;
}

/** adopt gives a shadow root the tokens and these sheets. */
export function adopt(root: ShadowRoot, ...texts: string[]): void {
  root.adoptedStyleSheets = [tokens, ...texts].map(sheet);
}
