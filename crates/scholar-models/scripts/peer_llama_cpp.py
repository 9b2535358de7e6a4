"""Computes with llama-cpp-python what `openscholar bench generator --peer-python` asks for.

    python peer_llama_cpp.py

Reads one JSON object per line from stdin and answers each with one line:

    {"open": MODEL, "threads": N, "context": N, "all_logits": BOOL}
                                   seconds to open, resident bytes, versions; with "precise" keys and values are f32
    {"read": TOKENS, "write": N}   seconds, also of the processor, to read the tokens, then N tokens one by one
    {"again": TOKENS, "keep": N}   seconds to read the tokens of which N stand in the cache already
    {"greedy": TOKENS, "n": N}     the N likeliest tokens, one after the other; with "stepwise" the prompt is read token by token
    {"logits": TOKENS, "to": FILE} the logits after each token, as little-endian f32, row after row
    {"tokens": TEXT}               the tokens of a text
"""

import ctypes
import json
import os
import sys
import time

import llama_cpp
import numpy as np
from llama_cpp import Llama


GGML_TYPE_F32 = 0


def resident():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    model = None
    for line in sys.stdin:
        ask = json.loads(line)
        answer = {}
        start = time.perf_counter()
        if "open" in ask:
            del model
            model = Llama(
                ask["open"], n_ctx=ask["context"], n_batch=512, n_threads=ask["threads"],
                n_threads_batch=ask["threads"], logits_all=ask["all_logits"], verbose=False,
                **({"type_k": GGML_TYPE_F32, "type_v": GGML_TYPE_F32} if ask.get("precise") else {}),
            )
            answer = {
                "seconds": time.perf_counter() - start, "resident": resident(),
                "versions": {
                    "llama_cpp_python": llama_cpp.__version__,
                    "system": llama_cpp.llama_print_system_info().decode().strip(),
                },
            }
        elif "read" in ask:
            model.reset()
            cpu = time.process_time()
            model.eval(ask["read"])
            read, read_cpu = time.perf_counter(), time.process_time()
            for _ in range(ask["write"]):
                token = int(np.argmax(last_logits(model)))
                model.eval([token])
            answer = {
                "read": read - start, "write": time.perf_counter() - read,
                "read_cpu": read_cpu - cpu, "write_cpu": time.process_time() - read_cpu,
                "resident": resident(),
            }
        elif "again" in ask:
            model.n_tokens = ask["keep"]
            model.eval(ask["again"][ask["keep"]:])
            answer = {"read": time.perf_counter() - start}
        elif "greedy" in ask:
            model.reset()
            step = 1 if ask.get("stepwise") else len(ask["greedy"])
            for at in range(0, len(ask["greedy"]), step):
                model.eval(ask["greedy"][at : at + step])
            tokens = []
            while len(tokens) < ask["n"]:
                tokens.append(int(np.argmax(last_logits(model))))
                model.eval(tokens[-1:])
            answer = {"tokens": tokens}
        elif "logits" in ask:
            model.reset()
            model.eval(ask["logits"])
            model.scores[: len(ask["logits"])].astype("<f4").tofile(ask["to"])
            answer = {"rows": len(ask["logits"])}
        elif "tokens" in ask:
            answer = {"tokens": model.tokenize(ask["tokens"].encode(), add_bos=False, special=False)}
        print(json.dumps(answer), file=answers, flush=True)


def last_logits(model):
    """Logits of the last token that was read."""
    pointer = llama_cpp.llama_get_logits_ith(model.ctx, -1)
    return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float)), (model.n_vocab(),))


if __name__ == "__main__":
    main()
