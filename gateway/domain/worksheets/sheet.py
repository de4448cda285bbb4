"""What a worksheet answers, the same in every door: command line, page, JSON and registry check."""

from typing import Literal

from msgspec import Struct

Basis = Literal["assumed", "arithmetic", "measured"]
"""What a number rests on. ``assumed``: somebody entered it, or it is a default. ``arithmetic``: computed from others
of the sheet. ``measured``: entered together with where, when and by whom it was measured."""


class Measurement(Struct, frozen=True, kw_only=True):
    """Where a measured number comes from."""

    engine: str
    """Name and version."""
    device: str
    workload: str
    date: str
    """A day, such as 2026-11-30."""
    by: str


class Figure(Struct, frozen=True, kw_only=True):
    """One number with what it is, how it came about and what it rests on."""

    label: str
    value: int | str | None
    """Exact: an integer for bytes and counts, else a decimal string. None: undefined, and ``shown`` says why."""
    unit: str
    """Such as B, tokens, sequences, s, EUR; of ``value``, not of ``shown``."""
    shown: str
    """For people, with its unit, such as ``14.90 GiB``."""
    basis: Basis
    how: str = ""
    """The arithmetic in figures, such as ``8,000,000,000 x 16 bits / 8``; empty for what was entered."""
    measured: Measurement | None = None


class Table(Struct, frozen=True, kw_only=True):
    """Rows of shown texts, such as one for each rank."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Verdict(Struct, frozen=True):
    """What the comparison came to, and a sentence that claims no more than that."""

    code: Literal["within", "exceeds", "meets", "misses"]
    sentence: str


class Sheet(Struct, frozen=True, kw_only=True):
    """A computed worksheet."""

    worksheet: Literal["memory", "latency", "cost"]
    figures: dict[str, Figure]
    """By stable id, in the order in which they are read."""
    verdict: Verdict | None = None
    """None: there is nothing to compare with, or, of costs, nothing that a sum could decide."""
    tables: tuple[Table, ...] = ()
    assumed: tuple[str, ...] = ()
    """What the numbers take for granted, a sentence each."""
    left_out: tuple[str, ...] = ()
    """What is not in the numbers, a sentence each."""
