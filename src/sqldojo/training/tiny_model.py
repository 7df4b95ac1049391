"""`random:tiny`: an untrained llama of two layers, so that the whole graph can run in seconds.

It can do nothing and is for tests and CI. Its tokens are single bytes, so it needs no vocabulary, and its weights come
from Python's own generator: the same bytes on every machine.
"""

from __future__ import annotations

import random
from pathlib import Path

import mlx.core as mx
from tokenizers import pre_tokenizers

from sqldojo.files import write_json
from sqldojo.training.tokenizer_files import byte_level_tokenizer, save_tokenizer

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")  # with the ids that SmolLM2 gives them
LAYERS, HIDDEN, INTERMEDIATE, HEADS, KV_HEADS, HEAD_SIZE, CONTEXT = 2, 64, 128, 4, 2, 16, 8192
SPREAD = 0.1  # half the width of the weights' uniform distribution

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def write_tiny_model(folder: Path) -> None:
    """Write the tiny model into `folder`, in the form that mlx-lm loads."""
    vocabulary = {token: index for index, token in enumerate([*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    start, end = vocabulary["<|im_start|>"], vocabulary["<|im_end|>"]
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "intermediate_size": INTERMEDIATE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_SIZE,
        "vocab_size": len(vocabulary),
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "torch_dtype": "float32",
        "bos_token_id": start,
        "eos_token_id": end,
        "pad_token_id": end,
    }
    weights = {name: random_weight(name, shape) for name, shape in sorted(weight_shapes(len(vocabulary)).items())}
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    write_json(folder / "config.json", config)
    save_tokenizer(
        folder,
        byte_level_tokenizer(vocabulary, [], SPECIAL),
        names={"bos_token": SPECIAL[1], "eos_token": SPECIAL[2], "pad_token": SPECIAL[2], "unk_token": SPECIAL[0]},
        eos=[SPECIAL[2], SPECIAL[0]],
        template=CHAT_TEMPLATE,
        length=CONTEXT,
    )


def weight_shapes(vocabulary_size: int) -> dict[str, tuple[int, ...]]:
    """Name and shape of every tensor of the tiny llama; norms have one dimension."""
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens": (vocabulary_size, HIDDEN), "model.norm": (HIDDEN,)}
    for layer in range(LAYERS):
        shapes |= {
            f"model.layers.{layer}.{part}": shape
            for part, shape in {
                "input_layernorm": (HIDDEN,),
                "self_attn.q_proj": (HEADS * HEAD_SIZE, HIDDEN),
                "self_attn.k_proj": (KV_HEADS * HEAD_SIZE, HIDDEN),
                "self_attn.v_proj": (KV_HEADS * HEAD_SIZE, HIDDEN),
                "self_attn.o_proj": (HIDDEN, HEADS * HEAD_SIZE),
                "post_attention_layernorm": (HIDDEN,),
                "mlp.gate_proj": (INTERMEDIATE, HIDDEN),
                "mlp.up_proj": (INTERMEDIATE, HIDDEN),
                "mlp.down_proj": (HIDDEN, INTERMEDIATE),
            }.items()
        }
    return {f"{name}.weight": shape for name, shape in shapes.items()}


def random_weight(name: str, shape: tuple[int, ...]) -> mx.array:
    """Ones for a norm, else uniform numbers that depend on the tensor's name only."""
    if len(shape) == 1:
        return mx.ones(shape)
    generator = random.Random(f"random:tiny/{name}")
    return mx.array([[generator.uniform(-SPREAD, SPREAD) for _ in range(shape[1])] for _ in range(shape[0])])
