"""vLLM's server: whose cached prefixes are kept apart, and whether it is the engine that its profile describes.

Read, and compared with the profile: the served model, its path, its context, the version, the size of the KV cache,
its blocks and its format, and whether prefixes are cached at all. Anything else than an exact fit serves nobody
(promise G12). The model's revision is attested by the fingerprint of every answer, not here. Measured with vLLM 0.32;
see docs/engines.md.
"""

import asyncio
import base64
import hashlib
import hmac
from typing import Annotated, Literal

import aiohttp
import msgspec
from msgspec import Meta, Struct

from adapters.transport import self_hosted, vllm_cache
from adapters.transport.asking import ask, ends_in, told
from adapters.transport.vllm_cache import Cache
from adapters.transport.wire import Call
from adapters.transport.wire_answer import Answer, read_answer
from adapters.transport.wire_result import Answered
from gateway.domain.capacity import promised_sequences
from gateway.domain.grant import Dispatch
from gateway.domain.profile import Engine, Profile
from gateway.domain.profile_state import Shortfall
from gateway.ports.transport import Attested, Readiness

Reason = Literal[
    "unreachable",
    "loading",
    "unhealthy",
    "models_unreadable",
    "version_unreadable",
    "metrics_unreadable",
    "other_alias",
    "other_model_file",
    "context_too_small",
    "other_version",
    "kv_cache_too_small",
    "other_block_size",
    "other_kv_format",
    "other_prefix_cache",
]
FACTS: tuple[Attested, ...] = ("alias", "model_file", "context", "version", "slots", "kv_tokens", "prefix_cache")


class _Model(Struct):
    id: str
    root: str
    """The path or the repository that the engine was told to load."""
    max_model_len: Annotated[int, Meta(ge=0, le=2**53)]


class _Models(Struct):
    data: tuple[_Model, ...]


class _Version(Struct):
    version: str


class Vllm:
    """Implements Family for the adapter ``vllm``."""

    def __init__(self, session: aiohttp.ClientSession, salt: bytes) -> None:
        """``salt`` is the secret of this gateway that every cache salt is derived from."""
        self._session = session
        self._salt = salt

    def call_for(self, dispatch: Dispatch) -> Call:
        """See Family.call_for. vLLM takes the request id for its own: its answer's is ``chatcmpl-<dispatch id>``."""
        call = self_hosted.call_for(dispatch)
        engine = dispatch.profile.engine
        if engine is None or engine.prefix_cache != "salted":
            return call
        return msgspec.structs.replace(call, body=_with(call.body, cache_salt(self._salt, dispatch, engine)))

    def read(self, body: bytes) -> Answer | None:
        """See Family.read."""
        return read_answer(body)

    async def check(self, profile: Profile) -> Readiness:
        """Ask /health, then /v1/models, /version and /metrics. None of them says that it drains."""
        health = await ask(self._session, profile.endpoint, "/health")
        if health is None:
            return _found("unready", "unreachable")
        if health.status != 200:
            return _found("unready", "unhealthy")
        models, version, metrics = await asyncio.gather(
            *(ask(self._session, profile.endpoint, path) for path in ("/v1/models", "/version", "/metrics"))
        )
        return _judged(profile, _models(models), _version(version), vllm_cache.caches(metrics))


def cache_salt(secret: bytes, dispatch: Dispatch, engine: Engine) -> str:
    """Equal for requests that may reuse each other's prefixes, and for no others; 43 characters.

    JSON, because joined strings could be cut in two ways. Without the secret nobody can find a salt, nor tell from
    one whose it is (engine contract E6).
    """
    whose = [dispatch.profile.id, dispatch.tenant]
    if engine.salted_by != "tenant":
        whose.append(dispatch.principal)
    digest = hmac.digest(secret, msgspec.json.encode(whose), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _with(body: bytes, salt: str) -> bytes:
    """The body, a JSON object with fields, and one field more: not parsed again, because it may be long."""
    return body[:-1] + b',"cache_salt":' + msgspec.json.encode(salt) + b"}"


def _judged(
    profile: Profile, models: tuple[_Model, ...] | None, version: str | None, caches: tuple[Cache, ...]
) -> Readiness:
    if models == ():
        return _found("starting", "loading")
    if models is None:
        return _found("unready", "models_unreadable")
    if version is None:
        return _found("unready", "version_unreadable")
    if not caches:
        return _found("unready", "metrics_unreadable")
    return _mismatch(profile, models, version, caches) or Readiness("ready", facts=FACTS)


def _mismatch(
    profile: Profile, models: tuple[_Model, ...], version: str, caches: tuple[Cache, ...]
) -> Readiness | None:
    engine = profile.engine
    served = {model.id for model in models}
    if profile.model not in served or not served <= set(profile.accepted_models):
        return _found("mismatch", "other_alias")
    if engine is None or not all(ends_in(model.root, engine.model_file) for model in models):
        return _found("mismatch", "other_model_file")
    context = min(model.max_model_len for model in models)
    if context < profile.context_window:
        return _found("mismatch", "context_too_small", Shortfall(profile.context_window, context))
    if version != engine.version:
        return _found("mismatch", "other_version")
    promised = profile.context_window * promised_sequences(profile.limits)
    # Each engine core has a cache of its own, and nobody knows which core a request gets.
    tokens = min(cache.kv_cache_size_tokens for cache in caches)
    if tokens < promised:
        return _found("mismatch", "kv_cache_too_small", Shortfall(promised, tokens))
    for cache in caches:
        if (other := vllm_cache.other_than_approved(engine, cache)) is not None:
            return _found("mismatch", other)
    return None


def _models(answered: Answered | None) -> tuple[_Model, ...] | None:
    found = told(answered, _Models)
    return None if found is None else found.data


def _version(answered: Answered | None) -> str | None:
    found = told(answered, _Version)
    return None if found is None else found.version


def _found(
    state: Literal["starting", "unready", "mismatch"], reason: Reason, shortfall: Shortfall | None = None
) -> Readiness:
    return Readiness(state, reason, shortfall=shortfall)
