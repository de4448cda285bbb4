"""What may be entered: numbers are read exactly or refused, all faults are told at once, and none repeats a text."""

from collections.abc import Mapping
from decimal import Decimal

import pytest

from gateway.domain.worksheets.catalogue import WORKSHEETS
from gateway.domain.worksheets.fields import MOST, Entries, EntriesRefused, EntryFault, Field
from gateway.domain.worksheets.measured import FIELDS as MEASURED

FIELDS = (
    Field(name="tokens", label="Tokens", kind="count", unit="tokens", default="4096"),
    Field(name="size", label="Size", kind="decimal", unit="GiB"),
    Field(name="form", label="Form", kind="choice", choices=("fp16", "fp8"), default="fp16"),
    Field(name="note", label="Note", kind="text"),
)


def refused(entries: Entries) -> tuple[EntryFault, ...]:
    with pytest.raises(EntriesRefused) as raised:
        entries.close()
    return raised.value.faults


def faults_of(worksheet: str, entered: Mapping[str, str]) -> dict[str, str]:
    with pytest.raises(EntriesRefused) as raised:
        WORKSHEETS[worksheet].compute(entered)
    return {fault.field: f"{fault.sentence} {fault.remedy}" for fault in raised.value.faults}


@pytest.mark.parametrize(
    ("text", "number"),
    [("24", "24"), ("0.1", "0.1"), (".5", "0.5"), ("8e9", "8000000000"), ("1.5E3", "1500"), (" 7 ", "7"), ("0", "0")],
)
def test_a_number_is_read_exactly_as_it_is_written(text: str, number: str) -> None:
    entries = Entries(FIELDS, {"size": text})
    assert entries.decimal("size") == Decimal(number)
    entries.close()


@pytest.mark.parametrize(
    "text",
    [
        "-1",
        "+1",
        "NaN",
        "nan",
        "Infinity",
        "1e999",
        "0x10",
        "1,000",
        "1_000",
        "1.",
        "e3",
        "01",
        "٣",
        "1 0",
        "9" * 41,
        "²",
    ],
)
def test_what_is_no_plain_number_is_refused(text: str) -> None:
    entries = Entries(FIELDS, {"size": text})
    entries.decimal("size")
    (fault,) = refused(entries)
    assert (fault.field, fault.sentence) == ("size", "This is not a number.")
    assert text not in str(fault)


def test_a_count_is_whole_and_has_bounds_that_belong_to_it() -> None:
    for text, least, most in (("8e9", 1, MOST), ("1", 1, 1)):
        entries = Entries(FIELDS, {"tokens": text})
        assert entries.count("tokens", least=least, most=most) == int(Decimal(text))
        entries.close()
    for text, sentence in (("1.5", "not a whole number"), ("0", "below 1"), ("1025", "above 1024")):
        entries = Entries(FIELDS, {"tokens": text})
        entries.count("tokens", most=1024)
        assert sentence in refused(entries)[0].sentence


def test_the_default_stands_for_what_was_not_entered_and_an_empty_text_enters_nothing() -> None:
    entries = Entries(FIELDS, {"tokens": "", "form": "  "})
    assert (entries.count("tokens"), entries.choice("form"), entries.has("tokens")) == (4096, "fp16", False)
    entries.close()


def test_a_missing_number_says_its_unit() -> None:
    entries = Entries(FIELDS, {})
    entries.decimal("size")
    assert str(refused(entries)[0]) == "size: It is missing. Enter a number of GiB."


def test_a_word_that_is_no_choice_is_told_the_choices() -> None:
    entries = Entries(FIELDS, {"form": "fp4"})
    entries.choice("form")
    assert str(refused(entries)[0]) == "form: This is none of its values. They are fp16, fp8."


def test_all_faults_are_told_at_once_and_the_first_of_each_field() -> None:
    entries = Entries(FIELDS, {"tokens": "-1", "size": "x", "colour": "red"})
    entries.count("tokens")
    entries.decimal("size")
    entries.refuse("size", "Another.", "None.")
    assert [(fault.field, fault.sentence) for fault in refused(entries)] == [
        ("colour", "There is no such field."),
        ("tokens", "This is not a number."),
        ("size", "This is not a number."),
    ]


def test_a_field_that_does_not_exist_is_refused_with_those_that_do() -> None:
    found = faults_of("memory", {"vram": "24", "x" * 1000: "1"})
    assert "vram_gib" in found["vram"]
    assert "x" * 64 in found
    assert max(map(len, found)) == 64


@pytest.mark.parametrize("worksheet", WORKSHEETS)
def test_no_fault_repeats_what_was_entered(worksheet: str) -> None:
    canary = "canary-7f3a\x1b[31m"
    found = faults_of(worksheet, {field.name: canary for field in WORKSHEETS[worksheet].fields})
    assert len(found) > 3
    assert "canary" not in repr(found)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("vram_gib", ("0", "-1", "NaN", "1e99", "twenty-four", "0.0001", "1000001")),
        ("reserve_gib", ("-1", "NaN", "1e99")),
        ("cached_tokens", ("0", "-1", "1.5", "1e10", "NaN")),
        ("sequences", ("0", "-1", "0.5", "1e7")),
        ("weight_bits", ("8", "0", "-4", "sixteen")),
        ("weight_format", ("fp99", "FP16")),
        ("kv_format", ("fp99",)),
        ("tensor_parallel", ("0", "1025", "3")),
        ("pipeline_parallel", ("0", "33")),
        ("layers", ("0", "1001")),
        ("accounting", ("sglang",)),
        ("config", ("{", "[]", "null", '{"model_type": "llama"}', '{"a": 1, "a": 2}', "\x00")),
    ],
)
def test_an_entry_that_cannot_be_is_refused_by_its_name(name: str, texts: tuple[str, ...]) -> None:
    for text in texts:
        assert list(faults_of("memory", {name: text})) == [name], text


def test_a_config_and_the_numbers_that_it_says_are_not_entered_together() -> None:
    found = faults_of("memory", {"config": "{}", "layers": "32", "parameters": "8e9"})
    assert {"layers", "parameters"} <= found.keys()
    assert "config.json says this already" in found["layers"]


def test_a_weight_format_and_raw_bits_are_not_entered_together() -> None:
    assert list(faults_of("memory", {"weight_format": "fp8", "weight_bits": "16"})) == ["weight_bits"]


WHOLE = {
    "vram_gib": "24",
    "measured": "vram_gib",
    "measured_engine": "vLLM 0.32.0",
    "measured_device": "one H200",
    "measured_workload": "eight chats",
    "measured_date": "2026-11-30",
    "measured_by": "platform",
}


def test_a_measurement_is_whole_or_none() -> None:
    assert WORKSHEETS["memory"].compute(WHOLE).figures["device"].basis == "measured"
    for name in ("measured_engine", "measured_device", "measured_workload", "measured_date", "measured_by"):
        assert list(faults_of("memory", {key: text for key, text in WHOLE.items() if key != name})) == [name]
    assert list(faults_of("memory", {"measured_by": "platform"})) == ["measured"]


@pytest.mark.parametrize("names", ["no_such", "config", "measured_by", "sequences", "vram_gib, sequences"])
def test_only_numbers_that_were_entered_can_have_been_measured(names: str) -> None:
    assert list(faults_of("memory", WHOLE | {"measured": names})) == ["measured"]


@pytest.mark.parametrize("day", ["2026-02-30", "2026-13-01", "30.11.2026", "2026-11-30T00:00", "today", "0000-01-01"])
def test_a_day_that_is_none_is_refused(day: str) -> None:
    assert list(faults_of("memory", WHOLE | {"measured_date": day})) == ["measured_date"]


@pytest.mark.parametrize("text", ["x" * 201, "a\nb", "\x1b[31mred", "\u202eback"])
def test_a_text_of_a_measurement_is_one_short_line_that_is_seen(text: str) -> None:
    assert list(faults_of("memory", WHOLE | {"measured_by": text})) == ["measured_by"]


@pytest.mark.parametrize("worksheet", WORKSHEETS)
def test_the_fields_of_a_worksheet_are_told_apart_and_explained(worksheet: str) -> None:
    fields = WORKSHEETS[worksheet].fields
    assert len({field.name for field in fields}) == len({field.label for field in fields}) == len(fields)
    assert fields[-len(MEASURED) :] == MEASURED
    assert all(field.choices for field in fields if field.kind == "choice")
    assert all(field.default in ("", *field.choices) for field in fields if field.kind == "choice")
    assert all(field.help == "" or field.help.endswith(".") for field in fields)
