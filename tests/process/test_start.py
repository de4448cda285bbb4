"""A start that is refused says what is wrong and what to do, before the port opens."""

import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from gateway.cli.remote import NO_PROBLEM
from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.server import Provider


def refused(gateway: GatewayProcess) -> str:
    done = gateway.command("serve")
    assert done.returncode == 1
    assert not (gateway.data / "address.json").exists()
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_fault_in_the_registry_stops_the_start_with_its_line(gateway: GatewayProcess) -> None:
    tenant = Path(gateway.environment["GATEWAY_REGISTRY"]) / "tenants" / "acme.yaml"
    lines = tenant.read_text().splitlines()
    at = next(number for number, line in enumerate(lines, 1) if line.startswith("default_purpose"))
    tenant.write_text("".join(line.replace("default_purpose", "defualt_purpose") + "\n" for line in lines))
    said = refused(gateway)
    assert f"acme.yaml:{at}:" in said
    assert "default_purpose" in said


def test_a_fault_in_a_policy_stops_the_start_with_its_line(gateway: GatewayProcess, tmp_path: Path) -> None:
    policies = tmp_path / "policies"
    shutil.copytree(gateway.environment["GATEWAY_POLICIES"], policies)
    gateway.environment["GATEWAY_POLICIES"] = str(policies)
    rule = policies / "gateway" / "request" / "purpose" / "purpose.rego"
    rule.write_text(rule.read_text() + "\npass if {\n")
    assert f"purpose.rego:{len(rule.read_text().splitlines()) + 1}: rego_parse_error" in refused(gateway)


def test_a_reload_without_rules_names_the_folder_once(gateway: GatewayProcess, tmp_path: Path) -> None:
    policies = tmp_path / "policies"
    shutil.copytree(gateway.environment["GATEWAY_POLICIES"], policies)
    gateway.environment["GATEWAY_POLICIES"] = str(policies)
    gateway.start()
    shutil.rmtree(policies)
    policies.mkdir()
    done = gateway.command("reload")
    assert done.returncode == 1
    assert done.stdout == f"{policies}: There are no rules in this folder. Name the one that holds gateway/*.rego.\n"


def test_without_opa_there_is_no_start(gateway: GatewayProcess, tmp_path: Path) -> None:
    gateway.environment |= {"PATH": "/nowhere", "XDG_CACHE_HOME": str(tmp_path / "empty"), "HOME": str(tmp_path)}
    assert "gateway opa install" in refused(gateway)


def test_a_misspelt_setting_stops_the_start(gateway: GatewayProcess) -> None:
    gateway.environment["GATEWAY_REGISTRI"] = "CANARY"
    said = refused(gateway)
    assert "GATEWAY_REGISTRY" in said
    assert "CANARY" not in said


def test_a_taken_port_stops_the_start(gateway: GatewayProcess, engine: Provider) -> None:
    gateway.environment["GATEWAY_LISTEN"] = f"127.0.0.1:{engine.port}"
    assert "GATEWAY_LISTEN" in refused(gateway)


def test_whoever_reads_the_address_finds_somebody_there(gateway: GatewayProcess) -> None:
    address = gateway.data / "address.json"
    for _ in range(3):
        gateway.start(ready=False)
        deadline = time.monotonic() + 20
        while not address.exists():  # without a pause: the moment after it is what counts
            assert time.monotonic() < deadline
        assert gateway.request("GET", "/livez")[0] == 200
        gateway.signal(signal.SIGTERM)


def test_an_id_that_is_too_long_for_a_request_is_refused_with_a_sentence(gateway: GatewayProcess) -> None:
    gateway.start()
    for command in (("keys", "revoke"), ("policy", "explain"), ("operations", "show")):
        done = gateway.command(*command, "x" * 9_000)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", NO_PROBLEM.format(status=400) + "\n")
        done = gateway.command(*command, "a b\n\u00e9")
        assert (done.returncode, done.stdout) == (1, "")
        assert "here is no such" in done.stderr or "has no such" in done.stderr


def test_a_second_process_on_the_same_data_is_refused(gateway: GatewayProcess) -> None:
    gateway.start()
    done = gateway.command("serve")
    assert done.returncode == 1
    assert "data directory" in done.stderr
    assert gateway.request("GET", "/readyz")[0] == 200


def test_the_files_of_the_data_directory_are_the_owner_s_alone(gateway: GatewayProcess) -> None:
    gateway.start()
    assert gateway.data.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in gateway.data.iterdir()}
    assert modes.pop("address.json") & 0o022 == 0  # an address is no secret
    assert set(modes.values()) == {0o600}, modes


def test_keys_are_made_with_and_without_a_server(gateway: GatewayProcess) -> None:
    gateway.start()
    gateway.signal(signal.SIGTERM)
    offline = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant", "--json")
    assert offline.returncode == 0, offline.stderr
    gateway.start()
    online = gateway.command("keys", "create", "--tenant", "acme", "--principal", "reporter")
    assert online.returncode == 0, online.stderr
    for token in (json.loads(offline.stdout)["token"], online.stdout.strip()):
        status, _, body = gateway.request(
            "POST",
            "/v1/chat/completions",
            {"Authorization": f"Bearer {token}", "Idempotency-Key": "k-1"},
            {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]},
        )
        assert status == 200, body


@pytest.mark.parametrize("serving", [True, False], ids=["a server", "no server"])
def test_a_key_for_nobody_is_refused_with_a_remedy(gateway: GatewayProcess, serving: bool) -> None:
    gateway.start()
    if not serving:
        gateway.signal(signal.SIGTERM)
    done = gateway.command("keys", "create", "--tenant", "acme", "--principal", "nobody")
    assert done.returncode == 1
    assert "registry/tenants" in done.stderr
    assert done.stdout == ""


def test_without_a_store_no_key_is_made(gateway: GatewayProcess) -> None:
    done = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant")
    assert (done.returncode, done.stdout) == (1, "")
    assert "GATEWAY_DATA" in done.stderr
    assert not gateway.data.exists()


def test_a_data_directory_that_cannot_be_used_stops_the_start(gateway: GatewayProcess, tmp_path: Path) -> None:
    file = tmp_path / "a-file"
    file.touch()
    gateway.environment["GATEWAY_DATA"] = str(file)
    assert "GATEWAY_DATA cannot be used" in refused(gateway)


def test_gateway_check_prints_every_fault(gateway: GatewayProcess) -> None:
    registry = Path(gateway.environment["GATEWAY_REGISTRY"])
    for kind in ("tenants/acme.yaml", "privacy.yaml"):
        with (registry / kind).open("a") as file:
            file.write("junk: 1\n")
    text, as_json = gateway.command("check"), gateway.command("check", "--json")
    assert (text.returncode, as_json.returncode) == (1, 1)
    assert {fault["file"].rpartition("registry/")[2] for fault in json.loads(as_json.stdout)} == {
        "tenants/acme.yaml",
        "privacy.yaml",
    }
    assert text.stdout.count("junk") == 2


def test_the_environment_of_opa_is_empty(gateway: GatewayProcess) -> None:
    gateway.environment["GATEWAY_SECRET_OPENAI"] = "CANARY"
    gateway.start()
    children = Path(f"/proc/{gateway.pid}/task/{gateway.pid}/children").read_text().split()
    opa = [pid for pid in children if "opa" in Path(f"/proc/{pid}/comm").read_text()]
    assert len(opa) == 1
    assert b"CANARY" not in Path(f"/proc/{opa[0]}/environ").read_bytes()
    assert os.fsencode("CANARY") in Path(f"/proc/{gateway.pid}/environ").read_bytes()


def test_a_store_that_takes_no_first_write_stops_the_start_with_a_remedy(gateway: GatewayProcess) -> None:
    gateway.start()
    gateway.signal(signal.SIGTERM)
    gateway.log.write_text("")
    gateway.start_planned({"failpoints": [{"point": "sweep.statement", "action": "enospc", "nth": 1}]})
    gateway.wait_until(lambda: gateway.ended() is not None, "the gateway goes on")
    assert "The store cannot be written." in gateway.log.read_text()
