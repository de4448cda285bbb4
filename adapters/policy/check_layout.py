"""Layout: packages are named as their folders, one file each, and every reference leads to a rule."""

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from adapters.policy.modules import Module, Package, Reference, read_packages
from gateway.domain.fault import Fault

_TEST = "_test"


def misplaced_files(policies: Path, opa: Path) -> list[Fault]:
    """Files whose package is not that of their folder, and second files of a package."""
    packages = read_packages(policies, opa)
    paths = sorted(policies.rglob("*.rego"))
    return [fault for path in paths for fault in _misplaced(path, policies, packages.get(path))]


def dangling_references(policies: Path, modules: list[Module]) -> list[Fault]:
    """References to rules that do not exist. OPA takes one for data that is not there, so it would be undefined."""
    packages = {module.package[:length] for module in modules for length in range(len(module.package) + 1)}
    rules = {(*module.package, rule) for module in modules for rule in module.rules}
    return [
        _fault(
            path := policies / module.path,
            f"There is no {'.'.join(names)}.",
            "Name a rule that exists, or write it.",
            _line_of(names, path.read_text(encoding="utf-8")),
        )
        for module in modules
        for names in sorted({tuple(takewhile(lambda name: name != "*", names)) for names in module.references})
        if names[:2] == ("data", "gateway")
        and names not in packages
        and not any(names[:length] in rules for length in range(len(names) + 1))
    ]


def _line_of(names: Reference, text: str) -> int:
    """The first line with as much of the reference as is written out there: imports shorten it from the left."""
    lines = [line.partition("#")[0] for line in text.splitlines()]
    for start in range(len(names)):
        written = re.compile(rf"\b{re.escape('.'.join(names[start:]))}\b")
        for number, line in enumerate(lines, 1):
            if written.search(line):
                return number
    return 0


def _misplaced(path: Path, policies: Path, found: Package | None) -> Iterator[Fault]:
    expected = path.parent.relative_to(policies).parts
    if path.stem.endswith(_TEST):
        expected = (*expected[:-1], expected[-1] + _TEST)
    elif sibling := next((other for other in _rules(path.parent) if other != path), None):
        yield _fault(path, f"The package has a second file, {sibling.name}.", "Write one file per package.")
    if found is None:
        yield _fault(path, "The file has no package.", "Mend the line that declares it.")
    elif found.names != expected:
        sentence = f"The package is {'.'.join(found.names)}, and the folder wants {'.'.join(expected)}."
        yield _fault(path, sentence, "Rename the package or move the file.", found.line)


def _rules(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.rego")) if not path.stem.endswith(_TEST)]


def _fault(path: Path, sentence: str, remedy: str, line: int = 0) -> Fault:
    return Fault(file=str(path), line=line, path="", sentence=sentence, remedy=remedy)
