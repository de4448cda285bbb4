"""litellm's translations of requests and answers, and nothing else of litellm. The only module that imports it.

What is used are pure functions of its provider configurations: they make the provider's body from ours and read the
parts of an answer. Its URLs, headers, credentials, clients, retries and callbacks take no part. These functions are
half internal, so the version is exact, and what comes out of them is checked (hosted_body.py).
"""

import functools
import logging
import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any, Literal

from gateway.domain.profile import Profile

Provider = Literal["openai", "azure", "anthropic"]
ENVIRONMENT = {
    # Before the import, or it fetches a map of prices, and whatever else it would like to have newer.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_OFFLINE_MODE": "true",
    # In its other mode it has read files named .env into the environment.
    "LITELLM_MODE": "PRODUCTION",
}
LOGGERS = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router")


class NotInstalled(Exception):
    """The extra ``hosted`` is not installed."""


class NotTranslated(Exception):
    """litellm refused, or what it returned is not what was asked for. Never holds a text of litellm's."""


class Translation:
    """The loaded library. Made by ``load`` alone."""

    def __init__(self, litellm: Any) -> None:
        from litellm.types.utils import LlmProviders
        from litellm.utils import ProviderConfigManager

        self._providers: Mapping[Provider, Any] = {
            "openai": LlmProviders.OPENAI,
            "azure": LlmProviders.AZURE,
            "anthropic": LlmProviders.ANTHROPIC,
        }
        self._config_for = ProviderConfigManager.get_provider_chat_config
        self._read_anthropic = litellm.AnthropicConfig().extract_response_content

    def body(
        self, provider: Provider, profile: Profile, messages: list[dict[str, Any]], parameters: dict[str, Any]
    ) -> dict[str, Any]:
        """The provider's body for a request in OpenAI's shape. Not checked here.

        :raises NotTranslated: if litellm does not translate it.
        """
        model = profile.model
        further = {"api_version": profile.api_version or ""} if provider == "azure" else {}
        try:
            config = self._config_for(model, self._providers[provider])
            mapped = config.map_openai_params(
                non_default_params=parameters, optional_params={}, model=model, drop_params=False, **further
            )
            made = config.transform_request(
                model=model, messages=messages, optional_params=mapped, litellm_params={}, headers={}
            )
        except Exception as error:  # noqa: BLE001 - its errors quote prompts: only their class goes further
            raise NotTranslated(type(error).__name__) from None
        if not isinstance(made, dict):
            raise NotTranslated("no_body")
        return made

    def anthropic_parts(self, answer: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        """Text and tool calls (in OpenAI's shape) of an answer of Anthropic's.

        ``transform_response`` would do the same and more: it reads a finish reason that it does not know as "stop",
        a missing usage as 0, and builds models of all of it, for half a millisecond.

        :raises NotTranslated: if the answer is none.
        """
        try:
            text, _, _, _, tool_calls, *_ = self._read_anthropic(completion_response=answer)
        except Exception as error:  # noqa: BLE001 - whatever a provider answers
            raise NotTranslated(type(error).__name__) from None
        return text, tool_calls


def loaded() -> Translation | None:
    """The translations if they were loaded. Never loads them: that takes seconds."""
    return load() if load.cache_info().currsize else None


@functools.cache
def load() -> Translation:
    """Import litellm: seconds, and about 200 MB. For a thread, at the start or a reload.

    :raises NotInstalled: if it is not there.
    """
    if "litellm" not in sys.modules:
        os.environ.update(ENVIRONMENT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations within its dependencies
            import litellm

            translation = Translation(litellm)
    except ModuleNotFoundError:
        raise NotInstalled from None
    _silence(litellm)
    return translation


def _silence(litellm: Any) -> None:
    """Its loggers write prompts to stderr, and their levels can be changed from the environment."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        logger.disabled = True
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.callbacks = []
