"""Schemathesis asks a running gateway what the OpenAPI document allows, and what it does not."""

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from gateway.api.openapi import rendered
from gateway.testkit.doors.http import HttpWorld

CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.missing_required_header,
    checks.ignored_auth,
    checks.unsupported_method,
]
MAY_REFUSE_WITH = 503
"""Of all statuses that say that the gateway could not: it promises that nothing happened."""

SLOW = {"/admin/reload": 2}
"""A reload starts an OPA: as many examples are enough where there is nothing to generate but headers."""
EXAMPLES = 20

OPERATIONS: list[Any] = [
    found.ok() for found in schemathesis.openapi.from_dict(json.loads(rendered())).get_all_operations()
]


def _credential(case: Any, world: HttpWorld) -> dict[str, str]:
    if not case.operation.definition.raw["security"]:
        return {}
    who = "operator" if case.path.startswith("/admin/") else "assistant"
    return {"Authorization": f"Bearer {world.token(who)}"}


def _settings(case_path: str) -> settings:
    return settings(
        max_examples=SLOW.get(case_path, EXAMPLES),
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_the_gateway_answers_as_the_document_says(operation: Any, world: HttpWorld) -> None:
    @_settings(operation.path)
    @given(case=operation.as_strategy(GenerationMode.POSITIVE) | operation.as_strategy(GenerationMode.NEGATIVE))
    def ask(case: Any) -> None:
        headers = _credential(case, world)
        answer = case.call(base_url=f"http://127.0.0.1:{world.port}", headers=headers)
        assert answer.status_code < 500 or answer.status_code == MAY_REFUSE_WITH
        case.validate_response(answer, checks=CHECKS, headers=headers)

    ask()
