"""The OpenAPI document is true to the code, and one by the rules of OpenAPI 3.1."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from openapi_support import Judge
from schemathesis.specs.openapi.definitions import OPENAPI_31
from starlette.routing import Route

from gateway.api.app import create_app
from gateway.api.body import BodyBounds
from gateway.api.openapi import document, rendered
from gateway.api.openapi_described import EVERYWHERE
from gateway.api.openapi_refusals import OTHER_STATUSES, statuses
from gateway.api.openapi_routes import ROUTES
from gateway.api.problems import problem
from gateway.domain.fault import Fault
from gateway.domain.refusal import Code, PolicyCode, Refusal

ROOT = Path(__file__).parents[2]


class Everything:
    """Has every attribute."""

    def __getattr__(self, _: str) -> None:
        return None


def _is_openapi(found: Any) -> bool:
    return bool(Draft202012Validator(OPENAPI_31).is_valid(found))


def test_the_file_is_up_to_date() -> None:
    assert (ROOT / "docs" / "openapi.json").read_bytes() == rendered(), "Run: make schemas"


def test_the_document_obeys_the_rules_of_openapi_3_1() -> None:
    found = document()
    Draft202012Validator(OPENAPI_31).validate(found)
    Draft202012Validator.check_schema({"$defs": found["components"]["schemas"]})


def test_a_document_that_breaks_the_rules_is_found() -> None:
    without_description = document()
    del without_description["paths"]["/livez"]["get"]["responses"]["200"]["description"]
    assert not _is_openapi(without_description)


def test_every_reference_leads_somewhere() -> None:
    found = document()
    places = set(_references(found))
    assert len(places) > 50
    for place in places:
        node = found
        for part in place.removeprefix("#/").split("/"):
            node = node[part]


def test_every_route_is_described_and_no_other() -> None:
    app = create_app(
        cast(Any, Everything()),  # only handlers use the services
        bounds=BodyBounds(max_bytes=1, within_s=1),
        render_metrics=bytes,
    )
    served = {
        (method, route.path)
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert {(route.method, route.path) for route in ROUTES} == served
    assert len({route.id for route in ROUTES}) == len(ROUTES)


def test_every_code_stands_at_a_route_or_is_of_no_route() -> None:
    described = {code for route in ROUTES for code in route.codes}
    assert described | set(EVERYWHERE) == set(Code)
    assert Code.METHOD_NOT_ALLOWED not in described


@pytest.mark.parametrize("code", [code for code in Code if code is not Code.METHOD_NOT_ALLOWED])
def test_every_refusal_is_as_the_document_says(code: Code) -> None:
    judge = Judge(document())
    routes = [route for route in ROUTES if code in route.codes]
    for status in statuses(code):
        refused = problem(
            Refusal(
                code=code,
                status=status,
                param="model",
                fields=("model",),
                policy_codes=(PolicyCode("purpose_not_allowed", "Ask.", 0), PolicyCode("region_not_allowed", "Ask.")),
                retry_after_s=3,
                operation_id="o-1",
                operation_state="unknown",
                replayed=True,
                facts={"limit": 512},
                faults=(Fault("a.yaml", 1, "/id", "It is wrong.", "Mend it."),),
            ),
            for_administrators=True,
        )
        headers = {name.lower(): text for name, text in refused.headers.items()}
        found = [
            list(judge.faults(route.method, route.path, status, headers, json.loads(bytes(refused.body))))
            for route in routes
        ]
        assert [] in found, found
        usual = status not in OTHER_STATUSES.get(code, {})
        assert not usual or found == [[]] * len(routes)


def test_what_the_document_does_not_tell_is_found() -> None:
    judge = Judge(document())
    json_, live = {"content-type": "application/json"}, {"status": "live"}
    assert list(judge.faults("GET", "/livez", 200, json_, live)) == []
    assert list(judge.faults("GET", "/livez", 200, json_, live | {"more": 1}))
    assert list(judge.faults("GET", "/livez", 200, json_, {}))
    assert list(judge.faults("GET", "/livez", 204, json_, live))
    assert list(judge.faults("GET", "/livez", 200, {"content-type": "text/html"}, live))
    refused = problem(Refusal(code=Code.UNKNOWN_MODEL))
    said = json.loads(bytes(refused.body))
    assert list(judge.faults("GET", "/v1/models/{model}", 404, dict(refused.headers), said)) == []
    assert list(judge.faults("GET", "/v1/models/{model}", 404, dict(refused.headers), said | {"prompt": ""}))
    assert list(judge.faults("GET", "/v1/operations/{operation_id}", 404, dict(refused.headers), said))


def _references(part: Any) -> list[str]:
    if isinstance(part, dict):
        own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
        return own + [place for item in part.values() for place in _references(item)]
    return [place for item in part for place in _references(item)] if isinstance(part, list) else []
