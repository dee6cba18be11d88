// The live channel: LIVE.md describes its messages. It only appends to a
// recording; the views do not know whether one is live.
import { Recording } from './recording';
import { parseTrace, type Call, type PageChange, type Pass, type Request, type Span, type Token, type Turn } from './schema';

export type LiveMessage =
  | { type: 'start'; id: string; recording: unknown }
  | { type: 'spans'; id: string; spans: Span[]; passes?: Pass[]; calls?: Call[]; turns?: Turn[]; pages?: PageChange[]; dropped?: number }
  | { type: 'tokens'; id: string; output_tokens: Token[]; text?: string }
  | { type: 'request'; id: string; request: Partial<Request> }
  | { type: 'end'; id: string }
  | { type: 'error'; id: string; message: string };

const TYPES: readonly string[] = ['start', 'spans', 'tokens', 'request', 'end', 'error'];

/** decode reads one frame; frames of unknown type are null, so that a newer server may send more. */
export function decode(frame: string): LiveMessage | null {
  let m: unknown;
  try { m = JSON.parse(frame); } catch { return null; }
  if (typeof m !== 'object' || m === null) return null;
  const { type, id } = m as { type?: unknown; id?: unknown };
  return typeof type === 'string' && TYPES.includes(type) && typeof id === 'string' ? (m as LiveMessage) : null;
}

/** begin makes the recording that a start message describes. */
export function begin(raw: unknown): Recording {
  const r = new Recording(parseTrace(raw));
  r.live = true;
  return r;
}

/** apply adds one message to a live recording. It never takes anything away. */
export function apply(r: Recording, m: LiveMessage): void {
  switch (m.type) {
    case 'spans':
      if (m.calls) (r.file.calls ??= []).push(...m.calls);
      if (m.turns) (r.file.turns ??= []).push(...m.turns);
      if (m.pages && r.file.memory) (r.file.memory.changes ??= []).push(...m.pages);
      r.append(m.spans ?? [], m.passes ?? []);
      if (m.dropped) r.file.dropped = { spans: m.dropped, why: 'the recorder could not keep up' };
      break;
    case 'tokens': r.appendTokens(m.output_tokens ?? [], m.text); break;
    case 'request': Object.assign(r.file.request, m.request); r.changed(); break;
    case 'start': case 'end': case 'error': break;
  }
}

export interface LiveEvents {
  start(id: string, r: Recording): void;
  grow(id: string, r: Recording): void;
  end(id: string): void;
  fail(message: string): void;
}

/** Live follows one traced request (or, without an id, the next one that starts) over the websocket. */
export class Live {
  private ws: WebSocket | null = null;
  private current: { id: string; r: Recording } | null = null;
  private tries = 0;
  private closed = false;

  constructor(private url: string, private want: string | null, private on: LiveEvents) {}

  open(): void {
    this.closed = false;
    const u = new URL(this.url, location.href);
    u.protocol = u.protocol === 'https:' ? 'wss:' : 'ws:';
    if (this.want) u.searchParams.set('id', this.want);
    this.ws = new WebSocket(u);
    this.ws.onmessage = (e) => { if (typeof e.data === 'string') this.take(e.data); };
    this.ws.onopen = () => { this.tries = 0; };
    this.ws.onclose = () => this.lost();
  }

  private take(frame: string): void {
    const m = decode(frame);
    if (!m) return;
    try {
      if (m.type === 'start') {
        if (this.want && m.id !== this.want) return;
        if (this.current && this.current.id !== m.id) return;
        this.current = { id: m.id, r: begin(m.recording) };
        this.on.start(m.id, this.current.r);
        return;
      }
      if (!this.current || m.id !== this.current.id) return;
      if (m.type === 'end') { this.close(); this.on.end(m.id); return; }
      if (m.type === 'error') { this.close(); this.on.fail(m.message); return; }
      apply(this.current.r, m);
      this.on.grow(m.id, this.current.r);
    } catch (e) {
      this.close();
      this.on.fail((e as Error).message);
    }
  }

  /** The server sends the whole recording again after a reconnect, so nothing is counted twice. */
  private lost(): void {
    if (this.closed) return;
    if (this.tries++ >= 4) { this.on.fail('The live connection was lost.'); return; }
    if (this.current) this.want = this.current.id;
    setTimeout(() => { if (!this.closed) { this.current = null; this.open(); } }, 250 * 2 ** this.tries);
  }

  close(): void {
    this.closed = true;
    this.ws?.close();
    this.ws = null;
  }
}
