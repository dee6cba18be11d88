"""Talks to the server through LangChain's ChatOpenAI, by its base_url alone: langchain_client.py PART URL KEY."""

import asyncio
import sys
from typing import Literal

import openai
import pydantic
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI, OpenAI

part, url, key = sys.argv[1:]
SKY = "Why is the sky blue?"


def chat(**options):
    return ChatOpenAI(**{"base_url": url, "api_key": key, "model": "smollm2", "max_retries": 0, "temperature": 0, "max_tokens": 24, **options})


def answers():
    # What the official client gets for the same request.
    plain = openai.OpenAI(base_url=url, api_key=key, max_retries=0).chat.completions.create(
        model="smollm2", messages=[{"role": "user", "content": SKY}], temperature=0, max_tokens=24)
    want = plain.choices[0].message.content

    whole = chat().invoke(SKY)
    assert isinstance(whole, AIMessage) and whole.content == want, (whole.content, want)
    assert whole.response_metadata["finish_reason"] == "length" and whole.response_metadata["model_name"] == "smollm2"
    assert whole.usage_metadata["output_tokens"] == 24 and whole.usage_metadata["input_tokens"] == plain.usage.prompt_tokens

    chunks = list(chat(stream_usage=True).stream(SKY))
    assert len(chunks) > 10 and "".join(c.content for c in chunks) == want, chunks
    gathered = chunks[0]
    for c in chunks[1:]:
        gathered += c
    assert gathered.usage_metadata["output_tokens"] == 24, gathered

    # A chain: template, model, parser; two at once; then with await.
    chain = ChatPromptTemplate.from_messages([("system", "You are terse."), ("user", "Name a {thing}.")]) | chat(max_tokens=8) | StrOutputParser()
    two = chain.batch([{"thing": "colour"}, {"thing": "river"}])
    assert len(two) == 2 and all(two) and two[0] != two[1], two
    assert asyncio.run(chain.ainvoke({"thing": "colour"})) == two[0]

    again = chat(max_tokens=8).invoke([SystemMessage("You are terse."), HumanMessage("Hi"), AIMessage("Hello."), HumanMessage(SKY)])
    assert again.content and again.usage_metadata["input_tokens"] > whole.usage_metadata["input_tokens"]

    class Colour(pydantic.BaseModel):
        name: str = pydantic.Field(max_length=20)
        dark: bool
        part: Literal["red", "green", "blue"]

    shaped = chat(max_tokens=200).with_structured_output(Colour, method="json_schema").invoke("Describe a colour.")
    assert isinstance(shaped, Colour), shaped

    logs = chat(logprobs=True, top_logprobs=2).invoke(SKY).response_metadata["logprobs"]["content"]
    assert b"".join(bytes(t["bytes"]) for t in logs).decode() == want
    assert chat(stop=[want[10:16]]).invoke(SKY).content == want[:10]

    text = OpenAI(base_url=url, api_key=key, model="smollm2", max_retries=0, temperature=0, max_tokens=4)
    first = text.invoke("One, two,")
    assert first and "".join(text.stream("One, two,")) == first


def fails(kind, code, param, words, call):
    """The call must fail with this class, or LangChain's own below it, and tell code and param."""
    try:
        call()
    except openai.APIStatusError as e:
        assert isinstance(e, kind) and (e.code, e.param) == (code, param) and words in str(e), (e, e.code, e.param)
        return
    raise AssertionError(f"wanted {kind}")


def errors():
    def weather(city: str) -> str:
        """The weather of a city."""
        return city

    fails(openai.BadRequestError, "unsupported_parameter", "tools", "tools are not supported", lambda: chat().bind_tools([weather]).invoke(SKY))
    fails(openai.BadRequestError, "invalid_value", "temperature", "0 to 2", lambda: chat(temperature=9).invoke(SKY))
    fails(openai.NotFoundError, "model_not_found", "model", "gpt-4", lambda: chat(model="gpt-4").invoke(SKY))
    fails(openai.AuthenticationError, "invalid_api_key", None, "API key", lambda: list(chat(api_key="wrong").stream(SKY)))


{"answers": answers, "errors": errors}[part]()
print("done:", part)
