"""/admin: for principals with the operator role. The command line is its client."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from gateway.api.body import BodyBounds, read_body
from gateway.api.chat_body import explain
from gateway.api.headers import bearer
from gateway.api.problems import problem
from gateway.api.strict_json import parse_object
from gateway.domain.refusal import Code, Refusal
from gateway.service.assembly import Services

BOUNDS = BodyBounds(max_bytes=64 * 1024, within_s=30.0)


class NewKeyBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose key it will be."""

    tenant: Annotated[str, Meta(min_length=1, max_length=64)]
    principal: Annotated[str, Meta(min_length=1, max_length=64)]
    label: Annotated[str, Meta(max_length=100)] = ""


class CreateKey:
    """POST /admin/keys."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, http: HttpRequest) -> Response:
        services = self._services
        if isinstance(session := await services.authenticate(bearer(http.headers)), Refusal):
            return problem(session)
        if not session.caller.principal.is_operator:
            # Before the body is read, and again where the key is made.
            return problem(Refusal(code=Code.OPERATOR_REQUIRED))
        if isinstance(raw := await read_body(http, BOUNDS), Refusal):
            return problem(raw)
        if isinstance(parsed := parse_object(raw), Refusal):
            return problem(parsed)
        try:
            asked = msgspec.convert(parsed, NewKeyBody)
        except msgspec.ValidationError as error:
            return problem(explain(str(error)))
        created = await services.credentials.create(
            session.caller, session.active.snapshot, tenant=asked.tenant, principal=asked.principal, label=asked.label
        )
        if isinstance(created, Refusal):
            return problem(created)
        document = {
            "id": created.key.id,
            "tenant": created.key.tenant,
            "principal": created.key.principal,
            "label": created.key.label,
            "token": created.token,
        }
        return Response(msgspec.json.encode(document), 201, media_type="application/json")
