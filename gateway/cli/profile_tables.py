"""Profiles as a person reads them in a terminal."""

from collections.abc import Iterable

import click

from gateway.cli import layout
from gateway.cli.tables import Row, instant
from gateway.cli.terminal import visible


def profiles(rows: Iterable[Row]) -> None:
    """A line for each profile."""
    layout.grid(
        ("profile", "serves", "marks", "readiness", "since", "reason"),
        [
            (
                row["id"],
                "yes" if row["serves"] else "no",
                ", ".join(mark["state"] for mark in row["marks"]) or "none",
                _readiness(row),
                _since(row),
                "; ".join(f"{mark['reason']}{_numbers(mark)} ({mark['by']})" for mark in row["marks"]),
            )
            for row in rows
        ],
        prose=("reason",),
    )


def facts(row: Row) -> None:
    """What is known of one profile, and who says so."""
    click.echo(visible(f"{row['id']}:"))
    layout.beneath(f"{fact['name']}={_value(fact['value'])} ({fact['basis']})" for fact in row["facts"])


def _value(value: object) -> str:
    """As the registry spells it."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _numbers(why: Row) -> str:
    """What was promised and what the engine reports, where that is why."""
    short = why["shortfall"]
    return f": {short['promised']:,} promised, {short['reported']:,} reported" if short else ""


def _readiness(row: Row) -> str:
    readiness = row["readiness"]
    return f"{readiness['state']} ({readiness['reason']})" if readiness["reason"] else str(readiness["state"])


def _since(row: Row) -> str:
    """When the oldest mark was set, else from when on the readiness has been so."""
    since_us = min((mark["since_us"] for mark in row["marks"]), default=row["readiness"]["since_us"])
    return "" if since_us is None else instant(since_us)
