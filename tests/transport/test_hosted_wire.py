"""Whatever a hosted provider does, it gets exactly one request, and nobody else gets any."""

import asyncio
import time

import msgspec
import pytest
from hosted_support import FAMILIES, IDS, SECRET, hosted, hosted_profile, outcome_of_one
from transport_support import SHORT, Recorded, dispatch

from adapters.transport import load_translations
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.ports.events import Faulted
from gateway.testkit.provider.behaviours import Behaviour, malformed_json, redirect
from gateway.testkit.provider.hosted import HostedFamily, answer, error
from gateway.testkit.provider.server import Provider

pytestmark = pytest.mark.parametrize("family", FAMILIES)


def delivered(family: HostedFamily, delivery: str) -> Behaviour:
    return msgspec.structs.replace(answer(family), delivery=delivery)


def one(family: HostedFamily, behaviour: Behaviour, **changes: object) -> Outcome:
    outcome, received = asyncio.run(outcome_of_one(family, behaviour, **changes))
    assert received == 1
    return outcome


def test_an_answer_completes(family: HostedFamily):
    outcome = one(family, answer(family))
    assert isinstance(outcome, Completed)
    assert outcome.completion.content == "Hello."


def test_errors_are_one_request_each(family: HostedFamily):
    assert one(family, error(family, 429, "rate_limit_error")) == NoEffect("busy")
    assert one(family, error(family, 401, "authentication_error")) == NoEffect("rejected")
    for status in (408, 409, 500, 502, 503, 504, 529):
        assert one(family, error(family, status, "api_error")) == Unknown("unlisted_status")


def test_what_is_lost_is_unknown_and_not_sent_again(family: HostedFamily):
    assert one(family, Behaviour(delivery="drop")) == Unknown("connection_lost")
    assert one(family, Behaviour(delivery="reset")) == Unknown("connection_lost")
    assert one(family, delivered(family, "drop_after_headers")) == Unknown("truncated_answer")
    assert one(family, delivered(family, "truncated")) == Unknown("truncated_answer")
    assert one(family, delivered(family, "truncated_chunked")) == Unknown("truncated_answer")
    assert one(family, Behaviour(delivery="not_http")) == Unknown("malformed_answer")
    assert one(family, malformed_json()) == Unknown("malformed_answer")
    assert one(family, Behaviour(delivery="hang"), timeouts=SHORT) == Unknown("timeout_after_send")


def test_a_trickle_ends_at_the_total_deadline(family: HostedFamily):
    started = time.monotonic()
    assert one(family, delivered(family, "trickle"), timeouts=SHORT) == Unknown("timeout_after_send")
    assert time.monotonic() - started < 2


def test_an_answer_without_end_is_cut_off_and_charged(family: HostedFamily):
    large = answer(family, padding="x" * 100_000)
    assert one(family, large, max_answer_bytes=10_000) == Charged("answer_too_large")


def test_a_redirect_reaches_nobody_else(family: HostedFamily):
    async def run() -> None:
        async with hosted(family) as (transports, provider, to), Provider() as other:
            for status in (301, 302, 303, 307, 308):
                provider.script(redirect(other.url + "/chat/completions", status))
                assert await transports.send(dispatch(to)) == Unknown("redirect")
            assert (provider.generation_count, other.connection_count) == (5, 0)

    asyncio.run(run())


def test_proxies_and_settings_of_libraries_in_the_environment_are_ignored(
    family: HostedFamily, monkeypatch: pytest.MonkeyPatch
):
    async def run() -> None:
        async with hosted(family) as (transports, provider, to), Provider() as other:
            for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{other.port}")
            for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "AZURE_API_BASE", "ANTHROPIC_API_BASE"):
                monkeypatch.setenv(name, other.url)
            for name in ("OPENAI_API_KEY", "AZURE_API_KEY", "ANTHROPIC_API_KEY"):
                monkeypatch.setenv(name, "of-somebody-else")
            assert isinstance(await transports.send(dispatch(to)), Completed)
            assert (provider.generation_count, other.connection_count) == (1, 0)
            assert "of-somebody-else" not in repr(provider.generations)

    asyncio.run(run())


def test_the_headers_are_the_gateways_own(family: HostedFamily):
    async def run() -> dict[str, str]:
        async with hosted(family) as (transports, provider, to):
            await transports.send(dispatch(to, dispatch_id="d-7"))
            return provider.generations[0].headers

    headers = asyncio.run(run())
    secret = {"openai": {"authorization": f"Bearer {SECRET}"}, "azure": {"api-key": SECRET}}
    theirs = {"x-api-key": SECRET, "anthropic-version": "2023-06-01"}
    common = {"host", "accept", "accept-encoding", "user-agent", "content-type", "content-length"}
    own = {name: value for name, value in headers.items() if name not in common}
    assert own == {IDS[family]: "d-7", **secret.get(family, theirs)}
    assert headers["user-agent"] == "policy-gateway"


def test_a_model_name_is_one_segment_of_an_address(family: HostedFamily):
    async def run() -> list[str]:
        async with hosted(family) as (transports, provider, to):
            odd = hosted_profile(family, to.endpoint, model="a/b+c:1", accepted_models=["a/b+c:1"])
            await transports.send(dispatch(odd))
            return [request.path for request in [*provider.generations, *provider.others]]

    (path,) = asyncio.run(run())
    assert "a/b" not in path
    assert family != "azure" or "/deployments/a%2Fb%2Bc:1/chat/" in path


def test_a_fault_before_the_wire_sends_nothing_and_leaves_nothing_unknown(
    family: HostedFamily, monkeypatch: pytest.MonkeyPatch
):
    """The text of an error may be of the request, so its class alone is told."""

    def breaks(*_: object) -> None:
        raise RecursionError("CANARY-P")

    async def run() -> None:
        events = Recorded()
        async with hosted(family, events) as (transports, provider, to):
            monkeypatch.setattr(type(load_translations()), "body", breaks)
            assert await transports.send(dispatch(to)) == NoEffect("rejected")
            assert provider.connection_count == 0
        assert events.events == [Faulted("transport", "RecursionError")]

    asyncio.run(run())
