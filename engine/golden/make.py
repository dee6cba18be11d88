"""Makes the golden data of this folder: what an independent reader of the same GGUF file computes.

    python make.py FILE.gguf        writes testdata/index.json and testdata/NAME.npz
    python witness.py FILE.gguf     then adds testdata/witness.json (llama.cpp's answers)

Needs: transformers, torch, gguf, tokenizers, jinja2, numpy (the versions used stand in index.json).
The reference is transformers' LlamaForCausalLM with the dequantised weights, in float32, eager attention.
The same model is run a second time in float64 throughout (norms, rotary angles, softmax) to learn how far
float32 itself is from the true value; that distance stands in index.json beside every prompt.
"""
import hashlib
import json
import os
import platform
import re
import sys

import jinja2
import numpy as np
import torch
import transformers
from gguf import GGUFReader
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers.models.llama import modeling_llama

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "testdata")
TOP, FIXED, BINS, ANSWER = 32, 256, 256, 64
TRACED = "sky"  # the prompt whose residual stream is kept


def fixed_ids(vocab):
    """One word of every 192: enough to see an error that is spread over the whole vocabulary."""
    step = vocab // FIXED
    return np.array([i * step + (37 * i) % step for i in range(FIXED)], dtype=np.int64)


def sketch_plan(vocab):
    """Bin and sign of every word. splitmix64 of the id; top 8 bits choose the bin, bit 0 the sign."""
    x = np.arange(vocab, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return (x >> np.uint64(56)).astype(np.int64), np.where(x & np.uint64(1), -1.0, 1.0)


def tokenizer(reader):
    """The file's byte-level BPE. transformers' own reader of GGUF tokenizers drops the step that splits digits."""
    field = lambda k: reader.fields[k].contents()
    words, kinds = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
    merges = [tuple(m.split(" ")) for m in field("tokenizer.ggml.merges")]
    t = Tokenizer(models.BPE(vocab={w: i for i, w in enumerate(words)}, merges=merges))
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    ])
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(w, special=True) for w, k in zip(words, kinds) if k == 3])
    return t


def render(reader, messages):
    env = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    template = env.from_string(reader.fields["tokenizer.chat_template"].contents())
    return template.render(messages=messages, add_generation_prompt=True)


def load(path, double):
    folder, name = os.path.split(os.path.abspath(path))
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=name, dtype=torch.float32, attn_implementation="sdpa" if double else "eager")
    if double:
        model = model.double()
        base, width = model.config.rope_parameters["rope_theta"], model.config.head_dim
        inverse = 1.0 / base ** (torch.arange(0, width, 2, dtype=torch.float64) / width)

        def angles(self, x, position_ids):
            a = position_ids[..., None].double() * inverse
            a = torch.cat((a, a), dim=-1)
            return a.cos(), a.sin()

        def norm(self, h):
            return self.weight * (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))

        for module in model.modules():
            if isinstance(module, modeling_llama.LlamaRMSNorm):
                module.forward = norm.__get__(module)
            if isinstance(module, modeling_llama.LlamaRotaryEmbedding):
                module.forward = angles.__get__(module)
    return model.eval()


@torch.no_grad()
def logits(model, ids):
    """All positions at once, no cache: [position, vocab] in the model's own type."""
    return model(torch.tensor([ids]), use_cache=False).logits[0]


@torch.no_grad()
def residuals(model, ids):
    """The stream before block 0, after every attention and after every block: [layer(+1), position, width]."""
    before, middle, after, hooks = [], [], [], []
    blocks = model.model.layers
    hooks.append(blocks[0].register_forward_pre_hook(lambda m, a: before.append(a[0][0])))
    for b in blocks:
        hooks.append(b.post_attention_layernorm.register_forward_pre_hook(lambda m, a: middle.append(a[0][0])))
        hooks.append(b.register_forward_hook(
            lambda m, a, o: after.append((o[0] if isinstance(o, tuple) else o).reshape(len(ids), -1))))
    model(torch.tensor([ids]), use_cache=False)
    for h in hooks:
        h.remove()
    return torch.stack(before + after), torch.stack(middle)


@torch.no_grad()
def greedy(model, ids, steps):
    """Greedy continuation; an end-of-turn word is kept and not obeyed, so that every answer has the same length."""
    past, step, out = None, torch.tensor([ids]), []
    for _ in range(steps):
        r = model(step, cache=past, use_cache=True)
        past, word = r.cache, int(r.logits[0, -1].argmax())
        out.append(word)
        step = torch.tensor([[word]])
    return out


def summary(x, plan):
    """What is kept of logits x [position, vocab]: leaders, a fixed set, a sketch and three sums. Sums in float64."""
    d = x.double()
    value, index = torch.topk(d, TOP, dim=-1)
    bins, sign = plan
    sketch = torch.zeros(len(d), BINS, dtype=torch.float64)
    sketch.index_add_(1, torch.from_numpy(bins), d * torch.from_numpy(sign))
    return {
        "top_ids": index.numpy().astype("<i4"),
        "top": value.numpy().astype("<f4"),
        "lse": torch.logsumexp(d, -1).numpy().astype("<f4"),
        "l2": d.norm(dim=-1).numpy().astype("<f4"),
        "sketch": sketch.numpy().astype("<f4"),
    }


def distance(a, b):
    """float32 against float64: largest |difference| and its root mean square."""
    d = (a.double() - b.double()).abs()
    return {"max_abs": float(d.max()), "rms": float(d.pow(2).mean().sqrt())}


def one(prompt, reader, tok, m32, m64, plan, fixed):
    name = prompt["name"]
    text = render(reader, prompt["messages"])
    ids = tok.encode(text, add_special_tokens=False).ids
    answer = greedy(m32, ids, ANSWER)
    full = ids + answer[:-1]
    x32, x64 = logits(m32, full), logits(m64, full)
    n = len(ids)
    arrays = {"prompt_" + k: v for k, v in summary(x32[:n], plan).items()}
    arrays["prompt_fixed"] = x32[:n][:, torch.from_numpy(fixed)].numpy().astype("<f4")
    tail = x32[n - 1:]
    for k, v in summary(tail, plan).items():
        if k != "sketch":
            arrays["answer_" + k] = v
    assert tail.argmax(-1).tolist() == answer, name + ": cached and uncached passes choose other words"
    at = [n // 2, n - 1, n - 1 + ANSWER // 2]
    arrays["full_positions"] = np.array(at, dtype="<i4")
    arrays["full"] = x32[at].numpy().astype("<f4")
    if name == TRACED:
        stream, middle = residuals(m32, ids)
        arrays["residual_norm"] = stream.double().norm(dim=-1).numpy().astype("<f4")
        arrays["residual_mid_norm"] = middle.double().norm(dim=-1).numpy().astype("<f4")
        arrays["residual_last"] = stream[:, -1].numpy().astype("<f4")
        arrays["residual_mid_last"] = middle[:, -1].numpy().astype("<f4")
    np.savez(os.path.join(OUT, name + ".npz"), **arrays)
    margin = arrays["answer_top"][:, 0] - arrays["answer_top"][:, 1]
    row = {
        "name": name, "messages": prompt["messages"], "rendered": text, "prompt_ids": ids, "answer_ids": answer,
        "answer": tok.decode(answer, skip_special_tokens=False),
        "ends_at": answer.index(2) if 2 in answer else -1,
        "smallest_margin": round(float(margin.min()), 4),
        "float32_to_float64": distance(x32, x64),
        "same_words_in_float64": bool((x32.argmax(-1) == x64.argmax(-1)).all()),
    }
    print(f"{name:13} {n:4} tokens  |f32-f64| max {row['float32_to_float64']['max_abs']:.2e}"
          f"  margin {row['smallest_margin']:.3f}  ends {row['ends_at']}  {row['answer'][:90]!r}", flush=True)
    return row


def main(path):
    torch.set_num_threads(1)
    os.makedirs(OUT, exist_ok=True)
    reader = GGUFReader(path)
    tok = tokenizer(reader)
    m32, m64 = load(path, False), load(path, True)
    vocab = m32.config.vocab_size
    fixed, plan = fixed_ids(vocab), sketch_plan(vocab)
    prompts = json.load(open(os.path.join(HERE, "prompts.json"), encoding="utf-8"))
    rows = [one(p, reader, tok, m32, m64, plan, fixed) for p in prompts]
    index = {
        "model": {"file": os.path.basename(path), "sha256": hashlib.sha256(open(path, "rb").read()).hexdigest(),
                  "layers": m32.config.num_hidden_layers, "width": m32.config.hidden_size, "vocab": vocab},
        "made_by": {"command": "python make.py " + os.path.basename(path), "python": platform.python_version(),
                    "torch": torch.__version__, "transformers": transformers.__version__,
                    "numpy": np.__version__, "arithmetic": "float32, eager attention, one thread"},
        "top": TOP, "bins": BINS, "answer_tokens": ANSWER, "traced": TRACED, "fixed_ids": fixed.tolist(), "prompts": rows,
    }
    with open(os.path.join(OUT, "index.json"), "w", encoding="utf-8") as f:
        f.write(re.sub(r"\[[\d,\s]+\]", lambda m: re.sub(r"\s+", " ", m[0]), json.dumps(index, ensure_ascii=False, indent=1)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
