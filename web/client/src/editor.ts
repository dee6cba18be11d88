// A link from a source line to the reader's editor, where the server says that
// the code lies on this computer. A recording may come from anywhere: what it
// calls a path is only followed below the folder that the server named.
import type { Source } from './schema';

export interface EditorPlaces { editor: string; roots: Record<string, string> }

let known: EditorPlaces | null | undefined;

/** places reads what the page was told, once. */
function places(): EditorPlaces | null {
  if (known !== undefined) return known;
  known = null;
  try {
    const q = JSON.parse(document.querySelector('meta[name="glassbox-source"]')?.getAttribute('content') ?? 'null') as EditorPlaces | null;
    if (q && typeof q.editor === 'string' && q.roots) known = q;
  } catch { /* none then */ }
  return known;
}

/** editorHref is the address that opens a source line in the editor; null where its repository is not on this computer. */
export function editorHref(src: Source, q: EditorPlaces | null = typeof document === 'undefined' ? null : places()): string | null {
  const repo = src.repo.replace(/^https?:\/\//, '').replace(/\.git$/, ''), root = q && Object.hasOwn(q.roots, repo) ? q.roots[repo] : undefined;
  if (!q || !root || !src.path || /^[/\\]|^[a-z]:|\\|[\0-\x1f]/i.test(src.path) || src.path.split('/').some((p) => p === '..' || p === '.')) return null;
  const path = `${root.replace(/[\\/]+$/, '').replace(/\\/g, '/')}/${src.path}`;
  return q.editor.replace('{path}', encodeURI(path.startsWith('/') ? path : `/${path}`).replace(/[?#]/g, encodeURIComponent)).replace('{line}', String(Math.max(1, Math.floor(Number(src.line)) || 1)));
}
