"""A temporary folder of these tests' own: what killed processes leave behind goes with it."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A short path, because OPA's socket lies below it."""
    tmp_path_factory.getbasetemp()  # pytest's own folder stays where it is
    folder = Path(tempfile.mkdtemp(prefix="t-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        patch.setenv("TMPDIR", str(folder))
        yield folder
    shutil.rmtree(folder)
