"""Generated files are up to date."""

import shutil
from pathlib import Path

import pytest

from gateway.testkit import generated

FOLDERS = ("docs", "features", "policies", "registry")


@pytest.fixture
def copy(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what the generator reads and writes, as the working folder."""
    for folder in FOLDERS:
        shutil.copytree(root / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _files(root: Path) -> dict[str, bytes]:
    paths = (path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def test_make_schemas_would_change_nothing(copy: Path) -> None:
    before = _files(copy)
    generated.main()
    after = _files(copy)
    assert [name for name in after if before.get(name) != after[name]] == []


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("docs/api.md", "| `operation_key_reused` |"),
        ("docs/behaviours.md", "| `@G4` |"),
        ("policies/schemas/input.json", '"purpose"'),
        ("registry/schemas/profile.schema.json", '"context_window"'),
    ],
)
def test_a_generated_file_that_was_edited_is_written_anew(copy: Path, name: str, written: str) -> None:
    path = copy / name
    text = path.read_text(encoding="utf-8")
    assert written in text
    path.write_text(text.replace(written, "edited"), encoding="utf-8")
    generated.main()
    assert written in path.read_text(encoding="utf-8")
