"""Headers of a request: the credential and the operation key, each exactly once and in one form."""

import hashlib
import re

from starlette.datastructures import Headers

from gateway.domain.refusal import Code, Refusal

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([\x21-\x7e]{1,512})\Z")
_VISIBLE = re.compile(r"[\x21-\x7e]{1,255}\Z")
_QUOTED = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"\Z')
_ESCAPED = re.compile(r"\\([\"\\])")


def bearer(headers: Headers) -> str | None:
    """The credential, or None: absent, twice, or not of the one form. Which, nobody is told."""
    values = headers.getlist("authorization")
    if len(values) != 1 or (found := _BEARER.match(values[0])) is None:
        return None
    return found[1]


def operation_key_hash(headers: Headers) -> bytes | Refusal:
    """SHA-256 of the operation key; a quoted structured-field string and the bare token are the same key."""
    values = headers.getlist("idempotency-key")
    if not values:
        return Refusal(code=Code.OPERATION_KEY_REQUIRED)
    if len(values) > 1:
        return Refusal(code=Code.OPERATION_KEY_INVALID)
    key = values[0]
    if key.startswith('"'):
        if (quoted := _QUOTED.match(key)) is None:
            return Refusal(code=Code.OPERATION_KEY_INVALID)
        key = _ESCAPED.sub(r"\1", quoted[1])
    if _VISIBLE.match(key) is None:
        return Refusal(code=Code.OPERATION_KEY_INVALID)
    return hashlib.sha256(key.encode("ascii")).digest()
