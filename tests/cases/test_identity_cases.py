"""Failures of other systems around identity, by the ids of the collection of cases."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.testkit.doors.http import FACE, HttpWorld
from gateway.testkit.loops import LoopThread
from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.server import Provider
from gateway.testkit.world import Ask

CLAIMS = {
    "X-Tenant-Id": "tenant-a",
    "X-Tenant": "tenant-a",
    "X-User": "admin",
    "X-Principal": "reporter",
    "X-Authz-User-Groups": "ops",
    "X-Roles": "operator",
    "X-Forwarded-For": "10.0.0.5",
    "X-Forwarded-User": "operator",
    "Forwarded": "for=10.0.0.5;by=operator",
    "OpenAI-Organization": "tenant-a",
    "OpenAI-Project": "tenant-a",
    "X-Gateway-Privacy-Class": "public",
}


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[GatewayProcess]:
    loop = LoopThread("engine")
    provider = Provider(face=FACE)
    loop.call(provider.listen())
    process = GatewayProcess(tmp_path, provider.port)
    yield process
    process.close()
    loop.call(provider.__aexit__(None, None, None))
    loop.close()


def admin(world: HttpWorld, method: str, path: str, body: Any = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {world.token('operator')}"}
    status, _, answer = world.request(method, path, headers, None if body is None else json.dumps(body).encode())
    assert status < 300, answer
    return dict(json.loads(answer))


def revoke(world: HttpWorld, who: str = "assistant") -> None:
    """Every key of a service account."""
    for key in admin(world, "GET", f"/admin/keys?principal={who}&active=true")["data"]:
        admin(world, "POST", f"/admin/keys/{key['id']}/revoke", {})


# AUT-06


def asked(world: HttpWorld, key: str, claims: Mapping[str, str]) -> dict[str, Any]:
    """The operation that a generation with these headers became."""
    body = json.dumps({"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}).encode()
    headers = world.headers(Ask(key=key)) | claims
    status, sent, answer = world.request("POST", "/v1/chat/completions", headers, body)
    assert status == 200, answer
    found = {row["id"]: row for row in admin(world, "GET", "/admin/operations?tenant=acme")["data"]}
    return dict(found[sent["operation-id"]])


def test_aut_06_headers_of_identity_change_nothing(world: HttpWorld) -> None:
    plain, claiming = asked(world, "k-1", {}), asked(world, "k-2", CLAIMS)
    for operation in (plain, claiming):
        assert (operation["tenant"], operation["principal"]) == ("acme", "assistant")
    assert questions(world, plain["id"]) == questions(world, claiming["id"])
    assert admin(world, "GET", "/admin/operations?tenant=tenant-a")["data"] == []


def questions(world: HttpWorld, operation: str) -> list[str]:
    """What policy was told of a request, apart from the second: the access questions of both are one and the same."""
    entries = admin(world, "GET", f"/v1/operations/{operation}/timeline")["data"]
    decision = admin(world, "GET", f"/admin/decisions/{entries[0]['facts']['access']}")
    return [decision["tenant"], decision["principal"], decision["policy_revision"]]


def test_aut_06_headers_open_no_administration(world: HttpWorld) -> None:
    headers = {"Authorization": f"Bearer {world.token('assistant')}"} | CLAIMS
    for method, path in (("GET", "/admin/keys"), ("POST", "/admin/reload"), ("GET", "/admin/sources")):
        status, _, answer = world.request(method, path, headers)
        assert (status, json.loads(answer)["code"]) == (403, "operator_required")


def test_aut_06_the_same_key_under_claimed_identities_is_the_same_operation(world: HttpWorld) -> None:
    first = asked(world, "k-1", {})
    assert asked(world, "k-1", CLAIMS)["id"] == first["id"]
    assert len(world.engine_calls()) == 1


# AUT-09, one process


def test_aut_09_a_revoked_key_is_refused_at_once(world: HttpWorld) -> None:
    assert world.ask(Ask(key="k-1")).code is None
    revoke(world)
    assert world.ask(Ask(key="k-2")).code == "unauthenticated"
    assert world.ask(Ask(key="k-1")).code == "unauthenticated"
    assert world.request("GET", "/v1/models", {"Authorization": f"Bearer {world.token('assistant')}"})[0] == 401
    assert len(world.engine_calls()) == 1


def test_aut_09_a_slow_operation_on_it_brings_no_key_back(world: HttpWorld) -> None:
    world.engine_does("slow")
    world.start_asking(Ask(key="k-1"))
    revoke(world)
    assert world.ask(Ask(key="k-2")).code == "unauthenticated"
    slow = world.finish_asking()
    assert slow.code == "unauthenticated"  # its answer is stored, and shown to whoever may see it then
    assert world.ask(Ask(key="k-3")).code == "unauthenticated"
    assert len(world.engine_calls()) == 1
    assert [row["state"] for row in admin(world, "GET", "/admin/operations?tenant=acme")["data"]] == ["completed"]


def test_aut_09_a_key_revoked_between_authentication_and_reservation_dispatches_nothing(world: HttpWorld) -> None:
    """The request is already authenticated, and its body is still on its way."""
    token = world.token("assistant")
    body = json.dumps({"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}).encode()
    statuses: list[tuple[int, str]] = []
    reached, let_go = threading.Event(), threading.Event()

    def slowly() -> Iterator[bytes]:
        yield body[:10]
        time.sleep(0.3)  # the credential is checked as soon as the head is there
        reached.set()
        assert let_go.wait(10)
        yield body[10:]

    def ask() -> None:
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "k-1", "Content-Length": str(len(body))}
        status, _, answer = world.request("POST", "/v1/chat/completions", headers, slowly())  # type: ignore[arg-type]
        statuses.append((status, json.loads(answer)["code"]))

    asking = threading.Thread(target=ask)
    asking.start()
    assert reached.wait(10)
    revoke(world)
    let_go.set()
    asking.join(20)
    assert statuses == [(401, "unauthenticated")]
    assert world.engine_calls() == []
    assert admin(world, "GET", "/admin/operations?tenant=acme")["data"] == []


@pytest.mark.parametrize("account", ["platform/operations", "platform/audit", "platform/probe", "acme/reporter"])
def test_aut_09_it_holds_for_every_role(world: HttpWorld, account: str) -> None:
    token = world.token(account)
    headers = {"Authorization": f"Bearer {token}"}
    assert world.request("GET", "/v1/models", headers)[0] != 401
    revoke(world, account.rpartition("/")[2])
    for method, path in (("GET", "/v1/models"), ("GET", "/admin/keys"), ("POST", "/admin/reload")):
        assert world.request(method, path, headers)[0] == 401


def test_aut_09_also_for_the_operator_of_the_data_directory(world: HttpWorld) -> None:
    headers = {"Authorization": f"Bearer {world.token('operator')}"}
    revoke(world, "operator")
    assert world.request("GET", "/admin/keys", headers)[0] == 401


# AUT-10


def refused(gateway: GatewayProcess) -> str:
    """What a start says that ends before its port opens."""
    done = gateway.command("serve")
    assert done.returncode == 1
    assert "gateway serves" not in done.stdout
    assert not (gateway.data / "address.json").exists()
    return done.stderr


@pytest.mark.parametrize("name", ["GATEWAY_AUTH", "GATEWAY_MASTER_KEY", "GATEWAY_DATAA", "GATEWAY_AUTH__ENABLED"])
def test_aut_10_a_misspelt_or_misplaced_setting_ends_the_start(gateway: GatewayProcess, name: str) -> None:
    gateway.environment[name] = "CANARY"
    said = refused(gateway)
    assert name in said
    assert "CANARY" not in said


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("    roles: [generate]\n", "    rolls: [generate]\n", "rolls"),
        ("active: true\n", "active: true\nauth: {active: true}\n", "auth"),
        ("active: true\n", "security:\n  active: true\n", "security"),
        ("service_accounts:\n", "accounts:\n", "accounts"),
    ],
)
def test_aut_10_a_misspelt_or_misplaced_key_of_the_registry_ends_the_start(
    gateway: GatewayProcess, old: str, new: str, named: str
) -> None:
    tenant = Path(gateway.environment["GATEWAY_REGISTRY"]) / "tenants" / "acme.yaml"
    text = tenant.read_text()
    assert old in text
    tenant.write_text(text.replace(old, new, 1))
    said = refused(gateway)
    assert "acme.yaml:" in said
    assert named in said


def test_aut_10_there_is_no_open_mode(world: HttpWorld) -> None:
    for path in ("/v1/models", "/v1/operations/x", "/admin/keys", "/admin/sources"):
        assert world.request("GET", path, {})[0] == 401
    assert world.ask(Ask(who="stranger")).code == "unauthenticated"
    assert world.request("POST", "/admin/reload", {})[0] == 401
