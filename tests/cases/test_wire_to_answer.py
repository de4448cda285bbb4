"""For each way in which a provider can behave: one request, and outcome, holds and HTTP answer as the tables say."""

import json
from collections.abc import Iterator

import pytest

from gateway.domain.profile_state import CONVICTING
from gateway.testkit.doors.http import ALIAS, HttpWorld
from gateway.testkit.doors.http_gateway import PROFILE as PROFILE_ID
from gateway.testkit.doors.registry_edits import PROFILE
from gateway.testkit.loops import until
from gateway.testkit.provider.behaviours import (
    Behaviour,
    aborted,
    called,
    duplicate_keys,
    error,
    huge,
    malformed_json,
    redirect,
    refused,
)
from gateway.testkit.registry_copy import Edit
from gateway.testkit.world import Ask

HASTY = Edit(file=PROFILE, old="connect_ms: 2000\n  total_ms: 60000", new="connect_ms: 400\n  total_ms: 500")
SMALL = Edit(file=PROFILE, old="max_output: 256\n", new="max_output: 256\nmax_answer_bytes: 4096\n")
_ABILITIES = "  abilities:\n    abort_by_id: false\n    enforce_context: false\n    attest_revision: "
ATTESTED = Edit(file=PROFILE, old=f"{_ABILITIES}false", new=f"  fingerprint: scripted\n{_ABILITIES}true")
"""The engine attests its revision with every answer."""
USAGE = {"prompt_tokens": 20, "completion_tokens": 3}
RESERVED = 50 + 256
"""What the counter says of the question, and the profile's cap."""

# behaviour: status, code, state, detail, tokens still held, tokens booked
TABLE: dict[str, tuple[Behaviour, int, str | None, str, str, int, int]] = {
    "a good answer": (Behaviour(), 200, None, "completed", "stop", 0, 23),
    "an answer cut at the cap": (Behaviour(finish_reason="length"), 200, None, "completed", "length", 0, 23),
    "an answer without text": (Behaviour(content=None), 200, None, "completed", "stop", 0, 23),
    "no usage": (Behaviour(omit=("usage",)), 200, None, "completed", "stop", 0, RESERVED),
    "negative usage": (
        Behaviour(usage={"prompt_tokens": -100, "completion_tokens": -5}),
        *(200, None, "completed", "stop", 0, RESERVED),
    ),
    "fractional usage": (
        Behaviour(usage=USAGE | {"completion_tokens": 2.5}),
        *(200, None, "completed", "stop", 0, RESERVED),
    ),
    "huge usage": (
        Behaviour(usage=USAGE | {"completion_tokens": 10**12}),
        *(200, None, "completed", "stop", 0, RESERVED),
    ),
    "usage above the reservation": (
        Behaviour(usage={"prompt_tokens": 400, "completion_tokens": 3}),
        *(200, None, "completed", "stop", 0, RESERVED),
    ),
    "busy": (error(429), 503, "provider_busy", "no_effect", "busy", 0, 0),
    "bad request": (error(400), 502, "provider_rejected", "no_effect", "rejected", 0, 0),
    "unauthorised": (error(401), 502, "provider_rejected", "no_effect", "rejected", 0, 0),
    "not found": (error(404), 502, "provider_rejected", "no_effect", "rejected", 0, 0),
    "request timeout": (error(408), 502, "outcome_unknown", "unknown", "unlisted_status", RESERVED, 0),
    "conflict": (error(409), 502, "outcome_unknown", "unknown", "unlisted_status", RESERVED, 0),
    "server error": (error(500), 502, "outcome_unknown", "unknown", "unlisted_status", RESERVED, 0),
    "unavailable": (error(503), 502, "outcome_unknown", "unknown", "unlisted_status", RESERVED, 0),
    "a redirect": (redirect("http://127.0.0.1:9/v1"), 502, "outcome_unknown", "unknown", "redirect", RESERVED, 0),
    "hangs": (Behaviour(delivery="hang"), 504, "outcome_unknown", "unknown", "timeout_after_send", RESERVED, 0),
    "trickles": (Behaviour(delivery="trickle"), 504, "outcome_unknown", "unknown", "timeout_after_send", RESERVED, 0),
    "drops": (Behaviour(delivery="drop"), 502, "outcome_unknown", "unknown", "connection_lost", RESERVED, 0),
    "resets": (Behaviour(delivery="reset"), 502, "outcome_unknown", "unknown", "connection_lost", RESERVED, 0),
    "drops after the headers": (
        Behaviour(delivery="drop_after_headers"),
        *(502, "outcome_unknown", "unknown", "truncated_answer", RESERVED, 0),
    ),
    "truncates": (
        Behaviour(delivery="truncated"),
        *(502, "outcome_unknown", "unknown", "truncated_answer", RESERVED, 0),
    ),
    "is no HTTP": (
        Behaviour(delivery="not_http"),
        *(502, "outcome_unknown", "unknown", "malformed_answer", RESERVED, 0),
    ),
    "malformed JSON": (malformed_json(), 502, "outcome_unknown", "unknown", "malformed_answer", RESERVED, 0),
    "keys twice": (duplicate_keys(), 502, "outcome_unknown", "unknown", "malformed_answer", RESERVED, 0),
    "no finish reason": (
        Behaviour(finish_reason=None),
        *(502, "outcome_unknown", "unknown", "unknown_finish_reason", RESERVED, 0),
    ),
    "a call of a function": (called("weather", "{}"), 200, None, "completed", "tool_calls", 0, 23),
    "a refusal of the model": (refused("I may not."), 200, None, "completed", "stop", 0, 23),
    "a call without arguments": (
        Behaviour(content=None, tool_calls=[{"id": "a", "function": {"name": "b"}}], finish_reason="tool_calls"),
        *(502, "outcome_unknown", "unknown", "malformed_answer", RESERVED, 0),
    ),
    "aborted": (aborted(), 502, "provider_failed_charged", "charged", "aborted", 0, 23),
    "another model": (Behaviour(model="other"), 502, "provider_failed_charged", "charged", "other_model", 0, 23),
    "another fingerprint": (
        Behaviour(fingerprint="other weights"),
        *(502, "provider_failed_charged", "charged", "other_fingerprint", 0, 23),
    ),
    "no fingerprint": (
        Behaviour(omit=("system_fingerprint",)),
        *(502, "provider_failed_charged", "charged", "other_fingerprint", 0, 23),
    ),
    "a huge answer": (huge(5000), 502, "provider_failed_charged", "charged", "answer_too_large", 0, RESERVED),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpWorld]:
    world = HttpWorld(tmp_path_factory.mktemp("world"))
    world.edit_registry(HASTY, SMALL, ATTESTED)
    world.start()
    yield world
    world.close()


@pytest.mark.parametrize("name", TABLE)
def test_one_request_and_what_follows_from_its_answer(world: HttpWorld, name: str) -> None:
    behaviour, status, code, state, detail, held, booked = TABLE[name]
    world.engine_fails(behaviour)
    calls, held_before, booked_before = len(world.engine_calls()), world.held_tokens(), world.booked_tokens()
    question = {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}
    answer = world.request(
        "POST", "/v1/chat/completions", world.headers(Ask(key=name.replace(" ", "-"))), json.dumps(question).encode()
    )
    assert answer[0] == status, answer
    assert json.loads(answer[2]).get("code") == code
    shown = world.look_at(answer[1]["operation-id"])
    assert isinstance(shown, dict)
    assert (shown["state"], shown["detail"]) == (state, detail)
    assert len(world.engine_calls()) - calls == 1
    assert world.held_tokens() - held_before == held
    assert world.booked_tokens() - booked_before == booked
    if status == 200:
        assert json.loads(answer[2])["model"] == ALIAS
    if detail in CONVICTING:
        release(world)


def release(world: HttpWorld) -> None:
    """What an operator does once the engine is the approved one again."""
    headers = {"Authorization": f"Bearer {world.token('operator')}"}
    reason = json.dumps({"reason": "The engine was replaced."}).encode()
    world.engine_fails(Behaviour())
    assert world.request("POST", f"/admin/profiles/{PROFILE_ID}/release", headers, reason)[0] == 200
    until(lambda: world.request("GET", "/readyz", {})[0] == 200, "the profile did not serve again")


def test_the_ledger_adds_up_after_all_of_it(world: HttpWorld) -> None:
    assert world.verify_ledger() == []
