// A module map as data: what the file says, who imports whom, the shortest
// chain of imports, the recording's way over it. It draws nothing.
import type { Recording } from '../recording';
import type { Step } from '../schema';

export type ModuleState = 'ran' | 'imported' | 'by_name' | 'none';
/** x, y, width, height in units of the map */
export type Box = readonly [number, number, number, number];
/** index of the module, line, kind */
export type Import = readonly [number, number, number];
export const KINDS = ['when loaded', 'when loaded, in a branch', 'when a function runs', 'for type checkers'] as const;

export interface Module { name: string; label: string; path: string; lines: number; state: ModuleState; calls?: number; box: Box; imports: Import[] }
export interface Folder { path: string; name: string; box: Box; head: boolean }
export interface MapFile {
  schema: { name: string; version: string };
  engine: string; title: string; version: string; repo: string; commit: string; prefix?: string; language: 'python' | 'go'; package: string;
  entries: string[]; recording?: string; files: number; lines: number; rules: { rule: string; modules: number }[];
  width: number; height: number; folders: Folder[]; route: { step: string; module: number }[]; modules: Module[];
}

/** A stop is a stretch of the walk inside one module. */
export interface Stop { module: number; /** indexes of steps */ steps: number[] }

export class Modules {
  readonly by = new Map<string, number>();
  readonly importers: number[][];
  private paths = new Map<string, number>();
  private found = new Map<string, number>();

  constructor(readonly file: MapFile) {
    this.importers = file.modules.map(() => []);
    file.modules.forEach((m, i) => {
      this.by.set(m.name, i);
      this.paths.set(m.path, i);
      for (const [to, , kind] of m.imports) if (kind < 3) this.importers[to]!.push(i);
    });
  }

  /** parse checks what is drawn from; the error says which field was wrong. */
  static parse(raw: unknown): Modules {
    const f = raw as MapFile, n = f?.modules?.length ?? 0;
    if (f?.schema?.name !== 'glassbox-modmap' || f.schema.version.split('.')[0] !== '1') throw new Error(`schema: wanted glassbox-modmap 1.x, found ${JSON.stringify(f?.schema ?? null)}`);
    if (!n || !(f.width > 0) || !(f.height > 0) || !Array.isArray(f.folders)) throw new Error('modules, folders, width, height: wanted a map with modules');
    f.modules.forEach((m, i) => {
      m.label ??= String(m.name).split(/[./]/).pop()!; // left out of the file where it is just this
      if (typeof m.name !== 'string' || m.box?.length !== 4 || !m.imports.every((e) => e[0] >= 0 && e[0] < n)) throw new Error(`modules[${i}]: wanted a name, a box and imports below ${n}`);
    });
    return new Modules(f);
  }

  get list(): Module[] { return this.file.modules; }

  /** of a path in a recording: a file, or the folder of one where modules are packages. -1 where it is not on the map. */
  at(path: string): number {
    let i = this.found.get(path);
    if (i === undefined) this.found.set(path, (i = this.search(path)));
    return i;
  }

  private search(path: string): number {
    for (let p = path; p; p = p.includes('/') ? p.slice(p.indexOf('/') + 1) : '') {
      const i = this.paths.get(p) ?? (this.file.language === 'go' ? this.paths.get(p.slice(0, Math.max(0, p.lastIndexOf('/')))) : undefined);
      if (i !== undefined) return i;
    }
    return -1;
  }

  ofStep(s: Step | undefined): number { return s?.source.path ? this.at(s.source.path) : -1; }

  /** route cuts the walk into stretches inside one module; steps not reached and files not on the map are no part of it. */
  route(r: Recording): Stop[] {
    const out: Stop[] = [];
    r.steps.forEach((s, i) => {
      const m = s.count > 0 || r.live ? this.ofStep(s) : -1;
      if (m < 0) return;
      const last = out.at(-1);
      if (last?.module === m) last.steps.push(i);
      else out.push({ module: m, steps: [i] });
    });
    return out;
  }

  /**
   * chain is a shortest chain of imports from one of these modules to another, each as [module, line of the import that leads
   * to it, its kind]; null where there is none. Imports for type checkers lead nowhere at run time and are not followed.
   */
  chain(from: readonly number[], to: number): Import[] | null {
    const before = new Map<number, Import>(), seen = new Set(from);
    for (let queue = [...seen]; queue.length;) {
      const next: number[] = [];
      if (seen.has(to)) break;
      for (const i of queue) for (const [j, line, kind] of this.list[i]!.imports) {
        if (kind > 2 || seen.has(j)) continue;
        seen.add(j);
        before.set(j, [i, line, kind]);
        next.push(j);
      }
      queue = next;
    }
    if (!seen.has(to)) return null;
    const out: Import[] = [];
    for (let at = to; ;) {
      const b = before.get(at);
      out.unshift([at, b?.[1] ?? 0, b?.[2] ?? 0]);
      if (!b) return out;
      at = b[0];
    }
  }

  entries(): number[] { return this.file.entries.map((e) => this.by.get(e) ?? -1).filter((i) => i >= 0); }

  /** find ranks modules by a query: the label first, then the name, then the path. */
  find(query: string, most = 40): number[] {
    const words = query.trim().toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const rank = (m: Module): number => {
      const label = m.label.toLowerCase(), name = m.name.toLowerCase();
      if (!words.every((w) => name.includes(w) || m.path.toLowerCase().includes(w))) return -1;
      return label === words[0] ? 0 : label.startsWith(words[0]!) ? 1 : label.includes(words[0]!) ? 2 : 3;
    };
    return this.list.map((m, i) => [rank(m), i] as const).filter(([q]) => q >= 0).sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, most).map(([, i]) => i);
  }

  /** beside is the module to one side of another: the nearest whose middle lies that way, those straight ahead first. */
  beside(i: number, dx: number, dy: number): number {
    const mid = (b: Box): [number, number] => [b[0] + b[2] / 2, b[1] + b[3] / 2], me = this.list[i]!.box, [x, y] = mid(me);
    let best = i, least = Infinity;
    this.list.forEach((m, j) => {
      const [a, b] = mid(m.box), along = (a - x) * dx + (b - y) * dy;
      // how far its edges are off the line that leaves the middle
      const off = dx ? Math.max(0, m.box[1] - y, y - m.box[1] - m.box[3]) : Math.max(0, m.box[0] - x, x - m.box[0] - m.box[2]);
      const cost = along + off * 3;
      if (j !== i && along > 0.5 && cost < least) { best = j; least = cost; }
    });
    return best;
  }

  under(x: number, y: number): number {
    return this.list.findIndex(({ box: [a, b, w, h] }) => x >= a && x <= a + w && y >= b && y <= b + h);
  }

  counts(): Record<ModuleState, number> {
    const c = { ran: 0, imported: 0, by_name: 0, none: 0 };
    for (const m of this.list) c[m.state]++;
    return c;
  }

  /** where a line of a module is to be read */
  href(i: number, line = 0): string | null {
    const f = this.file, m = this.list[i]!;
    if (!/^github\.com\//.test(f.repo) || !f.commit || f.commit === 'unknown') return null;
    return `https://${f.repo}/${f.language === 'go' ? 'tree' : 'blob'}/${f.commit}/${f.prefix ?? ''}${m.path}${line && f.language !== 'go' ? `#L${line}` : ''}`;
  }
}

/** Which part of the map is seen: its middle, and how many times it is enlarged. */
export interface Window { x: number; y: number; k: number }

export const MOST_ZOOM = 24;

/** fitWindow keeps a window inside the map. */
export function fitWindow(w: Window, f: { width: number; height: number }): Window {
  const k = Math.max(1, Math.min(MOST_ZOOM, w.k)), half = 0.5 / k, hold = (v: number, all: number): number => Math.max(all * half, Math.min(all * (1 - half), v));
  return { k, x: hold(w.x, f.width), y: hold(w.y, f.height) };
}

/** The window in a link: "m600,430,2.5"; anything else is the whole map. */
export function readWindow(s: string, f: { width: number; height: number }): Window {
  const m = /^m(\d+(?:\.\d+)?),(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$/.exec(s);
  return fitWindow(m ? { x: Number(m[1]), y: Number(m[2]), k: Number(m[3]) } : { x: f.width / 2, y: f.height / 2, k: 1 }, f);
}

export const writeWindow = (w: Window): string => (w.k <= 1 ? '' : `m${w.x.toFixed(0)},${w.y.toFixed(0)},${Number(w.k.toFixed(2))}`);

/** windowOn is the window around a box: it fills a fifth of the room where the zoom allows. */
export function windowOn(b: Box, f: { width: number; height: number }, k = 0): Window {
  const fill = k || Math.max(1, Math.min(6, 0.2 / Math.max(b[2] / f.width, b[3] / f.height)));
  return fitWindow({ x: b[0] + b[2] / 2, y: b[1] + b[3] / 2, k: fill }, f);
}
