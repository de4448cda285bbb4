"""Steps about administration over HTTP: keys, sources, reloads, explanations, models."""

import json
from typing import Any

from pytest_bdd import parsers, then, when

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.doors.http_words import reply
from gateway.testkit.steps.asking import Memory
from gateway.testkit.steps.sourcing import grant
from gateway.testkit.world import Ask, Reply

NOBODY = "019acb5c-0000-7000-8000-000000000000"
_A_SOURCE = {"id": "faq", "tenant": "acme", "groups": ["staff"], "revision": "1", "privacy_class": "internal"}
Call = tuple[str, str, Any]
"""Method, path, body."""
ACTS: dict[str, Call] = {
    "list the keys": ("GET", "/admin/keys", None),
    "revoke a key": ("POST", f"/admin/keys/{NOBODY}/revoke", {}),
    "list the sources": ("GET", "/admin/sources", None),
    "grant a source": ("POST", "/admin/sources/grant", _A_SOURCE),
    "list the operations": ("GET", "/admin/operations", None),
    "write off an operation": ("POST", f"/admin/operations/{NOBODY}/write-off", {"reason": "nobody knows"}),
    "verify the ledger": ("POST", "/admin/ledger/verify", {}),
    "look at the budgets": ("GET", "/admin/ledger/usage", None),
    "count the outcomes": ("GET", "/admin/ledger/outcomes?since=2026-01-01T00:00:00Z", None),
    "explain a decision": ("GET", f"/admin/decisions/{NOBODY}", None),
    "reload the registry": ("POST", "/admin/reload", {}),
}


def _call(world: HttpWorld, memory: Memory, who: str, call: Call) -> Any:
    """The document that was answered; a refusal is remembered as the last reply."""
    method, path, body = call
    sent = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {world.token(who)}"}
    status, received, answer = world.request(method, path, headers, sent)
    if status >= 400:
        memory.replies.append(reply(status, received, answer))
        return None
    return json.loads(answer)


@when(parsers.re(r'"(?P<who>[^"]*)" wants to (?P<act>.*)'))
def _wants_to(world: HttpWorld, memory: Memory, who: str, act: str) -> None:
    memory.document = _call(world, memory, who, ACTS[act])


@then("it is done")
def _done(memory: Memory) -> None:
    assert memory.document is not None, memory.replies


@when("the operator revokes the assistant's key")
def _revoke(world: HttpWorld, memory: Memory) -> None:
    """The oldest one that counts: another that was made since goes on."""
    keys = _call(world, memory, "operator", ("GET", "/admin/keys?tenant=acme&principal=assistant&active=true", None))[
        "data"
    ]
    done = _call(world, memory, "operator", ("POST", f"/admin/keys/{keys[-1]['id']}/revoke", {}))
    assert done["active"] is False


@when(parsers.parse('the operator revokes the key "{key}"'))
def _revoke_key(world: HttpWorld, memory: Memory, key: str) -> None:
    _call(world, memory, "operator", ("POST", f"/admin/keys/{key}/revoke", {}))


@when(parsers.parse('the operator opens the source "{source}" of "{tenant}" to "{group}"'))
def _operator_opens(world: HttpWorld, memory: Memory, source: str, tenant: str, group: str) -> None:
    _remember(memory, world.change_source(grant(source, group, tenant=tenant)))


@when(parsers.parse('the operator closes the source "{source}" to "{group}"'))
def _operator_closes(world: HttpWorld, memory: Memory, source: str, group: str) -> None:
    _call(world, memory, "operator", ("POST", "/admin/sources/revoke", {"id": source, "groups": [group]}))


def _remember(memory: Memory, refusal: Reply | None) -> None:
    if refusal is not None:
        memory.replies.append(refusal)


@when(parsers.re(r"(?P<change>the tenant may no longer use the purpose|the registry is broken|the tenant is removed|"
                 r"the profile promises more than its memory holds)"
                 r" and the operator reloads"))  # fmt: skip
def _reload(world: HttpWorld, memory: Memory, change: str) -> None:
    world.edit_files(change)
    memory.document = _call(world, memory, "operator", ("POST", "/admin/reload", {}))


@then("the refusal names the file and the line")
def _names_file(memory: Memory) -> None:
    (fault, *_) = json.loads(memory.last.body)["faults"]
    assert fault["file"].endswith("acme.yaml")
    assert fault["line"] > 0
    assert fault["sentence"]
    assert fault["remedy"]


@then("the assistant still gets an answer")
def _still_answered(world: HttpWorld) -> None:
    assert world.ask(Ask(key="k-after")).code is None


@when("the operator asks for the reasons of a decision that never was")
def _explain_never(world: HttpWorld, memory: Memory) -> None:
    memory.document = _call(world, memory, "operator", ("GET", f"/admin/decisions/{NOBODY}", None))


@when("the operator asks for the reasons of the decision")
def _explain(world: HttpWorld, memory: Memory) -> None:
    decision = json.loads(memory.last.body)["decision"]
    memory.document = _call(world, memory, "operator", ("GET", f"/admin/decisions/{decision}", None))


@then(parsers.re(r'the explanation names "(?P<check>[^"]*)"(?: of "(?P<about>[^"]*)")? in "(?P<file>[^"]*)"'))
def _explained(memory: Memory, check: str, about: str | None, file: str) -> None:
    found = [failed for failed in memory.document["failed"] if failed["check"] == check]
    assert [failed["about"] for failed in found if not about or failed["about"] == about] == [about or ""]
    place, _, line = found[0]["place"].rpartition(":")
    assert place == file
    assert int(line) > 0


@then("the refusal told the caller no profile and no file")
def _told_no_profile(memory: Memory) -> None:
    told = memory.last.body.decode()
    assert "smollm2" not in told
    assert ".rego" not in told


@when(parsers.parse('"{who}" lists the models'))
def _models(world: HttpWorld, memory: Memory, who: str) -> None:
    memory.document = _call(world, memory, who, ("GET", "/v1/models", None))


@then(parsers.parse('the models are "{aliases}"'))
def _models_are(memory: Memory, aliases: str) -> None:
    assert [model["id"] for model in memory.document["data"]] == aliases.split(", ")


@then("there are no models")
def _no_models(memory: Memory) -> None:
    assert memory.document["data"] == []


@when(parsers.parse('the assistant asks "Is it?" under the key "k-1" claiming to be an administrator of "{tenant}"'))
def _claiming(world: HttpWorld, memory: Memory, tenant: str) -> None:
    ask = Ask(key="k-1")
    claims = {
        "X-Tenant-Id": tenant,
        "X-User": "admin",
        "X-Authz-User-Groups": "operator",
        "X-Forwarded-For": "10.0.0.5",
        "OpenAI-Organization": tenant,
        "X-Model": "assist",
        "X-Privacy-Class": "public",
    }
    body = json.dumps({"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}).encode()
    memory.replies.append(reply(*world.request("POST", "/v1/chat/completions", world.headers(ask) | claims, body)))


@then(parsers.parse('the operation belongs to the assistant of "{tenant}"'))
def _belongs(world: HttpWorld, memory: Memory, tenant: str) -> None:
    found = _call(world, memory, "operator", ("GET", f"/admin/operations?tenant={tenant}", None))["data"]
    assert [operation["id"] for operation in found] == [memory.last.operation_id]
    assert isinstance(world.look_at(memory.last.operation_id or ""), dict)


@when(parsers.parse('the assistant asks "Is it?" under the key "k-1" with "{field}" in the extension'))
def _with_extension(world: HttpWorld, memory: Memory, field: str) -> None:
    memory.replies.append(world.ask(Ask(key="k-1", changes={"gateway": {field: "public"}})))
