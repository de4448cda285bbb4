"""Permits for tests of what they permit."""

import asyncio

from service_support import Surroundings

from gateway.domain.questions import Area, Deed
from gateway.domain.refusal import Refusal
from gateway.service.administer import Permit


def asked(world: Surroundings, area: Area, deed: Deed, who: str = "operator") -> Permit | Refusal:
    return asyncio.run(world.services.admin.administer(world.session(who), area, deed))


def permit(world: Surroundings, area: Area, deed: Deed, who: str = "operator") -> Permit:
    allowed = asked(world, area, deed, who)
    assert isinstance(allowed, Permit), allowed
    world.calls.clear()
    return allowed
