// Code of other engines is not in their recordings. A reader who has a checkout picks its folder, and the pane shows the lines
// from there. The files stay in the browser.
import type { Source } from './schema';

export interface OwnFile { path: string; text(): Promise<string> }

/** What the pane shows: some lines, which one is meant, and whether it is where the recording says. */
export interface OwnCode { first: number; lines: string[]; line: number; found: 'there' | 'moved' | 'no'; file: string }

const AROUND = 24, FAR = 400;
let byName = new Map<string, OwnFile[]>(), read = new Map<OwnFile, string[] | null>(), redraw = (): void => {};

/** pickFolder asks for a folder. again is called when there is something to draw. */
export function pickFolder(again: () => void): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.webkitdirectory = true;
  input.addEventListener('change', () => { take([...(input.files ?? [])].map((f) => ({ path: f.webkitRelativePath || f.name, text: () => f.text() })), again); again(); });
  input.click();
}

/** take holds the files of a folder in place of those before. */
export function take(files: OwnFile[], again: () => void): void {
  byName = new Map();
  read = new Map();
  redraw = again;
  for (const f of files) {
    const name = f.path.split('/').pop()!, list = byName.get(name);
    if (list) list.push(f); else byName.set(name, [f]);
  }
}

export const hasFolder = (): boolean => byName.size > 0;

/** fileOf finds a source file in the folder: the folder may lie above or below the place that paths count from. */
function fileOf(path: string): OwnFile | null {
  const ends = (long: string, short: string): boolean => long === short || long.endsWith(`/${short}`);
  const all = (byName.get(path.split('/').pop()!) ?? []).filter((f) => ends(f.path, path) || ends(path, f.path));
  return all.sort((a, b) => Math.abs(a.path.length - path.length) - Math.abs(b.path.length - path.length))[0] ?? null;
}

/** ownCode gives the lines of a source in the reader's folder: null where it has no such file, or while it is read. */
export function ownCode(src: Source): OwnCode | null {
  const f = fileOf(src.path);
  if (!f) return null;
  const lines = read.get(f);
  if (lines === undefined) {
    read.set(f, null);
    f.text().then((t) => { read.set(f, t.split(/\r?\n/)); redraw(); }, () => undefined);
  }
  return lines ? place(lines, src, f.path) : null;
}

/** place finds the function near the line that the recording names: a reader's version may be another. */
function place(lines: string[], src: Source, file: string): OwnCode {
  const name = (src.symbol.match(/[A-Za-z_]\w*/g) ?? []).pop() ?? '', has = (n: number): boolean => !!name && new RegExp(`\\b${name}\\b`).test(lines[n - 1] ?? '');
  let line = Math.min(Math.max(1, src.line), lines.length), found: OwnCode['found'] = has(line) ? 'there' : 'no';
  for (let d = 1; d <= FAR && found === 'no'; d++) for (const n of [src.line - d, src.line + d]) if (found === 'no' && has(n) && /\b(def|class|func|void|static|auto|bool|int)\b|\)\s*(const\s*)?\{/.test(lines[n - 1]!)) { line = n; found = 'moved'; }
  const first = Math.max(1, line - AROUND);
  return { first, lines: lines.slice(first - 1, line + AROUND), line, found, file };
}
