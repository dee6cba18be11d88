// What part a step plays on the map. An engine may say it in the recording
// (form, role, group of a step); otherwise it follows from the step's id,
// stage and spans by the rules below, which use the field's usual op names.
import { FORMS as FORMS_KNOWN, type Form, type Step } from './schema';

export type Family = 'A' | 'F' | 'N' | 'E' | 'K';

export interface Role {
  form: Form;
  /** belongs to the forward pass: drawn without a room */
  op: boolean;
  /** on the residual line */
  res: boolean;
  /** a branch comes back here */
  plus: boolean;
  /** 0: alone; 1, 2, …: place among steps that run side by side */
  par: number;
  family: Family;
}

const word = (list: string): RegExp => new RegExp(`(^|[._-])(${list})([._-]|\\d|$)`);

const FORMS: Record<Step['stage'], [RegExp, Form][]> = {
  receive: [
    [word('accept|head|headers|read|route|body|socket|http'), 'bytes'],
    [word('decode|parse|validate|valid|check|limits|id|new_id|newid|template|pick|json'), 'json'],
    [word('render|split|presplit|pre|merge|bpe|normalize|messages'), 'text'],
    [word('ids|lookup|look|encode|tokenize|seq|sequence|submit|queue|send'), 'ids'],
  ],
  schedule: [[word('match|prefix|pages|page|reserve|plan|launch|alloc|kv|blocks|execute'), 'pages']],
  compute: [
    [word('scores|softmax|flash'), 'scores'],
    [word('lm_head|head|logits'), 'logits'],
    [word('kv|cache|kv_write'), 'pages'],
  ],
  deliver: [
    [word('penalties|penalty|penal|temperature|temp|top|top_k|topk|top_p|topp|min_p|minp|candidates'), 'logits'],
    [word('draw|sample|pick|append|push|accept|update'), 'ids'],
    [word('detokenize|detok|emit|piece'), 'piece'],
    [word('release|free|keep|pages'), 'pages'],
    [word('usage|chunk|event'), 'json'],
    [word('flush|write|done|end|close|sse'), 'bytes'],
  ],
};
const FORM_ELSE: Record<Step['stage'], Form> = { receive: 'bytes', schedule: 'ids', compute: 'vector', deliver: 'text' };

function formOf(s: Step): Form {
  if (s.form && FORMS_KNOWN.includes(s.form)) return s.form;
  for (const [re, f] of FORMS[s.stage]) if (re.test(s.id)) return f;
  return FORM_ELSE[s.stage];
}

function familyOf(id: string): Family {
  if (word('kv|cache|kv_write').test(id)) return 'K';
  if (word('norm|residual|res|add').test(id)) return 'N';
  if (word('embed|lm_head|head|logits').test(id)) return 'E';
  if (word('ffn|gate|up|down|swiglu|geglu|silu|gelu|act|mlp|experts|router').test(id)) return 'F';
  return 'A';
}

const isAdd = word('residual|res|add');
const isTrunk = word('embed|embedding|norm|out_norm|lm_head|head|logits');

/** Steps that stand side by side: runs of q k v, and of gate up. */
const SIDE: RegExp[] = [word('q|k|v'), word('gate|up')];

function sideBySide(steps: Step[], roles: Role[]): void {
  const key = (i: number): string => {
    const s = steps[i], r = roles[i];
    if (!s || !r?.op || r.res) return '';
    if (s.group) return s.group;
    const n = SIDE.findIndex((re) => re.test(s.id));
    return n < 0 ? '' : `side${n}`;
  };
  for (let i = 0; i < steps.length;) {
    const k = key(i);
    let j = i + 1;
    while (k && j < steps.length && key(j) === k) j++;
    if (k && j - i > 1) for (let n = i; n < j; n++) roles[n]!.par = n - i + 1;
    i = Math.max(j, i + 1);
  }
}

/**
 * rolesOf finds each step's part. layered[i] says that spans of step i carry
 * a layer, opsLane is the lane in which the forward pass runs.
 */
export function rolesOf(steps: Step[], layered: boolean[], opsLane: string): Role[] {
  const first = layered.indexOf(true), last = layered.lastIndexOf(true);
  const roles = steps.map((s, i): Role => {
    const near = first >= 0 && s.lane === opsLane && s.stage === 'compute';
    const inLoop = near && i >= first && i <= last;
    const trunk = near && !inLoop && isTrunk.test(s.id);
    let op = inLoop || trunk, plus = inLoop && isAdd.test(s.id), res = plus || trunk;
    if (s.role) {
      op = s.role !== 'plain';
      plus = s.role === 'add';
      res = plus || s.role === 'residual';
    }
    return { form: formOf(s), op, res, plus, par: 0, family: familyOf(s.id) };
  });
  sideBySide(steps, roles);
  return roles;
}
