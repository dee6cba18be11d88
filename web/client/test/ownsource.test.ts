import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourcePane } from '../src/card';
import { ownCode, take } from '../src/ownsource';
import type { Source, Step } from '../src/schema';
import { INITIAL } from '../src/state';

const src = (over: Partial<Source> = {}): Source => ({ repo: 'github.com/vllm-project/vllm', commit: 'v0.32.0', path: 'vllm/v1/engine/core.py', line: 30, symbol: 'EngineCore.step', ...over });
const lines = (at: number): string => Array.from({ length: 600 }, (_, n) => (n + 1 === at ? '    def step(self):' : `        x = ${n + 1} < 2  # no`)).join('\n');
const pane = (s: Source): string => sourcePane({ source: s } as Step, INITIAL, 'S');

test('code comes from the folder that was picked, at the line or where the function went', async () => {
  take([], () => undefined);
  assert.match(pane(src()), /not in this recording.*source\.folder/);
  for (const [root, at, found] of [['vllm/v1/engine/core.py', 30, 'there'], ['checkout/vllm/v1/engine/core.py', 55, 'moved'], ['engine/core.py', 599, 'no']] as const) {
    let drawn = 0;
    take([{ path: root, text: () => Promise.resolve(lines(at)) }, { path: 'other/core.py', text: () => Promise.resolve('wrong') }], () => drawn++);
    assert.equal(ownCode(src()), null, 'it is being read');
    await new Promise((done) => setTimeout(done));
    const got = ownCode(src())!;
    assert.equal(drawn, 1);
    assert.deepEqual([got.found, got.line, got.file], [found, found === 'moved' ? at : 30, root]);
    assert.ok(got.lines.length <= 49 && got.lines[got.line - got.first] === lines(at).split('\n')[got.line - 1]);
    const html = pane(src());
    assert.equal((html.match(/class="lit"/g) ?? []).length, 1);
    assert.ok(html.includes('&lt; 2') && html.includes('from your folder'));
  }
  assert.match(pane(src({ path: 'vllm/none.py' })), /Your folder has no such file/);
  assert.ok(!pane(src({ code: { first: 29, lines: ['a', 'b'] } })).includes('source.folder'), 'what the recording holds stands');
});
