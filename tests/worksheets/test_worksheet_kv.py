"""KV figures that real engines logged in public, each by its id, its source and what is inferred of it."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from kv_support import model, plan, weightless
from msgspec import Struct

from gateway.domain.worksheets.memory import plan as memory
from gateway.domain.worksheets.memory.engine_figures import engine_figures, figures_of_blocks, stage_need
from gateway.domain.worksheets.memory.plan import MemoryPlan
from gateway.domain.worksheets.models.architecture import Full, Window
from gateway.domain.worksheets.units import GIB, MIB, gib_to_bytes

CLOSE = Fraction(12, 1000)
Number = int | Fraction


class Case(Struct, frozen=True):
    """One logged figure."""

    id: str
    source: str
    reported: str
    found: Callable[[], Number]
    inferred: str = ""
    """What the source does not say."""


OLD, NEW = "vllm<0.21", "vllm>=0.21"
LLAMA, QWEN, CODER = "llama-3.1-8b", "qwen3-235b-a22b", "qwen3-30b-a3b"


def of(name: str, **changed: object) -> MemoryPlan:
    """Configurations come from configs, by the names of the models."""
    return plan(model(name), **({"accounting": OLD} | changed))


def blocks(asked: MemoryPlan, gib: str) -> int:
    return engine_figures(asked, [gib_to_bytes(Decimal(gib))]).blocks


def tokens(asked: MemoryPlan, gib: str) -> int:
    return engine_figures(asked, [gib_to_bytes(Decimal(gib))]).tokens


def longest(asked: MemoryPlan, gib: str) -> int:
    return stage_need(asked, 0, gib_to_bytes(Decimal(gib))).longest


def needed(asked: MemoryPlan) -> Fraction:
    return Fraction(stage_need(asked, 0, 0).needed, GIB)


def per_token(asked: MemoryPlan) -> Fraction:
    return memory.compute(asked).fullest.kv_per_token


def arithmetic_tokens(asked: MemoryPlan, gib: str) -> int:
    return int(gib_to_bytes(Decimal(gib)) / per_token(asked))


def gpt_oss_cells(kind: type, sequences: int) -> Fraction:
    layers = tuple(layer for layer in model("gpt-oss-120b").attention if isinstance(layer, kind))
    asked = plan(weightless(*layers), accounting="llama.cpp", tokens=131072, sequences=sequences, batched_tokens=1024)
    return Fraction(memory.compute(asked).fullest.kv, MIB)


WHOLE = "checked against all layers, though two stages shared them"
CASES = (
    Case("K1", "vllm#10517, RTX 3090, 3.81 GiB to GPU blocks", "1952", lambda: blocks(of(LLAMA), "3.81")),
    Case("K2", "vllm#10517, RTX 3090, 2.89 GiB to GPU blocks", "1478", lambda: blocks(of(LLAMA), "2.89")),
    Case(
        "K3",
        "vllm#10517, 1952 blocks, concurrency of 20000 tokens",
        "1.56",
        lambda: figures_of_blocks(of(LLAMA, tokens=20000), 1952).concurrency,
    ),
    Case(
        "K4",
        "vllm#21348, 4 x H100, tensor parallelism 4, 8.11 GiB to tokens",
        "178880",
        lambda: tokens(of(QWEN, tensor=4), "8.11"),
        inferred="the log line may be of another rank than the one with the fewest blocks",
    ),
    Case(
        "K5",
        "vllm#21348, SGLang, tensor parallelism 4, 367404 tokens to GiB of keys on a rank",
        "8.23",
        lambda: per_token(of(QWEN, tensor=4)) / 2 * 367404 / GIB,
    ),
    Case("K7", "vllm#34076, max_len 262144 to GiB needed", "24.0", lambda: needed(of(CODER, tokens=262144)), WHOLE),
    Case("K8", "vllm#34076, 3.18 GiB to longest", "34736", lambda: longest(of(CODER, tokens=262144), "3.18"), WHOLE),
    Case(
        "K10",
        "eugr/spark-vllm-docker#396, tensor parallelism 2, 22.5 GiB to longest",
        "190272",
        lambda: longest(of("minimax-m2.7", tensor=2, tokens=196608), "22.5"),
    ),
    Case(
        "K11",
        "eugr/spark-vllm-docker#396, tensor parallelism 2, 28.74 GiB to tokens",
        "240816",
        lambda: tokens(of("minimax-m2.7", tensor=2), "28.74"),
        inferred="the log line may be of another rank than the one with the fewest blocks",
    ),
    Case(
        "K12",
        "tpu-inference#223, TPU v5e, max_len 131072 to GiB needed",
        "16.0",
        lambda: needed(of(LLAMA, tokens=131072)),
        inferred="the model",
    ),
    Case(
        "K13",
        "vllm#25350, fp8, 10.55 GiB to tokens",
        "230528",
        lambda: tokens(of(CODER, kv_format="fp8"), "10.55"),
        inferred="the architecture",
    ),
    Case(
        "K14",
        "vllm#25350, fp8, max_len 221000 to GiB needed",
        "10.12",
        lambda: needed(of(CODER, kv_format="fp8", tokens=221000)),
        inferred="the architecture",
    ),
    Case("K16", "ollama#16480, two sequences, MiB of full layers", "9216", lambda: gpt_oss_cells(Full, 2)),
    Case(
        "K17",
        "ollama#16480, two sequences, MiB of window layers",
        "90",
        lambda: gpt_oss_cells(Window, 2),
        inferred="a step of 1024 tokens, from the 1280 cells that are logged",
    ),
    Case(
        "K19",
        "FreeToken#126, bf16, 2.90 GiB to tokens",
        "27142",
        lambda: arithmetic_tokens(of("qwen3-1.7b"), "2.90"),
    ),
    Case(
        "K20",
        "FreeToken#126, fp8, 2.90 GiB to tokens",
        "54284",
        lambda: arithmetic_tokens(of("qwen3-1.7b", kv_format="fp8"), "2.90"),
    ),
    Case(
        "K21",
        "vllm#15928, MI308, 107824 tokens of KV, concurrency of 32768 tokens",
        "3.29",
        lambda: figures_of_blocks(of("deepseek-v3", tokens=32768), 107824 // 16).concurrency,
        inferred="blocks of 16 tokens, which divide the logged number",
    ),
    Case(
        "K22",
        "vllm#13596, 127626 blocks to tokens",
        "2042016",
        lambda: figures_of_blocks(of(LLAMA), 127626).tokens,
        inferred="the model; any with full attention has the same answer",
    ),
    Case(
        "K23",
        "vllm#12569, H100, 1381 blocks, concurrency of 2048 tokens",
        "10.79",
        lambda: figures_of_blocks(of("llama-3.1-70b", tokens=2048), 1381).concurrency,
    ),
    Case(
        "K24",
        "vllm#16118, eight devices, max_len 1048576 to GiB needed",
        "24.0",
        lambda: needed(plan(weightless(*(Full(8, 128),) * 48), tensor=8, accounting=OLD, tokens=1048576)),
        inferred="the model, Llama-4-Scout: 48 layers of 8 KV heads of 128, all kept whole by that version",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_logged_figure_comes_out_within_1_2_percent(case: Case) -> None:
    reported = Fraction(case.reported)
    assert abs(case.found() - reported) <= CLOSE * reported, case


def test_every_public_kv_case_is_here() -> None:
    missing = {6, 9, 15, 18}  # numbers that were never given, or are of other parts
    assert [case.id for case in CASES] == [f"K{number}" for number in range(1, 25) if number not in missing]


@pytest.mark.parametrize(
    ("name", "bytes_per_token"),
    [
        ("llama-3.1-8b", 131_072),
        ("llama-3.1-70b", 327_680),
        ("llama-3.1-405b", 516_096),
        ("qwen3-8b", 147_456),
        ("qwen3-32b", 262_144),
        ("qwen3-30b-a3b", 98_304),
        ("qwen3-235b-a22b", 192_512),
        ("mixtral-8x7b", 131_072),
        ("mixtral-8x22b", 229_376),
        ("gpt-oss-20b", 49_152),
        ("gpt-oss-120b", 73_728),
        ("deepseek-v3", 70_272),
        ("kimi-k2", 70_272),
        ("minimax-m2.5", 253_952),
    ],
)
def test_bytes_of_a_cached_token_are_those_of_the_published_configurations(name: str, bytes_per_token: int) -> None:
    assert per_token(of(name, accounting=NEW)) == bytes_per_token
