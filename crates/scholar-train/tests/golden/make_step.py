"""Makes step.safetensors: a tiny seeded BERT classifier, its gradients, and what one step of AdamW makes of it.

    python make_step.py .

Versions it was made with: torch 2.15.0, transformers 5.23.0. Numbers are f32.

Two losses over the same four packed pairs: three-class cross-entropy of all of them, and listwise cross-entropy of the
first logit within two groups of two, the first being right. Gradients are named grad.NAME, weights after clipping to
length 1 and one step after.NAME. Then the mean of the last states of all tokens with an inner product against fixed
numbers as the loss, for the gradients of an encoder: mean.NAME.
"""

import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import save_file

SEQUENCES = [
    [2, 7, 11, 3, 15, 9, 3],
    [2, 5, 3, 30, 31, 3],
    [2, 8, 8, 8, 3, 12, 13, 14, 15, 16, 3],
    [2, 39, 3, 4, 3],
]
CLASSES = [0, 2, 1, 2]
RATE, DECAY = 1e-3, 0.01


def main(folder):
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=12, type_vocab_size=2, num_labels=3, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, attn_implementation="eager",
    )
    model = transformers.BertForSequenceClassification(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            one = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(one + 0.25 * torch.randn(parameter.shape))
    tensors = {name: p.detach().clone() for name, p in model.named_parameters()}

    def run(ids):
        first_end = ids.index(3) + 1
        types = [0] * first_end + [1] * (len(ids) - first_end)
        return torch.tensor([ids]), torch.tensor([types])

    inputs = [run(ids) for ids in SEQUENCES]
    logits = torch.cat([model(input_ids=i, token_type_ids=t).logits for i, t in inputs])
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(CLASSES))
    groups = logits[:, 0].reshape(2, 2)
    loss = loss + torch.nn.functional.cross_entropy(groups, torch.zeros(2, dtype=torch.long))
    model.zero_grad()
    loss.backward()
    tensors |= {f"grad.{name}": p.grad.clone() for name, p in model.named_parameters()}
    tensors["loss"] = loss.detach().reshape(1)
    tensors["logits"] = logits.detach()

    length = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    tensors["length"] = length.detach().reshape(1)
    plain = [p for n, p in model.named_parameters() if n.endswith(".bias") or "LayerNorm" in n]
    decayed = [p for n, p in model.named_parameters() if not (n.endswith(".bias") or "LayerNorm" in n)]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": DECAY}, {"params": plain, "weight_decay": 0.0}], lr=RATE, eps=1e-8
    )
    optimiser.step()
    tensors |= {f"after.{name}": p.detach().clone() for name, p in model.named_parameters()}

    # Encoder gradients are taken at the original weights.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(tensors[name])
    model.zero_grad()
    probe = torch.randn(4, 16)
    pooled = [model.bert(input_ids=i, token_type_ids=t).last_hidden_state[0].mean(0) for i, t in inputs]
    pooled = torch.nn.functional.normalize(torch.stack(pooled), dim=-1)
    (pooled * probe).sum().backward()
    keep = ("embeddings.LayerNorm.weight", "layer.0.attention.self.key.weight", "layer.1.output.dense.bias")
    for name, parameter in model.bert.named_parameters():
        if name.endswith(keep) or "token_type" in name:
            tensors[f"mean.{name}"] = parameter.grad.clone()
    tensors["probe"] = probe

    folder = pathlib.Path(folder)
    save_file({name: tensor.contiguous().float() for name, tensor in tensors.items()}, folder / "step.safetensors")
    shape = {name: getattr(config, name) for name in """vocab_size hidden_size num_hidden_layers num_attention_heads
        intermediate_size max_position_embeddings type_vocab_size layer_norm_eps""".split()}
    case = {"shape": shape, "sequences": SEQUENCES, "classes": CLASSES, "rate": RATE, "decay": DECAY}
    (folder / "step.json").write_text(json.dumps(case) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
