"""The aliases that a principal may use, as policy says."""

import asyncio

import pytest
from service_support import Surroundings

from gateway.domain.questions import Failed, VisibleAnswer, VisibleQuestion
from gateway.domain.refusal import Code, Refusal
from gateway.ports.policy import Decided
from gateway.service.visible import Model

NOV_30_S = 1_796_000_000 // 86_400 * 86_400


def visible(world: Surroundings, who: str = "assistant") -> tuple[Model, ...] | Refusal:
    return asyncio.run(world.services.visible(world.session(who)))


def one(world: Surroundings, alias: str) -> Model | Refusal:
    return asyncio.run(world.services.visible.one(world.session(), alias))


def test_policy_is_asked_for_the_aliases_of_the_tenant() -> None:
    world = Surroundings()
    models = visible(world)
    assert not isinstance(models, Refusal)
    assert [model.alias for model in models] == ["assist", "chat"]
    (question,) = world.policy.asked
    assert question == VisibleQuestion(time_s=world.clock.now_us() // 1_000_000, tenant="acme", roles=("generate",))


def test_a_model_is_as_old_as_the_evaluation_of_its_bundle() -> None:
    world = Surroundings()
    model = one(world, "chat")
    assert isinstance(model, Model)
    assert world.snapshot.bundles["chat@1"].evaluation.date == "2026-11-30"
    assert model.evaluated_s == NOV_30_S


def test_whoever_may_generate_nothing_sees_nothing() -> None:
    world = Surroundings()
    world.policy.failed = Failed(request=("role",), source={})
    assert visible(world) == ()
    assert one(world, "chat") == Refusal(code=Code.UNKNOWN_MODEL, param="model")


@pytest.mark.parametrize("alias", ["essay", "", "Chat", "chat "])
def test_what_is_not_visible_is_unknown(alias: str) -> None:
    assert one(Surroundings(), alias) == Refusal(code=Code.UNKNOWN_MODEL, param="model")


def test_without_policy_nothing_is_listed() -> None:
    world = Surroundings()
    world.policy.away = "timeout"
    assert visible(world) == Refusal(code=Code.POLICY_UNAVAILABLE)


def test_an_alias_that_nobody_released_is_a_policy_that_cannot_be_believed() -> None:
    world = Surroundings()
    question = VisibleQuestion(time_s=0, tenant="acme", roles=("generate",))
    decided = asyncio.run(world.policy.visible(question))
    answer = Decided(VisibleAnswer(("chat", "essay"), ()), decided.decision)
    world.notebook.at("policy.visible", lambda: answer)
    refusal = visible(world)
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.POLICY_UNAVAILABLE


def test_the_built_in_operator_belongs_to_no_tenant() -> None:
    world = Surroundings()
    assert visible(world, "operator") == Refusal(code=Code.NOT_A_TENANT_PRINCIPAL)
    assert world.policy.asked == []
