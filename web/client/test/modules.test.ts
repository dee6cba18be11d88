// Who imports whom, chains, the way of a request and the window, on a map of
// nine modules whose answers can be read off its picture; and on the maps
// that ship.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Recording } from '../src/recording';
import { MAPPED, noModules } from '../src/views/missing';
import { modulesTable } from '../src/views/modules';
import { modulesCard } from '../src/views/modules-card';
import { INITIAL } from '../src/state';
import { fitWindow, Modules, readWindow, windowOn, writeWindow, type Import, type MapFile } from '../src/views/modules-data';

declare const CHECKOUT: string;

// a b c
// d e f   a imports b and, in a function, e; b imports c; e imports f; f imports, for type checkers, i; g is picked by name
// g h i
const names = [...'abcdefghi'], imports: Record<string, Import[]> = { a: [[1, 3, 0], [4, 9, 2]], b: [[2, 1, 0]], e: [[5, 2, 1]], f: [[8, 7, 3]] };
const file = (): MapFile => ({
  schema: { name: 'glassbox-modmap', version: '1.0' }, engine: 'vllm', title: 'P', version: '1', repo: 'github.com/x/p', commit: 'v1', language: 'python', package: 'p', entries: ['p.a'], files: 12, lines: 100,
  rules: [{ rule: 'entries', modules: 1 }], width: 300, height: 300, folders: [{ path: 'p', name: 'p', box: [0, 0, 300, 300], head: true }], route: [],
  modules: names.map((n, i) => ({ name: `p.${n}`, label: n, path: `p/${n}.py`, lines: 10 + i, state: n === 'g' ? 'by_name' : 'abe'.includes(n) ? 'ran' : 'imported', box: [(i % 3) * 100 + 5, Math.floor(i / 3) * 100 + 5, 90, 90] as const, imports: imports[n] ?? [] })),
});
const walk = (...paths: string[]): Recording => Recording.parse({
  schema: { name: 'glassbox-trace', version: '1.0' }, engine: { name: 'vllm' }, spans: [], passes: [],
  walk: paths.map((p, i) => ({ id: `s${i}`, title: `S${i}`, stage: 'receive', text: '', lane: 'x', source: { path: p.replace('-', ''), symbol: 'f' }, spans: [], time_ns: 0, count: p.startsWith('-') ? 0 : 1 })),
});
const m = Modules.parse(file()), at = (n: string): number => m.by.get(`p.${n}`)!;
const way = (c: Import[] | null): string | null => c && c.map(([i, line, kind]) => `${names[i]}${line}${kind}`).join(' ');

test('importers leave type checkers out', () => {
  assert.deepEqual(m.importers[at('c')], [at('b')]);
  assert.deepEqual(m.importers[at('i')], []);
});

test('a chain is a shortest one, with the lines that lead on', () => {
  assert.equal(way(m.chain([at('a')], at('c'))), 'a00 b30 c10');
  assert.equal(way(m.chain([at('a')], at('f'))), 'a00 e92 f21');
  assert.equal(way(m.chain([at('a'), at('b')], at('c'))), 'b00 c10');
  assert.equal(way(m.chain([at('a')], at('a'))), 'a00');
  assert.equal(m.chain([at('a')], at('i')), null, 'an import for type checkers is none at run time');
  assert.equal(m.chain([at('c')], at('a')), null);
});

test('the way has a stop for each stretch in one module, and none for what was not reached', () => {
  const r = walk('p/a.py', 'p/a.py', 'src/p/b.py', '-p/c.py', 'other.py', 'p/b.py', 'p/a.py');
  assert.deepEqual(m.route(r), [{ module: at('a'), steps: [0, 1] }, { module: at('b'), steps: [2, 5] }, { module: at('a'), steps: [6] }]);
});

test('arrows go to the module beside, and stay at the rim', () => {
  assert.equal(m.beside(at('e'), 1, 0), at('f'));
  assert.equal(m.beside(at('e'), 0, -1), at('b'));
  assert.equal(m.beside(at('c'), 1, 0), at('c'));
  assert.equal(m.under(250, 250), at('i'));
  assert.equal(m.under(1, 1), -1);
});

test('search puts what is named so first', () => {
  assert.deepEqual(m.find('c').slice(0, 1), [at('c')]);
  assert.deepEqual(m.find('P. g'), [at('g')]);
  assert.deepEqual(m.find('  '), []);
  assert.deepEqual(m.find('nobody'), []);
});

test('a window in a link comes back, and stays on the map', () => {
  const w = { x: 100, y: 120, k: 3 };
  assert.deepEqual(readWindow(writeWindow(w), m.file), w);
  assert.deepEqual(readWindow('0-500', m.file), { x: 150, y: 150, k: 1 }, 'a window of the timeline is none of ours');
  assert.deepEqual(fitWindow({ x: -50, y: 900, k: 99 }, m.file), { k: 24, x: 300 / 48, y: 300 - 300 / 48 });
  const on = windowOn(m.list[at('a')]!.box, m.file);
  assert.ok(on.k === 1 && on.x === 150, 'a large box does not enlarge the map');
});

test('a damaged map is refused with the field that is wrong', () => {
  const bad = (change: (f: MapFile) => void): (() => unknown) => () => { const f = file(); change(f); return Modules.parse(f); };
  assert.throws(bad((f) => { f.schema.version = '2.0'; }), /wanted glassbox-modmap 1\.x/);
  assert.throws(bad((f) => { f.modules = []; }), /wanted a map with modules/);
  assert.throws(bad((f) => { f.modules[3]!.imports = [[9, 1, 0]]; }), /modules\[3\]: wanted .* below 9/);
  assert.throws(() => Modules.parse(null), /schema/);
});

test('card and table say who imports, how it came to be loaded, and escape', () => {
  const r = walk('p/a.py', 'p/g.py'), card = (n: string, from = -1): string => modulesCard(r, { ...INITIAL, view: 'modules', step: 's0' }, m, at(n), from, true);
  assert.match(card('g'), /No import leads here/);
  assert.match(card('c'), /Imported by <span class="mono">1<\/span>.*data-mod="1"/s);
  assert.match(card('f', at('e')), /Path from e.*https:\/\/github\.com\/x\/p\/blob\/v1\/p\/e\.py#L2/s);
  assert.match(card('a', at('c')), /The other way round/);
  const t = modulesTable(m, r, at('g'));
  assert.equal(t.rows.length, 9);
  assert.deepEqual(t.rows[at('g')], ['p.g', 'p/g.py', 'picked by name', 16, 0, 0, 0, '2', '']);
  assert.equal(t.now, at('g'));
});

test('each map that ships fits the engines that are offered it', () => {
  for (const name of MAPPED) {
    const q = Modules.parse(JSON.parse(readFileSync(`${CHECKOUT}/static/modmaps/${name}.json`, 'utf8')));
    assert.equal(q.file.engine, name);
    assert.ok(q.entries().length === q.file.entries.length, 'each entry is on the map');
    for (const [i, b] of q.list.entries()) if (b.state === 'by_name') assert.equal(q.chain(q.entries(), i), null, `${b.name} is picked by name`);
  }
  assert.match(noModules(Recording.parse({ schema: { name: 'glassbox-trace', version: '1.0' }, engine: { name: 'other' }, walk: [], spans: [], passes: [] }))!, /no map/);
});
