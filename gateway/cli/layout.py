"""Tables that lose no id: in a narrow terminal whole columns are left out, and nothing but prose is wrapped."""

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from gateway.cli.terminal import visible

GAP = 2
"""Between two columns."""
LEAST_PROSE = 10
"""What is left of a column of prose before it is left out."""


def terminal_width() -> int | None:
    """Columns of the terminal; None where standard output is none, and nothing has to fit."""
    return Console().width if sys.stdout.isatty() else None


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]], *, prose: Collection[str] = ()) -> None:
    """A line for each row under bold heads.

    :param columns: in the order of their worth: those that do not fit beside earlier ones are left out.
    :param prose: of them, those whose text may be wrapped. Ids, times and digests could then not be copied.
    """
    cells = [[visible(cell) for cell in row] for row in rows]
    if not cells:
        click.echo("None.")
        return
    natural = [max(cell_len(cell) for cell in column) for column in zip(columns, *cells, strict=True)]
    least = [
        min(width, LEAST_PROSE) if column in prose else width for column, width in zip(columns, natural, strict=True)
    ]
    room = terminal_width()
    kept = fitting(least, room)
    needed = sum((natural if room is None else least)[at] for at in kept) + GAP * (len(kept) - 1)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for at in kept:
        wraps = columns[at] in prose
        table.add_column(columns[at], overflow="fold", no_wrap=not wraps, min_width=least[at])
    for row in cells:
        table.add_row(*(row[at] for at in kept))
    console = Console(highlight=False, markup=False, emoji=False, width=max(needed, room or 0))
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        click.echo(line.rstrip())
    if left_out := [column for at, column in enumerate(columns) if at not in kept]:
        click.echo(f"No room for: {', '.join(left_out)}. --json shows all.", err=True)


def fitting(widths: Sequence[int], room: int | None) -> list[int]:
    """Which columns stand side by side: the first, and of the others those for which there is room."""
    kept: list[int] = []
    taken = -GAP
    for at, width in enumerate(widths):
        if not kept or room is None or taken + GAP + width <= room:
            kept.append(at)
            taken += GAP + width
    return kept


def facts(lines: Mapping[str, str | None]) -> None:
    """A name and a text on each line; what is None is not told."""
    width = max(len(name) for name in lines)
    for name, text in lines.items():
        if text is not None:
            click.echo(f"{name:<{width}}  {visible(text)}")


def beneath(parts: Iterable[str]) -> None:
    """Parts that belong to the line above: as many on a line as fit, none of them broken."""
    indent, room = "    ", terminal_width()
    line = ""
    for part in map(visible, parts):
        longer = f"{line}, {part}" if line else part
        if line and room is not None and cell_len(indent + longer) >= room:
            click.echo(f"{indent}{line},")
            longer = part
        line = longer
    if line:
        click.echo(f"{indent}{line}")
