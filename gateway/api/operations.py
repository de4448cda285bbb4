"""GET /v1/operations/{id}: what became of a generation."""

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from gateway.api.headers import bearer
from gateway.api.problems import problem
from gateway.domain.refusal import Refusal
from gateway.service.assembly import Services
from gateway.service.inspect import view


class ShowOperation:
    """The handler."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, http: HttpRequest) -> Response:
        if isinstance(session := await self._services.authenticate(bearer(http.headers)), Refusal):
            return problem(session)
        found = await self._services.inspect(session, http.path_params["operation_id"])
        if isinstance(found, Refusal):
            return problem(found)
        headers = {
            "Operation-Id": found.id,
            "Operation-State": found.last.state.value,
            "Bundle-Digest": found.bundle_digest,
            "Policy-Revision": found.last.policy_revision,
        }
        return Response(msgspec.json.encode(view(found)), 200, headers, media_type="application/json")
