"""Ids that a registry must still know, because operations are open or holds are held that count against them."""

from collections.abc import Iterator

from gateway.domain.fault import Fault
from gateway.domain.principal import SYSTEM_TENANT
from gateway.domain.snapshot import Snapshot
from gateway.ports.reads import InUse

_CLOSE = "or close the operations first."


def dropped(in_use: InUse, snapshot: Snapshot) -> tuple[Fault, ...]:
    """A fault for each id in use that the registry has no more, sorted. The built-in tenant is in no registry.

    Files are named as they lie in a registry's folder: what is missing has no line.
    """
    return tuple(sorted([*_tenants(in_use, snapshot), *_accounts(in_use, snapshot), *_others(in_use, snapshot)]))


def _tenants(in_use: InUse, snapshot: Snapshot) -> Iterator[Fault]:
    for tenant in in_use.tenants - snapshot.tenants.keys() - {SYSTEM_TENANT}:
        sentence = "The registry has dropped a tenant with open operations."
        yield _fault(f"tenants/{tenant}", sentence, f"Bring it back (active: false stops new work), {_CLOSE}")


def _accounts(in_use: InUse, snapshot: Snapshot) -> Iterator[Fault]:
    for tenant, account in in_use.principals:
        if tenant != SYSTEM_TENANT and snapshot.principal(tenant, account) is None:
            sentence = f"The registry has dropped the service account {account} with open operations."
            remedy = f"Bring it back (without a key it begins nothing), {_CLOSE}"
            yield _fault(f"tenants/{tenant}", sentence, remedy, "/service_accounts")


def _others(in_use: InUse, snapshot: Snapshot) -> Iterator[Fault]:
    for profile in in_use.profiles - snapshot.profiles.keys():
        sentence = "The registry has dropped a profile with open operations."
        remedy = f"Bring it back (in no released bundle it serves nothing), {_CLOSE}"
        yield _fault(f"profiles/{profile}", sentence, remedy)
    for scope in in_use.quota_scopes - snapshot.quota_scopes.keys():
        sentence = "The registry has dropped a quota scope with open operations."
        yield _fault(f"quota-scopes/{scope}", sentence, f"Bring it back, {_CLOSE}")


def _fault(place: str, sentence: str, remedy: str, path: str = "") -> Fault:
    return Fault(file=f"registry/{place}.yaml", line=0, path=path, sentence=sentence, remedy=remedy)
