"""Whatever text is handed over as a config.json is read or refused, and nothing else happens."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.domain.worksheets.fields import EntriesRefused
from gateway.domain.worksheets.memory import sheet as memory_sheet
from gateway.domain.worksheets.models import hf_config
from gateway.domain.worksheets.models.architecture import Architecture
from gateway.domain.worksheets.models.hf_config import FAMILIES, read_config
from gateway.domain.worksheets.models.hf_fields import ConfigRefused

CONFIGS = Path(__file__).parent / "configs"
READ: dict[str, dict[str, Any]] = {path.stem: json.loads(path.read_text()) for path in CONFIGS.glob("*.json")}
LLAMA = READ["llama-3.1-8b"]
REFUSED = [
    ("llama-4-scout", "llama4_text", "chunked attention"),
    ("deepseek-v3.2", "deepseek_v32", "sparse attention"),
    ("deepseek-v4", "deepseek_v4", "compressed attention"),
    ("gemma-4-26b-a4b", "gemma4_text", "layers with different heads"),
    ("qwen3.5-27b", "qwen3_5_text", "linear attention"),
    ("nemotron-3-nano", "nemotron_h", "Mamba layers"),
    ("mimo-v2-flash", "mimo_v2_flash", "layers with different heads"),
    ("kimi-k3", "kimi_linear", "linear attention"),
    ("minimax-m3", "minimax_m3", "sparse attention"),
    ("kimi-k2.5", "kimi_k25", "several parts"),
]
"""File, model type and what is not modelled of it."""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        '"llama"',
        '{"a": NaN}',
        '{"a": Infinity}',
        "{'a': 1}",
        "\ufeff{}",
        "// {}\n{}",
        "{} // {}",
        "\ud800",
        "[" * 100_000,
    ],
)
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(ConfigRefused) as refused:
        read_config(text)
    assert refused.value.key == ""


@pytest.mark.parametrize(
    ("end", "key"),
    [
        (', "num_hidden_layers": 16}', "num_hidden_layers"),
        (', "num_hidden_layers": 32}', "num_hidden_layers"),
        (', "num_hidden_l\\u0061yers": 16}', "num_hidden_layers"),
        (', "rope_theta": {"a": 1, "a": 1}}', "a"),
        (', "<b>": 1, "<b>": 1}', "?"),
    ],
)
def test_a_key_that_stands_twice_is_refused(end: str, key: str) -> None:
    with pytest.raises(ConfigRefused) as refused:
        read_config(json.dumps(LLAMA)[:-1] + end)
    assert (refused.value.key, refused.value.sentence) == (key, "It stands there more than once.")


@pytest.mark.parametrize("depth", [*range(850, 1000, 10), 10_000])
def test_however_deep_a_file_is_it_is_read_or_refused(depth: int) -> None:
    for opened, inner, closed in (("[", "", "]"), ('{"a":', "1", "}")):
        deep = opened * depth + inner + closed * depth
        is_read_or_refused(f'{json.dumps(LLAMA)[:-1]}, "license": {deep}}}')


@pytest.mark.parametrize("number", ["9" * 4000, "9" * 5000, "-" + "9" * 4300, "0." + "9" * 5000, "1e999"])
def test_however_long_a_number_is_it_is_read_or_refused(number: str) -> None:
    is_read_or_refused(json.dumps(LLAMA)[:-1] + f', "license": {number}}}')


def test_a_file_beyond_the_bound_is_refused_before_it_is_read() -> None:
    padded = json.dumps(LLAMA) + " " * hf_config.MOST_BYTES
    with pytest.raises(ConfigRefused, match="larger than"):
        read_config(padded)


def test_the_worksheet_names_the_field_and_the_key() -> None:
    with pytest.raises(EntriesRefused) as refused:
        memory_sheet.sheet({"config": json.dumps(LLAMA | {"hidden_size": -1})})
    (fault,) = refused.value.faults
    assert fault.field == "config"
    assert fault.sentence.startswith("hidden_size: ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ODD = st.sampled_from([None, 0, -1, 1, 2, 3, 10**30, 1.5, 1e308, True, False, "", "x", [], [1], ["x"], {}, {"a": 1}])
KEYS = sorted({key for keys in READ.values() for key in keys})


def is_read_or_refused(text: str) -> None:
    try:
        found: Architecture | ConfigRefused = read_config(text)
    except ConfigRefused as refused:
        found = refused
    if isinstance(found, ConfigRefused):
        assert found.sentence
        assert found.remedy
    else:
        assert found.parameters > 0
        assert found.attention


@given(st.text(max_size=50) | JSON.map(json.dumps))
@example('{"model_type": "llama"}')
def test_any_text_is_read_or_refused(text: str) -> None:
    is_read_or_refused(text)


@given(st.sampled_from(sorted(FAMILIES)), st.dictionaries(st.sampled_from(KEYS), ODD | JSON, max_size=12))
def test_any_document_of_a_known_family_is_read_or_refused(family: str, keys: dict[str, Any]) -> None:
    is_read_or_refused(json.dumps({"model_type": family} | keys))


@given(st.data(), st.sampled_from(sorted(READ)))
def test_any_config_with_keys_dropped_or_changed_is_read_or_refused(data: st.DataObject, name: str) -> None:
    keys = dict(READ[name])
    for key in data.draw(st.lists(st.sampled_from(sorted(keys)), max_size=2, unique=True)):
        del keys[key]
    keys |= data.draw(st.dictionaries(st.sampled_from(KEYS), ODD | JSON, max_size=2))
    is_read_or_refused(json.dumps(keys))


@given(st.sampled_from(sorted(READ)), st.randoms(use_true_random=False))
def test_the_order_of_the_keys_says_nothing(name: str, rng: Any) -> None:
    keys = list(READ[name].items())
    rng.shuffle(keys)
    assert read_config(json.dumps(dict(keys))) == read_config(json.dumps(READ[name]))


@pytest.mark.parametrize(("name", "model_type", "feature"), REFUSED)
def test_layouts_that_are_not_modelled_are_refused_by_name(name: str, model_type: str, feature: str) -> None:
    with pytest.raises(ConfigRefused) as refused:
        read_config((CONFIGS / "refused" / f"{name}.json").read_text())
    assert model_type in refused.value.sentence
    assert feature in refused.value.sentence


def test_every_refused_config_is_tested() -> None:
    assert {case[0] for case in REFUSED} == {path.stem for path in (CONFIGS / "refused").glob("*.json")}
