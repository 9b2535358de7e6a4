"""Times sentence-transformers on the same passages: python peer_sentence_transformers.py MODEL_DIR PASSAGES.jsonl

PASSAGES.jsonl has one {"text": ...} per line. Prints one line of JSON: passages per second with f32 and with bf16 weights,
all tokens up to 512 (the model's own limit for MPNet), best of four rounds, and the versions used.
"""
import json
import os
import platform
import sys
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import sentence_transformers
import torch


def rate(folder, texts, dtype):
    model = sentence_transformers.SentenceTransformer(folder, device="cpu", model_kwargs={"torch_dtype": dtype})
    positions = model[0].auto_model.config.max_position_embeddings
    if model[0].auto_model.config.model_type == "bert":
        model.max_seq_length = min(512, positions)
    best = float("inf")
    for _ in range(4):
        began = time.perf_counter()
        model.encode(texts, batch_size=16, show_progress_bar=False)
        best = min(best, time.perf_counter() - began)
    return len(texts) / best


def main():
    folder, passages = sys.argv[1:3]
    with open(passages, encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    torch.set_num_threads(os.cpu_count() or 1)
    report = {
        "f32_passages_per_s": rate(folder, texts, torch.float32),
        "bf16_passages_per_s": rate(folder, texts, torch.bfloat16),
        "versions": {"python": platform.python_version(), "torch": torch.__version__,
                     "sentence_transformers": sentence_transformers.__version__},
    }
    print(json.dumps(report))


main()
