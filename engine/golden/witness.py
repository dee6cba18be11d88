"""Adds testdata/witness.json: the same prompts through llama.cpp (PyPI package xllamacpp), a second, independent engine.

    python witness.py FILE.gguf

Asks its server for (1) the token ids of each rendered prompt, (2) the whole greedy answer, (3) teacher-forced along the
reference's answer, the log-probabilities of the five leading words at every position. The distance to the reference of
index.json is counted here once and stands in the file: an engine that reads the same file should be at least as close.
Needs: xllamacpp, numpy (the version used stands in witness.json).
"""
import json
import os
import platform
import sys
import urllib.request

import xllamacpp as xl

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "testdata")


def serve(path):
    p = xl.CommonParams()
    p.model.path = path
    p.n_ctx, p.n_parallel, p.n_predict, p.port, p.warmup = 1024, 1, -1, 0, False
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 2
    return xl.Server(p)


def post(server, route, body):
    request = urllib.request.Request(server.listening_address + route, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))


def completion(server, ids, n, **more):
    return post(server, "/completion", {"prompt": ids, "n_predict": n, "temperature": 0, "samplers": ["top_k"], "top_k": 1,
                                        "n_probs": 5, "return_tokens": True, **more})


def leaders(server, ids):
    """Best word after ids, and the five leading words with log-probabilities.

    The server gives no probabilities for a word that ends inside a character: then the lists are empty.
    """
    r = completion(server, ids, 1, cache_prompt=True)
    top = [e for p in r.get("completion_probabilities", []) for e in p["top_logprobs"]]
    return r["tokens"][0], [e["id"] for e in top], [round(e["logprob"], 5) for e in top]


def one(server, row):
    ids, answer = row["prompt_ids"], row["answer_ids"]
    tokens = post(server, "/tokenize", {"content": row["rendered"], "add_special": False, "parse_special": True})["tokens"]
    free = completion(server, ids, 256, cache_prompt=False)
    best, top_ids, top = [], [], []
    for k in range(len(answer)):
        word, i, v = leaders(server, ids + answer[:k])
        best.append(word)
        top_ids.append(i)
        top.append(v)
    return {"name": row["name"], "tokenize": tokens, "greedy_ids": free["tokens"], "greedy_text": free["content"],
            "stop": free["stop_type"], "forced_ids": best, "forced_top_ids": top_ids, "forced_top_logprobs": top}


def main(path):
    import numpy as np
    index = json.load(open(os.path.join(OUT, "index.json"), encoding="utf-8"))
    server, rows, total, count = serve(path), [], 0.0, 0
    for row in index["prompts"]:
        w = one(server, row)
        data = np.load(os.path.join(OUT, row["name"] + ".npz"))
        diff, beyond = [], 0
        for k in range(len(row["answer_ids"])):
            seen = dict(zip(data["answer_top_ids"][k].tolist(), (data["answer_top"][k] - data["answer_lse"][k]).tolist()))
            pairs = list(zip(w["forced_top_ids"][k], w["forced_top_logprobs"][k]))
            diff += [abs(seen[i] - v) for i, v in pairs if i in seen]
            beyond += sum(i not in seen for i, _ in pairs)
        agree = sum(a == b for a, b in zip(w["forced_ids"], row["answer_ids"]))
        w["mean_abs_dlogprob"], w["same_top_word"] = round(float(np.mean(diff)), 4), agree
        w["words_beyond_the_top"], w["positions_without_probabilities"] = beyond, w["forced_top_ids"].count([])
        total, count = total + sum(diff), count + len(diff)
        print(f"{row['name']:13} ids equal {w['tokenize'] == row['prompt_ids']}  mean |dlogprob| {w['mean_abs_dlogprob']:.4f}"
              f"  same word {agree}/{len(row['answer_ids'])}  {w['greedy_text'][:70]!r}", flush=True)
        rows.append(w)
    out = {"made_by": {"command": "python witness.py " + os.path.basename(path), "xllamacpp": xl.__version__,
                       "build": str(xl.BUILD_INFO), "python": platform.python_version()},
           "mean_abs_dlogprob": round(total / count, 4), "prompts": rows}
    print("all prompts: mean |dlogprob| of the five leading words", out["mean_abs_dlogprob"])
    with open(os.path.join(OUT, "witness.json"), "w", encoding="utf-8") as f:
        json.dump(out, f, ensure_ascii=False, separators=(",", ":"))
        f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
