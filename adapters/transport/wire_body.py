"""The body for the wire, built from an allow-list: nothing of a request passes that is not named here."""

from collections.abc import Mapping
from typing import Any

import msgspec

from adapters.transport.wire_messages import wire_message
from adapters.transport.wire_tools import wire_format, wire_tools
from gateway.domain.grant import Dispatch
from gateway.domain.profile import Adapter
from gateway.domain.request import Request

CAP_FIELDS: Mapping[Adapter, str] = {"llama_cpp": "max_tokens", "vllm": "max_tokens"}
"""The field in which each self-hosted adapter takes the cap on the output."""

_encode = msgspec.json.Encoder().encode


def wire_body(dispatch: Dispatch) -> bytes:
    """The body of a dispatch to an engine of one's own.

    :raises KeyError: for an adapter that has no cap field: a cap that is not sent is no cap (promise G8).
    """
    return _encode(wire_fields(dispatch, cap_field=CAP_FIELDS[dispatch.profile.adapter]))


def wire_fields(dispatch: Dispatch, *, cap_field: str) -> dict[str, Any]:
    """The body in OpenAI's shape. ``n`` is absent, because one completion is what was reserved (case BUD-16)."""
    request, adapter = dispatch.request, dispatch.profile.adapter
    fields: dict[str, Any] = {
        "model": dispatch.profile.model,
        "messages": [wire_message(message) for message in request.messages],
        cap_field: dispatch.output_cap,
        "stream": False,
    }
    optional = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": request.stop,
        "seed": request.seed,
        "parallel_tool_calls": request.parallel_tool_calls,
        "response_format": wire_format(request.response_format),
        "logprobs": request.logprobs,
        "top_logprobs": _top_logprobs(request, adapter),
        "presence_penalty": request.presence_penalty,
        "frequency_penalty": request.frequency_penalty,
        "reasoning_effort": request.reasoning_effort,
    }
    fields.update((name, value) for name, value in optional.items() if value is not None)
    fields.update(wire_tools(request.tools, request.tool_choice, adapter))
    return fields


def _top_logprobs(request: Request, adapter: Adapter) -> int | None:
    """llama.cpp takes 0 for no logprobs at all, and nothing for 20 in each place (measured): it is asked for one."""
    if adapter == "llama_cpp" and request.logprobs:
        return max(1, request.top_logprobs or 0)
    return request.top_logprobs
