"""Where does an answer differ from the one that is written in a golden file?"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

import msgspec
import yaml
from msgspec import Struct

Path = tuple[str | int, ...]
_ABSENT = object()


class Difference(NamedTuple):
    """One place, with what stands there as text; "none" where nothing does."""

    path: Path
    written: str
    now: str


def differences(written: Struct, now: Struct) -> list[Difference]:
    """Every place that differs, in the order of the fields."""
    before, after = (msgspec.json.decode(msgspec.json.encode(answer)) for answer in (written, now))
    return [Difference(path, _text(one), _text(other)) for path, one, other in _differing(before, after, ("answer",))]


def line_of(text: str, path: Path) -> int:
    """From 1; the line of the nearest place around it where the place itself is missing. JSON is read as YAML.

    0 where it is none of the JSON that is YAML too.
    """
    try:
        node: Any = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return 0
    for step in path:
        if (inner := _child(node, step)) is None:
            break
        node = inner
    return int(node.start_mark.line) + 1


def _differing(before: Any, after: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    if before == after:
        return
    steps: Any = None
    if isinstance(before, dict) and isinstance(after, dict):
        steps = [(key, before.get(key, _ABSENT), after.get(key, _ABSENT)) for key in before | after]
    elif isinstance(before, list) and isinstance(after, list):
        pairs = zip_longest(before, after, fillvalue=_ABSENT)
        steps = [(index, one, other) for index, (one, other) in enumerate(pairs)]
    if steps is None:
        yield path, before, after
        return
    for step, one, other in steps:
        yield from _differing(one, other, (*path, step))


def _text(value: Any) -> str:
    if value is _ABSENT:
        return "none"
    return value if isinstance(value, str) and value else msgspec.json.encode(value).decode()


def _child(node: Any, step: str | int) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step]
    return None
