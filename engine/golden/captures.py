"""Makes testdata/captures.npz and captures.json: what an independent reader sees inside the pass.

    python captures.py FILE.gguf        after make.py, whose prompts and ids it uses

Needs what make.py needs. The reference is transformers' LlamaForCausalLM, float32, eager attention, one thread:
output_attentions for the attention maps; for the lens, the stream after each attention and each block through the last
norm and the head; hooks on o_proj's input and on the feed-forward for who wrote a word, and for leaving parts out.
"""
import json
import os
import sys

import numpy as np
import torch
import transformers

import make

PROMPTS = ["sky", "turns", "long"]
RANKS, ROWS, FIXED = 5, 12, 256
ABLATE = ["L10.H3", "L4.ffn", "L7", "L2.attn=mean", "L12.H5=mean"]


def signs(n):
    """+1 or -1 for each key: -1 where bit 0 of splitmix64 of its position is set."""
    return make.sketch_plan(n)[1]


@torch.no_grad()
def lens(model, stream):
    """Leading words of each row of stream [row, position, width]: ids and log-probabilities [row, position, RANKS]."""
    ids, lps = [], []
    for row in stream:
        x = model.lm_head(model.model.norm(row)).double()
        v, i = torch.topk(torch.log_softmax(x, -1), RANKS, dim=-1)
        ids.append(i.numpy().astype("<i4"))
        lps.append(v.numpy().astype("<f4"))
    return np.stack(ids), np.stack(lps)


def kept(name, a, arrays):
    """Attention a [layer, head, query, key]: a signed sum of every row, and some maps whole (below the diagonal).
    Returns which: pairs of layer and head, and the rows kept of each."""
    layers, heads, n, _ = a.shape
    arrays[name + "_attention_signed"] = (a.astype(np.float64) @ signs(n)).reshape(-1).astype("<f4")
    rows = np.arange(n) if n < 200 else np.unique(np.linspace(0, n - 1, ROWS).astype(int))
    which = [(l, h) for l in range(layers) for h in (range(heads) if n < 40 else [l * 4 % heads])]
    arrays[name + "_attention"] = np.concatenate([a[l, h, q, : q + 1] for l, h in which for q in rows]).astype("<f4")
    return {"maps": which, "rows": rows.tolist()}


@torch.no_grad()
def inside(model, ids, edit=None):
    """Runs the prompt. Gives logits [position, vocab], o_proj inputs and feed-forward outputs [layer, position, width].
    edit(kind, layer, tensor) may change o_proj's input ("mix"), its output ("attn") or the feed-forward's ("ffn")."""
    mix, ffn, hooks = [], [], []
    edit = edit or (lambda kind, l, x: x)
    for l, b in enumerate(model.model.layers):
        def before(m, a, l=l):
            x = edit("mix", l, a[0].clone())
            mix.append(x[0].clone())
            return (x,)

        def down(m, a, o, l=l):
            x = edit("ffn", l, o.clone())
            ffn.append(x[0].clone())
            return x

        hooks.append(b.self_attn.o_proj.register_forward_pre_hook(before))
        hooks.append(b.self_attn.o_proj.register_forward_hook(lambda m, a, o, l=l: edit("attn", l, o.clone())))
        hooks.append(b.mlp.register_forward_hook(down))
    x = model(torch.tensor([ids]), use_cache=False).logits[0]
    for h in hooks:
        h.remove()
    return x, torch.stack(mix), torch.stack(ffn)


@torch.no_grad()
def writers(model, ids, word):
    """Contributions of embedding, heads and feed-forwards to a word's logit at the last position, in float64."""
    stream, _ = make.residuals(model, ids)
    _, mix, ffn = inside(model, ids)
    last = stream[-1, -1].double()
    g = model.model.norm.weight.double() * model.lm_head.weight[word].double()
    g = g * torch.rsqrt(last.pow(2).mean() + model.model.norm.variance_epsilon)
    out, dim = [float(stream[0, -1].double() @ g)], model.config.head_dim
    for l, b in enumerate(model.model.layers):
        u = b.self_attn.o_proj.weight.double().T @ g
        out += (u * mix[l, -1].double()).reshape(-1, dim).sum(-1).tolist()
        out.append(float(ffn[l, -1].double() @ g))
    return np.array(out, dtype="<f4"), float(last @ g)


@torch.no_grad()
def left_out(model, ids, part):
    """Logits at the last position without a part: zero, or its mean over the prompt of a clean run."""
    where, _, how = part.partition("=")
    layer, _, what = where.partition(".")
    layer, dim = int(layer[1:]), model.config.head_dim
    mean = {}

    def measure(kind, l, x):
        if l == layer:
            mean[kind] = x.mean(1, keepdim=True)
        return x

    def edit(kind, l, x):
        if l != layer:
            return x
        with_ = mean[kind] if how else torch.zeros_like(x[:, :1])
        if what.startswith("H") and kind == "mix":
            h = slice(int(what[1:]) * dim, (int(what[1:]) + 1) * dim)
            x[..., h] = with_[..., h]
        elif kind == what or what == "" and kind in ("attn", "ffn"):
            x[:] = with_
        return x

    inside(model, ids, measure)
    return inside(model, ids, edit)[0][-1]


def main(path):
    torch.set_num_threads(1)
    m = make.load(path, False)
    index = json.load(open(os.path.join(make.OUT, "index.json"), encoding="utf-8"))
    all_ids = {p["name"]: p["prompt_ids"] for p in index["prompts"]}
    arrays, facts = {}, {}
    for name in PROMPTS:
        ids = all_ids[name]
        stream, middle = make.residuals(m, ids)
        with torch.no_grad():
            out = m(torch.tensor([ids]), use_cache=False, output_attentions=True, output_hidden_states=True)
        hs = torch.cat(out.hidden_states)
        assert torch.equal(hs[:-1], stream[:-1]) and torch.equal(hs[-1], m.model.norm(stream[-1])), name
        for key, rows in (("lens", stream[1:]), ("lens_mid", middle)):
            i, v = lens(m, rows)
            arrays[name + "_" + key + "_ids"], arrays[name + "_" + key + "_logprob"] = i.reshape(-1), v.reshape(-1)
        assert (i.shape[0], v.shape[1]) == (m.config.num_hidden_layers, len(ids))
        facts[name] = kept(name, torch.cat(out.attentions).numpy(), arrays)
        print(name, len(ids), flush=True)
    ids = all_ids["sky"]
    first, second = (int(w) for w in inside(m, ids)[0][-1].topk(2).indices)
    for key, word in (("first", first), ("second", second)):
        arrays["writers_" + key], facts["logit_" + key] = writers(m, ids, word)
    facts["words"] = [first, second]
    fixed = make.fixed_ids(m.config.vocab_size)
    arrays["ablate_fixed"] = np.concatenate([left_out(m, ids, p).numpy()[fixed] for p in ABLATE]).astype("<f4")
    facts["ablate"] = ABLATE
    facts["prompts"] = [dict(name=n, **facts.pop(n)) for n in PROMPTS]
    facts["heads"] = m.config.num_attention_heads
    facts["made_by"] = dict(index["made_by"], command="python captures.py " + os.path.basename(path), torch=torch.__version__,
                            transformers=transformers.__version__, numpy=np.__version__)
    np.savez_compressed(os.path.join(make.OUT, "captures.npz"), **arrays)
    with open(os.path.join(make.OUT, "captures.json"), "w", encoding="utf-8") as f:
        f.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
