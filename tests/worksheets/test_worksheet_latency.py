"""The latency worksheet: the saved answer against the SLO, and the first token only beside it."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.worksheets.catalogue import WORKSHEETS
from gateway.domain.worksheets.fields import EntriesRefused
from gateway.domain.worksheets.latency.fields import FIELDS
from gateway.domain.worksheets.sheet import Measurement, Sheet, Verdict

FLOORED = {
    "bandwidth_gb_per_s": "3350",
    "peak_tflops": "989",
    "parameters": "8030261248",
    "embedding_parameters": "525336576",
    "input_tokens": "1024",
}
MEASURED = {
    "prefill_s": "0.2",
    "per_token_s": "0.03",
    "measured": "prefill_s, per-token-s",
    "measured_engine": "vllm 0.32.0",
    "measured_device": "one H100",
    "measured_workload": "8 sequences of 1,024 tokens",
    "measured_date": "2026-11-30",
    "measured_by": "Robin Reyes",
}


def latency(**entered: str) -> Sheet:
    return WORKSHEETS["latency"].compute(entered)


def verdict(sheet: Sheet) -> Verdict:
    assert sheet.verdict is not None
    return sheet.verdict


def values(sheet: Sheet) -> dict[str, Fraction]:
    return {name: Fraction(str(figure.value)) for name, figure in sheet.figures.items()}


def test_the_worked_example_takes_9_5_s_and_misses_5_s() -> None:
    sheet = latency()
    assert {name: figure.shown for name, figure in sheet.figures.items()} == {
        "before": "0.3 s",
        "prefill": "0.2 s",
        "first_token": "0.5 s",
        "decode": "9 s",
        "persist": "0 s",
        "saved_answer": "9.5 s",
        "slo": "5 s",
    }
    assert sheet.figures["saved_answer"].how == "0.3 + 0.2 + 9 + 0"
    assert verdict(sheet) == Verdict(
        "misses",
        "The saved answer takes 9.5 s, above the entered 5 s; that the first token comes after 0.5 s does not change "
        "it.",
    )


def test_the_first_token_stands_beside_it_without_and_with_its_decode_step() -> None:
    how = latency().figures["first_token"].how
    assert how == "0.3 + 0.2; with its own decode step 0.53 s"


def test_the_convention_of_the_decode_steps_is_stated() -> None:
    sheet = latency(output_tokens="1", per_token_s="0.5")
    assert sheet.figures["decode"].value == "0.5"
    assert "n and not n - 1" in sheet.figures["decode"].how
    assert any("n and not n - 1" in sentence for sentence in sheet.assumed)


def test_a_saved_answer_that_takes_exactly_the_slo_meets_it() -> None:
    assert verdict(latency(slo_s="9.5")).code == "meets"
    assert verdict(latency(slo_s="9.4999999999999999999999999999999999")).code == "misses"


def test_persisting_counts_although_every_token_is_there() -> None:
    assert verdict(latency(slo_s="9.5", persist_s="0.001")).code == "misses"


def test_active_sequences_are_the_rate_times_the_time_in_the_engine() -> None:
    assert "active_sequences" not in latency().figures
    sheet = latency(arrival_per_s="2", queue_s="50")
    active = sheet.figures["active_sequences"]
    assert (active.value, active.shown) == ("18.4", "18.4 sequences")
    assert active.how == "2 x (0.2 + 9), Little's law"
    assert any("queue is not active" in sentence for sentence in sheet.assumed)


def test_every_number_says_what_it_rests_on() -> None:
    sheet = latency(**MEASURED)
    assert sheet.figures["prefill"].basis == "measured"
    assert sheet.figures["prefill"].measured == Measurement(
        engine="vllm 0.32.0",
        device="one H100",
        workload="8 sequences of 1,024 tokens",
        date="2026-11-30",
        by="Robin Reyes",
    )
    assert (sheet.figures["slo"].basis, sheet.figures["persist"].basis) == ("assumed", "assumed")
    assert sheet.figures["saved_answer"].basis == "arithmetic"
    (table,) = sheet.tables
    rows = {row[0]: row for row in table.rows}
    assert rows["Time per output token"][1] == "0.03 s"
    assert rows["Time per output token"][2].startswith("measured with vllm 0.32.0 on one H100")
    assert rows["Queue"][1:] == ("0.1 s", "assumed, by default")
    assert latency(queue_s="0.1").tables[0].rows[0] == ("Queue", "0.1 s", "assumed")


def test_floors_are_there_only_for_the_hardware_that_was_entered() -> None:
    assert not {"per_token_floor", "prefill_floor"} & latency().figures.keys()
    assert any("neither bandwidth_gb_per_s nor peak_tflops" in sentence for sentence in latency().left_out)
    only = {name: text for name, text in FLOORED.items() if name != "peak_tflops"}
    assert {"per_token_floor", "prefill_floor"} & latency(**only).figures.keys() == {"per_token_floor"}
    only = {name: text for name, text in FLOORED.items() if name != "bandwidth_gb_per_s"}
    assert {"per_token_floor", "prefill_floor"} & latency(**only).figures.keys() == {"prefill_floor"}


def test_a_floor_is_called_a_floor_and_changes_no_time() -> None:
    sheet, without = latency(**FLOORED), latency()
    for name in ("per_token_floor", "prefill_floor"):
        assert sheet.figures[name].label.endswith("floor, not forecast")
    assert {name: sheet.figures[name] for name in without.figures} == without.figures
    assert sheet.verdict == without.verdict
    assert any(sentence.startswith("Floor, not forecast") for sentence in sheet.assumed)


def test_an_entered_time_below_its_floor_is_told_where_it_cannot_be_missed() -> None:
    sheet = latency(**FLOORED, per_token_s="0.0045", prefill_s="0.015")
    said = [
        "The entered time per output token, 0.0045 s, is below its floor of 4.53 ms: one of the entries is wrong.",
        "The entered prefill, 0.015 s, is below its floor of 15.5 ms: one of the entries is wrong.",
    ]
    assert verdict(sheet).code == "meets"
    for sentence in said:
        assert sentence in sheet.assumed
        assert sentence in verdict(sheet).sentence
    at_it = latency(**FLOORED, per_token_s="0.0046", prefill_s="0.016")
    assert not any("below its floor" in sentence for sentence in (*at_it.assumed, verdict(at_it).sentence))


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("queue_s", "-1"),
        ("verification_s", "NaN"),
        ("retrieval_s", "inf"),
        ("prefill_s", "0,2"),
        ("per_token_s", "1e12"),
        ("persist_s", "a while"),
        ("slo_s", "0x5"),
        ("output_tokens", "0"),
        ("output_tokens", "1.5"),
        ("output_tokens", "1e99"),
        ("arrival_per_s", "-0"),
        ("measured", "verdict"),
    ],
)
def test_bad_entries_are_refused_by_name_without_their_text(field: str, text: str) -> None:
    with pytest.raises(EntriesRefused) as refused:
        latency(**{field: text})
    assert refused.value.faults[0].field == field
    assert text not in str(refused.value).split()


def test_all_faults_are_found_at_once() -> None:
    with pytest.raises(EntriesRefused) as refused:
        latency(queue_s="x", slo_s="y", nothing="1", bandwidth_gb_per_s="z")
    assert {fault.field for fault in refused.value.faults} >= {"queue_s", "slo_s", "nothing", "bandwidth_gb_per_s"}


seconds = st.decimals(0, 10**6, places=6).map(lambda number: f"{number:f}")
PARTS = ("queue_s", "verification_s", "retrieval_s", "prefill_s", "per_token_s", "persist_s")


@given(st.fixed_dictionaries(dict.fromkeys(PARTS, seconds)), st.sampled_from(PARTS), seconds, st.integers(1, 10**6))
def test_more_of_any_part_never_makes_an_answer_earlier(
    entered: dict[str, str], part: str, more: str, tokens: int
) -> None:
    entered = entered | {"output_tokens": str(tokens)}
    longer = entered | {part: f"{Decimal(entered[part]) + Decimal(more):f}"}
    before, after = values(latency(**entered)), values(latency(**longer))
    assert before["saved_answer"] <= after["saved_answer"]
    assert before["first_token"] <= after["first_token"]
    assert before["first_token"] <= before["saved_answer"]
    one_more = values(latency(**entered | {"output_tokens": str(tokens + 1)}))
    assert one_more["saved_answer"] - before["saved_answer"] == Fraction(entered["per_token_s"])
    assert one_more["first_token"] == before["first_token"]


@given(seconds, seconds)
def test_the_verdict_flips_exactly_at_the_saved_answer(persist: str, slo: str) -> None:
    sheet = latency(persist_s=persist, slo_s=slo)
    meets = values(sheet)["saved_answer"] <= Fraction(slo)
    assert verdict(sheet).code == ("meets" if meets else "misses")


anything = st.one_of(st.text(max_size=50), st.integers().map(str), st.floats().map(str), st.sampled_from(["1", "8e9"]))


@given(st.dictionaries(st.sampled_from([field.name for field in FIELDS]), anything, max_size=8))
def test_whatever_is_entered_it_is_computed_or_refused(entered: dict[str, str]) -> None:
    try:
        sheet = latency(**entered)
    except EntriesRefused:
        return
    assert verdict(sheet).code in ("meets", "misses")


@given(
    st.dictionaries(
        st.sampled_from([field.name for field in FIELDS if field.kind in ("count", "decimal")]),
        st.one_of(st.integers(0, 10**18), st.decimals(0, 10**6, places=12)).map(lambda number: f"{number:f}"),
        max_size=12,
    )
)
def test_whatever_numbers_are_entered_they_are_computed_or_refused(entered: dict[str, str]) -> None:
    try:
        sheet = latency(**FLOORED | entered)
    except EntriesRefused:
        return
    assert all(Fraction(str(figure.value)) >= 0 for figure in sheet.figures.values())
