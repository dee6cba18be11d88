// What this machine was measured to do, as it lies in the recording. A roof
// is the best run: other programs only ever take away from it.
import { count, sig3 } from '../format';
import type { Recording } from '../recording';
import type { Roof, RoofSpread } from '../schema';

export const roofOf = (r: Recording): Roof | null => (r.clocked ? r.file.device.roof : null) ?? null;

/** copies: a GPU's roof is what copies within it move, read and written; its arithmetic was not measured. */
export const copies = (q: Roof): boolean => q.kernels === 'copy';

/** memoryRoof is what memory gives: the read of the largest working set. */
export const memoryRoof = (q: Roof): RoofSpread | null => q.reads.at(-1)?.gb_per_s ?? null;

/** cacheRoof is the fastest read of a working set that a cache holds. */
export const cacheRoof = (q: Roof): RoofSpread | null => (q.reads.length > 1 ? q.reads.reduce((a, b) => (b.gb_per_s.max > a.gb_per_s.max ? b : a)).gb_per_s : null);

export const HOW_TO_ROOF = 'not measured on this machine: run glassbox roof, then record again';

export function roofTitle(q: Roof): string {
  const s = (x: RoofSpread): string => `${sig3(x.max)} at best, ${sig3(x.median)} median, ${sig3(x.min)} least of ${x.runs} runs`;
  if (copies(q)) return `${q.machine}, measured ${q.measured.slice(0, 10)}: copies within the device, read and written, GB/s: ${q.reads.map((x) => s(x.gb_per_s)).join('; ')}`;
  return `${q.machine}, ${q.threads} threads, measured ${q.measured.slice(0, 10)}: ${q.reads.map((x) => `reading ${count(Math.round(x.bytes / 2 ** 20))} MiB, GB/s: ${s(x.gb_per_s)}`).join('; ')}; 8-bit integers, 10⁹/s: ${s(q.int8_gops)}; floats, 10⁹/s: ${s(q.f32_gflops)}`;
}
