"""/livez: the process works. /readyz: it would serve, and if not, why. /metrics: what it counted."""

from collections.abc import Callable

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from gateway.service.assembly import Services

JSON = "application/json"


class Live:
    """Never depends on an engine: a slow load must not get the gateway killed."""

    async def __call__(self, _: HttpRequest) -> Response:
        return Response(b'{"status":"live"}', media_type=JSON)


class Ready:
    """Ready while it takes new work, policy can be evaluated and at least one profile serves."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, _: HttpRequest) -> Response:
        services = self._services
        active = services.in_force.active
        profiles = {
            profile.id: {"state": readiness.state, "reason": readiness.reason}
            for profile in active.snapshot.profiles.values()
            if (readiness := services.board.shown(profile))
        }
        draining = services.running.draining
        policy = "up" if active.policy.is_up else "away"
        serves = not draining and policy == "up" and any(profile["state"] == "ready" for profile in profiles.values())
        document = {
            "status": "draining" if draining else "ready" if serves else "not_ready",
            "registry_digest": active.snapshot.digest,
            "policy": policy,
            "policy_revision": active.policy.revision,
            # Not why: this path is open, and faults are for those who administer.
            "last_reload": services.reload.last,
            "profiles": profiles,
        }
        return Response(msgspec.json.encode(document), 200 if serves else 503, media_type=JSON)


class Metrics:
    """The text format of Prometheus, rendered by whoever counts."""

    def __init__(self, render: Callable[[], bytes]) -> None:
        self._render = render

    async def __call__(self, _: HttpRequest) -> Response:
        return Response(self._render(), media_type="text/plain; version=0.0.4; charset=utf-8")
