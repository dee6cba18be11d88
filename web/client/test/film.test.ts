// The film: what is on screen is a function of the time alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, parseClock, sceneAt, stateAt, type Scene } from '../src/film-data';
import { Recording } from '../src/recording';
import { synthetic } from '../testdata/synthetic.mjs';

const whole = (): Recording => Recording.parse(synthetic(4, 5));

const scene = (at: number, dur: number, more: Partial<Scene> = {}): Scene => ({ at, dur, chapter: '', text: '', src: 'a', view: 'request', from: '', to: '', pass: 0, layers: 0, passes: [], ...more });

test('times are written and read as minutes and seconds', () => {
  for (const [t, s] of [[0, '0:00'], [5.9, '0:05'], [76, '1:16'], [187, '3:07']] as const) { assert.equal(clock(t), s); assert.equal(parseClock(s), Math.floor(t)); }
  assert.equal(parseClock('90'), 90);
  for (const bad of ['', 'x', '-1', '1:2:3', '1e9', '999999']) assert.ok(Number.isNaN(parseClock(bad)), bad);
});

test('a scene is found by its time', () => {
  const all = [scene(0, 8), scene(8, 12), scene(20, 5)];
  assert.deepEqual([0, 7.99, 8, 19, 20, 500].map((t) => sceneAt(all, t)), [0, 0, 1, 1, 2, 2]);
});

test('a scene walks its steps evenly and leaves out those that did not run', () => {
  const r: Recording = whole(), ran = r.steps.filter((s) => s.count > 0).map((s) => s.id), s = scene(10, 20, { from: ran[0]!, to: ran.at(-1)! });
  assert.equal(stateAt(r, s, 10).step, ran[0]);
  assert.equal(stateAt(r, s, 29.99).step, ran.at(-1));
  assert.equal(stateAt(r, s, 500).step, ran.at(-1), 'the end of the film stays on its last step');
  const seen = new Set(Array.from({ length: 400 }, (_, k) => stateAt(r, s, 10 + k / 20).step));
  assert.deepEqual([...seen], ran);
});

test('layers and passes are swept', () => {
  const r = whole(), step = r.steps.find((_, i) => r.inLayers(i))!.id, s = scene(0, 10, { from: step, to: step, layers: r.layers, passes: r.passNumbers.slice() });
  assert.equal(stateAt(r, s, 0).layer, 0);
  assert.equal(stateAt(r, s, 9.99).layer, r.layers - 1);
  assert.equal(stateAt(r, s, 9.99).pass, r.passNumbers.at(-1));
  assert.equal(stateAt(r, s, 0).step, step);
});
