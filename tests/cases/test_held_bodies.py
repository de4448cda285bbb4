"""Whoever may no longer do it must not have it done by a body that he held back while it was taken from him."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.world import Ask

CHAT = {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}
NEW_KEY = {"tenant": "acme", "principal": "reporter"}
GRANT = {"id": "faq", "tenant": "acme", "groups": ["staff"], "revision": "1", "privacy_class": "internal"}
OPERATIONS = "platform/operations"
HEAD_IS_READ_S = 0.3
"""The credential is looked at as soon as the head is there; nothing tells a caller when."""


def held(
    world: HttpWorld, who: str, path: str, body: dict[str, Any], meanwhile: Callable[[], None]
) -> tuple[int, dict[str, Any]]:
    """Send the head and half of the body, let something happen, and send the rest."""
    text = json.dumps(body).encode()
    headers = {
        "Authorization": f"Bearer {world.token(who)}",
        "Content-Length": str(len(text)),
        "Idempotency-Key": "k-1",
    }

    def slowly() -> Iterator[bytes]:
        yield text[:10]
        threading.Event().wait(HEAD_IS_READ_S)
        meanwhile()
        yield text[10:]

    status, _, answer = world.request("POST", path, headers, slowly())  # type: ignore[arg-type]
    return status, json.loads(answer)


def administer(world: HttpWorld, method: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {world.token('operator')}"}
    status, _, answer = world.request(method, path, headers, None if body is None else json.dumps(body).encode())
    assert status < 300, answer
    return json.loads(answer)


def revoke(world: HttpWorld, account: str) -> None:
    for key in administer(world, "GET", f"/admin/keys?principal={account}&active=true")["data"]:
        administer(world, "POST", f"/admin/keys/{key['id']}/revoke", {})


def test_a_saved_answer_is_not_shown_under_a_key_that_was_revoked_meanwhile(world: HttpWorld) -> None:
    assert world.ask(Ask(key="k-1")).code is None
    status, document = held(world, "assistant", "/v1/chat/completions", CHAT, lambda: revoke(world, "assistant"))
    assert (status, document["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("change", "code"),
    [("the assistant is an auditor", "replay_forbidden"), ("the tenant is not active", "replay_forbidden")],
)
def test_a_saved_answer_is_not_shown_under_a_registry_that_was_replaced_meanwhile(
    world: HttpWorld, change: str, code: str
) -> None:
    assert world.ask(Ask(key="k-1")).code is None
    status, document = held(world, "assistant", "/v1/chat/completions", CHAT, lambda: world.change_registry(change))
    assert (status, document["code"]) == (403, code)


@pytest.mark.parametrize(("path", "body"), [("/admin/keys", NEW_KEY), ("/admin/sources/grant", GRANT)])
def test_an_operator_whose_key_was_revoked_meanwhile_changes_nothing(
    world: HttpWorld, path: str, body: dict[str, Any]
) -> None:
    status, document = held(world, OPERATIONS, path, body, lambda: revoke(world, "operations"))
    assert (status, document["code"]) == (401, "unauthenticated")
    assert administer(world, "GET", "/admin/keys?principal=reporter")["data"] == []
    assert administer(world, "GET", "/admin/sources")["data"] == []


def test_an_operator_whose_role_was_taken_meanwhile_changes_nothing(world: HttpWorld) -> None:
    status, document = held(
        world,
        OPERATIONS,
        "/admin/sources/grant",
        GRANT,
        lambda: world.change_registry("the platform's tenant is not active"),
    )
    assert (status, document["code"]) == (403, "operator_required")
    assert administer(world, "GET", "/admin/sources")["data"] == []


def test_no_key_is_made_for_an_account_that_was_dropped_meanwhile(world: HttpWorld) -> None:
    status, document = held(
        world, "operator", "/admin/keys", NEW_KEY, lambda: world.change_registry("the tenant is removed")
    )
    assert (status, document["code"]) == (404, "unknown_tenant")
