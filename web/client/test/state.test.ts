import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextBeat } from '../src/player';
import { Recording } from '../src/recording';
import { at, depthsAt, fit, goStage, goStep, goToken, INITIAL, into, move, out, sameOp, tokensOut, turns, type State } from '../src/state';
import { fromHref, fromParams, isMove, toHref, toParams } from '../src/url';
import { synthetic } from '../testdata/synthetic.mjs';

const r = Recording.parse(synthetic(4, 5));
const s0 = fit(r, INITIAL);
const go = (id: string, more: Partial<State> = {}): State => fit(r, { ...s0, step: id, ...more });

test('every state comes back from its URL', () => {
  for (const s of [s0, go('attn_scores', { pass: 3, layer: 2, depth: 'layer' }), go('lm_head', { view: 'timeline', win: '100-2000', pass: 4, source: 1 }), go('attn_q', { sel: 'decode/2/L1/attn_q', pass: 2, layer: 1 })]) {
    assert.deepEqual(fit(r, fromParams(toParams(s))), s);
    for (const where of ['query', 'hash'] as const) assert.deepEqual(fit(r, fromHref(toHref('http://h/trace/x?theme=dark#top', s, where), where)), s);
  }
});

test('a link keeps parameters that are not ours and leaves out first values', () => {
  const u = new URL(toHref('http://h/trace/x?theme=dark&layer=9', go('merge'), 'query'));
  assert.equal(u.search, '?theme=dark&view=request&step=merge');
});

test('a deep link, a walk and a click lead to the same state', () => {
  let walked = s0;
  for (let k = 0; k < at(r, go('attn_scores')); k++) walked = move(r, walked, 1);
  assert.deepEqual(walked, go('attn_scores'));
  assert.deepEqual(fit(r, fromHref('http://h/trace/x?view=request&step=attn_scores', 'query')), walked);
});

test('nonsense in a link becomes the nearest state there is', () => {
  const s = fit(r, fromHref('http://h/?step=no_such&pass=900&layer=-3&depth=kernel&sel=x&view=', 'query'));
  assert.deepEqual([s.step, s.pass, s.layer, s.depth, s.sel], ['first_byte', 4, 0, 'step', '']);
});

test('ends of the walk hold', () => {
  assert.equal(move(r, s0, -1).step, 'first_byte');
  const end = goStep(r, s0, 999);
  assert.equal(end.step, 'end');
  assert.equal(move(r, end, 1).step, 'end');
});

test('down goes to the loops a step is in and right turns their dials', () => {
  assert.deepEqual(depthsAt(r, at(r, go('merge')), 0, 0), ['stage', 'step']);
  let s = go('attn_q', { pass: 2, layer: 1 });
  assert.deepEqual(depthsAt(r, at(r, s), 2, 1), ['stage', 'step', 'token', 'layer']);
  s = into(r, s);
  assert.equal(move(r, s, 1).pass, 3);
  s = into(r, s);
  assert.equal(s.depth, 'layer');
  assert.equal(move(r, s, 1).layer, 2);
  assert.equal(move(r, { ...s, layer: 3 }, 1).layer, 3);
  assert.equal(into(r, s).depth, 'layer');
  assert.equal(out(r, out(r, s)).depth, 'step');
  assert.equal(out(r, out(r, out(r, out(r, s)))).depth, 'stage');
  assert.equal(goStep(r, s, 2).depth, 'step'); // read_body has no layers
});

test('stages, tokens and the same op', () => {
  assert.equal(goStage(r, go('merge'), 1).step, 'queue');
  assert.equal(goStage(r, go('merge'), -1).step, 'first_byte');
  assert.equal(goStage(r, go('queue'), -1).step, 'first_byte');
  assert.equal(goToken(r, go('draw', { pass: 1 }), 1).pass, 2);
  assert.equal(goToken(r, go('draw', { pass: 4 }), 1).pass, 4);
  const last = go('attn_q', { pass: 1, layer: 3 });
  assert.deepEqual([sameOp(r, last, 1).pass, sameOp(r, last, 1).layer], [2, 0]);
  assert.deepEqual([sameOp(r, go('attn_q', { pass: 1 }), -1).pass, sameOp(r, go('attn_q', { pass: 1 }), -1).layer], [0, 3]);
});

test('the loops count what is done', () => {
  assert.deepEqual(turns(r, go('merge')).layer, { n: 4, done: 0, now: -1 });
  assert.deepEqual(turns(r, go('rope', { layer: 2, pass: 3 })), { layer: { n: 4, done: 2, now: 2 }, token: { n: 5, done: 3, now: 3 } });
  assert.deepEqual(turns(r, go('usage')), { layer: { n: 4, done: 4, now: -1 }, token: { n: 5, done: 5, now: -1 } });
  assert.deepEqual(tokensOut(r, go('rope', { pass: 3 })), { left: 3, making: 3 });
  assert.deepEqual(tokensOut(r, go('sse_chunk', { pass: 3 })), { left: 4, making: -1 });
  assert.deepEqual(tokensOut(r, go('end')), { left: 5, making: -1 });
});

test('play walks every step, turns both dials to their ends, and stops', () => {
  let s = s0, beats = 0;
  const seen = new Set([s.step]), layers = new Set<number>(), passes = new Set<number>();
  for (let b = nextBeat(r, s, 1); b; b = nextBeat(r, s, 1)) {
    s = b.state;
    seen.add(s.step);
    if (r.inLayers(at(r, s))) layers.add(s.layer);
    if (r.inTokens(at(r, s))) passes.add(s.pass);
    assert.ok(++beats < 500);
  }
  assert.equal(seen.size, r.steps.length);
  assert.deepEqual([[...layers], [...passes]], [[0, 1, 2, 3], [0, 1, 2, 3, 4]]);
  for (let b = nextBeat(r, s, -1); b; b = nextBeat(r, s, -1)) { s = b.state; assert.ok(--beats > -500); }
  assert.equal(s.step, 'first_byte');
});

test('the window of the timeline is no entry in the history', () => {
  assert.equal(isMove(s0, { ...s0, win: '1-2' }), false);
  assert.equal(isMove(s0, go('merge')), true);
});
