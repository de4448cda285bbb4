"""docs/worksheets.md: what it shows is what the commands print, and its tables are those of the code."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli.main import gateway
from gateway.domain.worksheets import decimals
from gateway.domain.worksheets.choosing import HOW_TO_CHOOSE
from gateway.domain.worksheets.memory.kv_formats import KV
from gateway.domain.worksheets.models.hf_config import FAMILIES
from gateway.domain.worksheets.models.weight_formats import WEIGHTS
from gateway.domain.worksheets.worked import worked_cases

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "worksheets.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SKIPPED = "..."


def shown(page: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a page with the output that the page shows of it."""
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        for run in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, output = re.match(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", run, re.DOTALL).groups()  # type: ignore[union-attr]
            yield command.replace("\\\n", " ").strip(), output.splitlines()


COMMANDS = [*shown(PAGE), *shown(README)]


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=[command[:60] for command, _ in COMMANDS])
def test_a_command_prints_what_the_page_shows(monkeypatch: pytest.MonkeyPatch, command: str, output: list[str]) -> None:
    monkeypatch.chdir(ROOT)
    name, *arguments = shlex.split(command)
    assert name == "gateway"
    printed = CliRunner().invoke(gateway, arguments, catch_exceptions=False).output.splitlines()
    assert difference(output, printed) is None


def difference(expected: list[str], printed: list[str]) -> str | None:
    """The first line that is shown and not printed there; a line of dots stands for any lines."""
    at, skips = 0, False
    for line in expected:
        if line == SKIPPED:
            skips = True
            continue
        found = next((place for place in range(at, len(printed)) if printed[place] == line), None)
        if found is None or (found != at and not skips):
            return line
        at, skips = found + 1, False
    return None if skips or at == len(printed) else printed[at]


@pytest.mark.parametrize(
    ("expected", "first"),
    [
        (["a", "b", "c"], None),
        (["a", "...", "c"], None),
        (["a", "..."], None),
        (["...", "c"], None),
        (["a", "c"], "c"),
        (["a", "b"], "c"),
        (["a", "...", "d"], "d"),
        (["...", "b", "a"], "a"),
    ],
)
def test_a_page_that_shows_something_else_is_found(expected: list[str], first: str | None) -> None:
    assert difference(expected, ["a", "b", "c"]) == first


def test_the_pages_show_every_worksheet_and_a_refusal() -> None:
    commands = [command for command, _ in COMMANDS]
    for worksheet in ("memory", "latency", "cost"):
        assert any(command.startswith(f"gateway plan {worksheet}") for command in commands)
    assert any(output[0].startswith("--") for _, output in shown(PAGE))
    assert any(command.startswith("gateway plan memory") for command, _ in shown(README))


def rows(heading: str) -> list[list[str]]:
    """Cells of the table below a heading, without its head."""
    (_, section) = re.split(rf"^#+ {re.escape(heading)}$", PAGE, flags=re.MULTILINE)
    table = re.search(r"^\|.*?(?=\n\n|\Z)", section, re.MULTILINE | re.DOTALL)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:]]


def test_the_worked_example_of_the_page_is_computed() -> None:
    assert rows("The worked example") == [
        [
            case.title,
            *(case.sheet.figures[name].shown for name in ("weights", "kv", "total")),
            f"{case.entered['vram_gib']} GiB",
            case.sheet.verdict.code if case.sheet.verdict else "",
        ]
        for case in worked_cases()
    ]


def test_the_page_lists_every_weight_format_with_its_bits() -> None:
    listed = {row[0].strip("`"): (row[1], row[3], row[4]) for row in rows("Weight formats")}
    assert listed == {
        name: (
            decimals.text(form.bits),
            "none" if form.bits == form.other_bits else decimals.text(form.other_bits),
            "experts padded to multiples of 256"
            if form.pads_experts
            else f"head at {decimals.text(form.head_bits)} bits"
            if form.head_bits is not None
            else "the same",
        )
        for name, form in WEIGHTS.items()
        if not name.startswith("raw")
    }


def test_the_page_lists_every_kv_format_with_its_bytes_and_who_knows_it() -> None:
    listed = {
        row[0].strip("`"): (row[1].split()[0], set(re.findall(r"`([^`]+)`", row[2]))) for row in rows("KV formats")
    }
    assert listed == {
        name: (str(form.row) if form.row else decimals.text(form.bytes), set(form.engines)) for name, form in KV.items()
    }


def test_the_page_lists_every_accounting() -> None:
    assert {row[0].strip("`") for row in rows("Engine accounting")} == set().union(
        *(one.engines for one in KV.values())
    )


def test_the_page_lists_every_family_that_is_read() -> None:
    (listed,) = re.findall(r"^These values of `model_type` are read: (.*?):", PAGE, re.MULTILINE | re.DOTALL)
    assert re.findall(r"`([^`]+)`", listed) == list(FAMILIES)


def test_the_page_shows_how_to_choose_as_every_door_does() -> None:
    assert [tuple(row) for row in rows("How to choose")] == list(HOW_TO_CHOOSE.rows)
