"""The folder of bundle and socket: removed after kill -9 by the next start, and never while somebody uses it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from policy_support import ROOT

from adapters.policy.folder import PREFIX, Folder

HOLDS = """
import sys, time
sys.path.insert(0, sys.argv[1])
from adapters.policy.folder import Folder

folder = Folder()
folder.bundle.touch()
print(folder.path, flush=True)
time.sleep(60)
"""


@contextmanager
def held_elsewhere() -> Iterator[Path]:
    """The folder of another process, which is killed at the end."""
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(ROOT)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Path(process.stdout.readline().strip())
        finally:
            process.send_signal(signal.SIGKILL)


def test_what_a_killed_process_left_is_removed_by_the_next_start() -> None:
    with held_elsewhere() as left:
        pass
    assert left.is_dir()
    Folder().remove()
    assert not left.exists()


def test_what_another_process_uses_stays() -> None:
    with held_elsewhere() as used:
        Folder().remove()
        assert used.is_dir()


def test_what_this_process_uses_stays() -> None:
    first = Folder()
    first.bundle.touch()
    second = Folder()
    assert first.bundle.exists()
    for folder in (second, first, first):
        folder.remove()
    assert not first.path.exists()


def test_one_that_was_made_just_now_stays(temporary_folder: Path) -> None:
    made = temporary_folder / f"{PREFIX}new"
    made.mkdir()
    Folder().remove()
    assert made.is_dir()
    made.rmdir()


def test_other_files_and_where_links_lead_stay(temporary_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    (temporary_folder / f"{PREFIX}link").symlink_to(tmp_path)
    (temporary_folder / f"{PREFIX}file").touch()
    Folder().remove()
    assert (tmp_path / "kept").exists()
    assert (temporary_folder / f"{PREFIX}file").exists()


def test_what_belongs_to_another_user_stays(temporary_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = temporary_folder / f"{PREFIX}foreign"
    foreign.mkdir()
    (foreign / "bundle.tar.gz").touch()
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    Folder().remove()
    assert foreign.is_dir()
    monkeypatch.undo()
    Folder().remove()
    assert not foreign.exists()
