"""Makes the tiny seeded T5 under tests/golden/tiny-t5 and what transformers computes with it.

    python make_tiny_t5.py ../tests/golden

Random weights of a fixed seed in the form of FLAN-T5 (gated GELU, an output layer of its own, inner width other than the
model's), stored as a sharded PyTorch checkpoint (bf16), as the attribution model is. The tokenizer is a unigram model with
T5's special tokens. Expected values (t5.json) are computed in f32 from the rounded weights: ids of the prompt, logits of the
first token, ids and text of the greedy reply.
"""

import json
import pathlib
import sys

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from tokenizers.decoders import Metaspace

WORDS = """the a of and in is to claim reference water cells membrane treatment effect effects on with for study model
At Contra Extra Yes No""".split()
PIECES = "tribut able dictory polatory ing ed s al ic".split()
LETTERS = list("abcdefghijklmnopqrstuvwxyzACER0123456789.,:;()-")
MOST_REPLY_TOKENS = 10

PROMPTS = [
    "Claim: the treatment of cells is water\nReference: water is the treatment",
    "",
    "x",
    "Claim: effects on the membrane. Reference: " + "the study of cells with water and a model, " * 12,
    "Attributable Contradictory Extrapolatory",
    "\u00c9tude (unknown \u2603)",
]


def tokenizer():
    scored = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -20.0)]
    scored += [("\u2581" + word, -3.0 - 0.05 * at) for at, word in enumerate(WORDS)]
    scored += [(piece, -4.0 - 0.05 * at) for at, piece in enumerate(PIECES)]
    scored += [("\u2581", -6.0)] + [(letter, -7.0 - 0.01 * at) for at, letter in enumerate(LETTERS)]
    made = Tokenizer(models.Unigram(scored, unk_id=2, byte_fallback=False))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")]
    )
    made.decoder = Metaspace(replacement="\u2581", prepend_scheme="always")
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    made.add_special_tokens(["<pad>", "</s>", "<unk>"])
    return made, len(scored)


def spread(model):
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if "layer_norm" in name:
                value = 1.0 + 0.2 * noise
            elif "relative_attention_bias" in name:
                value = noise
            elif name.startswith(("shared", "lm_head")):
                value = 0.7 * noise
            else:
                value = 0.25 * noise
            parameter.copy_(value.to(torch.bfloat16).float())
    return model.eval()


def shards(model, folder):
    tensors = {
        name: tensor.to(torch.bfloat16).contiguous()
        for name, tensor in model.state_dict().items()
        if "embed_tokens" not in name
    }
    names = sorted(tensors)
    parts = [names[: len(names) // 2], names[len(names) // 2 :]]
    index = {"metadata": {}, "weight_map": {}}
    for at, part in enumerate(parts, start=1):
        file = f"pytorch_model-{at:05}-of-{len(parts):05}.bin"
        torch.save({name: tensors[name] for name in part}, folder / file)
        index["weight_map"] |= {name: file for name in part}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index, indent=0, sort_keys=True) + "\n")


def main():
    root = pathlib.Path(sys.argv[1])
    folder = root / "tiny-t5"
    folder.mkdir(parents=True, exist_ok=True)
    made, vocabulary = tokenizer()
    made.save(str(folder / "tokenizer.json"))
    config = transformers.T5Config(
        vocab_size=vocabulary, d_model=32, d_kv=32, num_heads=2, d_ff=64, num_layers=2, num_decoder_layers=1,
        feed_forward_proj="gated-gelu", tie_word_embeddings=False, relative_attention_num_buckets=8,
        relative_attention_max_distance=20, decoder_start_token_id=0, eos_token_id=1, pad_token_id=0,
    )
    names = """model_type vocab_size d_model d_kv d_ff num_heads num_layers num_decoder_layers feed_forward_proj
    relative_attention_num_buckets relative_attention_max_distance layer_norm_epsilon tie_word_embeddings
    decoder_start_token_id eos_token_id pad_token_id""".split()
    # transformers 5 ties whatever the configuration says, and scales the output by what it said: FLAN-T5 does neither.
    sizes = {name: getattr(config, name) for name in names} | {"tie_word_embeddings": False}
    (folder / "config.json").write_text(json.dumps(sizes, indent=1) + "\n")
    model = transformers.T5ForConditionalGeneration(config)
    model.lm_head = torch.nn.Linear(config.d_model, vocabulary, bias=False)
    model = spread(model)
    shards(model, folder)
    rows = []
    for prompt in PROMPTS:
        ids = made.encode(prompt).ids
        inputs = torch.tensor([ids])
        with torch.no_grad():
            first = model(input_ids=inputs, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
            reply = model.generate(
                inputs, attention_mask=torch.ones_like(inputs), do_sample=False, num_beams=1,
                max_new_tokens=MOST_REPLY_TOKENS,
            )[0].tolist()
        reply = reply[1:]
        reply = reply[: reply.index(1)] if 1 in reply else reply
        rows.append({
            "prompt": prompt,
            "ids": ids,
            "first": [round(float(x), 5) for x in first],
            "reply": reply,
            "text": made.decode(reply).strip(),
        })
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    (root / "t5.json").write_text(json.dumps({"versions": versions, "rows": rows}) + "\n")


if __name__ == "__main__":
    main()
