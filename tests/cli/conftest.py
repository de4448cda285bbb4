import os
from pathlib import Path

import pytest
from cli_support import CommandLine


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    for name in [name for name in os.environ if name.startswith("GATEWAY_")]:
        monkeypatch.delenv(name)
    return CommandLine(tmp_path, monkeypatch, capsys)
