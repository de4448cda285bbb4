"""Limits that bind: before each start the registry of the harness leaves room for only so much more, in every scope.

What is unknown stays held, so limits that were fixed would soon refuse everything. Those of the profile are, since
others would make it another profile: the slots that operators free suffice for it, and a minute passes.
"""

import re
import sqlite3
from pathlib import Path

from msgspec import Struct

from adapters.store.database import open_readable
from gateway.testkit.registry_copy import Edit, slots

PROFILE = "smollm2-135m"
QUOTA_SCOPE = "in-house"
TENANT = "acme"
_PROFILE_FILE = f"profiles/{PROFILE}.yaml"

PROFILE_REQUESTS_A_MINUTE = 3000
"""More would stop a start for the rest of its minute: the readiness canary is one, too."""
PROFILE_SLOTS = 100
MORE_SLOTS = 44
"""Of the tenant: two thirds of the clients."""
MORE_TOKENS = 10_000
"""Of the quota scope: some eighty reservations, of which most come back."""
MORE_COST = 240_000
"""Of the tenant, in micro-units: some hundred reservations."""

PROFILE_EDITS = (
    Edit(_PROFILE_FILE, 'input_per_million: "0"', 'input_per_million: "20"'),
    Edit(_PROFILE_FILE, 'output_per_million: "0"', 'output_per_million: "20"'),
    *slots(PROFILE_SLOTS),
    Edit(_PROFILE_FILE, "requests_per_minute: unlimited", f"requests_per_minute: {PROFILE_REQUESTS_A_MINUTE}"),
)
"""Edits of the profile, made once."""


class Limits(Struct, frozen=True):
    """What the registry of the last start allowed, for the scopes of the harness."""

    slots: int
    """Of the tenant, at once."""
    tokens: int
    """Of the quota scope, a month."""
    cost: int
    """Of the tenant, a month, in micro-units."""
    profile_slots: int = PROFILE_SLOTS
    requests: int = PROFILE_REQUESTS_A_MINUTE
    """Of the profile, a minute."""


def leave_room(registry: Path, data: Path) -> Limits:
    """Write limits a little above what is used now, and return them."""
    tokens, _, _ = _used(data, "quota_scope", QUOTA_SCOPE)
    _, cost, slots = _used(data, "tenant", TENANT)
    limits = Limits(slots=slots + MORE_SLOTS, tokens=tokens + MORE_TOKENS, cost=cost + MORE_COST)
    _write(registry / f"quota-scopes/{QUOTA_SCOPE}.yaml", "tokens_per_month", str(limits.tokens))
    _write(registry / f"tenants/{TENANT}.yaml", "concurrency", str(limits.slots))
    _write(registry / f"tenants/{TENANT}.yaml", "cost_per_month", f'"{limits.cost / 1_000_000:.6f}"')
    return limits


def _used(data: Path, kind: str, scope: str) -> tuple[int, int, int]:
    """Tokens and cost of the month, and slots; nothing before the first start."""
    if not any(data.glob("*.db")):
        return 0, 0, 0
    connection = open_readable(data)
    try:
        rows: list[tuple[int, int, int]] = connection.execute(
            "SELECT month_tokens, month_cost, slots_used FROM budget WHERE scope_kind = ? AND scope_id = ?",
            (kind, scope),
        ).fetchall()
    except sqlite3.OperationalError:  # no table yet
        return 0, 0, 0
    finally:
        connection.close()
    return rows[0] if rows else (0, 0, 0)


def _write(path: Path, name: str, value: str) -> None:
    text, times = re.subn(rf"^  {name}: .*$", f"  {name}: {value}", path.read_text(), flags=re.MULTILINE)
    assert times == 1, f"{path.name} has {name} {times} times"
    path.write_text(text)
