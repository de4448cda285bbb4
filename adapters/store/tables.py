"""The tables, as SQLAlchemy Core.

Amounts are BIGINT NOT NULL between 0 and 2^53, because SQLite turns an int64 overflow into REAL and NULL
passes a CHECK. Times are integer microseconds UTC. JSON and bodies are bytes, because PostgreSQL's jsonb
refuses ``\\u0000``. What a CHECK cannot say is a trigger (guards.py).
"""

from collections.abc import Iterable
from typing import Any, get_args

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from gateway.domain.operation import HOLDING, REACHED_T2, REPEATABLE, State, UsageBasis
from gateway.domain.profile_state import MarkKind
from gateway.domain.reconciliation import LONGEST_WORDS

MAX_AMOUNT = 2**53
"""Largest amount that every reader, JSON's included, holds exactly."""

SETTLED = frozenset(State) - HOLDING - REPEATABLE
"""Something was used, or an operator says so: the amounts are known."""

DISCLOSED = "disclosed"
REFUSED = "refused"
RELOADED = "reloaded"
EVIDENCE = "evidence"
SLOT_FREED = "slot_freed"
"""Kinds of audit rows about operations, beside the states of attempts."""

SWEPT_DETAIL = "no_task"
"""Detail of an attempt that a sweep has resolved. Any other comes from the task that owned it, or an operator."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_BIGINT = BigInteger().with_variant(Integer(), "sqlite")


def names(states: Iterable[State]) -> str:
    """States as a list of SQL literals, in a fixed order."""
    return ", ".join(f"'{state.value}'" for state in sorted(states))


def one_of(column: str, values: Iterable[str]) -> str:
    """Whether a column has one of some values. For three and more, SQLite's IN builds a table at every execution,
    which took half the time of an insert."""
    return "(" + " OR ".join(f"{column} = '{value}'" for value in sorted(values)) + ")"


def _text(name: str, **options: Any) -> Column[str]:
    return Column(name, Text, nullable=False, **options)


def _bytes(name: str) -> Column[bytes]:
    return Column(name, LargeBinary, nullable=False)


def _amount(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, _BIGINT, CheckConstraint(f"{name} BETWEEN 0 AND {MAX_AMOUNT}"), nullable=optional)


_time = _amount
"""Microseconds UTC; the same bounds as an amount."""


def _table(name: str, *items: Any, rowid: bool = True) -> Table:
    """A table. Without a rowid only where rows are small: large ones make the tree of their key deep."""
    return Table(name, metadata, *items, sqlite_strict=True, sqlite_with_rowid=rowid)


meta = _table(
    "meta",
    Column("id", Integer, CheckConstraint("id = 1", name="ck_meta_one_row"), primary_key=True),
    _text("store_id"),
    _amount("commit_seq"),
    _time("last_commit_us"),
)
"""``commit_seq`` is raised by every batch, so that a restored older database can be told from the latest."""

replica = _table(
    "replica",
    Column("incarnation", Integer, primary_key=True),
    _time("started_us"),
)
"""One row per start. An attempt of an earlier incarnation has no owner any more."""

key = _table(
    "key",
    _text("id", primary_key=True),
    Column(
        "credential_hash",
        LargeBinary,
        CheckConstraint("length(credential_hash) = 32", name="ck_key_sha256"),
        nullable=False,
    ),
    _text("tenant"),
    _text("principal"),
    Column("active", Integer, CheckConstraint("active IN (0, 1)", name="ck_key_active"), nullable=False),
    _text("label"),
    _time("created_us"),
    UniqueConstraint("credential_hash"),
)

source = _table(
    "source",
    _text("id", primary_key=True),
    Column("version", _BIGINT, CheckConstraint(f"version BETWEEN 1 AND {MAX_AMOUNT}"), nullable=False),
    _text("revision"),
    _text("tenant"),
    _bytes("groups"),
    _text("privacy_class"),
    _time("released_us"),
    _time("as_of_us"),
)
"""``version`` is raised by every change; a decision names the versions that it saw. ``groups`` are sorted."""

withdrawal = _table(
    "withdrawal",
    _text("source_id", primary_key=True),
    _text("revision", primary_key=True),
    _time("at_us"),
    ForeignKeyConstraint(["source_id"], ["source.id"]),
    rowid=False,
)
"""Append-only: a revision that was withdrawn stays so, also after another one was in force."""

operation = _table(
    "operation",
    _text("op_id", primary_key=True),
    _text("tenant"),
    _text("principal"),
    Column(
        "key_hash", LargeBinary, CheckConstraint("length(key_hash) = 32", name="ck_operation_sha256"), nullable=False
    ),
    Column("fingerprint_v", Integer, nullable=False),
    _text("fingerprint"),
    _bytes("fingerprint_fields"),
    _text("alias"),
    _text("purpose"),
    _bytes("sources"),
    _text("bundle"),
    _text("bundle_digest"),
    _amount("max_attempts"),
    _time("created_us"),
    UniqueConstraint("tenant", "principal", "key_hash"),
)

attempt = _table(
    "attempt",
    _text("op_id", primary_key=True),
    Column("n", Integer, CheckConstraint("n >= 1", name="ck_attempt_n"), primary_key=True),
    _text("state"),
    _text("dispatch_id"),
    Column("incarnation", Integer, ForeignKey("replica.incarnation"), nullable=False),
    _text("profile"),
    _text("profile_digest"),
    _text("bundle_digest"),
    _text("policy_revision"),
    _text("snapshot_digest"),
    _bytes("decisions"),
    _amount("reserved_input"),
    _amount("reserved_output"),
    _amount("reserved_cost"),
    _bytes("tariff"),
    _amount("total_timeout_ms"),
    _time("granted_us"),
    _time("dispatching_us", optional=True),
    _time("finished_us", optional=True),
    _amount("used_input", optional=True),
    _amount("used_output", optional=True),
    _amount("used_cost", optional=True),
    Column("usage_basis", Text),
    Column("detail", Text),
    Column("provider_ref", Text),
    Column("result_digest", Text),
    ForeignKeyConstraint(["op_id"], ["operation.op_id"]),
    UniqueConstraint("dispatch_id"),
    CheckConstraint(one_of("state", State), name="ck_attempt_state"),
    CheckConstraint("length(dispatch_id) > 0", name="ck_attempt_dispatch_id"),
    CheckConstraint(f"(dispatching_us IS NOT NULL) = {one_of('state', REACHED_T2)}", name="ck_attempt_dispatching_us"),
    CheckConstraint(f"(finished_us IS NULL) = {one_of('state', HOLDING)}", name="ck_attempt_finished_us"),
    CheckConstraint("(result_digest IS NOT NULL) = (state = 'completed')", name="ck_attempt_result_digest"),
    CheckConstraint(
        "(used_input IS NULL) = (used_output IS NULL) AND (used_input IS NULL) = (used_cost IS NULL)",
        name="ck_attempt_used",
    ),
    CheckConstraint(f"(used_input IS NOT NULL) = {one_of('state', SETTLED)}", name="ck_attempt_settled"),
    CheckConstraint("(usage_basis IS NULL) = (used_input IS NULL)", name="ck_attempt_basis"),
    CheckConstraint(
        f"usage_basis IS NULL OR {one_of('usage_basis', get_args(UsageBasis))}", name="ck_attempt_usage_basis"
    ),
)

# A list of exceptions, so that any state to come is covered (promise G1).
Index("ux_attempt_effect", attempt.c.op_id, unique=True, sqlite_where=text(f"state NOT IN ({names(REPEATABLE)})"))
# All but the many. SQLite uses such an index only for a query that says the same words.
NOT_COMPLETED = "state <> 'completed'"
Index("ix_attempt_state", attempt.c.state, attempt.c.op_id, sqlite_where=text(NOT_COMPLETED))
# What a sweep looks for every second.
SWEPT = "state IN ('dispatching', 'granted')"

hold = _table(
    "hold",
    _text("op_id", primary_key=True),
    Column("n", Integer, primary_key=True),
    _text("scope_kind", primary_key=True),
    _text("scope_id", primary_key=True),
    _amount("tokens"),
    _amount("cost"),
    _time("minute_us"),
    _time("day_us"),
    _time("month_us"),
    Column(
        "spend",
        Text,
        CheckConstraint(one_of("spend", ("held", "settled", "released")), name="ck_hold_spend"),
        nullable=False,
    ),
    Column("slot", Text, CheckConstraint("slot IN ('held', 'free')", name="ck_hold_slot"), nullable=False),
    _amount("settled_tokens"),
    _amount("settled_cost"),
    _amount("debt_tokens"),
    _amount("debt_cost"),
    ForeignKeyConstraint(["op_id", "n"], ["attempt.op_id", "attempt.n"]),
    ForeignKeyConstraint(["scope_kind", "scope_id"], ["budget.scope_kind", "budget.scope_id"]),
    CheckConstraint("spend = 'settled' OR (settled_tokens = 0 AND settled_cost = 0)", name="ck_hold_settled"),
    CheckConstraint("settled_tokens <= tokens AND settled_cost <= cost", name="ck_hold_within"),
    rowid=False,
)
"""The truth about what is reserved and used, per attempt and scope. ``cost`` is in micro-units of the currency."""

budget = _table(
    "budget",
    _text("scope_kind", primary_key=True),
    _text("scope_id", primary_key=True),
    _time("minute_us"),
    _amount("minute_requests"),
    _amount("minute_tokens"),
    _time("day_us"),
    _amount("day_tokens"),
    _time("month_us"),
    _amount("month_tokens"),
    _amount("month_cost"),
    _amount("held_tokens"),
    _amount("held_cost"),
    _amount("debt_tokens"),
    _amount("debt_cost"),
    _amount("slots_used"),
    _amount("slots_stranded"),
    CheckConstraint("slots_stranded <= slots_used", name="ck_budget_stranded"),
    rowid=False,
)
"""Counters, a cache of the holds: ``*_us`` is where a window starts, the sums are of holds taken in it.

No CHECK holds a sum to a limit: limits stand in the registry, and may be lowered below what is used.
"""

result = _table(
    "result",
    _text("op_id", primary_key=True),
    Column("n", Integer, nullable=False),
    _bytes("body"),
    _text("digest"),
    _time("created_us"),
    ForeignKeyConstraint(["op_id", "n"], ["attempt.op_id", "attempt.n"]),
)

evidence = _table(
    "evidence",
    Column("id", Integer, primary_key=True),
    Column("dispatch_id", Text, ForeignKey("attempt.dispatch_id"), nullable=False),
    _text("kind"),
    _amount("used_input", optional=True),
    _amount("used_output", optional=True),
    Column("digest", Text),
    Column("provider_ref", Text),
    _text("who"),
    Column(
        "words", Text, CheckConstraint(f"length(words) <= {LONGEST_WORDS}", name="ck_evidence_words"), nullable=False
    ),
    _time("at_us"),
)
"""``who`` is the sender, or an operator as tenant/principal, whose ``words`` are kept."""

Index(None, evidence.c.dispatch_id)

profile_mark = _table(
    "profile_mark",
    _text("profile", primary_key=True),
    Column(
        "kind",
        Text,
        CheckConstraint(one_of("kind", get_args(MarkKind)), name="ck_profile_mark_kind"),
        primary_key=True,
    ),
    _text("profile_digest"),
    Column(
        "reason",
        Text,
        CheckConstraint(f"length(reason) <= {LONGEST_WORDS}", name="ck_profile_mark_reason"),
        nullable=False,
    ),
    _text("who"),
    _time("since_us"),
    Column("dispatch_id", Text),
    _amount("promised", optional=True),
    _amount("reported", optional=True),
    CheckConstraint("(promised IS NULL) = (reported IS NULL)", name="ck_profile_mark_shortfall"),
    rowid=False,
)
"""Why a profile takes no new work; one without a row serves. No reference to attempts, which are purged earlier."""

audit = _table(
    "audit",
    Column("incarnation", Integer, ForeignKey("replica.incarnation"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    _time("at_us"),
    _text("kind"),
    Column("tenant", Text),
    Column("principal", Text),
    Column("op_id", Text),
    Column("n", Integer),
    _text("code"),
    _bytes("data"),
)
"""Append-only. Ids, codes and digests; no reference to other tables, whose rows are purged earlier."""
Index(None, audit.c.op_id)
