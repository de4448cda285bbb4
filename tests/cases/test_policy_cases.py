"""Failures of other systems around a policy engine, by the ids of the collection of cases.

Over HTTP, for each question that the gateway asks, with a real OPA whose answers are changed on their way, or with
other rules. Whatever happens, nothing is allowed, nothing is held, and no engine is called.
"""

import asyncio
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.policy import die_with_parent, find, start
from adapters.registry import Loaded, load
from gateway.domain.errors import StartRefused
from gateway.testkit.doors import http_gateway
from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.registry_copy import EXAMPLE
from gateway.testkit.world import Ask

ENTRYPOINTS = ("access", "operate", "replay", "routes", "visible")
AT_US = 1_796_000_000_000_000
Json = dict[str, Any]


class Faced:
    """A gateway whose OPA stands behind a face."""

    def __init__(self, world: HttpWorld, folder: Path) -> None:
        self.world = world
        self._folder = folder
        self._keys = 0
        self.operator, self.assistant = world.token("operator"), world.token("assistant")
        assert world.ask(Ask(key="saved")).code is None
        for entrypoint in ENTRYPOINTS:
            assert self.ask(entrypoint)[0] == 200

    def ask(self, entrypoint: str) -> tuple[int, Json]:
        """Do what needs this question to be answered; status and body."""
        self._keys += 1
        match entrypoint:
            case "operate":
                token, path = self.operator, "/admin/sources"
            case "visible":
                token, path = self.assistant, "/v1/models"
            case _:
                key = "saved" if entrypoint == "replay" else f"k-{self._keys}"
                reply = self.world.ask(Ask(key=key))
                return (200 if reply.code is None else self._status(reply.body)), json.loads(reply.body)
        status, _, body = self.world.request("GET", path, {"Authorization": f"Bearer {token}"})
        return status, json.loads(body)

    def truth(self, entrypoint: str) -> Json:
        """The whole document that OPA said last."""
        return dict(json.loads((self._folder / f"{entrypoint}.said").read_bytes()))

    def says(self, entrypoint: str, sent: bytes) -> None:
        """From now on, and not from memory: that serves for a second, or until others have taken its place."""
        time.sleep(1.0 - time.time() % 1.0)
        if entrypoint == "operate":
            assert {self.ask(other)[0] for other in ("access", "replay", "visible")} == {200}
        (self._folder / f"{entrypoint}.says").write_bytes(sent)

    def tells_the_truth(self) -> None:
        for path in self._folder.glob("*.says"):
            path.unlink()

    def refuses(self, entrypoint: str, sent: bytes) -> None:
        """See that this answer of OPA is none: 503, nothing generated, nothing held."""
        (self._folder / f"{entrypoint}.says").write_bytes(sent)
        calls, booked = len(self.world.engine_calls()), self.world.booked_tokens()
        status, document = self.ask(entrypoint)
        assert (status, document.get("code")) == (503, "policy_unavailable"), sent
        assert "choices" not in document
        assert (len(self.world.engine_calls()), self.world.held_tokens()) == (calls, 0)
        assert self.world.booked_tokens() == booked

    def _status(self, body: bytes) -> int:
        return int(json.loads(body)["status"])


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faced]:
    folder, real = tmp_path_factory.mktemp("face"), find()
    assert real is not None, "run: gateway opa install"
    face = Path(__file__).with_name("opa_face.py")
    program = folder / "opa"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = run ] || exec {real} "$@"\n'
        f'exec {sys.executable} -I {face} {folder} {die_with_parent.__file__} {real} "$@"\n'
    )
    program.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        world = HttpWorld(tmp_path_factory.mktemp("world"))
        try:
            yield Faced(world, folder)
        finally:
            world.close()


@pytest.fixture(autouse=True)
def honest(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test lets OPA say ends with it, and OPA is asked again then."""
    yield
    if "gateway" in request.fixturenames:
        faced: Faced = request.getfixturevalue("gateway")
        faced.tells_the_truth()
        for entrypoint in ENTRYPOINTS:
            assert faced.ask(entrypoint)[0] == 200


def wire(document: object, status: str = "200 OK", media: str = "application/json") -> bytes:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


def spoiled_results(right: Json) -> Iterator[object]:
    """What other clients took for "allow", and every field of the right answer in another shape."""
    yield from (False, True, "false", "true", 1, 0, {}, [], None, {"allow": True}, [right], {"result": right})
    yield right | {"extra": True}
    for name in right:
        yield {field: value for field, value in right.items() if field != name}
        others = ("true", 1, None, ["a", 1], {"a": 1})
        yield from (
            right | {name: other} for other in others if not isinstance(right[name], str) or not isinstance(other, str)
        )


@pytest.mark.parametrize("entrypoint", ENTRYPOINTS)
def test_opa_01_only_the_one_closed_shape_allows(gateway: Faced, entrypoint: str) -> None:
    truth = gateway.truth(entrypoint)
    gateway.says(entrypoint, wire(truth | {"result": False}))
    for result in spoiled_results(truth["result"]):
        gateway.refuses(entrypoint, wire(truth | {"result": result}))
    gateway.refuses(entrypoint, wire(truth | {"allow": True}))


@pytest.mark.parametrize("entrypoint", ENTRYPOINTS)
def test_opa_02_an_answer_without_a_result_is_no_answer(gateway: Faced, entrypoint: str) -> None:
    truth = gateway.truth(entrypoint)
    del truth["result"]
    gateway.says(entrypoint, wire({}))
    for undefined in (truth, {}, {"warning": {"code": "api_usage_warning"}}):
        gateway.refuses(entrypoint, wire(undefined))


@pytest.mark.parametrize("entrypoint", ENTRYPOINTS)
def test_opa_03_an_opa_that_fails_never_allows(gateway: Faced, entrypoint: str) -> None:
    truth = json.dumps(gateway.truth(entrypoint)).encode()
    gateway.says(entrypoint, b"")
    for sent in (
        b"",
        b"hang",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        wire(b""),
        wire(b"<html>", media="text/html"),
        wire(b"<html>"),
        wire(truth[:-20]),
        wire(truth)[:-20],
        wire(truth, status="500 Internal Server Error"),
        wire(truth, status="503 Service Unavailable"),
        wire(truth, status="404 Not Found"),
        wire(truth, media="text/plain"),
        b"HTTP/1.1 302 Found\r\nLocation: /v1/data/gateway/allow\r\nContent-Length: 0\r\n\r\n",
    ):
        gateway.refuses(entrypoint, sent)


def spoiled_provenances(right: Json) -> Iterator[object]:
    (name,) = right["bundles"]
    yield None
    yield {}
    yield right | {"version": "1.22.2"}
    yield {field: value for field, value in right.items() if field != "version"}
    for bundles in (None, {}, {name: {}}, {name: {"revision": "sha256:other"}}, {name: {"revision": ""}}):
        yield right | {"bundles": bundles}
    yield right | {"bundles": right["bundles"] | {"another": {"revision": "sha256:other"}}}


@pytest.mark.parametrize("entrypoint", ENTRYPOINTS)
def test_opa_08_an_answer_of_another_revision_is_no_answer(gateway: Faced, entrypoint: str) -> None:
    truth = gateway.truth(entrypoint)
    provenance = truth.pop("provenance")
    gateway.says(entrypoint, wire(truth))
    gateway.refuses(entrypoint, wire(truth))
    for spoiled in spoiled_provenances(provenance):
        gateway.refuses(entrypoint, wire(truth | {"provenance": spoiled}))


# Other rules


Changed = Callable[[str, str, str], HttpWorld]


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Changed]:
    """A gateway over the rules with one text replaced."""
    worlds: list[HttpWorld] = []

    def change(file: str, old: str, new: str) -> HttpWorld:
        monkeypatch.setattr(http_gateway, "POLICIES", rules(tmp_path, file, old, new))
        worlds.append(HttpWorld(tmp_path))
        return worlds[-1]

    yield change
    for world in worlds:
        world.close()


def rules(folder: Path, file: str, old: str, new: str) -> Path:
    policies = Path(shutil.copytree(EXAMPLE.parent / "policies", folder / "changed"))
    path = policies / file
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    return policies


ACCESS = "gateway/access/access.rego"


def test_opa_02_a_rule_that_was_renamed_refuses_everybody(changed: Changed) -> None:
    world = changed(ACCESS, "\nanswer := {", "\nanswers := {")
    assert world.ask(Ask()).code == "policy_unavailable"
    assert (world.engine_calls(), world.held_tokens()) == ([], 0)


def test_opa_02_a_rule_that_was_renamed_does_not_start_where_decisions_are_known(tmp_path: Path) -> None:
    """With the golden decisions, as everybody serves but these tests."""

    class Nobody:
        def emit(self, event: object) -> None: ...

    policies, opa = rules(tmp_path, ACCESS, "\nanswer := {", "\nanswers := {"), find()
    loaded = load(EXAMPLE, at_us=AT_US, strict=True)
    assert isinstance(loaded, Loaded)
    assert opa is not None
    with pytest.raises(StartRefused) as refused:
        asyncio.run(start(snapshot=loaded.snapshot, policies=policies, opa=opa, events=Nobody()))
    assert "Policy has no answer to this golden decision (undefined)" in str(refused.value)


def test_opa_07_rules_that_contradict_each_other_for_some_refuse_those(changed: Changed) -> None:
    both = '\nrequired := "public" if input.alias == "assist"\n'
    world = changed("gateway/privacy/privacy.rego", "\n# The classes that are at least", f"{both}\n# The classes that")
    calls = len(world.engine_calls())
    assert world.ask(Ask(model="assist", key="k-1")).code == "policy_unavailable"
    assert (len(world.engine_calls()), world.held_tokens()) == (calls, 0)
    assert world.ask(Ask(model="chat", key="k-2")).code is None
