"""What the rules decide, asked of a real OPA in the gateway's own terms."""

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict, replace
from policy_support import ACCESS, DRAFT, NOW_S, REPLAY, ROUTES, SOURCE, running
from snapshots import BUNDLE, OWN, RENTED, TENANT, UNTIL_S, snapshot

from adapters.policy import OpaPolicy
from adapters.policy.engine import Envelope
from adapters.policy.registry_facts import facts
from gateway.domain.profile import Approval, Profile
from gateway.domain.questions import AccessAnswer, AccessQuestion, ReplayQuestion, RoutesAnswer, RoutesQuestion
from gateway.domain.request import SourceRef
from gateway.domain.source import SourceFact, unknown_source


class Asked:
    """One OPA for all questions about the usual registry."""

    def __init__(self, runner: asyncio.Runner, policy: OpaPolicy) -> None:
        self._runner = runner
        self.policy = policy

    def access(self, question: AccessQuestion) -> AccessAnswer:
        return self._runner.run(self.policy.access(question)).answer

    def routes(self, question: RoutesQuestion) -> RoutesAnswer:
        return self._runner.run(self.policy.routes(question)).answer

    def shown(self, question: ReplayQuestion) -> bool:
        return self._runner.run(self.policy.replay(question)).answer.allow

    def codes(self, question: AccessQuestion) -> set[tuple[str, str]]:
        """Codes and remedies as a caller would see them."""
        failed = self.access(question).failed
        explained = [self.policy.explain("request", name) for name in failed.request]
        explained += [self.policy.explain("source", name) for names in failed.source.values() for name in names]
        return {(found.code, found.remedy) for found in explained}


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    with asyncio.Runner() as runner:
        context = running()
        policy = runner.run(context.__aenter__())
        yield Asked(runner, policy)
        runner.run(context.__aexit__(None, None, None))


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
        ({"tenant": "b", "sources": ()}, {"alias", "purpose", "tenant_active"}),
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


def test_profiles_serve_in_the_bundles_order(asked: Asked) -> None:
    assert asked.routes(ROUTES) == RoutesAnswer(("own", "rented"), {"own": (), "rented": ()})


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ({"privacy_class": "secret"}, {"approved", "privacy"}),
        ({"alias": "code"}, {"released"}),
        ({"time_s": UNTIL_S}, {"approved", "released"}),
        ({"tenant": "b"}, {"provider", "region", "serves"}),
    ],
)
def test_a_route_check_that_fails_serves_nobody(asked: Asked, change: dict[str, Any], failed: set[str]) -> None:
    answer = asked.routes(replace(ROUTES, **change))
    assert answer.routes == ()
    assert set(answer.failed["rented"]) == failed
    assert all(asked.policy.explain("route", name).code for name in failed)


def test_one_second_before_its_end_an_approval_holds(asked: Asked) -> None:
    assert asked.routes(replace(ROUTES, time_s=UNTIL_S - 1)).routes == ("own", "rented")


def test_a_bundle_that_does_not_exist_is_served_by_nobody(asked: Asked) -> None:
    assert asked.routes(replace(ROUTES, bundle="chat@9")) == RoutesAnswer((), {})


def _approved(until: str, privacy_class: str = "private") -> Approval:
    return replace(OWN.approvals[0], until=until, privacy_class=privacy_class)


VARIANTS: dict[str, tuple[Profile, tuple[str, ...]]] = {
    "another-region": (replace(OWN, region="us"), ("region",)),
    "another-provider": (replace(OWN, provider="elsewhere"), ("provider",)),
    "approval-over": (replace(OWN, approvals=(_approved("2020-01-01T00:00:00Z"),)), ("approved",)),
    "approved-for-less": (replace(OWN, approvals=(_approved("2029-12-31T23:59:59Z", "internal"),)), ("approved",)),
    "shared-cache": (replace(OWN, engine=replace(OWN.engine, prefix_cache="shared")), ("isolated",)),
    "two-tenants": (replace(OWN, engine=replace(OWN.engine, tenants=("a", "b"))), ("isolated",)),
    "any-tenant": (replace(OWN, engine=replace(OWN.engine, tenants=())), ("isolated",)),
    "others-engine": (replace(OWN, engine=replace(OWN.engine, prefix_cache="salted", tenants=("b",))), ("serves",)),
    "salted": (replace(OWN, engine=replace(OWN.engine, prefix_cache="salted", tenants=())), ()),
    "no-cache": (replace(OWN, engine=replace(OWN.engine, prefix_cache="off", tenants=())), ()),
    "hosted": (RENTED, ()),
}


@pytest.fixture(scope="module")
def variants() -> tuple[RoutesAnswer, RoutesAnswer]:
    """One bundle of all variants, for tenant a and for tenant b."""

    async def ask() -> tuple[RoutesAnswer, RoutesAnswer]:
        registry = snapshot(
            tenants=(TENANT, replace(TENANT, id="b")),
            profiles=tuple(replace(profile, id=name) for name, (profile, _) in VARIANTS.items()),
            bundles=(replace(BUNDLE, profiles=tuple(replace(BUNDLE.profiles[0], id=name) for name in VARIANTS)),),
        )
        async with running(registry=registry) as policy:
            other = replace(ROUTES, tenant="b")
            return (await policy.routes(ROUTES)).answer, (await policy.routes(other)).answer

    return asyncio.run(ask())


@pytest.mark.parametrize("name", VARIANTS)
def test_what_one_profile_fails_takes_only_that_one_out(variants: tuple[RoutesAnswer, RoutesAnswer], name: str) -> None:
    answer, _ = variants
    assert answer.failed[name] == VARIANTS[name][1]
    assert answer.routes == ("salted", "no-cache", "hosted")


def test_engine_and_credential_serve_their_tenants_only(variants: tuple[RoutesAnswer, RoutesAnswer]) -> None:
    _, answer = variants
    assert answer.routes == ("others-engine", "salted", "no-cache")
    assert answer.failed["hosted"] == ("serves",)
    assert answer.failed["another-region"] == ("isolated", "region", "serves")


def test_an_inactive_tenant_is_refused_and_sees_nothing_saved() -> None:
    async def ask() -> tuple[AccessAnswer, bool]:
        off = snapshot(tenants=(replace(TENANT, active=False),))
        async with running(registry=off) as policy:
            return (await policy.access(ACCESS)).answer, (await policy.replay(REPLAY)).answer.allow

    answer, shown = asyncio.run(ask())
    assert (answer.allow, answer.failed.request, shown) == (False, ("tenant_active",), False)


def test_replay_reads_the_purpose_and_neither_alias_nor_release() -> None:
    async def ask() -> tuple[bool, bool]:
        taken = replace(TENANT, aliases=("code",), purposes=("answer",))
        async with running(registry=snapshot(tenants=(taken,), releases={})) as policy:
            draft = replace(REPLAY, purpose="draft", sources=())
            return (await policy.replay(REPLAY)).answer.allow, (await policy.replay(draft)).answer.allow

    assert asyncio.run(ask()) == (True, False)


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
