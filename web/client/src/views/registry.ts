// The views, 1 to 9. A view that is not built into this client has no mount
// and says why it is not offered.
import { attentionView } from './attention';
import { compareView } from './compare';
import { lensView } from './lens';
import { passView } from './pass';
import { requestView } from './request';
import { tapeView } from './tape';
import { timelineView } from './timeline';
import type { ViewKind } from './view';
import type { Recording } from '../recording';

const later = (n: number, id: string, title: string, missing: ViewKind['missing']): ViewKind => ({ n, id, title, missing });

export const VIEWS: readonly ViewKind[] = [
  requestView,
  passView,
  tapeView,
  attentionView,
  lensView,
  timelineView,
  later(7, 'memory', 'Memory', () => 'this page cannot draw it yet'),
  later(8, 'modules', 'Modules', (r) => (r.file.modules?.length ? 'this page cannot draw it yet' : 'not in this recording: it has no module graph')),
  compareView,
];

/** viewFor gives the kind of a view id, or the first view when there is none or it cannot be shown. */
export function viewFor(id: string, r: Recording): ViewKind {
  const v = VIEWS.find((k) => k.id === id);
  return v?.mount && !v.missing(r) ? v : VIEWS[0]!;
}
