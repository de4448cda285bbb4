"""Questions that are known to be allowed or denied, and what chance makes of them."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace
from policy_support import ACCESS, DRAFT, NOW_S, OPERATE, POLICIES, REPLAY, ROUTES, SOURCE, VISIBLE
from reference import Json
from snapshots import BUNDLE, CLASSES, DAY_S, EVALUATED_S, OWN, RENTED, TENANT, UNTIL_S, snapshot

from adapters.policy.registry_facts import facts
from adapters.registry import Loaded, load
from gateway.domain.bundle import BundleProfile
from gateway.domain.profile import Profile
from gateway.testkit.registry_copy import EXAMPLE

AT_US = 1_796_000_000_000_000
"""2026-11-30: nothing in the example has run out."""


def example() -> Json:
    """``data.registry`` of the example registry."""
    loaded = load(EXAMPLE, at_us=AT_US, strict=True)
    assert isinstance(loaded, Loaded), loaded
    return as_json(facts(loaded.snapshot))


def built(*names: str) -> Json:
    """``data.registry`` of a registry in which each check is failed by a profile that passes all the others.

    :param names: only these profiles, if any are named.
    """
    off = replace(TENANT, id="off", active=False)
    free = replace(
        TENANT,
        id="free",
        privacy_class="public",
        aliases=("wide", "chat"),
        purposes=("draft",),
        default_purpose="draft",
    )
    profiles = (*_variants(), replace(RENTED, network="private"))
    profiles = tuple(profile for profile in profiles if profile.id in names or not names)
    members = tuple(BundleProfile(id=profile.id, digest=BUNDLE.profiles[0].digest) for profile in profiles)
    chat = replace(BUNDLE, profiles=members)
    wide = replace(chat, id="wide@1", privacy_class="internal", purposes=("draft",))
    old = replace(chat, id="old@1", expires="2029-12-25T00:00:00Z")
    strict = replace(CLASSES[-1], attestation_required=True, longest_evaluation_days=25)
    found = snapshot(
        tenants=(TENANT, off, free),
        profiles=profiles,
        bundles=(chat, wide, old),
        releases={"chat": "chat@1", "assist": "chat@1", "wide": "wide@1", "old": "old@1"},
        classes=(*CLASSES[:-1], strict),
    )
    return _with_an_unranked_class(as_json(facts(found)))


def _with_an_unranked_class(registry: Json) -> Json:
    """As the loader lets none pass: its requirements are known, and a tenant and a purpose have it."""
    tenant = registry["tenants"]["a"]
    registry["requirements"]["unranked"] = registry["requirements"]["private"]
    registry["tenants"]["odd"] = tenant | {"privacy_class": "unranked"}
    registry["tenants"]["a"] = tenant | {"purposes": [*tenant["purposes"], "odd"]}
    registry["purposes"]["odd"] = registry["purposes"]["draft"] | {"privacy_class": "unranked"}
    return registry


def _variants() -> Iterator[Profile]:
    """The tests' own profile, whose engine attests what it serves, and that profile with one fault at a time."""
    engine = OWN.engine
    assert engine is not None
    attests = replace(engine, abilities=replace(engine.abilities, attest_revision=True))
    base = replace(OWN, engine=attests)
    yield base
    changed: dict[str, Any] = {
        "brief": {"approvals": (replace(OWN.approvals[0], until="2029-12-26T00:00:00Z"),)},
        "approved-for-less": {"approvals": (replace(OWN.approvals[0], privacy_class="internal"),)},
        "twice-approved": {"approvals": (replace(OWN.approvals[0], privacy_class="public"), *OWN.approvals)},
        "unable": {"capabilities": ()},
        "able": {"capabilities": ("chat", "tools")},
        "keeps": {"data_handling": replace(OWN.data_handling, retention_days=7)},
        "trains": {"data_handling": replace(OWN.data_handling, trains_on_data=True)},
        "elsewhere": {"region": "us"},
        "of-others": {"provider": "other"},
        "far": {"network": "public"},
        "other-kind": {"kind": "other"},
    }
    of_engine: dict[str, Any] = {
        "silent": {"abilities": engine.abilities},
        "sliced": {"placement": replace(engine.placement, sharing="time_shared")},
        "mixing": {"prefix_cache": "shared"},
        "mixing-two": {"tenants": ("a", "free")},
        "salted": {"prefix_cache": "salted", "tenants": "any"},
        "for-free": {"prefix_cache": "off", "tenants": ("free",)},
    }
    yield from (replace(base, id=name, **change) for name, change in changed.items())
    yield from (replace(base, id=name, engine=replace(attests, **change)) for name, change in of_engine.items())


def as_json(value: Any) -> Any:
    """As OPA sees it."""
    return msgspec.json.decode(msgspec.json.encode(value))


def of_example(entrypoint: str) -> list[Json]:
    """The golden questions, and more like them."""
    golden = [json.loads(path.read_bytes()) for path in sorted((POLICIES / "golden").glob("*.json"))]
    found = [one["question"] for one in golden if one["entrypoint"] == entrypoint]
    return found + [one | change for one in found[:2] for change in _CHANGES_OF_EXAMPLE[entrypoint]]


_CHANGES_OF_EXAMPLE: dict[str, tuple[Json, ...]] = {
    "access": ({"alias": "assist"}, {"roles": ["auditor", "generate"]}, {"groups": ["press", "staff"]}),
    "operate": tuple({"area": area} for area in ("ledger", "operations", "policy", "profiles", "registry", "sources")),
    "replay": ({"roles": ["generate"], "time_s": 1_800_000_000}, {"groups": ["press", "staff"]}),
    "routes": (
        {"privacy_class": "internal"},
        {"privacy_class": "public", "alias": "assist", "bundle": "assist@1"},
        {"alias": "chat", "bundle": "assist@1"},
    ),
    "visible": ({"roles": ["auditor", "generate"]}, {"tenant": "tenant-a", "time_s": 1_800_000_000}),
}


def of_built(entrypoint: str) -> list[Json]:
    """The same for the tests' registry, with questions that fail one check each."""
    source = replace(SOURCE, privacy_class="internal", groups=("h",), as_of_s=NOW_S - 7 * DAY_S)
    both = ("g", "h")
    wide = replace(ROUTES, alias="wide", bundle="wide@1", privacy_class="internal", purpose="draft")
    public = replace(ROUTES, privacy_class="public")
    found: dict[str, list[Any]] = {
        "access": [
            ACCESS,
            DRAFT,
            replace(DRAFT, tenant="free", alias="wide"),
            replace(ACCESS, groups=both, sources=(source, SOURCE)),
            replace(ACCESS, groups=both, sources=(source,)),
            *(replace(ACCESS, tenant=name, sources=(replace(SOURCE, tenant=name),)) for name in ("free", "off", "odd")),
            replace(DRAFT, purpose="odd"),
            *(replace(ACCESS, **change) for change in ({"alias": "wide"}, {"purpose": "train"}, *_OF_CALLER)),
            *(replace(ACCESS, sources=(replace(SOURCE, **change),)) for change in _OF_SOURCE),
        ],
        "operate": [
            OPERATE,
            replace(OPERATE, roles=("auditor",), deed="read"),
            *(replace(OPERATE, tenant=tenant) for tenant in ("off", "nobody", "system")),
            replace(OPERATE, roles=("auditor",)),
        ],
        "replay": [
            REPLAY,
            replace(REPLAY, purpose="draft", sources=()),
            replace(REPLAY, groups=both, sources=(source, SOURCE)),
            *(replace(REPLAY, tenant=name, sources=(replace(SOURCE, tenant=name),)) for name in ("free", "off")),
            *(replace(REPLAY, **change) for change in ({"purpose": "train"}, *_OF_CALLER)),
            *(replace(REPLAY, sources=(replace(SOURCE, **change),)) for change in _OF_SOURCE),
        ],
        "routes": [
            ROUTES,
            public,
            wide,
            replace(wide, tenant="free"),
            replace(wide, privacy_class="private"),
            replace(wide, purpose="answer"),
            replace(ROUTES, alias="wide"),
            *(replace(public, alias="old", bundle="old@1", time_s=UNTIL_S - 7 * DAY_S - more) for more in (0, 1)),
            *(replace(public, time_s=UNTIL_S - 6 * DAY_S - more) for more in (0, 1)),
            *(replace(public, time_s=time_s) for time_s in (UNTIL_S - 1, EVALUATED_S, EVALUATED_S - 1)),
            *(replace(ROUTES, time_s=EVALUATED_S + 25 * DAY_S - more) for more in (0, 1)),
        ],
        "visible": [
            VISIBLE,
            replace(VISIBLE, tenant="free"),
            replace(VISIBLE, tenant="off"),
            replace(VISIBLE, roles=("generate", "operator")),
        ],
    }
    return [as_json(question) for question in found[entrypoint]]


_OF_CALLER: tuple[Json, ...] = (
    {"groups": ("x",)},
    {"purpose": "draft"},
    {"roles": ("auditor",)},
    {"roles": ("generate", "operator")},
    {"sources": ()},
)
_OF_SOURCE: tuple[Json, ...] = (
    {"known": False},
    {"cited": "2"},
    {"tenant": "free"},
    {"groups": ()},
    {"privacy_class": "secret"},
    {"privacy_class": "unranked"},
    {"released_s": NOW_S + 1},
    {"withdrawn": True},
    {"as_of_s": NOW_S - DAY_S - 1},
    {"as_of_s": NOW_S + 1},
)


def near_misses() -> list[tuple[str, Json]]:
    """Questions of the example registry that fail on one thing each, or on as little as that registry lets them."""
    golden = {path.stem: json.loads(path.read_bytes())["question"] for path in (POLICIES / "golden").glob("*.json")}
    grounded, source = golden["access-grounded"], golden["access-grounded"]["sources"][0]
    now_s = grounded["time_s"]
    of_source: tuple[Json, ...] = (
        {"known": False},
        {"cited": "2"},
        {"tenant": "tenant-a"},
        {"groups": ["press"]},
        {"groups": []},
        {"privacy_class": "secret"},
        {"released_s": now_s + 1},
        {"withdrawn": True},
        {"as_of_s": now_s - 604_801},
        {"as_of_s": now_s + 1},
    )
    of_request: tuple[Json, ...] = (
        {"roles": []},
        {"roles": ["auditor"]},
        {"roles": ["generate", "operator"]},
        {"purpose": "training"},
        {"purpose": "drafting"},
        {"sources": []},
        {"groups": ["press"]},
        {"tenant": "nobody"},
        *({"sources": [source, source | change]} for change in of_source),
    )
    of_route: dict[str, tuple[Json, ...]] = {
        "routes-released": (
            {"purpose": "training"},
            {"alias": "assist"},
            {"alias": "code"},
            {"features": ["chat", "tools"]},
            {"features": []},
            {"privacy_class": "secret"},
            {"tenant": "platform"},
            {"time_s": 1_830_297_600},
            {"time_s": 1_700_000_000},
        ),
        "routes-private-tenant": ({"tenant": "acme", "privacy_class": "internal"}, {"features": ["tools"]}),
        "routes-hosted": (
            {"privacy_class": "private"},
            {"tenant": "tenant-a"},
            {"tenant": "platform", "purpose": "answers"},
            {"alias": "chat"},
            {"time_s": 1_830_297_600},
        ),
    }
    found: list[tuple[str, Json]] = [("access", grounded | change) for change in (*of_request, {"alias": "code"})]
    found += [("replay", golden["replay-shown"] | change) for change in of_request]
    found += [("routes", golden[name] | change) for name, changes in of_route.items() for change in changes]
    found += [("access", golden["access-general"] | {"tenant": "platform", "alias": "chat"})]
    found += [("visible", golden["visible-acme"] | change) for change in ({"roles": []}, {"tenant": "nobody"})]
    found += [("operate", golden["operate-operator"] | {"tenant": "nobody"})]
    return found + [("operate", golden["operate-operator"] | {"roles": roles}) for roles in ([], ["auditor"])]
