"""What holds for every command: settings first, help, exit codes; and ``opa install`` and ``serve``."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli_support import CommandLine

from adapters import policy
from gateway.cli import main
from gateway.testkit.registry_copy import Edit, copy_registry


@pytest.mark.parametrize("command", [("check",), ("keys", "create"), ("policy", "check"), ("opa", "install")])
def test_every_command_says_what_it_does(gateway: CommandLine, command: tuple[str, ...]) -> None:
    for option in ("-h", "--help"):
        said = gateway(*command, option)
        assert said.code == 0
        assert f"gateway {' '.join(command)} [OPTIONS]" in said.out.splitlines()[0]


def test_no_help_speaks_of_the_code(gateway: CommandLine) -> None:
    def walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield path
        for name, one in command.commands.items() if isinstance(command, click.Group) else ():
            yield from walk(one, (*path, name))

    paths = list(walk(main.gateway, ()))
    assert len(paths) > 25
    assert [path for path in paths if ".py" in gateway(*path, "--help").out] == []


def test_the_version_is_the_package_s(gateway: CommandLine) -> None:
    said = gateway("--version")
    assert (said.code, said.out) == (0, "gateway, version 0.1.0\n")


@pytest.mark.parametrize("arguments", [("chek",), ("check", "--att", "x"), ("keys",), ()])
def test_a_wrong_call_has_an_exit_code_of_its_own(gateway: CommandLine, arguments: tuple[str, ...]) -> None:
    said = gateway(*arguments)
    assert said.code == 2
    assert said.err.startswith("Usage: ")


@pytest.mark.parametrize("command", [("check",), ("serve",), ("keys", "create", "--tenant", "a", "--principal", "b")])
def test_a_misspelt_setting_stops_every_command(gateway: CommandLine, command: tuple[str, ...]) -> None:
    gateway.set(GATEWAY_REGISTRI="CANARY")
    said = gateway(*command)
    assert (said.code, said.out) == (1, "")
    assert said.err == "GATEWAY_REGISTRI is no setting of the gateway. Did you mean GATEWAY_REGISTRY?\n"
    assert not gateway.data.exists()


def test_an_opa_that_is_there_is_named_and_not_built_again(gateway: CommandLine) -> None:
    found = policy.find()
    assert found is not None
    said = gateway("opa", "install")
    assert said.code == 0
    path = said.out.strip()
    assert Path(path) == Path(found)
    assert "Version:" in subprocess.run([path, "version"], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def kept_logging(monkeypatch: pytest.MonkeyPatch) -> None:
    """``serve`` sends every log record of the process through its own handler; not here."""
    monkeypatch.setattr("adapters.telemetry.set_up_logs", lambda _: None)


@pytest.mark.usefixtures("kept_logging")
def test_a_server_is_not_started_on_a_registry_with_faults(gateway: CommandLine, tmp_path: Path) -> None:
    edit = Edit(file="tenants/acme.yaml", old="active: true", new="active: perhaps")
    gateway.set(GATEWAY_REGISTRY=copy_registry(tmp_path, [edit], approve=False), GATEWAY_LISTEN="127.0.0.1:0")
    said = gateway("serve")
    assert said.code == 1
    assert said.err.startswith("The registry has faults:\n")
    assert "acme.yaml:" in said.err
    assert not gateway.data.exists()


@pytest.mark.usefixtures("kept_logging")
def test_a_server_is_not_started_without_opa(gateway: CommandLine, tmp_path: Path) -> None:
    gateway.set(PATH="/nowhere", XDG_CACHE_HOME=tmp_path / "empty", HOME=tmp_path, GATEWAY_LISTEN="127.0.0.1:0")
    said = gateway("serve")
    assert (said.code, said.err) == (1, "There is no accepted OPA. Run: gateway opa install\n")
    assert not gateway.data.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a file that is always full")
@pytest.mark.parametrize("arguments", [("plan", "memory"), ("plan", "memory", "--json"), ("--help",)])
def test_an_output_that_is_full_is_told_in_one_sentence(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gateway", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "The output could not be written: No space left on device. Send it somewhere else.\n"
