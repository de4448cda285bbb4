"""What every route is for, takes and answers. The OpenAPI document is made of this table; a test holds it to the
routes that are served, and the answers of a running gateway to it.
"""

from typing import Any

from gateway.api.chat_body import ChatBody
from gateway.api.openapi_admin_routes import ADMIN_ROUTES
from gateway.api.openapi_answers import ChatCompletion, LiveView, Model, ModelList, OperationView, ReadyView, Timeline
from gateway.api.openapi_described import GENERATION, KNOWN, OPERATION_HEADERS, PATH, Described
from gateway.api.openapi_worksheets import WORKSHEET_ROUTES
from gateway.domain.refusal import Code

ROUTES: tuple[Described, ...] = (
    Described(
        method="POST",
        path="/v1/chat/completions",
        id="createChatCompletion",
        summary="One governed generation, in OpenAI's shape; under a known key its saved answer.",
        body=ChatBody,
        answer=ChatCompletion,
        codes=GENERATION,
        headers=OPERATION_HEADERS,
    ),
    Described(
        method="GET",
        path="/v1/models",
        id="listModels",
        summary="The aliases that the principal may use, in OpenAI's shape.",
        answer=ModelList,
        codes=(*KNOWN, Code.NOT_A_TENANT_PRINCIPAL, Code.POLICY_UNAVAILABLE),
    ),
    Described(
        method="GET",
        path="/v1/models/{model}",
        id="readModel",
        summary="One of them.",
        answer=Model,
        codes=(*KNOWN, *PATH, Code.NOT_A_TENANT_PRINCIPAL, Code.POLICY_UNAVAILABLE, Code.UNKNOWN_MODEL),
    ),
    Described(
        method="GET",
        path="/v1/operations/{operation_id}",
        id="readOperation",
        summary="State, bundle, profile, times and amounts of an operation; never a text.",
        answer=OperationView,
        codes=(*KNOWN, *PATH, Code.UNKNOWN_OPERATION, Code.POLICY_UNAVAILABLE, Code.LEDGER_UNAVAILABLE),
        headers=OPERATION_HEADERS,
    ),
    Described(
        method="GET",
        path="/v1/operations/{operation_id}/timeline",
        id="readTimeline",
        summary="All that happened to an operation, in order.",
        answer=Timeline,
        codes=(*KNOWN, *PATH, Code.UNKNOWN_OPERATION, Code.POLICY_UNAVAILABLE, Code.LEDGER_UNAVAILABLE),
    ),
    Described(
        method="GET",
        path="/livez",
        id="live",
        summary="200 while the process works.",
        answer=LiveView,
        credential=False,
    ),
    Described(
        method="GET",
        path="/readyz",
        id="ready",
        summary="200 while new work is taken and a profile serves, else 503; with the reason per profile.",
        answer=ReadyView,
        also=503,
        credential=False,
    ),
    Described(
        method="GET",
        path="/metrics",
        id="metrics",
        summary="Metrics in Prometheus' text format.",
        answer=str,
        media="text/plain",
        credential=False,
    ),
    Described(
        method="GET",
        path="/openapi.json",
        id="describe",
        summary="This document.",
        answer=dict[str, Any],
        credential=False,
    ),
    *WORKSHEET_ROUTES,
    *ADMIN_ROUTES,
)
