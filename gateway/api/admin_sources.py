"""/admin/sources: who may read which document. An id stands in the body, because it may be any text."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.admin import Name
from gateway.api.administration import answer, page, permit, permitted, query
from gateway.domain.refusal import Refusal
from gateway.domain.registry import Id
from gateway.domain.source import Source
from gateway.ports.reads import SourceFilter
from gateway.service.assembly import AdminServices
from gateway.service.directory import NO_EMBARGO_S, Grant

Cited = Annotated[str, Meta(min_length=1, max_length=255)]
"""As in a request: whatever can be cited can be granted."""
Groups = Annotated[tuple[Id, ...], Meta(max_length=100)]
Instant = Annotated[datetime, Meta(tz=True)]


class GrantBody(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All that is true of a source now."""

    id: Cited
    tenant: Name
    groups: Groups = ()
    revision: Cited
    privacy_class: Name
    released: Instant | UnsetType = UNSET
    as_of: Instant | UnsetType = UNSET


class RevokeBody(Struct, frozen=True, forbid_unknown_fields=True):
    """To whom a source is closed."""

    id: Cited
    groups: Groups = ()


class WithdrawBody(Struct, frozen=True, forbid_unknown_fields=True):
    """What is taken back."""

    id: Cited


class SourcesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sources to list, by id."""

    tenant: Name | None = None
    group: Name | None = None
    withdrawn: bool | None = None
    after: Cited | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class Sources:
    """The handlers."""

    def __init__(self, services: AdminServices) -> None:
        self._services = services

    async def search(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "sources", "read"), Refusal):
            return answer(allowed)
        if isinstance(asked := query(http, SourcesQuery), Refusal):
            return answer(asked)
        wanted = SourceFilter(
            tenant=asked.tenant,
            group=asked.group,
            withdrawn=asked.withdrawn,
            after=asked.after,
            limit=asked.limit + 1,
        )
        found = await self._services.directory.search(allowed, wanted)
        return page(found, asked.limit, _row)

    async def grant(self, http: HttpRequest) -> Response:
        if isinstance(found := await permitted(self._services, http, "sources", "change", GrantBody), Refusal):
            return answer(found)
        allowed, asked = found
        granted = Grant(
            id=asked.id,
            tenant=asked.tenant,
            groups=asked.groups,
            revision=asked.revision,
            privacy_class=asked.privacy_class,
            # Whole seconds, each on the careful side: an embargo ends no earlier, and facts are no fresher.
            released_s=_seconds(asked.released, math.ceil),
            as_of_s=_seconds(asked.as_of, math.floor),
        )
        return _answer(await self._services.directory.grant(allowed, granted))

    async def revoke(self, http: HttpRequest) -> Response:
        if isinstance(found := await permitted(self._services, http, "sources", "change", RevokeBody), Refusal):
            return answer(found)
        allowed, asked = found
        return _answer(await self._services.directory.revoke(allowed, asked.id, asked.groups))

    async def withdraw(self, http: HttpRequest) -> Response:
        if isinstance(found := await permitted(self._services, http, "sources", "change", WithdrawBody), Refusal):
            return answer(found)
        allowed, asked = found
        return _answer(await self._services.directory.withdraw(allowed, asked.id))

    def routes(self) -> list[Route]:
        """All routes of sources."""
        return [
            Route("/admin/sources", self.search, methods=["GET"]),
            Route("/admin/sources/grant", self.grant, methods=["POST"]),
            Route("/admin/sources/revoke", self.revoke, methods=["POST"]),
            Route("/admin/sources/withdraw", self.withdraw, methods=["POST"]),
        ]


def _answer(changed: Source | Refusal) -> Response:
    return answer(changed if isinstance(changed, Refusal) else _row(changed))


def _row(source: Source) -> dict[str, Any]:
    released = None if source.released_s == NO_EMBARGO_S else _instant(source.released_s)
    return {
        "id": source.id,
        "tenant": source.tenant,
        "groups": source.groups,
        "privacy_class": source.privacy_class,
        "revision": source.revision,
        "released": released,
        "withdrawn": source.withdrawn,
        "as_of": _instant(source.as_of_s),
        "version": source.version,
    }


def _seconds(instant: datetime | UnsetType, whole: Callable[[float], int]) -> int | None:
    return None if isinstance(instant, UnsetType) else whole(instant.timestamp())


def _instant(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
