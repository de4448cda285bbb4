"""The run that every change must pass."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPERATIONS = 2000
WITHIN_S = 15 * 60
"""On two idle cores it takes four minutes or so."""


@pytest.mark.timeout(WITHIN_S + 60)
def test_two_thousand_operations_are_struck_and_nothing_is_violated(tmp_path: Path) -> None:
    # In a process of its own, as `make faults` runs it: measuring the coverage of its clients would slow it down.
    arguments = ("--operations", str(OPERATIONS), "--seed", "1", "--keep", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "gateway.testkit.faults", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == ["violations: 0"], done.stdout[-5000:] + done.stderr[-3000:]
    assert done.returncode == 0
    struck = re.search(r"struck: (\d+) ", done.stdout)
    assert struck is not None
    assert int(struck[1]) >= OPERATIONS
