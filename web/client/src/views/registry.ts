// The views, 1 to 9. The first is here from the start; the code of the others
// comes when they are first shown. A view that is not built into this client
// has neither and says why it is not offered.
import { noAttention, noLens, noMemory, noModules, noOps, noSpans, stillRunning } from './missing';
import { requestView } from './request';
import type { ViewKind } from './view';
import type { Recording } from '../recording';

declare const SAVED: boolean | undefined;
type Load = () => Promise<ViewKind>;
const lazy = (n: number, id: string, title: string, missing: ViewKind['missing'], load?: Load): ViewKind => ({ n, id, title, missing, ...(load ? { load } : {}) });

export const VIEWS: readonly ViewKind[] = [
  requestView,
  lazy(2, 'pass', 'Pass', noOps, () => import('./pass').then((m) => m.passView)),
  lazy(3, 'tape', 'Tape', noOps, () => import('./tape').then((m) => m.tapeView)),
  lazy(4, 'attention', 'Attention', noAttention, () => import('./attention').then((m) => m.attentionView)),
  lazy(5, 'lens', 'Lens', noLens, () => import('./lens').then((m) => m.lensView)),
  lazy(6, 'timeline', 'Timeline', noSpans, () => import('./timeline').then((m) => m.timelineView)),
  lazy(7, 'memory', 'Memory', noMemory, () => import('./memory').then((m) => m.memoryView)),
  lazy(8, 'modules', 'Modules', noModules, typeof SAVED !== 'undefined' && SAVED ? undefined : () => import('./modules').then((m) => m.modulesView)),
  lazy(9, 'compare', 'Compare', stillRunning, () => import('./compare').then((m) => m.compareView)),
];

/** drawable tells whether this client has code for a view, here or to come. */
export const drawable = (v: ViewKind): boolean => !!(v.mount ?? v.load);

/** viewFor gives the kind of a view id, or the first view when there is none or it cannot be shown. */
export function viewFor(id: string, r: Recording): ViewKind {
  const v = VIEWS.find((k) => k.id === id);
  return v && drawable(v) && !v.missing(r) ? v : VIEWS[0]!;
}
