// The same example as TestTimeIsCountedWhereTheWorkIs of package steps.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Span, Step } from '../src/schema';
import { stageTimes } from '../src/stagetime';

const span = (id: string, step: string, lane: string, start_ns: number, dur_ns: number): Span => ({ id, step, name: id, lane, start_ns, dur_ns, prov: 'measured' });

test('time is counted where the work is, and an instant for one stage', () => {
  const steps = [{ id: 's', stage: 'schedule' }, { id: 'c', stage: 'compute' }, { id: 'd', stage: 'deliver' }] as Step[];
  const spans = [span('1', 's', 'x', 0, 100), span('2', 'c', 'x', 10, 50), span('3', '', 'x', 20, 10), span('5', 'c', 'y', 30, 60), span('4', '', 'x', 70, 10), span('6', '', 'y', 95, 5)];
  const got = stageTimes(spans, steps);
  assert.deepEqual([got.get('schedule'), got.get('compute'), got.get('deliver')], [20, 80, 0]);
});
