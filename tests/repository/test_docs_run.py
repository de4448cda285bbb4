"""What the operations page shows of a run is what a run leaves."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.testkit import sequence


class Left:
    """A run, and the files of its data directory, as kill -9 left them."""

    def __init__(self, folder: Path) -> None:
        self.timelines = sequence.run(folder)
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


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="markers"):
        sequence.page("# Running the gateway", {})
