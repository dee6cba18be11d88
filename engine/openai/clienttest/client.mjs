// Talks to the server with the official Node client: client.mjs PART URL KEY.
import assert from "node:assert/strict";
import { once } from "node:events";
import OpenAI from "openai";

const [part, baseURL, apiKey] = process.argv.slice(2);
let client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const sky = [{ role: "user", content: "Why is the sky blue?" }];

// The request must fail with exactly this class, and tell code, param and request id.
async function fails(kind, status, code, param, request) {
  try {
    await client.chat.completions.create({ model: "smollm2", messages: sky, ...request });
  } catch (e) {
    assert.equal(e.constructor, kind, String(e));
    assert.deepEqual([e.status, e.code, e.param], [status, code, param]);
    assert.ok(e.requestID, "the answer has no x-request-id");
    return e;
  }
  assert.fail(`${JSON.stringify(request)} was answered`);
}

// told waits until the test has done what it was asked to by a line that begins with "now:".
async function told(line) {
  console.log(line);
  await once(process.stdin, "data");
  process.stdin.pause();
}

const parts = {
  async answers() {
    const ask = { model: "smollm2", messages: sky, temperature: 0, max_tokens: 24 };
    const whole = await client.chat.completions.create(ask);
    assert.equal(whole.object, "chat.completion");
    assert.equal(whole._request_id, whole.id);
    const [choice] = whole.choices;
    assert.equal(choice.message.role, "assistant");
    assert.equal(choice.finish_reason, "length");
    assert.equal(whole.usage.completion_tokens, 24);
    const { request_id } = await client.chat.completions.create(ask, { headers: { "x-request-id": "mine" } }).withResponse();
    assert.equal(request_id, "mine");

    const chunks = [];
    for await (const c of await client.chat.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } })) chunks.push(c);
    const last = chunks.pop();
    assert.deepEqual(last.choices, []);
    assert.deepEqual({ ...last.usage, prompt_tokens_details: null }, { ...whole.usage, prompt_tokens_details: null });
    assert.equal(chunks[0].choices[0].delta.role, "assistant");
    assert.equal(chunks.map((c) => c.choices[0].delta.content ?? "").join(""), choice.message.content);
    assert.ok(chunks.every((c) => c.usage === null && c.id === chunks[0].id));
    assert.equal(chunks.at(-1).choices[0].finish_reason, "length");

    // The client's own gatherer of streams must arrive at the same answer.
    const gathered = await client.chat.completions.stream(ask).finalChatCompletion();
    assert.equal(gathered.choices[0].message.content, choice.message.content);

    const schema = { type: "object", properties: { city: { type: "string", maxLength: 12 }, sunny: { type: "boolean" } }, required: ["city", "sunny"], additionalProperties: false };
    const form = { type: "json_schema", json_schema: { name: "weather", strict: true, schema } };
    const made = JSON.parse((await client.chat.completions.create({ model: "smollm2", messages: sky, response_format: form, max_tokens: 100 })).choices[0].message.content);
    assert.equal(typeof made.city, "string");
    assert.equal(typeof made.sunny, "boolean");

    const logs = (await client.chat.completions.create({ ...ask, logprobs: true, top_logprobs: 2 })).choices[0].logprobs.content;
    assert.equal(Buffer.from(logs.flatMap((t) => t.bytes)).toString(), choice.message.content);

    const text = await client.completions.create({ model: "smollm2", prompt: ["One, two,", "A, B,"], max_tokens: 4, temperature: 0, echo: true });
    assert.deepEqual(text.choices.map((c) => c.index), [0, 1]);
    assert.ok(text.choices[1].text.startsWith("A, B,"));
    assert.equal((await client.models.list()).data[0].id, "smollm2");
  },

  async errors() {
    const e = await fails(OpenAI.BadRequestError, 400, "invalid_value", "temperature", { temperature: 9 });
    assert.match(e.message, /0 to 2/);
    assert.equal(e.type, "invalid_request_error");
    await fails(OpenAI.BadRequestError, 400, "unsupported_parameter", "reasoning_effort", { reasoning_effort: "high" });
    await fails(OpenAI.BadRequestError, 400, "context_length_exceeded", "max_tokens", { max_tokens: 1e6, stream: true });
    await fails(OpenAI.NotFoundError, 404, "model_not_found", "model", { model: "gpt-4" });
    client = new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 });
    await fails(OpenAI.AuthenticationError, 401, "invalid_api_key", null, {});
  },

  async leaving() {
    const stream = await client.chat.completions.create({ model: "smollm2", messages: sky, stream: true, ignore_eos: true, max_tokens: 1500 });
    let n = 0;
    for await (const c of stream) {
      assert.equal(c.choices.length, 1);
      if (++n === 5) break; // the client aborts the request
    }
    await told("now: the stream is closed");
  },

  async full() {
    const e = await fails(OpenAI.RateLimitError, 429, "queue_full", null, {});
    assert.equal(e.headers.get("retry-after"), "1");
    await fails(OpenAI.RateLimitError, 429, "queue_full", null, { stream: true });
  },

  async stopping() {
    const stream = await client.chat.completions.create({ model: "smollm2", messages: sky, stream: true, ignore_eos: true, max_tokens: 1500 });
    let error;
    try {
      let n = 0;
      for await (const c of stream) {
        assert.equal(c.choices.length, 1);
        if (++n === 3) await told("now: streaming");
      }
    } catch (e) {
      error = e;
    }
    assert.ok(error instanceof OpenAI.APIError && !(error instanceof OpenAI.APIConnectionError), `half an answer passed for a whole one: ${error}`);
    assert.equal(error.code, "shutting_down");
    await fails(OpenAI.InternalServerError, 503, "shutting_down", null, {});
  },
};

await parts[part]();
console.log("done:", part);
