"""Physical floors of a decode step and of a prefill: below what real engines need, and to known digits.

The estimates are aiconfigurator's, which rest on measurements of real devices; the floors beside them were computed
from its model files with the same formulas.
"""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from gateway.domain.worksheets.fields import EntriesRefused
from gateway.domain.worksheets.latency import floors
from gateway.domain.worksheets.latency import sheet as latency_sheet
from gateway.domain.worksheets.memory.kv_formats import KV
from gateway.domain.worksheets.models.architecture import Full, Latent, Window
from gateway.domain.worksheets.models.hf_config import read_config
from gateway.domain.worksheets.sheet import Sheet

CONFIGS = Path(__file__).parent / "configs"
DEVICES: Mapping[str, tuple[str, str]] = {
    "h100_sxm": ("3350", "989"),
    "a100_sxm": ("2039", "312"),
    "l40s": ("864", "362"),
    "h200_sxm": ("4800", "989"),
}
"""GB/s and dense TFLOP/s at 16 bits, of the vendor's data sheets."""
GIGA = 10**9


class Row(Struct, frozen=True, kw_only=True):
    """One estimate beside its floor, in milliseconds."""

    config: str
    device: str
    ranks: int = 1
    input_tokens: int = 1024
    output_tokens: int = 256
    sequences: int = 1
    weight_format: str = "bf16"
    step: tuple[str, str]
    """Estimate and floor of a decode step."""
    prefill: tuple[str, str]

    @property
    def entered(self) -> dict[str, str]:
        bandwidth, peak = DEVICES[self.device]
        return {
            "config": (CONFIGS / f"{self.config}.json").read_text(encoding="utf-8"),
            "weight_format": self.weight_format,
            "kv_format": "bf16",
            "bandwidth_gb_per_s": bandwidth,
            "peak_tflops": peak,
            "device_tensor_parallel": str(self.ranks),
            "input_tokens": str(self.input_tokens),
            "output_tokens": str(self.output_tokens),
            "sequences": str(self.sequences),
        }


LONG = {"input_tokens": 4000, "output_tokens": 500}
ROWS = (
    Row(config="llama-3.1-8b", device="h100_sxm", step=("6.19", "4.53"), prefill=("47.7", "15.5")),
    Row(config="llama-3.1-8b", device="a100_sxm", step=("11.88", "7.44"), prefill=("90.3", "49.3")),
    Row(config="llama-3.1-8b", device="l40s", step=("21.98", "17.55"), prefill=("95.9", "42.5")),
    Row(config="llama-3.1-70b", device="h100_sxm", ranks=4, step=("14.88", "10.40"), prefill=("131.4", "36.0")),
    Row(config="qwen3-32b", device="h200_sxm", step=("18.44", "13.56"), prefill=("444.2", "258.7"), **LONG),
    Row(
        config="qwen3-32b",
        device="h200_sxm",
        ranks=2,
        sequences=32,
        step=("28.80", "10.38"),
        prefill=("446.0", "129.4"),
        **LONG,
    ),
    Row(config="qwen3-30b-a3b", device="h100_sxm", step=("4.69", "1.85"), prefill=("72.3", "6.3")),
    # The floor beside this estimate is 1.54: it reads the biases of all 128 experts, and windows as if they were full.
    Row(
        config="gpt-oss-120b",
        device="h100_sxm",
        weight_format="mxfp4",
        step=("4.51", "1.507"),
        prefill=("83.9", "10.6"),
    ),
)


def milliseconds(sheet: Sheet, name: str) -> Fraction:
    return 1000 * Fraction(str(sheet.figures[name].value))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.config} {row.device} tp{row.ranks} bs{row.sequences}")
def test_a_floor_is_below_the_estimate_and_has_the_known_digits(row: Row) -> None:
    sheet = latency_sheet.sheet(row.entered)
    for name, (estimate, known) in (("per_token_floor", row.step), ("prefill_floor", row.prefill)):
        found = milliseconds(sheet, name)
        assert found <= Fraction(estimate)
        assert abs(found / Fraction(known) - 1) < Fraction(1, 100)
        assert "floor, not forecast" in sheet.figures[name].label
        assert sheet.figures[name].shown.endswith(" ms (floor, not forecast)")


def test_the_known_floor_of_gpt_oss_is_ours_with_all_biases_and_without_windows() -> None:
    architecture = read_config((CONFIGS / "gpt-oss-120b.json").read_text(encoding="utf-8"))
    model = floors.model(architecture, "mxfp4", KV["bf16"], 1)
    biases = sum(tensor.parameters for tensor in architecture.tensors if tensor.routed)
    wider = replace(
        model,
        attention=tuple(Full(one.kv_heads, one.head_dim) for one in model.attention if not isinstance(one, Latent)),
        steady_bytes=model.steady_bytes + 2 * biases * Fraction(128 - 4, 128),
    )
    found = floors.per_token(wider, Fraction(3350 * GIGA), input_tokens=1024, output_tokens=256, sequences=1)
    assert round(1000 * found, 2) == Fraction("1.54")


def test_plain_numbers_come_to_the_same_as_their_config() -> None:
    row = ROWS[0]
    entered = {name: text for name, text in row.entered.items() if name != "config"}
    plain = latency_sheet.sheet(
        entered
        | {"parameters": "8030261248", "embedding_parameters": "525336576"}
        | {"layers": "32", "kv_heads": "8", "head_dim": "128"}
    )
    by_config = latency_sheet.sheet(row.entered)
    for name in ("per_token_floor", "prefill_floor"):
        assert plain.figures[name].value == by_config.figures[name].value


def test_plain_numbers_of_experts_come_to_the_same_as_their_config() -> None:
    row = next(row for row in ROWS if row.config == "qwen3-30b-a3b")
    architecture = read_config(row.entered["config"])

    def parameters(role: str) -> int:
        return sum(tensor.parameters for tensor in architecture.tensors if tensor.role == role)

    entered = {name: text for name, text in row.entered.items() if name != "config"} | {
        "parameters": str(architecture.parameters),
        "embedding_parameters": str(parameters("embedding")),
        "expert_parameters": str(parameters("expert")),
        "experts": "128",
        "experts_per_token": "8",
        "layers": "48",
        "kv_heads": "4",
        "head_dim": "128",
    }
    for sequences in ("1", "32"):
        plain = latency_sheet.sheet(entered | {"sequences": sequences})
        by_config = latency_sheet.sheet(row.entered | {"sequences": sequences})
        for name in ("per_token_floor", "prefill_floor"):
            assert plain.figures[name].value == by_config.figures[name].value


def test_a_tied_head_is_read_and_an_input_embedding_of_its_own_is_not() -> None:
    tied = read_config((CONFIGS / "qwen3-1.7b.json").read_text(encoding="utf-8"))
    untied = read_config((CONFIGS / "qwen3-8b.json").read_text(encoding="utf-8"))
    assert (tied.tied, untied.tied) == (True, False)
    assert floors.model(tied, "bf16", KV["bf16"], 1).steady_parameters == tied.parameters
    embedding = next(tensor.parameters for tensor in untied.tensors if tensor.role == "embedding")
    assert floors.model(untied, "bf16", KV["bf16"], 1).steady_parameters == untied.parameters - embedding


def a_model(**changes: object) -> floors.Model:
    made = floors.Model(
        steady_bytes=Fraction(10**9),
        expert_bytes=Fraction(0),
        steady_parameters=5 * 10**8,
        expert_parameters=0,
        attention=(Full(8, 128),),
        kv_format=KV["fp16"],
        tensor_parallel=1,
    )
    return replace(made, **changes)


def step(model: floors.Model, *, input_tokens: int = 1000, output_tokens: int = 0, sequences: int = 1) -> Fraction:
    return floors.per_token(
        model,
        Fraction(GIGA),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        sequences=sequences,
    )


def test_a_step_reads_the_weights_once_and_the_states_of_every_sequence() -> None:
    # 1,000 tokens of 2 x 8 x 128 x 2 bytes.
    assert step(a_model()) == 1 + Fraction(4_096_000, GIGA)
    assert step(a_model(), sequences=3) == 1 + 3 * Fraction(4_096_000, GIGA)
    assert step(a_model(), output_tokens=500) == 1 + Fraction(1250 * 4096, GIGA)


def test_a_window_is_read_no_further_than_it_reaches() -> None:
    window = a_model(attention=(Window(8, 128, 100),))
    assert step(window) == 1 + Fraction(100 * 4096, GIGA)
    assert step(window, input_tokens=50) == 1 + Fraction(50 * 4096, GIGA)


def test_a_latent_row_is_read_whole_by_every_rank_and_heads_are_shared_as_far_as_they_go() -> None:
    latent = a_model(attention=(Latent(512, 64),))
    assert step(latent) == step(replace(latent, tensor_parallel=8)) == 1 + Fraction(1000 * 576 * 2, GIGA)
    assert step(a_model(tensor_parallel=8)) == step(a_model(tensor_parallel=16)) == 1 + Fraction(512_000, GIGA)


def test_one_sequence_needs_its_own_experts_and_very_many_need_all() -> None:
    assert floors.distinct_experts(128, 8, 1) == 8
    assert floors.distinct_experts(8, 2, 2) == Fraction(8) * (1 - Fraction(6, 8) ** 2)
    assert floors.distinct_experts(8, 8, 5) == 8
    assert 128 - floors.distinct_experts(128, 8, 10**6) < Fraction(1, 10**12)
    assert floors.distinct_experts(4096, 1, 10**6).denominator < 10**50


@pytest.mark.parametrize("name", ["gpt-oss-120b", "deepseek-v3"])
def test_a_floor_of_the_most_sequences_is_told(name: str) -> None:
    entered = {
        "config": (CONFIGS / f"{name}.json").read_text(encoding="utf-8"),
        "bandwidth_gb_per_s": "3350",
        "input_tokens": "1024",
        "sequences": str(10**6),
    }
    value = latency_sheet.sheet(entered).figures["per_token_floor"].value
    assert isinstance(value, str)
    assert len(value) < 40


@given(st.integers(1, 256), st.data(), st.integers(1, 5000))
def test_more_sequences_need_no_fewer_experts_and_never_more_than_there_are(
    experts: int, data: st.DataObject, sequences: int
) -> None:
    chosen = data.draw(st.integers(1, experts))
    fewer, more = (floors.distinct_experts(experts, chosen, count) for count in (sequences, sequences + 1))
    assert chosen <= fewer <= more <= experts


@given(
    sequences=st.integers(1, 10_000),
    input_tokens=st.integers(1, 10**6),
    output_tokens=st.integers(1, 10**5),
    chosen=st.integers(1, 16),
)
def test_a_floor_rises_with_tokens_and_sequences_and_falls_with_bandwidth_and_peak(
    sequences: int, input_tokens: int, output_tokens: int, chosen: int
) -> None:
    model = a_model(expert_bytes=Fraction(GIGA), expert_parameters=10**8, experts=16, experts_per_token=chosen)
    tokens = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    base = step(model, sequences=sequences, **tokens)
    assert base < step(model, sequences=sequences + 1, **tokens)
    assert base < step(model, sequences=sequences, **{**tokens, "input_tokens": input_tokens + 1})
    assert base < step(model, sequences=sequences, **{**tokens, "output_tokens": output_tokens + 1})
    assert floors.per_token(model, Fraction(2 * GIGA), sequences=sequences, **tokens) == base / 2
    prefill = floors.prefill(model, Fraction(GIGA), input_tokens=input_tokens)
    assert floors.prefill(model, Fraction(GIGA), input_tokens=2 * input_tokens) == 2 * prefill
    assert floors.prefill(model, Fraction(2 * GIGA), input_tokens=input_tokens) == prefill / 2
    assert floors.prefill(replace(model, tensor_parallel=4), Fraction(GIGA), input_tokens=input_tokens) == prefill / 4


def faults(**changed: str) -> dict[str, str]:
    entered = {"bandwidth_gb_per_s": "3350", "parameters": "8e9", "embedding_parameters": "5e8", "input_tokens": "9"}
    with pytest.raises(EntriesRefused) as refused:
        latency_sheet.sheet({name: text for name, text in (entered | changed).items() if text})
    return {fault.field: fault.sentence for fault in refused.value.faults}


LLAMA = (CONFIGS / "llama-3.1-8b.json").read_text(encoding="utf-8")
DEEPSEEK = (CONFIGS / "deepseek-v3.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"input_tokens": ""}, "input_tokens"),
        ({"embedding_parameters": ""}, "embedding_parameters"),
        ({"bandwidth_gb_per_s": "0"}, "bandwidth_gb_per_s"),
        ({"peak_tflops": "0"}, "peak_tflops"),
        ({"peak_tflops": "NaN"}, "peak_tflops"),
        ({"device_tensor_parallel": "0"}, "device_tensor_parallel"),
        ({"device_tensor_parallel": "3"}, "device_tensor_parallel"),
        ({"embedding_parameters": "9e9"}, "parameters"),
        ({"experts": "8"}, "expert_parameters"),
        ({"expert_parameters": "1e9", "experts": "8", "experts_per_token": "9"}, "experts_per_token"),
        ({"config": LLAMA, "embedding_parameters": ""}, "parameters"),
        ({"config": LLAMA, "parameters": ""}, "embedding_parameters"),
        ({"config": "{", "parameters": "", "embedding_parameters": ""}, "config"),
        (
            {"config": LLAMA, "parameters": "", "embedding_parameters": "", "device_tensor_parallel": "3"},
            "device_tensor_parallel",
        ),
        ({"config": DEEPSEEK, "parameters": "", "embedding_parameters": "", "kv_format": "nvfp4"}, "kv_format"),
        ({"weight_format": "bf16", "weight_bits": "16"}, "weight_bits"),
    ],
)
def test_what_no_floor_can_be_computed_from_is_refused_at_its_field(changed: dict[str, str], field: str) -> None:
    assert field in faults(**changed)
