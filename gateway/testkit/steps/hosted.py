"""Steps about hosted providers, which exist over HTTP alone: what matters is what leaves the gateway."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_bdd import given, parsers, then, when

from gateway.testkit.doors.hosted import SECRET, HostedProviders
from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.provider.behaviours import redirect
from gateway.testkit.provider.hosted import HostedFamily, answer, error
from gateway.testkit.steps.asking import Memory
from gateway.testkit.steps.http_only import places
from gateway.testkit.world import Ask

NAMES: dict[str, HostedFamily] = {"first": "openai", "second": "anthropic"}
ALIAS = "assist"


@pytest.fixture
def hosted(world: HttpWorld, tmp_path: Path) -> Iterator[HostedProviders]:
    providers = HostedProviders(world, tmp_path)
    yield providers
    providers.close()


@given(parsers.re(r'the (?P<which>first|second) hosted provider answers "(?P<text>[^"]*)"'))
def _answers(hosted: HostedProviders, which: str, text: str) -> None:
    family = NAMES[which]
    hosted.has_its_credential(family)
    said: dict[HostedFamily, dict[str, Any]] = {
        "openai": {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]},
        "anthropic": {"content": [{"type": "text", "text": text}]},
    }
    hosted.does(family, answer(family, **said[family]))


@given('the assistant has asked the model "assist" in vain')
def _asked_in_vain(world: HttpWorld) -> None:
    assert world.ask(Ask(key="k-0", model=ALIAS)).code == "no_ready_route"


@when(parsers.parse('the second hosted provider answers "{text}" from a reload on'))
def _answers_after_reload(hosted: HostedProviders, text: str) -> None:
    _answers(hosted, "second", text)
    hosted.reload()
    hosted.serves("anthropic")


@given("the hosted provider points to another host")
def _redirects(hosted: HostedProviders) -> None:
    hosted.has_its_credential("openai")
    hosted.does("openai", redirect(hosted.elsewhere.url + "/chat/completions"))


@given("the hosted provider refuses the credential")
def _refuses_credential(hosted: HostedProviders) -> None:
    hosted.has_its_credential("openai")
    # As some do: with the credential in the text.
    words = f"Incorrect API key provided: {SECRET}."
    hosted.does("openai", error("openai", 401, "invalid_api_key", words))


@given("the hosted provider repeats request and credential in an error")
def _repeats(hosted: HostedProviders) -> None:
    hosted.has_its_credential("openai")
    hosted.does("openai", error("openai", 500, "server_error", f"CANARY-P CANARY-K {SECRET}"))


@given("no hosted provider has its credential")
def _no_credential(hosted: HostedProviders) -> None:
    assert hosted.calls("openai") == 0


@given(parsers.parse("the {which} hosted provider is ready"))
def _is_ready(hosted: HostedProviders, which: str) -> None:
    hosted.serves(NAMES[which])


@when(parsers.parse('the assistant asks a hosted provider "{question}" under the key "{key}"'))
def _asks(world: HttpWorld, memory: Memory, question: str, key: str) -> None:
    memory.replies.append(world.ask(Ask(question=question, key=key, model=ALIAS)))


@then(parsers.parse("only the {which} hosted provider was called, and once"))
def _called_once(hosted: HostedProviders, which: str) -> None:
    assert {name: hosted.calls(family) for name, family in NAMES.items()} == {
        name: int(name == which) for name in NAMES
    }


@then("no hosted provider was called")
def _none_called(hosted: HostedProviders) -> None:
    assert [hosted.calls(family) for family in NAMES.values()] == [0, 0]


@then("the other host received nothing")
def _elsewhere(hosted: HostedProviders) -> None:
    assert hosted.elsewhere.connection_count == 0


@then("the credential of the provider is found with the provider alone")
def _credential_found(world: HttpWorld, hosted: HostedProviders, memory: Memory) -> None:
    assert any(SECRET in hosted.presented(family) for family in NAMES.values())
    assert places(world, memory, SECRET) == []
