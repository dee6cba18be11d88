// Changes a list in place. Of the hundred rows that a step of the walk draws again two or three differ; replacing them all
// costs the browser a new layout of all.

/** patch makes the children of el those of html and leaves alone what is equal already. */
export function patch(el: Element, html: string): void {
  const next = el.cloneNode(false) as Element; // so that the text is parsed where it will stand, inside an SVG too
  next.innerHTML = html;
  children(el, next);
}

function children(old: Element, next: Element): void {
  const was = [...old.childNodes], now = [...next.childNodes];
  now.forEach((n, i) => {
    const o = was[i];
    if (!o) old.append(n);
    else if (o.isEqualNode(n)) return;
    else if (o instanceof Element && n instanceof Element && o.tagName === n.tagName) { attributes(o, n); children(o, n); }
    else o.replaceWith(n);
  });
  for (const o of was.slice(now.length)) o.remove();
}

function attributes(old: Element, next: Element): void {
  for (const a of [...old.attributes]) if (!next.hasAttribute(a.name)) old.removeAttribute(a.name);
  for (const a of next.attributes) if (old.getAttribute(a.name) !== a.value) old.setAttribute(a.name, a.value);
}
