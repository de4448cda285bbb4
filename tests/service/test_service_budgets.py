"""What reserve tells of a short budget, and what administrators see of budgets."""

import asyncio

import pytest
from administering import permit
from msgspec.structs import replace
from service_support import PROFILE, Surroundings

from gateway.domain.budget import Scope
from gateway.domain.limits import BudgetShort
from gateway.domain.refusal import Code
from gateway.ports.ledger import Claim, Claimed

QUOTA_SCOPE = "in-house"


def claims(world: Surroundings) -> list[Claim]:
    """What the ledger is asked from now on."""
    seen: list[Claim] = []
    real = world.store.ledger.claim

    async def claim(claim: Claim) -> Claimed:
        seen.append(claim)
        return await real(claim)

    world.store.ledger.claim = claim  # type: ignore[method-assign]
    return seen


def limited(world: Surroundings, **limits: object) -> None:
    """Limits of the tenant."""
    tenant = world.snapshot.tenants["acme"]
    changed = replace(tenant, limits=replace(tenant.limits, **limits))
    world.put_in_force(tenants={**world.snapshot.tenants, "acme": changed})


@pytest.fixture
def world() -> Surroundings:
    return Surroundings()


def test_a_claim_names_every_scope_with_the_limits_of_the_pinned_registry(world: Surroundings) -> None:
    limited(world, tokens_per_day=5000, cost_per_month="2.50")
    seen = claims(world)
    world.answered()
    (claim,) = seen
    assert [budget.scope for budget in claim.budgets] == [
        Scope("profile", PROFILE),
        Scope("quota_scope", QUOTA_SCOPE),
        Scope("tenant", "acme"),
    ]
    profile, quota_scope, tenant = (budget.limits for budget in claim.budgets)
    assert (profile.concurrency, quota_scope.concurrency) == (2, None)
    assert (tenant.tokens_per_day, tenant.tokens_per_month, tenant.cost_per_month) == (5000, None, 2_500_000)


def test_a_reservation_costs_what_the_worst_tier_says_and_is_settled_at_the_tier_of_its_input(
    world: Surroundings,
) -> None:
    profile = world.profile
    (tier,) = profile.prices.tiers
    dear = replace(tier, input_per_million="1.5", output_per_million="2")
    dearer = replace(tier, above_input_tokens=1000, input_per_million="3", output_per_million="1")
    priced = replace(profile, prices=replace(profile.prices, tiers=(dear, dearer)))
    world.put_in_force(profiles={**world.snapshot.profiles, PROFILE: priced})
    asyncio.run(world.services.watch.look())
    world.answered()
    (attempt,) = world.attempts
    assert (attempt.reserved_cost, attempt.used_cost) == (20 * 3 + 256 * 2, 30 + 3 * 2)


@pytest.mark.parametrize(
    ("short", "code", "status", "retry"),
    [
        (BudgetShort("tenant", "tokens_per_day", 7200), Code.BUDGET_EXHAUSTED, 429, True),
        (BudgetShort("quota_scope", "cost_per_month", None), Code.BUDGET_EXHAUSTED, 429, False),
        (BudgetShort("profile", "concurrency", 1), Code.CONCURRENCY_EXHAUSTED, 429, True),
        (BudgetShort("profile", "concurrency", None), Code.CONCURRENCY_EXHAUSTED, 429, False),
    ],
)
def test_a_short_budget_is_told_with_its_scope_its_limit_and_when_it_ends(
    world: Surroundings, short: BudgetShort, code: Code, status: int, retry: bool
) -> None:
    world.notebook.at("ledger.claim", lambda: short)
    refusal = world.refused()
    assert (refusal.code, refusal.meaning.status, refusal.retry) == (code, status, retry)
    assert refusal.facts == {"scope": short.scope, "limit": short.limit}
    assert refusal.retry_after_s == short.retry_after_s
    assert [(row.code, len(row.decisions)) for row in world.refusals] == [(code, 2)]
    assert (world.called("ledger.claim"), world.called("transport.send")) == (1, 0)


def test_a_stranded_profile_is_told_as_such_and_no_time_is_promised(world: Surroundings) -> None:
    world.notebook.at("ledger.claim", lambda: BudgetShort("profile", "concurrency", None, stranded=True))
    refusal = world.refused()
    assert (refusal.code, refusal.meaning.status, refusal.retry_after_s) == (Code.STRANDED, 503, None)
    assert [row.code for row in world.refusals] == [Code.STRANDED]
    assert world.called("transport.send") == 0


def test_a_key_that_exists_is_shown_again_whatever_the_budget(world: Surroundings) -> None:
    first = world.answered()
    limited(world, tokens_per_day=0)
    assert world.answered().body == first.body
    assert world.refused(key="k-2").code is Code.BUDGET_EXHAUSTED


def test_usage_shows_every_scope_of_the_registry_beside_its_limits(world: Surroundings) -> None:
    limited(world, tokens_per_day=5000)
    world.answered()
    allowed = permit(world, "ledger", "read")
    found = {one.scope: one for one in asyncio.run(world.services.admin.operators.usage(allowed))}
    assert {scope.kind for scope in found} == {"tenant", "quota_scope", "profile"}
    assert {scope.id for scope in found if scope.kind == "tenant"} == set(world.snapshot.tenants)
    acme = found[Scope("tenant", "acme")]
    assert acme.limits is not None
    assert (acme.sums.day_tokens, acme.limits.tokens_per_day) == (23, 5000)
    assert found[Scope("tenant", "tenant-a")].sums.day_tokens == 0


def test_usage_shows_the_windows_of_now_and_also_what_left_the_registry(world: Surroundings) -> None:
    world.answered()
    world.clock.us += 86_400_000_000
    world.put_in_force(tenants={id_: one for id_, one in world.snapshot.tenants.items() if id_ != "acme"})
    allowed = permit(world, "ledger", "read")
    (acme,) = asyncio.run(world.services.admin.operators.usage(allowed, {Scope("tenant", "acme")}))
    assert (acme.limits, acme.sums.day_tokens, acme.sums.minute_requests) == (None, 0, 0)
