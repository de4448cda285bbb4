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
_PACKAGES = '{path: object.filter(rego.parse_module(path, text), ["package"]) | some path, text in input}'
_PACKAGE_LINE = re.compile(r"^\s*(?P<word>package)\b", re.MULTILINE)
Reference = tuple[str, ...]
"""As in ("input", "sources", "*", "known"); a star is whatever a variable stands for."""


class Package(NamedTuple):
    """A package with the line that declares it."""

    names: Reference
    """Without the leading ``data``."""
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
    return [_module(path, tree) for path, tree in sorted(_parsed(texts, opa).items())]


def read_packages(policies: Path, opa: Path) -> dict[Path, Package]:
    """The package of every file, of tests too. A file that does not parse, or names none, is left out."""
    texts = {str(path): path.read_text(encoding="utf-8") for path in policies.rglob("*.rego") if path.is_file()}
    return {
        Path(path): Package(_names(tree["package"]["path"])[1:], _package_line(texts[path]))
        for path, tree in _parsed(texts, opa, _PACKAGES).items()
    }


def _parsed(texts: dict[str, str], opa: Path, query: str = _PARSE) -> dict[str, Any]:
    arguments = ("eval", "--stdin-input", "--format", "raw", query)
    parsed: dict[str, Any] = msgspec.json.decode(run(opa, *arguments, stdin=msgspec.json.encode(texts)).out)
    return parsed


def _package_line(text: str) -> int:
    """OPA does not tell it here. Nothing but comments stands before it, so the first such line it is."""
    found = _PACKAGE_LINE.search(text)
    return text.count("\n", 0, found.start("word")) + 1 if found else 0


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
