"""A key that is revoked between an administrator's permit and the change that it is for changes nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from administering import permit
from msgspec.structs import replace
from service_support import Surroundings, breaking

from gateway.domain.errors import CredentialRevoked
from gateway.domain.questions import Area
from gateway.domain.refusal import Code, Refusal
from gateway.ports.events import Reloaded
from gateway.service.administer import Permit
from gateway.service.directory import Grant

GRANT = Grant(id="s", tenant="acme", groups=(), revision="1", privacy_class="internal")
REFUSED = Refusal(code=Code.UNAUTHENTICATED)
Change = Callable[[Surroundings, Permit], Awaitable[Any]]
CHANGES: dict[str, tuple[Area, Change]] = {
    "grant": ("sources", lambda world, allowed: world.services.admin.directory.grant(allowed, GRANT)),
    "revoke": ("sources", lambda world, allowed: world.services.admin.directory.revoke(allowed, "s", ())),
    "withdraw": ("sources", lambda world, allowed: world.services.admin.directory.withdraw(allowed, "s")),
    "create a key": (
        "keys",
        lambda world, allowed: world.services.admin.credentials.create(
            allowed, tenant="acme", principal="assistant", label=""
        ),
    ),
    "revoke a key": ("keys", lambda world, allowed: world.services.admin.credentials.revoke(allowed, "assistant")),
    "write off": (
        "operations",
        lambda world, allowed: world.services.admin.operators.act(allowed, "write_off", "o", "because"),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_changed_with_it(change: str) -> None:
    world = Surroundings()
    area, do = CHANGES[change]
    allowed = permit(world, area, "change")
    world.put_key("operator", active=False)
    keys, sources = dict(world.rows.keys), dict(world.rows.sources)

    async def done() -> Any:
        return await do(world, allowed)

    assert asyncio.run(done()) == REFUSED
    assert (world.rows.keys, world.rows.sources) == (keys, sources)


def test_no_other_files_are_put_in_force_with_it() -> None:
    world = Surroundings()
    allowed = permit(world, "registry", "change")
    earlier = world.in_force.active.snapshot
    world.revisions.snapshot = replace(earlier, digest="sha256:edited")
    world.notebook.at("ledger.reloaded", breaking(CredentialRevoked("revoked")))

    async def reload() -> Any:
        assert world.services.admin.reload is not None
        end = await world.services.admin.reload(allowed)
        await world.services.admin.reload.close()
        return end

    assert asyncio.run(reload()) == REFUSED
    assert world.in_force.active.snapshot is earlier
    assert Reloaded(False) in world.events.events
