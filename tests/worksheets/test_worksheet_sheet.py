"""The memory worksheet in words: every figure tells its arithmetic, and the verdict claims no more than a sum."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from arithmetic_told import computed
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.domain.worksheets.catalogue import WORKSHEETS
from gateway.domain.worksheets.choosing import HOW_TO_CHOOSE
from gateway.domain.worksheets.fields import EntriesRefused, EntryFault
from gateway.domain.worksheets.sheet import Sheet
from gateway.domain.worksheets.units import GIB
from gateway.domain.worksheets.worked import BASELINE, worked_cases

CONFIGS = Path(__file__).parent / "configs"
LLAMA = (CONFIGS / "llama-3.1-8b.json").read_text(encoding="utf-8")


def memory(**entered: str) -> Sheet:
    return WORKSHEETS["memory"].compute(entered)


def shown(sheet: Sheet) -> dict[str, str]:
    return {name: figure.shown for name, figure in sheet.figures.items()}


def code(sheet: Sheet) -> str:
    assert sheet.verdict is not None
    return sheet.verdict.code


def test_the_worked_cases_come_out_to_the_shown_digits() -> None:
    found = [
        (case.sheet.figures["weights"].shown, case.sheet.figures["kv"].shown, case.sheet.figures["total"].shown)
        for case in worked_cases()
    ]
    assert found == [
        ("14.90 GiB", "4.00 GiB", "22.90 GiB"),
        ("14.90 GiB", "8.00 GiB", "26.90 GiB"),
        ("3.73 GiB", "4.00 GiB", "11.73 GiB"),
        ("14.90 GiB", "4.00 GiB", "22.90 GiB"),
        ("14.90 GiB", "0.50 GiB", "19.40 GiB"),
    ]
    assert [code(case.sheet) for case in worked_cases()] == ["within", "exceeds", "within", "exceeds", "within"]
    assert all(case.sheet.figures["kv_per_token"].shown == "128.00 KiB" for case in worked_cases())
    assert worked_cases()[0].sheet.figures["total"].value == 24_589_934_592


def test_each_worked_case_differs_from_the_baseline_in_one_entry_and_says_all_of_them() -> None:
    baseline, *others = worked_cases()
    assert baseline.entered == BASELINE
    for case in others:
        assert case.entered.keys() == BASELINE.keys()
        assert sum(case.entered[name] != text for name, text in BASELINE.items()) == 1
        assert case.sheet == memory(**case.entered)


def test_what_stands_by_default_is_the_baseline() -> None:
    assert memory().figures == worked_cases()[0].sheet.figures


PLANS: Mapping[str, Mapping[str, str]] = {
    "plain": {},
    "shared by tensors and layers": {"tensor_parallel": "4", "pipeline_parallel": "2", "data_parallel": "3"},
    "more ranks than heads": {"tensor_parallel": "16"},
    "KV states with scales": {"kv_format": "int8_per_token_head", "accounting": "vllm>=0.21"},
    "blocks": {"accounting": "vllm>=0.21", "cached_tokens": "4097"},
    "cells": {"accounting": "llama.cpp", "cached_tokens": "4097", "kv_format": "q8_0"},
    "a config": {"config": LLAMA},
    "a config, quantised and shared": {
        "config": LLAMA,
        "weight_format": "awq-g128",
        "tensor_parallel": "2",
    },
    "a config in stages": {"config": LLAMA, "weight_format": "q4_k", "pipeline_parallel": "3"},
}


@pytest.mark.parametrize("name", PLANS)
def test_the_arithmetic_that_a_figure_tells_comes_to_the_figure(name: str) -> None:
    sheet = memory(**PLANS[name])
    told = {
        part: computed(figure.how)
        for part, figure in sheet.figures.items()
        if part in ("kv_per_token", "kv", "total", "headroom", "devices", "all_devices")
    }
    # Bytes of the file may be a fraction until the end, and a need is rounded up.
    assert {part: -(-value.numerator // value.denominator) for part, value in told.items()} == {
        part: sheet.figures[part].value for part in told
    }
    weights = computed(sheet.figures["weights"].how)
    (least, *most) = (int(size.replace(",", "")) for size in _cell(sheet, "weights").split(" to "))
    assert -(-weights.numerator // weights.denominator) == least
    assert sheet.figures["weights"].value == [least, *most][-1]


def _cell(sheet: Sheet, part: str) -> str:
    """Bytes of a part of the first stage that holds as much as the fullest."""
    total = f"{sheet.figures['total'].value:,}"
    ranks = sheet.tables[0].rows
    fullest = next(row[0] for row in ranks if row[2] == "total" and row[4].split(" to ")[-1] == total)
    return next(row[4] for row in ranks if row[0] == fullest and row[2] == part)


def test_every_rank_is_told_in_bytes_and_in_gib() -> None:
    parts = ("weights", "KV state", "reserve", "total")
    ranks = memory(layers="7", pipeline_parallel="3").tables[0]
    assert ranks.columns == ("Stage", "Layers", "Part", "Size", "Bytes")
    assert [row[:3] for row in ranks.rows] == [
        (stage, layers, part) for stage, layers in (("0", "2"), ("1", "3"), ("2", "2")) for part in parts
    ]
    assert ranks.rows[0][3:] == ("4.97 GiB", "5,333,333,334")
    assert ranks.rows[5][3:] == ("0.38 GiB", "402,653,184")


def test_stages_that_follow_each_other_and_hold_as_much_are_told_together() -> None:
    sheet = memory(layers="33", pipeline_parallel="4", vram_gib="1")
    stages = {row[0]: row[1] for row in sheet.tables[0].rows}
    assert stages == {"0 to 1": "8", "2": "9", "3": "8"}
    told = sheet.figures["all_devices"].how
    assert told == "(2 x 9,368,709,120 + 9,502,926,848 + 9,368,709,120) x 1 x 1 B"
    assert sheet.verdict is not None
    assert "on a device of stage 2" in sheet.verdict.sentence


@pytest.mark.parametrize(
    ("field", "most", "beside"),
    [("layers", 256, {}), ("pipeline_parallel", 128, {"layers": "256"}), ("data_parallel", 1024, {})],
)
def test_what_no_engine_has_is_refused(field: str, most: int, beside: dict[str, str]) -> None:
    assert memory(**beside, **{field: str(most)}).figures["total"].value
    with pytest.raises(EntriesRefused) as refused:
        memory(**beside, **{field: str(most + 1)})
    assert [(fault.field, fault.sentence) for fault in refused.value.faults] == [
        (field, f"This is above {most}, the most that is allowed.")
    ]


@pytest.mark.parametrize("accounting", ["arithmetic", "vllm>=0.21", "vllm<0.21", "llama.cpp"])
@pytest.mark.parametrize("name", ["llama-3.1-8b", "gpt-oss-120b", "deepseek-v3"])
def test_no_entry_takes_long(name: str, accounting: str) -> None:
    keys = json.loads((CONFIGS / f"{name}.json").read_text()) | {"num_hidden_layers": 256}
    if "layer_types" in keys:
        keys["layer_types"] = ["sliding_attention", "full_attention"] * 128
    entered = {
        "config": json.dumps(keys),
        "accounting": accounting,
        "pipeline_parallel": "128",
        "weight_format": "mxfp4",
        "vram_gib": "1e6",
    }
    begun = time.process_time()
    sheet = memory(**entered)
    assert time.process_time() - begun < 0.4
    assert max(len(figure.how) for figure in sheet.figures.values()) < 1000


def test_an_uncertain_weight_is_an_interval_and_its_upper_end_decides() -> None:
    uncertain = {"config": LLAMA, "weight_format": "q4_k", "sequences": "1"}
    sheet = memory(**uncertain)
    assert shown(sheet)["weights"] == "4.21 to 4.45 GiB"
    total = sheet.figures["total"].value
    assert isinstance(total, int)
    just = {**uncertain, "vram_gib": str(-(-total * 10**9 // GIB) / 10**9)}
    assert code(memory(**just)) == "within"
    below = memory(**{**uncertain, "vram_gib": "8.8"})
    assert code(below) == "exceeds"
    assert below.verdict is not None
    assert "8.71 to 8.95 GiB: loaded so that they take most, 0.15 GiB above the entered 8.80 GiB" in (
        below.verdict.sentence
    )


def test_a_sum_that_equals_the_device_is_within_and_one_byte_more_is_not() -> None:
    even = {"parameters": str(GIB), "weight_bits": "16", "sequences": "8", "cached_tokens": "4096", "reserve_gib": "2"}
    sheet = memory(**even, vram_gib="8")
    assert (code(sheet), sheet.figures["headroom"].value) == ("within", 0)
    more = memory(**{**even, "parameters": str(GIB + 1)}, vram_gib="8")
    assert (code(more), more.figures["headroom"].value) == ("exceeds", -2)
    assert more.verdict is not None
    assert "2 B above the entered 8.00 GiB" in more.verdict.sentence


@pytest.mark.parametrize(
    ("parameters", "headroom", "shown_"),
    [
        ("3", 16 * GIB - 2, "16.00 GiB"),
        (str(32 * GIB - 21_000_000), 10_500_000, "10,500,000 B"),
        (str(32 * GIB - 1), 0, "0.00 GiB"),
        (str(32 * GIB), 0, "0.00 GiB"),
        (str(32 * GIB + 1), -1, "-1 B"),
        (str(32 * GIB + 21_000_000), -10_500_000, "-10,500,000 B"),
        (str(34 * GIB), -GIB, "-1.00 GiB"),
    ],
)
def test_headroom_is_what_the_rounded_total_leaves_and_a_little_of_it_is_told_in_bytes(
    parameters: str, headroom: int, shown_: str
) -> None:
    # 4 bits each, so that an odd number of them takes half a byte; and KV states and reserve of half a GiB each.
    sheet = memory(parameters=parameters, weight_bits="4", sequences="1", reserve_gib="0.5", vram_gib="17")
    device, total = (sheet.figures[name].value for name in ("device", "total"))
    assert isinstance(device, int)
    assert isinstance(total, int)
    assert (sheet.figures["headroom"].value, device - total) == (headroom, headroom)
    assert sheet.figures["headroom"].shown == shown_


def test_the_verdict_promises_nothing_but_the_sum() -> None:
    verdict = memory().verdict
    assert verdict is not None
    assert verdict.sentence == (
        "Weights, KV state and reserve sum to 22.90 GiB, not above the entered 24.00 GiB. "
        "That is all it says: no speed, no quality, no promise that an allocation succeeds."
    )


def test_the_device_reaches_as_far_as_the_bounds_say() -> None:
    figures = memory().figures
    most_sequences, most_tokens = figures["most_sequences"].value, figures["most_tokens"].value
    assert (most_sequences, most_tokens) == (10, 5221)
    assert [code(memory(sequences=str(n))) for n in (10, 11)] == ["within", "exceeds"]
    assert [code(memory(cached_tokens=str(n))) for n in (5221, 5222)] == ["within", "exceeds"]
    assert figures["most_sequences"].how == "10 sequences: 25,663,676,416 B, 11 sequences: 26,200,547,328 B"


def test_a_device_that_the_weights_fill_holds_no_sequence() -> None:
    figures = memory(vram_gib="16").figures
    assert (figures["most_sequences"].shown, figures["most_tokens"].shown) == ("0 sequences", "0 tokens")
    assert figures["most_tokens"].how.startswith("1 tokens: ")


def test_a_window_of_a_model_is_an_interface_bound_and_no_promise() -> None:
    sheet = memory(config=LLAMA, vram_gib="1000", sequences="1")
    assert "context_window" not in memory().figures
    window, most = sheet.figures["context_window"], sheet.figures["most_tokens"]
    assert (window.value, window.basis) == (131072, "assumed")
    assert "interface bound" in window.how
    assert "no promise of speed" in window.how
    assert most.value == 131072
    assert most.how.endswith("; there the model's window ends")
    beyond = memory(config=LLAMA, vram_gib="1000", sequences="1", cached_tokens="131073")
    assert any("beyond the model's window" in sentence for sentence in beyond.assumed)
    assert not any("beyond the model's window" in sentence for sentence in sheet.assumed)


def test_quantised_weights_leave_everything_else_as_it_is() -> None:
    plain = memory(config=LLAMA, weight_format="bf16")
    for name in ("awq-g128", "fp8", "mxfp4", "q4_k"):
        other = memory(config=LLAMA, weight_format=name)
        assert (other.figures["kv"], other.figures["kv_per_token"]) == (
            plain.figures["kv"],
            plain.figures["kv_per_token"],
        )


def test_data_parallelism_copies_everything_and_leaves_each_device_as_it_is() -> None:
    one, three = memory(), memory(data_parallel="3")
    assert three.figures["total"] == one.figures["total"]
    total, all_devices = one.figures["total"].value, three.figures["all_devices"].value
    assert isinstance(total, int)
    assert all_devices == 3 * total
    assert three.figures["devices"].shown == "3 devices"


MEASURED = {
    "measured_engine": "vLLM 0.32.0",
    "measured_device": "one H200",
    "measured_workload": "8 chats of 4,096 tokens",
    "measured_date": "2026-11-30",
    "measured_by": "platform",
}


def test_every_number_says_what_it_rests_on() -> None:
    sheet = memory(vram_gib="139.8", measured="vram-gib", **MEASURED)
    bases = {name: figure.basis for name, figure in sheet.figures.items()}
    assert {name for name, basis in bases.items() if basis == "measured"} == {"device"}
    assert {name for name, basis in bases.items() if basis == "assumed"} == {"parameters", "reserve"}
    measurement = sheet.figures["device"].measured
    assert measurement is not None
    assert (measurement.engine, measurement.by, measurement.date) == ("vLLM 0.32.0", "platform", "2026-11-30")
    entered = {row[0]: row[2] for row in sheet.tables[1].rows}
    assert entered["Assumed VRAM"].startswith("measured with vLLM 0.32.0")
    assert (entered["Reserve"], memory(reserve_gib="4").tables[1].rows[10][2]) == ("assumed, by default", "assumed")


def test_numbers_that_a_config_replaces_are_not_shown_as_entered() -> None:
    entered = {row[0] for row in memory(config=LLAMA).tables[1].rows}
    assert entered.isdisjoint({"Parameters", "Layers", "KV heads", "Head dimension"})
    assert {"Parameters", "Layers"} <= {row[0] for row in memory().tables[1].rows}
    figure = memory(config=LLAMA).figures["parameters"]
    assert (figure.value, figure.basis) == (8_030_261_248, "arithmetic")


def test_what_a_number_takes_for_granted_and_leaves_out_is_told() -> None:
    for worksheet in ("memory", "latency"):
        sheet = WORKSHEETS[worksheet].compute({})
        assert sheet.assumed
        assert sheet.left_out
        assert all(sentence.endswith(".") for sentence in (*sheet.assumed, *sheet.left_out))


def test_the_table_of_choices_has_every_way_with_benefit_cost_criterion_and_what_is_not_known() -> None:
    assert HOW_TO_CHOOSE.columns == ("Way to serve", "Benefit", "Cost", "Criterion", "Evidence still missing")
    assert [row[0] for row in HOW_TO_CHOOSE.rows] == [
        "Hosted model",
        "Self-hosted model",
        "Several providers",
        "One replica per device",
        "Sharded over devices",
    ]
    assert all(len(row) == 5 and all(cell.endswith(".") for cell in row[1:]) for row in HOW_TO_CHOOSE.rows)


def attempt(worksheet: str, entered: Mapping[str, str]) -> Sheet | tuple[EntryFault, ...]:
    try:
        return WORKSHEETS[worksheet].compute(entered)
    except EntriesRefused as refused:
        return refused.faults


TEXTS = st.one_of(
    st.text(max_size=30),
    st.integers(-10, 10**20).map(str),
    st.decimals(allow_nan=True, allow_infinity=True).map(str),
    st.sampled_from(["", "0", "1", "2", "8e9", "0.5", "1e99", "NaN", "\x1b[31m", "\u202e", "EUR", "2026-02-30", "{}"]),
    st.sampled_from([LLAMA, LLAMA.replace("128256", "0"), "[" * 2000, '{"a":1,"a":2}']),
    st.sampled_from(
        sorted({choice for one in WORKSHEETS.values() for field in one.fields for choice in field.choices})
    ),
)


@pytest.mark.parametrize("worksheet", WORKSHEETS)
@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_whatever_is_entered_a_sheet_comes_out_or_faults_that_name_fields(worksheet: str, data: st.DataObject) -> None:
    names = [field.name for field in WORKSHEETS[worksheet].fields]
    entered = data.draw(st.dictionaries(st.sampled_from([*names, "no_such_field"]), TEXTS, max_size=8))
    outcome = attempt(worksheet, entered)
    if isinstance(outcome, Sheet):
        assert outcome.worksheet == worksheet
        assert all(figure.label and figure.shown for figure in outcome.figures.values())
        assert all(len(row) == len(table.columns) for table in outcome.tables for row in table.rows)
    else:
        assert outcome
        assert {fault.field for fault in outcome} <= {*names, "no_such_field", ""}
        assert all(fault.sentence.endswith(".") and fault.remedy.endswith(".") for fault in outcome)
