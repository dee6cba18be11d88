// Switch it off and see: which part of the model lies under the playhead,
// what its name is to the engine, and the same request once more without it.
// It does not know about panels or how two recordings are compared.
import type { Recording } from './recording';
import { at, type State } from './state';
import { lensNow } from './views/lens-data';
import { opt } from './views/attention-opts';
import { wordAt, positionOf } from './position';
import { served } from './site';

/** A part as the engine names it (L10.H3, L4.ffn, L2.attn, L7) and in words. */
export interface Part { name: string; title: string; note: string }

const PART = /^L(\d+)(?:\.(?:H(\d+)|(attn|ffn)))?(?:=(mean|zero))?$/;

/** partTitle says a part in words; a name that is none stays as it is. */
export function partTitle(name: string): string {
  const m = PART.exec(name.trim());
  if (!m) return name;
  const how = m[4] === 'mean' ? ', its mean over the prompt instead' : '';
  if (m[2] !== undefined) return `head ${m[2]} of layer ${m[1]}${how}`;
  return `${m[3] === 'attn' ? 'attention of layer' : m[3] === 'ffn' ? 'feed-forward of layer' : 'layer'} ${m[1]}${how}`;
}

/** offOf lists the parts that were off in a recording. */
export function offOf(r: Recording): string[] {
  const a = r.file.request.params?.['ablate'];
  return Array.isArray(a) ? a.filter((x): x is string => typeof x === 'string') : [];
}

/** names reads a line of parts; with mean each gives its mean over the prompt instead of zero. */
export const names = (line: string, mean: boolean): string[] =>
  line.split(/[\s,]+/).filter(Boolean).map((n) => (mean && !n.includes('=') ? `${n}=mean` : n));

/** wrongParts says which names this model does not have, so that the reader need not wait for the server to say it. */
export function wrongParts(r: Recording, list: string[]): string | null {
  const L = r.layers, H = r.file.model.heads ?? Infinity;
  if (!list.length) return 'Name a part.';
  const bad = list.filter((n) => { const m = PART.exec(n); return !m || Number(m[1]) >= L || (m[2] !== undefined && Number(m[2]) >= H); });
  return bad.length ? `${bad.join(', ')}: wanted a layer from L0 to L${L - 1}, alone or with ${H === Infinity ? '' : `.H0 to .H${H - 1}, `}.attn or .ffn.` : null;
}

/** partsAt lists what can be switched off at the playhead, the chosen thing first; writer is a component that has the focus in the lens. */
export function partsAt(r: Recording, s: State, writer: string | null = null): Part[] {
  const l = s.layer, head = { name: `L${l}.H${s.head}`, note: 'the head' }, attn = { name: `L${l}.attn`, note: 'all its heads' }, ffn = { name: `L${l}.ffn`, note: '' }, layer = { name: `L${l}`, note: 'attention and feed-forward' };
  const step = r.steps[at(r, s)]?.id ?? '', mean = opt(s, 'mean');
  let list: { name: string; note: string }[] = [layer, ffn, attn, head];
  if (s.view === 'attention') list = mean === 'heads' ? [attn, layer, head, ffn] : [head, attn, layer, ffn];
  else if (s.view === 'lens') list = opt(s, 'mid') === 'on' && opt(s, 'half') === 'A' ? [attn, layer, ffn, head] : [layer, attn, ffn, head];
  else if (r.inLayers(at(r, s))) list = /ffn/.test(step) ? [ffn, layer, attn, head] : /attn|rope|kv/.test(step) ? [attn, head, layer, ffn] : list;
  if (writer && PART.test(writer)) list.unshift({ name: writer, note: 'chosen among the writers' });
  const seen = new Set(list.map((p) => p.name));
  for (const w of strongest(r, s)) if (!seen.has(w.name)) list.push(w);
  return list.filter((p, k) => list.findIndex((q) => q.name === p.name) === k).map((p) => ({ ...p, title: partTitle(p.name) }));
}

/** strongest are the largest writers of the word at the playhead, where the lens is at hand. */
function strongest(r: Recording, s: State): { name: string; note: string }[] {
  let ln = null;
  try { ln = lensNow(r); } catch { return []; }
  const k = wordAt(r, positionOf(r, s)), list = ln?.components.length ? ln.writers(k, false) : null;
  if (!list) return [];
  return list.filter((w) => PART.test(w.name)).sort((a, b) => Math.abs(b.v) - Math.abs(a.v)).slice(0, 4)
    .map((w) => ({ name: w.name, note: `${w.v < 0 ? '−' : '+'}${Math.abs(w.v).toFixed(2)} to the logit of ${ln!.text(ln!.said(k).said)}` }));
}

/** Parameters that a request takes and a recording keeps under the same name. */
const SAME = ['max_tokens', 'temperature', 'top_p', 'top_k', 'min_p', 'repeat_penalty', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'samplers', 'seed', 'stop', 'ignore_eos', 'stream'];

/** capturesOf are the kinds of capture that a recording holds. */
export function capturesOf(r: Recording): string[] {
  const has = Object.keys(r.file.arrays ?? {}), any = (re: RegExp): boolean => has.some((n) => re.test(n));
  return [['attention', /^attention/], ['lens', /^lens_ids/], ['values', /^tape_/], ['logits', /^logits/]].filter(([, re]) => any(re as RegExp)).map(([k]) => k as string);
}

/** again is the request of a recording once more, with parts switched off on top of those that were, and with more captures. */
export function again(r: Recording, off: string[], more: string[] = []): { path: string; body: Record<string, unknown> } {
  const q = r.file.request, p = q.params ?? {}, body: Record<string, unknown> = {}, chat = !!q.messages;
  for (const k of SAME) if (p[k] !== undefined && p[k] !== null) body[k] = p[k];
  if (typeof p['logprobs'] === 'number') Object.assign(body, chat ? { logprobs: true, top_logprobs: p['logprobs'] } : { logprobs: p['logprobs'] });
  if (chat) body['messages'] = q.messages; else body['prompt'] = q.prompt || q.rendered;
  const base = (n: string): string => n.replace(/=.*/, ''), ablate = [...offOf(r).filter((n) => !off.some((o) => base(o) === base(n))), ...off];
  body['glassbox'] = { trace: true, capture: [...new Set([...capturesOf(r), ...more])], ...(ablate.length ? { ablate } : {}) };
  return { path: chat ? '/v1/chat/completions' : '/v1/completions', body };
}

/** notOffered says in a sentence why the request of a recording cannot be run again here, or null when it can. */
export async function notOffered(r: Recording, host: Element): Promise<string | null> {
  if (r.live) return 'The request is still running. A part can be switched off when it is over.';
  if (r.file.engine.name !== 'glassbox') return `${r.file.engine.name} made this recording. Only Glassbox’s own engine can switch a part of the model off.`;
  if (!served()) return 'This page is a file. There is no engine behind it that could run the request again; glassbox serve is one.';
  if (!host.hasAttribute('page')) return 'This picture stands in another page, and asks no engine for anything.';
  const q = r.file.request;
  if (!q.messages && !q.prompt && !q.rendered) return 'This recording does not hold its request, so it cannot be sent again.';
  let list: { id?: string; root?: string }[];
  try {
    const res = await fetch('/v1/models');
    if (!res.ok) return `No engine answers here (${res.status}). glassbox serve is one.`;
    list = ((await res.json()) as { data?: typeof list }).data ?? [];
  } catch { return 'The server does not answer. Check that Glassbox is still running.'; }
  const m = r.file.model, tail = (f?: string): string => f?.split(/[/\\]/).pop() ?? '';
  if (list.some((x) => m.file ? tail(x.root) === tail(m.file) : x.id?.toLowerCase() === m.name?.toLowerCase())) return null;
  return `This recording was made with ${m.file ?? m.name ?? 'another model'}; the server runs ${list.map((x) => x.root ?? x.id).join(', ') || 'none'}. Start it with that model to switch parts off.`;
}

/** countTokens counts the pieces in the text of a stream of events; it throws what an error event says. */
export function countTokens(text: string): number {
  let n = 0;
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    let d: { error?: { message?: string }; choices?: { text?: string; delta?: { content?: string } }[] };
    try { d = JSON.parse(line.slice(6)) as typeof d; } catch { continue; } // cut by the end of the buffer
    if (d.error) throw new Error(d.error.message ?? 'the server stopped the stream');
    const c = d.choices?.[0];
    if (c?.delta?.content || c?.text) n++;
  }
  return n;
}

/** runAgain sends a request and reads the answer to its end; tokens is told how many have come where the request streams. It gives the id of the recording. */
export async function runAgain(q: { path: string; body: Record<string, unknown> }, signal: AbortSignal, tokens: (n: number) => void): Promise<string> {
  const res = await fetch(q.path, { method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(q.body) });
  const id = res.headers.get('X-Glassbox-Trace-Id');
  if (!res.ok) throw new Error(((await res.json().catch(() => null)) as { error?: { message?: string } } | null)?.error?.message ?? `the server answered ${res.status}`);
  if (!id) throw new Error('the answer names no recording');
  if (q.body['stream'] !== true) { await res.arrayBuffer(); return id; }
  const read = res.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = '', n = 0; ;) {
    const { done, value } = await read.read();
    if (done) return id;
    const text = rest + value, end = text.lastIndexOf('\n') + 1;
    n += countTokens(text.slice(0, end));
    rest = text.slice(end);
    tokens(n);
  }
}
