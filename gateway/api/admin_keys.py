"""/admin/keys: credentials of service accounts. A token is in the answer that made it, and nowhere else."""

from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.admin import Name
from gateway.api.administration import answer, page, permit, permitted, query
from gateway.domain.refusal import Refusal
from gateway.ports.reads import Key, KeyFilter
from gateway.service.assembly import AdminServices


class NewKeyBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose key it will be."""

    tenant: Name
    principal: Name
    label: Annotated[str, Meta(max_length=100)] = ""


class KeysQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which keys to list, newest first."""

    tenant: Name | None = None
    principal: Name | None = None
    active: bool | None = None
    before: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class Keys:
    """The handlers."""

    def __init__(self, services: AdminServices) -> None:
        self._services = services

    async def all(self, http: HttpRequest) -> Response:
        return await (self.create(http) if http.method == "POST" else self.search(http))

    async def create(self, http: HttpRequest) -> Response:
        if isinstance(found := await permitted(self._services, http, "keys", "change", NewKeyBody), Refusal):
            return answer(found)
        allowed, asked = found
        made = await self._services.credentials.create(
            allowed, tenant=asked.tenant, principal=asked.principal, label=asked.label
        )
        return answer(made if isinstance(made, Refusal) else _row(made.key) | {"token": made.token}, 201)

    async def search(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "keys", "read"), Refusal):
            return answer(allowed)
        if isinstance(asked := query(http, KeysQuery), Refusal):
            return answer(asked)
        wanted = KeyFilter(
            tenant=asked.tenant,
            principal=asked.principal,
            active=asked.active,
            before=asked.before,
            limit=asked.limit + 1,
        )
        found = await self._services.credentials.search(allowed, wanted)
        return page(found, asked.limit, _row)

    async def revoke(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "keys", "change"), Refusal):
            return answer(allowed)
        revoked = await self._services.credentials.revoke(allowed, http.path_params["key_id"])
        return answer(revoked if isinstance(revoked, Refusal) else _row(revoked))

    def routes(self) -> list[Route]:
        """All routes of keys."""
        return [
            # One route: a refusal of any other method has to name both.
            Route("/admin/keys", self.all, methods=["GET", "POST"]),
            Route("/admin/keys/{key_id}/revoke", self.revoke, methods=["POST"]),
        ]


def _row(key: Key) -> dict[str, Any]:
    return {
        "id": key.id,
        "tenant": key.tenant,
        "principal": key.principal,
        "label": key.label,
        "active": key.active,
        "created_us": key.created_us,
    }
