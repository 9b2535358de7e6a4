"""Makes the tiny seeded models under tests/golden and what PyTorch computes with them.

    python make_tiny_encoders.py ../tests/golden

Six models, each with random weights of a fixed seed, together every family, head, weight format and tokenizer file
that the encoder reads:

    tiny-bert-encoder    BERT, pytorch_model.bin (f32), tokenizer.json, no sentence-transformers files: mean, raw dot product
    tiny-bert-cross      BertForSequenceClassification, safetensors (f16), vocab.txt only
    tiny-mpnet-encoder   MPNet, safetensors (bf16), tokenizer.json, mean + normalisation from modules.json
    tiny-xlmr-cross      XLMRobertaForSequenceClassification, safetensors (f16), sentencepiece.bpe.model only
    tiny-bert-bare       BertModel without pooler and one linear layer on it, safetensors (bf16), vocab.txt
    tiny-bert-attributor BertForSequenceClassification with three classes, safetensors (f16), vocab.txt, calibration.json;
                         pairs cut at the passage only

Expected values are computed in f32 from the rounded weights and written to encoders.json, with token ids.
"""

import json
import pathlib
import random
import struct
import sys

import tokenizers
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = """a an and are as at be by cell cells does effect effects for from gene how in is it membrane model models of on
or protein retrieval review science study the this to treatment what which with water""".split()
PIECES = ["##s", "##ing", "##ed", "##al", "##ic", "##er"] + [f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz0123456789"]
LETTERS = list("abcdefghijklmnopqrstuvwxyz0123456789.,?!()-")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = list(dict.fromkeys(SPECIAL + LETTERS + PIECES + WORDS))

TEXTS = [
    "What is the effect of retrieval on the review?",
    "",
    "Membrane protein models: a study.",
    "Cells are in water, and the treatment of cells with water is a model of the membrane. " * 3,
    "x",
    "zebra 42 \u00c9tude \u4e2d\u6587 (unknown \u2603)",
]
PAIRS = [
    ("what is the effect of treatment on cells?", "The treatment had effects on the membrane of cells."),
    ("retrieval models", ""),
    ("", "water"),
    ("a study of the gene and the protein in cells " * 4, "science " * 50),
    ("short", "The review of retrieval models is a study of science. " * 6),
]


def spread(model, scale):
    """Weights large enough that a wrong bias, head or position shows."""
    generator = torch.Generator().manual_seed(20)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            one = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(one + scale * noise)
    return model.eval()


def rounded(model, dtype):
    """The model with weights as they will be read back, and the tensors to store."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype).float())
    return {k: v.to(dtype).contiguous() for k, v in model.state_dict().items() if v.is_floating_point()}


def wordpiece(cls="[CLS]", sep="[SEP]", vocabulary=None):
    vocabulary = vocabulary or VOCABULARY
    ids = {token: at for at, token in enumerate(vocabulary)}
    unk = "[UNK]" if "[UNK]" in ids else "<unk>"
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token=unk))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer, ids


def bert_tokenizer():
    tokenizer, ids = wordpiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    tokenizer.add_special_tokens(SPECIAL)
    return tokenizer


def bert_config(**more):
    return transformers.BertConfig(
        vocab_size=len(VOCABULARY), num_attention_heads=2, max_position_embeddings=48, **more
    )


def write_config(folder, config):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config.to_diff_dict() | sizes(config), indent=1, sort_keys=True) + "\n")


def sizes(config):
    names = """vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size max_position_embeddings
    hidden_act layer_norm_eps model_type pad_token_id type_vocab_size relative_attention_num_buckets""".split()
    return {name: getattr(config, name) for name in names if getattr(config, name, None) is not None}


def mean(states):
    return states[0].mean(0)


def numbers(tensor):
    return [round(float(x), 7) for x in tensor.flatten()]


def encode(model, tokenizer, limit, normalise):
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    rows = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            states = model(input_ids=torch.tensor([ids])).last_hidden_state
        vector = mean(states)
        if normalise:
            vector = torch.nn.functional.normalize(vector, dim=0)
        rows.append({"text": text, "ids": ids, "vector": numbers(vector)})
    return rows


def cross(model, encode_pair):
    rows = []
    for query, passage in PAIRS:
        ids, types = encode_pair(query, passage)
        with torch.no_grad():
            more = {"token_type_ids": torch.tensor([types])} if types else {}
            logit = model(input_ids=torch.tensor([ids]), **more).logits
        rows.append({"query": query, "passage": passage, "ids": ids, "logit": round(float(logit), 6)})
    return rows


def tiny_bert_encoder(folder):
    config = bert_config(hidden_size=32, intermediate_size=64, num_hidden_layers=2)
    write_config(folder, config)
    model = spread(transformers.BertModel(config, add_pooling_layer=False), 0.15)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    tokenizer = bert_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    return encode(model, tokenizer, 48, False)


def tiny_bert_cross(folder):
    config = bert_config(hidden_size=64, intermediate_size=96, num_hidden_layers=1, num_labels=1)
    write_config(folder, config)
    model = spread(transformers.BertForSequenceClassification(config), 0.1)
    save_file(rounded(model, torch.float16), folder / "model.safetensors")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    tokenizer = bert_tokenizer()
    tokenizer.enable_truncation(48, strategy="longest_first")

    def pair(query, passage):
        encoding = tokenizer.encode(query, passage)
        return encoding.ids, encoding.type_ids

    return cross(model, pair)


def cut_passage(tokenizer, limit):
    """Pairs with the whole query up to three quarters of the room, then as much of the passage as fits."""

    def pair(query, passage):
        first = tokenizer.encode(query, add_special_tokens=False).ids
        second = tokenizer.encode(passage, add_special_tokens=False).ids
        room = limit - 3
        first = first[: max(room - len(second), room * 3 // 4)]
        second = second[: room - len(first)]
        cls, sep = VOCABULARY.index("[CLS]"), VOCABULARY.index("[SEP]")
        ids = [cls, *first, sep, *second, sep]
        return ids, [0] * (len(first) + 2) + [1] * (len(second) + 1)

    return pair


class Bare(torch.nn.Module):
    """A checkpoint without pooler: the classifier reads the state of the first token itself."""

    def __init__(self, config):
        super().__init__()
        self.bert = transformers.BertModel(config, add_pooling_layer=False)
        self.classifier = torch.nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, **inputs):
        states = self.bert(**inputs).last_hidden_state
        return transformers.modeling_outputs.SequenceClassifierOutput(logits=self.classifier(states[:, 0]))


def tiny_bert_bare(folder):
    config = bert_config(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_labels=1)
    write_config(folder, config)
    model = spread(Bare(config), 0.15)
    save_file(rounded(model, torch.bfloat16), folder / "model.safetensors")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    return cross(model, cut_passage(bert_tokenizer(), 48))


def tiny_bert_attributor(folder):
    labels = {0: "supports", 1: "contradicts", 2: "neither"}
    config = bert_config(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, id2label=labels,
        label2id={label: at for at, label in labels.items()},
    )
    write_config(folder, config)
    model = spread(transformers.BertForSequenceClassification(config), 0.2)
    save_file(rounded(model, torch.float16), folder / "model.safetensors")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    temperature = 1.5
    (folder / "calibration.json").write_text(json.dumps({"temperature": temperature, "version": "7"}) + "\n")
    pair = cut_passage(bert_tokenizer(), 48)
    rows = []
    for claim, evidence in PAIRS:
        ids, types = pair(claim, evidence)
        with torch.no_grad():
            inputs = {"input_ids": torch.tensor([ids]), "token_type_ids": torch.tensor([types])}
            logits = model(**inputs).logits
        stance = torch.softmax(logits / temperature, dim=-1)
        rows.append({"claim": claim, "evidence": evidence, "logits": numbers(logits), "stance": numbers(stance)})
    return rows


def tiny_mpnet_encoder(folder):
    vocabulary = ["<s>", "<pad>", "</s>", "<unk>"] + VOCABULARY[len(SPECIAL) :] + ["<mask>"]
    config = transformers.MPNetConfig(
        vocab_size=len(vocabulary), hidden_size=64, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=50, layer_norm_eps=1e-5,
    )
    write_config(folder, config)
    model = spread(transformers.MPNetModel(config, add_pooling_layer=False), 0.15)
    with torch.no_grad():
        model.encoder.relative_attention_bias.weight.mul_(8)
    save_file(rounded(model, torch.bfloat16), folder / "model.safetensors")
    tokenizer, ids = wordpiece(vocabulary=vocabulary)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    modules = ["Transformer", "Pooling", "Normalize"]
    paths = ["", "1_Pooling", "2_Normalize"]
    listing = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, path) in enumerate(zip(modules, paths))
    ]
    (folder / "modules.json").write_text(json.dumps(listing, indent=1) + "\n")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    pooling = {"word_embedding_dimension": 64, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling) + "\n")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 40, "do_lower_case": False}) + "\n")
    return encode(model, tokenizer, 40, True)


def varint(number):
    out = bytearray()
    while True:
        byte, number = number & 0x7F, number >> 7
        out.append(byte | (0x80 if number else 0))
        if not number:
            return bytes(out)


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def sentencepiece_model(pieces):
    """The protocol-buffer bytes of a unigram model: pieces with scores and types, model type 1, a normaliser without map."""
    out = b""
    for text, score, kind in pieces:
        piece = field(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score) + varint(3 << 3) + varint(kind)
        out += field(1, piece)
    trainer = varint(3 << 3) + varint(1)
    return out + field(2, trainer) + field(3, field(1, b"identity"))


def tiny_xlmr_cross(folder):
    random.seed(3)
    words = ["\u2581" + word for word in WORDS] + ["\u2581"] + [c for c in LETTERS] + ["ing", "s", "ed", "tion"]
    words = list(dict.fromkeys(words))
    scores = [round(-2.0 - random.random() * 6, 4) for _ in words]
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)] + [(w, s, 1) for w, s in zip(words, scores)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sentencepiece.bpe.model").write_bytes(sentencepiece_model(pieces))
    vocabulary = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    vocabulary += list(zip(words, scores)) + [("<mask>", 0.0)]
    backend = transformers.XLMRobertaTokenizer(vocab=vocabulary).backend_tokenizer
    backend.enable_truncation(48, strategy="longest_first")
    config = transformers.XLMRobertaConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=50, layer_norm_eps=1e-5, type_vocab_size=1, num_labels=1, pad_token_id=1,
    )
    write_config(folder, config)
    model = spread(transformers.XLMRobertaForSequenceClassification(config), 0.15)
    save_file(rounded(model, torch.float16), folder / "model.safetensors")

    def pair(query, passage):
        # Not through the tokenizer's own call: it takes an empty passage for no passage.
        return backend.encode(query, passage).ids, None

    return cross(model, pair)


def main():
    root = pathlib.Path(sys.argv[1])
    expected = {
        "versions": {
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "tokenizers": tokenizers.__version__,
        },
        "tiny-bert-encoder": tiny_bert_encoder(root / "tiny-bert-encoder"),
        "tiny-bert-cross": tiny_bert_cross(root / "tiny-bert-cross"),
        "tiny-mpnet-encoder": tiny_mpnet_encoder(root / "tiny-mpnet-encoder"),
        "tiny-xlmr-cross": tiny_xlmr_cross(root / "tiny-xlmr-cross"),
        "tiny-bert-bare": tiny_bert_bare(root / "tiny-bert-bare"),
        "tiny-bert-attributor": tiny_bert_attributor(root / "tiny-bert-attributor"),
    }
    (root / "encoders.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
