"""OPA as a child: shut off, restarted, swapped, and never left behind."""

import asyncio
import contextlib
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import aiohttp
import msgspec
import pytest
import uvloop
from msgspec.structs import replace
from policy_support import ACCESS, DRAFT, POLICIES, ROOT, ROUTES, Recorder, envelope, opa, running, says, stand_in
from snapshots import TENANT, snapshot

from adapters.policy import OpaPolicy, start
from adapters.policy.engine import Envelope, Reason
from gateway.domain.errors import PolicyUnavailable
from gateway.domain.questions import AccessAnswer
from gateway.ports.events import Faulted

_decode = msgspec.json.Decoder(Envelope[AccessAnswer]).decode


def _pid(policy: OpaPolicy) -> int:
    assert policy.child_pid is not None
    return policy.child_pid


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_the_child_sees_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_SECRET_CLOUD", "CANARY")

    async def run() -> tuple[bytes, list[bytes]]:
        async with running() as policy:
            process = Path(f"/proc/{_pid(policy)}")
            return (process / "environ").read_bytes(), (process / "cmdline").read_bytes().split(b"\0")

    environment, command = asyncio.run(run())
    assert environment == b""
    assert command[0].endswith(b"opa")
    assert not any(b"CANARY" in argument for argument in command)


def test_only_this_user_reaches_it_and_only_over_the_socket() -> None:
    async def run() -> tuple[str, str, set[str]]:
        async with running() as policy:
            inodes = _sockets(_pid(policy))
            folder = policy.files.socket.parent
            return stat.filemode(folder.stat().st_mode), stat.filemode(policy.files.socket.stat().st_mode), inodes

    folder, socket, inodes = asyncio.run(run())
    assert (folder, socket) == ("drwx------", "srw-------")
    tables = "".join(Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6", "udp", "udp6"))
    over_the_network = {f"socket:[{line.split()[9]}]" for line in tables.splitlines() if ":" in line.split()[0]}
    assert inodes
    assert not inodes & over_the_network


def _sockets(pid: int) -> set[str]:
    found = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # it may have been closed meanwhile
            found.add(str(descriptor.readlink()))
    return {target for target in found if target.startswith("socket:")}


def test_nothing_can_be_written_to_it() -> None:
    async def run() -> tuple[list[int], bool]:
        async with running() as policy:
            connector = aiohttp.UnixConnector(str(policy.files.socket))
            async with aiohttp.ClientSession("http://opa", connector=connector) as session:
                statuses = []
                for method, path, body in (
                    ("PUT", "/v1/data/registry/tenants", b"{}"),
                    ("PUT", "/v1/data/other", b"{}"),
                    ("PATCH", "/v1/data/registry", b'[{"op":"add","path":"/a","value":1}]'),
                    ("PUT", "/v1/policies/other", b"package other"),
                    ("DELETE", "/v1/data/registry", b""),
                ):
                    async with session.request(method, path, data=body) as answer:
                        statuses.append(answer.status)
            return statuses, (await policy.access(ACCESS)).answer.allow

    statuses, allow = asyncio.run(run())
    assert all(400 <= status < 500 for status in statuses)
    assert allow is True


def test_64_decisions_at_once_all_get_their_own_answer() -> None:
    async def run() -> list[bool]:
        questions = [replace(ACCESS, alias="chat" if turn % 2 else "code") for turn in range(64)]
        async with running() as policy:
            return [decided.answer.allow for decided in await asyncio.gather(*map(policy.access, questions))]

    assert asyncio.run(run()) == [bool(turn % 2) for turn in range(64)]


def test_while_the_child_is_away_nothing_is_allowed_and_then_it_is_back() -> None:
    async def run() -> tuple[set[str], list[Faulted]]:
        recorder = Recorder()
        async with running(events=recorder) as policy:
            first = _pid(policy)
            os.kill(first, signal.SIGKILL)
            reasons = await _recovery(policy)
            assert _pid(policy) != first
            return reasons, [event for event in recorder.events if isinstance(event, Faulted)]

    reasons, faults = asyncio.run(run())
    assert reasons == {Reason.UNREACHABLE}
    assert faults == [Faulted(where="policy.child", kind="ended")]


def test_a_child_that_keeps_ending_is_started_again_with_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.policy.child._LONGEST_PAUSE_S", 0.2)
    fake = _opa_whose_run(tmp_path, f'test -e {tmp_path}/broken && exit 1; exec {opa()} "$@"')

    async def run() -> int:
        recorder = Recorder()
        policy = await start(snapshot=snapshot(), policies=POLICIES, opa=fake, events=recorder)
        try:
            (tmp_path / "broken").touch()
            os.kill(_pid(policy), signal.SIGKILL)
            await asyncio.sleep(0.5)
            (tmp_path / "broken").unlink()
            await _recovery(policy)
            return len([event for event in recorder.events if isinstance(event, Faulted)])
        finally:
            await policy.close()

    assert 3 <= asyncio.run(run()) <= 6


async def _recovery(policy: OpaPolicy) -> set[str]:
    """Reasons of the failures until there is an answer again; the first question has to fail."""
    reasons: set[str] = set()
    async with asyncio.timeout(10):
        while True:
            try:
                assert (await policy.access(ACCESS)).answer.allow is True
            except PolicyUnavailable as unavailable:
                reasons.add(unavailable.reason)
            else:
                if reasons:
                    return reasons
            await asyncio.sleep(0.005)


def _opa_whose_run(folder: Path, script: str) -> Path:
    """OPA, except for ``opa run``."""
    program = folder / "opa"
    program.write_text(f'#!/bin/sh\nif [ "$1" = run ]; then {script}\nfi\nexec {opa()} "$@"\n')
    program.chmod(0o700)
    return program


PARENT = """
import asyncio, sys
sys.path[:0] = sys.argv[1:3]
from policy_support import running

async def main():
    async with running() as policy:
        print(policy.child_pid, policy.files.socket, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


def test_a_parent_that_is_killed_leaves_no_child_and_its_folder_goes_with_the_next_start() -> None:
    command = [sys.executable, "-c", PARENT, str(ROOT), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, socket = parent.stdout.readline().split()
        assert _alive(int(pid))
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 5
    while _alive(int(pid)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _alive(int(pid))
    assert Path(socket).parent.is_dir()  # it was not tidied up: the child really ended by the signal

    async def run() -> None:
        async with running():
            assert not Path(socket).parent.exists()

    asyncio.run(run())


DRAINS = """
import asyncio, signal, sys
import uvloop
sys.path[:0] = sys.argv[1:3]
from policy_support import ACCESS, Recorder, running

async def main():
    events = Recorder()
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    async with running(events=events) as policy:
        print("ready", flush=True)
        await told.wait()
        await asyncio.sleep(0.2)  # OPA would end within this time
        decided = await policy.access(ACCESS)
        print(decided.answer.allow, [event for event in events.events if hasattr(event, "where")], flush=True)

{"asyncio": asyncio, "uvloop": uvloop}[sys.argv[3]].run(main())
"""


@pytest.mark.parametrize(("loop", "number"), [("asyncio", signal.SIGINT), ("uvloop", signal.SIGTERM)])
def test_a_signal_to_the_gateways_process_group_leaves_it_decisions_for_its_drain(
    loop: str, number: signal.Signals
) -> None:
    command = [sys.executable, "-c", DRAINS, str(ROOT), str(Path(__file__).parent), loop]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        os.killpg(parent.pid, number)
        assert parent.stdout.readline() == "True []\n"


def test_a_new_revision_is_a_new_child_and_nobody_notices() -> None:
    """8 readers all along: each answer is wholly of the old revision or wholly of the new one."""

    async def run() -> tuple[list[tuple[bool, str]], str, str]:
        async def open_(aliases: tuple[str, ...]) -> OpaPolicy:
            registry = snapshot(tenants=(replace(TENANT, aliases=aliases),))
            return await start(snapshot=registry, policies=POLICIES, opa=opa(), events=Recorder())

        active = old = await open_(("chat",))
        seen: list[tuple[bool, str]] = []
        done = asyncio.Event()

        async def read() -> None:
            while not done.is_set():
                decided = await active.access(ACCESS)
                seen.append((decided.answer.allow, decided.decision.revision))

        readers = [asyncio.create_task(read()) for _ in range(8)]
        new = await open_(("code",))
        active = new
        await old.close()
        await asyncio.sleep(0.05)
        done.set()
        await asyncio.gather(*readers)
        await new.close()
        assert old.child_pid is None
        return seen, old.revision, new.revision

    seen, old, new = asyncio.run(run())
    assert set(seen) == {(True, old), (False, new)}


def test_close_waits_for_decisions_in_flight(tmp_path: Path) -> None:
    async def run() -> tuple[bool, str]:
        async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.1)
            await says(envelope())(reader, writer)

        async with stand_in(tmp_path / "opa.sock", slow) as engine:
            asking = asyncio.create_task(engine.ask("gateway/access", b"{}", _decode, lambda _: True))
            await asyncio.sleep(0.02)
            await engine.close()
            assert asking.done()
            with pytest.raises(PolicyUnavailable) as unavailable:
                await engine.ask("gateway/access", b"{}", _decode, lambda _: True)
            return asking.result().allow, unavailable.value.reason

    assert asyncio.run(run()) == (True, Reason.CLOSED)


def test_close_leaves_no_process_and_no_file() -> None:
    async def run() -> tuple[int, Path]:
        async with running() as policy:
            return _pid(policy), policy.files.socket.parent

    pid, folder = asyncio.run(run())
    assert not _alive(pid)
    assert not folder.exists()


def test_it_runs_on_the_servers_loop_too() -> None:
    async def run() -> tuple[bool, tuple[str, ...]]:
        async with running() as policy:
            allow = (await policy.access(DRAFT)).answer.allow
            return allow, (await policy.routes(ROUTES)).answer.routes

    assert uvloop.run(run()) == (True, ("own", "rented"))
