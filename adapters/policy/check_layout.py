"""Layout: a folder per check with a rule and a test, documented, and required by some question."""

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from adapters.policy.metadata import LEVELS, Check, documented, required
from adapters.policy.modules import Module
from gateway.domain.fault import Fault

_PACKAGE = re.compile(r"^package (\S+)$", re.MULTILINE)
_TEST = "_test"


def misplaced_files(policies: Path) -> list[Fault]:
    """Files whose package is not that of their folder, and second files of a package."""
    return [fault for path in sorted(policies.rglob("*.rego")) for fault in _misplaced(path, policies)]


def dangling_references(policies: Path, modules: list[Module]) -> list[Fault]:
    """References to rules that do not exist. OPA takes one for data that is not there, so it would be undefined."""
    packages = {module.package[:length] for module in modules for length in range(len(module.package) + 1)}
    rules = {(*module.package, rule) for module in modules for rule in module.rules}
    return [
        _fault(policies / module.path, f"There is no {'.'.join(names)}.", "Name a rule that exists, or write it.")
        for module in modules
        for names in sorted({tuple(takewhile(lambda name: name != "*", names)) for names in module.references})
        if names[:2] == ("data", "gateway")
        and names not in packages
        and not any(names[:length] in rules for length in range(len(names) + 1))
    ]


def faulty_checks(policies: Path, opa: Path) -> list[Fault]:
    """Checks without a test, a complete METADATA, or a question that requires them; and the reverse."""
    gateway = policies / "gateway"
    folders = {
        Check(level, folder.name): folder
        for level in LEVELS
        for folder in sorted((gateway / level).iterdir())
        if folder.is_dir()
    }
    described = documented(opa, gateway)
    needed = required(opa, gateway)
    faults = []
    for check, folder in folders.items():
        faults += [
            _fault(folder, f"The check has no {name}.", "Write it: a rule, and a test beside it.")
            for name in (f"{check.name}.rego", f"{check.name}{_TEST}.rego")
            if not (folder / name).is_file()
        ]
        if check not in needed:
            faults.append(
                _fault(folder, "No question requires this check.", "Name it in gateway/checks, or delete it.")
            )
        if check not in described:
            faults.append(_fault(folder, "The check has no METADATA.", "Write it as the other checks have it."))
        elif missing := described[check].missing:
            line, sentence = described[check].line, f"METADATA has no {', '.join(missing)}."
            path = folder / f"{check.name}.rego"
            faults.append(_fault(path, sentence, "Write it as the other checks have it.", line))
    for check in sorted(needed - folders.keys()):
        sentence = f"The check {check.level}/{check.name} is required, and has no folder."
        faults.append(_fault(gateway / "checks" / "checks.rego", sentence, "Write the check, or require it no more."))
    return faults


def _misplaced(path: Path, policies: Path) -> Iterator[Fault]:
    expected = ".".join(path.parent.relative_to(policies).parts)
    if path.stem.endswith(_TEST):
        expected += _TEST
    elif sibling := next((other for other in _rules(path.parent) if other != path), None):
        yield _fault(path, f"The package has a second file, {sibling.name}.", "Write one file per package.")
    found = _PACKAGE.search(text := path.read_text(encoding="utf-8"))
    if found and found[1] != expected:
        line = text.count("\n", 0, found.start()) + 1
        yield _fault(path, f"The package of this folder is {expected}.", "Rename the package or move the file.", line)


def _rules(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.rego")) if not path.stem.endswith(_TEST)]


def _fault(path: Path, sentence: str, remedy: str, line: int = 0) -> Fault:
    return Fault(file=str(path), line=line, path="", sentence=sentence, remedy=remedy)
