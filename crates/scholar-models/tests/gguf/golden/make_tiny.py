"""Writes tiny random GGUF files and the logits PyTorch computes from the same weights.

    python make_tiny.py

needs `pip install gguf torch transformers` (made with gguf 0.19.0, torch 2.15.0, transformers 5.23.0). The seed is
fixed; between machines the logits differ in the last digits.

tiny-llama-f32.gguf   llama, dense weights, tied embedding, Llama 3 frequency factors, no chat template
tiny-qwen2-q8.gguf    qwen2, Q8_0 matrices, own output matrix, biases, ChatML template
tiny.json             prompts as tokens, logits after the last one, and the greedy continuation
"""

import json
import math
from pathlib import Path

import gguf
import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

HERE = Path(__file__).parent
PROMPTS = [[40, 7, 7, 250, 3], list(range(10, 80)), [(17 * i) % 290 for i in range(300)]]
MERGES = ["t h", "th e", "i n", "a n", "an d", "r e", "\u0120 the", "\u0120 t", "e n", "o n", "\u0120 a", "e r"]
CHATML = (
    "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)


def byte_tokens():
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    stand_in = {b: chr(b) for b in printable}
    extra = 256
    for byte in range(256):
        if byte not in stand_in:
            stand_in[byte] = chr(extra)
            extra += 1
    return [stand_in[b] for b in range(256)]


def vocabulary(specials):
    tokens = byte_tokens() + [merge.replace(" ", "") for merge in MERGES]
    types = [1] * len(tokens)
    for special in specials:
        tokens.append(special)
        types.append(3)
    while len(tokens) < 290:
        tokens.append(f"<|unused_{len(tokens)}|>")
        types.append(5)
    return tokens, types


def write_tokenizer(writer, pre, specials, bos, eos, add_bos):
    tokens, types = vocabulary(specials)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(tokens.index(bos))
    writer.add_eos_token_id(tokens.index(eos))
    writer.add_add_bos_token(add_bos)


def permute(weight, heads):
    """Reorders query and key rows from halves to neighbours, as llama.cpp's converter does."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def llama3_factors(config, rope):
    """Frequency factors as llama.cpp's converter computes them from the `llama3` rope parameters."""
    dim = config.head_dim
    low = rope["original_max_position_embeddings"] / rope["low_freq_factor"]
    high = rope["original_max_position_embeddings"] / rope["high_freq_factor"]
    factors = []
    for i in range(0, dim, 2):
        wavelength = 2 * math.pi * rope["rope_theta"] ** (i / dim)
        if wavelength < high:
            factors.append(1.0)
        elif wavelength > low:
            factors.append(rope["factor"])
        else:
            smooth = (rope["original_max_position_embeddings"] / wavelength - rope["low_freq_factor"]) / (
                rope["high_freq_factor"] - rope["low_freq_factor"]
            )
            factors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(factors, dtype=np.float32)


def randomise(model):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.copy_(1 + 0.2 * torch.randn_like(parameter))
            elif "bias" in name:
                parameter.copy_(0.3 * torch.randn_like(parameter))
            else:
                parameter.copy_(torch.randn_like(parameter) / math.sqrt(parameter.shape[-1]) * 1.5)


def write(path, name, arch, model, rope_base, quantised, tokenizer, extra):
    config = model.config
    writer = gguf.GGUFWriter(str(path), arch)
    writer.add_name(name)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(512)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_freq_base(rope_base)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    write_tokenizer(writer, *tokenizer)
    extra(writer)
    names = {
        "model.embed_tokens.weight": "token_embd.weight",
        "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
    }
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            target = names.get(key)
            if target is None:
                _, _, layer, rest = key.split(".", 3)
                part, kind = rest.rsplit(".", 1)
                target = f"blk.{layer}.{names[part]}.{kind}"
            weight = parameter.numpy().copy()
            if quantised and weight.ndim == 2:
                packed = gguf.quants.quantize(weight, gguf.GGMLQuantizationType.Q8_0)
                parameter.copy_(torch.from_numpy(gguf.quants.dequantize(packed, gguf.GGMLQuantizationType.Q8_0)))
                writer.add_tensor(target, packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
                continue
            if arch == "llama" and ("attn_q" in target or "attn_k." in target):
                heads = config.num_attention_heads if "attn_q" in target else config.num_key_value_heads
                weight = permute(weight, heads)
            writer.add_tensor(target, weight.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def expected(model):
    cases = []
    for prompt in PROMPTS:
        with torch.no_grad():
            logits = model(torch.tensor([prompt])).logits[0, -1]
            greedy = model.generate(
                torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
                max_new_tokens=12, do_sample=False, eos_token_id=None, pad_token_id=0,
            )[0, len(prompt):]
        cases.append({
            "tokens": prompt,
            "logits": [round(x, 6) for x in logits.tolist()],
            "greedy": greedy.tolist(),
        })
    return cases


def main():
    torch.manual_seed(20)
    rope = {
        "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 256,
    }
    llama = LlamaForCausalLM(LlamaConfig(
        vocab_size=290, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, rms_norm_eps=1e-5, max_position_embeddings=512,
        rope_parameters=rope, tie_word_embeddings=True,
    )).eval()
    randomise(llama)
    llama3_specials = [
        "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>",
    ]
    write(
        HERE / "tiny-llama-f32.gguf", "tiny llama", "llama", llama, rope["rope_theta"], False,
        ("llama-bpe", llama3_specials, "<|begin_of_text|>", "<|eot_id|>", True),
        lambda writer: writer.add_tensor("rope_freqs.weight", llama3_factors(llama.config, rope)),
    )
    qwen2 = Qwen2ForCausalLM(Qwen2Config(
        vocab_size=290, hidden_size=256, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, rms_norm_eps=1e-6, max_position_embeddings=512,
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}, tie_word_embeddings=False,
    )).eval()
    randomise(qwen2)
    write(
        HERE / "tiny-qwen2-q8.gguf", "tiny qwen2", "qwen2", qwen2, 1000000.0, True,
        ("qwen2", ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], "<|endoftext|>", "<|im_end|>", False),
        lambda writer: writer.add_chat_template(CHATML),
    )
    golden = {"tiny-llama-f32.gguf": expected(llama), "tiny-qwen2-q8.gguf": expected(qwen2)}
    (HERE / "tiny.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
