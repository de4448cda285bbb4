"""Operations, keys, sources, decisions and holds as a person reads them in a terminal."""

import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.table import Table

from gateway.domain.money import decimal

Row = Mapping[str, Any]
WIDTH_WITHOUT_TERMINAL = 200
UNBROKEN = ("operation", "state", "since", "time", "event", "key", "created", "code", "rule")
"""Columns that keep their width."""


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


def keys(rows: Iterable[Row]) -> None:
    """A line for each key."""
    table = _table("key", "owner", "counts", "created", "label")
    for row in rows:
        owner = f"{row['tenant']}/{row['principal']}"
        counts = "yes" if row["active"] else "no"
        table.add_row(row["id"], owner, counts, instant(row["created_us"]), visible(row["label"]))
    _print(table)


def sources(rows: Iterable[Row]) -> None:
    """A line for each source."""
    table = _table("source", "revision", "tenant", "open to", "class", "released", "as of", "withdrawn")
    for row in rows:
        table.add_row(
            visible(row["id"]),
            visible(row["revision"]),
            row["tenant"],
            " ".join(row["groups"]) or "nobody",
            row["privacy_class"],
            row["released"] or "yes",
            row["as_of"],
            "for good" if row["withdrawn"] else "no",
        )
    _print(table)


def decision(row: Row) -> None:
    """One decision: what it was about, and a line for each check that did not pass."""
    table = Table(box=None, show_header=False, pad_edge=False)
    lines = {
        "decision": row["id"],
        "question": row["entrypoint"],
        "asked for": f"{row['tenant']}/{row['principal']}",
        "at": instant(row["at_us"]),
        "became": " ".join(word for word in (row["event"], row["code"]) if word),
        "operation": row["operation_id"],
        "revision": row["policy_revision"],
    }
    for name, text in lines.items():
        if text is not None:
            table.add_row(name, text)
    _print(table)
    click.echo()
    if not row["failed"]:
        click.echo("No check failed.")
        return
    failed = _table("about", "code", "rule")
    earlier = None
    for check in row["failed"]:
        about = _about(check)
        failed.add_row("" if about == earlier else about, check["code"], check["place"])
        earlier = about
    _print(failed)


def stranded(holds: Iterable[Row]) -> None:
    """A line for each hold."""
    table = _table("operation", "scope", "tokens", "slot", "since")
    for hold in holds:
        scope = f"{hold['scope']['kind']} {hold['scope']['id']}"
        slot = "held" if hold["slot_held"] else "free"
        table.add_row(hold["operation_id"], scope, str(hold["tokens"]), slot, instant(hold["since_us"]))
    _print(table)


def usage(scopes: Iterable[Row], currency: str) -> None:
    """A line for each scope: what is used, of how much."""
    table = _table(
        "scope",
        "requests/min",
        "tokens/min",
        "tokens/day",
        "tokens/month",
        f"{currency}/month",
        "slots",
        "stranded",
        "held",
        "debt",
    )
    for row in scopes:
        table.add_row(
            f"{row['scope']['kind']} {row['scope']['id']}",
            *(
                _of(row[name], str)
                for name in ("requests_per_minute", "tokens_per_minute", "tokens_per_day", "tokens_per_month")
            ),
            _of(row["cost_per_month"], decimal),
            _of(row["concurrency"], str),
            str(row["concurrency"]["stranded"]),
            *(f"{row[name]['tokens']} ({decimal(row[name]['cost'])})" for name in ("held", "debt")),
        )
    _print(table)


def instant(at_us: int) -> str:
    """Microseconds UTC as a time in UTC, to the millisecond."""
    return datetime.fromtimestamp(at_us / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"


def visible(text: str) -> str:
    """A text that somebody else chose, so that it changes nothing in a terminal: what cannot be seen is escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def as_json(document: Any) -> None:
    """What a route answered, for scripts."""
    click.echo(msgspec.json.format(msgspec.json.encode(document)).decode())


def _about(check: Row) -> str:
    """Of what a check failed: the request, one of its sources, or a profile."""
    level = check["check"].partition("/")[0]
    match level:
        case "source":
            return f"source {check['about']}"
        case "route":
            return f"profile {check['about']}"
        case _:
            return "request"


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_fact(inner)}" for name, inner in value.items()) + "}"
    return str(value)


def _of(counted: Row, amount: Callable[[int], str]) -> str:
    """What is used, and the limit where there is one."""
    limit = counted["limit"]
    return amount(counted["used"]) + (f" of {amount(limit)}" if isinstance(limit, int) else "")


def _tokens(amount: Row) -> str:
    return f"{amount['input']} in, {amount['output']} out"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        # An id that is folded cannot be copied.
        table.add_column(column, overflow="fold", no_wrap=column in UNBROKEN)
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
