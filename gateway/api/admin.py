"""/admin/operations. The command line is a client of /admin, with or without a server."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.administration import answer, page, permit, permitted, query
from gateway.domain.operation import Operation, State
from gateway.domain.reconciliation import ActKind
from gateway.domain.refusal import Code, Refusal
from gateway.domain.usage import Usage
from gateway.ports.reads import OperationFilter
from gateway.service.assembly import AdminServices
from gateway.service.inspect import view

Words = Annotated[str, Meta(min_length=3, max_length=500)]
Name = Annotated[str, Meta(min_length=1, max_length=64)]
Tokens = Annotated[int, Meta(ge=0, le=100_000_000)]


class ReasonBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Why an operator does it."""

    reason: Words


class UsedBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Tokens that the evidence proves."""

    input: Tokens
    output: Tokens


class EvidenceBody(Struct, frozen=True, forbid_unknown_fields=True):
    """What was found at the provider, and where."""

    evidence: Words
    found: Literal["no_effect", "charged"]
    used: UsedBody | None = None


class SearchQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which operations to list, newest first."""

    state: State | None = None
    tenant: Name | None = None
    profile: Name | None = None
    before: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class Admin:
    """The handlers."""

    def __init__(self, services: AdminServices) -> None:
        self._services = services

    async def search(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "operations", "read"), Refusal):
            return answer(allowed)
        if isinstance(asked := query(http, SearchQuery), Refusal):
            return answer(asked)
        wanted = OperationFilter(
            states=() if asked.state is None else (asked.state,),
            tenant=asked.tenant,
            profile=asked.profile,
            before=asked.before,
            limit=asked.limit + 1,
        )
        found = await self._services.operators.search(allowed, wanted)
        return page(found, asked.limit, _row)

    async def write_off(self, http: HttpRequest) -> Response:
        return await self._with_reason(http, "write_off")

    async def free_slot(self, http: HttpRequest) -> Response:
        return await self._with_reason(http, "free_slot")

    async def _with_reason(self, http: HttpRequest, kind: ActKind) -> Response:
        if isinstance(found := await permitted(self._services, http, "operations", "change", ReasonBody), Refusal):
            return answer(found)
        allowed, asked = found
        done = await self._services.operators.act(allowed, kind, _id(http), asked.reason)
        return answer(done if isinstance(done, Refusal) else view(done))

    async def reconcile(self, http: HttpRequest) -> Response:
        if isinstance(found := await permitted(self._services, http, "operations", "change", EvidenceBody), Refusal):
            return answer(found)
        allowed, asked = found
        if (asked.found == "charged") != (asked.used is not None):
            # Usage is what "charged" is about, and what "no_effect" denies.
            return answer(Refusal(code=Code.INVALID_VALUE, param="used"))
        used = None if asked.used is None else Usage(input=asked.used.input, output=asked.used.output)
        done = await self._services.operators.act(allowed, asked.found, _id(http), asked.evidence, used)
        return answer(done if isinstance(done, Refusal) else view(done))

    def routes(self) -> list[Route]:
        """All routes of operations."""
        return [
            Route("/admin/operations", self.search, methods=["GET"]),
            Route("/admin/operations/{operation_id}/write-off", self.write_off, methods=["POST"]),
            Route("/admin/operations/{operation_id}/reconcile", self.reconcile, methods=["POST"]),
            Route("/admin/operations/{operation_id}/free-slot", self.free_slot, methods=["POST"]),
        ]


def _row(one: Operation) -> dict[str, Any]:
    return view(one) | {"tenant": one.identity.tenant, "principal": one.identity.principal}


def _id(http: HttpRequest) -> str:
    operation_id: Any = http.path_params["operation_id"]
    return str(operation_id)
