"""The body for the wire, built from an allow-list: nothing of a request passes that is not named here."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway.domain.grant import Dispatch
from gateway.domain.profile import Adapter

CAP_FIELDS: Mapping[Adapter, str] = {"llama_cpp": "max_tokens", "vllm": "max_tokens"}
"""The field in which each self-hosted adapter takes the cap on the output."""

_encode = msgspec.json.Encoder().encode


def wire_body(dispatch: Dispatch) -> bytes:
    """The body of a dispatch. ``n`` is absent, because one completion is what was reserved (case BUD-16).

    :raises KeyError: for an adapter that has no cap field: a cap that is not sent is no cap (promise G8).
    """
    request = dispatch.request
    fields: dict[str, Any] = {
        "model": dispatch.profile.model,
        "messages": request.messages,
        CAP_FIELDS[dispatch.profile.adapter]: dispatch.output_cap,
        "stream": False,
    }
    optional = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": request.stop,
        "seed": request.seed,
    }
    fields.update((name, value) for name, value in optional.items() if value is not None)
    return _encode(fields)
