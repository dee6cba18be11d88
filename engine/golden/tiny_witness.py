"""Adds testdata/tiny_witness.json: the tiny models through llama.cpp (PyPI package xllamacpp), a second, independent engine.

    go test ./engine/testmodel -run Files -args -write FOLDER
    python tiny_witness.py FOLDER

It reads the very files that the tests read (their hashes stand in the JSON), with keys, values and sums in float32, and gives
the log-probabilities of all words after every prefix of the sequence. Kept are the five leading words of each position, and the
largest distance to the reference over all positions and words. Needs: xllamacpp, numpy.
"""
import hashlib
import json
import os
import platform
import sys
import urllib.request

import numpy as np
import xllamacpp as xl

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "testdata")
VOCAB = 288
F32 = 0  # ggml's number of the type


def serve(path):
    p = xl.CommonParams()
    p.model.path = path
    p.n_ctx, p.n_parallel, p.n_predict, p.port, p.warmup = 256, 1, -1, 0, False
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 2
    p.cache_type_k, p.cache_type_v, p.flash_attn_type = xl.ggml_type(F32), xl.ggml_type(F32), xl.llama_flash_attn_type(0)
    return xl.Server(p)


def logprobs(server, ids, whole):
    """Log-probabilities of all words after ids. The word that is drawn must be a whole character, or the server gives none: a
    bias makes it `whole`; the log-probabilities are those before the bias."""
    body = {"prompt": ids, "n_predict": 1, "temperature": 0, "n_probs": VOCAB, "logit_bias": [[whole, 1000]], "cache_prompt": False}
    request = urllib.request.Request(server.listening_address + "/completion", json.dumps(body).encode(), {"Content-Type": "application/json"})
    out = np.full(VOCAB, np.nan)
    for e in json.load(urllib.request.urlopen(request))["completion_probabilities"][0]["top_logprobs"]:
        out[e["id"]] = e["logprob"]
    return out


def one(folder, row, want):
    path = os.path.join(folder, row["name"] + ".gguf")
    server = serve(path)
    got = np.array([logprobs(server, row["ids"][:n + 1], 275 if row["arch"] == "gemma3" else 65) for n in range(len(row["ids"]))])
    want = want.astype(np.float64)
    want = want - want.max(1, keepdims=True)
    want = want - np.log(np.exp(want).sum(1, keepdims=True))
    # The server names no word that has no chance at all in float32.
    told = ~np.isnan(got) & (got > -1e30)
    worst = np.abs(got - want)[told].max()
    top = np.argsort(-np.where(told, got, -np.inf), 1)[:, :5]
    same = int((top[:, 0] == want.argmax(1)).sum())
    print(f"{row['name']:7} max |dlogprob| {worst:.6f} over {told.sum()} of {told.size} words  same best word {same}/{len(got)}", flush=True)
    return {"name": row["name"], "sha256": hashlib.sha256(open(path, "rb").read()).hexdigest(), "max_abs_dlogprob": round(float(worst), 7),
            "words": int(told.sum()), "same_top_word": same, "top_ids": top.tolist(),
            "top_logprobs": [[round(float(got[i, j]), 6) for j in t] for i, t in enumerate(top)]}


def main(folder):
    index = json.load(open(os.path.join(OUT, "tiny.json"), encoding="utf-8"))
    logits = np.load(os.path.join(OUT, "tiny.npz"))
    rows = [one(folder, row, logits[row["name"]]) for row in index["models"]]
    out = {"made_by": {"command": "python tiny_witness.py FOLDER", "xllamacpp": xl.__version__, "build": str(xl.BUILD_INFO),
                       "python": platform.python_version()}, "models": rows}
    with open(os.path.join(OUT, "tiny_witness.json"), "w", encoding="utf-8") as f:
        json.dump(out, f, separators=(",", ":"))
        f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
