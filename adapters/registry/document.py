"""One file of the registry as it was written: its value, and the line of every place in it."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from adapters.registry.secret_shapes import has_known_shape, is_dense
from gateway.domain.fault import Fault

Path = tuple[str | int, ...]
"""Keys and indices from the root of a document."""

_PRINTABLE_KEY = re.compile(r"[A-Za-z0-9_.@-]{1,64}")


class Document(Struct, frozen=True):
    """The value is plain: dict, list, str, int, float, bool, None."""

    file: str
    value: Any
    lines: Mapping[Path, int]
    """From 1. A scalar has its own line, a collection the line of its key."""
    secret_lines: frozenset[int] = frozenset()
    """Lines, comments included, that hold what looks like a secret."""

    def line(self, path: Path) -> int:
        """Line of a place, or of the nearest one around it where the place itself is missing."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def fault(self, path: Path, sentence: str, remedy: str) -> Fault:
        """A fault at a place of this document."""
        return Fault(file=self.file, line=self.line(path), path=pointer(path), sentence=sentence, remedy=remedy)


def pointer(path: Path) -> str:
    """JSON Pointer. A key that nobody would choose for a key is left out: it could be a secret."""
    return "".join("/" + str(part if isinstance(part, int) else printable(part)) for part in path)


def printable(key: str) -> str:
    """The key, or a placeholder where it is not the kind of word that a key is."""
    shown = _PRINTABLE_KEY.fullmatch(key) and not has_known_shape(key) and not is_dense(key)
    return key if shown else "(a key that is not shown)"
