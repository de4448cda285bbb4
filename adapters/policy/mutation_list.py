"""Mutations: rules made laxer on purpose. What the policy check does not notice of them, it would not notice of others.

``policies/mutations.yaml`` lists them, by name: one text in one file to be replaced by another, and what that loosens.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from shutil import copytree
from typing import Any, NamedTuple

import msgspec
import yaml
from msgspec import Struct

from adapters.policy.metadata import LEVELS
from gateway.domain.fault import Fault

LIST = "mutations.yaml"
_LOOK = "Compare it with the others."
_FIND = "Enter in `file` where it lies now, or delete the mutation."
_ENTER = "Enter in `old` what the file says now, as a text that occurs once in it, or delete the mutation."
_RULE = "Change what a rule says: a condition, a comparison, a list."


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
        loader = yaml.SafeLoader(path.read_text(encoding="utf-8"))
        node: Any = loader.get_single_node()
        entries = loader.construct_document(node) if node else None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: no UTF-8, and dates that are none
        mark = getattr(error, "problem_mark", None)
        return [], [_fault(path, mark.line + 1 if mark else 0, "This is not YAML.", _LOOK)]
    if not isinstance(entries, list):
        return [], [_fault(path, 1, "This is not a list of mutations.", "Write an entry for every check.")]
    listed: list[Listed] = []
    faults: list[Fault] = []
    for entry, item in zip(entries, node.value, strict=True):
        line = item.start_mark.line + 1
        found = _twice(item) or _read(policies, entry, {other.mutation.name for other in listed})
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


def _twice(item: yaml.Node) -> tuple[str, str] | None:
    """A key that an entry has twice: a reader takes one of the two, and YAML the other."""
    keys = [name.value for name, _ in item.value] if isinstance(item, yaml.MappingNode) else []
    for name in keys:
        if keys.count(name) > 1:
            return f"This entry has {name} twice.", "Keep one of the two."
    return None


def _read(policies: Path, entry: Any, taken: set[str]) -> Mutation | tuple[str, str]:
    """The mutation, or a sentence and a remedy."""
    try:
        mutation = msgspec.convert(entry, Mutation)
    except msgspec.ValidationError as error:
        return f"This is not a mutation: {str(error).rstrip('.')}.", _LOOK
    if mutation.name in taken:
        return f"Another mutation is named {mutation.name} too.", "Name them apart."
    if not _is_plain(mutation.file):
        return f"The mutation {mutation.name} is of no file of rules.", "Name it as in gateway/access/access.rego."
    path = policies / mutation.file
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    times = text.count(mutation.old) if mutation.old else 0
    if not path.is_file():
        return f"The mutation {mutation.name} does not apply: there is no {mutation.file}.", _FIND
    if times != 1 or mutation.old == mutation.new:
        return f"The mutation {mutation.name} does not apply: its old text occurs {times} times.", _ENTER
    if _declared(text) != _declared(text.replace(mutation.old, mutation.new)):
        return f"The mutation {mutation.name} changes a package, METADATA or a comment, and no rule.", _RULE
    return mutation


def _is_plain(file: str) -> bool:
    """A path below ``gateway`` as it is written in a folder, without a way out of it."""
    path = PurePosixPath(file)
    inside = path.parts[:1] == ("gateway",) and ".." not in path.parts and path.suffix == ".rego"
    return inside and path.as_posix() == file


def _declared(text: str) -> list[str]:
    """Lines that say nothing of what is allowed."""
    return [line for line in text.split("\n") if line.lstrip().startswith(("#", "package"))]


def _unmutated(policies: Path, entries: list[Any]) -> Iterator[Fault]:
    files = {entry.get("file") for entry in entries if isinstance(entry, dict) and isinstance(entry.get("file"), str)}
    for level in LEVELS:
        for folder in sorted((policies / "gateway" / level).glob("*/")):
            rule = folder / f"{folder.name}.rego"
            if rule.relative_to(policies).as_posix() not in files:
                sentence = f"No mutation loosens the check {level}/{folder.name}."
                yield _fault(rule, 0, sentence, f"Add one to {policies / LIST}, and see that a test notices it.")


def _fault(path: Path, line: int, sentence: str, remedy: str) -> Fault:
    return Fault(str(path), line, "", sentence, remedy)
