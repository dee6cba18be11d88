"""Makes testdata/tiny.json and testdata/tiny.npz: tiny models of every architecture, computed by transformers in float64.

    python tiny.py

Each model is built by transformers from a config, and its weights are filled from the formula in `weights`, which needs no
file: whoever wants the same model computes them again (engine/testmodel does, and writes GGUF files). Kept are the logits at
every position of one sequence of token ids. Needs: torch, transformers, numpy (the versions used stand in tiny.json).
"""
import json
import os
import platform

import numpy as np
import torch
import transformers

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "testdata")
VOCAB, TOKENS = 288, 48

SHAPE = {"vocab_size": VOCAB, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "head_dim": 32, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5,
         "tie_word_embeddings": True}
# 16 pairs of base 10,000 have waves of 6 to 35,000 positions: with 32 original positions one is left as it is, two are in
# between, the others stretched. With 1,024 of them YaRN leaves three, has six in between, and stretches seven.
LLAMA3 = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 1024}

MODELS = {
    "llama3": ("llama", {**SHAPE, "rope_parameters": LLAMA3}),
    "yarn": ("llama", {**SHAPE, "rope_parameters": YARN, "tie_word_embeddings": False}),
    # Qwen2 has no head_dim of its own: it is width / heads.
    "qwen2": ("qwen2", {**{k: v for k, v in SHAPE.items() if k != "head_dim"},
                        "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0}}),
    "qwen3": ("qwen3", {**SHAPE, "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0}}),
    # Seven layers: five local, one global, one local. The window is shorter than the sequence.
    "gemma3": ("gemma3", {**SHAPE, "num_hidden_layers": 7, "sliding_window": 16, "query_pre_attn_scalar": 32, "rms_norm_eps": 1e-6,
                          "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
                                              "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}}),
}
CLASSES = {"llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
           "qwen2": (transformers.Qwen2Config, transformers.Qwen2ForCausalLM),
           "qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
           "gemma3": (transformers.Gemma3TextConfig, transformers.Gemma3ForCausalLM)}


def uniform(name, n):
    """n numbers from -1 up to 1: splitmix64 from FNV-1a of the name, 24 bits each, so that float32 holds them exactly."""
    seed = 0xCBF29CE484222325
    for c in name.encode():
        seed = (seed ^ c) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(40)).astype(np.float64) * 2.0 ** -23 - 1).astype(np.float32)


def weights(arch, name, shape):
    """The tensor of that name: the embedding from -1 to 1, matrices and biases a quarter of that; norms around 1, or around
    0 in Gemma, whose norms multiply by 1 + weight."""
    v = uniform(name, int(np.prod(shape))).reshape(shape)
    if name.endswith("embed_tokens.weight"):
        return v
    v = v * np.float32(0.25)
    return v + np.float32(1) if name.endswith("norm.weight") and arch != "gemma3" else v


def one(name, arch, config):
    make_config, make = CLASSES[arch]
    model = make(make_config(**config, attn_implementation="eager")).eval()
    with torch.no_grad():
        for key, p in model.named_parameters():
            p.copy_(torch.from_numpy(weights(arch, key, tuple(p.shape))))
    model = model.double()
    ids = [int(i) for i in (uniform("ids of " + name, TOKENS).astype(np.float64) + 1) / 2 * VOCAB]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0]
    p = torch.softmax(logits, -1)
    entropy = -(p * torch.log(p)).sum(-1)
    print(f"{name:7} {len(list(model.parameters()))} tensors  logits {logits.min():.2f} to {logits.max():.2f}  "
          f"entropy {entropy.mean():.2f} of {np.log(VOCAB):.2f} nats")
    return {"name": name, "arch": arch, "config": config, "ids": ids, "tensors": [k for k, _ in model.named_parameters()]}, logits.float().numpy()


def main():
    rows, arrays = [], {}
    for name, (arch, config) in MODELS.items():
        row, arrays[name] = one(name, arch, config)
        rows.append(row)
    out = {"made_by": {"command": "python tiny.py", "transformers": transformers.__version__, "torch": torch.__version__,
                       "numpy": np.__version__, "python": platform.python_version(), "arithmetic": "float64, norms and rotations float32"},
           "models": rows}
    with open(os.path.join(OUT, "tiny.json"), "w", encoding="utf-8") as f:
        json.dump(out, f, indent=1)
        f.write("\n")
    np.savez_compressed(os.path.join(OUT, "tiny.npz"), **arrays)


if __name__ == "__main__":
    main()
