"""/v1/operations/{id}: what became of a generation, for its owner and for administrators."""

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.administration import answer
from gateway.api.headers import bearer
from gateway.domain.refusal import Refusal
from gateway.service.assembly import AdminServices
from gateway.service.inspect import view


class Operations:
    """The handlers."""

    def __init__(self, services: AdminServices) -> None:
        self._services = services

    async def show(self, http: HttpRequest) -> Response:
        if isinstance(session := await self._services.authenticate(bearer(http.headers)), Refusal):
            return answer(session)
        found = await self._services.inspect(session, http.path_params["operation_id"])
        if isinstance(found, Refusal):
            return answer(found)
        response = answer(view(found))
        response.headers["Operation-Id"] = found.id
        response.headers["Operation-State"] = found.last.state.value
        response.headers["Bundle-Digest"] = found.bundle_digest
        response.headers["Policy-Revision"] = found.last.policy_revision
        return response

    async def timeline(self, http: HttpRequest) -> Response:
        if isinstance(session := await self._services.authenticate(bearer(http.headers)), Refusal):
            return answer(session)
        entries = await self._services.inspect.timeline(session, http.path_params["operation_id"])
        return answer(entries if isinstance(entries, Refusal) else {"object": "list", "data": entries})

    def routes(self) -> list[Route]:
        """All routes of operations."""
        return [
            Route("/v1/operations/{operation_id}", self.show, methods=["GET"]),
            Route("/v1/operations/{operation_id}/timeline", self.timeline, methods=["GET"]),
        ]
