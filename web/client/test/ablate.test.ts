import assert from 'node:assert/strict';
import { test } from 'node:test';
import { again, capturesOf, countTokens, names, notOffered, offOf, partsAt, partTitle, runAgain, wrongParts } from '../src/ablate';
import { ablateSheet } from '../src/ablate-dialog';
import { commandFor } from '../src/commands';
import { Recording } from '../src/recording';
import { fit, INITIAL, type State } from '../src/state';
import { synthetic } from '../testdata/synthetic.mjs';

interface Raw { engine: { name: string }; model: Record<string, unknown>; request: Record<string, unknown>; arrays?: Record<string, unknown> }

function made(over: (r: Raw) => void = () => undefined): Recording {
  const raw = structuredClone(synthetic(6, 4)) as unknown as Raw;
  raw.engine.name = 'glassbox';
  Object.assign(raw.model, { heads: 9, file: 'tiny.gguf', name: 'tiny' });
  raw.request['messages'] = [{ role: 'user', content: 'Why?' }];
  raw.request['params'] = { max_tokens: 4, temperature: 0.7, seed: 11, top_p: 0.9, stop: ['x'], samplers: ['temperature'], stream: true, n: 1, model: 'tiny' };
  over(raw);
  return Recording.parse(raw);
}
const at = (r: Recording, over: Partial<State>): State => fit(r, { ...INITIAL, ...over });
const first = (s: Partial<State>, writer: string | null = null): string => { const r = made(); return partsAt(r, at(r, s), writer)[0]!.name; };

test('the part under the playhead is the one that is shown', () => {
  assert.equal(first({ view: 'attention', layer: 3, head: 5 }), 'L3.H5');
  assert.equal(first({ view: 'attention', layer: 3, head: 5, opts: 'mean:heads' }), 'L3.attn');
  assert.equal(first({ view: 'lens', layer: 2 }), 'L2');
  assert.equal(first({ view: 'lens', layer: 2, opts: 'mid:on,half:A' }), 'L2.attn');
  assert.equal(first({ view: 'lens', layer: 2, opts: 'half:A' }), 'L2', 'rows after attention are not shown');
  assert.equal(first({ view: 'pass', step: 'ffn_up', layer: 4 }), 'L4.ffn');
  assert.equal(first({ view: 'tape', step: 'attn_q', layer: 1 }), 'L1.attn');
  assert.equal(first({ view: 'request', step: 'route', layer: 1 }), 'L1');
  assert.equal(first({ view: 'lens', layer: 2 }, 'L5.H1'), 'L5.H1');
  assert.equal(first({ view: 'lens', layer: 2 }, 'embed'), 'L2', 'the embedding is no part that can be off');
});

test('names are read, completed with the mean, and checked against the model', () => {
  assert.deepEqual(names('L1.H3, L4.ffn  L2.attn=zero', true), ['L1.H3=mean', 'L4.ffn=mean', 'L2.attn=zero']);
  assert.equal(partTitle('L1.H3=mean'), 'head 3 of layer 1, its mean over the prompt instead');
  assert.equal(partTitle('L4'), 'layer 4');
  assert.equal(partTitle('nonsense'), 'nonsense');
  const r = made();
  assert.equal(wrongParts(r, ['L5.H8', 'L0.attn=mean']), null);
  assert.match(wrongParts(r, ['L6'])!, /L6: wanted a layer from L0 to L5, alone or with \.H0 to \.H8/);
  assert.match(wrongParts(r, ['L1.H9'])!, /L1\.H9/);
  assert.match(wrongParts(r, ['head 3'])!, /head 3/);
  assert.equal(wrongParts(r, []), 'Name a part.');
});

test('the same request goes out again: messages, parameters, seed, captures, and parts that were off stay off', () => {
  const r = made((q) => { (q.request['params'] as Record<string, unknown>)['ablate'] = ['L0.ffn', 'L2.H1']; q.arrays = { attention: { shape: [1], dtype: 'f4' }, 'tape_in/0/attn_q': { shape: [1], dtype: 'f4' } }; });
  assert.deepEqual(offOf(r), ['L0.ffn', 'L2.H1']);
  assert.deepEqual(capturesOf(r), ['attention', 'values']);
  const q = again(r, ['L2.H1=mean', 'L3'], ['lens']);
  assert.equal(q.path, '/v1/chat/completions');
  assert.deepEqual(q.body, {
    max_tokens: 4, temperature: 0.7, top_p: 0.9, samplers: ['temperature'], seed: 11, stop: ['x'], stream: true, messages: [{ role: 'user', content: 'Why?' }],
    glassbox: { trace: true, capture: ['attention', 'values', 'lens'], ablate: ['L0.ffn', 'L2.H1=mean', 'L3'] },
  });
  const text = made((x) => { delete x.request['messages']; x.request['prompt'] = 'Once'; Object.assign(x.request['params'] as object, { logprobs: 3, max_tokens: null }); }), t = again(text, []);
  assert.equal(t.path, '/v1/completions');
  assert.equal(t.body['prompt'], 'Once');
  assert.equal(t.body['logprobs'], 3);
  assert.ok(!('max_tokens' in t.body));
  assert.ok(!('ablate' in (t.body['glassbox'] as object)));
  const chat = again(made((x) => { (x.request['params'] as Record<string, unknown>)['logprobs'] = 5; }), []);
  assert.equal(chat.body['logprobs'], true);
  assert.equal(chat.body['top_logprobs'], 5);
});

/** page stands in for the browser's: an address, an element and the answers of a server. */
async function why(r: Recording, protocol: string, page: boolean, models: unknown): Promise<string | null> {
  const was = [Object.getOwnPropertyDescriptor(globalThis, 'location'), globalThis.fetch] as const;
  Object.defineProperty(globalThis, 'location', { value: { protocol }, configurable: true });
  globalThis.fetch = (async () => { if (models === null) throw new Error('refused'); return new Response(JSON.stringify(models), { status: models === 404 ? 404 : 200 }); }) as typeof fetch;
  try { return await notOffered(r, { hasAttribute: () => page } as unknown as Element); } finally {
    if (was[0]) Object.defineProperty(globalThis, 'location', was[0]); else delete (globalThis as { location?: unknown }).location;
    globalThis.fetch = was[1];
  }
}

test('it is offered only where the same model answers, and says why not elsewhere', async () => {
  const r = made(), ok = { data: [{ id: 'x', root: '/models/tiny.gguf' }] };
  assert.equal(await why(r, 'http:', true, ok), null);
  assert.match((await why(r, 'http:', true, { data: [{ id: 'y', root: 'big.gguf' }] }))!, /made with tiny\.gguf; the server runs big\.gguf/);
  assert.match((await why(r, 'file:', true, ok))!, /This page is a file/);
  assert.match((await why(r, 'http:', false, ok))!, /stands in another page/);
  assert.match((await why(r, 'http:', true, null))!, /does not answer/);
  assert.match((await why(r, 'http:', true, 404))!, /No engine answers here \(404\)/);
  assert.match((await why(made((q) => { q.engine.name = 'other'; }), 'http:', true, ok))!, /other made this recording/);
  assert.match((await why(made((q) => { for (const k of ['messages', 'prompt', 'rendered']) delete q.request[k]; }), 'http:', true, ok))!, /does not hold its request/);
  r.live = true;
  assert.match((await why(r, 'http:', true, ok))!, /still running/);
});

test('a run counts the tokens of a stream, reads it to the end and gives the id; what the server says is told', async () => {
  assert.equal(countTokens('data: {"choices":[{"delta":{"role":"assistant"}}]}\n\ndata: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choices":[{"text":"b"}]}\n\ndata: [DONE]\n'), 2);
  assert.throws(() => countTokens('data: {"error":{"message":"no room"}}\n'), /no room/);
  const was = globalThis.fetch, events = ['data: {"choices":[{"delta":{"con', 'tent":"a"}}]}\n\ndata: {"choices":[{"delta":{"content":"b"}}]}\n', '\ndata: [DONE]\n\n'];
  const body = (): ReadableStream => new ReadableStream({ start(c) { for (const e of events) c.enqueue(new TextEncoder().encode(e)); c.close(); } });
  try {
    globalThis.fetch = (async () => new Response(body(), { headers: { 'X-Glassbox-Trace-Id': 'abc' } })) as typeof fetch;
    const seen: number[] = [];
    assert.equal(await runAgain({ path: '/v1/completions', body: { stream: true } }, new AbortController().signal, (n) => seen.push(n)), 'abc');
    assert.equal(seen.at(-1), 2);
    globalThis.fetch = (async () => new Response('{"error":{"message":"ablate: found \\"L99\\""}}', { status: 400 })) as typeof fetch;
    await assert.rejects(runAgain({ path: '/', body: {} }, new AbortController().signal, () => undefined), /found "L99"/);
    globalThis.fetch = (async () => new Response('{}')) as typeof fetch;
    await assert.rejects(runAgain({ path: '/', body: {} }, new AbortController().signal, () => undefined), /names no recording/);
  } finally { globalThis.fetch = was; }
});

test('the sheet fills in the part, says what is off already, and escapes what it shows', () => {
  const r = made((q) => { (q.request['params'] as Record<string, unknown>)['ablate'] = ['L0.ffn']; }), h = ablateSheet(r, at(r, { view: 'attention', layer: 3, head: 5 }), null);
  assert.match(h, /name="parts"[^>]*value="L3\.H5"/);
  assert.match(h, /Off already, and staying off: feed-forward of layer 0\./);
  assert.match(h, /At most 4 tokens/);
  assert.match(h, /value="mean"/);
  assert.ok(!ablateSheet(r, at(r, {}), 'L1.H2<b>').includes('<b>L1'));
});

test('one key opens it in every view', () => {
  const press = { key: 'K', code: 'KeyK', ctrlKey: false, metaKey: false, altKey: false, shiftKey: true };
  for (const view of ['request', 'pass', 'tape', 'attention', 'lens', 'compare']) assert.equal(commandFor(press, { view, letters: true })?.id, 'ablate', view);
});
