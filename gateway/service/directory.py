"""The directory of sources, as administrators change it. Whatever a request can cite can be granted."""

from msgspec import Struct

from gateway.domain.errors import CredentialRevoked, LedgerUnavailable
from gateway.domain.principal import Caller
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import SourceRef
from gateway.domain.source import (
    MOST_GROUPS,
    GrantSource,
    NoSuchSource,
    OtherTenantsSource,
    RevokeSource,
    Source,
    SourceAct,
    TooManyGroups,
    WithdrawnRevision,
    WithdrawSource,
)
from gateway.ports.clock import Clock
from gateway.ports.reads import SourceFilter, Sources
from gateway.service.administer import Permit

LATEST_S = 2**53 // 1_000_000
"""Microseconds up to 2^53 are what every reader holds exactly (adapters/store/tables.py)."""
NO_EMBARGO_S = 0
"""``released_s`` of a source that has always been released."""


class Grant(Struct, frozen=True, kw_only=True):
    """What an administrator says of a source. Seconds UTC; None as ``as_of_s``: it holds now."""

    id: str
    tenant: str
    groups: tuple[str, ...]
    revision: str
    privacy_class: str
    released_s: int | None = None
    """End of the embargo; None: there is none."""
    as_of_s: int | None = None
    """When the one who owns the source last confirmed all of this."""


class Directory:
    """Tenants and classes are those of the registry in force; groups need not be anybody's yet."""

    def __init__(self, sources: Sources, clock: Clock, *, os_user: str | None) -> None:
        self._sources = sources
        self._clock = clock
        self._os_user = os_user

    async def search(self, permit: Permit, wanted: SourceFilter) -> tuple[Source, ...]:
        """Sources by id."""
        permit.actor("sources", "read")
        return await self._sources.search(wanted)

    async def grant(self, permit: Permit, grant: Grant) -> Source | Refusal:
        """Register a source, or confirm it and open it to more groups."""
        actor = permit.actor("sources", "change")
        if grant.tenant not in permit.snapshot.tenants:
            return Refusal(code=Code.UNKNOWN_TENANT, param="tenant")
        classes = [known.id for known in permit.snapshot.privacy_classes]
        if grant.privacy_class not in classes:
            known = {"known": ", ".join(classes)}
            return Refusal(code=Code.INVALID_VALUE, status=422, param="privacy_class", facts=known)
        now_s = self._clock.now_us() // 1_000_000
        as_of_s = now_s if grant.as_of_s is None else grant.as_of_s
        released_s = NO_EMBARGO_S if grant.released_s is None else grant.released_s
        if released_s < 0 or as_of_s < 0:
            param = "released" if released_s < 0 else "as_of"
            return Refusal(code=Code.INVALID_VALUE, status=422, param=param, facts={"reason": "before 1970"})
        if released_s > LATEST_S:
            return Refusal(code=Code.INVALID_VALUE, status=422, param="released", facts={"reason": "after 2255"})
        if as_of_s > now_s:
            # Facts that are confirmed for the future would never become too old.
            return Refusal(code=Code.INVALID_VALUE, status=422, param="as_of", facts={"reason": "in the future"})
        act = GrantSource(
            id=grant.id,
            tenant=grant.tenant,
            groups=tuple(sorted(set(grant.groups))),
            privacy_class=grant.privacy_class,
            revision=grant.revision,
            released_s=released_s,
            as_of_s=as_of_s,
        )
        return await self._change(actor, act)

    async def revoke(self, permit: Permit, source_id: str, groups: tuple[str, ...]) -> Source | Refusal:
        """Close a source to these groups, or to all if none is named.

        Refused if it is open to none of them: a misspelt group would seem closed while the right one stays open.
        """
        actor = permit.actor("sources", "change")
        if groups:
            (known,) = await self._sources.facts([SourceRef(source_id, "")])
            open_to = known.fact.groups
            if known.fact.known and not set(groups) & set(open_to):
                facts = {"reason": "open to none of them", "open to": ", ".join(open_to) or "nobody"}
                return Refusal(code=Code.INVALID_VALUE, status=422, param="groups", facts=facts)
        return await self._change(actor, RevokeSource(id=source_id, groups=groups))

    async def withdraw(self, permit: Permit, source_id: str) -> Source | Refusal:
        """Take the revision back for good, for everybody."""
        return await self._change(permit.actor("sources", "change"), WithdrawSource(id=source_id))

    async def _change(self, actor: Caller, act: SourceAct) -> Source | Refusal:
        try:
            changed = await self._sources.change(act, actor=actor, os_user=self._os_user)
        except LedgerUnavailable:
            return Refusal(code=Code.LEDGER_UNAVAILABLE)
        except CredentialRevoked:
            return Refusal(code=Code.UNAUTHENTICATED)
        match changed:
            case NoSuchSource():
                return Refusal(code=Code.UNKNOWN_SOURCE, param="id")
            case OtherTenantsSource():
                return Refusal(code=Code.SOURCE_OF_OTHER_TENANT, param="tenant")
            case WithdrawnRevision():
                return Refusal(code=Code.SOURCE_WITHDRAWN, param="revision")
            case TooManyGroups():
                facts = {"reason": "open to too many with these", "limit": MOST_GROUPS}
                return Refusal(code=Code.INVALID_VALUE, status=422, param="groups", facts=facts)
            case Source():
                return changed
