"""Makes each mutant in a copy of the tree, and runs the scenarios that have to notice."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from gateway.testkit.mutants.listed import Mutant, apply
from gateway.testkit.scenario_runs import NotRun, ScenarioRun, run

_AT_ONCE = 2
_TREE = (
    "gateway",
    "adapters",
    "features",
    "policies",
    "registry",
    "tests/conftest.py",
    "tests/features",
    "pyproject.toml",
)
"""What scenarios need of the repository."""

Run = Callable[..., list[ScenarioRun]]


class Caught(Struct, frozen=True):
    """What became of a mutant."""

    mutant: Mutant
    by: ScenarioRun | None
    """The first scenario that failed; None: the mutant survived."""
    error: str = ""
    """Why nothing could be run; such a mutant shows nothing."""


def unsound(tree: Path, mutants: tuple[Mutant, ...], run_scenarios: Run = run) -> list[ScenarioRun]:
    """Scenarios that fail without any mutant, so that their failing would show nothing.

    :raises NotRun: no scenario ran.
    """
    expression = " or ".join(f"({one})" for one in sorted({mutant.expression for mutant in mutants}))
    return [one for one in run_scenarios(tree, expression) if not one.passed]


def outcomes(root: Path, mutants: tuple[Mutant, ...], run_scenarios: Run = run) -> Iterator[Caught]:
    """What became of each mutant, in their order, as soon as it is known."""

    def try_out(mutant: Mutant) -> Caught:
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            tree = copy_tree(root, Path(folder))
            apply(mutant, tree)
            try:
                runs = run_scenarios(tree, mutant.expression, first_failure_only=True)
            except NotRun as error:
                return Caught(mutant, None, str(error))
        return Caught(mutant, next((one for one in runs if not one.passed), None))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from pool.map(try_out, mutants)


def copy_tree(root: Path, folder: Path) -> Path:
    """The parts of the repository that scenarios need, in a folder of their own."""
    for name in _TREE:
        source, target = root / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return folder
