"""What the rules decide of requests and sources, asked of a real OPA in the gateway's own terms."""

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict, replace
from policy_support import ACCESS, DRAFT, NOW_S, OPERATE, REPLAY, ROUTES, SOURCE, VISIBLE, Asked, asking, running
from snapshots import BUNDLE, DAY_S, TENANT, UNTIL_S, snapshot

from adapters.policy.engine import Envelope
from adapters.policy.registry_facts import facts
from gateway.domain.questions import (
    AccessAnswer,
    Failed,
    FailedCheck,
    OperateAnswer,
    VisibleAnswer,
)
from gateway.domain.request import SourceRef
from gateway.domain.source import SourceFact, unknown_source


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    with asking() as found:
        yield found


def test_a_grounded_request_is_allowed_under_the_strictest_class(asked: Asked) -> None:
    answer = asked.access(ACCESS)
    assert (answer.allow, answer.privacy_class) == (True, "private")
    assert answer.failed.source == {"0": (), "1": ()}


def test_a_general_request_is_allowed_under_the_tenants_class(asked: Asked) -> None:
    answer = asked.access(DRAFT)
    assert (answer.allow, answer.privacy_class, answer.failed.source) == (True, "internal", {})


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ({"purpose": "train"}, {"purpose"}),
        ({"purpose": "train", "sources": ()}, {"purpose"}),
        ({"purpose": "train", "alias": "code"}, {"alias", "purpose"}),
        ({"purpose": "draft"}, {"grounded"}),
        ({"alias": "code"}, {"alias"}),
        ({"sources": ()}, {"grounded"}),
        ({"tenant": "b", "sources": ()}, {"tenant_active"}),
        ({"tenant": "system"}, {"tenant_active"}),
        ({"roles": ()}, {"role"}),
        ({"roles": ("auditor",), "purpose": "train", "alias": "code"}, {"role"}),
        ({"roles": ("generate", "operator")}, {"role"}),
        ({"roles": ("operator",), "tenant": "system"}, {"role", "tenant_active"}),
    ],
)
def test_a_request_check_that_fails_denies_and_is_named(asked: Asked, change: dict[str, Any], failed: set[str]) -> None:
    answer = asked.access(replace(ACCESS, **change))
    assert (answer.allow, answer.privacy_class) == (False, "")
    assert set(answer.failed.request) == failed


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ({"tenant": "b"}, ("readable",)),
        ({"groups": ("x",)}, ("readable",)),
        ({"groups": ()}, ("readable",)),
        ({"known": False}, ("revision",)),
        ({"cited": "2"}, ("revision",)),
        ({"withdrawn": True}, ("current",)),
        ({"released_s": NOW_S + 1}, ("current",)),
        ({"privacy_class": "privat"}, ("classified",)),
        ({"withdrawn": True, "cited": "2"}, ("current", "revision")),
        ({"as_of_s": NOW_S + 1}, ("fresh",)),
        ({"as_of_s": NOW_S - DAY_S - 1}, ("fresh",)),
        ({"as_of_s": 0, "privacy_class": "privat"}, ("classified",)),
        ({"as_of_s": 0, "privacy_class": "privat", "groups": ()}, ("readable",)),
    ],
)
def test_a_source_check_that_fails_denies_and_names_the_source(
    asked: Asked, change: dict[str, Any], failed: tuple[str, ...]
) -> None:
    sources = (SOURCE, replace(SOURCE, **change))
    answer = asked.access(replace(ACCESS, sources=sources))
    assert (answer.allow, answer.privacy_class) == (False, "")
    assert answer.failed.source == {"0": (), "1": failed}
    assert asked.shown(replace(REPLAY, sources=sources)) is False


@pytest.mark.parametrize(
    "boundary",
    [
        {"released_s": NOW_S},
        {"as_of_s": NOW_S},
        {"as_of_s": NOW_S - DAY_S},
        {"as_of_s": NOW_S - 7 * DAY_S, "privacy_class": "internal"},
        {"as_of_s": NOW_S - 30 * DAY_S, "privacy_class": "public"},
    ],
)
def test_at_its_boundary_a_source_still_passes(asked: Asked, boundary: dict[str, Any]) -> None:
    """Facts are held to the class of their own source, whatever the others ask for."""
    sources = (SOURCE, replace(SOURCE, **boundary))
    assert asked.access(replace(ACCESS, sources=sources)).allow is True
    assert asked.shown(replace(REPLAY, sources=sources)) is True


def test_who_may_not_ask_at_all_learns_nothing_of_the_sources(asked: Asked) -> None:
    question = replace(ACCESS, roles=("auditor",), sources=(SOURCE, replace(SOURCE, groups=(), withdrawn=True)))
    assert asked.access(question).failed == Failed(("role",), {"0": (), "1": ()})


def test_an_operator_sees_no_saved_answer(asked: Asked) -> None:
    assert asked.shown(replace(REPLAY, roles=("generate", "operator"))) is False


def test_two_revisions_of_one_source_are_judged_each_for_itself(asked: Asked) -> None:
    sources = (replace(SOURCE, cited="1", revision="1", withdrawn=True), SOURCE)
    assert asked.access(replace(ACCESS, sources=sources)).failed.source == {"0": ("current",), "1": ()}


def test_an_unknown_source_another_revision_and_a_forbidden_one_look_the_same(asked: Asked) -> None:
    forbidden = replace(SOURCE, tenant="b", withdrawn=True, privacy_class="secret")
    looks = [
        asked.codes(replace(ACCESS, sources=(source,)))
        for source in (unknown_source(SourceRef("x", "1")).fact, replace(SOURCE, cited="2"), forbidden)
    ]
    assert looks[0] == looks[1] == looks[2]
    assert {code for code, _ in looks[0]} == {"source_forbidden"}


def test_32_sources_are_all_judged(asked: Asked) -> None:
    sources = (SOURCE,) * 31 + (replace(SOURCE, withdrawn=True),)
    answer = asked.access(replace(ACCESS, sources=sources))
    assert [index for index, names in answer.failed.source.items() if names] == ["31"]


def test_an_inactive_tenant_is_refused_and_sees_nothing_saved() -> None:
    async def ask() -> tuple[AccessAnswer, bool]:
        off = snapshot(tenants=(replace(TENANT, active=False),))
        async with running(registry=off) as policy:
            return (await policy.access(ACCESS)).answer, (await policy.replay(REPLAY)).answer.allow

    answer, shown = asyncio.run(ask())
    assert (answer.allow, answer.failed.request, shown) == (False, ("tenant_active",), False)


def test_an_inactive_tenant_sees_no_alias_and_administers_nothing() -> None:
    async def ask() -> tuple[VisibleAnswer, OperateAnswer]:
        off = snapshot(tenants=(replace(TENANT, active=False),))
        async with running(registry=off) as policy:
            return (await policy.visible(VISIBLE)).answer, (await policy.operate(OPERATE)).answer

    assert asyncio.run(ask()) == (VisibleAnswer((), ("tenant_active",)), OperateAnswer(False, ("operator_active",)))


def test_replay_reads_the_purpose_and_neither_alias_nor_release() -> None:
    async def ask() -> tuple[bool, bool]:
        taken = replace(TENANT, aliases=("code",), purposes=("answer",))
        async with running(registry=snapshot(tenants=(taken,), releases={})) as policy:
            draft = replace(REPLAY, purpose="draft", sources=())
            return (await policy.replay(REPLAY)).answer.allow, (await policy.replay(draft)).answer.allow

    assert asyncio.run(ask()) == (True, False)


def test_aliases_are_seen_until_their_bundle_expires(asked: Asked) -> None:
    assert asked.visible(VISIBLE) == VisibleAnswer(("assist", "chat"), ())
    assert asked.visible(replace(VISIBLE, time_s=UNTIL_S - 1)).aliases == ("assist", "chat")
    assert asked.visible(replace(VISIBLE, time_s=UNTIL_S)) == VisibleAnswer((), ())


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ({"roles": ("auditor",)}, ("role",)),
        ({"roles": ("generate", "operator")}, ("role",)),
        ({"tenant": "b"}, ("tenant_active",)),
        ({"tenant": "system", "roles": ("operator",)}, ("role", "tenant_active")),
    ],
)
def test_who_may_not_generate_sees_no_alias(asked: Asked, change: dict[str, Any], failed: tuple[str, ...]) -> None:
    assert asked.visible(replace(VISIBLE, **change)) == VisibleAnswer((), failed)


def test_an_alias_without_a_release_is_not_seen() -> None:
    async def ask() -> tuple[str, ...]:
        tenant = replace(TENANT, aliases=("of-others", "code", "chat"))
        over = replace(BUNDLE, id="over@1", expires="2020-01-01T00:00:00Z")
        releases = {"chat": "chat@1", "more": "chat@1", "of-others": "over@1"}
        registry = snapshot(tenants=(tenant,), bundles=(BUNDLE, over), releases=releases)
        async with running(registry=registry) as policy:
            return (await policy.visible(VISIBLE)).answer.aliases

    assert asyncio.run(ask()) == ("chat",)


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ({}, ()),
        ({"tenant": "system"}, ()),
        ({"roles": ("auditor",), "deed": "read"}, ()),
        ({"roles": ("auditor",)}, ("administers",)),
        ({"roles": ("generate",), "deed": "read"}, ("administers",)),
        ({"roles": (), "deed": "read"}, ("administers",)),
        ({"area": "prompts"}, ("administers",)),
        ({"deed": "delete"}, ("administers",)),
        ({"tenant": "b"}, ("operator_active",)),
        ({"tenant": "b", "roles": ("generate",)}, ("administers", "operator_active")),
    ],
)
def test_operators_change_auditors_read_and_nobody_else_does(
    asked: Asked, change: dict[str, Any], failed: tuple[str, ...]
) -> None:
    assert asked.operate(replace(OPERATE, **change)) == OperateAnswer(not failed, failed)


def test_a_decision_says_which_rule_failed_for_what_and_where(asked: Asked) -> None:
    """For those who look after policy; callers see code and remedy alone."""
    sources = (SOURCE, replace(SOURCE, withdrawn=True))
    assert asked.decided(replace(ACCESS, alias="code", sources=sources)).failed == (
        FailedCheck(
            check="request/alias", about="", code="alias_not_allowed", place="gateway/request/alias/alias.rego:8"
        ),
        FailedCheck(
            check="source/current", about="1", code="source_not_current", place="gateway/source/current/current.rego:8"
        ),
    )
    assert asked.decided(ACCESS).failed == ()


def test_a_decision_of_routes_names_the_profile(asked: Asked) -> None:
    failed = asked.decided(replace(ROUTES, features=("chat", "tools"))).failed
    assert [(one.check, one.about) for one in failed] == [("route/capable", "own"), ("route/capable", "rented")]
    assert {one.place for one in failed} == {"gateway/route/capable/capable.rego:8"}


def test_an_empty_purpose_class_asks_for_the_lowest() -> None:
    assert facts(snapshot()).purposes["draft"].privacy_class == "public"


def _json(question: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(question))


def _holes(document: Any) -> Iterator[Any]:
    """The document without one node, for each node."""
    children = document.items() if isinstance(document, dict) else enumerate(document)
    for key, child in children:
        rest = list(document) if isinstance(document, list) else dict(document)
        del rest[key]
        yield rest
        if isinstance(child, dict | list):
            for hole in _holes(child):
                whole = list(document) if isinstance(document, list) else dict(document)
                whole[key] = hole
                yield whole


def test_opa_04_any_hole_in_a_question_denies(asked: Asked) -> None:
    """Past the structs, which have no optional field: with raw JSON."""
    engine = asked.policy._engine

    async def answer(package: str, question: Any) -> Any:
        decode = msgspec.json.Decoder(Envelope[Any]).decode
        return await engine.ask(package, msgspec.json.encode(question), decode, lambda _: True)

    for entrypoint, question in (("access", ACCESS), ("replay", REPLAY)):
        whole = _json(replace(question, sources=(replace(SOURCE, groups=("g",)),)))
        assert asked._runner.run(answer(f"gateway/{entrypoint}", whole))["allow"] is True
        holes = list(_holes(whole))
        assert len(holes) > len(asdict(question)) + len(SourceFact.__struct_fields__)
        for hole in holes:
            assert asked._runner.run(answer(f"gateway/{entrypoint}", hole))["allow"] is False
    for hole in _holes(_json(ROUTES)):
        assert asked._runner.run(answer("gateway/routes", hole))["routes"] == []
    for hole in _holes(_json(VISIBLE)):
        assert asked._runner.run(answer("gateway/visible", hole))["aliases"] == []
    for hole in _holes(_json(OPERATE)):
        assert asked._runner.run(answer("gateway/operate", hole))["allow"] is False
