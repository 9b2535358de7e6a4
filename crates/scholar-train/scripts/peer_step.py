"""Seconds of a training step in PyTorch: a BERT classifier, AdamW, clipping; f32 and bf16 autocast.

    python peer_step.py MODEL_FOLDER SEQUENCES TOKENS STEPS THREADS
"""

import sys
import time

import torch
import transformers


def main(folder, sequences, tokens, steps, threads):
    torch.set_num_threads(threads)
    for name, half in [("f32", False), ("bf16 autocast", True)]:
        torch.manual_seed(1)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=1).train()
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.01)
        best, spent = float("inf"), 0.0
        for _ in range(steps):
            ids = torch.randint(0, model.config.vocab_size, (sequences, tokens))
            began, computed = time.perf_counter(), time.process_time()
            optimiser.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=half):
                loss = model(input_ids=ids).logits.float().pow(2).sum() / 2
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            best = min(best, time.perf_counter() - began)
            spent += (time.process_time() - computed) / steps
        print(f"torch {torch.__version__}, {threads} threads, {name}: {best:.2f} s, {spent:.2f} s of processor")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:6]))
