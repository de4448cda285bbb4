"""/admin/profiles: which profiles serve, and taking one out of service."""

from typing import Any

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.admin import ReasonBody
from gateway.api.administration import answer, permit, permitted, query
from gateway.domain.profile_state import Mark, ProfileActKind
from gateway.domain.refusal import Refusal
from gateway.service.assembly import AdminServices
from gateway.service.lifecycle import ProfileView


class NoQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing can be chosen: a registry has few profiles."""


class ProfilesAdmin:
    """The handlers."""

    def __init__(self, services: AdminServices) -> None:
        self._services = services

    async def all(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "profiles", "read"), Refusal):
            return answer(allowed)
        if isinstance(asked := query(http, NoQuery), Refusal):
            return answer(asked)
        found = await self._services.lifecycle.all(allowed)
        return answer({"object": "list", "data": [_row(one) for one in found]})

    async def drain(self, http: HttpRequest) -> Response:
        return await self._act(http, "drain")

    async def resume(self, http: HttpRequest) -> Response:
        return await self._act(http, "resume")

    async def release(self, http: HttpRequest) -> Response:
        return await self._act(http, "release")

    async def _act(self, http: HttpRequest, kind: ProfileActKind) -> Response:
        if isinstance(found := await permitted(self._services, http, "profiles", "change", ReasonBody), Refusal):
            return answer(found)
        allowed, asked = found
        done = await self._services.lifecycle.act(allowed, kind, http.path_params["profile_id"], asked.reason)
        return answer(done if isinstance(done, Refusal) else _row(done))

    def routes(self) -> list[Route]:
        """All routes of profiles."""
        return [
            Route("/admin/profiles", self.all, methods=["GET"]),
            Route("/admin/profiles/{profile_id}/drain", self.drain, methods=["POST"]),
            Route("/admin/profiles/{profile_id}/resume", self.resume, methods=["POST"]),
            Route("/admin/profiles/{profile_id}/release", self.release, methods=["POST"]),
        ]


def _row(one: ProfileView) -> dict[str, Any]:
    return {
        "id": one.profile.id,
        "kind": one.profile.kind,
        "adapter": one.profile.adapter,
        "serves": one.serves,
        "state": one.state,
        "marks": [_mark(mark) for mark in one.marks],
        "readiness": {
            "state": one.readiness.state,
            "reason": one.readiness.reason,
            "since_us": one.since_us,
            "until_us": one.until_us,
            "shortfall": msgspec.to_builtins(one.readiness.shortfall),
        },
        "facts": msgspec.to_builtins(one.facts),
    }


def _mark(mark: Mark) -> dict[str, Any]:
    return {
        "state": mark.kind,
        "reason": mark.reason,
        "by": mark.who,
        "since_us": mark.since_us,
        "dispatch_id": mark.dispatch_id,
        "profile_digest": mark.profile_digest,
        "shortfall": msgspec.to_builtins(mark.shortfall),
    }
