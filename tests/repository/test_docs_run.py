"""What the operations page shows of a run is what a run leaves."""

import json
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.testkit import sequence


class Left:
    """A run, and the files of its data directory, as kill -9 left them."""

    def __init__(self, folder: Path) -> None:
        self.timelines = sequence.run(folder)
        self.database = folder / "data" / "gateway.db"
        self.modes = {path.name: f"{path.stat().st_mode & 0o7777:04o}" for path in (folder / "data").iterdir()}


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Left:
    return Left(tmp_path_factory.mktemp("run"))


def test_the_diagrams_are_what_a_run_leaves_in_the_audit(left: Left, texts: Mapping[str, str]) -> None:
    text = texts["docs/operations.md"]
    assert sequence.page(text, left.timelines) == text, "Run: python -m gateway.testkit.sequence"


def test_the_data_directory_holds_the_files_that_the_page_lists_with_their_modes(
    left: Left, texts: Mapping[str, str]
) -> None:
    rows = re.findall(r"^\| ((?:`[\w.-]+`(?:, )?)+) \| (\d{4}) \|", texts["docs/operations.md"], re.MULTILINE)
    assert {name: mode for names, mode in rows for name in re.findall(r"`([^`]+)`", names)} == left.modes


def test_the_audit_is_read_as_the_page_says(left: Left, texts: Mapping[str, str]) -> None:
    (query,) = re.findall(r'^sqlite3 -readonly .*? "\n(.*?)"$', texts["docs/operations.md"], re.MULTILINE | re.DOTALL)
    reading = sqlite3.connect(f"file:{left.database}?mode=ro", uri=True)
    try:
        found = reading.execute(query).fetchall()
    finally:
        reading.close()
    acts = {(kind, code): json.loads(data) for _, kind, code, _, data in found}
    assert {("closed", "write_off"), ("charged", "charged")} <= acts.keys()
    assert acts["closed", "write_off"]["words"] == "the engine keeps no record"
    assert all(re.match(r"\d{4}-\d\d-\d\d ", at) for at, *_ in found)


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="markers"):
        sequence.page("# Running the gateway", {})
