"""Operations, timelines and holds as a person reads them in a terminal."""

import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Console
from rich.table import Table

Row = Mapping[str, Any]
WIDTH_WITHOUT_TERMINAL = 200


def operations(rows: Iterable[Row]) -> None:
    """A line for each operation."""
    table = _table("operation", "state", "owner", "model", "profile", "since")
    for row in rows:
        since = row["stage"]["since_us"] if row["stage"] else row["attempt"]["finished_us"]
        table.add_row(
            row["id"],
            row["state"],
            f"{row['tenant']}/{row['principal']}",
            row["model"],
            row["attempt"]["profile"],
            instant(since or row["created_us"]),
        )
    _print(table)


def operation(row: Row) -> None:
    """One operation."""
    attempt = row["attempt"]
    table = Table(box=None, show_header=False, pad_edge=False)
    used = attempt["used"]
    lines = {
        "operation": row["id"],
        "state": row["state"] + (f" ({row['detail']})" if row["detail"] else ""),
        "stage": f"{row['stage']['name']} since {instant(row['stage']['since_us'])}" if row["stage"] else None,
        "model": f"{row['model']}, for {row['purpose']}",
        "bundle": row["bundle"],
        "profile": attempt["profile"],
        "attempt": f"{attempt['n']}, {row['attempts_dispatched']} of {row['max_attempts']} dispatched",
        "dispatch": attempt["dispatch_id"],
        "reserved": _tokens(attempt["reserved"]),
        "used": f"{_tokens(used)} ({used['basis']})" if used else None,
        "created": instant(row["created_us"]),
        "dispatched": instant(attempt["dispatching_us"]) if attempt["dispatching_us"] else None,
        "ended": instant(attempt["finished_us"]) if attempt["finished_us"] else None,
    }
    for name, text in lines.items():
        if text is not None:
            table.add_row(name, text)
    _print(table)


def timeline(entries: Iterable[Row]) -> None:
    """All that happened, in order."""
    table = _table("time", "attempt", "event", "facts")
    for entry in entries:
        facts = ", ".join(f"{name}={_fact(value)}" for name, value in entry["facts"].items() if value is not None)
        table.add_row(instant(entry["at_us"]), str(entry["attempt"] or ""), entry["event"], facts)
    _print(table)


def stranded(holds: Iterable[Row]) -> None:
    """A line for each hold."""
    table = _table("operation", "scope", "tokens", "slot", "since")
    for hold in holds:
        scope = f"{hold['scope']['kind']} {hold['scope']['id']}"
        slot = "held" if hold["slot_held"] else "free"
        table.add_row(hold["operation_id"], scope, str(hold["tokens"]), slot, instant(hold["since_us"]))
    _print(table)


def instant(at_us: int) -> str:
    """Microseconds UTC as a time in UTC, to the millisecond."""
    return datetime.fromtimestamp(at_us / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_fact(inner)}" for name, inner in value.items()) + "}"
    return str(value)


def _tokens(amount: Row) -> str:
    return f"{amount['input']} in, {amount['output']} out"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        # An id that is folded cannot be copied.
        table.add_column(column, overflow="fold", no_wrap=column in ("operation", "state", "since", "time", "event"))
    return table


def _print(table: Table) -> None:
    if not table.row_count:
        click.echo("None.")
        return
    terminal = sys.stdout.isatty()
    console = Console(highlight=False, markup=False, width=None if terminal else WIDTH_WITHOUT_TERMINAL)
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        click.echo(line.rstrip())
