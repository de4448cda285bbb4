"""The rules as OPA parses them: packages, rule names, and every reference with its imports resolved."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from adapters.policy.bundle import read_rules
from adapters.policy.command import run

_PARSE = "{path: rego.parse_module(path, text) | some path, text in input}"
_PACKAGE = re.compile(r"^package (\S+)$", re.MULTILINE)
Reference = tuple[str, ...]
"""As in ("input", "sources", "*", "known"); a star is whatever a variable stands for."""


class Package(NamedTuple):
    """A package with the line that declares it."""

    name: str
    line: int


class Module(Struct, frozen=True):
    """One file of rules."""

    path: str
    """Below the policies' folder."""
    package: Reference
    rules: frozenset[str]
    references: tuple[Reference, ...]


def read_modules(policies: Path, opa: Path) -> list[Module]:
    """All rules without their tests. They have to compile."""
    texts = {path: text.decode() for path, text in read_rules(policies).items()}
    arguments = ("eval", "--stdin-input", "--format", "raw", _PARSE)
    parsed = msgspec.json.decode(run(opa, *arguments, stdin=msgspec.json.encode(texts)).out)
    return [_module(path, tree) for path, tree in sorted(parsed.items())]


def declared_package(path: Path) -> Package | None:
    """The package of one file, of a test too; None where there is no file or no package."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = _PACKAGE.search(text)
    return Package(found[1], text.count("\n", 0, found.start()) + 1) if found else None


def _module(path: str, tree: dict[str, Any]) -> Module:
    rules, imports = tree.get("rules", []), {}
    for entry in tree.get("imports") or ():
        imported = _names(entry["path"]["value"])
        imports[entry.get("alias", imported[-1])] = imported
    references = ((*imports.get(names[0], names[:1]), *names[1:]) for names in _walk([rules, tree.get("imports")]))
    return Module(
        path=path,
        package=_names(tree["package"]["path"]),
        rules=frozenset(rule["head"]["ref"][0]["value"] for rule in rules),
        references=tuple(references),
    )


def _walk(node: Any) -> Iterator[Reference]:
    if isinstance(node, dict):
        if node.get("type") == "ref":
            yield _names(node["value"])
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from _walk(child)


def _names(parts: list[dict[str, Any]]) -> Reference:
    head, *rest = parts
    return (str(head["value"]), *(part["value"] if part["type"] == "string" else "*" for part in rest))
