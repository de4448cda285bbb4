"""What the checks of the repository read."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def texts() -> dict[str, str]:
    """Every text file that is, or is about to be, under version control, by its path."""
    listed = subprocess.run(
        # The clone may belong to another user than the one who tests it.
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    found = {}
    for path in paths:
        if path.is_file() and b"\0" not in (raw := path.read_bytes()):
            found[path.relative_to(ROOT).as_posix()] = raw.decode()
    return found
