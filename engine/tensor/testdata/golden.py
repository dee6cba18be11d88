"""Makes golden.json: blocks and the float32 values that the `gguf` package reads from them.

    python golden.py > golden.json        (gguf 0.19.0, numpy 2.4.6, Python 3.11)

Binary fields are base64, little-endian. Random bytes are used as blocks, with every f16 scale
replaced by a finite one; `quantize` holds what gguf.quants.quantize makes of normal random weights,
of a block of zeros, of a constant block and of a ramp.
"""
import base64, hashlib, json, platform, sys
import numpy as np, gguf
from gguf import GGMLQuantizationType as T
from gguf.quants import quantize, dequantize

rng = np.random.default_rng(20240607)
b64 = lambda a: base64.b64encode(np.ascontiguousarray(a).tobytes()).decode()
SCALES = {T.Q8_0: [0], T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2],
          T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208]}
out = {"made_by": f"golden.py, gguf 0.19.0, numpy {np.__version__}, Python {platform.python_version()}",
       "dequant": [], "quantize": []}

for t, at in SCALES.items():
    weights, size = gguf.GGML_QUANT_SIZES[t]
    n = 24 if weights == 32 else 4
    blocks = rng.integers(0, 256, (n, size), dtype=np.uint8)
    for o in at:
        s = rng.normal(0, 0.01, n).astype(np.float16)
        s[0] = np.float16(6e-8)                     # a subnormal scale
        blocks[:, o:o + 2] = s.view(np.uint8).reshape(n, 2)
    out["dequant"].append({"type": t.name, "src": b64(blocks), "dst": b64(dequantize(blocks, t).astype("<f4"))})

x = rng.normal(0, 1, 256).astype(np.float32)
for t, raw in ((T.F32, x.view(np.uint8)), (T.F16, x.astype(np.float16).view(np.uint8)), (T.BF16, quantize(x, T.BF16))):
    out["dequant"].append({"type": t.name, "src": b64(raw), "dst": b64(dequantize(raw.reshape(1, -1), t).astype("<f4"))})

w = rng.normal(0, 0.05, (20, 32)).astype(np.float32)
w = np.concatenate([w, np.zeros((1, 32)), np.full((1, 32), 0.25), [np.linspace(-1, 1, 32)]]).astype(np.float32)
for t in (T.F32, T.F16, T.BF16, T.Q8_0, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1):
    out["quantize"].append({"type": t.name, "src": b64(w), "dst": b64(quantize(w, t))})

# Every f16 that is not a NaN, widened: the hash of the float32 bytes in order of the bit pattern.
h = np.arange(65536, dtype=np.uint32).astype(np.uint16)
h = h[(h & 0x7fff) <= 0x7c00]
out["f16_widen_sha256"] = hashlib.sha256(h.view(np.float16).astype("<f4").tobytes()).hexdigest()

# float32 to narrow: random bit patterns, every f16 midpoint, its neighbours, and the edges.
f = rng.integers(0, 2**32, 4000, dtype=np.uint64).astype(np.uint32).view(np.float32)
f = np.concatenate([f, rng.normal(0, 1, 500).astype(np.float32), (rng.normal(0, 1, 500) * 1e-6).astype(np.float32)])
mid = (h[:0x7c00:37].view(np.float16).astype(np.float64) + (h[:0x7c00:37] + 1).astype(np.uint16).view(np.float16).astype(np.float64)) / 2
mid = mid[np.isfinite(mid)].astype(np.float32)
f = np.concatenate([f, mid, np.nextafter(mid, np.float32(0)), np.nextafter(mid, np.float32(9e9)), -mid,
                    np.float32([0, -0.0, 65504, 65519.996, 65520, 65536, 2**-14, 2**-24, 2**-25, 1.0000001 * 2**-25, np.inf, -np.inf])])
f = f[~np.isnan(f)].astype("<f4")
with np.errstate(over="ignore"):
    out["narrow"] = {"src": b64(f), "f16": b64(f.astype(np.float16)), "bf16": b64(quantize(f.reshape(1, -1), T.BF16))}
json.dump(out, sys.stdout, indent=0)
print()
