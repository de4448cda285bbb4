"""A first answer is given under the access that holds when it is ready, not when it was asked for (promise G6)."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from service_support import ASKED, CITING, HANDBOOK, Surroundings, breaking, handbook

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, PolicyUnavailable
from gateway.domain.operation import State
from gateway.domain.outcome import Charged
from gateway.domain.questions import Failed, ReplayQuestion
from gateway.domain.refusal import Code, Refusal
from gateway.domain.source import RevokeSource, WithdrawSource
from gateway.domain.usage import Usage
from gateway.ports.ledger import Disclosure
from gateway.service.active import Active

UNREADABLE = Failed(request=(), source={"0": ("readable",)})
NOT_SHOWN = "Hello"
UP_TO_T3 = [
    "keys.find",
    "body.read",
    "keys.find",
    "operations.find",
    "sources.facts",
    "policy.access",
    "policy.routes",
    "counter.count",
    "ledger.claim",
    "ledger.dispatch",
    "transport.send",
    "ledger.settle",
]


@pytest.fixture
def world() -> Surroundings:
    made = Surroundings()
    made.put_source()
    return made


def meanwhile(world: Surroundings, change: Callable[[], object]) -> None:
    """Something happens while the answer is generated."""

    async def step() -> None:
        if asyncio.iscoroutine(coming := change()):
            await coming

    world.notebook.once("transport.send", step)


def refused(world: Surroundings) -> Refusal:
    """The answer was generated and paid for, is stored, and nothing of it is in the refusal."""
    refusal = world.refused(CITING)
    operation = world.operation
    assert operation.last.state is State.COMPLETED
    assert NOT_SHOWN.encode() in world.rows.results[operation.id].body
    assert NOT_SHOWN not in repr(refusal)
    assert (refusal.operation_id, refusal.operation_state) == (operation.id, State.COMPLETED)
    return refusal


# Nothing changed


def test_where_nothing_changed_nothing_is_decided_again_and_one_key_and_the_cited_sources_are_read(
    world: Surroundings,
) -> None:
    answer = world.answered(CITING)
    assert world.calls == [*UP_TO_T3, "keys.find", "sources.facts"]
    assert not answer.replayed
    assert world.rows.audit == []


def test_where_nothing_is_cited_no_source_is_read(world: Surroundings) -> None:
    world.answered(ASKED)
    assert world.calls == [*UP_TO_T3, "keys.find"]


def test_a_source_that_is_not_cited_is_no_change(world: Surroundings) -> None:
    meanwhile(world, lambda: world.change_source(handbook(id="another")))
    world.answered(CITING)
    assert world.called("policy.replay") == 0


def test_a_reload_of_the_same_files_is_no_change(world: Surroundings) -> None:
    meanwhile(world, lambda: world.in_force.swap(Active(world.snapshot, world.watched(world.policy, "policy"))))
    world.answered(CITING)
    assert world.called("policy.replay") == 0


def test_an_attempt_without_an_answer_hands_nothing_over(world: Surroundings) -> None:
    world.transport.script(Charged("aborted", Usage(input=1, output=1)))
    assert world.refused(CITING).code is Code.PROVIDER_FAILED_CHARGED
    assert world.calls == UP_TO_T3


# A source changed


def test_a_source_that_was_withdrawn_meanwhile_keeps_the_answer_back_and_leaves_a_row(world: Surroundings) -> None:
    async def withdraw() -> None:
        await world.change_source(WithdrawSource(id=HANDBOOK.id))
        world.policy.failed = UNREADABLE

    meanwhile(world, withdraw)
    refusal = refused(world)
    assert (refusal.code, refusal.status, refusal.meaning.status) == (Code.REPLAY_SOURCE_FORBIDDEN, None, 403)
    (row,) = world.refusals
    assert (row.code, row.operation_id) == (Code.REPLAY_SOURCE_FORBIDDEN, world.operation.id)
    assert [decision.entrypoint for decision in row.decisions] == ["replay"]
    question = world.policy.asked[-1]
    assert isinstance(question, ReplayQuestion)
    assert question.sources[0].withdrawn


def test_an_answer_that_was_kept_back_is_shown_once_access_is_back(world: Surroundings) -> None:
    async def close() -> None:
        await world.change_source(RevokeSource(id=HANDBOOK.id, groups=()))
        world.policy.failed = UNREADABLE

    meanwhile(world, close)
    assert refused(world).code is Code.REPLAY_SOURCE_FORBIDDEN
    world.put_source()
    world.policy.failed = Failed(request=(), source={})
    world.clock.us += 1_000_000
    answer = world.answered(CITING)
    assert answer.replayed
    assert NOT_SHOWN.encode() in answer.body
    assert len(world.transport.received) == 1


def test_a_change_that_policy_allows_is_disclosed_with_its_row_and_is_still_a_first_answer(
    world: Surroundings,
) -> None:
    meanwhile(world, lambda: world.change_source(handbook(groups=("board",))))
    answer = world.answered(CITING)
    assert world.calls[len(UP_TO_T3) :] == [
        "keys.find",
        "sources.facts",
        "operations.get",
        "operations.result",
        "sources.facts",
        "policy.replay",
        "ledger.disclose",
    ]
    assert not answer.replayed
    assert answer.body == world.rows.results[world.operation.id].body
    (row,) = world.rows.audit
    assert isinstance(row, Disclosure)
    assert (row.operation_id, row.source_versions) == (world.operation.id, (2,))
    assert world.answered(CITING) == replace(answer, replayed=True)


def test_a_source_that_is_gone_is_a_change(world: Surroundings) -> None:
    meanwhile(world, world.rows.sources.clear)
    world.ask(CITING)
    question = world.policy.asked[-1]
    assert isinstance(question, ReplayQuestion)
    assert not question.sources[0].known


# The key, the principal, the registry


def test_a_key_that_was_revoked_meanwhile_gets_nothing_and_leaves_a_row(world: Surroundings) -> None:
    meanwhile(world, lambda: world.put_key("assistant", active=False))
    refusal = refused(world)
    assert (refusal.code, refusal.meaning.status) == (Code.UNAUTHENTICATED, 401)
    assert [(row.code, row.operation_id) for row in world.refusals] == [(Code.UNAUTHENTICATED, world.operation.id)]
    assert world.called("policy.replay") == 0
    world.put_key("assistant")
    assert world.answered(CITING).replayed


@pytest.mark.parametrize("gone", ["account", "tenant"])
def test_an_account_that_the_registry_has_no_more_gets_nothing(world: Surroundings, gone: str) -> None:
    acme = world.snapshot.tenants["acme"]
    others = {tenant: found for tenant, found in world.snapshot.tenants.items() if tenant != "acme"}
    later = others if gone == "tenant" else others | {"acme": replace(acme, service_accounts=())}
    meanwhile(world, lambda: world.put_in_force(tenants=later))
    assert refused(world).code is Code.UNAUTHENTICATED


def test_a_registry_in_force_meanwhile_decides_for_the_principal_as_it_is_now(world: Surroundings) -> None:
    acme = world.snapshot.tenants["acme"]
    accounts = tuple(replace(account, groups=("board",)) for account in acme.service_accounts)

    def reload() -> None:
        policy = world.put_in_force(tenants={"acme": replace(acme, active=False, service_accounts=accounts)})
        policy.failed = Failed(request=("tenant_active",), source={"0": ()})
        policies.append(policy)

    policies = [world.policy]
    meanwhile(world, reload)
    refusal = refused(world)
    assert (refusal.code, refusal.meaning.status) == (Code.REPLAY_FORBIDDEN, 403)
    assert [code.code for code in refusal.policy_codes] == ["request_tenant_active"]
    earlier, later = policies
    (question,) = later.asked
    assert isinstance(question, ReplayQuestion)
    assert question.groups == ("board",)
    assert len(earlier.asked) == 2


def test_a_registry_in_force_meanwhile_that_allows_it_changes_nothing_of_the_answer(world: Surroundings) -> None:
    meanwhile(world, world.put_in_force)
    answer = world.answered(CITING)
    assert (answer.replayed, answer.policy_revision) == (False, "sha256:scripted")
    assert len(world.rows.audit) == 1


# What cannot be decided


def _ledger(error: Exception) -> Callable[[Surroundings], None]:
    return lambda world: world.notebook.at("ledger.disclose", breaking(error))


@pytest.mark.parametrize(
    ("arrange", "code"),
    [
        (
            lambda world: world.notebook.at("policy.replay", breaking(PolicyUnavailable("timeout"))),
            Code.POLICY_UNAVAILABLE,
        ),
        (_ledger(LedgerUnavailable("full")), Code.LEDGER_UNAVAILABLE),
        (_ledger(LedgerUncertain("failed")), Code.LEDGER_UNAVAILABLE),
    ],
)
def test_what_cannot_be_decided_is_not_shown_and_is_no_503_because_something_happened(
    world: Surroundings, arrange: Callable[[Surroundings], None], code: Code
) -> None:
    arrange(world)
    meanwhile(world, lambda: world.change_source(handbook()))
    refusal = refused(world)
    assert (refusal.code, refusal.status) == (code, 502)
    assert refusal.meaning.retry, "the same key may show it later"


@pytest.mark.parametrize("error", [LedgerUnavailable("full"), LedgerUncertain("failed")])
def test_a_revoked_key_whose_row_cannot_be_written_is_told_as_an_unavailable_ledger(
    world: Surroundings, error: Exception
) -> None:
    world.notebook.at("ledger.refuse", breaking(error))
    meanwhile(world, lambda: world.put_key("assistant", active=False))
    refusal = refused(world)
    assert (refusal.code, refusal.status) == (Code.LEDGER_UNAVAILABLE, 502)
