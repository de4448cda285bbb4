"""What an answer carries over HTTP, the first time and again."""

import json

from api_support import CHAT, QUESTION, Api, chat_headers, over_a_socket, token

from gateway.ports.events import Answered, Refused


def test_a_fresh_answer_names_its_operation_bundle_and_policy() -> None:
    api = Api()
    reply = api.ask()
    operation = api.world.operation
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert reply.document["id"] == operation.id
    assert reply.document["object"] == "chat.completion"
    assert {name: text for name, text in reply.headers.items() if not name.startswith("content-")} == {
        "operation-id": operation.id,
        "operation-state": "completed",
        "bundle-digest": operation.bundle_digest,
        "policy-revision": "sha256:scripted",
    }


def test_a_replay_is_the_same_bytes_and_says_so() -> None:
    api = Api()
    first, again = api.ask(), api.ask()
    assert (again.status, again.body) == (200, first.body)
    assert again.headers == first.headers | {"idempotent-replayed": "true"}


def test_a_quoted_key_is_the_same_key() -> None:
    api = Api()
    assert api.ask(key='"k-1"').body == api.ask(key="k-1").body
    assert len(api.world.transport.received) == 1


def test_every_request_for_a_generation_is_one_event() -> None:
    api = Api()
    for _ in range(2):
        api.ask()
    api.ask(who=None)
    events = [event for event in api.world.events.events if isinstance(event, Answered | Refused)]
    assert [getattr(event, "replayed", None) or getattr(event, "code", None) for event in events] == [
        None,
        True,
        "unauthenticated",
    ]


def test_an_operation_is_shown_to_its_owner_with_its_headers() -> None:
    api = Api()
    api.ask()
    operation = api.world.operation
    reply = api.request("GET", f"/v1/operations/{operation.id}", [("Authorization", f"Bearer {token('assistant')}")])
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert (reply.document["id"], reply.document["state"]) == (operation.id, "completed")
    for name, text in {
        "operation-id": operation.id,
        "operation-state": "completed",
        "bundle-digest": operation.bundle_digest,
        "policy-revision": "sha256:scripted",
    }.items():
        assert reply.headers[name] == text
    assert b"Hello" not in reply.body


def test_over_a_socket_no_header_tells_what_serves() -> None:
    api = Api()
    with over_a_socket(api) as served:
        body = json.dumps(QUESTION).encode()
        reply = served.request("POST", CHAT, chat_headers(), body)
    assert reply.status == 200
    assert "server" not in reply.headers
    assert int(reply.headers["content-length"]) == len(reply.body)
