"""Makes the golden files of this folder from outside implementations.

    pip install tokenizers==0.23.3 gguf numpy sentencepiece==0.2.3
    python make.py MODEL.gguf VECTORS

MODEL.gguf is SmolLM2-135M-Instruct; VECTORS is a folder with llama.cpp's models/ggml-vocab-{gpt-2,starcoder,deepseek-llm,
llama-spm}.gguf and their .inp and .out files (MIT licence).

Writes vocab-NAME.json.gz (the vocabularies, without weights), vectors.json.gz (llama.cpp's own cases) and golden.json.gz:
texts, their ids by Hugging Face tokenizers (byte-level) and sentencepiece (llama-spm), the words of the pre-tokenizers,
and the character classes of both regular expressions and Digits.

transformers' own GGUF reader loses the Digits step of SmolLM2, so the tokenizers are put together here, from the tokens
and merges of the GGUF and the pre_tokenizer of the models' tokenizer.json.
"""
import gzip, json, random, sys
from pathlib import Path

import sentencepiece, tokenizers
from gguf import GGUFReader
from sentencepiece import sentencepiece_model_pb2 as spm
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers as pre

from texts import texts

HERE = Path(__file__).parent
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
DEEPSEEK_LETTERS = (
    r"A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿ\u0386\u0388-\u038A\u038C\u038E-\u03A1Σ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅ"
    r"\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-\u1FDB"
    r"\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134"
    r"\u2139\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3\uA640-\uA66D\uA680-\uA69B"
    r"\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A"
    r"\U00010400-\U0001044F\U000104B0-\U000104D3\U000104D8-\U000104FB\U00010C80-\U00010CB2\U00010CC0-\U00010CF2\U000118A0-\U000118DF"
    r"\U0001E900-\U0001E943"
).encode("raw_unicode_escape").decode("raw_unicode_escape")


def split(pattern):
    return pre.Split(Regex(pattern), "isolated")


PRE = {  # the step before ByteLevel(use_regex=False); gpt-2's pattern is inside ByteLevel
    "gpt-2": [],
    "smollm": [pre.Digits(individual_digits=True)],
    "starcoder": [pre.Digits(individual_digits=True)],
    "llama-bpe": [split(LLAMA3)],
    "qwen2": [split(QWEN2)],
    "deepseek-llm": [
        split("[\r\n]"),
        split("\\s?[" + DEEPSEEK_LETTERS + "]+"),
        split("\\s?[!-/:-~！-／：-～‘-‟　-。]+"),
        split("\\s+$"),
        split("[一-龥ࠀ-一가-\ud7ff]+"),
        pre.Digits(individual_digits=True),
    ],
}


def pre_tokenizer(name):
    own = name in ("gpt-2", "smollm", "starcoder")
    return pre.Sequence(PRE[name] + [pre.ByteLevel(add_prefix_space=False, use_regex=own)])


def read(path):
    fields = GGUFReader(path).fields
    get = lambda key, default=None: fields["tokenizer.ggml." + key].contents() if "tokenizer.ggml." + key in fields else default
    return {
        "Model": get("model"), "Pre": get("pre", ""), "Tokens": get("tokens"), "Types": get("token_type"),
        "Scores": get("scores"), "Merges": get("merges"), "BOS": get("bos_token_id", -1), "EOS": get("eos_token_id", -1),
        "UNK": get("unknown_token_id", -1), "PAD": get("padding_token_id", -1), "EOT": -1, "EOM": -1,
        "AddBOS": get("add_bos_token", get("model") == "llama"), "AddEOS": get("add_eos_token", False),
        "AddSpacePrefix": get("add_space_prefix", get("model") == "llama"),
    }


def hugging_face(v, name, special, ignore_merges=False, nfc=False):
    vocab = {t: i for i, t in enumerate(v["Tokens"]) if special or v["Types"][i] != 3}
    merges = [tuple(m.split(" ")) for m in v["Merges"]]
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges, ignore_merges=ignore_merges))
    t.pre_tokenizer = pre_tokenizer(name)
    t.decoder = decoders.ByteLevel()
    if nfc:
        t.normalizer = normalizers.NFC()
    added = [AddedToken(x, normalized=False) for x, k in zip(v["Tokens"], v["Types"]) if k == 4]
    t.add_tokens(added)
    if special:
        t.add_special_tokens([AddedToken(x, normalized=False, special=True) for x, k in zip(v["Tokens"], v["Types"]) if k == 3])
    return t


def sentence_piece(v):
    m = spm.ModelProto()
    for text, score, kind in zip(v["Tokens"], v["Scores"], v["Types"]):
        m.pieces.add(piece=text, score=score, type=kind)
    m.trainer_spec.model_type = spm.TrainerSpec.BPE
    m.trainer_spec.byte_fallback = True
    m.trainer_spec.unk_id, m.trainer_spec.bos_id, m.trainer_spec.eos_id, m.trainer_spec.pad_id = 0, 1, 2, -1
    m.normalizer_spec.name = "identity"
    m.normalizer_spec.add_dummy_prefix = True
    m.normalizer_spec.remove_extra_whitespaces = False
    return sentencepiece.SentencePieceProcessor(model_proto=m.SerializeToString())


def ranges(members):
    out = []
    for c in sorted(members):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def classes():
    points = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]

    def members(step):
        found = set()
        for i in range(0, len(points), 4096):
            chunk = points[i : i + 4096]
            kept = {ord(c) for part, _ in step.pre_tokenize_str("".join(map(chr, chunk))) for c in part}
            found.update(c for c in chunk if c not in kept)
        return ranges(found)

    out = {k: members(pre.Split(Regex(k), "removed")) for k in (r"\p{L}", r"\p{N}", r"\s")}
    digits = pre.Digits(individual_digits=True)
    out["Digits"] = ranges(c for c in points if len(digits.pre_tokenize_str("a" + chr(c) + "a")) == 3)
    return out


def random_ids(v, decode):
    """Ids in any order, half of them tokens that are no whole UTF-8 or single bytes."""
    rng = random.Random(7)
    plain = [i for i, k in enumerate(v["Types"]) if k in (1, 6)]
    parts = [i for i in plain if v["Types"][i] == 6 or (v["Merges"] and "\ufffd" in decode([i]))]
    out = []
    for _ in range(400):
        ids = [rng.choice(rng.choice((plain, parts))) for _ in range(rng.randint(1, 12))]
        out.append({"ids": ids, "text": decode(ids)})
    return out


def write(name, value):
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    path = HERE / name
    path.write_bytes(gzip.compress(data, 9, mtime=0))
    print(name, path.stat().st_size)


def main():
    model, folder = sys.argv[1], Path(sys.argv[2])
    names = ["gpt-2", "starcoder", "deepseek-llm", "llama-spm"]
    vocab = {n: read(folder / f"ggml-vocab-{n}.gguf") for n in names}
    smol = read(model)
    vectors = {}
    for n in names:
        write(f"vocab-{n}.json.gz", vocab[n])
        inp = (folder / f"ggml-vocab-{n}.gguf.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n")
        out = (folder / f"ggml-vocab-{n}.gguf.out").read_text().split("\n")
        vectors[n] = [{"text": t, "ids": [int(i) for i in ids.split()]} for t, ids in zip(inp, out)]
    write("vectors.json.gz", vectors)

    T = texts()
    byte_level = {
        "smollm2": hugging_face(smol, "smollm", False),
        "smollm2+special": hugging_face(smol, "smollm", True),
        "smollm2 as llama-bpe": hugging_face(smol, "llama-bpe", False, ignore_merges=True),
        "smollm2 as qwen2": hugging_face(smol, "qwen2", False, nfc=True),
    } | {n: hugging_face(vocab[n], n, False) for n in names[:3]}
    ids = {n: [t.encode(s, add_special_tokens=False).ids for s in T] for n, t in byte_level.items()}
    piece = sentence_piece(vocab["llama-spm"])
    ids["llama-spm"] = [piece.encode(s) for s in T]
    decoded = [byte_level["smollm2+special"].decode(i, skip_special_tokens=False) for i in ids["smollm2+special"]]
    words = {}
    for n in PRE:
        p = pre_tokenizer(n)
        words[n] = [[len(w) for w, _ in p.pre_tokenize_str(s)] for s in T]  # a byte is one character of the byte-level alphabet
    write("golden.json.gz", {
        "made_with": {"tokenizers": tokenizers.__version__, "sentencepiece": sentencepiece.__version__},
        "texts": T, "ids": ids, "decoded": decoded, "words": words, "classes": classes(),
        "random": {"smollm2": random_ids(smol, byte_level["smollm2"].decode), "llama-spm": random_ids(vocab["llama-spm"], piece.decode)},
    })


main()
