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


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "3", '"llama"', '{"a": NaN}', '{"a": Infinity}', "{'a': 1}", "\ud800", "[" * 100_000],
)
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(ConfigRefused) as refused:
        read_config(text)
    assert refused.value.key == ""


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
