// The views, 1 to 9. A view that is not built into this client has no mount
// and says why it is not offered.
import { requestView } from './request';
import { timelineView } from './timeline';
import type { ViewKind } from './view';
import type { Recording } from '../recording';

const needsArray = (name: string) => (r: Recording): string | null =>
  r.file.arrays && name in r.file.arrays ? 'in this recording, but this page cannot draw it yet' : `not in this recording: record with --capture ${name}`;

const later = (n: number, id: string, title: string, missing: ViewKind['missing']): ViewKind => ({ n, id, title, missing });

export const VIEWS: readonly ViewKind[] = [
  requestView,
  later(2, 'pass', 'Pass', (r) => (r.passes.length ? 'this page cannot draw it yet' : 'not in this recording: it has no passes')),
  later(3, 'tape', 'Tape', needsArray('values')),
  later(4, 'attention', 'Attention', needsArray('attention')),
  later(5, 'lens', 'Lens', needsArray('lens')),
  timelineView,
  later(7, 'memory', 'Memory', () => 'this page cannot draw it yet'),
  later(8, 'modules', 'Modules', (r) => (r.file.modules?.length ? 'this page cannot draw it yet' : 'not in this recording: it has no module graph')),
  later(9, 'compare', 'Compare', () => 'needs a second recording'),
];

/** viewFor gives the kind of a view id, or the first view when there is none or it cannot be shown. */
export function viewFor(id: string, r: Recording): ViewKind {
  const v = VIEWS.find((k) => k.id === id);
  return v?.mount && !v.missing(r) ? v : VIEWS[0]!;
}
