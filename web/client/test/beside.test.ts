import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recording } from '../src/recording';
import { besideHtml, besideRows, besideTable, peerOf } from '../src/views/pass-beside';
import { synthetic } from '../testdata/synthetic.mjs';

const peer = { engine: { name: 'llamacpp', version: 'b1' }, how: 'by <callback>', threads: 1, passes: 3, pass_ns: 1000, timed_ns: 1100, ops: [
  { ops: ['attn_scores', 'attn_softmax', 'attn_mix'], nodes: ['FLASH_ATTN_EXT'], ns: 5e9, note: 'scores do not exist' },
  { ops: null, nodes: ['DUP'], ns: 4 }, { ops: ['attn_q'], nodes: ['Qcur MUL_MAT'], ns: 7 },
] };
const r = Recording.parse({ ...synthetic(4, 4), peers: [peer] });

test('ops of two engines: groups add up, the biggest difference first, nothing is lost', () => {
  const rows = besideRows(r, peerOf(r)!), flash = rows[0]!, sum = (ids: string[]): number => ids.reduce((a, id) => a + besideRows(r, { ...peer, ops: [{ ops: [id], nodes: [], ns: 1 }] }).find((x) => x.ids[0] === id)!.ours!, 0);
  assert.deepEqual(flash.ids, ['attn_scores', 'attn_softmax', 'attn_mix']);
  assert.ok(Math.abs(flash.ours! - sum(flash.ids)) < 1e-6 && flash.ours! > 0);
  const d = rows.map((x) => Math.abs((x.theirs ?? 0) - (x.ours ?? 0)));
  for (let i = 1; i < d.length; i++) assert.ok(d[i - 1]! >= d[i]!, `row ${i}`);
  const ops = r.steps.filter((_, i) => r.roles[i]!.op).map((s) => s.id);
  assert.deepEqual(rows.flatMap((x) => x.ids).sort(), ops.sort(), 'each op here is in one row');
  const other = rows.find((x) => x.nodes === 'DUP')!;
  assert.deepEqual([other.ids, other.ours, other.theirs], [[], null, 4], 'what has no op here has a row');
  assert.ok(rows.filter((x) => x.theirs === null).length > 0, 'what has no node there too');
});

test('the table and the page say the same, and text is text', () => {
  const t = besideTable(r, peerOf(r)!), h = besideHtml(r, peerOf(r)!, 'attn_q');
  assert.equal(t.rows.length, h.match(/<tr[ >]/g)!.length - 1);
  assert.match(t.caption, /timing cost 10/);
  assert.match(h, /by &lt;callback&gt;/);
  assert.match(h, /data-step="attn_q" aria-current="step"/);
  assert.match(h, /scores do not exist/);
  assert.equal(peerOf(Recording.parse(synthetic(2, 2))), null);
});
