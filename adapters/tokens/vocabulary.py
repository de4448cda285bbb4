"""What the vocabularies of all libraries have in common."""

import functools
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from msgspec import Struct


class Vocabulary(Protocol):
    """Counts texts."""

    inline_bytes: int
    """Texts up to this many bytes of UTF-8 are counted on the event loop, within about two milliseconds."""

    def count(self, texts: Sequence[str], enough: int | None) -> int:
        """Tokens of texts that have UTF-8, one by one; see Counter.count for ``enough``. Safe in any thread."""


class Missing(Struct, frozen=True):
    """Why a vocabulary cannot be had, and what to do."""

    sentence: str
    remedy: str


@functools.cache
def package_folder(package: str) -> Path | None:
    """Where an installed package lies, found without importing it."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None
