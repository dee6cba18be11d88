import time

import zmq


class Layer:
    def forward(self, x):
        return x + len(self.mix(x))

    def mix(self, x):
        return [x] * 3


class Model:
    def __init__(self):
        self.layers = [Layer() for _ in range(4)]

    def forward(self, word):
        x = len(word)
        for layer in self.layers:
            x = layer.forward(x)
        return word


def schedule(request):
    spin()
    return request["words"]


def spin():
    """Is called without end while the core waits: it must be left out."""
    time.sleep(0)


def step(model, word):
    return {"word": model.forward(word)}


def main(base):
    ctx = zmq.Context()
    pull, push = ctx.socket(zmq.PULL), ctx.socket(zmq.PUSH)
    pull.connect(base + "1")
    push.connect(base + "2")
    model = Model()
    while True:
        while not pull.poll(1):
            for _ in range(50):
                spin()
        for word in schedule(pull.recv_json()):
            push.send_json(step(model, word))
        push.send_json({"word": None})
