import asyncio
import json

import zmq
import zmq.asyncio


class Server:
    def __init__(self, base):
        self.base = base

    def connect(self):
        ctx = zmq.asyncio.Context()
        self.push, self.pull = ctx.socket(zmq.PUSH), ctx.socket(zmq.PULL)
        self.push.bind(self.base + "1")
        self.pull.bind(self.base + "2")

    async def handle(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if head.startswith("GET"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        else:
            size = int(next(l for l in head.lower().split("\r\n") if l.startswith("content-length")).split(":")[1])
            await self.answer(writer, self.validate(await reader.readexactly(size)))
        await writer.drain()
        writer.close()

    def validate(self, body):
        request = json.loads(body)
        return request["messages"][-1]["content"]

    async def answer(self, writer, text):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        await self.push.send_json({"words": text.split()})
        while True:
            word = await self.receive()
            if word is None:
                break
            writer.write(self.chunk({"choices": [{"delta": {"content": word + " "}, "token_ids": [len(word)]}]}))
            await writer.drain()
        writer.write(self.chunk({"choices": [{"delta": {}, "finish_reason": "stop"}]}))
        n = len(text.split())
        writer.write(self.chunk({"choices": [], "usage": {"prompt_tokens": n, "completion_tokens": n}}))
        writer.write(b"data: [DONE]\n\n")

    async def receive(self):
        return (await self.pull.recv_json())["word"]

    def chunk(self, data):
        return b"data: " + json.dumps(dict(data, id="r1", model="echo")).encode() + b"\n\n"


def main(port, base):
    async def serve():
        server = Server(base)
        server.connect()
        async with await asyncio.start_server(server.handle, "127.0.0.1", port) as s:
            await s.serve_forever()

    asyncio.run(serve())
