import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { card, sourceHref, splitText, spoken } from '../src/card';
import '../src/roomcommands';
import { COMMANDS, commandFor, commandTable, isLetter } from '../src/commands';
import { search } from '../src/dialogs';
import { csv, tableHtml, unrolled } from '../src/exports';
import { badge, bytes, cutMiddle, inline, share, sig3, signs, time, tokenText } from '../src/format';
import { inset } from '../src/inset';
import { workerBars, answer } from '../src/mapnotes';
import { outline, stripPlot, topBar } from '../src/panels';
import { Recording } from '../src/recording';
import { fit, INITIAL } from '../src/state';
import { requestTable } from '../src/views/request';
import { drawable, VIEWS } from '../src/views/registry';
import { synthetic } from '../testdata/synthetic.mjs';
import { helvetica } from '../src/build/widths';

declare const CHECKOUT: string;

test('times have three significant digits and a fitting unit', () => {
  const want: [number, string][] = [[0, '0 ns'], [7, '7 ns'], [999, '999 ns'], [1000, '1.00 µs'], [9996, '10.0 µs'], [110_400, '110 µs'], [999_499, '999 µs'], [999_600, '1.00 ms'], [6_650_000, '6.65 ms'], [349_000_000, '349 ms'], [999_700_000, '1.00 s'], [12_340_000_000, '12.3 s'], [1_234_000_000_000, '1,234 s']];
  for (const [ns, text] of want) assert.equal(time(ns), text);
});

test('other numbers', () => {
  assert.deepEqual([sig3(0.00123456), sig3(99.96), sig3(1234.5), sig3(-0.5)], ['0.00123', '100', '1,235', '-0.500']);
  assert.deepEqual([bytes(268), bytes(98_362_432), bytes(1.5e9)], ['268 B', '98.4 MB', '1.50 GB']);
  assert.deepEqual([share(19, 1000), share(1, 1e6), share(345, 349), share(1, 0)], ['1.9', '<0.1', '99', '–']);
});

test('tokens are never blank', () => {
  assert.deepEqual([' the', '\n', '\t', '', '  ', 'a\u0000'].map(signs), ['·the', '↵', '⇥', '∅', '··', 'a<00>']);
  assert.equal(tokenText({ id: 1, text: '\ufffd', bytes: btoa('\xe4\xb8') }), '<E4><B8>');
  assert.equal(cutMiddle('blk.17.attn_q.weight', 11), 'blk.1…eight');
});

test('text from a recording cannot become markup', () => {
  assert.equal(inline('a <b> `x<y` **s** [l](javascript:alert) [k](https://e.x/)'), 'a &lt;b&gt; <code>x&lt;y</code> <b>s</b> [l](javascript:alert) <a href="https://e.x/">k</a>');
  const f = synthetic(2, 2);
  const evil = '<img src=x onerror=alert(1)>"\'';
  f.walk.forEach((s) => { s.title = evil; (s as { label?: string }).label = evil; s.text = `${evil}. ${evil}`; s.in = evil; s.out = evil; s.source.path = evil; s.source.symbol = evil; s.source.code.lines = [evil]; });
  f.request.rendered = evil;
  f.request.messages[0]!.content = evil;
  f.request.output_tokens.forEach((t) => { t.text = evil; });
  const r = Recording.parse(f);
  for (const step of r.steps) {
    const s = fit(r, { ...INITIAL, step: step.id }), all = card(r, s) + outline(r, s, 600) + stripPlot(r, s, 900, 92, false) + topBar(r, s, '/') + inset(r, s, { x: 0, y: 0, w: 400, h: 200 }) + answer(r, s, { x: 0, y: 0, w: 300, h: 200 }, helvetica) + workerBars(r, s, { x: 0, y: 0, w: 200, h: 200 }) + tableHtml(requestTable(r)) + unrolled(r);
    assert.ok(!all.includes('<img'), step.id);
    assert.ok(!/ style=/.test(all), 'a style attribute would be blocked by the content security policy');
    assert.ok(!/NaN|undefined|\[object/.test(all), `${step.id}: ${/.{40}(NaN|undefined|\[object).{20}/.exec(all)?.[0]}`);
  }
});

test('every number on the card has its badge', () => {
  const r = Recording.parse(synthetic(3, 3));
  for (const step of r.steps) {
    const h = card(r, fit(r, { ...INITIAL, step: step.id, pass: 1, layer: 1 }));
    const nums = h.split('class="num"').length - 1, badges = h.split('class="bd ').length - 1;
    assert.ok(step.count === 0 ? h.includes('not reached') : nums >= 2 && badges >= nums, step.id);
  }
  assert.match(badge('derived', 'a by b'), /aria-label="derived from measured values: a by b"/);
});

test('what was not measured is called so', () => {
  const f = synthetic(3, 3);
  f.spans = f.spans.filter((p) => !(p.step === 'attn_q' && p.pass === 1));
  const show = (): string => { const r = Recording.parse(f); return card(r, fit(r, { ...INITIAL, step: 'attn_q', pass: 1 })); };
  assert.ok(show().includes('did not run') && !show().includes('0 ns'));
  f.dropped = { spans: 3 };
  assert.ok(show().includes('not measured') && !show().includes('0 ns'));
});

test('the first sentence leads', () => {
  assert.deepEqual(splitText('One. Two is `a.b`. Three.\n\nFour.'), { lede: 'One.', rest: ['Two is `a.b`. Three.', 'Four.'] });
  assert.deepEqual(splitText('no stop'), { lede: 'no stop', rest: [] });
});

test('source links are made only where the commit is known', () => {
  const s = { repo: 'github.com/a/b', commit: 'f'.repeat(40), path: 'x.go', symbol: '', line: 7 };
  assert.equal(sourceHref(s), `https://github.com/a/b/blob/${'f'.repeat(40)}/x.go#L7`);
  assert.equal(sourceHref({ ...s, commit: 'unknown' }), null);
  assert.equal(sourceHref({ ...s, repo: 'javascript:x' }), null);
});

const press = (key: string, more: object = {}): Parameters<typeof commandFor>[0] => ({ key, code: '', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });

test('no key has two commands in one view', () => {
  for (const view of ['request', 'timeline']) {
    const seen = new Map<string, string>();
    for (const c of COMMANDS.filter((k) => !k.when || k.when === view)) for (const k of c.keys) {
      const key = k.startsWith('code:Key') ? k.slice(8).toLowerCase() : k.toLowerCase() === k ? k : k;
      assert.ok(!seen.has(key), `${key}: ${seen.get(key)} and ${c.id}`);
      seen.set(key, c.id);
    }
  }
  assert.equal(new Set(COMMANDS.map((c) => c.id)).size, COMMANDS.length);
});

test('keys of the browser stay the browser’s', () => {
  for (const key of ['p', 'f', 's', 'l', 'r', 't', 'w', 'n', '+', '-', '0']) assert.equal(commandFor(press(key, { ctrlKey: true }), { view: 'timeline', letters: true }), null, key);
  assert.equal(commandFor(press('ArrowLeft', { altKey: true }), { view: 'request', letters: true }), null);
  assert.equal(commandFor(press('F5'), { view: 'request', letters: true }), null);
  assert.equal(commandFor(press('k', { ctrlKey: true }), { view: 'request', letters: true })?.id, 'find');
});

test('letters can be switched off and the walk still works', () => {
  const off = { view: 'request', letters: false };
  for (const k of ['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', ' ', 'Enter', 'Escape', 'Home', 'End', 'PageUp', 'PageDown']) assert.ok(commandFor(press(k), off), k);
  for (const k of ['n', 't', 'y', '/', '?', '1']) assert.equal(commandFor(press(k), off), null, k);
  assert.equal(commandFor(press('?', { shiftKey: true }), { view: 'request', letters: true })?.id, 'help');
  assert.equal(commandFor(press('F', { shiftKey: true }), { view: 'request', letters: true })?.id, 'presenter');
  assert.equal(commandFor(press('ц', { code: 'KeyW' }), { view: 'timeline', letters: true })?.id, 'time.in');
  assert.ok(isLetter('code:KeyW') && !isLetter('ArrowUp'));
});

test('the list of commands that the docs use is up to date', () => {
  const file = `${CHECKOUT}/static/js/commands.json`;
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), commandTable(), 'run: cd cmd/internal/bundle && go run . -commands');
});

test('search finds steps by name, number, file and function, tokens, and commands', () => {
  const r = Recording.parse(synthetic(2, 3));
  assert.equal(search(r, 'softmax')[0]!.step, 'attn_softmax');
  assert.ok(search(r, '31').some((h) => h.step === 'attn_scores'));
  assert.ok(search(r, 'kv/pages').every((h) => h.kind !== 'step' || ['reserve_pages', 'free_pages'].includes(h.step!)));
  assert.ok(search(r, 'answer').some((h) => h.kind === 'token' && h.pass === 1));
  assert.ok(search(r, '>theme').some((h) => h.cmd === 'theme'));
  assert.equal(search(r, 'zzzz').length, 0);
});

test('a view is shown only when this recording has what it draws', () => {
  const r = Recording.parse(synthetic(2, 2));
  assert.deepEqual(VIEWS.map((v) => v.n), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const v of VIEWS) {
    if (v.id === 'attention' || v.id === 'lens') assert.match(v.missing(r)!, /this engine does not hand it out/);
    else if (v.id === 'modules') assert.match(v.missing(r)!, /no map of its engine ships/);
    else if (v.id === 'memory') assert.match(v.missing(r)!, /does not say what happened to the cache/);
    else assert.ok(drawable(v) ? v.missing(r) === null : /./.test(v.missing(r) ?? 'none'), v.id);
  }
  const ours = Recording.parse({ ...synthetic(2, 2), engine: { name: 'glassbox' } }); // says itself which command records it
  for (const v of VIEWS) if (/^(attention|lens|modules)$/.test(v.id)) assert.equal(v.missing(ours), null);
  const cached = Recording.parse({ ...synthetic(2, 2), memory: { page_tokens: 16, pages: 4, page_bytes: 1, bytes_per_token: 1, keys: 'F16', values: 'F16', prefix_cache: false } });
  assert.equal(VIEWS.find((v) => v.id === 'memory')!.missing(cached), null);
});

test('tables are CSV after RFC 4180', () => {
  assert.equal(csv({ caption: '', head: ['a', 'b'], rows: [['x,"y"', 1], ['l\nm', '']] }), 'a,b\r\n"x,""y""",1\r\n"l\nm",\r\n');
});

test('no view makes numbers up', () => {
  const dir = `${CHECKOUT}/web/client/src`;
  const files = readdirSync(dir, { recursive: true }).map(String).filter((f) => f.endsWith('.ts'));
  assert.ok(files.length > 20);
  for (const f of files) {
    const text = readFileSync(`${dir}/${f}`, 'utf8');
    assert.ok(!/Math\.random|Math\.sin\(/.test(text), f);
    assert.ok(!/https?:\/\/(?!github\.com|www\.w3\.org)[a-z]/.test(text), `${f} fetches from elsewhere`);
    assert.ok(text.split('\n').length <= 500, `${f} is longer than 500 lines`);
  }
});

test('a screen reader hears title, time and hand-over of a step', () => {
  const r = Recording.parse(synthetic(2, 3)), i = r.stepIndex.get('attn_softmax')!, s = fit(r, { ...INITIAL, step: 'attn_softmax' });
  r.steps[i]!.hands_on = 'one row of `weights`';
  const text = spoken(r, s, i);
  assert.ok(text.startsWith(`Step ${i + 1} of ${r.steps.length}, Compute: ${r.steps[i]!.title}.`), text);
  assert.match(text, /\d (ns|µs|ms) in this pass\./);
  assert.ok(text.endsWith('Hands on one row of weights.'), text);
  r.steps[i]!.count = 0;
  assert.match(spoken(r, s, i), / Not reached\. /);
});
