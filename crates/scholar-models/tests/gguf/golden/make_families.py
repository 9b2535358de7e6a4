"""Writes tiny random GGUF files of every family and block format, and the logits transformers computes from the same weights.

    python make_families.py

needs `pip install gguf torch transformers` (made with gguf 0.19.0, torch 2.15.0, transformers 5.24.0). The seed is fixed;
between machines the logits differ in the last digits.

tiny-FAMILY-f16.gguf  a model of the family with the features that set it apart, matrices in F16
tiny-FORMAT.gguf      a qwen2 model with all matrices in the block format: random blocks, dequantised for the reference
families.json         for each file: prompts as tokens, logits after the last one, and the greedy continuation
"""

import json
import math
from pathlib import Path

import gguf
import numpy as np
import torch
import transformers as hf
from gguf import GGMLQuantizationType as Kind

from make_tiny import CHATML, permute, write_tokenizer

HERE = Path(__file__).parent
VOCABULARY = 290
CONTEXT = 512
PROMPTS = [[40, 7, 7, 250, 3], list(range(10, 80)), [(17 * i) % 290 for i in range(300)]]
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
NAMES = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.qkv_proj": "attn_qkv", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.gate_up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
}
SMALL = dict(
    vocab_size=VOCABULARY, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=CONTEXT, rms_norm_eps=1e-5, pad_token_id=None,
)


def default_rope(theta):
    return {"rope_type": "default", "rope_theta": theta}


def families():
    """Name, architecture, model class, configuration, and what else the file says."""
    long_factors = [1.0 + 0.5 * i for i in range(6)]
    yield "llama-yarn", "llama", hf.LlamaForCausalLM, hf.LlamaConfig(
        **SMALL, head_dim=16, tie_word_embeddings=True,
        rope_parameters={
            "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 128,
        },
    ), lambda w, a: (
        w.add_rope_scaling_type(gguf.RopeScalingType.YARN), w.add_rope_scaling_factor(4.0),
        w.add_rope_scaling_orig_ctx_len(128),
    )
    yield "mistral", "llama", hf.MistralForCausalLM, hf.MistralConfig(
        **SMALL, head_dim=32, sliding_window=24, tie_word_embeddings=False, rope_parameters=default_rope(10000.0),
    ), lambda w, a: w.add_sliding_window(24)
    yield "qwen3", "qwen3", hf.Qwen3ForCausalLM, hf.Qwen3Config(
        **SMALL, head_dim=32, tie_word_embeddings=True, rope_parameters=default_rope(1000000.0),
    ), lambda w, a: None
    layers = ["sliding_attention", "full_attention"]
    yield "gemma2", "gemma2", hf.Gemma2ForCausalLM, hf.Gemma2Config(
        **SMALL, head_dim=32, query_pre_attn_scalar=32, sliding_window=24, attn_logit_softcapping=3.0,
        final_logit_softcapping=4.0, layer_types=layers, rope_parameters=default_rope(10000.0),
        hidden_activation="gelu_pytorch_tanh",
    ), lambda w, a: (
        w.add_sliding_window(24), w.add_attn_logit_softcapping(3.0), w.add_final_logit_softcapping(4.0),
    )
    yield "gemma3", "gemma3", hf.Gemma3ForCausalLM, hf.Gemma3TextConfig(
        **SMALL, head_dim=32, query_pre_attn_scalar=32, sliding_window=24, layer_types=layers,
        rope_parameters={
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
            "sliding_attention": default_rope(10000.0),
        },
        hidden_activation="gelu_pytorch_tanh",
    ), lambda w, a: (
        w.add_sliding_window(24), w.add_uint32(f"{a}.attention.sliding_window_pattern", 2),
        w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR), w.add_rope_scaling_factor(8.0),
    )
    yield "phi3", "phi3", hf.Phi3ForCausalLM, hf.Phi3Config(
        **SMALL, tie_word_embeddings=True, original_max_position_embeddings=64, sliding_window=None,
        rope_parameters={
            "rope_type": "longrope", "rope_theta": 10000.0, "partial_rotary_factor": 0.75,
            "short_factor": [1.0] * 6, "long_factor": long_factors, "original_max_position_embeddings": 64,
            "factor": CONTEXT / 64,
        },
    ), lambda w, a: (
        w.add_rope_scaling_orig_ctx_len(64), w.add_rope_dimension_count(12),
        w.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(CONTEXT / 64) / math.log(64))),
        w.add_tensor("rope_factors_long.weight", np.array(long_factors, dtype=np.float32)),
        w.add_tensor("rope_factors_short.weight", np.ones(6, dtype=np.float32)),
    )


def randomise(model):
    gemma = "Gemma" in type(model).__name__
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn_like(parameter)
            if "norm" in name:
                parameter.copy_((0.0 if gemma else 1.0) + 0.2 * noise)
            elif "bias" in name:
                parameter.copy_(0.3 * noise)
            elif "embed_tokens" in name and gemma:
                parameter.copy_(noise / math.sqrt(parameter.shape[-1]))
            else:
                parameter.copy_(noise / math.sqrt(parameter.shape[-1]) * 1.5)


def target_name(key, gemma):
    fixed = {
        "model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
    }
    if key in fixed:
        return fixed[key]
    _, _, layer, rest = key.split(".", 3)
    part, kind = rest.rsplit(".", 1)
    after = {"post_attention_layernorm": "post_attention_norm" if gemma else "ffn_norm",
             "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm"}
    return f"blk.{layer}.{NAMES.get(part) or after[part]}.{kind}"


def random_blocks(kind, rows, columns, rng):
    """Random blocks whose numbers have about the deviation that `randomise` gives, and their numbers."""
    numbers, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (rows * columns // numbers, size), dtype=np.uint8)
    halves = {
        Kind.Q8_0: {0: 1}, Kind.Q4_0: {0: 1}, Kind.Q4_K: {0: 1, 2: 7.5}, Kind.Q5_K: {0: 1, 2: 15.5}, Kind.Q6_K: {208: 1},
        Kind.Q3_K: {108: 1},
    }[kind]

    def scaled(factor):
        for at, ratio in halves.items():
            blocks[:, at:at + 2] = np.frombuffer(np.float16(factor * ratio).tobytes(), dtype=np.uint8)
        return gguf.quants.dequantize(blocks.reshape(rows, -1), kind)

    deviation = scaled(2.0 ** -10).std() * 2.0 ** 10
    return blocks.reshape(rows, -1), scaled(1.5 / math.sqrt(columns) / deviation)


def write(path, arch, model, kind, extra, rng):
    config = model.config
    heads, kv_heads = config.num_attention_heads, config.num_key_value_heads
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // heads
    gemma = arch.startswith("gemma")
    writer = gguf.GGUFWriter(str(path), arch)
    writer.add_name(path.stem)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    write_tokenizer(writer, "qwen2", SPECIALS, "<|endoftext|>", "<|im_end|>", False)
    writer.add_chat_template(CHATML)
    extra(writer, arch)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            target = target_name(key, gemma)
            if parameter.ndim == 1:
                writer.add_tensor(target, parameter.numpy() + (1.0 if gemma else 0.0))
            elif kind in (Kind.F16, Kind.BF16):
                packed = gguf.quants.quantize(parameter.numpy().copy(), kind)
                parameter.copy_(torch.from_numpy(gguf.quants.dequantize(packed, kind).astype(np.float32)))
                if arch == "llama" and ("attn_q" in target or "attn_k." in target):
                    packed = permute(packed, heads if "attn_q" in target else kv_heads)
                writer.add_tensor(target, packed, raw_dtype=kind)
            else:
                packed, numbers = random_blocks(kind, *parameter.shape, rng)
                parameter.copy_(torch.from_numpy(numbers))
                writer.add_tensor(target, packed, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def expected(model, prompts):
    cases = []
    for prompt in prompts:
        with torch.no_grad():
            logits = model(torch.tensor([prompt])).logits[0, -1]
            greedy, tokens = [], list(prompt)
            while len(greedy) < 12:
                greedy.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
                tokens.append(greedy[-1])
        cases.append({"tokens": prompt, "logits": [round(x, 5) for x in logits.tolist()], "greedy": greedy})
    return cases


def main():
    torch.manual_seed(27)
    rng = np.random.default_rng(27)
    golden = {}
    for name, arch, kind, config, extra in families():
        config._attn_implementation = "eager"
        model = kind(config).eval()
        randomise(model)
        path = HERE / f"tiny-{name}-f16.gguf"
        write(path, arch, model, Kind.F16, extra, rng)
        # The long factors are for sequences beyond 64 tokens.
        golden[path.name] = expected(model, PROMPTS[1:] if name == "phi3" else PROMPTS)
    for kind in (Kind.BF16, Kind.Q6_K, Kind.Q5_K, Kind.Q4_K, Kind.Q4_0, Kind.Q3_K):
        model = hf.Qwen2ForCausalLM(hf.Qwen2Config(
            vocab_size=VOCABULARY, hidden_size=256, intermediate_size=256, num_hidden_layers=1, num_attention_heads=4,
            num_key_value_heads=1, max_position_embeddings=CONTEXT, rms_norm_eps=1e-6, tie_word_embeddings=True,
            rope_parameters=default_rope(1000000.0),
        ) if kind != Kind.BF16 else hf.Qwen2Config(**SMALL, tie_word_embeddings=True, rope_parameters=default_rope(1e6))).eval()
        randomise(model)
        path = HERE / f"tiny-{kind.name.lower().replace('_', '')}.gguf"
        write(path, "qwen2", model, kind, lambda w, a: None, rng)
        golden[path.name] = expected(model, PROMPTS)
    (HERE / "families.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
