"""Ask vLLM's own planner what fits, for random models and devices, and keep its answers as data.

It runs by the Python of `make engines`, without weights and without the gateway:

    vllm_planner.py record FILE    draw the questions, ask, and write both
    vllm_planner.py check FILE     ask the questions of a file again, and say where an answer differs

Layers describe their caches by vLLM's own code (Attention.get_kv_cache_spec, MLAAttention.get_kv_cache_spec and the
customize_attention_spec); heads are divided by the rule of QKVParallelLinear, layers by get_pp_indices.
"""

import json
import logging
import os
import random
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

os.environ |= {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}

import vllm
from vllm.config import ModelConfig, SchedulerConfig, VllmConfig
from vllm.distributed.utils import divide, get_pp_indices
from vllm.model_executor.layers.attention.attention import Attention
from vllm.model_executor.layers.attention.mla_attention import MLAAttention, MLACommonBackend
from vllm.utils.torch_utils import kv_cache_dtype_str_to_dtype, nvfp4_kv_cache_full_dim
from vllm.v1.attention.backend import AttentionType
from vllm.v1.attention.backends.triton_attn import TritonAttentionBackend
from vllm.v1.attention.backends.utils import get_supported_kv_cache_layouts, resolve_kv_cache_layout
from vllm.v1.core import kv_cache_utils
from vllm.v1.core.kv_cache_utils import (
    generate_scheduler_kv_cache_config,
    get_kv_cache_capacity,
    get_kv_cache_configs,
)
from vllm.v1.worker.utils import customize_attention_spec

logging.disable(logging.ERROR)
# Its sentences then give bytes, exactly.
kv_cache_utils.format_gib = str

SEED = 20261130
COUNT = 1000
COMMAND = "make oracle-vllm"
DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}
HEAD_FORMATS = ("bf16", "bf16", "fp16", "fp32", "fp8", "fp8", "fp8_per_token_head", "int8_per_token_head")
HEAD_FORMATS += ("int4_per_token_head", "nvfp4")
LATENT_FORMATS = ("bf16", "bf16", "fp8", "fp8_per_token_head", "int4_per_token_head", "fp8_ds_mla", "nvfp4_ds_mla")
MIXED_FORMATS = ("bf16", "fp8", "fp8_per_token_head", "int8_per_token_head")
NEEDED = re.compile(r"\(([0-9]+) GiB KV cache is needed")
LONGEST = re.compile(r"estimated maximum model length is ([0-9]+)")


class Nvfp4Backend(TritonAttentionBackend):
    """What FlashInferBackend.customize_spec does, whose module needs a GPU's library."""

    @classmethod
    def customize_spec(cls, spec):
        size = nvfp4_kv_cache_full_dim(spec.head_size)
        return replace(spec, num_head_slots=2 * spec.num_kv_heads, state_content_bytes=size)


def layouts(draw):
    """Kinds of layers, and a digit per layer that says which it is."""
    heads, dim = draw.choice((1, 2, 2, 4, 4, 8, 8, 16, 32, 10)), draw.choice((64, 80, 96, 128, 128, 192, 256))
    window = draw.choice((1, 7, 64, 128, 512, 1024, 4096, 8192))
    number = draw.randint(1, 72)
    kind = draw.choice(("full", "full", "fulls", "window", "mixed", "mixed", "mixed", "sizes", "sizes", "windows"))
    kind = draw.choice((kind, kind, kind, "latent", "latent window", "latent full", "three"))
    full, local, latent = ["full", heads, dim], ["window", heads, dim, window], ["latent", 512, 64]
    other = ["full", draw.choice((1, 2, 4, 8, 16)), draw.choice((64, 128, 256, 512))]
    kinds = {
        "full": [full],
        "fulls": [full, other],
        "window": [local],
        "mixed": [full, local],
        "sizes": [other, local],
        "windows": [local, ["window", heads, dim, draw.choice((32, 2048))]] + [full] * draw.randint(0, 1),
        "latent": [latent],
        "latent window": [latent, draw.choice((local, ["window", 9, 64, 256], ["window", 4, 72, 512]))],
        "latent full": [latent, other],
        "three": [draw.choice((latent, full)), other, local],
    }[kind]
    return kinds, _order(draw, len(kinds), max(number, len(kinds)))


def _order(draw, kinds, number):
    """Every kind at least once: as a repeating pattern, or with no order at all."""
    if draw.random() < 0.7:
        pattern = [kind for kind in range(kinds) for _ in range(draw.randint(1, 5))]
        layers = (pattern * number)[: max(number, len(pattern))]
    else:
        layers = [*range(kinds), *(draw.randrange(kinds) for _ in range(number - kinds))]
        draw.shuffle(layers)
    return "".join(map(str, layers))


def question(draw):
    """One model on some devices."""
    kinds, layers = layouts(draw)
    names = {kind[0] for kind in kinds}
    formats = HEAD_FORMATS if "latent" not in names else LATENT_FORMATS if names == {"latent"} else MIXED_FORMATS
    kv_format = draw.choice(formats)
    stages = draw.choice((1, 1, 1, 2, 2, 3, 4, 8))
    asked = {
        "kinds": kinds,
        "layers": layers,
        "kv": kv_format,
        "tp": draw.choice((1, 1, 1, 1, 2, 2, 2, 4, 4, 8, 16, 3)),
        "pp": min(stages, len(layers)),
        "block": draw.choice((16, 16, 16, 32, 64, 128) if kv_format != "nvfp4" else (16, 32, 64)),
        "len": draw.choice((2 ** draw.randint(4, 20), draw.randint(1, 2**20), draw.randint(1, 40_000))),
        "batched": draw.choice((256, 512, 1000, 2048, 2048, 8192, 16384)),
    }
    # Around what one sequence takes if every layer kept every token, so that some start, and some do not.
    size = sum(_token_bytes(kinds[int(kind)], asked["tp"]) for kind in layers) * asked["len"] // asked["pp"]
    least = size * draw.choice((0.2, 1, 1, 2, 20)) + draw.choice((0, 2**20, 2**30))
    asked["available"] = [int(least * draw.uniform(0.8, 1.6)) for _ in range(asked["pp"])]
    return asked


def _token_bytes(kind, ranks):
    return 1152 if kind[0] == "latent" else 4 * max(1, kind[1] // ranks) * kind[2]


def planner():
    """vLLM's configuration of a model of no importance; questions are put into it."""
    folder = Path(tempfile.mkdtemp())
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2}
    config |= {"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 64, "vocab_size": 256}
    config |= {"max_position_embeddings": 2**24, "torch_dtype": "bfloat16"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    model = ModelConfig(model=str(folder), skip_tokenizer_init=True, max_model_len=2**20)
    scheduler = SchedulerConfig(max_model_len=2**20, is_encoder_decoder=False, max_num_batched_tokens=8192)
    found = VllmConfig(model_config=model, scheduler_config=scheduler)
    # As on a GPU, where both are the defaults; on a CPU the configuration turns them off.
    found.scheduler_config.async_scheduling = True
    os.environ["VLLM_USE_V2_MODEL_RUNNER"] = "1"
    return found


def answer(config, asked):
    """What vLLM's planner makes of a question."""
    config.model_config.max_model_len = asked["len"]
    config.parallel_config.pipeline_parallel_size = asked["pp"]
    config.scheduler_config.max_num_batched_tokens = asked["batched"]
    config.cache_config.block_size = asked["block"]
    config.cache_config.kv_cache_layout = None
    try:
        kinds = [_spec(config, kind, asked) for kind in asked["kinds"]]
    except AssertionError:
        return {"refused": "heads"}
    number = len(asked["layers"])
    workers = [
        {
            f"layers.{layer}": kinds[int(asked["layers"][layer])]
            for layer in range(*get_pp_indices(number, rank, asked["pp"]))
        }
        for rank in range(asked["pp"])
    ]
    resolve_kv_cache_layout(config, [[one.name for one in get_supported_kv_cache_layouts([])]], kinds)
    try:
        configs = get_kv_cache_configs(config, workers, asked["available"])
    except ValueError as refusal:
        return _refusal(str(refusal))
    found = generate_scheduler_kv_cache_config(configs)
    tokens, concurrency = get_kv_cache_capacity(config, found)
    groups = sorted([len(group.layer_names), group.kv_cache_spec.block_size] for group in _whole_groups(configs))
    return {"blocks": found.num_blocks, "tokens": tokens, "concurrency": concurrency, "groups": groups}


def _whole_groups(configs):
    """The groups of all stages together: a stage has a part of each."""
    groups = []
    for parts in zip(*(config.kv_cache_groups for config in configs), strict=True):
        names = [name for part in parts for name in part.layer_names]
        groups.append(SimpleNamespace(layer_names=names, kv_cache_spec=parts[0].kv_cache_spec))
    return groups


def _refusal(sentence):
    if "No available memory" in sentence:
        return {"refused": "nothing"}
    longest = LONGEST.search(sentence)
    return {
        "refused": "memory",
        "needed": int(NEEDED.search(sentence)[1]),
        "longest": int(longest[1]) if longest else 0,
    }


def _spec(config, kind, asked):
    dtype = DTYPES.get(asked["kv"], asked["kv"])
    if kind[0] == "latent":
        layer = SimpleNamespace(
            kv_cache_dtype=dtype,
            head_size=kind[1] + kind[2],
            sliding_window=None,
            indexer=None,
            non_causal_multi_token_decode=False,
        )
        return customize_attention_spec(MLACommonBackend, MLAAttention.get_kv_cache_spec(layer, config))
    backend = Nvfp4Backend if asked["kv"] == "nvfp4" else TritonAttentionBackend
    layer = SimpleNamespace(
        attn_type=AttentionType.DECODER,
        attn_backend=backend,
        kv_cache_dtype=dtype,
        kv_cache_torch_dtype=kv_cache_dtype_str_to_dtype(dtype, config.model_config),
        num_kv_heads=_heads(kind[1], asked["tp"]),
        head_size=kind[2],
        head_size_v=kind[2],
        sliding_window=kind[3] if kind[0] == "window" else None,
    )
    return customize_attention_spec(backend, Attention.get_kv_cache_spec(layer, config))


def _heads(heads, ranks):
    """As QKVParallelLinear divides them."""
    if ranks >= heads:
        divide(ranks, heads)
        return 1
    return divide(heads, ranks)


def record(path):
    """Draw the questions, ask, and write both."""
    draw, config = random.Random(SEED), planner()
    header = {"engine": f"vllm {vllm.__version__}", "command": COMMAND, "seed": SEED, "count": COUNT}
    rows = [header]
    for _ in range(COUNT):
        asked = question(draw)
        rows.append({"asked": asked, "answer": answer(config, asked)})
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), encoding="utf-8")


def check(path):
    """Ask again, and return how many answers differ."""
    header, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    if header["engine"] != f"vllm {vllm.__version__}" or header["count"] != len(rows):
        print(f"{path.name} holds {len(rows)} answers of {header['engine']}; this is vllm {vllm.__version__}.")
        return 1
    config, differ = planner(), 0
    for number, row in enumerate(rows, start=1):
        # Through JSON, as the stored answer went.
        now = json.loads(json.dumps(answer(config, row["asked"])))
        if now != row["answer"]:
            differ += 1
            print(f"question {number}: stored {row['answer']}, now {now}")
    print(f"{header['engine']}: {len(rows)} questions, {differ} answers differ from the stored ones.")
    return differ


if __name__ == "__main__":
    task, file = sys.argv[1:]
    sys.exit(bool({"record": record, "check": check}[task](Path(file))))
