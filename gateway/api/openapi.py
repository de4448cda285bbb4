"""The OpenAPI 3.1 document, made from the table of routes, the structs of bodies and answers, and the refusals.

``make schemas`` writes it to docs/openapi.json; GET /openapi.json serves the same bytes. It is open: nothing in it
depends on the registry, on policy or on who asks.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from gateway.api.openapi_described import EVERYWHERE, Described
from gateway.api.openapi_refusals import HTML, Problem, refusals
from gateway.api.openapi_routes import ROUTES
from gateway.domain.operation import State
from gateway.domain.refusal import MEANINGS

_REFERENCE = "#/components/schemas/{name}"
_SEGMENT = re.compile(r"{(\w+)}")
_BARE = r"^[!#-~][!-~]{0,254}$"
_QUOTED = r'^"([!#-\[\]-~]|\\["\\]){1,255}"$'
_TEXT: Mapping[str, Any] = {"type": "string"}

_HEADERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "Operation-Id": ("The operation, for GET /v1/operations/{operation_id}.", _TEXT),
    "Operation-State": ("State of its last attempt.", {"type": "string", "enum": [state.value for state in State]}),
    "Bundle-Digest": ("The bundle that served it, also when it is replayed later.", _TEXT),
    "Policy-Revision": ("Digest of rules, registry and OPA's version that decided it.", _TEXT),
    "Idempotent-Replayed": ("Nothing was sent this time.", {"const": "true"}),
    "x-should-retry": ("This request must not be repeated as it is.", {"const": "false"}),
    "Retry-After": ("Seconds.", {"type": "integer", "minimum": 1}),
    "Location": ("The operation that is running.", _TEXT),
    "WWW-Authenticate": ("How to authenticate.", {"const": "Bearer"}),
}
_KEY: Mapping[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": "Names this generation. A fresh random one for each new generation, the same one to repeat it. "
    "A quoted string and the bare token are the same key.",
    "schema": {"anyOf": [{"type": "string", "pattern": _BARE}, {"type": "string", "pattern": _QUOTED}]},
}
_ABOUT = (
    "A gateway between services and language models: policy decides, budgets are reserved, every generation is sent "
    "at most once. Refusals are problem+json with a stable code, and with OpenAI's error object beside it. "
    "503 promises that this attempt had no effect."
)


def document() -> dict[str, Any]:
    """The whole document."""
    kinds = [kind for route in ROUTES for kind in (route.body, route.query, route.answer) if kind is not None]
    schemas, components = msgspec.json.schema_components([*kinds, Problem], ref_template=_REFERENCE)
    shapes = dict(zip(kinds, schemas, strict=False))
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, shapes, components, schemas[-1])
    return {
        "openapi": "3.1.0",
        "info": {"title": "Policy gateway", "version": "1", "description": f"{_ABOUT}\n\n{_everywhere()}"},
        "paths": paths,
        "components": {
            "schemas": {name: components[name] for name in sorted(components)},
            "headers": {name: _header(name, always=name == "WWW-Authenticate") for name in _HEADERS},
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "A key of a service account."}
            },
        },
    }


def rendered() -> bytes:
    """The document as it is served and written, the same bytes each time."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=1) + b"\n"


class OpenApi:
    """The handler. It answers bytes that were made when the gateway started."""

    def __init__(self) -> None:
        self._bytes = rendered()

    async def __call__(self, _: HttpRequest) -> Response:
        return Response(self._bytes, media_type="application/json")


def _operation(
    route: Described,
    shapes: Mapping[Any, Mapping[str, Any]],
    components: Mapping[str, Any],
    problem: Mapping[str, Any],
) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _SEGMENT.findall(route.path)
    ]
    if route.generates:
        parameters.append(dict(_KEY))
    if route.query is not None:
        parameters += _parameters(components[route.query.__name__])
    operation: dict[str, Any] = {
        "operationId": route.id,
        "summary": route.summary,
        "tags": [route.tag],
        "security": [{"key": []}] if route.credential else [],
        "responses": _answers(route, shapes[route.answer])
        | refusals(route.codes, generates=route.generates, is_page=route.is_page, problem=problem),
    }
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        content = {route.body_media: {"schema": shapes[route.body]}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _answers(route: Described, shape: Mapping[str, Any]) -> dict[str, Any]:
    headers = {name: _header(name, always=True) for name in route.headers}
    if route.generates:
        headers["Idempotent-Replayed"] = {"$ref": "#/components/headers/Idempotent-Replayed"}
    answer: dict[str, Any] = {"description": route.summary, "content": {route.media: {"schema": shape}}}
    if headers:
        answer["headers"] = headers
    if route.is_page:
        answer["content"][HTML] = {"schema": _TEXT}
    return {str(status): answer for status in (route.status, route.also) if status is not None}


def _header(name: str, *, always: bool) -> dict[str, Any]:
    words, schema = _HEADERS[name]
    return {"description": words, "required": always, "schema": schema}


def _parameters(query: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Fields of a query as parameters. What is null in the struct is left out of a query."""
    return [
        {
            "name": name,
            "in": "query",
            "required": name in query.get("required", ()),
            "schema": next(shape for shape in field.get("anyOf", [field]) if shape.get("type") != "null"),
        }
        for name, field in query["properties"].items()
    ]


def _everywhere() -> str:
    lines = [f"- {MEANINGS[code].status} `{code}`: {MEANINGS[code].sentence}" for code in EVERYWHERE]
    return "\n".join(["Of what is no route:", *lines])
