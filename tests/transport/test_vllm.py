"""The family of vLLM against what a real vLLM 0.32 said (``make engines`` compares it with one), over real sockets."""

import asyncio
import base64
import itertools
import json
from typing import Any, get_args

import msgspec
import pytest
from recorded_vllm import ALIAS, CONTEXT, FINGERPRINT, RecordedVllm, models, recorded
from transport_support import UNLIMITED, dispatch, open_transports, profile

from adapters.transport.vllm import FACTS, Reason, cache_salt
from gateway.domain.grant import Dispatch
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.domain.profile import Profile
from gateway.domain.profile_state import Shortfall
from gateway.domain.usage import Usage
from gateway.domain.worksheets.memory.kv_formats import KV
from gateway.ports.transport import Readiness

METRICS = recorded("metrics.txt")
KV_TOKENS = 1_048_576
NO_MODEL = b'{"object":"list","data":[]}'
TWO = json.loads(recorded("models.json"))
TWO["data"].append(TWO["data"][0] | {"id": "adapter-of-somebody", "parent": ALIAS})


def vllm(endpoint: str, *, of_engine: dict[str, Any] | None = None, **changes: Any) -> Profile:
    """The profile of the engine that was recorded."""
    base = msgspec.to_builtins(profile(endpoint).engine)
    engine = base | {"name": "vllm", "version": "0.32.0", "model_file": "tiny-llama/1", "prefix_cache": "salted"}
    engine |= {"salted_by": "tenant", "fingerprint": FINGERPRINT, **(of_engine or {})}
    fields = {"id": "tiny", "adapter": "vllm", "model": ALIAS, "accepted_models": [ALIAS], "context_window": CONTEXT}
    return profile(endpoint, **{**fields, "engine": engine, **changes})


async def check(told: dict[str, tuple[int, bytes]], **changes: Any) -> tuple[Readiness, RecordedVllm]:
    async with RecordedVllm().serving() as engine, open_transports() as transports:
        engine.told |= told
        return await transports.check(vllm(engine.url, **changes)), engine


def cache(old: str, new: str, times: int = -1) -> bytes:
    text = METRICS.decode()
    assert old in text
    return text.replace(old, new, times).encode()


def planned(**of_engine: Any) -> dict[str, Any]:
    """An engine whose capacity was computed."""
    capacity = {
        "basis": "arithmetic",
        "architecture": f"tiny.json@sha256:{'0' * 64}",
        "device_gib": "1",
        "reserve_gib": "0",
        "accounting": "vllm>=0.21",
        "block_tokens": 128,
    }
    return {"of_engine": {"capacity": capacity | of_engine.pop("capacity", {}), **of_engine}}


def at_once(concurrency: int | str) -> dict[str, Any]:
    return {"limits": {**UNLIMITED, "concurrency": concurrency}}


FORMAT = "other_kv_format"
SHORT = {"context_too_small", "kv_cache_too_small"}
OFF = {"of_engine": {"prefix_cache": "off", "salted_by": None}}
LINE = next(line for line in METRICS.decode().splitlines() if line.startswith("vllm:cache_config_info{"))
SMALL_SECOND = METRICS + LINE.replace('engine="0"', 'engine="1"').replace(f'"{KV_TOKENS}"', '"4095"').encode() + b"\n"

CORES = b"".join(LINE.replace('engine="0"', f'engine="{core}"').encode() + b"\n" for core in range(200))
LONG = cache('engine="0"', f'engine="{"0" * 5000}"')
PADDED = json.dumps(json.loads(recorded("models.json")) | {"more": [[]] * 100_000}).encode()

FOUND: list[tuple[dict[str, tuple[int, bytes]], dict[str, Any], str, str]] = [
    ({}, {}, "ready", ""),
    # 503: the engine core has died. While it loads vLLM does not listen at all.
    ({"/health": (503, b"")}, {}, "unready", "unhealthy"),
    ({"/health": (307, b"/v1/models")}, {}, "unready", "unhealthy"),
    ({"/v1/models": (200, NO_MODEL)}, {}, "starting", "loading"),
    ({"/v1/models": (200, b"{}")}, {}, "unready", "models_unreadable"),
    ({"/v1/models": (200, b"[" * 100_000)}, {}, "unready", "models_unreadable"),
    ({"/v1/models": (200, models(max_model_len="1024"))}, {}, "unready", "models_unreadable"),
    ({"/v1/models": (401, b"{}")}, {}, "unready", "models_unreadable"),
    # Within what is read, and more than is taken apart: a megabyte of it would stop everything for seconds.
    ({"/v1/models": (200, PADDED)}, {}, "unready", "models_unreadable"),
    ({"/metrics": (200, METRICS + CORES)}, {}, "unready", "metrics_unreadable"),
    ({"/metrics": (200, LONG)}, {}, "unready", "metrics_unreadable"),
    ({"/v1/models": (307, b"/version")}, {}, "unready", "models_unreadable"),
    ({"/version": (404, b"{}")}, {}, "unready", "version_unreadable"),
    ({"/version": (200, b'{"version":32}')}, {}, "unready", "version_unreadable"),
    ({"/metrics": (404, METRICS)}, {}, "unready", "metrics_unreadable"),
    ({"/metrics": (200, b"")}, {}, "unready", "metrics_unreadable"),
    ({"/metrics": (200, b"\xff\xfe")}, {}, "unready", "metrics_unreadable"),
    ({"/metrics": (200, b'vllm:cache_config_info{engine="0" 1.0\n')}, {}, "unready", "metrics_unreadable"),
    ({"/metrics": (200, cache("kv_cache_size_tokens", "other"))}, {}, "unready", "metrics_unreadable"),
    ({"/metrics": (200, cache(f'"{KV_TOKENS}"', '"None"'))}, {}, "unready", "metrics_unreadable"),
    ({"/metrics": (200, METRICS + b"other{ not a metric\n")}, {}, "ready", ""),
    ({"/v1/models": (200, models(id="tiny-llama@2"))}, {}, "mismatch", "other_alias"),
    ({"/v1/models": (200, json.dumps(TWO).encode())}, {}, "mismatch", "other_alias"),
    # Accepted in an answer, and still not what the gateway asks for.
    ({}, {"model": "tiny-llama@2", "accepted_models": [ALIAS, "tiny-llama@2"]}, "mismatch", "other_alias"),
    ({"/v1/models": (200, models(root="/models/tiny-llama/2"))}, {}, "mismatch", "other_model_file"),
    ({"/v1/models": (200, models(root="/models/not-tiny-llama/1"))}, {}, "mismatch", "other_model_file"),
    ({"/v1/models": (200, models(root="tiny-llama/1"))}, {}, "ready", ""),
    ({"/v1/models": (200, models(max_model_len=CONTEXT - 1))}, {}, "mismatch", "context_too_small"),
    ({"/v1/models": (200, models(max_model_len=CONTEXT + 1))}, {}, "ready", ""),
    ({"/version": (200, b'{"version":"0.32.1"}')}, {}, "mismatch", "other_version"),
    ({}, at_once(KV_TOKENS // CONTEXT), "ready", ""),
    ({}, at_once(KV_TOKENS // CONTEXT + 1), "mismatch", "kv_cache_too_small"),
    ({"/metrics": (200, cache(f'"{KV_TOKENS}"', '"1024"'))}, at_once("unlimited"), "ready", ""),
    ({"/metrics": (200, cache(f'"{KV_TOKENS}"', '"1023"'))}, at_once("unlimited"), "mismatch", "kv_cache_too_small"),
    ({"/metrics": (200, SMALL_SECOND)}, {}, "mismatch", "kv_cache_too_small"),
    ({}, planned(), "ready", ""),
    ({}, planned(capacity={"block_tokens": 16}), "mismatch", "other_block_size"),
    ({"/metrics": (200, cache(',block_size="128"', ',block_size="None"'))}, planned(), "ready", ""),
    ({"/metrics": (200, cache(',block_size="128"', ',block_size="64"'))}, planned(), "mismatch", "other_block_size"),
    # Measured: whatever the blocks are, they are the ones that were measured with.
    ({"/metrics": (200, cache(',block_size="128"', ',block_size="64"'))}, {}, "ready", ""),
    ({"/metrics": (200, cache('cache_dtype="auto"', 'cache_dtype="fp8_e4m3"', 1))}, planned(), "mismatch", FORMAT),
    ({"/metrics": (200, cache('cache_dtype="auto"', 'cache_dtype="fp8"', 1))}, planned(kv_format="fp8"), "ready", ""),
    ({"/metrics": (200, cache('cache_dtype="auto"', 'cache_dtype="bfloat16"', 1))}, planned(), "mismatch", FORMAT),
    ({"/metrics": (200, cache('cache_dtype="auto"', 'cache_dtype="of_later"', 1))}, planned(), "ready", ""),
    (
        {"/metrics": (200, cache('cache_dtype="auto"', 'cache_dtype="int8_per_token_head"', 1))},
        planned(),
        "mismatch",
        FORMAT,
    ),
    (
        {"/metrics": (200, cache('cache_dtype="auto"', 'cache_dtype="nvfp4"', 1))},
        planned(kv_format="fp8"),
        "mismatch",
        FORMAT,
    ),
    (
        {"/metrics": (200, cache('cache_dtype="auto"', 'cache_dtype="nvfp4"', 1))},
        planned(kv_format="nvfp4"),
        "ready",
        "",
    ),
    ({}, OFF, "mismatch", "other_prefix_cache"),
    ({"/metrics": (200, cache('prefix_caching="True"', 'prefix_caching="False"'))}, OFF, "ready", ""),
    (
        {"/metrics": (200, cache('prefix_caching="True"', 'prefix_caching="False"'))},
        {},
        "mismatch",
        "other_prefix_cache",
    ),
]


@pytest.mark.parametrize(("told", "changes", "state", "reason"), FOUND)
def test_what_the_engine_says_decides(
    told: dict[str, tuple[int, bytes]], changes: dict[str, Any], state: str, reason: str
):
    readiness, engine = asyncio.run(check(told, **changes))
    facts = FACTS if state == "ready" else ()
    assert (readiness.state, readiness.reason, readiness.facts) == (state, reason, facts)
    assert (readiness.shortfall is not None) is (reason in SHORT)
    assert engine.bodies == []
    assert set(engine.asked) <= {"/health", "/v1/models", "/version", "/metrics"}
    assert not any("x-request-id" in headers or "authorization" in headers for headers in engine.headers)


@pytest.mark.parametrize(
    ("told", "changes", "promised", "reported"),
    [
        ({}, at_once(KV_TOKENS // CONTEXT + 1), KV_TOKENS + CONTEXT, KV_TOKENS),
        ({"/metrics": (200, SMALL_SECOND)}, {}, 4 * CONTEXT, 4095),
        ({"/metrics": (200, cache(f'"{KV_TOKENS}"', '"1023"'))}, at_once("unlimited"), CONTEXT, 1023),
        ({"/metrics": (200, cache(f'"{KV_TOKENS}"', '"1023"'))}, at_once(0), CONTEXT, 1023),
        ({"/v1/models": (200, models(max_model_len=CONTEXT - 1))}, {}, CONTEXT, CONTEXT - 1),
    ],
)
def test_a_shortfall_has_both_numbers(
    told: dict[str, tuple[int, bytes]], changes: dict[str, Any], promised: int, reported: int
):
    assert asyncio.run(check(told, **changes))[0].shortfall == Shortfall(promised, reported)


@pytest.mark.parametrize("tokens", ["-1", str(2**53 + 1), "9" * 400])
def test_a_number_that_no_store_could_keep_is_unreadable(tokens: str):
    told = {"/metrics": (200, cache(f'"{KV_TOKENS}"', f'"{tokens}"'))}
    assert asyncio.run(check(told))[0] == Readiness("unready", "metrics_unreadable")


def test_every_format_that_the_worksheet_and_the_engine_call_alike_is_told_apart_from_others():
    """Else an engine with another one than the approved would pass, as one of which nothing is known."""
    shared = {name for name, known in KV.items() if "vllm>=0.21" in known.engines} - {"fp16", "bf16", "fp32"}
    others = {"float16": "fp16", "bfloat16": "bf16", "fp8_e5m2": "fp8", "fp8_inc": "fp8", "nvfp4_4over6": "nvfp4"}
    for name, approved in ({one: one for one in shared} | others).items():
        told = {"/metrics": (200, cache('cache_dtype="auto"', f'cache_dtype="{name}"', 1))}
        assert asyncio.run(check(told, **planned(kv_format=approved)))[0].state == "ready", name
        assert asyncio.run(check(told, **planned(kv_format="fp32")))[0].reason == FORMAT, name


def test_every_reason_of_the_closed_set_can_be_found():
    assert {reason for *_, reason in FOUND if reason} | {"unreachable"} == set(get_args(Reason))


def test_an_engine_that_refuses_is_unready():
    async def run() -> Readiness:
        async with open_transports() as transports:
            return await transports.check(vllm("http://127.0.0.1:9/v1"))

    assert asyncio.run(run()) == Readiness("unready", "unreachable")


def test_metrics_without_end_are_unreadable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("adapters.transport.asking.MAX_BYTES", len(METRICS) - 1)
    assert asyncio.run(check({}))[0] == Readiness("unready", "metrics_unreadable")


# Dispatches


async def sent(answer: tuple[int, bytes] | None = None, *, of: dict[str, Any] | None = None, **changes: Any) -> Any:
    async with RecordedVllm().serving() as engine, open_transports() as transports:
        engine.answer = answer or engine.answer
        one = dispatch(vllm(engine.url, **changes), dispatch_id="d-1")
        return await transports.send(msgspec.structs.replace(one, **(of or {}))), engine


def outcome(answer: tuple[int, bytes] | None = None, **changes: Any) -> Outcome:
    found, engine = asyncio.run(sent(answer, **changes))
    assert len(engine.bodies) == 1
    return found


def test_a_real_answer_is_completed_and_bears_the_dispatch_id():
    found = outcome()
    assert isinstance(found, Completed)
    assert found.provider_ref == "chatcmpl-d-1"
    assert (found.completion.model, found.completion.finish_reason) == (ALIAS, "length")
    assert found.completion.usage == Usage(input=14, output=8)


def test_an_answer_with_another_fingerprint_is_charged():
    assert outcome(of_engine={"fingerprint": "tiny-llama-2"}) == Charged("other_fingerprint", Usage(14, 8))


@pytest.mark.parametrize("name", ["404_model", "400_cap", "400_context", "400_salt", "400_malformed", "400_tools"])
def test_a_real_refusal_was_before_work(name: str):
    assert outcome((int(name[:3]), recorded(f"error_{name}.json"))) == NoEffect("rejected")


def test_a_full_queue_is_busy():
    assert outcome((503, recorded("error_503_queue.json"))) == NoEffect("busy")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        # Of the same status: what a proxy says, what may come after work began, and what is no error object.
        (503, b"<html>Service Unavailable</html>"),
        (503, b'{"error":{"message":"No.","type":"ServiceUnavailableError","code":503}}'),
        (503, b'{"error":"The model is currently scaling. Please try again later."}'),
        (500, b'{"error":{"message":"EngineCore encountered an issue.","type":"InternalServerError","code":500}}'),
        (500, b'{"error":{"message":"cannot schedule new futures after shutdown","type":"InternalServerError"}}'),
        (500, b'{"error":{"message":"No.","type":"Service Unavailable","code":500}}'),
    ],
)
def test_what_does_not_say_that_it_was_before_work_is_unknown(status: int, body: bytes):
    assert outcome((status, body)) == Unknown("unlisted_status")


# Salts


def body_of(**of: Any) -> dict[str, Any]:
    _, engine = asyncio.run(sent(**of))
    (headers,) = engine.headers
    assert headers["x-request-id"] == "d-1"
    return dict(engine.bodies[0])


def test_a_salted_body_has_one_field_more_and_is_otherwise_the_same():
    salted = body_of()
    plain = body_of(of_engine={"prefix_cache": "shared", "salted_by": None})
    salt = salted.pop("cache_salt")
    assert salted == plain
    assert (len(salt), len(base64.urlsafe_b64decode(salt + "="))) == (43, 32)


@pytest.mark.parametrize("prefix_cache", ["off", "single_tenant", "shared"])
def test_what_is_not_salted_has_no_salt(prefix_cache: str):
    to = {"prefix_cache": prefix_cache, "salted_by": None, "tenants": ["acme"]}
    assert "cache_salt" not in body_of(of_engine=to)


def salt(
    tenant: str = "acme", principal: str = "assistant", *, by: str | None = "tenant", id_: str = "a", key: bytes = b"s"
) -> str:
    to = vllm("http://127.0.0.1:9/v1", id=id_, of_engine={"salted_by": by})
    one: Dispatch = msgspec.structs.replace(dispatch(to), tenant=tenant, principal=principal)
    assert to.engine is not None
    return cache_salt(key, one, to.engine)


def test_one_tenant_has_one_salt_whoever_asks_and_whatever_is_asked():
    assert salt(principal="one") == salt(principal="other")


def test_salts_of_tenants_profiles_and_gateways_differ():
    assert len({salt(), salt("beta"), salt(id_="b"), salt(key=b"other"), salt(by="principal")}) == 5


def test_salts_of_principals_differ_where_the_profile_says_so_and_where_it_says_nothing():
    assert salt(principal="one", by="principal") != salt(principal="other", by="principal")
    assert salt(principal="one", by=None) != salt(principal="other", by=None)


def test_no_two_boundaries_are_written_alike():
    names = ["a", "b", "ab", "a,b", 'a","b', "a\0b", "", "\0", "a/b", "/"]
    pairs = list(itertools.product(names, repeat=2))
    by_principal = {salt(tenant, principal, by="principal") for tenant, principal in pairs}
    by_tenant = {salt(tenant) for tenant in names}
    assert len(by_principal) == len(pairs)
    assert by_principal.isdisjoint(by_tenant)


def test_a_salt_names_nobody():
    assert not any(name in salt("acme", "assistant").lower() for name in ("acme", "assist"))
