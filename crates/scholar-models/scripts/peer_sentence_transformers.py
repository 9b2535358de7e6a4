"""Encodes passages with sentence-transformers, for `openscholar bench encoder --peer-python`.

    python peer_sentence_transformers.py MODEL_DIR PASSAGES.jsonl [--threads N] [--repeats N] [--vectors OUT.f32]

PASSAGES has one JSON object with a "text" per line. Prints one JSON object: passages per second in f32 and bf16 (best of
the repeats, batch size that is best for this peer, all tokens up to 512), the median latency of a short query in
milliseconds, processor seconds per passage, the mean number of tokens, and versions. With --vectors the f32 vectors are
written as little-endian f32, row after row, for comparison.
"""

import argparse
import json
import os
import platform
import sys
import time

QUERY = "What is the effect of retrieval augmentation on the factuality of language models?"
BATCH_SIZES = (8, 16, 32)


def passages_per_second(model, texts, repeats):
    best, cpu, vectors = float("inf"), float("inf"), None
    model.encode(texts[:4])
    for size in BATCH_SIZES:
        for _ in range(repeats):
            wall, processor = time.perf_counter(), time.process_time()
            vectors = model.encode(texts, batch_size=size, show_progress_bar=False)
            best = min(best, time.perf_counter() - wall)
            cpu = min(cpu, time.process_time() - processor)
    return len(texts) / best, cpu / len(texts), vectors


def query_latency_ms(model, repeats=30):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        model.encode([QUERY], show_progress_bar=False)
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("passages")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--vectors")
    arguments = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import numpy
        import sentence_transformers
        import torch
        import transformers
    except ImportError as error:
        sys.exit(f"this peer needs sentence-transformers: {error}")
    torch.set_num_threads(arguments.threads or os.cpu_count() or 1)
    with open(arguments.passages, encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines if line.strip()]
    if not texts:
        sys.exit(f"{arguments.passages} holds no passage")
    result = {"passages": len(texts), "threads": torch.get_num_threads()}
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        model = sentence_transformers.SentenceTransformer(
            arguments.model, device="cpu", model_kwargs={"dtype": dtype}
        )
        if model[0].auto_model.config.model_type != "mpnet":  # ours keeps MPNet's own limit, too
            model.max_seq_length = min(512, model[0].auto_model.config.max_position_embeddings)
        speed, cpu, vectors = passages_per_second(model, texts, arguments.repeats)
        result[f"{name}_passages_per_s"] = round(speed, 3)
        result[f"{name}_cpu_s_per_passage"] = round(cpu, 5)
        result[f"{name}_query_ms"] = round(query_latency_ms(model), 3)
        if name == "f32":
            result["mean_tokens"] = sum(len(model.tokenizer(t, truncation=True, max_length=model.max_seq_length)["input_ids"]) for t in texts) / len(texts)
            if arguments.vectors:
                numpy.asarray(vectors, dtype="<f4").tofile(arguments.vectors)
    result["versions"] = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "sentence_transformers": sentence_transformers.__version__,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
