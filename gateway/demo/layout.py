"""How the story shows what a command printed: no wider than a page, and no word of it broken."""

import re
import textwrap
from collections.abc import Sequence

_DIGEST = re.compile(r"\b(sha256:[0-9a-f]{8})[0-9a-f]{56}\b")
_ID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}([0-9a-f]{4})\b")
_GAP = re.compile(r" {2,}")


def narrowed(lines: Sequence[str], width: int) -> list[str]:
    """Lines with shorter digests where one is too wide, and with shorter ids where a row of a table still is."""
    found = list(lines)
    if _widest(found) > width:
        found = _aligned([_DIGEST.sub(r"\1...", line) for line in found])
    if _widest([line for line in found if _is_row(line)]) > width:
        found = _aligned([_ID.sub(r"\1...\2", line) for line in found])
    return found


def _widest(lines: Sequence[str]) -> int:
    return max(map(len, lines), default=0)


def _is_row(line: str) -> bool:
    return _GAP.search(line.strip()) is not None


def _aligned(lines: list[str]) -> list[str]:
    """The columns of a table below one another again. What is no table stays as it is."""
    rows = [_GAP.split(line) for line in lines]
    if len({len(row) for row in rows}) != 1 or len(rows[0]) == 1 or not all(row[0] for row in rows):
        return lines
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def fitted(line: str, width: int) -> list[str]:
    """A sentence is wrapped between words; a row of a table is not, because its columns would be lost."""
    if _is_row(line):
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    wrapped = textwrap.wrap(
        line, width, subsequent_indent=f"{indent}  ", break_long_words=False, break_on_hyphens=False
    )
    return wrapped or [""]
