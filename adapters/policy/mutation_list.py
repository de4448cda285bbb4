"""Mutations: rules made laxer on purpose. What the policy check does not notice of them, it would not notice of others.

``policies/mutations.yaml`` lists them, by name: one text in one file to be replaced by another, and what that loosens.
"""

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple

import msgspec
import yaml
from msgspec import Struct

from adapters.policy.metadata import LEVELS
from gateway.domain.fault import Fault

LIST = "mutations.yaml"
_LOOK = "Compare it with the others."


class Mutation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One text of one rule replaced by another."""

    name: str
    file: str
    """Below the policies' folder."""
    old: str
    """Occurs exactly once in the file."""
    new: str
    loosens: str
    """Who is allowed what by it, in a sentence."""


class Listed(NamedTuple):
    """A mutation with the line that names it."""

    mutation: Mutation
    line: int


def read_mutations(policies: Path) -> tuple[list[Listed], list[Fault]]:
    """All mutations that can be applied, and what is wrong with the list."""
    path = policies / LIST
    if not path.is_file():
        return [], [_fault(path, 0, "There is no list of mutations.", "Write one, with a mutation for every check.")]
    try:
        node: Any = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        entries = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return [], [_fault(path, mark.line + 1 if mark else 0, "This is not YAML.", _LOOK)]
    if not isinstance(entries, list):
        return [], [_fault(path, 1, "This is not a list of mutations.", "Write an entry for every check.")]
    listed: list[Listed] = []
    faults: list[Fault] = []
    for entry, line in zip(entries, (item.start_mark.line + 1 for item in node.value), strict=True):
        found = _read(policies, entry, {other.mutation.name for other in listed})
        if isinstance(found, Mutation):
            listed.append(Listed(found, line))
        else:
            faults.append(_fault(path, line, *found))
    return listed, [*faults, *_unmutated(policies, entries)]


def faulty_mutations(policies: Path) -> list[Fault]:
    """Entries that are none or do not apply, and checks without a mutation."""
    return read_mutations(policies)[1]


def apply(mutation: Mutation, policies: Path, folder: str) -> Path:
    """A copy of the policies in ``folder`` with the mutation made."""
    copy = Path(copytree(policies, Path(folder) / "policies"))
    path = copy / mutation.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    return copy


def _read(policies: Path, entry: Any, taken: set[str]) -> Mutation | tuple[str, str]:
    """The mutation, or a sentence and a remedy."""
    try:
        mutation = msgspec.convert(entry, Mutation)
    except msgspec.ValidationError as error:
        return f"This is not a mutation: {str(error).rstrip('.')}.", _LOOK
    path = policies / mutation.file
    times = path.read_text(encoding="utf-8").count(mutation.old) if mutation.old and path.is_file() else 0
    if mutation.name in taken:
        return f"Another mutation is named {mutation.name} too.", "Name them apart."
    if not path.is_file():
        return f"The mutation {mutation.name} does not apply: there is no {mutation.file}.", "Mend or delete it."
    if times != 1 or mutation.old == mutation.new:
        return f"The mutation {mutation.name} does not apply: its old text occurs {times} times.", "Mend or delete it."
    return mutation


def _unmutated(policies: Path, entries: list[Any]) -> Iterator[Fault]:
    files = {entry.get("file") for entry in entries if isinstance(entry, dict)}
    for level in LEVELS:
        for folder in sorted((policies / "gateway" / level).glob("*/")):
            rule = folder / f"{folder.name}.rego"
            if rule.relative_to(policies).as_posix() not in files:
                sentence = f"No mutation loosens the check {level}/{folder.name}."
                yield _fault(rule, 0, sentence, f"Add one to {policies / LIST}, and see that a test notices it.")


def _fault(path: Path, line: int, sentence: str, remedy: str) -> Fault:
    return Fault(str(path), line, "", sentence, remedy)
