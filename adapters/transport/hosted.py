"""Hosted providers. litellm translates; URL, headers, credential and the one request are the gateway's own."""

from collections.abc import Callable, Mapping
from urllib.parse import quote

from msgspec import Struct

from adapters.transport.anthropic_answer import read_anthropic
from adapters.transport.anthropic_body import anthropic_body
from adapters.transport.credential_use import credential_for, not_covered
from adapters.transport.family import NotSendable
from adapters.transport.hosted_body import openai_body
from adapters.transport.litellm_translation import NotTranslated, Translation
from adapters.transport.wire import Call
from adapters.transport.wire_answer import Answer, read_answer
from gateway.domain.grant import Dispatch
from gateway.domain.profile import Adapter, Profile
from gateway.ports.secrets import Held, Secrets
from gateway.ports.transport import Readiness

ANTHROPIC_VERSION = "2023-06-01"
"""Of the Messages API; the only one besides the first."""


class Dialect(Struct, frozen=True):
    """How one provider is addressed, and how it speaks."""

    url: Callable[[Profile], str]
    credential: Callable[[str], tuple[str, str]]
    """The header that carries a secret."""
    dispatch_id: str
    """The header for the caller's own id of a request."""
    body: Callable[[Translation, Dispatch], bytes]
    read: Callable[[Translation, bytes], Answer | None]
    headers: Mapping[str, str] = {}


def _base(profile: Profile) -> str:
    return profile.endpoint.rstrip("/")


def _azure_url(profile: Profile) -> str:
    """``model`` is the name that the account gave the model."""
    name = quote(profile.model, safe="")
    version = quote(profile.api_version or "", safe="")
    return f"{_base(profile)}/openai/deployments/{name}/chat/completions?api-version={version}"


DIALECTS: Mapping[Adapter, Dialect] = {
    "openai": Dialect(
        url=lambda profile: _base(profile) + "/chat/completions",
        credential=lambda secret: ("Authorization", f"Bearer {secret}"),
        dispatch_id="X-Client-Request-Id",
        body=lambda translation, dispatch: openai_body(translation, "openai", dispatch),
        read=lambda _, body: read_answer(body),
    ),
    "azure": Dialect(
        url=_azure_url,
        credential=lambda secret: ("api-key", secret),
        dispatch_id="x-ms-client-request-id",
        body=lambda translation, dispatch: openai_body(translation, "azure", dispatch),
        read=lambda _, body: read_answer(body),
    ),
    "anthropic": Dialect(
        url=lambda profile: _base(profile) + "/messages",
        credential=lambda secret: ("x-api-key", secret),
        # Anthropic documents none; it ignores this one, and whatever stands in between may log it.
        dispatch_id="X-Request-Id",
        body=anthropic_body,
        read=read_anthropic,
        headers={"anthropic-version": ANTHROPIC_VERSION},
    ),
}


def is_hosted(adapter: Adapter) -> bool:
    """Whether an adapter needs litellm's translations."""
    return adapter in DIALECTS


class Hosted:
    """Implements Family for one hosted adapter."""

    def __init__(self, dialect: Dialect, secrets: Secrets, loaded: Callable[[], Translation | None]) -> None:
        """``loaded`` gives the translations if they were loaded, at the start or a reload; a request never waits."""
        self._dialect = dialect
        self._secrets = secrets
        self._loaded = loaded

    def call_for(self, dispatch: Dispatch) -> Call:
        """See Family.call_for."""
        profile, dialect = dispatch.profile, self._dialect
        if (translation := self._loaded()) is None:
            raise NotSendable("translation_not_loaded")
        try:
            body = dialect.body(translation, dispatch)
        except NotTranslated as refused:
            raise NotSendable(f"not_translated.{refused}") from None
        url = dialect.url(profile)
        held = credential_for(self._secrets, profile.credential, url=url, tenant=dispatch.tenant)
        if not isinstance(held, Held):
            raise NotSendable(held)
        name, value = dialect.credential(held.secret.reveal())
        return Call(
            url=url,
            headers={
                "Content-Type": "application/json",
                **dialect.headers,
                dialect.dispatch_id: dispatch.dispatch_id,
                name: value,
            },
            body=body,
            connect_s=profile.timeouts.connect_ms / 1000,
            total_s=profile.timeouts.total_ms / 1000,
            send_by_s=dispatch.send_by_s,
            max_answer_bytes=profile.max_answer_bytes,
        )

    def read(self, body: bytes) -> Answer | None:
        """See Family.read."""
        translation = self._loaded()
        return None if translation is None else self._dialect.read(translation, body)

    async def check(self, profile: Profile) -> Readiness:
        """Ready by configuration and credential: asking the provider would be a generation, or tell nothing."""
        if profile.credential is None:
            return Readiness("unready", "credential_missing")
        held = self._secrets.of(profile.credential)
        if not isinstance(held, Held):
            return Readiness("unready", held)
        if (uncovered := not_covered(held, self._dialect.url(profile))) is not None:
            return Readiness("unready", uncovered)
        if self._loaded() is None:
            return Readiness("unready", "translation_not_loaded")
        return Readiness("ready")
