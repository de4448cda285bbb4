"""Reloads of a real server: with requests in flight, with faults, and without leaving an OPA behind."""

import asyncio
import json
import re
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from gateway.bootstrap.data_folder import operator_token
from gateway.bootstrap.serving import Gateway, open_gateway
from gateway.domain.refusal import Code, Refusal
from gateway.service.administer import Permit
from gateway.service.path import Session
from gateway.service.reload import Taken
from gateway.settings import Settings
from gateway.testkit.process import ROOT, GatewayProcess
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.server import Provider
from gateway.testkit.registry_copy import Edit, apply, copy_registry

QUESTION = {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}
RELOADS = 10
REQUESTS = 200
AT_ONCE = 8
IN_FORCE = ("registry_digest", "policy_revision")
TITLE = re.compile(r"^title: .*$", re.MULTILINE)


def retitle(registry: Path, title: str) -> None:
    """A change that alters every digest and no decision."""
    tenant = registry / "tenants" / "acme.yaml"
    tenant.write_text(TITLE.sub(f"title: {title}", tenant.read_text()))


def registry_of(gateway: GatewayProcess) -> Path:
    return Path(gateway.environment["GATEWAY_REGISTRY"])


def children(pid: int) -> list[int]:
    """Processes of this parent that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, *_ = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(stat.parent.name))
    return found


# With requests in flight


async def ask_and_reload(gateway: GatewayProcess, token: str) -> tuple[Counter[str], int]:
    """What requests got while the gateway was reloaded, and how many revisions served them."""
    ends: Counter[str] = Counter()
    revisions: set[str] = set()
    reloaded = asyncio.Event()
    operator = {"Authorization": f"Bearer {operator_token(gateway.data)}"}
    assistant = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(gateway.url) as http:

        async def ask(who: int) -> None:
            n = 0
            while not reloaded.is_set() or ends.total() < REQUESTS:
                n += 1
                headers = assistant | {"Idempotency-Key": f"k-{who}-{n}"}
                async with http.post("/v1/chat/completions", json=QUESTION, headers=headers) as answer:
                    document = await answer.json(content_type=None)
                    ends[f"{answer.status} {document.get('code', '')}".strip()] += 1
                    revisions.add(answer.headers.get("Policy-Revision", ""))

        async def reload() -> None:
            for n in range(RELOADS):
                retitle(registry_of(gateway), f"Acme {n}")
                async with http.post("/admin/reload", headers=operator) as answer:
                    assert answer.status == 200, await answer.text()
            reloaded.set()

        await asyncio.gather(reload(), *(ask(who) for who in range(AT_ONCE)))
    return ends, len(revisions - {""})


def test_requests_in_flight_finish_or_are_decided_again(gateway: GatewayProcess, engine: Provider) -> None:
    engine.default = Behaviour(content="It is.", delay_ms=20)
    gateway.start()
    token = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant").stdout.strip()
    ends, revisions = asyncio.run(ask_and_reload(gateway, token))
    print(f"\n{ends.total()} requests during {RELOADS} reloads: {dict(ends)}, under {revisions} revisions")
    assert ends.total() >= REQUESTS
    assert set(ends) <= {"200", "503 not_started"}
    assert ends["200"] >= 0.95 * ends.total()
    assert revisions > RELOADS / 2
    assert gateway.command("ledger", "verify").returncode == 0
    assert engine.generation_count == ends["200"]


# Over the command line


def test_a_reload_tells_what_is_in_force_now(gateway: GatewayProcess) -> None:
    gateway.start()
    retitle(registry_of(gateway), "Acme after a reload")
    done = gateway.command("reload")
    assert (done.returncode, done.stderr) == (0, "")
    ready = json.loads(gateway.request("GET", "/readyz")[2])
    assert done.stdout == (
        f"In force: registry digest {ready['registry_digest']}, policy revision {ready['policy_revision']}\n"
    )
    assert ready["last_reload"]["taken"] is True
    assert gateway.command("reload").stdout == "In force; nothing has changed.\n"


def test_faults_are_told_by_line_and_what_serves_goes_on(gateway: GatewayProcess) -> None:
    gateway.start()
    before = json.loads(gateway.request("GET", "/readyz")[2])
    tenant = registry_of(gateway) / "tenants" / "acme.yaml"
    tenant.write_text(tenant.read_text().replace("active: true", "active: perhaps").replace("title:", "titel:"))
    done = gateway.command("reload")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert len(lines) >= 2
    assert all(re.match(r"\S*acme\.yaml:\d+: ", line) for line in lines)
    assert "perhaps" not in done.stdout + done.stderr
    assert "goes on serving" in done.stderr
    after = json.loads(gateway.request("GET", "/readyz")[2])
    assert (after["registry_digest"], after["policy_revision"]) == (
        before["registry_digest"],
        before["policy_revision"],
    )
    assert (after["status"], after["last_reload"]["taken"]) == ("ready", False)
    assert {fault["line"] > 0 for fault in json.loads(gateway.command("reload", "--json").stdout)} == {True}


def test_an_id_with_an_open_operation_is_not_dropped(gateway: GatewayProcess, engine: Provider) -> None:
    engine.default = Behaviour(delivery="drop")
    gateway.start()
    token = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant").stdout.strip()
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "k-1"}
    assert gateway.request("POST", "/v1/chat/completions", headers, QUESTION)[0] == 502
    tenant = registry_of(gateway) / "tenants" / "acme.yaml"
    tenant.write_text(tenant.read_text().replace("- id: assistant", "- id: another"))
    refused = gateway.command("reload")
    assert refused.returncode == 1
    assert "assistant" in refused.stdout
    assert "open operations" in refused.stdout


# What is left behind

ReloadNow = Callable[[], Awaitable[Taken | Refusal]]


@asynccontextmanager
async def opened(tmp_path: Path, engine: Provider) -> AsyncIterator[tuple[Gateway, Path, ReloadNow]]:
    """A gateway in this process, its files, and how it is reloaded."""
    registry = copy_registry(tmp_path, engine_port=engine.port)
    policies = tmp_path / "policies"
    shutil.copytree(ROOT / "policies", policies)
    settings = Settings(registry=str(registry), policies=str(policies), data=str(tmp_path / "data"), drain_s=1.0)
    async with open_gateway(settings, on_fatal=lambda: None) as gateway:

        async def reload() -> Taken | Refusal:
            session = await gateway.services.admin.authenticate(operator_token(tmp_path / "data"))
            assert isinstance(session, Session)
            permit = await gateway.services.admin.administer(session, "registry", "change")
            assert isinstance(permit, Permit)
            return await gateway.services.reload(permit)

        yield gateway, tmp_path, reload


def running(pids: tuple[int, ...]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_twenty_reloads_leave_one_opa(tmp_path: Path, engine: Provider) -> None:
    async def story() -> None:
        async with opened(tmp_path, engine) as (gateway, files, reload):
            gateway.services.reload.pinned_s = 0.2
            seen = set(gateway.revisions.opa_pids)
            for n in range(20):
                retitle(files / "registry", f"Acme {n}")
                assert isinstance(await reload(), Taken)
                seen |= set(gateway.revisions.opa_pids)
            async with asyncio.timeout(10):
                while len(gateway.revisions.opa_pids) > 1:  # noqa: ASYNC110 - processes have no event
                    await asyncio.sleep(0.05)
            assert len(seen) == 21
            assert running(tuple(seen)) == list(gateway.revisions.opa_pids)
            assert gateway.services.in_force.active.policy.is_up
        assert running(tuple(seen)) == []

    asyncio.run(story())


def test_at_the_end_earlier_opas_go_without_waiting(tmp_path: Path, engine: Provider) -> None:
    async def story() -> None:
        async with opened(tmp_path, engine) as (gateway, _, reload):
            for _ in range(3):
                assert isinstance(await reload(), Taken)
            pids = gateway.revisions.opa_pids
            assert len(running(pids)) == 4
            begin = asyncio.get_running_loop().time()
        assert running(pids) == []
        assert asyncio.get_running_loop().time() - begin < 10
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(story())


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        (Edit("registry/tenants/acme.yaml", "active: true", "active: perhaps"), "acme.yaml"),
        (Edit("registry/releases.yaml", "chat: chat@1", "chat: chat@9"), "releases.yaml"),
        (Edit("policies/gateway/request/purpose/purpose.rego", "pass if", "pass if if"), "purpose.rego"),
        (Edit("registry/tenants/acme.yaml", "active: true", "active: false"), "golden"),
    ],
)
def test_a_refused_reload_leaves_nothing_behind(tmp_path: Path, engine: Provider, edit: Edit, names: str) -> None:
    async def story() -> None:
        async with opened(tmp_path, engine) as (gateway, files, reload):
            earlier, pids = gateway.services.in_force.active, gateway.revisions.opa_pids
            apply(files, edit)
            refused = await reload()
            assert isinstance(refused, Refusal)
            assert refused.code is Code.RELOAD_REFUSED
            assert any(names in str(fault) for fault in refused.faults), refused.faults
            assert gateway.services.in_force.active is earlier
            assert gateway.revisions.opa_pids == pids

    asyncio.run(story())


def test_an_id_that_is_in_use_is_missed_at_the_start_too(gateway: GatewayProcess, engine: Provider) -> None:
    engine.default = Behaviour(delivery="drop")
    gateway.start()
    token = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant").stdout.strip()
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "k-1"}
    assert gateway.request("POST", "/v1/chat/completions", headers, QUESTION)[0] == 502
    gateway.close()
    tenant = registry_of(gateway) / "tenants" / "acme.yaml"
    tenant.write_text(tenant.read_text().replace("- id: assistant", "- id: another"))
    refused = gateway.command("serve")
    assert refused.returncode == 1
    assert "The registry drops what the store still needs" in refused.stderr
    assert not (gateway.data / "address.json").exists()
