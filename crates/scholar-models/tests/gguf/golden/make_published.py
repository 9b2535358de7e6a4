"""Writes tokens, logits and greedy continuations of published GGUF files as transformers computes them.

    python make_published.py smollm/SmolLM2-135M-Instruct.Q4_1.gguf smollm2.json
    python make_published.py qwen/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf qwen2.5.json

needs `pip install accelerate gguf torch transformers` (made with gguf 0.19.0, torch 2.15.0, transformers 5.23.0). transformers
dequantises the file and computes in f32. Entries without `top` are checked for their tokens only.
"""

import json
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

PROMPTS = [
    "<|im_start|>user\nWhat is a neutron star?<|im_end|>\n<|im_start|>assistant\n",
    "The three main methods of drug delivery with nanoparticles are",
    "<|im_start|>user\nAnswer yes or no. Does aspirin thin the blood? It's 2024, 37% of 1,200 patients...<|im_end|>\n"
    "<|im_start|>assistant\n",
]
TEXTS = [
    "We'VE shown   that\tIL-6 (\u03b1 = 0.05, n=1234567) doesn't\n\n\n  help \u2014 na\u00efve caf\u00e9s \u4f60\u597d \U0001f642!!\r\n x",
    "def f(x):\n    return x**2  # 12 + 345\n",
    " leading and trailing  ",
]


def main():
    path = Path(sys.argv[1])
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
    cases = []
    for prompt in PROMPTS:
        tokens = tokenizer(prompt, add_special_tokens=False).input_ids
        with torch.no_grad():
            logits = model(torch.tensor([tokens])).logits[0, -1]
            greedy = model.generate(
                torch.tensor([tokens]), attention_mask=torch.ones(1, len(tokens), dtype=torch.long),
                max_new_tokens=12, do_sample=False, eos_token_id=None, pad_token_id=0,
            )[0, len(tokens):]
        top = logits.topk(20)
        cases.append({
            "prompt": prompt,
            "tokens": tokens,
            "top": [[i, round(x, 4)] for i, x in zip(top.indices.tolist(), top.values.tolist())],
            "greedy": greedy.tolist(),
        })
    for text in TEXTS:
        tokens = tokenizer(text, add_special_tokens=False).input_ids
        cases.append({"prompt": text, "tokens": tokens, "top": [], "greedy": []})
    (Path(__file__).parent / sys.argv[2]).write_text(json.dumps(cases, indent=0) + "\n")


if __name__ == "__main__":
    main()
