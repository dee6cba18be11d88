// The connection of a workshop's page. It is opened again when it is lost, and
// the server's next message says all there is to know.

export interface RoomState {
  type: 'room';
  you: 'teacher' | 'follower';
  seq: number;
  gather: number;
  recording: string;
  query: string;
  live?: boolean;
  quiet: boolean;
  tasks: boolean;
  people?: { here: number; along: number; done: number[] };
}

export interface RoomEvents {
  /** a connection stands, at first and again */
  opened(): void;
  state(s: RoomState): void;
  lost(why: string): void;
  refused(message: string): void;
}

const isText = (v: unknown): v is string => typeof v === 'string';

/** decodeRoom reads a message of the server; null is one of a kind that is not known here. */
export function decodeRoom(frame: string): RoomState | { type: 'error'; message: string } | null {
  let m: Record<string, unknown>;
  try { m = JSON.parse(frame) as Record<string, unknown>; } catch { return null; }
  if (typeof m !== 'object' || m === null) return null;
  if (m['type'] === 'error' && isText(m['message'])) return { type: 'error', message: m['message'] };
  if (m['type'] !== 'room' || !isText(m['recording']) || !isText(m['query']) || typeof m['gather'] !== 'number') return null;
  return m as unknown as RoomState;
}

export class RoomLink {
  private ws: WebSocket | null = null;
  private tries = 0;
  /** what was to be sent while there was no connection: the newest of each type */
  private waiting = new Map<string, string>();
  up = false;

  constructor(private teacher: boolean, private on: RoomEvents) {}

  open(): void {
    const u = new URL('/api/workshop', location.href);
    u.protocol = u.protocol === 'https:' ? 'wss:' : 'ws:';
    if (!this.teacher) u.searchParams.set('as', 'follower');
    const ws = (this.ws = new WebSocket(u));
    ws.onopen = () => {
      this.tries = 0;
      this.up = true;
      this.on.opened();
      for (const m of this.waiting.values()) ws.send(m);
      this.waiting.clear();
    };
    ws.onmessage = (e) => {
      const m = isText(e.data) ? decodeRoom(e.data) : null;
      if (m?.type === 'room') this.on.state(m);
      else if (m) this.on.refused(m.message);
    };
    ws.onclose = (e) => {
      this.up = false;
      const wait = Math.min(5000, 250 * 2 ** this.tries++);
      this.on.lost(e.reason ? `${e.reason}; connecting again` : 'no connection; trying again');
      setTimeout(() => this.open(), wait * (1 + crypto.getRandomValues(new Uint8Array(1))[0]! / 256)); // thirty pages do not come back at once
    };
  }

  send(m: string): void {
    if (this.ws?.readyState === WebSocket.OPEN) { this.ws.send(m); return; }
    const { type, task } = JSON.parse(m) as { type: string; task?: number };
    this.waiting.set(`${type} ${task ?? ''}`, m);
  }
}
