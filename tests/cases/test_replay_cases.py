"""Failures of other systems around keys and stored answers, by the ids of the collection of cases."""

import json

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.doors.registry_edits import ACME, PROFILE
from gateway.testkit.registry_copy import EXAMPLE, Edit
from gateway.testkit.world import Ask

BETA = (EXAMPLE / ACME).read_text().replace("id: acme", "id: beta", 1)
CHAT_2 = (EXAMPLE / "bundles" / "chat@1.yaml").read_text().replace("id: chat@1", "id: chat@2")
TWO_TENANTS = (
    Edit(file="tenants/beta.yaml", old="", new=BETA),
    Edit(file=PROFILE, old="prefix_cache: single_tenant\n  tenants: [acme]", new='prefix_cache: "off"'),
)


def test_rep_02_the_same_key_of_another_tenant_is_another_operation(world: HttpWorld) -> None:
    world.edit_registry(*TWO_TENANTS)
    world.engine_answers("secret of acme")
    first = world.ask(Ask(who="acme/assistant"))
    world.engine_answers("for beta")
    second = world.ask(Ask(who="beta/assistant"))
    assert (first.text, second.text) == ("secret of acme", "for beta")
    assert not second.replayed
    assert first.operation_id != second.operation_id
    assert len(world.engine_calls()) == 2


def test_rep_09_identical_prompts_under_different_keys_are_never_answered_from_one_another(world: HttpWorld) -> None:
    world.edit_registry(*TWO_TENANTS)
    asks = [Ask(who=who, key=key) for who in ("acme/assistant", "beta/assistant") for key in ("k-1", "k-2")]
    replies = [world.ask(ask) for ask in asks]
    assert not any(reply.replayed for reply in replies)
    assert len(world.engine_calls()) == 4


def test_rep_16_a_foreign_operation_is_an_unknown_one(world: HttpWorld) -> None:
    world.edit_registry(*TWO_TENANTS)
    mine = world.ask(Ask(who="acme/assistant"))
    assert mine.operation_id is not None
    answers = []
    for path in (mine.operation_id, "01a22c2b-0ed8-70b4-b3a7-000000000000", f"{mine.operation_id}/timeline"):
        headers = {"Authorization": f"Bearer {world.token('beta/assistant')}"}
        status, _, body = world.request("GET", f"/v1/operations/{path}", headers)
        answers.append((status, body))
    assert answers[0][0] == 404
    assert len(set(answers)) == 1


def test_rep_08_a_moved_release_changes_no_old_operation(world: HttpWorld) -> None:
    world.engine_answers("of the first bundle")
    first = world.ask(Ask(key="answered"))
    world.engine_does("drop")
    world.ask(Ask(key="lost"))
    world.edit_registry(
        Edit(file="bundles/chat@2.yaml", old="", new=CHAT_2), Edit(file="releases.yaml", old="chat@1", new="chat@2")
    )
    world.restart()
    world.engine_answers("of the second bundle")
    again, lost, fresh = (world.ask(Ask(key=key)) for key in ("answered", "lost", "new"))
    assert (again.body, again.replayed) == (first.body, True)
    assert lost.code == "outcome_unknown"
    assert (fresh.text, fresh.replayed) == ("of the second bundle", False)
    shown = {reply.operation_id: world.look_at(reply.operation_id or "") for reply in (again, lost, fresh)}
    bundles = [shown[reply.operation_id]["bundle"] for reply in (again, lost, fresh)]  # type: ignore[call-overload]
    assert bundles == ["chat@1", "chat@1", "chat@2"]


def test_rep_12_a_replay_reserves_nothing(world: HttpWorld) -> None:
    world.ask(Ask())
    booked = world.booked_tokens()
    assert world.ask(Ask()).replayed
    assert (world.held_tokens(), world.booked_tokens()) == (0, booked)


def test_rep_15_a_replay_has_the_headers_of_the_first_answer(world: HttpWorld) -> None:
    ask = Ask()
    body = json.dumps({"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}).encode()
    (_, first, _), (_, again, _) = (
        world.request("POST", "/v1/chat/completions", world.headers(ask), body) for _ in range(2)
    )
    assert again.pop("idempotent-replayed") == "true"
    assert {**first, "date": ""} == {**again, "date": ""}
