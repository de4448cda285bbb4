"""Whether budgets were kept and conserved: counters against holds, holds against limits, refusals against rows (G9)."""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator

from gateway.testkit.faults.evidence import Evidence
from gateway.testkit.faults.rooms import PROFILE, QUOTA_SCOPE, TENANT

SHORT = frozenset({"budget_exhausted", "concurrency_exhausted"})
"""Codes of those who were refused for want of budget."""
_AMOUNTS = ("held tokens", "held cost", "debt in tokens", "debt in cost", "slots", "stranded slots")


def counters_are_sums(connection: sqlite3.Connection) -> Iterator[str]:
    """Every counter is the sum of the holds, added up here and not by the database; no slot is lost or invented."""
    sums: dict[tuple[str, str], Counter[str]] = {}
    rows = connection.execute(
        "SELECT h.scope_kind, h.scope_id, h.spend, h.slot, h.tokens, h.cost, h.debt_tokens, h.debt_cost, a.state "
        "FROM hold AS h JOIN attempt AS a ON a.op_id = h.op_id AND a.n = h.n"
    )
    for kind, scope, spend, slot, tokens, cost, debt_tokens, debt_cost, state in rows:
        held, slots = spend == "held", slot == "held"
        own = (held * tokens, held * cost, debt_tokens, debt_cost, slots, slots and state == "unknown")
        sums.setdefault((kind, scope), Counter()).update(dict(zip(_AMOUNTS, own, strict=True)))
    counters = connection.execute(
        "SELECT scope_kind, scope_id, held_tokens, held_cost, debt_tokens, debt_cost, slots_used, slots_stranded "
        "FROM budget"
    )
    for kind, scope, *counted in counters:
        own_sums = sums.get((kind, scope), Counter())
        for name, amount in zip(_AMOUNTS, counted, strict=True):
            if amount != own_sums[name]:
                yield f"G9: {kind} {scope} counts {amount} {name}, and its holds are {own_sums[name]}"


def used_is_within_limits(connection: sqlite3.Connection, evidence: Evidence) -> Iterator[str]:
    """What was admitted is within every limit. Only debts, which are known and booked as such, may be above it."""
    limits = evidence.limits
    spent = "CASE spend WHEN 'held' THEN {0} ELSE settled_{0} END"
    admitted = (
        ("quota_scope", QUOTA_SCOPE, "tokens a month", "month_us", spent.format("tokens"), limits.tokens),
        ("tenant", TENANT, "cost a month", "month_us", spent.format("cost"), limits.cost),
        ("profile", PROFILE, "requests a minute", "minute_us", "spend <> 'released'", limits.requests),
    )
    for kind, scope, name, window, amount, limit in admitted:
        (most,) = connection.execute(
            # Names of this module only get into it.
            f"SELECT coalesce(max(total), 0) FROM (SELECT sum({amount}) AS total FROM hold "
            f"WHERE scope_kind = ? AND scope_id = ? GROUP BY {window})",
            (kind, scope),
        ).fetchone()
        if most > limit:
            yield f"G9: {kind} {scope} was allowed {most} {name} of {limit}"
    for kind, scope, limit in (("tenant", TENANT, limits.slots), ("profile", PROFILE, limits.profile_slots)):
        if (at_once := evidence.most_slots.get(kind, 0)) > limit:
            yield f"G9: {kind} {scope} had {at_once} calls at once of {limit}"


def refused_left_nothing(connection: sqlite3.Connection, evidence: Evidence) -> Iterator[str]:
    """Whoever was told of a short budget, and nothing else, has no operation: the key is not used up."""
    keys = {row[0] for row in connection.execute("SELECT key_hash FROM operation")}
    for operation in evidence.operations.values():
        refused = [call for call in operation.calls if call.code in SHORT]
        if any(call.operation_id for call in refused):
            yield f"G9: {operation.label} was refused for want of budget, and was given an operation"
        only_refused = len(refused) == len(operation.calls) > 0
        if only_refused and hashlib.sha256(operation.label.encode()).digest() in keys:
            yield f"G9: {operation.label} was refused for want of budget, and left an operation"
