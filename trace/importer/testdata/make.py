"""Makes torch-cpu.json.gz: a profile of a tiny transformer with random weights, by PyTorch's own profiler on a CPU.

python make.py   (torch 2.13, Python 3.12)
"""
import gzip

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return nn.functional.rms_norm(x, (x.shape[-1],), self.weight)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (t.view(1, x.shape[1], self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(nn.functional.silu(self.up(x)))


class Model(nn.Module):
    def __init__(self, vocab=64, width=32, heads=4, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(nn.ModuleList([RMSNorm(width), Attention(width, heads), RMSNorm(width), MLP(width)]) for _ in range(layers))
        self.norm, self.head = RMSNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for n1, attn, n2, mlp in self.layers:
            x = x + attn(n1(x))
            x = x + mlp(n2(x))
        return self.head(self.norm(x))


torch.manual_seed(0)
torch.set_num_threads(1)
model, ids = Model().eval(), torch.arange(8)[None]
with torch.inference_mode():
    model(ids)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True) as p:
        with record_function("prefill"):
            logits = model(ids)
        for _ in range(2):
            with record_function("decode"):
                ids = torch.cat([ids, logits[:, -1:].argmax(-1)], 1)
                logits = model(ids)
p.export_chrome_trace("torch-cpu.json")
with open("torch-cpu.json", "rb") as f, gzip.GzipFile("torch-cpu.json.gz", "wb", mtime=0) as z:
    z.write(f.read())
