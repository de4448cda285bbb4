"""Sequence diagrams of docs/operations.md, drawn from what a real run left in the ledger.

``python -m gateway.testkit.sequence`` runs a gateway with a scripted engine, asks, reads the timelines of the
operations, and writes one diagram for each between the markers of the page. A test runs it again and compares.
"""

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.registry_copy import EXAMPLE
from gateway.testkit.world import Ask, Reply

PAGE = EXAMPLE.parent / "docs" / "operations.md"
_BETWEEN = re.compile(r"(<!-- sequence: begin -->\n).*(<!-- sequence: end -->)", re.DOTALL)
_HEAD = """sequenceDiagram
    participant C as caller
    participant G as gateway
    participant L as ledger
    participant E as engine
    participant O as operator"""
_LINES = {
    "claimed": ("C->>G: request under a key", "G->>L: T1 claimed: decisions, holds, grant"),
    "dispatching": ("G->>L: T2 dispatching", "G->>E: one call"),
    "settled": ("E-->>G: answer", "G->>L: T3 settled: result, usage", "G-->>C: answer"),
    "disclosed": ("C->>G: the same key again", "G->>L: disclosed: decided again, audited", "G-->>C: stored answer"),
    "unknown": ("E--xG: no answer", "G->>L: T3 unknown: holds kept", "G-->>C: outcome_unknown"),
    "closed": ("O->>G: write-off with a reason", "G->>L: closed: settled at the reservation"),
    "evidence": ("Note over L: evidence kept",),
}


def diagram(events: Iterable[str]) -> str:
    """A diagram in Mermaid's language.

    :raises KeyError: for an event that has no line here.
    """
    lines = [f"    {line}" for event in events for line in _LINES[event]]
    return "```mermaid\n" + "\n".join([_HEAD, *lines]) + "\n```\n"


def run(folder: Path) -> dict[str, list[str]]:
    """Events of two operations of a real run: one that was answered and replayed, one that was written off."""
    world = HttpWorld(folder)
    try:
        world.engine_answers("Yes.")
        answered = world.ask(Ask(key="answered"))
        world.ask(Ask(key="answered"))
        world.engine_does("drop")
        lost = world.ask(Ask(key="lost"))
        world.act("write_off", _id(lost), "the engine keeps no record")
        return {
            "Answered, and shown again": world.timeline(_id(answered)),
            "Lost, and written off": world.timeline(_id(lost)),
        }
    finally:
        world.close()


def _id(reply: Reply) -> str:
    assert reply.operation_id is not None
    return reply.operation_id


def page(text: str, events: dict[str, list[str]]) -> str:
    """The page with its diagrams renewed."""
    diagrams = "\n".join(f"### {title}\n\n{diagram(happened)}" for title, happened in events.items())
    return _BETWEEN.sub(lambda found: f"{found[1]}\n{diagrams}\n{found[2]}", text)


def main() -> None:
    """Renew the page."""
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(page(PAGE.read_text(), run(Path(folder))))


if __name__ == "__main__":
    main()
