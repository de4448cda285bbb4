"""Tables of Markdown, and figures as they stand in them: nothing where nothing was measured."""

from collections.abc import Iterable


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table with a row for each."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def ms(value: float | None) -> str:
    """Milliseconds."""
    return "" if value is None else f"{value:.1f}"


def us(value: float | None) -> str:
    """Microseconds."""
    return "" if value is None else f"{value:.0f}"
