"""What policy should say, as plain functions of a question and ``data.registry``.

Written from the design and from what METADATA says of the checks, not from the rules: the two have to agree. A
question that is not of its struct's type is denied, whatever it says.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from gateway.domain.questions import (
    AccessQuestion,
    OperateQuestion,
    ReplayQuestion,
    RoutesQuestion,
    VisibleQuestion,
)

Json = dict[str, Any]
STRUCTS: Mapping[str, type[msgspec.Struct]] = {
    "access": AccessQuestion,
    "operate": OperateQuestion,
    "replay": ReplayQuestion,
    "routes": RoutesQuestion,
    "visible": VisibleQuestion,
}
DAY_S = 86_400


def said(entrypoint: str, question: Any, registry: Json) -> Json:
    """What the entrypoint should say. Nothing is allowed where the question is ill-typed."""
    return _OF[entrypoint](question, registry) if is_typed(entrypoint, question) else NOTHING[entrypoint]


def is_typed(entrypoint: str, question: Any) -> bool:
    """Whether the question is of its struct's type. JSON has one kind of number: 1.0 is 1, while floats are exact."""
    try:
        msgspec.convert(_with_integers(question), STRUCTS[entrypoint])
    except msgspec.ValidationError:
        return False
    return True


def access(q: Json, registry: Json) -> Json:
    """May this principal ask this, from these sources, now, and how strict has the route to be?"""
    tenant, ranks = registry["tenants"].get(q["tenant"]), registry["ranks"]
    purpose = registry["purposes"].get(q["purpose"])
    if not (_may_ask(q, registry) and tenant and purpose and q["alias"] in tenant["aliases"]):
        return NOTHING["access"]
    asked = [tenant["privacy_class"], purpose["privacy_class"], *(source["privacy_class"] for source in q["sources"])]
    if any(name not in ranks for name in asked):
        return NOTHING["access"]
    return {"allow": True, "privacy_class": max(asked, key=ranks.__getitem__)}


def replay(q: Json, registry: Json) -> Json:
    """May this principal see this saved answer today? Neither alias nor class plays a part."""
    return {"allow": _may_ask(q, registry)}


def routes(q: Json, registry: Json) -> Json:
    """Profiles of the bundle that may serve, in the bundle's order."""
    bundle = registry["bundles"].get(q["bundle"])
    return {"routes": [name for name in bundle["profiles"] if _serves(name, q, registry)] if bundle else []}


def visible(q: Json, registry: Json) -> Json:
    """Released aliases of the tenant whose bundle has not expired."""
    if not (_is_active(q, registry) and _generates(q)):
        return NOTHING["visible"]
    bundles, releases = registry["bundles"], registry["releases"]
    aliases = registry["tenants"][q["tenant"]]["aliases"]
    current = {name for name in aliases if releases.get(name) in bundles}
    return {"aliases": sorted(name for name in current if bundles[releases[name]]["expires_s"] > q["time_s"])}


def operate(q: Json, registry: Json) -> Json:
    """Operators read and change, auditors read, for a tenant that is active or built in."""
    covered = "operator" in q["roles"] or ("auditor" in q["roles"] and q["deed"] == "read")
    return {"allow": covered and (q["tenant"] == "system" or _is_active(q, registry))}


NOTHING: Mapping[str, Json] = {
    "access": {"allow": False, "privacy_class": ""},
    "operate": {"allow": False},
    "replay": {"allow": False},
    "routes": {"routes": []},
    "visible": {"aliases": []},
}
_OF: Mapping[str, Callable[[Json, Json], Json]] = {
    "access": access,
    "operate": operate,
    "replay": replay,
    "routes": routes,
    "visible": visible,
}


def _is_active(q: Json, registry: Json) -> bool:
    return q["tenant"] in registry["tenants"] and registry["tenants"][q["tenant"]]["active"] is True


def _generates(q: Json) -> bool:
    return "generate" in q["roles"] and "operator" not in q["roles"]


def _may_ask(q: Json, registry: Json) -> bool:
    """What is common to a new answer and to a saved one."""
    if not (_is_active(q, registry) and _generates(q)):
        return False
    if q["purpose"] not in registry["tenants"][q["tenant"]]["purposes"] or q["purpose"] not in registry["purposes"]:
        return False
    if registry["purposes"][q["purpose"]]["grounded"] != bool(q["sources"]):
        return False
    return all(_may_cite(source, q, registry) for source in q["sources"])


def _may_cite(source: Json, q: Json, registry: Json) -> bool:
    if source["privacy_class"] not in registry["ranks"]:
        return False
    age_s = q["time_s"] - source["as_of_s"]
    return (
        source["known"]
        and source["cited"] == source["revision"]
        and source["tenant"] == q["tenant"]
        and bool(set(source["groups"]) & set(q["groups"]))
        and not source["withdrawn"]
        and source["released_s"] <= q["time_s"]
        and 0 <= age_s <= registry["requirements"][source["privacy_class"]]["longest_facts_s"]
    )


def _serves(name: str, q: Json, registry: Json) -> bool:
    profile, bundle = registry["profiles"].get(name), registry["bundles"][q["bundle"]]
    tenant, needed = registry["tenants"].get(q["tenant"]), registry["requirements"].get(q["privacy_class"])
    if not (profile and tenant and needed):
        return False
    return (
        _is_fit(profile, bundle, q, registry)
        and _is_evaluated(bundle["evaluation"], needed, q["time_s"])
        and _is_open_to(profile, tenant, q)
        and _is_strict_enough(profile, needed)
        and (profile["kind"] == "hosted" or (profile["kind"] == "self_hosted" and _is_apart(profile, needed, q)))
    )


def _is_fit(profile: Json, bundle: Json, q: Json, registry: Json) -> bool:
    """Released, unexpired, for the purpose and the class, approved, and able."""
    ranks = registry["ranks"]
    strict = {name for name, rank in ranks.items() if rank >= ranks[q["privacy_class"]]}
    return (
        registry["releases"].get(q["alias"]) == q["bundle"]
        and bundle["expires_s"] > q["time_s"]
        and q["purpose"] in bundle["purposes"]
        and bundle["privacy_class"] in strict
        and any(one["privacy_class"] in strict and one["until_s"] > q["time_s"] for one in profile["approvals"])
        and bool(q["features"])
        and set(q["features"]) <= set(profile["capabilities"])
    )


def _is_evaluated(found: Json, needed: Json, time_s: int) -> bool:
    return (
        found["score"] >= needed["least_score"]
        and found["refusal_rate"] <= needed["most_refusals"]
        and 0 <= time_s - found["date_s"] < needed["longest_evaluation_days"] * DAY_S
    )


def _is_open_to(profile: Json, tenant: Json, q: Json) -> bool:
    return (
        profile["provider"] in tenant["providers"]
        and profile["region"] in tenant["regions"]
        and (profile["serves_any_tenant"] or q["tenant"] in profile["engine_tenants"])
        and (not profile["needs_credential"] or q["tenant"] in profile["credential_tenants"])
    )


def _is_strict_enough(profile: Json, needed: Json) -> bool:
    return (
        profile["network"] in needed["networks"]
        and profile["retention_days"] <= needed["longest_retention_days"]
        and (needed["training_allowed"] or not profile["trains_on_data"])
        and (profile["attests_revision"] or not needed["attestation_required"])
    )


def _is_apart(profile: Json, needed: Json, q: Json) -> bool:
    """Neither cache nor device is shared where that is not allowed."""
    alone = profile["prefix_cache"] == "single_tenant" and profile["engine_tenants"] == [q["tenant"]]
    sharing = profile["sharing"]
    return (profile["prefix_cache"] in {"off", "salted"} or alone) and (
        sharing == "exclusive" or (sharing == "time_shared" and needed["time_sharing_allowed"])
    )


def _with_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_integers(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_integers(inner) for inner in value]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) <= 2**53
    return int(value) if is_whole else value
