// The pages of the cache, played by hand from changes whose outcome is known.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recording } from '../src/recording';
import type { Memory, TraceFile } from '../src/schema';
import { heldInOrder, KINDS, kindOf, memoryOf, momentAt, says, seriesOf, writtenAt } from '../src/views/memory-data';

const m: Memory = {
  page_tokens: 4, pages: 10, page_bytes: 4096, bytes_per_token: 1024, keys: 'F16', values: 'F16', prefix_cache: true,
  changes: [
    { t_ns: 0, what: 'hold', request: 1, pages: [0, 1] },
    { t_ns: 0, what: 'keep', pages: [9] },
    { t_ns: 10, what: 'share', request: 2, pages: [0] },
    { t_ns: 10, what: 'take', request: 2, pages: [5, 3] },
    { t_ns: 20, what: 'publish', request: 2, pages: [5] },
    { t_ns: 30, what: 'copy', request: 2, pages: [7], from: [3] },
    { t_ns: 30, what: 'take', request: 2, pages: [7] },
    { t_ns: 30, what: 'drop', request: 2, pages: [3] },
    { t_ns: 40, what: 'drop', request: 1, pages: [0, 1] },
    { t_ns: 50, what: 'evict', pages: [9] },
    { t_ns: 60, what: 'drop', request: 2, pages: [0, 5, 7] },
  ],
};
const kinds = (t: number): string => {
  const at = momentAt(m, 2, t);
  return Array.from({ length: m.pages }, (_, n) => kindOf(at.pages.get(n), 2)[0]).join('');
};

test('each page is what the changes up to the moment make of it', () => {
  assert.equal(kinds(-1), 'eeeeeeeeee');
  assert.equal(kinds(0), 'ooeeeeeeek'); // request 1 is another one
  assert.equal(kinds(10), 'soememeeek');
  assert.equal(kinds(30), 'soeeememek', 'the copy takes the place of page 3');
  assert.equal(kinds(40), 'meeeememek', 'shared no more');
  assert.equal(kinds(50), 'meeeememee');
  assert.equal(kinds(60), 'eeeeekeeee', 'a page that is known by its prefix stays');
});

test('the counts of a moment add up to all pages, at every change', () => {
  const s = seriesOf(m, 2);
  assert.deepEqual(s.t, [0, 10, 20, 30, 40, 50, 60], 'changes of one moment are one point');
  s.t.forEach((t, i) => {
    assert.equal(KINDS.reduce((a, k) => a + s.counts[k][i]!, 0), m.pages);
    assert.deepEqual(Object.fromEntries(KINDS.map((k) => [k, s.counts[k][i]])), { ...momentAt(m, 2, t).counts });
  });
});

test('the page table keeps the order of positions, copies stand where their page stood', () => {
  assert.deepEqual(heldInOrder(m, 2, 10), [0, 5, 3]);
  assert.deepEqual(heldInOrder(m, 2, 30), [0, 5, 7]);
  assert.deepEqual(heldInOrder(m, 2, 60), []);
});

test('words for a change', () => {
  assert.equal(says(m.changes![2]!, 2), 'this request: page 0 shared: found by their prefix');
  assert.equal(says(m.changes![8]!, 2), 'request 1: pages 0, 1 given back');
});

const file = (more: Partial<TraceFile>): Recording => Recording.parse({ schema: { name: 'glassbox-trace', version: '1.1' }, walk: [], spans: [], passes: [], request: { number: 2 }, ...more });

test('positions are written when their pass is over', () => {
  const r = file({ turns: [{ start_ns: 10, dur_ns: 10, parts: [{ request: 1, kind: 'decode', tokens: 1, from: 90 }, { request: 2, kind: 'prefill', tokens: 6, from: 0 }] }, { start_ns: 20, dur_ns: 10, parts: [{ request: 2, kind: 'decode', tokens: 1, from: 6 }] }] });
  assert.equal(writtenAt(r, 15), 0);
  assert.equal(writtenAt(r, 20), 6);
  assert.equal(writtenAt(r, 30), 7);
});

test('a file that lies about its cache has none', () => {
  for (const bad of [{ ...m, pages: 1e9 }, { ...m, page_tokens: 0 }, { ...m, changes: [{ t_ns: 'x', what: 'take', pages: [1] }] }, { ...m, changes: [{ t_ns: 1, what: 'take', pages: 'abc' }] }]) {
    assert.equal(memoryOf(file({ memory: bad as unknown as Memory })), null);
  }
  assert.equal(memoryOf(file({ memory: m }))?.pages, 10);
});
