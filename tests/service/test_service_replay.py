"""A saved answer is shown again only under today's access to every original source, with its row first."""

import asyncio

import pytest
from msgspec.structs import replace
from service_support import CITING, HANDBOOK, Surroundings, breaking, handbook

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, PolicyUnavailable
from gateway.domain.operation import State
from gateway.domain.questions import Failed, ReplayQuestion
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.domain.source import KnownSource, RevokeSource, WithdrawSource
from gateway.ports.ledger import Disclosure

CLOSED = RevokeSource(id=HANDBOOK.id, groups=())


@pytest.fixture
def world() -> Surroundings:
    """One completed operation that cites the handbook."""
    made = Surroundings()
    made.put_source()
    made.answered(CITING)
    made.calls.clear()
    return made


def refused(world: Surroundings) -> Refusal:
    """The refusal of the repeated request; nothing is sent, and nothing of the answer is in it."""
    refusal = world.refused(CITING)
    assert len(world.transport.received) == 1
    assert "Hello" not in repr(refusal)
    assert (refusal.operation_id, refusal.operation_state) == (world.operation.id, State.COMPLETED)
    return refusal


def test_the_question_has_the_original_sources_under_todays_facts(world: Surroundings) -> None:
    world.put_source(revision="r2", groups=("board",), as_of_s=86_400)
    asyncio.run(world.change_source(WithdrawSource(id=HANDBOOK.id)))
    world.clock.us += 86_400_000_000
    world.answered(CITING)
    question = world.policy.asked[-1]
    assert isinstance(question, ReplayQuestion)
    assert (question.tenant, question.purpose) == ("acme", "drafting")
    principal = world.session().caller.principal
    assert (question.groups, question.roles) == (principal.groups, principal.roles)
    assert question.time_s == world.clock.us // 1_000_000
    (fact,) = question.sources
    assert (fact.known, fact.cited, fact.revision, fact.as_of_s) == (True, "r1", "r2", 86_400)
    assert (fact.groups, fact.withdrawn) == (("board", "staff"), True)


def test_a_source_that_is_gone_is_a_fact_that_policy_can_forbid(world: Surroundings) -> None:
    world.rows.sources.clear()
    world.ask(CITING)
    (fact,) = world.policy.asked[-1].sources
    assert not fact.known


def test_the_row_is_written_before_the_answer_is_shown(world: Surroundings) -> None:
    answer = world.answered(CITING)
    (row,) = world.rows.audit
    assert isinstance(row, Disclosure)
    assert (row.operation_id, row.reader) == (answer.operation_id, world.session().caller)
    assert (row.sources, row.source_versions) == ((HANDBOOK,), (1,))
    assert row.decision.entrypoint == "replay"


def test_the_original_bundle_and_policy_revision_are_shown_whatever_is_in_force(world: Surroundings) -> None:
    first = world.operation
    world.put_in_force(bundle_digests=dict.fromkeys(world.snapshot.bundle_digests, "sha256:other"))
    answer = world.answered(CITING)
    assert answer.replayed
    assert (answer.bundle_digest, answer.policy_revision) == (first.bundle_digest, "sha256:scripted")


def test_the_release_pointer_plays_no_part(world: Surroundings) -> None:
    world.put_in_force(releases={})
    assert world.answered(CITING).replayed


def test_a_forbidden_source_refuses_the_whole_answer_without_a_list(world: Surroundings) -> None:
    world.policy.failed = Failed(request=("purpose",), source={"0": ("readable",)})
    refusal = refused(world)
    assert (refusal.code, refusal.meaning.status) == (Code.REPLAY_SOURCE_FORBIDDEN, 403)
    assert (refusal.policy_codes, refusal.fields, refusal.facts) == ((), (), None)
    (row,) = world.refusals
    assert (row.code, row.operation_id, row.policy_codes) == (
        Code.REPLAY_SOURCE_FORBIDDEN,
        refusal.operation_id,
        (),
    )
    assert [decision.entrypoint for decision in row.decisions] == ["replay"]


def test_anything_else_that_is_forbidden_names_the_checks(world: Surroundings) -> None:
    world.policy.failed = Failed(request=("tenant_active", "purpose"), source={"0": ()})
    refusal = refused(world)
    assert (refusal.code, refusal.meaning.status) == (Code.REPLAY_FORBIDDEN, 403)
    assert [code.code for code in refusal.policy_codes] == ["request_purpose", "request_tenant_active"]
    assert [row.policy_codes for row in world.refusals] == [("request_purpose", "request_tenant_active")]


def test_an_allow_that_is_not_true_is_a_no(world: Surroundings) -> None:
    replay = world.policy.replay

    async def nearly(question):  # type: ignore[no-untyped-def] # the port's own types
        decided = await replay(question)
        return replace(decided, answer=replace(decided.answer, allow=1))

    world.policy.replay = nearly
    assert refused(world).code is Code.REPLAY_FORBIDDEN


def test_a_purged_body_is_gone_and_is_never_made_again(world: Surroundings) -> None:
    world.rows.results.clear()
    refusal = refused(world)
    assert (refusal.code, refusal.meaning.status, refusal.meaning.retry) == (Code.RESULT_EXPIRED, 410, False)
    assert "policy.replay" not in world.calls


def test_a_source_that_changes_before_the_row_is_decided_upon_again(world: Surroundings) -> None:
    world.notebook.once("ledger.disclose", lambda: world.change_source(CLOSED))
    assert world.answered(CITING).replayed
    *_, first, second = world.policy.asked
    assert (first.sources[0].groups, second.sources[0].groups) == (("staff",), ())
    (row,) = world.rows.audit
    assert isinstance(row, Disclosure)
    assert (row.source_versions, world.called("operations.result")) == ((2,), 1)


def test_a_source_that_changes_to_a_no_before_the_row_shows_nothing(world: Surroundings) -> None:
    async def close() -> None:
        await world.change_source(CLOSED)
        world.policy.failed = Failed(request=(), source={"0": ("readable",)})

    world.notebook.once("ledger.disclose", close)
    assert refused(world).code is Code.REPLAY_SOURCE_FORBIDDEN
    assert [row.code for row in world.refusals] == [Code.REPLAY_SOURCE_FORBIDDEN]


def test_a_source_that_goes_on_changing_shows_nothing(world: Surroundings) -> None:
    world.notebook.at("ledger.disclose", lambda: world.change_source(handbook()))
    refusal = refused(world)
    assert (refusal.code, refusal.meaning.status) == (Code.POLICY_UNAVAILABLE, 503)
    assert world.rows.audit == []
    # The same facts under another version are the same question, so it is not asked of OPA again.
    for port, times in {"sources.facts": 2, "policy.replay": 1, "ledger.disclose": 2}.items():
        assert world.called(port) == times
    world.notebook.at("ledger.disclose", lambda: None)
    assert isinstance(world.ask(CITING), Answer)


def test_without_a_decision_nothing_is_shown(world: Surroundings) -> None:
    world.notebook.at("policy.replay", breaking(PolicyUnavailable("timeout")))
    assert refused(world).code is Code.POLICY_UNAVAILABLE
    assert "ledger.disclose" not in world.calls


@pytest.mark.parametrize("facts", [0, 2])
def test_a_directory_that_tells_of_more_or_fewer_sources_shows_nothing(world: Surroundings, facts: int) -> None:
    async def some() -> tuple[KnownSource, ...]:
        (one,) = await world.store.sources.facts((HANDBOOK,))
        return (one,) * facts

    world.notebook.at("sources.facts", some)
    assert refused(world).code is Code.POLICY_UNAVAILABLE
    assert "policy.replay" not in world.calls


@pytest.mark.parametrize("error", [LedgerUnavailable("full"), LedgerUncertain("failed")])
def test_an_answer_whose_row_cannot_be_written_is_not_shown(world: Surroundings, error: Exception) -> None:
    world.notebook.at("ledger.disclose", breaking(error))
    refusal = refused(world)
    assert (refusal.code, refusal.meaning.status) == (Code.LEDGER_UNAVAILABLE, 503)


@pytest.mark.parametrize("error", [LedgerUnavailable("full"), LedgerUncertain("failed")])
def test_a_refusal_whose_row_cannot_be_written_is_told_as_an_unavailable_ledger(
    world: Surroundings, error: Exception
) -> None:
    world.policy.failed = Failed(request=("purpose",), source={})
    world.notebook.at("ledger.refuse", breaking(error))
    assert refused(world).code is Code.LEDGER_UNAVAILABLE


def test_a_key_that_is_revoked_before_the_row_shows_nothing(world: Surroundings) -> None:
    world.notebook.once("ledger.disclose", lambda: world.put_key("assistant", active=False))
    assert world.refused(CITING) == Refusal(code=Code.UNAUTHENTICATED)
    assert world.rows.audit == []


def test_a_registry_that_is_replaced_before_the_row_decides_instead(world: Surroundings) -> None:
    def replace_it() -> None:
        world.put_in_force(digest="sha256:later").failed = Failed(request=("tenant_active",), source={})

    world.notebook.once("ledger.disclose", replace_it)
    assert refused(world).code is Code.REPLAY_FORBIDDEN
    assert [row.code for row in world.refusals] == [Code.REPLAY_FORBIDDEN]


def test_a_registry_that_is_replaced_again_and_again_gives_up(world: Surroundings) -> None:
    digests = iter(range(10))
    world.notebook.at("ledger.disclose", lambda: void(world.put_in_force(digest=f"sha256:{next(digests)}")))
    assert world.refused(CITING) == Refusal(code=Code.NOT_STARTED)
    assert world.called("ledger.disclose") == 2


def void(_: object) -> None:
    """The notebook plays what is returned as the answer; None lets the real one answer."""
