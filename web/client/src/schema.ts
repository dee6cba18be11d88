// The recording as it lies in trace.json (schema glassbox-trace, major 1).
// Field names and meanings are the file's; docs/trace-format.md describes them.
// Everything marked optional may be missing; fields not named here are ignored.

/** How a number came to be. */
export type Prov = 'measured' | 'derived' | 'declared';
export type Stage = 'receive' | 'schedule' | 'compute' | 'deliver';
/** What the request is at a step: the nine forms it goes through; piece is text on its way out. */
export type Form = 'bytes' | 'json' | 'text' | 'ids' | 'pages' | 'vector' | 'scores' | 'logits' | 'piece';
export const FORMS: readonly Form[] = ['bytes', 'json', 'text', 'ids', 'pages', 'vector', 'scores', 'logits', 'piece'];

export interface Token {
  id: number;
  text: string;
  /** base64, where text is not whole UTF-8 */
  bytes?: string;
  special?: boolean;
  /** ns from the request's first byte */
  t_ns?: number;
  logprob?: number;
  pass?: number;
}

export interface Source {
  repo: string;
  commit: string;
  path: string;
  symbol: string;
  /** the line that is lit, from 1 */
  line: number;
  code?: { first: number; lines: string[] };
}

export interface Step {
  id: string;
  title: string;
  stage: Stage;
  text: string;
  lane: string;
  source: Source;
  /** from the model's line down to the kernel */
  sources?: Source[];
  spans?: number[];
  time_ns: number;
  count: number;
  in?: string;
  out?: string;
  // What an engine may add so that the map need not guess (see roles.ts).
  form?: Form;
  /** residual: on the residual line; add: a branch comes back; op: hangs below; plain: a box in a room */
  role?: 'residual' | 'add' | 'op' | 'plain';
  /** steps of one group run side by side on the same input */
  group?: string;
  /** name of the hand-over when the next step is in another lane */
  hand?: { name: string; by?: string };
  /** name on the map, at most 12 characters; the title where it is missing */
  label: string;
  short?: string;
  body?: string;
  hands_on?: string;
  wrong?: string;
  link?: string;
}

export interface Span {
  id: string;
  step: string;
  name: string;
  start_ns: number;
  dur_ns: number;
  lane: string;
  parent?: string;
  pass?: number;
  layer?: number;
  op?: string;
  kernel?: string;
  bytes?: number;
  flops?: number;
  prov: Prov;
  attrs?: Record<string, unknown>;
}

export interface Pass {
  index: number;
  kind: 'prefill' | 'decode' | 'verify' | 'draft';
  tokens: number;
  requests: number;
  batch_tokens?: number;
  start_ns: number;
  dur_ns: number;
  capture_ns?: number;
  paused_ns?: number;
  /** of a device with a clock of its own: how well it was tied to the host's */
  clocks?: { residual_ns: number; drift_ns: number };
}

/** A call to the driver of a device: when the host made it, and when the device did what it asked for. */
export interface Call {
  what: 'launch' | 'upload' | 'download' | 'copy' | 'sum' | 'wait';
  api: string;
  pass: number;
  /** id of the op it was made for */
  span?: string;
  kernel?: string;
  start_ns: number;
  dur_ns: number;
  device?: { start_ns: number; dur_ns: number };
  bytes?: number;
  grid?: number[];
  threads?: number;
}

/** A turn of the engine's loop while the request was there, with the part of every request in its pass. */
export interface Turn { start_ns: number; dur_ns: number; waiting?: number; parts: { request: number; kind: Pass['kind']; tokens: number; from: number }[] }
/** What happened to pages of the KV cache at one moment. */
export interface PageChange { t_ns: number; what: 'hold' | 'keep' | 'take' | 'share' | 'drop' | 'publish' | 'evict' | 'copy'; request?: number; pages: number[]; from?: number[] }
export interface Memory { page_tokens: number; pages: number; page_bytes: number; bytes_per_token: number; keys: string; values: string; prefix_cache: boolean; changes?: PageChange[] }

/** Where the engine stood still at a breakpoint of the request, and what was changed there. */
export interface Halt { op: string; layer: number; token: number; pass: number; start_ns: number; dur_ns: number; ended: string }
export interface Edit { op: string; layer: number; token: number; pass: number; part: string; index: number; count: number; how: string; factor?: number; old: (number | string)[]; new: (number | string)[]; t_ns: number }

export interface Request {
  number?: number;
  id?: string;
  trace_id?: string;
  messages?: { role: string; content: unknown }[];
  prompt?: string;
  params?: Record<string, unknown>;
  rendered?: string;
  prompt_tokens?: Token[];
  output_tokens?: Token[];
  text?: string;
  finish_reason?: string;
  capture_ns?: number;
  stops?: Halt[];
  edits?: Edit[];
}

/** A weight and the op that reads it; layer -1 outside the layers. */
export interface ModelTensor { op: string; layer: number; name: string; type: string; rows: number; cols: number; bytes: number }

/** A figure measured several times. */
export interface RoofSpread { min: number; median: number; max: number; runs: number; how?: string }

/** What the machine was measured to do, at another time than the request. */
export interface Roof {
  machine: string; threads: number; kernels: string; measured: string;
  reads: { bytes: number; gb_per_s: RoofSpread }[];
  int8_gops: RoofSpread; f32_gflops: RoofSpread;
}

export interface TraceFile {
  schema: { name: string; version: string };
  engine: { name: string; version?: string; commit?: string };
  model: {
    name?: string; file?: string; sha256?: string; architecture?: string; quantization?: string;
    layers?: number; heads?: number; kv_heads?: number; width?: number; vocab?: number; head_dim?: number; ffn?: number;
    /** the weights in the order in which a pass reads them */
    tensors?: ModelTensor[];
  };
  device: { kind?: string; name?: string; driver?: string; threads?: number; features?: string[]; roof?: Roof; /** the largest code of an input that kernels round */ input_top?: number };
  clock?: { name: string; resolution_ns: number };
  started?: string;
  request: Request;
  numbers?: Record<string, number>;
  walk: Step[];
  spans: Span[];
  passes: Pass[];
  calls?: Call[];
  turns?: Turn[];
  memory?: Memory;
  modules?: unknown[];
  arrays?: Record<string, { shape: number[]; dtype: string; axes?: string[]; meaning?: string; data?: string; omitted?: string; attr_names?: string[] }>;
  dropped?: { spans: number; why?: string };
  partial?: boolean;
  missing?: string[];
  id?: string;
  untraced?: { decode_tokens_per_s?: number };
  peers?: Peer[];
  lanes?: { id: string; title?: string; note?: string }[];
  /** the way back: from the last step of a turn to the first */
  loops?: { over: 'layers' | 'tokens'; from: string; to: string }[];
}

/** Why a recording cannot be shown, and what the reader can do about it. */
export class RecordingError extends Error {
  constructor(readonly kind: 'schema' | 'shape' | 'network' | 'missing' | 'large', message: string, readonly remedy: string) {
    super(message);
  }
}

export const SCHEMA_NAME = 'glassbox-trace';
export const SCHEMA_MAJOR = 1;

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v);

/** checkSchema refuses another schema and another major; unknown minors are fine. */
function checkSchema(raw: Record<string, unknown>): void {
  const s = raw['schema'];
  const name = isObject(s) ? s['name'] : undefined;
  const version = isObject(s) ? String(s['version'] ?? '') : '';
  if (name !== SCHEMA_NAME) {
    throw new RecordingError('schema', `schema.name: wanted "${SCHEMA_NAME}", found ${JSON.stringify(name ?? null)}.`,
      'Open a recording that glassbox trace or glassbox import wrote.');
  }
  const major = Number(version.split('.')[0]);
  if (major !== SCHEMA_MAJOR) {
    throw new RecordingError('schema', `schema.version: this page reads ${SCHEMA_MAJOR}.x, found "${version}".`,
      `Record again with this version, or open it with a Glassbox that reads ${version || 'it'}.`);
  }
}

const NEED_STEP = ['id', 'title', 'stage', 'lane'] as const;
const STAGES: readonly string[] = ['receive', 'schedule', 'compute', 'deliver'];

function checkWalk(walk: unknown): void {
  if (!Array.isArray(walk)) throw new RecordingError('shape', 'walk: wanted a list of steps, found none.', 'Write the recording again; its end may be cut off.');
  walk.forEach((s, i) => {
    if (!isObject(s)) throw new RecordingError('shape', `walk[${i}]: wanted an object, found ${typeof s}.`, 'Write the recording again.');
    for (const k of NEED_STEP) {
      if (typeof s[k] !== 'string') throw new RecordingError('shape', `walk[${i}].${k}: wanted text, found ${typeof s[k]}.`, 'Write the recording again.');
    }
    if (!STAGES.includes(s['stage'] as string)) {
      throw new RecordingError('shape', `walk[${i}].stage: wanted one of ${STAGES.join(', ')}, found "${String(s['stage'])}".`, 'Write the recording again.');
    }
  });
}

function checkSpans(spans: unknown): void {
  if (!Array.isArray(spans)) throw new RecordingError('shape', 'spans: wanted a list, found none.', 'Write the recording again; its end may be cut off.');
  for (let i = 0; i < spans.length; i++) {
    const p: unknown = spans[i];
    if (!isObject(p) || typeof p['start_ns'] !== 'number' || typeof p['dur_ns'] !== 'number' || typeof p['lane'] !== 'string') {
      throw new RecordingError('shape', `spans[${i}]: wanted start_ns, dur_ns and lane, found ${JSON.stringify(p).slice(0, 80)}.`, 'Write the recording again.');
    }
  }
}

/**
 * parseTrace checks what the views rely on and returns the file typed. The
 * text form is JSON; NaN and Infinity are not JSON and fail here.
 * @throws RecordingError with the field, what was wanted and what was found
 */
export function parseTrace(input: string | unknown): TraceFile {
  let raw: unknown = input;
  if (typeof input === 'string') {
    try {
      raw = JSON.parse(input);
    } catch (e) {
      throw new RecordingError('shape', `The recording is not JSON: ${(e as Error).message}.`, 'If a run was cut off, open its NAME.part with glassbox export.');
    }
  }
  if (!isObject(raw)) throw new RecordingError('shape', `The recording: wanted a JSON object, found ${Array.isArray(raw) ? 'a list' : typeof raw}.`, 'Open a recording that glassbox trace wrote.');
  checkSchema(raw);
  checkWalk(raw['walk']);
  checkSpans(raw['spans'] ?? []);
  const f = raw as unknown as TraceFile;
  return {
    ...f,
    engine: f.engine ?? { name: 'unknown engine' },
    model: f.model ?? {},
    device: f.device ?? {},
    request: f.request ?? {},
    spans: f.spans ?? [],
    passes: f.passes ?? [],
    walk: f.walk.map((s) => ({ ...s, ...(isLink(s.link) ? {} : { link: '' }), text: s.text ?? '', label: s.label || s.title, time_ns: s.time_ns ?? 0, count: s.count ?? 0, source: fullSource(s.source) })),
  };
}

/** isLink: what a step's page may lead to. A recording may come from anywhere, and an address can be a script. */
const isLink = (s: unknown): boolean => typeof s === 'string' && /^https?:\/\//i.test(s);

const fullSource = (s: Partial<Source> | undefined): Source => ({
  repo: s?.repo ?? '', commit: s?.commit ?? 'unknown', path: s?.path ?? '', symbol: s?.symbol ?? '', line: s?.line ?? 0, ...(s?.code ? { code: s.code } : {}),
});

/** Another engine on the same model file, prompt, machine and threads, op by op. */
export interface Peer { engine: { name: string; version: string }; how: string; threads: number; passes: number; pass_ns: number; timed_ns: number; ops: PeerOp[] }
export interface PeerOp { ops: string[] | null; nodes: string[]; ns: number; note?: string }
