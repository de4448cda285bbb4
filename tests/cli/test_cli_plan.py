"""``gateway plan``: the worksheets for people and for scripts, with the same numbers."""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from cli_support import CommandLine
from click.testing import CliRunner
from msgspec.structs import replace

from gateway.cli import layout, plan, plan_tables
from gateway.cli.main import gateway as commands
from gateway.domain.worksheets.catalogue import WORKSHEETS
from gateway.domain.worksheets.fields import EntriesRefused, EntryFault
from gateway.domain.worksheets.sheet import Figure, Sheet, Table, Verdict
from gateway.settings import Settings

LLAMA = Path(__file__).parents[1] / "worksheets" / "configs" / "llama-3.1-8b.json"
COST = ("cost", "--currency", "EUR", "--device-hour", "10", "--requests-per-s", "20", "--utilisation", "0.5")
LINES = ("memory",), ("latency",), COST


def document(worksheet: str, **entered: str) -> object:
    """What the domain computes, as JSON has it."""
    return json.loads(msgspec.json.encode(WORKSHEETS[worksheet].compute(entered)))


def test_json_is_the_sheet_itself(gateway: CommandLine) -> None:
    said = gateway("plan", "memory", "--json", "--cached-tokens", "8192")
    assert (said.code, said.err) == (0, "")
    assert json.loads(said.out) == document("memory", cached_tokens="8192")
    found = json.loads(said.out)
    assert list(found) == ["worksheet", "figures", "verdict", "tables", "assumed", "left_out"]
    assert list(found["figures"]) == [
        "parameters",
        "weights",
        "kv_per_token",
        "kv",
        "reserve",
        "total",
        "device",
        "headroom",
        "most_sequences",
        "most_tokens",
        "devices",
        "all_devices",
    ]
    assert found["figures"]["total"] == {
        "label": "Total",
        "value": 28_884_901_888,
        "unit": "B",
        "shown": "26.90 GiB",
        "basis": "arithmetic",
        "how": "16,000,000,000 + 8,589,934,592 + 4,294,967,296 B",
        "measured": None,
    }


@pytest.mark.parametrize("line", LINES)
def test_people_read_the_numbers_that_scripts_do(gateway: CommandLine, line: tuple[str, ...]) -> None:
    read, parsed = gateway("plan", *line), json.loads(gateway("plan", *line, "--json").out)
    assert (read.code, read.err) == (0, "")
    lines = read.out.splitlines()
    grid = lines[: lines.index("")]
    for figure in parsed["figures"].values():
        # Columns are two spaces apart, and no cell has two in a row.
        (row,) = (one for one in grid if one.split("  ")[0] == figure["label"])
        assert [cell.strip() for cell in row.split("  ") if cell.strip()] == [
            text for text in (figure["label"], figure["shown"], figure["basis"], figure["how"]) if text
        ]
    for sentence in (*parsed["assumed"], *parsed["left_out"]):
        assert f"- {sentence}" in lines
    if parsed["verdict"] is None:
        assert not {"WITHIN", "EXCEEDS", "MEETS", "MISSES"} & {one.partition(".")[0] for one in lines}
    else:
        assert f"{parsed['verdict']['code'].upper()}. {parsed['verdict']['sentence']}" in lines


def test_what_exceeds_was_computed_and_ends_well_unless_it_is_asked_not_to(gateway: CommandLine) -> None:
    beyond = ("plan", "memory", "--cached-tokens", "8192")
    assert gateway(*beyond).code == 0
    said = gateway(*beyond, "--fail-if-exceeds")
    assert (said.code, said.err) == (1, "")
    assert "EXCEEDS. " in said.out
    assert gateway("plan", "memory", "--fail-if-exceeds").code == 0
    assert gateway("plan", "latency").code == 0
    assert gateway("plan", "latency", "--fail-if-misses", "--json").code == 1
    assert gateway("plan", "latency", "--fail-if-misses", "--slo-s", "9.5").code == 0
    assert gateway("plan", *COST, "--fail-if-exceeds").code == 2


def test_every_fault_is_told_under_its_option_and_nothing_is_printed(gateway: CommandLine) -> None:
    said = gateway("plan", "memory", "--vram-gib", "-3", "--sequences", "many", "--weight-bits=8", "--json")
    assert (said.code, said.out) == (2, "")
    assert said.err.splitlines() == [
        "--weight-bits: This is none of its values. They are 16, 4.",
        "--sequences: This is not a number. Enter decimal digits with a point, such as 24 or 0.5, not negative and "
        "without separators.",
        "--vram-gib: This is not a number. Enter decimal digits with a point, such as 24 or 0.5, not negative and "
        "without separators.",
    ]


def test_a_fault_of_several_entries_together_names_no_option(gateway: CommandLine) -> None:
    said = gateway("plan", "cost", "--currency", "EUR")
    assert (said.code, said.out) == (2, "")
    assert said.err == "Nothing has a price. Enter --input-price and --output-price, or --device-hour.\n"


def test_an_option_that_is_none_is_told_how_the_command_is_used(gateway: CommandLine) -> None:
    said = gateway("plan", "memory", "--vram", "24")
    assert (said.code, said.out) == (2, "")
    assert "gateway plan memory [OPTIONS]" in said.err.splitlines()[0]


@pytest.mark.parametrize("worksheet", WORKSHEETS)
def test_every_field_has_its_option_with_its_words(gateway: CommandLine, worksheet: str) -> None:
    command = commands.commands["plan"].commands[worksheet]  # type: ignore[attr-defined]
    options = {option for parameter in command.params for option in parameter.opts}
    said = " ".join(gateway("plan", worksheet, "--help").out.split())
    for field in WORKSHEETS[worksheet].fields:
        assert f"--{field.name.replace('_', '-')}" in options
        # Words with a hyphen may be parted at it.
        assert field.help.replace("-", "").replace(" ", "") in said.replace("-", "").replace(" ", "")


def test_a_config_is_read_from_its_file(gateway: CommandLine) -> None:
    said = gateway("plan", "memory", "--json", "--config", str(LLAMA))
    assert json.loads(said.out) == document("memory", config=LLAMA.read_text(encoding="utf-8"))
    assert json.loads(said.out)["figures"]["parameters"]["value"] == 8_030_261_248


@pytest.mark.parametrize(
    ("name", "contents", "sentence"),
    [
        ("missing.json", None, "There is no such file."),
        (".", None, "This is a folder."),
        ("latin.json", b"\xe9", "The file is not UTF-8."),
        ("empty.json", b" \n", "The file is empty."),
        ("large.json", b" " * (1024 * 1024 + 1), "The file is longer than 1 MiB."),
        ("deep.json", b"[" * 100_000, ""),
        ("canary.json", b'{"model_type": "canary-7f3a\x1b"', ""),
        ("/proc/self/mem", None, "The file cannot be read."),
    ],
)
def test_a_config_that_cannot_be_read_is_a_fault_of_its_option(
    gateway: CommandLine, tmp_path: Path, name: str, contents: bytes | None, sentence: str
) -> None:
    if contents is not None:
        (tmp_path / name).write_bytes(contents)
    said = gateway("plan", "memory", "--config", str(tmp_path / name))
    assert (said.code, said.out) == (2, "")
    (line,) = said.err.splitlines()
    assert line.startswith(f"--config: {sentence}")
    assert "canary" not in line


def test_a_layout_that_is_not_modelled_is_named(gateway: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(LLAMA.read_text(encoding="utf-8").replace('"llama"', '"mamba"'), encoding="utf-8")
    assert "mamba" in gateway("plan", "memory", "--config", str(config)).err


EVIL = "\x1b[31mred\u202e"


def test_no_text_of_a_sheet_or_a_fault_changes_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(_: Mapping[str, str]) -> Sheet:
        raise EntriesRefused([EntryFault("config", f"{EVIL} is not modelled.", EVIL)])

    command = plan.command_of("memory", replace(WORKSHEETS["memory"], compute=refuse))
    refused = CliRunner().invoke(command, [], obj=Settings())
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "red" in refused.stderr
    assert refused.stderr.rstrip("\n").isprintable()

    figure = Figure(label=EVIL, value=1, unit="B", shown=EVIL, basis="arithmetic", how=EVIL)
    table = Table(title=EVIL, columns=("Part",), rows=((EVIL,),))
    plan_tables.sheet(
        Sheet(
            worksheet="memory",
            figures={"one": figure},
            verdict=Verdict("within", EVIL),
            tables=(table,),
            assumed=(EVIL,),
            left_out=(EVIL,),
        )
    )
    shown = capsys.readouterr().out
    assert shown.count("red") == 8
    assert shown.replace("\n", "").isprintable()


def test_a_measured_number_is_told_with_who_measured_it(gateway: CommandLine) -> None:
    said = gateway(
        *("plan", "memory", "--vram-gib", "139.8", "--measured", "vram-gib"),
        *("--measured-engine", "vLLM 0.32.0", "--measured-device", "one H200", "--measured-workload", "eight chats"),
        *("--measured-date", "2026-11-30", "--measured-by", "platform"),
    )
    assert "- Memory of the device: vLLM 0.32.0 on one H200, eight chats; 2026-11-30, by platform." in said.out


@pytest.mark.parametrize("line", LINES)
def test_in_a_terminal_of_80_columns_nothing_is_left_out_or_cut(
    gateway: CommandLine, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...]
) -> None:
    monkeypatch.setattr(layout, "terminal_width", lambda: 80)
    said = gateway("plan", *line)
    assert said.err == ""
    assert max(map(len, said.out.splitlines())) <= 80
    words = said.out.split()
    for figure in WORKSHEETS[line[0]].compute(_entered(line)).figures.values():
        assert set(f"{figure.label} {figure.shown} {figure.basis} {figure.how}".split()) <= set(words)


def _entered(line: tuple[str, ...]) -> dict[str, str]:
    options = iter(line[1:])
    return {option.removeprefix("--").replace("-", "_"): text for option, text in zip(options, options, strict=True)}


HOSTED = ("plan", "cost", "--profile", "gpt-4.1-mini-eu", "--input-tokens", "1000", "--output-tokens", "100", "--json")


def test_prices_of_a_profile_are_taken_and_an_option_wins_over_them(gateway: CommandLine) -> None:
    figures = json.loads(gateway(*HOSTED).out)["figures"]
    # 1,000 tokens at 0.40 and 100 at 1.60 for a million.
    assert figures["hosted_per_request"]["value"] == "0.00056"
    figures = json.loads(gateway(*HOSTED, "--output-price", "0").out)["figures"]
    assert figures["hosted_per_request"]["value"] == "0.0004"


def test_a_source_that_has_nothing_ends_with_its_sentence(gateway: CommandLine) -> None:
    gateway.make_store()
    for option, sentence in (
        (("--profile", "no-such"), "The registry has no hosted profile of this name."),
        (("--from-ledger", "2026-11-01T00:00:00Z"), "The ledger counts no attempt since then"),
    ):
        said = gateway("plan", "cost", *option)
        assert (said.code, said.out) == (1, "")
        assert said.err.startswith(sentence)


def test_memory_and_latency_are_planned_without_registry_or_data(gateway: CommandLine) -> None:
    gateway.set(GATEWAY_REGISTRY="/nowhere", GATEWAY_DATA="/nowhere")
    assert gateway("plan", "memory").code == gateway("plan", "latency").code == gateway("plan", *COST).code == 0
    assert "--from-ledger" not in gateway("plan", "memory", "--help").out
