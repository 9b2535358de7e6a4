"""Scores pairs with PyTorch, for `openscholar bench reranker --peer-python`.

    python peer_cross_encoder.py MODEL_DIR PASSAGES.jsonl QUERY [--threads N] [--repeats N]

PASSAGES has one JSON object with a "text" per line; each is read with QUERY. Prints one JSON object: pairs per second in f32
and bf16 (best of the repeats and of three batch sizes, pairs sorted by length so that little is padded), the f32 logits in
the order of the file, the mean number of tokens, and versions.
"""

import argparse
import json
import os
import platform
import sys
import time

BATCH_SIZES = (4, 8, 16)


def tokenizer_of(transformers, folder):
    file = os.path.join(folder, "tokenizer.json")
    if os.path.isfile(file):
        return transformers.PreTrainedTokenizerFast(tokenizer_file=file, pad_token="[PAD]", model_max_length=512)
    return transformers.BertTokenizerFast(vocab_file=os.path.join(folder, "vocab.txt"), model_max_length=512)


def score(torch, model, tokenizer, query, texts, size):
    order = sorted(range(len(texts)), key=lambda at: -len(texts[at]))
    logits = [0.0] * len(texts)
    tokens = 0
    with torch.inference_mode():
        for start in range(0, len(order), size):
            part = order[start : start + size]
            batch = tokenizer(
                [query] * len(part), [texts[at] for at in part], padding=True, truncation="only_second",
                max_length=512, return_tensors="pt", return_token_type_ids=True,
            )
            tokens += int(batch["attention_mask"].sum())
            found = model(**batch).logits[:, 0].float().tolist()
            for at, logit in zip(part, found):
                logits[at] = logit
    return logits, tokens / len(texts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("passages")
    parser.add_argument("query")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import torch
        import transformers
    except ImportError as error:
        sys.exit(f"this peer needs torch and transformers: {error}")
    torch.set_num_threads(arguments.threads or os.cpu_count() or 1)
    with open(arguments.passages, encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines if line.strip()]
    if not texts:
        sys.exit(f"{arguments.passages} holds no passage")
    tokenizer = tokenizer_of(transformers, arguments.model)
    result = {}
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        model = transformers.AutoModelForSequenceClassification.from_pretrained(arguments.model, dtype=dtype).eval()
        best = float("inf")
        for size in BATCH_SIZES:
            for _ in range(arguments.repeats):
                began = time.perf_counter()
                logits, tokens = score(torch, model, tokenizer, arguments.query, texts, size)
                best = min(best, time.perf_counter() - began)
        result[f"{name}_pairs_per_s"] = round(len(texts) / best, 3)
        if name == "f32":
            result["logits"], result["mean_tokens"] = logits, tokens
    result["versions"] = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
