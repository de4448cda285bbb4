"""The tables of fields tell where several shapes may stand, and which of them has which field."""

from collections import defaultdict
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from gateway.testkit import api_page


class Circle(Struct, tag_field="kind", tag="circle"):
    size: int
    name: str


class Square(Struct, tag_field="kind", tag="square"):
    size: Annotated[float, Meta(ge=0)]
    inner: Circle | None = None


class Drawing(Struct):
    shapes: tuple[Circle | Square, ...]
    choice: Literal["none", "all"] | Circle
    code: Annotated[str, Meta(pattern=r"^[a-z]{1,9}$(?!\n)")]
    more: dict[str, Any] = {}
    any: Any = None


def rows() -> list[str]:
    return list(api_page.fields(Drawing, defaultdict(lambda: "It.")))[2:]


def test_the_field_that_tells_shapes_apart_comes_first_with_all_its_words() -> None:
    assert "| `shapes[].kind` | `circle`, `square` | yes | It. |" in rows()
    assert rows()[1].startswith("| `shapes[].kind` ")


def test_a_field_that_only_some_shapes_have_says_which() -> None:
    assert "| `shapes[].name` of `circle` | string | yes | It. |" in rows()


def test_a_field_that_differs_between_shapes_has_a_row_for_each() -> None:
    assert "| `shapes[].size` of `circle` | integer | yes | It. |" in rows()
    assert "| `shapes[].size` of `square` | number, at least 0 | yes | It. |" in rows()


def test_shapes_within_shapes_and_beside_words_are_told_too() -> None:
    assert "| `shapes[].inner.size` | integer | yes | It. |" in rows()
    assert "| `choice` | `all`, `none`; or object | yes | It. |" in rows()
    assert "| `choice.name` | string | yes | It. |" in rows()


def test_patterns_and_free_json_have_words() -> None:
    assert "| `code` | string, `^[a-z]{1,9}$` | yes | It. |" in rows()
    assert "| `more` | object | no | It. |" in rows()
    assert "| `any` | any JSON | no | It. |" in rows()


def test_a_field_without_a_meaning_stops_the_generator() -> None:
    with pytest.raises(KeyError, match="shapes"):
        list(api_page.fields(Drawing, {}))
