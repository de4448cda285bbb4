"""docs/registry.md explains every field of every object of the registry, and none that does not exist."""

import re

from adapters.registry.kinds import KINDS
from adapters.registry.schemas import schema_of
from gateway.testkit.registry_copy import EXAMPLE

PAGE = (EXAMPLE.parent / "docs" / "registry.md").read_text()
OBJECTS = {title: found for kind in KINDS for title, found in schema_of(kind)["$defs"].items()}


def _section(title: str) -> str:
    found = re.search(rf"^### {title}\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


def test_every_object_has_a_section_and_every_section_an_object() -> None:
    assert sorted(re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)) == sorted(OBJECTS)


def test_every_field_has_a_sentence_and_every_sentence_a_field() -> None:
    for title, found in OBJECTS.items():
        rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|$", _section(title), re.MULTILINE)
        assert [name for name, _ in rows] == list(found["properties"]), title
        assert all(text.endswith(".") for _, text in rows), title


def test_a_field_that_may_be_left_out_has_its_default_named() -> None:
    for title, found in OBJECTS.items():
        for name, text in re.findall(r"^\| `(\w+)` \| ([^|]+) \|$", _section(title), re.MULTILINE):
            assert ("default:" in text) is (name not in found.get("required", [])), (title, name)
