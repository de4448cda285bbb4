"""A worksheet as a person reads it in a terminal."""

import textwrap
from collections.abc import Iterable

import click

from gateway.cli import layout
from gateway.cli.terminal import visible
from gateway.domain.worksheets.sheet import Figure, Measurement, Sheet, Table

LONGEST_CELL = 24
"""A column with a longer cell than this, of several words, is prose: it may be wrapped."""


def sheet(found: Sheet) -> None:
    """All of it: the figures first, what they come to, and what they rest on."""
    layout.grid(
        ("figure", "shown", "basis", "how"),
        [(figure.label, figure.shown, figure.basis, figure.how) for figure in found.figures.values()],
        prose=("figure", "shown", "how"),
    )
    if found.verdict is not None:
        click.echo()
        _lines(f"{found.verdict.code.upper()}. {found.verdict.sentence}")
    for table in found.tables:
        _table(table)
    _listed("Measured", _measurements(found.figures.values()))
    _listed("Assumed", found.assumed)
    _listed("Left out", found.left_out)


def _table(table: Table) -> None:
    click.echo(f"\n{visible(table.title)}:")
    cells = zip(table.columns, *table.rows, strict=True)
    prose = [column for column, *rest in cells if any(len(cell) > LONGEST_CELL and " " in cell for cell in rest)]
    layout.grid(table.columns, table.rows, prose=prose)


def _measurements(figures: Iterable[Figure]) -> list[str]:
    """A sentence for each measurement, with the figures that rest on it."""
    resting: dict[Measurement, list[str]] = {}
    for figure in figures:
        if figure.measured is not None:
            resting.setdefault(figure.measured, []).append(figure.label)
    return [
        f"{', '.join(labels)}: {one.engine} on {one.device}, {one.workload}; {one.date}, by {one.by}."
        for one, labels in resting.items()
    ]


def _listed(title: str, sentences: Iterable[str]) -> None:
    told = list(sentences)
    if told:
        click.echo(f"\n{title}:")
    for sentence in told:
        _lines(sentence, bullet="- ")


def _lines(sentence: str, *, bullet: str = "") -> None:
    """Wrapped where there is a terminal, else one line: whoever searches it finds the whole sentence."""
    room, text = layout.terminal_width(), visible(bullet + sentence)
    for line in [text] if room is None else textwrap.wrap(text, room, subsequent_indent=" " * len(bullet)):
        click.echo(line)
