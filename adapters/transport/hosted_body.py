"""Bodies for providers that speak OpenAI's shape. The bytes are built from the allow-list, as for any engine.

litellm knows which model takes what: it must return the very same fields. Where it leaves one out, adds one or writes
it in another way, nothing is sent.
"""

from typing import Any

import msgspec

from adapters.transport.litellm_translation import NotTranslated, Provider, Translation
from adapters.transport.wire_body import wire_fields
from gateway.domain.grant import Dispatch

CAP_FIELD = "max_completion_tokens"
"""OpenAI's newer models and Azure take no other; the older ones take this one too."""
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def openai_body(translation: Translation, provider: Provider, dispatch: Dispatch) -> bytes:
    """The body of a dispatch, for ``openai`` and ``azure``.

    :raises NotTranslated: if the model does not take the request as it is.
    """
    body = _encode(wire_fields(dispatch, cap_field=CAP_FIELD))
    expected, given = _decode(body), parameters(body)
    expected.pop("stream")
    if translation.body(provider, dispatch.profile, given.pop("messages"), given) != expected:
        raise NotTranslated("another_body")
    return body


def parameters(body: bytes) -> dict[str, Any]:
    """A copy of the fields that litellm may do with as it likes, without those that it takes apart or must not see."""
    given = _decode(body)
    del given["model"], given["stream"]
    return given
