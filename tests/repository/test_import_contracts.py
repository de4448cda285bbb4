"""Each import contract of pyproject.toml finds a violation that is planted in a copy of the packages."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("gateway", "adapters")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]

PLANTS = [
    # contract, module that is written into the copy, what it imports
    ("floors", "gateway/domain/planted.py", "import gateway.ports"),
    ("floors", "gateway/service/planted.py", "import gateway.api"),
    ("floors", "gateway/service/planted.py", "import adapters.store"),
    ("floors", "adapters/store/planted.py", "import gateway.service"),
    ("floors", "gateway/testkit/planted.py", "import gateway.cli"),
    ("every-module-has-a-floor", "gateway/planted.py", ""),
    ("service-floors", "gateway/service/path.py", "import gateway.service.steps"),
    ("service-floors", "gateway/service/planted.py", ""),
    ("api-without-adapters", "gateway/api/planted.py", "import adapters.store"),
    ("settings-at-the-ground", "gateway/service/planted.py", "import gateway.settings"),
    ("settings-at-the-ground", "adapters/store/planted.py", "import gateway.settings"),
    ("adapters-apart", "adapters/policy/planted.py", "import adapters.store"),
    ("steps-apart", "gateway/service/steps/planted.py", "import gateway.service.steps.reserve"),
    ("pure-core", "gateway/service/planted.py", "import os"),
    ("pure-core", "gateway/ports/planted.py", "import aiohttp"),
    ("pure-core", "gateway/domain/planted.py", "from pathlib import Path"),
    ("timeless-domain", "gateway/domain/planted.py", "import time"),
    ("timeless-domain", "gateway/domain/planted.py", "from concurrent.futures import Future"),
    ("litellm-in-one-module", "adapters/transport/planted.py", "import litellm"),
    ("opa-in-one-adapter", "adapters/store/planted.py", "import opa_client"),
    ("sql-in-one-adapter", "gateway/cli/planted.py", "from sqlalchemy import text"),
    ("sql-in-one-adapter", "adapters/policy/planted.py", "import alembic.config"),
    ("no-circles", "gateway/domain/planted.py", "import gateway.domain.planted_too"),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages with their contracts, to break."""
    root = tmp_path_factory.mktemp("repository")
    shutil.copy(ROOT / "pyproject.toml", root)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "gateway/domain/planted_too.py").write_text("import gateway.domain.planted\n", encoding="utf-8")
    (root / "gateway/domain/planted.py").touch()
    return root


def _lint(root: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    options = [option for contract in contracts for option in ("--contract", contract)]
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", *options],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_contract_holds() -> None:
    result = _lint(ROOT)
    assert result.returncode == 0, result.stdout


def test_every_contract_has_a_planted_violation() -> None:
    assert {contract for contract, _, _ in PLANTS} == {contract["id"] for contract in CONTRACTS}


@pytest.mark.parametrize(("contract", "module", "line"), PLANTS)
def test_a_planted_violation_breaks_its_contract(copy: Path, contract: str, module: str, line: str) -> None:
    path = copy / module
    before = path.read_text(encoding="utf-8") if path.exists() else None
    path.write_text(f"{before or ''}\n{line}\n", encoding="utf-8")
    try:
        result = _lint(copy, contract)
    finally:
        if before is None:
            path.unlink()
        else:
            path.write_text(before, encoding="utf-8")
    assert result.returncode == 1, result.stdout
    assert "BROKEN" in result.stdout, result.stdout
    assert path.stem in result.stdout.partition("BROKEN")[2], result.stdout


def test_every_folder_with_modules_is_a_package() -> None:
    """A folder without __init__.py is invisible to the contracts, and would pass them all."""
    folders = {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []
