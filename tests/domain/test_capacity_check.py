"""A profile promises no more than its memory holds: the judgement, without any file."""

from fractions import Fraction
from typing import Any

import pytest
from capacity_support import LLAMA_8B, MEASURED, PLANNED, engine, judged, limits, profile
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from gateway.domain.capacity import PlannedCapacity, promised_sequences
from gateway.domain.profile import Placement, Profile
from gateway.domain.registry import digest_of
from gateway.domain.worksheets.capacity_check import excess, plan
from gateway.domain.worksheets.memory import plan as memory
from gateway.domain.worksheets.memory.stages import Parallelism
from gateway.domain.worksheets.models import plain
from gateway.domain.worksheets.units import GIB


def test_the_worked_example_fits_and_with_twice_the_context_it_does_not(base: Profile) -> None:
    assert judged(profile(base)) == []
    (told,) = judged(profile(base, context=8192))
    assert told.path == ("limits", "concurrency")
    assert told.sentence == (
        "8 sequences of 8,192 tokens need 26.90 GiB of a device of 24.00 GiB, 2.90 GiB too much: "
        "weights 14.90 GiB, KV state 8.00 GiB, reserve 4.00 GiB."
    )
    assert told.remedy == (
        "Lower concurrency to at most 5 at this context or lower context_window to at most 5,120 at this "
        "concurrency, or use more memory."
    )


def test_what_the_remedy_says_fits_and_one_more_does_not(base: Profile) -> None:
    for concurrency, context, fits in ((5, 8192, True), (6, 8192, False), (8, 5120, True), (8, 5121, False)):
        assert (judged(profile(base, concurrency, context)) == []) is fits, (concurrency, context)


def test_without_a_bound_one_whole_context_must_fit(base: Profile) -> None:
    assert (
        promised_sequences(limits("unlimited")) == promised_sequences(limits(0)) == promised_sequences(limits(1)) == 1
    )
    assert judged(profile(base, "unlimited")) == judged(profile(base, 0)) == []
    (told,) = judged(profile(base, "unlimited", 2**20))
    assert told.path == ("context_window",)
    assert told.remedy.startswith("Lower context_window to at most ")
    assert "1 sequence of" in told.sentence


@given(st.integers(0, 2**30))
def test_the_verdict_flips_at_the_last_byte(base: Profile, less: int) -> None:
    asked = plan(profile(base), PLANNED, engine(), LLAMA_8B)
    needed = memory.compute(asked).fullest.total.most
    assert memory.compute(replace(asked, device=int(needed))).within
    assert memory.compute(replace(asked, device=int(needed) - 1 - less)).within is False


def test_a_shortage_that_gib_cannot_show_is_told_in_bytes(base: Profile) -> None:
    # 1,024 parameters of 16 bits and nothing else: 2,048 B on a device of 0 B.
    tiny = plain.architecture(parameters=512, layers=1, kv_heads=1, head_dim=1)
    one = profile(base, 1, 1, capacity=replace(PLANNED, device_gib="0", reserve_gib="0"))
    assert one.engine is not None
    (told,) = excess(one, one.engine.capacity, one.engine, tiny)  # type: ignore[arg-type]
    assert " B too much" in told.sentence


def test_the_plan_is_the_profiles_and_nothing_else(base: Profile) -> None:
    capacity = PlannedCapacity(
        architecture=PLANNED.architecture,
        device_gib="80.5",
        reserve_gib="6",
        accounting="vllm>=0.21",
        tensor_parallel=2,
        pipeline_parallel=3,
        block_tokens=32,
        batched_tokens=4096,
    )
    one = profile(base, 7, 1000, weights_format="awq-g128", kv_format="fp8", capacity=capacity)
    assert one.engine is not None
    assert plan(one, capacity, one.engine, LLAMA_8B) == memory.MemoryPlan(
        architecture=LLAMA_8B,
        weight_format="awq-g128",
        kv_format="fp8",
        parallelism=Parallelism(tensor=2, pipeline=3),
        tokens=1000,
        sequences=7,
        device=161 * 2**29,
        reserve=6 * 2**30,
        accounting="vllm>=0.21",
        block=32,
        batched_tokens=4096,
    )


def test_a_device_is_rounded_down_and_a_reserve_up(base: Profile) -> None:
    exact = Fraction("0.0001") * GIB
    assert exact.denominator > 1
    capacity = replace(PLANNED, device_gib="0.0001", reserve_gib="0.0001")
    example = plan(base, capacity, engine(), LLAMA_8B)
    assert (example.device, example.reserve) == (int(exact), int(exact) + 1)


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"weights_format": "q4"}, ("engine", "weights_format"), "knows no such format"),
        ({"weights_format": "raw4"}, ("engine", "weights_format"), "knows no such format"),
        ({"kv_format": "f16"}, ("engine", "kv_format"), "knows no such format"),
        ({"kv_format": "fp8"}, ("engine", "kv_format"), "no KV format that the accounting llama.cpp knows"),
        (
            {"placement": Placement(device="one", count=2, sharing="exclusive")},
            ("engine", "placement", "count"),
            "divided among 1 devices, and the engine runs on 2",
        ),
        (
            {"capacity": replace(PLANNED, tensor_parallel=2, pipeline_parallel=2)},
            ("engine", "placement", "count"),
            "divided among 4 devices, and the engine runs on 1",
        ),
        (
            {"capacity": replace(PLANNED, accounting="vllm>=0.21")},
            ("engine", "capacity", "accounting"),
            "not the rules by which this engine",
        ),
        (
            {
                "capacity": replace(PLANNED, tensor_parallel=2),
                "placement": Placement(device="one", count=2, sharing="exclusive"),
            },
            ("engine", "capacity", "tensor_parallel"),
            "llama.cpp divides a model by layers",
        ),
        (
            {
                "capacity": replace(PLANNED, pipeline_parallel=33),
                "placement": Placement(device="one", count=33, sharing="exclusive"),
            },
            ("engine", "capacity", "pipeline_parallel"),
            "33 stages are more than the 32 layers",
        ),
    ],
)
def test_what_contradicts_the_rest_of_the_profile(
    base: Profile, changes: dict[str, Any], path: tuple[str, ...], words: str
) -> None:
    (told,) = judged(profile(base, **changes))
    assert (told.path, words in told.sentence, bool(told.remedy)) == (path, True, True)


@pytest.mark.parametrize(
    ("version", "accounting"),
    [
        ("0.1.dev17+g1234abc", None),
        ("0.32.0", "vllm>=0.21"),
        ("0.21", "vllm>=0.21"),
        ("0.21.0rc1", "vllm>=0.21"),
        ("1.0.0", "vllm>=0.21"),
        ("v0.20.3", "vllm<0.21"),
        ("0.9.2+cpu", "vllm<0.21"),
        ("abc1234", None),
        ("0", None),
    ],
)
def test_the_accounting_is_that_of_the_engines_version(base: Profile, version: str, accounting: Any) -> None:
    for named in ("vllm>=0.21", "vllm<0.21", "llama.cpp"):
        capacity = replace(PLANNED, accounting=named)
        found = judged(replace(profile(base, version=version, capacity=capacity), adapter="vllm"))
        assert (found == []) is (named == accounting), (named, found)
        if found:
            assert (accounting or "measured capacity") in found[0].remedy


@pytest.mark.parametrize(
    ("changes", "concurrency", "context", "path"),
    [
        ({}, 8, 4096, None),
        ({}, 9, 4096, ("limits", "concurrency")),
        ({"kv_tokens": 32_767}, 8, 4096, ("limits", "concurrency")),
        ({"kv_tokens": 4095}, "unlimited", 4096, ("context_window",)),
        ({"kv_tokens": 4096}, "unlimited", 4096, None),
        ({"engine_version": "2"}, 8, 4096, ("engine", "capacity", "engine_version")),
        ({"context": 8192}, 8, 4096, ("engine", "capacity", "context")),
        ({"context": 2048}, 8, 4096, ("engine", "capacity", "context")),
    ],
)
def test_a_measurement_counts_for_what_was_measured(
    base: Profile, changes: dict[str, Any], concurrency: Any, context: int, path: Any
) -> None:
    capacity = replace(MEASURED, **changes)
    # Nothing is computed, so the formats need not be the worksheet's.
    found = judged(profile(base, concurrency, context, capacity=capacity, weights_format="Q4", kv_format="any"))
    assert [one.path for one in found] == ([] if path is None else [path])


def test_a_measurement_that_is_too_small_tells_both_numbers(base: Profile) -> None:
    (told,) = judged(profile(base, 9, capacity=MEASURED))
    assert told.sentence == "9 sequences of 4,096 tokens need 36,864 tokens of KV cache, and 32,768 were measured."
    # A shorter context would be another than the one that was measured.
    assert told.remedy == (
        "Lower concurrency to at most 8, or measure an engine with more memory, or one that was started for a shorter "
        "context."
    )
    assert judged(profile(base, 8, capacity=MEASURED)) == []
    (told,) = judged(profile(base, 9, 65_536, capacity=replace(MEASURED, context=65_536)))
    assert told.remedy.startswith("Measure an engine with more memory")


def test_the_digest_of_a_profile_tells_a_measurement_from_arithmetic() -> None:
    """The tag of a tagged struct is part of what is approved, also where all fields are at their defaults."""

    class One(Struct, frozen=True, tag_field="basis", tag="one"):
        value: int = 1

    class Two(Struct, frozen=True, tag_field="basis", tag="two"):
        value: int = 1

    class Untagged(Struct, frozen=True):
        value: int = 1

    assert len({digest_of(One()), digest_of(Two()), digest_of(Untagged())}) == 3
    assert digest_of(replace(PLANNED, block_tokens=16)) == digest_of(PLANNED)
    assert digest_of(replace(PLANNED, block_tokens=32)) != digest_of(PLANNED)


@pytest.mark.parametrize(
    ("changes", "devices", "key"),
    [
        ({"pipeline_parallel": 33}, 33, "pipeline_parallel"),
        ({"tensor_parallel": 2}, 2, "tensor_parallel"),  # llama.cpp divides by layers
        ({"tensor_parallel": 3, "accounting": "vllm>=0.21"}, 3, "tensor_parallel"),
    ],
)
def test_a_division_that_the_worksheet_refuses_is_refused_here_too(
    base: Profile, changes: dict[str, Any], devices: int, key: str
) -> None:
    capacity = replace(PLANNED, **changes)
    of_vllm = capacity.accounting != "llama.cpp"
    placement = Placement(device="one", count=devices, sharing="exclusive")
    one = profile(base, capacity=capacity, placement=placement, version="0.32.0")
    (told,) = judged(replace(one, adapter="vllm") if of_vllm else one)
    assert told.path == ("engine", "capacity", key)
    assert told.sentence
    assert told.remedy
