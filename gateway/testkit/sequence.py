"""Sequence diagrams of docs/operations.md, drawn from what a real run left in the audit.

``python -m gateway.testkit.sequence`` runs a gateway with a scripted engine, asks, kills it once, lets an operator
close what is unknown, and draws the timelines between the markers of the page. A test runs it again and compares:
it takes five seconds and needs OPA, so it is no part of ``make schemas``.
"""

import json
import re
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.provider.server import EngineFace
from gateway.testkit.registry_copy import EXAMPLE

PAGE = EXAMPLE.parent / "docs" / "operations.md"
Entry = Mapping[str, Any]
"""Of a timeline: event, facts and the rest."""
_FACE = EngineFace(
    alias="smollm2-135m@q4_1", model_path="/models/SmolLM2-135M-Instruct.Q4_1.gguf", context=2048, slots=2
)
_BETWEEN = re.compile(r"(<!-- sequence: begin -->\n).*(<!-- sequence: end -->)", re.DOTALL)
_HEAD = """sequenceDiagram
    participant O as operator
    participant C as caller
    participant G as gateway
    participant L as ledger
    participant E as engine"""


def _claimed(facts: Entry) -> list[str]:
    holds = ", ".join(f"{scope} {tokens}" for scope, tokens in facts["reserved"].items())
    return ["C->>G: request under a key", f"G->>L: T1 claimed, holds: {holds}"]


def _dispatching(_: Entry) -> list[str]:
    return ["G->>L: T2 dispatching", "G->>E: one call"]


def _settled(facts: Entry) -> list[str]:
    used = f"used {facts['used_input']} + {facts['used_output']} ({facts['usage_basis']})"
    if "act" in facts:
        return [f"O->>G: reconcile, found {facts['act']}", f"G->>L: settled as {facts['state']}, {used}"]
    return ["E-->>G: answer", f"G->>L: T3 {facts['state']} ({facts['detail']}), {used}", "G-->>C: answer"]


def _unknown(facts: Entry) -> list[str]:
    if facts["by"] == "sweep":
        return ["Note over G: nobody works on it any more", f"G->>L: sweep, unknown ({facts['detail']}), holds kept"]
    return ["E--xG: no answer", f"G->>L: T3 unknown ({facts['detail']}), holds kept", "G-->>C: outcome_unknown"]


def _closed(facts: Entry) -> list[str]:
    used = f"used {facts['used_input']} + {facts['used_output']} ({facts['usage_basis']})"
    return [f"O->>G: {facts['act']}, {facts['words']}", f"G->>L: closed, {used}"]


def _disclosed(_: Entry) -> list[str]:
    return ["C->>G: the same key again", "G->>L: disclosed, decided anew", "G-->>C: the stored answer"]


_LINES: Mapping[str, Callable[[Entry], list[str]]] = {
    "claimed": _claimed,
    "dispatching": _dispatching,
    "settled": _settled,
    "unknown": _unknown,
    "closed": _closed,
    "disclosed": _disclosed,
}


def diagram(entries: Iterable[Entry]) -> str:
    """A diagram in Mermaid's language.

    :raises KeyError: for an event that has no lines here.
    """
    lines = [f"    {line}" for entry in entries for line in _LINES[entry["event"]](entry["facts"])]
    return "```mermaid\n" + "\n".join([_HEAD, *lines]) + "\n```\n"


class _Run:
    """One service and one operator at a gateway that may be killed."""

    def __init__(self, gateway: GatewayProcess, engine: ProviderProcess) -> None:
        self._gateway = gateway
        self._engine = engine
        created = gateway.command("keys", "create", "--tenant", "acme", "--principal", "assistant")
        self._owner = {"Authorization": f"Bearer {created.stdout.strip()}"}

    def ask(self, key: str) -> str:
        """Ask, and return the operation's id."""
        question = {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}]}
        headers = self._owner | {"Idempotency-Key": key}
        return self._gateway.request("POST", "/v1/chat/completions", headers, question)[1]["operation-id"]

    def ask_and_kill(self, key: str) -> str:
        """Kill the gateway while the engine works, start it again, and ask for the same."""

        def lost() -> None:
            with suppress(OSError, HTTPException):
                self.ask(key)

        before = self._engine.state().generation_count
        caller = threading.Thread(target=lost)
        caller.start()
        self._gateway.wait_until(lambda: self._engine.state().generation_count > before, "the engine was not called")
        self._gateway.signal(signal.SIGKILL)
        caller.join()
        self._gateway.start()
        return self.ask(key)

    def act(self, operation_id: str, *words: str) -> list[Entry]:
        """What an operator types about an operation; its timeline afterwards."""
        act, *options = words
        done = self._gateway.command("operations", act, operation_id, *options)
        assert done.returncode == 0, done.stderr
        return self.timeline(operation_id)

    def timeline(self, operation_id: str) -> list[Entry]:
        shown = self._gateway.command("operations", "show", operation_id, "--timeline", "--json")
        return list(json.loads(shown.stdout)["data"])


def run(folder: Path) -> dict[str, list[Entry]]:
    """Timelines of three operations of a real run, by what became of them."""
    with ProviderProcess() as engine:
        engine.show(_FACE)
        gateway = GatewayProcess(folder, engine.port)
        try:
            gateway.start()
            service = _Run(gateway, engine)
            answered = service.ask("answered")
            service.ask("answered")
            engine.script(Behaviour(delivery="drop"), Behaviour(delivery="hang"))
            lost = service.ask("lost")
            written_off = service.act(lost, "write-off", "--reason", "the engine keeps no record")
            killed = service.ask_and_kill("killed")
            evidence = ("--evidence", "log of the engine", "--found", "charged", "--used-input", "20")
            return {
                "Answered, and shown again": service.timeline(answered),
                "Lost, and written off": written_off,
                "Killed in mid-call, and reconciled": service.act(killed, "reconcile", *evidence, "--used-output", "3"),
            }
        finally:
            gateway.close()


def page(text: str, timelines: Mapping[str, Iterable[Entry]]) -> str:
    """The page with its diagrams renewed.

    :raises ValueError: if the page lacks the markers.
    """
    diagrams = "\n".join(f"### {title}\n\n{diagram(entries)}" for title, entries in timelines.items())
    renewed, found = _BETWEEN.subn(lambda between: f"{between[1]}\n{diagrams}\n{between[2]}", text)
    if not found:
        raise ValueError("The page needs the markers of the sequence diagrams.")
    return renewed


def main() -> None:
    """Renew the page."""
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), run(Path(folder))), encoding="utf-8")


if __name__ == "__main__":
    main()
