"""Operations, keys, sources, decisions and holds as a person reads them in a terminal."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import click

from gateway.cli import layout
from gateway.cli.terminal import visible
from gateway.domain.money import decimal

Row = Mapping[str, Any]


def operations(rows: Iterable[Row]) -> None:
    """A line for each operation."""
    layout.grid(
        ("operation", "state", "owner", "profile", "model", "since"),
        [
            (
                row["id"],
                row["state"],
                f"{row['tenant']}/{row['principal']}",
                row["attempt"]["profile"],
                row["model"],
                instant(_since_us(row)),
            )
            for row in rows
        ],
    )


def operation(row: Row) -> None:
    """One operation."""
    attempt = row["attempt"]
    used = attempt["used"]
    layout.facts(
        {
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
    )


def timeline(entries: Iterable[Row]) -> None:
    """All that happened, in order: a line for each event, and its facts below, for they are long."""
    for entry in entries:
        attempt = f"  attempt {entry['attempt']}" if entry["attempt"] else ""
        click.echo(visible(f"{instant(entry['at_us'])}  {entry['event']}{attempt}"))
        layout.beneath(f"{name}={_fact(value)}" for name, value in entry["facts"].items() if value is not None)


def keys(rows: Iterable[Row]) -> None:
    """A line for each key."""
    layout.grid(
        ("key", "owner", "counts", "label", "created"),
        [
            (
                row["id"],
                f"{row['tenant']}/{row['principal']}",
                "yes" if row["active"] else "no",
                row["label"],
                instant(row["created_us"]),
            )
            for row in rows
        ],
        prose=("label",),
    )


def sources(rows: Iterable[Row]) -> None:
    """A line for each source."""
    layout.grid(
        ("source", "revision", "tenant", "open to", "class", "withdrawn", "released", "as of"),
        [
            (
                row["id"],
                row["revision"],
                row["tenant"],
                " ".join(row["groups"]) or "nobody",
                row["privacy_class"],
                "for good" if row["withdrawn"] else "no",
                row["released"] or "yes",
                row["as_of"],
            )
            for row in rows
        ],
        prose=("open to",),
    )


def decision(row: Row) -> None:
    """One decision: what it was about, and below each subject the checks that did not pass."""
    layout.facts(
        {
            "decision": row["id"],
            "question": row["entrypoint"],
            "asked for": f"{row['tenant']}/{row['principal']}",
            "at": instant(row["at_us"]),
            "became": " ".join(word for word in (row["event"], row["code"]) if word),
            "operation": row["operation_id"],
            "revision": row["policy_revision"],
        }
    )
    click.echo()
    if not row["failed"]:
        click.echo("No check failed.")
        return
    width = max(len(check["code"]) for check in row["failed"])
    for about, checks in groupby(row["failed"], _about):
        click.echo(visible(about))
        for check in checks:
            click.echo(visible(f"  {check['code']:<{width}}  {check['place']}"))


def stranded(holds: Iterable[Row]) -> None:
    """A line for each hold."""
    layout.grid(
        ("operation", "scope", "tokens", "slot", "since"),
        [
            (
                hold["operation_id"],
                f"{hold['scope']['kind']} {hold['scope']['id']}",
                str(hold["tokens"]),
                "held" if hold["slot_held"] else "free",
                instant(hold["since_us"]),
            )
            for hold in holds
        ],
    )


def usage(scopes: Iterable[Row], currency: str) -> None:
    """A line for each scope: what is used, of how much."""
    layout.grid(
        (
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
        ),
        [
            (
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
            for row in scopes
        ],
    )


def outcomes(rows: Iterable[Row], currency: str) -> None:
    """A line for each profile and outcome."""
    layout.grid(
        ("profile", "outcome", "attempts", "at reservation", "tokens in", "tokens out", currency),
        [
            (
                row["profile"],
                row["outcome"],
                *(str(row[name]) for name in ("attempts", "at_reservation", "input", "output")),
                decimal(row["cost"]),
            )
            for row in rows
        ],
    )


def instant(at_us: int) -> str:
    """Microseconds UTC as a time in UTC, to the millisecond."""
    return datetime.fromtimestamp(at_us / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"


def _since_us(row: Row) -> int:
    """Since when it is in this state; where nothing has happened yet, since it was made."""
    since_us: int = (row["stage"]["since_us"] if row["stage"] else row["attempt"]["finished_us"]) or row["created_us"]
    return since_us


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
