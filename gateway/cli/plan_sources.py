"""Where entries of the cost worksheet come from beside the command line: the ledger, and the prices of a profile."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from gateway.cli import remote
from gateway.domain.errors import StartRefused
from gateway.domain.principal import SYSTEM_TENANT
from gateway.domain.worksheets import decimals
from gateway.settings import Settings

COUNTED_AS: Mapping[str, str] = {
    "completed": "completed",
    "content_filter": "content_filter",
    "charged": "charged",
    "unknown": "unknown",
    # An unknown that an operator wrote off stays one: nobody learnt whether it was paid for.
    "closed": "unknown",
}
"""Outcomes of attempts that count as paid for, and the field that counts them. The others cost nothing, or go on."""
_MEASUREMENT = "measured"
_OUTCOMES = "/admin/ledger/outcomes"
_NONE = {"attempts": 0, "input": 0, "output": 0}


def from_ledger(settings: Settings, since: str, profile: str | None = None) -> dict[str, str]:
    """What attempts at a profile came to since then, and their average tokens, as entries that were measured.

    Canaries are no requests of anybody: one of them has one token, and would make requests look cheaper.

    :param since: an instant of RFC 3339 in UTC, such as 2026-11-01T00:00:00Z.
    :param profile: may be left out where all attempts were of one.
    :raises StartRefused: if the ledger cannot be read or counts nothing, or if they are of several profiles.
    """
    asked = {"since": since, "profile": profile}
    canaries = remote.call(settings, "GET", _OUTCOMES, query=asked | {"tenant": SYSTEM_TENANT})["data"]
    found = remote.call(settings, "GET", _OUTCOMES, query=asked)
    rows = [row for row in _without(found["data"], canaries) if row["outcome"] in COUNTED_AS]
    of = sorted({row["profile"] for row in rows})
    if not rows:
        raise StartRefused(
            "The ledger counts no attempt since then that was paid for. Name an earlier time, or another profile."
        )
    if len(of) > 1:
        raise StartRefused(f"Attempts since then are of several profiles. Name one of them: {', '.join(of)}.")
    counts = dict.fromkeys(COUNTED_AS.values(), 0)
    for row in rows:
        counts[COUNTED_AS[row["outcome"]]] += row["attempts"]
    entries = {
        "input_tokens": _mean(rows, "input"),
        "output_tokens": _mean(rows, "output"),
        **{name: str(count) for name, count in counts.items()},
    }
    return {
        "currency": found["currency"],
        **entries,
        _MEASUREMENT: ",".join(entries),
        "measured_engine": "the gateway's ledger",
        "measured_device": f"profile {of[0]}",
        "measured_workload": f"attempts since {since}",
        "measured_date": datetime.now(UTC).date().isoformat(),
        "measured_by": "gateway ledger outcomes",
    }


def from_profile(settings: Settings, profile: str) -> dict[str, str]:
    """The prices of a hosted profile of the registry, with their unit and currency.

    :raises StartRefused: if the registry has faults or no such hosted profile, or if its prices have several tiers.
    """
    # Heavy: the whole registry with its checks.
    from adapters.clock import SystemClock
    from gateway.bootstrap.registry import load_registry

    snapshot = load_registry(settings, SystemClock())
    found = snapshot.profiles.get(profile)
    if found is None or found.kind != "hosted":
        hosted = sorted(id_ for id_, one in snapshot.profiles.items() if one.kind == "hosted")
        raise StartRefused(
            f"The registry has no hosted profile of this name. Its hosted ones are {', '.join(hosted)}."
            if hosted
            else "The registry has no hosted profile. Enter the prices."
        )
    if len(found.prices.tiers) > 1:
        raise StartRefused("The prices of this profile have several tiers. Enter those of the tier that you mean.")
    (tier,) = found.prices.tiers
    return {
        "currency": snapshot.currency,
        "input_price": tier.input_per_million,
        "output_price": tier.output_per_million,
        "per_tokens": "1000000",
    }


def merged(entered: Mapping[str, str], *sources: Mapping[str, str]) -> dict[str, str]:
    """Entries of sources, and over them what was entered, of which nothing is said to be measured by a source."""
    found: dict[str, str] = {}
    for source in sources:
        found |= source
    if any(name.startswith(_MEASUREMENT) for name in entered):
        found = {name: text for name, text in found.items() if not name.startswith(_MEASUREMENT)}
    elif _MEASUREMENT in found:
        kept = [name for name in found[_MEASUREMENT].split(",") if name not in entered]
        found[_MEASUREMENT] = ",".join(kept)
        if not kept:
            found = {name: text for name, text in found.items() if not name.startswith(_MEASUREMENT)}
    return found | dict(entered)


def _without(rows: Iterable[Mapping[str, Any]], canaries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows less what canaries are of them, asked for before; a row of nothing else is none."""
    own = {(row["profile"], row["outcome"]): row for row in canaries}
    left = []
    for row in rows:
        less = own.get((row["profile"], row["outcome"]), _NONE)
        left.append(dict(row) | {name: row[name] - less[name] for name in _NONE})
    return [row for row in left if row["attempts"] > 0]


def _mean(rows: Iterable[Mapping[str, Any]], amount: str) -> str:
    """Tokens of one attempt."""
    listed = list(rows)
    return decimals.text(Fraction(sum(row[amount] for row in listed), sum(row["attempts"] for row in listed)))
