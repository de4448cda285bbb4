"""Checks: a folder each with a rule and a test, documented, required by some question, and seen to decide."""

import difflib
import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

from adapters.policy.metadata import LEVELS, Check, Documented, documented, incomplete, required
from adapters.policy.modules import read_packages
from gateway.domain.fault import Fault

_WORD = re.compile(r'"(\w+)"(:?)')
_LEVEL_OF = {"request": "request", "source": "source", "routes": "route"}
_AS_OTHERS = "Write it as the other checks have it."


def faulty_checks(policies: Path, opa: Path) -> list[Fault]:
    """Checks without a test, a complete METADATA, a code of their own, or a question that requires them."""
    gateway = policies / "gateway"
    listing = gateway / "checks" / "checks.rego"
    if (needed := required(opa, gateway)) is None:
        sentence = "The list of required checks is not as the gateway reads it."
        remedy = "Name checks per question and level, and for routes per kind of profile."
        return [Fault(str(listing), 0, "", sentence, remedy)]
    found = [Check(level, path.name) for level in LEVELS for path in sorted((gateway / level).glob("*/"))]
    described = documented(opa, gateway)
    packages = read_packages(policies, opa)
    faults = [fault for check in found for fault in _parts(policies, check)]
    for check in found:
        if check not in needed:
            remedy = f"Name it in `required` of {listing}, or delete it."
            faults.append(_fault(_rule(policies, check), "No question requires this check.", remedy))
        if check in described:
            faults += incomplete(policies, check, described[check])
        elif (package := packages.get(_rule(policies, check))) and package.names == ("gateway", *check):
            faults.append(_fault(_rule(policies, check), "The check has no METADATA.", _AS_OTHERS, package.line))
    for check in sorted(needed - set(found)):
        near = difflib.get_close_matches(check.name, [other.name for other in found if other.level == check.level], n=1)
        remedy = f"{f'Did you mean {near[0]}? ' if near else ''}Write the check, or require it no more."
        line = _required_in(listing.read_text(encoding="utf-8"), check)
        faults.append(_fault(listing, f"There is no check {check}.", remedy, line))
    return [*faults, *_shared_codes(policies, described), *_undecided(policies, found)]


def _parts(policies: Path, check: Check) -> Iterator[Fault]:
    rule = _rule(policies, check)
    for name in (rule.name, f"{check.name}_test.rego"):
        if not rule.with_name(name).is_file():
            yield _fault(rule.parent, f"The check has no {name}.", "Write it: a rule, and a test beside it.")


def _shared_codes(policies: Path, described: Mapping[Check, Documented]) -> Iterator[Fault]:
    """Codes of several checks. One code is one thing to do; where they must not be told apart, METADATA says so."""
    for other, check in combinations(sorted(described), 2):
        own, its = described[check], described[other]
        if own.code.code != its.code.code:
            continue
        if str(other) not in own.shares_code and str(check) not in its.shares_code:
            sentence = f"The check {other} has the same code."
            remedy = f"Give each its own, or say in custom.shares_code why nobody may tell them apart: {other}: ..."
            yield _fault(_rule(policies, check), sentence, remedy, own.line)
        elif own.code.remedy != its.code.remedy:
            sentence = f"The check {other} has the same code and another remedy."
            yield _fault(_rule(policies, check), sentence, "A code is one thing to do: give both one remedy.", own.line)


def _undecided(policies: Path, found: list[Check]) -> Iterator[Fault]:
    """Checks of which no test of the whole questions shows that the answer turns on them."""
    tests = policies / "gateway" / "gateway_test.rego"
    text = tests.read_text(encoding="utf-8") if tests.is_file() else ""
    for level, name in found:
        test = re.search(rf"^test_{level}_{name}_decides if \{{$(.*?)^\}}$", text, re.MULTILINE | re.DOTALL)
        if not test or f"with data.gateway.{level}.{name} as {{}}" not in test[1]:
            sentence = f"No test test_{level}_{name}_decides shows that the check {level}/{name} decides."
            remedy = f"Ask a whole question there, `with data.gateway.{level}.{name} as {{}}`, as for the other checks."
            yield _fault(tests, sentence, remedy)


def _required_in(text: str, check: Check) -> int:
    """The line of checks.rego that names a check."""
    level = ""
    for number, line in enumerate(text.splitlines(), 1):
        for word, is_key in _WORD.findall(line):
            if is_key:
                level = _LEVEL_OF.get(word, level)
            elif Check(level, word) == check:
                return number
    return 0


def _rule(policies: Path, check: Check) -> Path:
    return policies / "gateway" / check.level / check.name / f"{check.name}.rego"


def _fault(path: Path, sentence: str, remedy: str, line: int = 0) -> Fault:
    return Fault(file=str(path), line=line, path="", sentence=sentence, remedy=remedy)
