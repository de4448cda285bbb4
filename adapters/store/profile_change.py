"""Marks that are set and taken away, each with its audit row."""

from collections.abc import Sequence

from msgspec import Struct, to_builtins
from sqlalchemy import bindparam, delete, select

from adapters.store.batch import Batch
from adapters.store.directory import Directory
from adapters.store.profile_rows import mark_from, row_of
from adapters.store.statements import Inserter, sql
from adapters.store.tables import attempt, profile_mark
from gateway.domain.principal import Caller
from gateway.domain.profile_state import (
    CONVICTING,
    SETS,
    THE_GATEWAY,
    ActNotLegal,
    Mark,
    ProfileAct,
    ProfileActKind,
    Quarantine,
    state_of,
)

PROFILE_QUARANTINED = "profile_quarantined"
_KINDS: dict[ProfileActKind, str] = {
    "drain": "profile_drained",
    "resume": "profile_resumed",
    "release": "profile_released",
}
"""Kinds of audit rows."""

_insert = Inserter(profile_mark)
_OF = sql(select(profile_mark).where(profile_mark.c.profile == bindparam("of_profile")))
_TAKE_AWAY = sql(
    delete(profile_mark).where(
        profile_mark.c.profile == bindparam("of_profile"), profile_mark.c.kind == bindparam("of_kind")
    )
)
_SENT_TO = sql(select(attempt.c.profile, attempt.c.profile_digest).where(attempt.c.dispatch_id == bindparam("id")))


class Change(Struct, frozen=True):
    """An act that somebody asks for."""

    act: ProfileAct
    actor: Caller
    os_user: str | None


def act(batch: Batch, changes: Sequence[Change]) -> list[ActNotLegal | Exception | None]:
    """One after the other: each sees what those before it have left."""
    directory = Directory(batch.connection)
    return [directory.refusal_of(item.actor) or _act(batch, item) for item in changes]


def quarantine(batch: Batch, found: Sequence[Quarantine]) -> list[bool]:
    """The first finding stands: its evidence is not written over by what follows from it."""
    return [_quarantine(batch, item) for item in found]


def convict(batch: Batch, dispatch_id: str, reason: str | None) -> None:
    """Quarantine the profile of a dispatch whose outcome proves that its engine is another one."""
    if reason not in CONVICTING:
        return
    profile, digest = batch.connection.execute(_SENT_TO, {"id": dispatch_id}).fetchone()
    _quarantine(batch, Quarantine(profile=profile, profile_digest=digest, reason=reason, dispatch_id=dispatch_id))


def _act(batch: Batch, item: Change) -> ActNotLegal | None:
    asked, actor = item.act, item.actor.principal
    kind, is_set = SETS[asked.kind]
    marks = _marks(batch, asked.profile)
    if any(mark.kind == kind for mark in marks) == is_set:
        return ActNotLegal(state_of(marks))
    if is_set:
        mark = Mark(
            profile=asked.profile,
            kind=kind,
            profile_digest=asked.profile_digest,
            reason=asked.words,
            who=f"{actor.tenant}/{actor.id}",
            since_us=batch.now_us,
        )
        _insert(batch.connection, [row_of(mark)])
    else:
        batch.connection.execute(_TAKE_AWAY, {"of_profile": asked.profile, "of_kind": kind})
    batch.audit(
        _KINDS[asked.kind],
        tenant=actor.tenant,
        principal=actor.id,
        code=asked.profile,
        data={"profile_digest": asked.profile_digest, "words": asked.words, "os_user": item.os_user},
    )
    return None


def _quarantine(batch: Batch, found: Quarantine) -> bool:
    if any(mark.kind == "quarantined" for mark in _marks(batch, found.profile)):
        return False
    mark = Mark(
        profile=found.profile,
        kind="quarantined",
        profile_digest=found.profile_digest,
        reason=found.reason,
        who=THE_GATEWAY,
        since_us=batch.now_us,
        dispatch_id=found.dispatch_id,
        shortfall=found.shortfall,
    )
    _insert(batch.connection, [row_of(mark)])
    batch.audit(
        PROFILE_QUARANTINED,
        code=found.profile,
        data={
            "profile_digest": found.profile_digest,
            "reason": found.reason,
            "dispatch_id": found.dispatch_id,
            "shortfall": to_builtins(found.shortfall),
        },
    )
    return True


def _marks(batch: Batch, profile: str) -> list[Mark]:
    return [mark_from(row) for row in batch.connection.execute(_OF, {"of_profile": profile}).fetchall()]
