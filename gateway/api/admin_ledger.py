"""/admin/ledger: does it add up, what is held by nobody, what is left of each budget, and what attempts came to."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.api.administration import answer, permit, query
from gateway.domain.budget import Scope
from gateway.domain.limits import UNLIMITED, LimitName
from gateway.domain.refusal import Code, Refusal
from gateway.domain.registry import DateTime
from gateway.ports.reads import OutcomeFilter
from gateway.service.assembly import AdminServices
from gateway.service.operators import ScopeUsage

Name = Annotated[str, Meta(min_length=1, max_length=64)]


class UsageQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which scopes to show; none named: all."""

    tenant: Name | None = None
    profile: Name | None = None
    quota_scope: Name | None = None

    @property
    def scopes(self) -> frozenset[Scope]:
        named = {"tenant": self.tenant, "profile": self.profile, "quota_scope": self.quota_scope}
        return frozenset(
            Scope(kind, name)  # type: ignore[arg-type] # the fields are the kinds
            for kind, name in named.items()
            if name is not None
        )


class OutcomesQuery(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which attempts to count: of operations that were first asked for at ``since`` or later."""

    since: DateTime
    profile: Name | None = None
    tenant: Name | None = None

    @property
    def since_us(self) -> int | None:
        """None: there is no such instant, such as a 31st of November."""
        try:
            return int(datetime.fromisoformat(self.since).timestamp()) * 1_000_000
        except ValueError:
            return None


class LedgerAdmin:
    """The handlers. They read alone."""

    def __init__(self, services: AdminServices) -> None:
        self._services = services

    async def verify(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "ledger", "read"), Refusal):
            return answer(allowed)
        return answer({"differences": await self._services.operators.verify(allowed)})

    async def stranded(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "ledger", "read"), Refusal):
            return answer(allowed)
        return answer({"object": "list", "data": await self._services.operators.stranded(allowed)})

    async def usage(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "ledger", "read"), Refusal):
            return answer(allowed)
        if isinstance(asked := query(http, UsageQuery), Refusal):
            return answer(asked)
        found = await self._services.operators.usage(allowed, asked.scopes)
        return answer({"object": "list", "currency": allowed.snapshot.currency, "data": [view(one) for one in found]})

    async def outcomes(self, http: HttpRequest) -> Response:
        if isinstance(allowed := await permit(self._services, http, "ledger", "read"), Refusal):
            return answer(allowed)
        if isinstance(asked := query(http, OutcomesQuery), Refusal):
            return answer(asked)
        if (since_us := asked.since_us) is None:
            return answer(Refusal(code=Code.INVALID_VALUE, status=422, param="since", in_query=True))
        wanted = OutcomeFilter(since_us=since_us, profile=asked.profile, tenant=asked.tenant)
        found = await self._services.operators.outcomes(allowed, wanted)
        return answer({"object": "list", "currency": allowed.snapshot.currency, "since": asked.since, "data": found})

    def routes(self) -> list[Route]:
        """All routes of the ledger."""
        return [
            Route("/admin/ledger/verify", self.verify, methods=["POST"]),
            Route("/admin/ledger/stranded", self.stranded, methods=["GET"]),
            Route("/admin/ledger/usage", self.usage, methods=["GET"]),
            Route("/admin/ledger/outcomes", self.outcomes, methods=["GET"]),
        ]


def view(usage: ScopeUsage) -> dict[str, Any]:
    """What is shown of a scope. Costs are micro-units of the currency, times microseconds UTC."""
    sums, ends = usage.sums, usage.sums.windows.ends
    windowed: dict[LimitName, tuple[int, int]] = {
        "requests_per_minute": (sums.minute_requests, ends.minute_us),
        "tokens_per_minute": (sums.minute_tokens, ends.minute_us),
        "tokens_per_day": (sums.day_tokens, ends.day_us),
        "tokens_per_month": (sums.month_tokens, ends.month_us),
        "cost_per_month": (sums.month_cost, ends.month_us),
    }
    return {
        "scope": {"kind": usage.scope.kind, "id": usage.scope.id},
        **{
            name: {"used": used, "limit": _limit(usage, name), "ends_us": ends_us}
            for name, (used, ends_us) in windowed.items()
        },
        "concurrency": {
            "used": sums.slots_used,
            "stranded": sums.slots_stranded,
            "limit": _limit(usage, "concurrency"),
        },
        "held": {"tokens": sums.held_tokens, "cost": sums.held_cost},
        "debt": {"tokens": sums.debt_tokens, "cost": sums.debt_cost},
    }


def _limit(usage: ScopeUsage, name: LimitName) -> int | str | None:
    """None where the registry has no such scope any more."""
    if usage.limits is None:
        return None
    most: int | None = getattr(usage.limits, name)
    return UNLIMITED if most is None else most
