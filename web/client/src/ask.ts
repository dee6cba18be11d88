// What Trace sends, and how it is sent from a page that stays.
import { places, wirePlaces } from './stops';

/**
 * traceRequest is what Trace sends: the chat API with a recording asked for, at
 * temperature 0 as `glassbox trace` does, so that a walk can be repeated.
 */
export const traceRequest = (prompt: string, model?: string, maxTokens?: number): Record<string, unknown> => ({
  ...(model ? { model } : {}), ...(maxTokens ? { max_tokens: maxTokens } : {}), messages: [{ role: 'user', content: prompt }], temperature: 0, stream: true, glassbox: { trace: true, ...(places().length ? { stop: wirePlaces(places()) } : {}) },
});

/** traceNow sends it and returns the recording's name as soon as the answer's header has it. The answer is read to its end, so that the request is not cancelled. */
export async function traceNow(prompt: string, model?: string, maxTokens?: number): Promise<string> {
  const res = await fetch('/v1/chat/completions', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(traceRequest(prompt, model, maxTokens)) });
  const id = res.headers.get('X-Glassbox-Trace-Id');
  if (!res.ok) throw new Error(((await res.json().catch(() => null)) as { error?: { message?: string } } | null)?.error?.message ?? `the server answered ${res.status}`);
  if (!id) throw new Error('the answer names no recording');
  void res.body?.pipeTo(new WritableStream()).catch(() => undefined);
  return id;
}
