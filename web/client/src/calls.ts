// Calls to the driver of a device: which belong to an op, their intervals on
// the host and on the device, and the stack from the model's line to the
// device's time. It does not know about the page.
import { esc, timeText } from './format';
import type { Recording } from './recording';
import type { Call, Span, Step } from './schema';

/** Lanes of calls, below those of the recording. */
export const CALL_LANES: Record<string, string> = { driver: 'Driver calls', device: 'Device' };

const kept = new WeakMap<Recording, { n: number; by: Map<string, Call[]> }>();

/** callsFor lists the calls made for an op, in order. */
export function callsFor(r: Recording, id: string): Call[] {
  const all = r.file.calls ?? [];
  let k = kept.get(r);
  if (!k || k.n !== all.length) {
    kept.set(r, (k = { n: all.length, by: new Map() }));
    for (const c of all) if (c.span) k.by.get(c.span)?.push(c) ?? k.by.set(c.span, [c]);
  }
  return k.by.get(id) ?? [];
}

/** callSpans makes spans of the calls, for drawing: of each one on the host, then, where it did something there, one on the device. */
export function callSpans(r: Recording): Span[] {
  return (r.file.calls ?? []).flatMap((c, i): Span[] => {
    const of = c.span === undefined ? undefined : r.spans[r.spanIndex.get(c.span) ?? -1];
    const one = (lane: string, at: { start_ns: number; dur_ns: number }, kernel: string, prov: Span['prov']): Span => ({
      id: c.span ?? '', step: of?.step ?? '', name: c.kernel ?? c.what, start_ns: at.start_ns, dur_ns: at.dur_ns, lane, pass: c.pass, kernel, prov, attrs: { call: i },
      ...(of?.layer === undefined ? {} : { layer: of.layer }), ...(c.bytes ? { bytes: c.bytes } : {}),
    });
    const grid = c.grid ? `, ${c.grid.join('×')} blocks of ${c.threads} threads` : '';
    return [one('driver', c, c.api + grid, 'measured'), ...(c.device ? [one('device', c.device, c.kernel ?? c.api, 'derived')] : [])];
  });
}

/** stackRow is the way of one op down: model's line, op, kernels, calls, driver, time on the device. None where no driver was called. */
export function stackRow(r: Recording, step: Step, p: Span | undefined): [string, string][] {
  const list = p ? callsFor(r, p.id) : [];
  if (!p || !list.length) return [];
  const src = step.sources?.[0] ?? step.source, on = list.filter((c) => c.device), first = on[0]?.device, last = on.at(-1)?.device;
  const sum = (f: (c: Call) => number): number => list.reduce((a, c) => a + f(c), 0), res = r.passes.find((q) => q.index === p.pass)?.clocks?.residual_ns;
  const parts = [src.path ? `${esc(src.path.split('/').at(-1))}:${src.line}` : '', esc(p.op ?? p.step), esc([...new Set(list.map((c) => c.kernel).filter(Boolean))].join(', ')),
    `${esc([...new Set(list.map((c) => c.api))].join(', '))}${list.length > 1 ? ` × ${list.length}` : ''}, ${timeText(sum((c) => c.dur_ns), 'measured')} on the host`, esc(r.file.device.driver ?? 'driver'),
    first && last ? `${timeText(last.start_ns + last.dur_ns - first.start_ns, 'derived', 'first start to last end on the device')} on the device, begun ${timeText(first.start_ns - list[0]!.start_ns, 'derived', res === undefined ? '' : `the clocks may be off by ${res} ns`)} after the call` : 'nothing on the device'];
  return [['stack', parts.filter(Boolean).join(' <b>›</b> ')]];
}
