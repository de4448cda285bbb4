"""What a promise beyond the memory is told to do, and what the model's own config.json says against a profile."""

import re
from typing import Any

import pytest
from capacity_support import LLAMA_8B, PLANNED, judged, limits, profile
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway.domain.profile import Profile
from gateway.domain.worksheets.models.architecture import Architecture, Latent, Window


def test_where_nothing_fits_no_smaller_promise_is_offered(base: Profile) -> None:
    small = replace(PLANNED, device_gib="16")
    (told,) = judged(profile(base, capacity=small))
    assert "KV state 4.00 GiB" in told.sentence
    assert told.remedy == "Not one token of one sequence fits: use a device with more memory, or a smaller format."
    assert "Not one token" in judged(profile(base, 1, 1, capacity=replace(PLANNED, device_gib="14")))[0].remedy


def test_where_less_of_one_thing_is_not_enough_it_is_not_said_that_nothing_fits(base: Profile) -> None:
    """A thousand sequences take 256 cells each at least, and one of a million tokens takes 128 GiB."""
    (told,) = judged(profile(base, 1000, 2**20))
    assert told.remedy == "Lower concurrency and context_window both: neither is enough by itself. Or use more memory."
    assert judged(profile(base, 1000, 1))
    assert judged(profile(base, 1, 2**20))
    assert judged(profile(base, 1, 1)) == []


WINDOWS = (
    *(replace(LLAMA_8B, longest_context=longest) for longest in (None, 8192)),
    replace(LLAMA_8B, attention=(Window(kv_heads=8, head_dim=128, window=1024),) * 32),
    replace(LLAMA_8B, attention=(*(Window(kv_heads=8, head_dim=128, window=1024),) * 25, *LLAMA_8B.attention[25:])),
    replace(LLAMA_8B, attention=(Latent(rank=512, rope_dim=64),) * 32),
)
AT_MOST = re.compile(r"(concurrency|context_window) to at most ([0-9,]+)")


@given(
    model=st.sampled_from(WINDOWS),
    engine_of=st.sampled_from(
        [("llama_cpp", "1", "llama.cpp"), ("vllm", "0.32.0", "vllm>=0.21"), ("vllm", "0.20.0", "vllm<0.21")]
    ),
    device=st.sampled_from(["15", "18.5", "24", "80"]),
    block=st.sampled_from([1, 16, 128]),
    step=st.sampled_from([None, 1, 4096]),
    concurrency=st.one_of(st.just("unlimited"), st.integers(0, 10**5)),
    context=st.integers(1, 10**6),
)
def test_a_remedy_that_is_followed_is_enough_and_one_more_is_too_much(
    base: Profile,
    *,
    model: Architecture,
    engine_of: tuple[Any, str, Any],
    device: str,
    block: int,
    step: int | None,
    concurrency: Any,
    context: int,
) -> None:
    adapter, version, accounting = engine_of
    capacity = replace(
        PLANNED, device_gib=device, reserve_gib="0", accounting=accounting, block_tokens=block, batched_tokens=step
    )
    one = replace(profile(base, concurrency, context, capacity=capacity, version=version), adapter=adapter)
    found = [told for told in judged(one, model) if " need " in told.sentence]
    remedy = found[0].remedy if found else ""
    for key, figure in AT_MOST.findall(remedy):
        most = int(figure.replace(",", ""))
        for count, fits in ((most, True), (most + 1, False)):
            lower = {"limits": limits(count)} if key == "concurrency" else {"context_window": count}
            # A longer context than the model's is told by itself.
            told = [one for one in judged(replace(one, **lower), model) if fits is False or " need " in one.sentence]
            assert (told == []) is fits, (key, count, told)
    if "both" in remedy or "Not one token" in remedy:
        fits = judged(replace(one, limits=limits(1), context_window=1), model) == []
        assert fits is ("both" in remedy)


def test_a_context_longer_than_the_models_is_told_with_both_numbers(base: Profile) -> None:
    model = replace(LLAMA_8B, longest_context=2048)
    (told,) = judged(profile(base, 1, 2049), model)
    assert told.path == ("context_window",)
    assert "2,049 tokens is longer than the 2,048 that the model is made for" in told.sentence
    assert "max_position_embeddings" in told.remedy
    assert judged(profile(base, 1, 2048), model) == []


@pytest.mark.parametrize(
    ("adapter", "stored", "named", "told"),
    [
        ("vllm", "fp8-128x128", "awq-g128", True),
        ("vllm", "fp8-128x128", "fp8-128x128", False),
        ("vllm", "awq-g128", "bf16", False),  # more than is stored
        ("vllm", "awq-g128", "gptq-g128-sym", True),
        ("vllm", "a method of later", "awq-g128", False),
        ("vllm", None, "awq-g128", False),
        # A GGUF is made from the config.json of the model as it was published.
        ("llama_cpp", "fp8-128x128", "q4_0", False),
    ],
)
def test_weights_are_not_counted_smaller_than_they_are_stored(
    base: Profile, adapter: Any, stored: str | None, named: str, told: bool
) -> None:
    accounting: Any = "vllm>=0.21" if adapter == "vllm" else "llama.cpp"
    capacity = replace(PLANNED, accounting=accounting)
    one = replace(profile(base, 1, capacity=capacity, version="0.32.0", weights_format=named), adapter=adapter)
    found = judged(one, replace(LLAMA_8B, stored_format=stored))
    assert [(one.path, stored in one.sentence) for one in found] == [(("engine", "weights_format"), True)] * told
