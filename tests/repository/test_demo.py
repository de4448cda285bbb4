"""What the demo says is still there: its registry loads, and its commands exist. To run it is ``make demo``."""

import datetime as dt
import inspect
import io
import re
from pathlib import Path
from typing import Any, cast

import click
import pytest
from rich.console import Console

from adapters.registry import Loaded, load
from gateway.cli.main import gateway
from gateway.demo import layout, scenes, story
from gateway.demo.surroundings import registry_edits
from gateway.testkit.registry_copy import copy_registry

_COMMAND = re.compile(r'"(?:export \w+=\$\()?(gateway [^"]+?)\)?"')
_AT_US = int(dt.datetime(2026, 12, 1, tzinfo=dt.UTC).timestamp()) * 1_000_000


def _commands(text: str) -> list[list[str]]:
    """Words of each command of the story, with a word in place of each f-string's value."""
    return [re.sub(r"\{[^}]*\}", "VALUE", command).split() for command in _COMMAND.findall(text)]


def _unknown(words: list[str]) -> list[str]:
    """Words that no command and no option has."""
    command: click.Command = gateway
    for position, word in enumerate(words[1:], 1):
        if not isinstance(command, click.Group):
            options = {option for parameter in command.params for option in parameter.opts}
            return [given for given in words[position:] if given.startswith("--") and given not in options]
        if word not in command.commands:
            return [word]
        command = command.commands[word]
    return []


def test_every_command_of_the_story_exists() -> None:
    commands = _commands(inspect.getsource(story))
    assert len(commands) >= 12
    assert [words for words in commands if _unknown(words)] == []


@pytest.mark.parametrize("line", ['"gateway nonsense"', '"gateway sources grant x --to y"', '"gateway keys hide"'])
def test_a_command_that_does_not_exist_is_found(line: str) -> None:
    (words,) = _commands(line)
    assert _unknown(words) != []


def test_the_registry_of_the_story_loads_and_warns_of_the_careless_alias_alone(tmp_path: Path) -> None:
    loaded = load(copy_registry(tmp_path, registry_edits(8099)), at_us=_AT_US)
    assert isinstance(loaded, Loaded), loaded
    assert loaded.snapshot.bundles["unreliable@1"].profiles[0].id == "unreliable"
    assert [profile.id for profile in loaded.snapshot.bundles["unreliable@1"].profiles] == ["unreliable"]
    assert {Path(fault.file).name for fault in loaded.warnings} == {"tenant-a.yaml"}


def test_the_scenes_are_python_and_no_two_use_one_key() -> None:
    codes = {name: text for name, text in vars(scenes).items() if name.isupper()}
    assert len(codes) >= 11
    begun = []
    for name, text in codes.items():
        compile(text, name, "exec")
        begun += re.findall(r'(?:answer|private|made|lost) = \w+\("(order-\d+)"|    ask\("(order-\d+)"', text)
    keys = [first or second for first, second in begun]
    assert len(keys) == len(set(keys)) == 5


ID = "01a22c63-48ce-7719-9a9a-4ae874d330fd"


def test_a_table_that_is_too_wide_has_shorter_ids_below_their_heads() -> None:
    lines = [
        "operation                             state    profile     since",
        f"{ID}  unknown  unreliable  2026-11-30 12:17:13.944Z",
    ]
    assert layout.narrowed(lines, 100) == lines
    assert layout.narrowed(lines, 80) == [
        "operation        state    profile     since",
        "01a22c63...30fd  unknown  unreliable  2026-11-30 12:17:13.944Z",
    ]


def test_ids_are_whole_where_shorter_digests_are_enough() -> None:
    lines = [f"    digest=sha256:{'0123456789abcdef' * 4}, access={ID}", "and a sentence"]
    assert layout.narrowed(lines, 80) == [f"    digest=sha256:01234567..., access={ID}", "and a sentence"]


def test_the_ids_of_sentences_are_whole() -> None:
    lines = [f"504 outcome_unknown operation {ID}", "a sentence " * 20]
    assert layout.narrowed(lines, 80) == lines


def test_no_id_and_no_word_is_broken_and_a_row_is_left_alone() -> None:
    pieces = layout.fitted(f"    access={ID}, routes={ID}", 60)
    assert pieces == [f"    access={ID},", f"      routes={ID}"]
    assert layout.fitted(f"{ID}  unknown", 10) == [f"{ID}  unknown"]
    assert layout.fitted("", 10) == [""]


@pytest.mark.parametrize("columns", [40, 80])
def test_the_code_on_the_screen_is_the_code_that_runs_however_narrow_it_is(columns: int) -> None:
    printed = io.StringIO()
    told = story.Story(Console(file=printed, width=columns), cast(Any, None))
    code = f"said = '{'a lighthouse ' * 10}'\nprint(said)"
    told._run(code)
    assert code in printed.getvalue()
