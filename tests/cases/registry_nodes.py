"""The example registry without one of its nodes: without a file, a key, or an item of a list."""

import functools
import json
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

from adapters.registry import Loaded, load
from adapters.registry.document import Document, Path, pointer
from adapters.registry.yaml_text import read
from gateway.domain.fault import Fault
from gateway.testkit.registry_copy import EXAMPLE, copy_registry

AT_US = 1_796_000_000_000_000
"""2026-11-30: nothing in the example has run out."""


def registries_without_one_node() -> Iterator[tuple[str, Loaded | tuple[Fault, ...]]]:
    """What was removed, such as ``tenants/acme.yaml/limits/concurrency``, and what ``load`` then says, strictly."""
    with tempfile.TemporaryDirectory() as folder:
        directory = copy_registry(pathlib.Path(folder), approve=False)
        for path in sorted(directory.rglob("*.yaml")):
            name, text = str(path.relative_to(directory)), path.read_text()
            path.unlink()
            yield name, load(directory, at_us=AT_US, strict=True)
            document = read(EXAMPLE / name)
            assert isinstance(document, Document), document
            for place in nodes(document.value):
                # JSON is YAML, and only the contents count here.
                path.write_text(json.dumps(without(document.value, place)) + "\n")
                yield name + pointer(place), load(directory, at_us=AT_US, strict=True)
            path.write_text(text)


@functools.cache
def all_without_one_node() -> tuple[tuple[str, Loaded | tuple[Fault, ...]], ...]:
    """The same, kept for the next test: to load so many registries takes half a minute."""
    return tuple(registries_without_one_node())


def nodes(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place below the root of a document."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from nodes(value[key], (*path, key))


def without(value: Any, path: Path) -> Any:
    """The document without one of its places."""
    first, *rest = path
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[first] = without(value[first], tuple(rest))
    else:
        del copy[first]
    return copy
