import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recording } from '../src/recording';
import { fit, INITIAL } from '../src/state';
import { attentionCard, looksAt } from '../src/views/attention-card';
import { attentionTable } from '../src/views/attention';
import { Attention, SCORES } from '../src/views/attention-data';
import { lut, shade, topOf } from '../src/views/attention-draw';
import { cellUnder, layout, maskPath, tileAt, tileUnder, windowPath, type Ask } from '../src/views/attention-layout';
import { moving, still, type Scene } from '../src/views/attention-overlay';
import { command, missingState } from '../src/views/attention-state';
import { positions } from '../src/position';
import { synthetic } from '../testdata/synthetic.mjs';
import { softmaxMaps } from './npy';

/** Two heads of three tokens, by hand. */
const SMALL = Float32Array.of(1, 0, 0, 0.25, 0.75, 0, 0.5, 0.25, 0.25, 1, 0, 0, 1, 0, 0, 0, 1, 0);
const small = new Attention({ shape: [1, 2, 3, 3], values: SMALL }, [5, 6, 5]);

test('scores are what their names say', () => {
  const s = small.scores, entropy = -(0.25 * Math.log2(0.25) + 0.75 * Math.log2(0.75));
  assert.ok(Math.abs(s.entropy[0]! - (entropy + 1.5) / 2) < 1e-12);
  assert.equal(s.entropy[1], 0);
  assert.deepEqual([...s.first], [0.375, 0.5]);
  assert.deepEqual([...s.previous], [0.25, 1]);
  assert.deepEqual([...s.self], [0.5, 0]);
  assert.deepEqual([...s.repeat], [0.25, 1]); // token 2 repeats token 0: what followed it is token 1
  assert.deepEqual([...s.distance], [(0.25 + 1.25) / 2, 1]);
  assert.deepEqual([...small.order('first')], [1, 0]);
  assert.equal(small.rank('first', 1), 1);
});

test('averages are means of the maps, and rows still sum to one', () => {
  assert.deepEqual(Array.from(small.map(0, 0, 'heads')), [1, 0, 0, 0.625, 0.375, 0, 0.25, 0.625, 0.125]);
  assert.deepEqual(Array.from(small.map(0, 1, 'layers')), Array.from(small.map(0, 1, '')));
  for (let i = 0; i < 3; i++) assert.ok(Math.abs(small.rowSum(small.map(0, 0, 'all'), i) - 1) < 1e-7);
});

test('a window is found only where every head and row keeps it', () => {
  const n = 6, v = new Float32Array(2 * n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) { v[i * n + j] = i - j < 3 ? 1 / Math.min(3, i + 1) : 0; v[n * n + i * n + j] = 1 / (i + 1); }
  const a = new Attention({ shape: [2, 1, n, n], values: v }, []);
  assert.deepEqual([a.window(0), a.window(1)], [3, 0]);
  const m = layout(ask({ n, row: 5, col: 5 })).map!, cells = [...windowPath(m, 3).matchAll(/h(\d+)v/g)].map((q) => Number(q[1]) / m.cell);
  assert.deepEqual(cells, [1, 2, 3]); // rows 3, 4, 5 hide keys 0; 0, 1; 0, 1, 2
});

test('blocks keep the largest weight, coded by square root', () => {
  const out = new Uint8Array(4);
  small.pooled(0, 0, 2, false, out);
  assert.deepEqual([...out], [255, 0, Math.round(255 * Math.sqrt(0.5)), Math.round(255 * Math.sqrt(0.25))]);
  small.pooled(0, 0, 2, true, out);
  assert.deepEqual([...out], [Math.round(255 * Math.sqrt(0.75)), 0, 128, 128]);
});

test('the ramp ends at one, or at the largest; linear squares the code', () => {
  assert.deepEqual([lut(false, 255)[128], lut(true, 255)[128], lut(false, 128)[128]], [128, 64, 255]);
  assert.deepEqual([shade(0.25, 1, false), shade(0.25, 1, true), shade(0.5, 0.5, true)], [128, 64, 255]);
  assert.equal(topOf(SMALL.subarray(0, 9), 3, true), 0.75);
});

test('wrong shapes are refused with what was wanted', () => {
  assert.throws(() => new Attention({ shape: [2, 3, 4], values: [] }, []), /wanted shape \(layer, head, query, key\).*found \(2, 3, 4\)/);
});

const ask = (over: Partial<Ask> = {}): Ask => ({ W: 904, H: 686, layers: 30, heads: 9, kv: 3, n: 59, panes: 'both', zoom: 0, row: 35, col: 2, dpr: 1, label: 90, sorted: false, ...over });

test('both panes fit the window, at every size and number of heads', () => {
  for (const [W, H] of [[904, 686], [920, 528], [1440, 700], [390, 500]]) for (const [layers, heads, kv] of [[30, 9, 3], [32, 32, 8], [28, 12, 2], [80, 64, 8], [1, 1, 1]]) for (const n of [3, 41, 59, 200, 800]) for (const panes of ['both', 'heads', 'map'] as const) {
    if (W === 390 && panes === 'both') continue; // a narrow page shows one pane
    const { grid, map } = layout(ask({ W: W!, H: H!, layers: layers!, heads: heads!, kv: kv!, n, panes, row: n - 1, col: n - 1 })), what = JSON.stringify([W, H, layers, heads, n, panes]);
    if (grid) { assert.ok(grid.x + grid.w <= W!, what); assert.ok(grid.y + grid.h <= H!, what); assert.ok(grid.m * grid.pool >= n && grid.tile <= grid.pitch, what); }
    if (map) { assert.ok(map.x + map.size <= W! && map.y + map.size <= H!, what); assert.ok(!grid || map.x - map.label >= grid.x + grid.w, what); assert.ok(map.r0 + map.n <= n && map.r0 <= n - 1 && map.r0 + map.n > n - 1, what); }
  }
});

test('a point finds the tile and cell that are drawn there', () => {
  const { grid, map } = layout(ask());
  for (const [c, r] of [[0, 0], [3, 11], [8, 29]] as const) {
    const [x, y] = tileAt(grid!, c, r, 3);
    assert.deepEqual(tileUnder(grid!, x + 2, y + 2, 3), [c, r]);
  }
  assert.equal(tileUnder(grid!, 2, 2, 3), null);
  assert.deepEqual(cellUnder(map!, map!.x + 2.5 * map!.cell, map!.y + 40.5 * map!.cell), [40, 2]);
  assert.ok(!maskPath(layout(ask({ zoom: 6, row: 58, col: 0 })).map!).includes('NaN'));
});

// A recording of 1,024 heads of 41 x 41, made here from a model of random weights.
const big = new Attention({ shape: [32, 32, 41, 41], values: softmaxMaps(32, 32, 41) }, Array.from({ length: 41 }, (_, k) => k % 30));

test('1,024 heads: every row sums to one, every score is within its bounds, every rank is used once', () => {
  assert.ok(big.worstRow < 1e-5);
  for (const k of SCORES) {
    const s = big.scores[k.id], most = k.id === 'entropy' ? Math.log2(41) : k.id === 'distance' ? 40 : 1;
    assert.ok(s.every((v) => v >= 0 && v <= most), k.id);
    assert.equal(new Set(big.order(k.id)).size, 1024);
    const o = big.order(k.id);
    for (let i = 1; i < o.length; i++) assert.ok(s[o[i - 1]!]! >= s[o[i]!]!);
  }
});

const r = Recording.parse(synthetic(30, 6)), maps = new Attention({ shape: [30, 9, 41, 41], values: softmaxMaps(30, 9, 41, 4) }, positions(r).map((t) => t.id));
const scene = (over: Partial<Ask> = {}, here = { l: 11, h: 4, row: 28, col: 27, mean: '' as const }): Scene => ({ a: maps, tokens: positions(r), prompt: r.prompt.length, lay: layout(ask({ n: 41, ...over })), here, map: maps.map(here.l, here.h, ''), order: Int32Array.from({ length: 270 }, (_, k) => k), score: null, per: 3, linear: false, own: false, skipFirst: false, ramp: Array(256).fill('rgb(0,0,0)'), W: 904, H: 686 });

test('the drawing says value, row sum, head, both tokens, and brackets KV groups', () => {
  const all = still(scene()) + moving(scene()).join(''), v = maps.at(11, 4, 28, 27);
  assert.ok(all.includes(v.toFixed(4)) && all.includes('row sum 1.0000') && all.includes('L11 H4'));
  assert.ok(all.includes('·blue → ·sky'));
  for (const k of ['KV 0', 'KV 1', 'KV 2']) assert.ok(all.includes(k));
  assert.ok(!/NaN|undefined/.test(all));
  assert.ok(moving(scene({}, { l: 0, h: 0, row: 3, col: 5, mean: '' })).join('').includes('masked: a later token'));
});

test('the card has scores with rank and badge, and a row that adds up to its sum', () => {
  const map = maps.map(11, 4, ''), q = looksAt(map, 41, 28, 6), html = attentionCard(r, fit(r, { ...INITIAL, view: 'attention' }), maps, positions(r), { l: 11, h: 4, row: 28, col: 27, mean: '' }, map);
  assert.ok(Math.abs(q.top.reduce((a, t) => a + t[1], 0) + q.rest - q.sum) < 1e-9);
  assert.equal(q.top.length + q.others, 29);
  assert.ok(html.includes('KV group 1, shared with H3 and H5') && html.includes('rank of 270') && html.includes('softmax'));
  assert.equal((html.match(/class="bd /g) ?? []).length, 8);
  assert.ok(!/ style=/.test(html));
});

test('the table twin has every weight of the map, or every head with its scores', () => {
  const x = { l: 11, h: 4, row: 28, col: 27, mean: '' as const }, t = attentionTable(maps, positions(r).map((p) => p.text), x, 'both'), s = attentionTable(maps, [], x, 'heads');
  assert.deepEqual([t.rows.length, t.rows[28]!.length, t.now, t.rows[28]![3 + 27], t.rows[28]![3 + 29]], [41, 44, 28, maps.at(11, 4, 28, 27).toFixed(4), '']);
  assert.deepEqual([s.rows.length, s.head.length, s.now], [270, 8, 11 * 9 + 4]);
});

test('without the capture the view names the command that makes one', () => {
  assert.equal(command(r, 'attention,lens'), 'glassbox trace "Why is the sky blue?" --capture attention,lens --max-tokens 6 -o again.gbx');
  assert.ok(missingState(r, 'Attention', 'x', 'attention,lens', true).includes('data-own="record"'));
  assert.ok(!missingState(r, 'Attention', 'x', 'attention,lens', false).includes('data-own="record"'));
});
