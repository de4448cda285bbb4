"""What all admin handlers do: know who asks, read a closed body, answer JSON."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from gateway.api.body import BodyBounds, read_body
from gateway.api.explain import explain
from gateway.api.headers import bearer
from gateway.api.problems import problem
from gateway.api.strict_json import parse_object
from gateway.domain.questions import Area, Deed
from gateway.domain.refusal import Code, Refusal
from gateway.service.administer import Permit
from gateway.service.assembly import AdminServices

BOUNDS = BodyBounds(max_bytes=64 * 1024, within_s=30.0)
T = TypeVar("T")
R = TypeVar("R")


async def permit(admin: AdminServices, http: HttpRequest, area: Area, deed: Deed) -> Permit | Refusal:
    """Who asks, and whether policy lets him. Asked before the body is read."""
    if isinstance(session := await admin.authenticate(bearer(http.headers)), Refusal):
        return session
    return await admin.administer(session, area, deed)


async def permitted(
    admin: AdminServices, http: HttpRequest, area: Area, deed: Deed, kind: type[T]
) -> tuple[Permit, T] | Refusal:
    """A permit, and the body that it is for. Asked again after the body, which may have taken seconds to arrive."""
    if isinstance(refusal := await permit(admin, http, area, deed), Refusal):
        return refusal
    if isinstance(asked := await _body(http, kind), Refusal):
        return asked
    if isinstance(allowed := await permit(admin, http, area, deed), Refusal):
        return allowed
    return allowed, asked


async def _body(http: HttpRequest, kind: type[T]) -> T | Refusal:
    """The body as one closed object, with no query beside it."""
    if http.url.query:
        return Refusal(code=Code.QUERY_NOT_ALLOWED)
    if isinstance(raw := await read_body(http, BOUNDS), Refusal):
        return raw
    if isinstance(parsed := parse_object(raw), Refusal):
        return parsed
    return _convert(parsed, kind)


def query(http: HttpRequest, kind: type[T]) -> T | Refusal:
    """The query as one closed object, each name once."""
    pairs = http.query_params.multi_items()
    if len({name for name, _ in pairs}) != len(pairs):
        return Refusal(code=Code.INVALID_VALUE, facts={"reason": "a parameter twice"})
    asked = _convert(dict(pairs), kind, in_query=True)
    # The word "null" would be read as if the parameter were not there: as no filter at all.
    if not isinstance(asked, Refusal) and (empty := [name for name, _ in pairs if getattr(asked, name) is None]):
        return Refusal(code=Code.INVALID_VALUE, status=422, param=empty[0], in_query=True)
    return asked


def _convert(given: dict[str, Any], kind: type[T], *, in_query: bool = False) -> T | Refusal:
    try:
        # In a query everything is a text, also a number.
        return msgspec.convert(given, kind, strict=not in_query)
    except msgspec.ValidationError as error:
        return explain(str(error), in_query=in_query)


def page(found: Sequence[R], limit: int, row: Callable[[R], dict[str, Any]]) -> Response:
    """A list of at most ``limit`` rows. One more was asked for, and tells whether there are more."""
    rows = [row(one) for one in found[:limit]]
    return answer({"object": "list", "data": rows, "has_more": len(found) > limit})


def answer(result: Any, status: int = 200) -> Response:
    """A refusal as a problem, with the faults of files; anything else as JSON."""
    if isinstance(result, Refusal):
        return problem(result, for_administrators=True)
    return Response(msgspec.json.encode(result), status, media_type="application/json")
