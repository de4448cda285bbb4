"""What reaches a terminal: nothing that changes it, and no id that is broken or cut."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable

import pytest
from cli_support import CommandLine
from msgspec import Struct

from gateway.cli import tables
from gateway.domain.errors import StartRefused
from gateway.domain.fault import Fault

EVIL = "\x1b]0;pwned\x07\x1b[31mred\u202e\u2028\x9b2J"
ESCAPED = r"\x1b]0;pwned\x07\x1b[31mred\u202e\u2028\x9b2J"
ID = "01a22cd9-32eb-7284-8f3c-08c7e27e13ab"
AT_US = 1_796_040_000_000_000
TIME = "2026-11-30 12:00:00.000Z"
DIGEST = "sha256:" + "7d" * 32
SOURCE_ID = "handbook/of/the/press/office.pdf"
TOKENS = {"input": 50, "output": 256}
OPERATION = {
    "id": ID,
    "state": "no_effect",
    "detail": "busy",
    "stage": None,
    "tenant": "acme",
    "principal": "assistant",
    "model": "chat",
    "purpose": "drafting",
    "bundle": "chat@1",
    "attempts_dispatched": 1,
    "max_attempts": 2,
    "created_us": AT_US,
    "attempt": {
        "n": 1,
        "profile": "smollm2-135m",
        "dispatch_id": ID,
        "reserved": TOKENS,
        "used": None,
        "dispatching_us": AT_US,
        "finished_us": AT_US,
    },
}
KEY = {
    "id": ID,
    "tenant": "acme",
    "principal": "assistant",
    "active": True,
    "created_us": AT_US,
    "label": "the laptop of the night shift",
}
SOURCE = {
    "id": SOURCE_ID,
    "revision": DIGEST,
    "tenant": "acme",
    "groups": ["press", "staff"],
    "privacy_class": "internal",
    "withdrawn": False,
    "released": "2026-12-31T00:00:00Z",
    "as_of": "2026-11-30T10:40:00Z",
}
HOLD = {
    "operation_id": ID,
    "scope": {"kind": "quota_scope", "id": "in-house"},
    "tokens": 306,
    "slot_held": True,
    "since_us": AT_US,
}
EVENT = {
    "at_us": AT_US,
    "event": "claimed",
    "attempt": 1,
    "facts": {"policy_revision": DIGEST, "access": ID, "routes": ID, "reserved": {"tenant acme": 306}},
}
DECISION = {
    "id": ID,
    "entrypoint": "routes",
    "policy_revision": DIGEST,
    "at_us": AT_US,
    "event": "refused",
    "code": "no_route_allowed",
    "tenant": "acme",
    "principal": "assistant",
    "operation_id": None,
    "failed": [{"check": "route/region", "about": "p", "code": "region_not_allowed", "place": "gateway/region.rego:9"}],
}


class Shown(Struct, frozen=True):
    """What a table printed to standard output and standard error."""

    out: str
    err: str


Show = Callable[..., Shown]


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Show:
    """Print a table, in a terminal of this width or (without) into a pipe."""

    def shown(table: Callable[..., None], content: object, width: int | None = None) -> Shown:
        monkeypatch.setattr("gateway.cli.layout.terminal_width", lambda: width)
        table(content)
        return Shown(*capsys.readouterr())

    return shown


@pytest.mark.parametrize(
    ("table", "content"),
    [
        (tables.timeline, [EVENT | {"facts": {"by": EVIL, "words": EVIL, "os_user": EVIL, "some": {EVIL: EVIL}}}]),
        (tables.timeline, [EVENT | {"event": EVIL, "facts": {}}]),
        (tables.operations, [OPERATION | {"model": EVIL, "tenant": EVIL}]),
        (tables.operation, OPERATION | {"model": EVIL, "detail": EVIL}),
        (tables.keys, [KEY | {"label": EVIL, "principal": EVIL}]),
        (tables.sources, [SOURCE | {"id": EVIL, "revision": EVIL, "groups": [EVIL]}]),
        (tables.stranded, [HOLD | {"scope": {"kind": EVIL, "id": EVIL}}]),
        (tables.decision, DECISION | {"code": EVIL}),
        (
            tables.decision,
            DECISION | {"failed": [{"check": "source/x", "about": EVIL, "code": EVIL, "place": EVIL}]},
        ),
    ],
)
def test_no_word_from_outside_changes_a_terminal(show: Show, table: Callable[..., None], content: object) -> None:
    out = show(table, content).out
    assert ESCAPED in out
    assert [c for c in out if not c.isprintable() and c != "\n"] == []


def test_a_fault_tells_no_terminal_what_to_do(gateway: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = Fault(file="tenants/acme.yaml", line=1, path=f"/{EVIL}\nnext", sentence="No.", remedy="Yes.")

    def load(*_: object, **__: object) -> tuple[Fault, ...]:
        return (fault,)

    monkeypatch.setattr("adapters.registry.load", load)
    said = gateway("check")
    assert said.out == f"tenants/acme.yaml:1: /{ESCAPED}\\nnext No. Yes.\n"
    assert "\u202e" not in gateway("check", "--json").out


def test_a_refusal_tells_no_terminal_what_to_do(gateway: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StartRefused(f"One line.\n{EVIL}")

    monkeypatch.setattr("gateway.cli.remote.call", refuse)
    assert gateway("keys", "list").err == f"One line.\n{ESCAPED}\n"


WHOLE = {
    "operations": (tables.operations, [OPERATION], ["operation", "state", "owner", "profile", "model", "since"]),
    "keys": (tables.keys, [KEY], ["key", "owner", "counts", "label", "created"]),
    "sources": (
        tables.sources,
        [SOURCE],
        ["source", "revision", "tenant", "open to", "class", "withdrawn", "released", "as of"],
    ),
    "stranded": (tables.stranded, [HOLD], ["operation", "scope", "tokens", "slot", "since"]),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_pipe_gets_each_row_on_one_line_however_long(show: Show, name: str) -> None:
    table, rows, heads = WHOLE[name]
    said = show(table, rows)
    assert said.err == ""
    head, row = said.out.splitlines()
    assert re.split(r" {2,}", head) == heads
    assert len(re.split(r" {2,}", row)) == len(heads)


@pytest.mark.parametrize(
    ("name", "width", "left_out"),
    [
        ("operations", 80, "model, since"),
        ("operations", 100, "since"),
        ("operations", 140, ""),
        ("keys", 80, "created"),
        ("keys", 100, ""),
        ("keys", 140, ""),
        ("sources", 80, "revision, released, as of"),
        ("sources", 100, "revision, as of"),
        ("sources", 200, ""),
        ("stranded", 80, "since"),
        ("stranded", 140, ""),
        ("operations", 20, "state, owner, profile, model, since"),
    ],
)
def test_what_has_no_room_in_a_terminal_is_left_out_whole_and_named(
    show: Show, name: str, width: int, left_out: str
) -> None:
    table, rows, heads = WHOLE[name]
    said = show(table, rows, width)
    assert said.err == (f"No room for: {left_out}. --json shows all.\n" if left_out else "")
    kept = [head for head in heads if head not in left_out.split(", ")]
    assert re.split(r" {2,}", said.out.splitlines()[0]) == kept
    if len(kept) > 1:
        assert max(len(line) for line in said.out.splitlines()) <= width
    assert (SOURCE_ID if name == "sources" else ID) in said.out
    assert (TIME in said.out) == ("created" in kept or "since" in kept)


def test_a_label_is_wrapped_before_it_is_left_out(show: Show) -> None:
    lines = show(tables.keys, [KEY], 100).out.splitlines()
    at, end = lines[0].index("label"), lines[0].index("created")
    assert len(lines) > 2
    assert " ".join(line[at:end].strip() for line in lines[1:]) == KEY["label"]


@pytest.mark.parametrize("width", [40, 80, 100, 140, None])
def test_ids_and_digests_of_lists_of_facts_stay_whole(show: Show, width: int | None) -> None:
    assert DIGEST in show(tables.decision, DECISION, width).out
    assert TIME in show(tables.operation, OPERATION, width).out
    out = show(tables.timeline, [EVENT], width).out
    for whole in (f"policy_revision={DIGEST}", f"access={ID}", f"routes={ID}", "reserved={tenant acme: 306}"):
        assert whole in out
    assert out.splitlines()[0] == f"{TIME}  claimed  attempt 1"
    if width is None:
        assert len(out.splitlines()) == 2


def test_facts_of_an_event_share_lines_that_fit(show: Show) -> None:
    facts = dict.fromkeys("abcdef", "x" * 20)
    lines = show(tables.timeline, [EVENT | {"facts": facts}], 80).out.splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 80


def test_a_real_terminal_is_asked_for_its_width(gateway: CommandLine) -> None:
    gateway.make_store()
    gateway("keys", "create", "--tenant", "acme", "--principal", "assistant", "--label", "x" * 30)
    for columns, heads in ((80, ["key", "owner", "counts", "label"]), (140, WHOLE["keys"][2])):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        environment = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES")}
        subprocess.run(
            [sys.executable, "-m", "gateway", "keys", "list"],
            stdin=follower,
            stdout=follower,
            stderr=subprocess.DEVNULL,
            env=environment | {"TERM": "xterm"},
            check=True,
        )
        os.close(follower)
        shown = os.read(leader, 65_536).decode()
        os.close(leader)
        assert re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()[0].split() == heads
