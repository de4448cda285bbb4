"""A model small enough to be made in a second: random weights from a fixed seed, a tokenizer trained in memory.

Run by the engine's own Python, which has the libraries: ``python tiny_model.py FOLDER``.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

CONTEXT = 1024
LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_DIM, INNER = 2, 128, 4, 2, 32, 256
CONTROL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEXTS = ("the engine answers what it is asked and says how many tokens it took", "system user assistant tool")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make(folder: Path) -> None:
    """Write all files of the model."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    words = tokenizer.get_vocab_size()
    _write(folder, "config.json", _config(words))
    _write(folder, "generation_config.json", {"bos_token_id": 0, "eos_token_id": 2})
    _write(
        folder,
        "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": CONTROL_TOKENS[0],
            "eos_token": CONTROL_TOKENS[2],
            "model_max_length": CONTEXT,
            "chat_template": TEMPLATE,
            "clean_up_tokenization_spaces": False,
        },
    )
    save_file(_weights(words), folder / "model.safetensors", metadata={"format": "pt"})


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=list(CONTROL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def _config(words: int) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": words,
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "hidden_act": "silu",
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10_000.0,
        "tie_word_embeddings": False,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "torch_dtype": "float32",
    }


def _weights(words: int) -> dict[str, Any]:
    random = np.random.default_rng(1)

    def matrix(*shape: int) -> Any:
        return (random.standard_normal(shape) * 0.1).astype(np.float32)

    def ones() -> Any:
        return np.ones(HIDDEN, np.float32)

    weights = {
        "model.embed_tokens.weight": matrix(words, HIDDEN),
        "lm_head.weight": matrix(words, HIDDEN),
        "model.norm.weight": ones(),
    }
    for layer in range(LAYERS):
        at = f"model.layers.{layer}"
        weights |= {
            f"{at}.self_attn.q_proj.weight": matrix(HEADS * HEAD_DIM, HIDDEN),
            f"{at}.self_attn.k_proj.weight": matrix(KV_HEADS * HEAD_DIM, HIDDEN),
            f"{at}.self_attn.v_proj.weight": matrix(KV_HEADS * HEAD_DIM, HIDDEN),
            f"{at}.self_attn.o_proj.weight": matrix(HIDDEN, HEADS * HEAD_DIM),
            f"{at}.mlp.gate_proj.weight": matrix(INNER, HIDDEN),
            f"{at}.mlp.up_proj.weight": matrix(INNER, HIDDEN),
            f"{at}.mlp.down_proj.weight": matrix(HIDDEN, INNER),
            f"{at}.input_layernorm.weight": ones(),
            f"{at}.post_attention_layernorm.weight": ones(),
        }
    return weights


def _write(folder: Path, name: str, value: Any) -> None:
    (folder / name).write_text(json.dumps(value, indent=1), encoding="utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
