// Light and dark. A page of ours carries data-theme on its root element and
// remembers the reader's choice; an element in a foreign page keeps its own.

const KEY = 'glassbox.theme';
type Theme = 'light' | 'dark';

const valid = (v: string | null | undefined): Theme | null => (v === 'light' || v === 'dark' ? v : null);

export function stored(key: string): string | null {
  try { return localStorage.getItem(key); } catch { return null; } // file:// and sandboxed frames may refuse
}
export function store(key: string, value: string): void {
  try { localStorage.setItem(key, value); } catch { /* nothing is kept then */ }
}

export function themeOf(host: HTMLElement): Theme {
  return valid(host.getAttribute('theme')) ?? valid(document.documentElement.dataset['theme']) ?? valid(host.hasAttribute('page') ? stored(KEY) : null)
    ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}

export function toggleTheme(host: HTMLElement): void {
  const t: Theme = themeOf(host) === 'dark' ? 'light' : 'dark';
  if (host.hasAttribute('page')) {
    document.documentElement.dataset['theme'] = t;
    store(KEY, t);
  } else host.setAttribute('theme', t);
}

/** followTheme keeps data-theme of the element right and calls back after each change. */
export function followTheme(host: HTMLElement, changed: () => void): () => void {
  const apply = (): void => {
    const t = themeOf(host);
    if (host.dataset['theme'] !== t) { host.dataset['theme'] = t; changed(); }
  };
  const seen = new MutationObserver(apply), media = matchMedia('(prefers-color-scheme: dark)');
  seen.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  seen.observe(host, { attributes: true, attributeFilter: ['theme'] });
  media.addEventListener('change', apply);
  if (host.hasAttribute('page') && valid(stored(KEY)) && !document.documentElement.dataset['theme']) document.documentElement.dataset['theme'] = stored(KEY)!;
  apply();
  return () => { seen.disconnect(); media.removeEventListener('change', apply); };
}
