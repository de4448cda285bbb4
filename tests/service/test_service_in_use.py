"""A registry that drops an id with open operations is told so, by the file that must come back."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from service_support import example

from gateway.domain.snapshot import Snapshot
from gateway.ports.reads import InUse
from gateway.service.in_use import dropped

NOTHING = InUse(tenants=frozenset(), principals=frozenset(), profiles=frozenset(), quota_scopes=frozenset())
ALL = InUse(
    tenants=frozenset({"acme", "system"}),
    principals=frozenset({("acme", "assistant"), ("acme", "reporter"), ("system", "operator")}),
    profiles=frozenset({"smollm2-135m"}),
    quota_scopes=frozenset({"in-house"}),
)


def without_tenant(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, tenants={id: tenant for id, tenant in snapshot.tenants.items() if id != "acme"})


def without_reporter(snapshot: Snapshot) -> Snapshot:
    acme = snapshot.tenants["acme"]
    accounts = tuple(account for account in acme.service_accounts if account.id != "reporter")
    return replace(snapshot, tenants={**snapshot.tenants, "acme": replace(acme, service_accounts=accounts)})


def without_profile(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, profiles={id: p for id, p in snapshot.profiles.items() if id != "smollm2-135m"})


def without_scope(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, quota_scopes={id: s for id, s in snapshot.quota_scopes.items() if id != "in-house"})


def test_a_registry_that_knows_every_id_in_use_drops_none() -> None:
    assert dropped(ALL, example()) == ()
    assert dropped(NOTHING, without_tenant(without_profile(without_scope(example())))) == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            without_tenant,
            [
                ("registry/tenants/acme.yaml", "", "The registry has dropped a tenant with open operations."),
                (
                    "registry/tenants/acme.yaml",
                    "/service_accounts",
                    "The registry has dropped the service account assistant with open operations.",
                ),
                (
                    "registry/tenants/acme.yaml",
                    "/service_accounts",
                    "The registry has dropped the service account reporter with open operations.",
                ),
            ],
        ),
        (
            without_reporter,
            [
                (
                    "registry/tenants/acme.yaml",
                    "/service_accounts",
                    "The registry has dropped the service account reporter with open operations.",
                )
            ],
        ),
        (
            without_profile,
            [("registry/profiles/smollm2-135m.yaml", "", "The registry has dropped a profile with open operations.")],
        ),
        (
            without_scope,
            [
                (
                    "registry/quota-scopes/in-house.yaml",
                    "",
                    "The registry has dropped a quota scope with open operations.",
                )
            ],
        ),
    ],
)
def test_each_id_that_is_gone_is_told_with_its_file_and_a_remedy(
    change: Callable[[Snapshot], Snapshot], told: list[tuple[str, str, str]]
) -> None:
    faults = dropped(ALL, change(example()))
    assert [(fault.file, fault.path, fault.sentence) for fault in faults] == told
    assert all(fault.line == 0 and fault.remedy.startswith("Bring it back") for fault in faults)
    assert all(fault.remedy.endswith("or close the operations first.") for fault in faults)


def test_an_account_that_moved_to_another_tenant_is_another_one() -> None:
    in_use = replace(NOTHING, principals=frozenset({("tenant-a", "assistant")}))
    (fault,) = dropped(in_use, example())
    assert (fault.file, fault.path) == ("registry/tenants/tenant-a.yaml", "/service_accounts")


def test_everything_dropped_at_once_is_told_at_once_and_in_order() -> None:
    faults = dropped(ALL, without_tenant(without_profile(without_scope(example()))))
    assert list(faults) == sorted(faults)
    assert len(faults) == 5
