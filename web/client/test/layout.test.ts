import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputOf, layoutMap, layoutWide, roomName, type MapLayout } from '../src/layout';
import { drawMap, paneAt, resLabel, shrunk, stageSpans } from '../src/map';
import { along, path, Routes } from '../src/route';
import { Recording } from '../src/recording';
import { fit, INITIAL } from '../src/state';
import { synthetic } from '../testdata/synthetic.mjs';
import { vllmLike } from '../testdata/vllmlike.mjs';
import { helvetica as tw } from '../src/build/widths';

interface Rect { x0: number; x1: number; y0: number; y1: number; what: string }

/** Every label of the map as a box, by the same rules as the drawing. */
function labels(r: Recording, l: MapLayout): Rect[] {
  const m = inputOf(r), out: Rect[] = [];
  const box = (x0: number, base: number, text: string, px: number, what = text): Rect => ({ x0, x1: x0 + tw(text, px), y0: base - px * 0.72, y1: base + px * 0.2, what });
  m.steps.forEach((s, i) => {
    const p = l.pos[i]!, w = tw(s.label, 12);
    if (!m.roles[i]!.res) { out.push(box(p.x + 11, p.y + 4.2, s.label, 12)); return; }
    const at = { over: [p.x - w / 2, p.y - 10], above: [p.x - 4, p.y - 10], below: [p.x - 4, p.y + 18], right: [p.x + 10, p.y + 4] }[resLabel(m, i)]!;
    out.push(box(at[0]!, at[1]!, s.label, 12));
  });
  for (const c of l.cols) for (const q of c.rooms) if (!c.op) out.push(box(q.x + 11, q.y0 + l.pitch * 0.5 + 6, roomName(q.name, l.short), 11));
  return out;
}

const meet = (a: Rect, b: Rect): boolean => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;

const cases: [string, Recording][] = [['glassbox', Recording.parse(synthetic(4, 4))], ['three processes', Recording.parse(vllmLike())]];
const sizes: [number, number][] = [[912, 760], [904, 728], [904, 568], [1376, 544], [1000, 640], [700, 500]];

for (const [name, r] of cases) for (const [W, H] of sizes) {
  const l = layoutMap(inputOf(r), W, H, tw), where = `${name} at ${W}x${H}`;

  test(`${where}: no two labels meet`, () => {
    const all = labels(r, l);
    for (let i = 0; i < all.length; i++) for (let j = i + 1; j < all.length; j++) assert.ok(!meet(all[i]!, all[j]!), `${all[i]!.what} meets ${all[j]!.what}`);
  });

  test(`${where}: no two rooms meet`, () => {
    const rooms = l.cols.flatMap((c) => (c.op ? [] : c.rooms.map((q): Rect => ({ x0: q.x - 10, x1: q.x - 10 + q.w, y0: q.y0, y1: q.y1 - 0.01, what: q.name }))));
    for (let i = 0; i < rooms.length; i++) for (let j = i + 1; j < rooms.length; j++) assert.ok(!meet(rooms[i]!, rooms[j]!), `${rooms[i]!.what} meets ${rooms[j]!.what}`);
  });

  test(`${where}: labels stay in their rooms and off other stations`, () => {
    const m = inputOf(r), all = labels(r, l).slice(0, r.steps.length);
    for (const c of l.cols) for (const q of c.op ? [] : c.rooms) for (const i of q.steps) assert.ok(all[i]!.x1 <= q.x - 10 + q.w, `${all[i]!.what} runs through its wall`);
    all.forEach((b, i) => l.pos.forEach((p, k) => {
      const dot: Rect = { x0: p.x - 4, x1: p.x + 4, y0: p.y - 4, y1: p.y + 4, what: m.steps[k]!.label };
      assert.ok(k === i || !meet(b, dot), `${b.what} lies on the station of ${dot.what}`);
    }));
  });

  test(`${where}: doors are in walls, between the steps that they join`, () => {
    const rt = new Routes(inputOf(r), l), near = (a: number, b: number): boolean => Math.abs(a - b) < 6;
    for (let i = 0; i < r.steps.length - 1; i++) for (const [x, y, upright] of rt.doors(i)) {
      const a = l.pos[i]!, b = l.pos[i + 1]!;
      if (a.col === b.col) assert.ok(y > Math.min(a.y, b.y) && y < Math.max(a.y, b.y), `${r.steps[i]!.id}: door outside`);
      const walls = l.cols.flatMap((c) => (c.op ? [] : c.rooms));
      assert.ok(walls.some((q) => (upright ? near(x, q.x - 10) || near(x, q.x - 10 + q.w) : near(y, q.y0) || near(y, q.y1))), `${r.steps[i]!.id}: door in no wall`);
    }
  });

  test(`${where}: x never goes back, so stages are intervals`, () => {
    for (let i = 1; i < l.cols.length; i++) assert.ok(l.cols[i]!.x >= l.cols[i - 1]!.x, `column ${i}`);
    const spans = [...stageSpans(r, l).values()];
    for (let i = 1; i < spans.length; i++) assert.ok(spans[i]![0] >= spans[i - 1]![1], `stage ${i}`);
  });

  test(`${where}: everything lies on the sheet`, () => {
    for (const b of labels(r, l)) assert.ok(b.x0 >= 0 && b.x1 <= l.width + 1 && b.y0 >= 0 && b.y1 <= l.height, `${b.what} ${JSON.stringify(b)} of ${l.width}x${l.height}`);
    assert.ok(l.width / W <= (W >= 904 && H >= 728 ? 1 : W >= 904 ? 1.12 : 1.4), `scaled by ${l.width / W}`);
  });

  test(`${where}: every track is made of straight runs from step to step`, () => {
    const rt = new Routes(inputOf(r), l);
    for (let i = 0; i < r.steps.length - 1; i++) {
      const s = rt.segment(i);
      assert.deepEqual(along(s, 1).map(Math.round), [l.pos[i + 1]!.x, l.pos[i + 1]!.y].map(Math.round), r.steps[i]!.id);
      for (let k = 1; k < s.length; k++) assert.ok(Math.abs(s[k]![0] - s[k - 1]![0]) < 0.01 || Math.abs(s[k]![1] - s[k - 1]![1]) < 0.01, `${r.steps[i]!.id} run ${k} is slanted`);
      assert.ok(!path(s).includes('NaN'));
    }
  });
}

test('the drawing marks one step as now, names every hand-over and uses no style attribute', () => {
  for (const [, r] of cases) for (const step of [0, 20, r.steps.length - 1]) {
    const d = drawMap(r, fit(r, { ...INITIAL, step: r.steps[step]!.id }), 904, 728, tw);
    assert.equal(d.svg.split('class="on"').length, 2);
    assert.ok(!/ style=/.test(d.svg) && !/NaN|undefined/.test(d.svg));
    const changes = r.steps.slice(1).filter((s, i) => s.lane !== r.steps[i]!.lane).length;
    assert.equal(d.svg.split('l6 6-6 6-6-6z').length - 1, changes);
  }
});

test('roles follow from the op names', () => {
  const r = cases[0]![1], role = (id: string) => r.roles[r.stepIndex.get(id)!]!;
  assert.ok(role('attn_residual').plus && role('ffn_residual').plus && role('embed').res && role('lm_head').res && !role('pass_done').op);
  assert.deepEqual(['attn_q', 'attn_k', 'attn_v', 'ffn_gate', 'ffn_up', 'rope'].map((k) => role(k).par), [1, 2, 3, 1, 2, 0]);
  assert.deepEqual(['attn_q', 'ffn_up', 'out_norm', 'lm_head', 'kv_write'].map((k) => role(k).family), ['A', 'F', 'N', 'E', 'K']);
  assert.deepEqual(['read_body', 'decode_json', 'render', 'look_up', 'reserve_pages', 'attn_q', 'attn_softmax', 'lm_head', 'draw', 'detokenize', 'stop_check'].map((k) => role(k).form), ['bytes', 'json', 'text', 'ids', 'pages', 'vector', 'scores', 'logits', 'ids', 'piece', 'text']);
});

for (const [name, r] of cases) for (const [W, H] of [[904, 568], [700, 500], [420, 400]] as const) {
  const l = layoutWide(inputOf(r), W, H, tw), where = `${name} through a window of ${W}x${H}`;

  test(`${where}: the sheet is as wide as it has to be, and nothing on it meets`, () => {
    assert.ok(l.needW <= l.width + 0.5, `${l.needW} of ${l.width}`);
    const all = labels(r, l);
    for (let i = 0; i < all.length; i++) for (let j = i + 1; j < all.length; j++) assert.ok(!meet(all[i]!, all[j]!), `${all[i]!.what} meets ${all[j]!.what}`);
  });

  test(`${where}: the mark and its word are in the window, at every step`, () => {
    const w = Math.max(l.width, l.needW), h = Math.max(l.height, l.needH);
    labels(r, l).slice(0, r.steps.length).forEach((b, i) => {
      const v = paneAt(l, i, W, H), p = l.pos[i]!;
      assert.ok(v.x >= 0 && v.y >= 0 && v.x + v.w <= w + 0.5 + Math.max(0, W - w) && v.y + v.h <= h + 0.5 + Math.max(0, H - h), `${b.what}: the window leaves the sheet`);
      assert.ok(p.x - 8 >= v.x && b.x1 <= v.x + v.w && p.y >= v.y && p.y <= v.y + v.h, `${b.what} at ${p.x},${p.y} is not in ${JSON.stringify(v)}`);
    });
  });

  test(`${where}: it is drawn at full size where fitting would make it small`, () => {
    const k = shrunk(r, W, H, tw), d = drawMap(r, fit(r, { ...INITIAL, step: r.steps.at(-1)!.id }), W, H, tw, { wide: true });
    assert.ok(k > 0 && k <= 1);
    if (W === 420) assert.ok(k < 0.9, `${name}: ${k}`);
    assert.deepEqual([d.pane!.w, d.pane!.h], [W, H]);
  });
}
