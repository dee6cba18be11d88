"""Talks to the server with the official Python client: client.py PART URL KEY."""

import sys
from typing import Literal

import openai
import pydantic

part, url, key = sys.argv[1:]
client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)
SKY = [{"role": "user", "content": "Why is the sky blue?"}]


def fails(kind, status, code, param=None, **request):
    """The request must fail with exactly this class, and tell code, param and request id."""
    request = {"model": "smollm2", "messages": SKY, **request}
    try:
        client.chat.completions.create(**request)
    except openai.APIStatusError as e:
        assert type(e) is kind, (kind, type(e), e)
        assert (e.status_code, e.code, e.param) == (status, code, param), (e.status_code, e.code, e.param)
        assert e.request_id, "the answer has no x-request-id"
        return e
    raise AssertionError(f"{request} was answered")


def answers():
    ask = dict(model="smollm2", messages=SKY, temperature=0, max_tokens=24)
    whole = client.chat.completions.create(**ask)
    assert whole.object == "chat.completion" and whole._request_id == whole.id
    choice = whole.choices[0]
    assert choice.message.role == "assistant" and choice.message.content
    assert choice.finish_reason == "length" and whole.usage.completion_tokens == 24
    assert whole.usage.prompt_tokens + 24 == whole.usage.total_tokens
    assert whole.usage.prompt_tokens_details.cached_tokens == 0

    raw = client.chat.completions.with_raw_response.create(extra_headers={"x-request-id": "mine"}, **ask)
    assert raw.headers["x-request-id"] == "mine" and raw.parse()._request_id == "mine"

    chunks = list(client.chat.completions.create(stream=True, stream_options={"include_usage": True}, **ask))
    assert {c.id for c in chunks} == {chunks[0].id} and chunks[0].choices[0].delta.role == "assistant"
    assert "".join(c.choices[0].delta.content or "" for c in chunks[:-1]) == choice.message.content
    assert [c.choices[0].finish_reason for c in chunks[:-1]] == [None] * (len(chunks) - 2) + ["length"]
    last = chunks[-1].usage
    assert chunks[-1].choices == [] and (last.prompt_tokens, last.total_tokens) == (whole.usage.prompt_tokens, whole.usage.total_tokens)
    assert last.prompt_tokens_details.cached_tokens > 0, "the prompt was there before"
    assert all(c.usage is None for c in chunks[:-1])

    with_logs = client.chat.completions.create(logprobs=True, top_logprobs=3, **ask)
    logs = with_logs.choices[0].logprobs.content
    assert len(logs) == 24 and b"".join(bytes(t.bytes) for t in logs).decode() == choice.message.content
    for t in logs:
        assert t.logprob <= 0 and len(t.top_logprobs) == 3 and t.top_logprobs[0].logprob == t.logprob, t

    stop = client.chat.completions.create(stop=choice.message.content[10:16], **ask)
    assert stop.choices[0].message.content == choice.message.content[:10] and stop.choices[0].finish_reason == "stop"

    text = client.completions.create(model="smollm2", prompt=["One, two,", "A, B,"], max_tokens=4, temperature=0, logprobs=2, echo=True)
    assert [c.index for c in text.choices] == [0, 1] and text.choices[0].text.startswith("One, two,")
    logs = text.choices[1].logprobs
    assert "".join(logs.tokens) == text.choices[1].text
    for token, offset in zip(logs.tokens, logs.text_offset):
        assert text.choices[1].text[offset:].startswith(token)
    streamed = ["", ""]
    for c in client.completions.create(model="smollm2", prompt=["One, two,", "A, B,"], max_tokens=4, temperature=0, echo=True, stream=True):
        streamed[c.choices[0].index] += c.choices[0].text
    assert streamed == [c.text for c in text.choices], (streamed, text.choices)

    three = client.chat.completions.create(n=3, seed=1, max_tokens=6, model="smollm2", messages=SKY)
    assert [c.index for c in three.choices] == [0, 1, 2] and len({c.message.content for c in three.choices}) > 1
    assert three.usage.completion_tokens == 18 and three.usage.prompt_tokens == whole.usage.prompt_tokens

    class Colour(pydantic.BaseModel):
        name: str = pydantic.Field(max_length=20)
        dark: bool
        parts: list[Literal["red", "green", "blue"]] = pydantic.Field(max_length=3)

    parsed = client.chat.completions.parse(model="smollm2", messages=[{"role": "user", "content": "Describe a colour."}], response_format=Colour, max_tokens=200)
    assert isinstance(parsed.choices[0].message.parsed, Colour) and parsed.choices[0].finish_reason == "stop", parsed
    with client.chat.completions.stream(model="smollm2", messages=[{"role": "user", "content": "Describe a colour."}], response_format=Colour, max_tokens=200) as events:
        final = events.get_final_completion()
    assert isinstance(final.choices[0].message.parsed, Colour)

    same = [client.chat.completions.create(model="smollm2", messages=SKY, seed=5, max_tokens=8).choices[0].message.content for _ in range(2)]
    assert same[0] == same[1]
    assert [m.id for m in client.models.list()] == ["smollm2"] and client.models.retrieve("smollm2").id == "smollm2"


def errors():
    e = fails(openai.BadRequestError, 400, "invalid_value", "temperature", temperature=9)
    assert "0 to 2" in e.message and e.type == "invalid_request_error"
    fails(openai.BadRequestError, 400, "unsupported_parameter", "tools", tools=[{"type": "function", "function": {"name": "f"}}])
    fails(openai.BadRequestError, 400, "invalid_value", "n", n=1000)
    e = fails(openai.BadRequestError, 400, "unsupported_value", "response_format",
              response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "array", "uniqueItems": True}}})
    assert "uniqueItems" in e.message
    fails(openai.BadRequestError, 400, "context_length_exceeded", "max_tokens", max_tokens=10**6, stream=True)
    fails(openai.NotFoundError, 404, "model_not_found", "model", model="gpt-4")
    global client
    client = client.with_options(api_key="wrong")
    fails(openai.AuthenticationError, 401, "invalid_api_key")


def leaving():
    stream = client.chat.completions.create(model="smollm2", messages=SKY, stream=True, extra_body={"ignore_eos": True, "max_tokens": 1500})
    for _, chunk in zip(range(5), stream):
        assert chunk.choices
    stream.close()
    print("now: the stream is closed", flush=True)
    sys.stdin.readline()


def full():
    e = fails(openai.RateLimitError, 429, "queue_full")
    assert e.response.headers["retry-after"] == "1"
    fails(openai.RateLimitError, 429, "queue_full", stream=True)


def stopping():
    stream = client.chat.completions.create(model="smollm2", messages=SKY, stream=True, extra_body={"ignore_eos": True, "max_tokens": 1500})
    next(stream)
    print("now: streaming", flush=True)
    try:
        for chunk in stream:
            pass
    except openai.APIError as e:
        assert not isinstance(e, openai.APIConnectionError) and e.code == "shutting_down" and "shutting down" in e.message, e
    else:
        raise AssertionError("half an answer passed for a whole one")
    sys.stdin.readline()
    fails(openai.InternalServerError, 503, "shutting_down")


{"answers": answers, "errors": errors, "leaving": leaving, "full": full, "stopping": stopping}[part]()
print("done:", part)
