"""Seconds of a training step in PyTorch: a BERT classifier, AdamW, clipping; f32 and bf16 autocast, on the CPU and, where
there is one, on the GPU.

    python peer_step.py MODEL_FOLDER SEQUENCES TOKENS STEPS THREADS
"""

import itertools
import sys
import time

import torch
import transformers


def wait(device):
    """A GPU computes behind the caller's back."""
    if device == "cuda":
        torch.cuda.synchronize()


def main(folder, sequences, tokens, steps, threads):
    torch.set_num_threads(threads)
    devices = ["cpu"] + ["cuda"] * torch.cuda.is_available()
    for device, (name, half) in itertools.product(devices, [("f32", False), ("bf16 autocast", True)]):
        torch.manual_seed(1)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=1).train().to(device)
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.01)
        best, spent = float("inf"), 0.0
        for _ in range(steps):
            ids = torch.randint(0, model.config.vocab_size, (sequences, tokens)).to(device)
            wait(device)
            began, computed = time.perf_counter(), time.process_time()
            optimiser.zero_grad()
            with torch.autocast(device, torch.bfloat16, enabled=half):
                loss = model(input_ids=ids).logits.float().pow(2).sum() / 2
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            wait(device)
            best = min(best, time.perf_counter() - began)
            spent += (time.process_time() - computed) / steps
        where = torch.cuda.get_device_name() if device == "cuda" else f"{threads} threads"
        print(f"torch {torch.__version__}, {where}, {name}: {best:.4f} s, {spent:.4f} s of CPU")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:6]))
