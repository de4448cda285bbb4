"""/admin/reload and /admin/decisions: what is in force, and why it decided as it did."""

from typing import Any

from msgspec.structs import replace
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.administration import answer, permit
from gateway.domain.refusal import Code, Refusal
from gateway.ports.reads import RecordedDecision
from gateway.service.active import Active
from gateway.service.assembly import AdminServices
from gateway.service.reload import Taken


class PolicyAdmin:
    """The handlers. None of them reads a body."""

    def __init__(self, services: AdminServices) -> None:
        self._services = services

    async def reload(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "registry", "change"), Refusal):
            return answer(allowed)
        if self._services.reload is None:
            return answer(Refusal(code=Code.RELOAD_WITHOUT_SERVER))
        taken = await self._services.reload(allowed)
        return answer(taken if isinstance(taken, Refusal) else _taken(taken))

    async def decision(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "policy", "read"), Refusal):
            return answer(allowed)
        found = await self._services.explain(allowed, http.path_params["decision_id"])
        return answer(found if isinstance(found, Refusal) else _decision(found))

    def routes(self) -> list[Route]:
        """All routes of policy."""
        return [
            Route("/admin/reload", self.reload, methods=["POST"]),
            Route("/admin/decisions/{decision_id}", self.decision, methods=["GET"]),
        ]


def _taken(taken: Taken) -> dict[str, Any]:
    return {
        "object": "reload",
        "earlier": _revision(taken.earlier),
        "now": _revision(taken.now),
        "warnings": taken.warnings,
    }


def _revision(active: Active) -> dict[str, str]:
    return {"registry_digest": active.snapshot.digest, "policy_revision": active.policy.revision}


def _decision(found: RecordedDecision) -> dict[str, Any]:
    decision = found.decision
    return {
        "id": decision.id,
        "object": "decision",
        "entrypoint": decision.entrypoint,
        "policy_revision": decision.revision,
        "question_digest": decision.question_digest,
        "at_us": found.at_us,
        "event": found.event,
        "code": found.code,
        "tenant": found.tenant,
        "principal": found.principal,
        "operation_id": found.operation_id,
        "failed": [replace(one, place=f"policies/{one.place}") for one in decision.failed],
    }
