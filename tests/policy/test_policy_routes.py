"""What the rules decide of destinations, asked of a real OPA in the gateway's own terms."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from policy_support import ROUTES, Asked, asking
from snapshots import BUNDLE, CLASSES, DAY_S, EVALUATED_S, OWN, PRIVATE, RENTED, TENANT, UNTIL_S, snapshot

from gateway.domain.bundle import Bundle, BundleProfile
from gateway.domain.profile import Approval, DataHandling, Engine, Profile
from gateway.domain.questions import RoutesAnswer
from gateway.domain.registry import Requirements


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    with asking() as found:
        yield found


def test_profiles_serve_in_the_bundles_order(asked: Asked) -> None:
    assert asked.routes(ROUTES) == RoutesAnswer(("own", "rented"), {"own": (), "rented": ()})


_OF_CLASS = {"approved", "attested", "data_handling", "evaluated", "network", "privacy"}


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ({"privacy_class": "secret"}, _OF_CLASS),
        ({"privacy_class": ""}, _OF_CLASS),
        ({"alias": "code"}, {"released"}),
        ({"time_s": UNTIL_S}, {"approved", "released"}),
        ({"tenant": "b"}, {"provider", "region", "credential"}),
        ({"purpose": "train"}, {"purpose"}),
        ({"purpose": ""}, {"purpose"}),
        ({"features": ("chat", "tools")}, {"capable"}),
        ({"features": ()}, {"capable"}),
    ],
)
def test_a_route_check_that_fails_serves_nobody(asked: Asked, change: dict[str, Any], failed: set[str]) -> None:
    answer = asked.routes(replace(ROUTES, **change))
    assert answer.routes == ()
    assert set(answer.failed["rented"]) == failed
    assert all(asked.policy.explain("route", name).code for name in failed)


def test_one_second_before_its_end_an_approval_holds(asked: Asked) -> None:
    assert asked.routes(replace(ROUTES, time_s=UNTIL_S - 1)).routes == ("own", "rented")


@pytest.mark.parametrize(
    ("time_s", "failed"),
    [
        (EVALUATED_S - 1, ("evaluated",)),
        (EVALUATED_S, ()),
        (EVALUATED_S + 60 * DAY_S - 1, ()),
        (EVALUATED_S + 60 * DAY_S, ("evaluated",)),
    ],
)
def test_an_evaluation_counts_from_its_day_on_for_the_days_of_the_class(time_s: int, failed: tuple[str, ...]) -> None:
    later = "2031-01-01T00:00:00Z"
    own = replace(OWN, approvals=(replace(OWN.approvals[0], until=later),))
    bundle = replace(BUNDLE, expires=later, profiles=BUNDLE.profiles[:1])
    with asking(snapshot(profiles=(own,), bundles=(bundle,))) as asked:
        assert asked.routes(replace(ROUTES, time_s=time_s)).failed == {"own": failed}


def test_a_bundle_that_does_not_exist_is_served_by_nobody(asked: Asked) -> None:
    assert asked.routes(replace(ROUTES, bundle="chat@9")) == RoutesAnswer((), {})


def _approved(until: str, privacy_class: str = "private") -> Approval:
    return replace(OWN.approvals[0], until=until, privacy_class=privacy_class)


def _engine(**changes: Any) -> Engine:
    assert OWN.engine is not None
    return replace(OWN.engine, **changes)


_SLICED = replace(_engine().placement, sharing="time_shared")
_KEEPS = DataHandling(retention_days=1, trains_on_data=False)
_TRAINS = DataHandling(retention_days=0, trains_on_data=True)
VARIANTS: dict[str, tuple[Profile, tuple[str, ...]]] = {
    "another-region": (replace(OWN, region="us"), ("region",)),
    "another-provider": (replace(OWN, provider="elsewhere"), ("provider",)),
    "approval-over": (replace(OWN, approvals=(_approved("2020-01-01T00:00:00Z"),)), ("approved",)),
    "approved-for-less": (replace(OWN, approvals=(_approved("2029-12-31T23:59:59Z", "internal"),)), ("approved",)),
    "over-the-internet": (replace(RENTED, network="public"), ("network",)),
    "keeps-a-day": (replace(RENTED, data_handling=_KEEPS), ("data_handling",)),
    "trains": (replace(RENTED, data_handling=_TRAINS), ("data_handling",)),
    "time-shared": (replace(OWN, engine=_engine(placement=_SLICED)), ("device",)),
    "shared-cache": (replace(OWN, engine=_engine(prefix_cache="shared")), ("isolated",)),
    "two-tenants": (replace(OWN, engine=_engine(tenants=("a", "b"))), ("isolated",)),
    "any-tenant": (replace(OWN, engine=_engine(tenants="any")), ("isolated",)),
    "others-engine": (replace(OWN, engine=_engine(prefix_cache="salted", tenants=("b",))), ("serves",)),
    "salted": (replace(OWN, engine=_engine(prefix_cache="salted", tenants="any")), ()),
    "no-cache": (replace(OWN, engine=_engine(prefix_cache="off", tenants="any")), ()),
    "hosted": (RENTED, ()),
}


@pytest.fixture(scope="module")
def variants() -> tuple[RoutesAnswer, RoutesAnswer]:
    """One bundle of all variants, for tenant a and for tenant b."""
    registry = snapshot(
        tenants=(TENANT, replace(TENANT, id="b")),
        profiles=tuple(replace(profile, id=name) for name, (profile, _) in VARIANTS.items()),
        bundles=(_bundle(tuple(VARIANTS)),),
    )
    with asking(registry) as asked:
        return asked.routes(ROUTES), asked.routes(replace(ROUTES, tenant="b"))


def _bundle(profiles: tuple[str, ...], **changes: Any) -> Bundle:
    digest = BUNDLE.profiles[0].digest
    return replace(BUNDLE, profiles=tuple(BundleProfile(id=name, digest=digest) for name in profiles), **changes)


@pytest.mark.parametrize("name", VARIANTS)
def test_what_one_profile_fails_takes_only_that_one_out(variants: tuple[RoutesAnswer, RoutesAnswer], name: str) -> None:
    answer, _ = variants
    assert answer.failed[name] == VARIANTS[name][1]
    assert answer.routes == ("salted", "no-cache", "hosted")


def test_engine_and_credential_serve_their_tenants_only(variants: tuple[RoutesAnswer, RoutesAnswer]) -> None:
    _, answer = variants
    assert answer.routes == ("others-engine", "salted", "no-cache")
    assert answer.failed["hosted"] == ("credential",)
    assert answer.failed["another-region"] == ("isolated", "region", "serves")


REQUIREMENTS: dict[str, tuple[dict[str, Any], set[str], str]] = {
    "as-they-are": ({}, set(), ""),
    "another-network": ({"networks": ("private",)}, {"own", "proves"}, "network"),
    "attested": ({"attestation_required": True}, {"own", "rented"}, "attested"),
    "just-the-score": ({"least_score": 0.8}, set(), ""),
    "a-better-score": ({"least_score": 0.8001}, {"own", "proves", "rented"}, "evaluated"),
    "just-the-refusals": ({"most_refusals": 0.1}, set(), ""),
    "fewer-refusals": ({"most_refusals": 0.0999}, {"own", "proves", "rented"}, "evaluated"),
    "more-recent": ({"longest_evaluation_days": 1}, {"own", "proves", "rented"}, "evaluated"),
}
"""What a class asks for beyond the private one, and which profiles then fail which check."""


@pytest.fixture(scope="module")
def classes() -> Iterator[Asked]:
    """A class for each of the requirements, all equally well approved. The proving engine attests itself."""
    strictest = tuple(replace(PRIVATE, id=name, **changes) for name, (changes, _, _) in REQUIREMENTS.items())
    proves = _engine(abilities=replace(_engine().abilities, attest_revision=True))
    approved = (_approved("2029-12-31T00:00:00Z", strictest[-1].id),)
    profiles = (OWN, RENTED, replace(OWN, id="proves", engine=proves))
    registry = snapshot(
        classes=(*CLASSES, *strictest),
        profiles=tuple(replace(profile, approvals=approved) for profile in profiles),
        bundles=(_bundle(("own", "rented", "proves"), privacy_class=strictest[-1].id),),
    )
    with asking(registry) as asked:
        yield asked


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_a_class_holds_destinations_and_evaluation_to_what_it_asks_for(classes: Asked, name: str) -> None:
    _, profiles, check = REQUIREMENTS[name]
    answer = classes.routes(replace(ROUTES, privacy_class=name))
    assert {profile: failed for profile, failed in answer.failed.items() if failed} == dict.fromkeys(profiles, (check,))
    assert set(answer.routes) == {"own", "proves", "rented"} - profiles


def test_a_lax_class_accepts_what_a_strict_one_refuses() -> None:
    """The class that is required counts, not that of the bundle."""
    sliced = replace(OWN, engine=_engine(placement=_SLICED), network="public", data_handling=_TRAINS)
    lax: tuple[Requirements, ...] = CLASSES
    with asking(snapshot(classes=lax, profiles=(sliced,), bundles=(_bundle(("own",)),))) as asked:
        found = [asked.routes(replace(ROUTES, privacy_class=name.id)).failed["own"] for name in lax]
    assert found == [(), ("data_handling",), ("data_handling", "device", "network")]


def test_rte_03_a_request_names_no_destination_and_resolved_ones_are_judged(asked: Asked) -> None:
    """The question holds a bundle and nothing of a destination; provider and region are the registry's."""
    named = set(type(ROUTES).__struct_fields__)
    assert named == {"time_s", "tenant", "purpose", "alias", "bundle", "privacy_class", "features"}
    here = replace(TENANT, providers=("house",))
    with asking(snapshot(tenants=(here,))) as narrowed:
        answer = narrowed.routes(ROUTES)
    assert asked.routes(ROUTES).routes == ("own", "rented")
    assert (answer.routes, answer.failed["rented"]) == (("own",), ("provider",))
    moved = replace(RENTED, region="us")
    with asking(snapshot(profiles=(OWN, moved))) as elsewhere:
        answer = elsewhere.routes(ROUTES)
    assert (answer.routes, answer.failed["rented"]) == (("own",), ("region",))


def test_a_bundle_is_not_served_under_another_bundles_alias() -> None:
    other = _bundle(("own",), id="code@1", purposes=("draft",))
    with asking(snapshot(bundles=(BUNDLE, other), releases={"chat": "chat@1", "code": "code@1"})) as asked:
        assert asked.routes(replace(ROUTES, bundle="code@1")).failed["own"] == ("purpose", "released")
        served = replace(ROUTES, alias="code", bundle="code@1", purpose="draft")
        assert asked.routes(served).routes == ("own",)
