"""The rules as the lint reads them: OPA's own syntax tree with the line of every node, imports resolved."""

import functools
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from adapters.policy.bundle import read_rules
from adapters.policy.command import run

Node = dict[str, Any]
Names = tuple[str, ...]
COMPREHENSIONS = frozenset({"arraycomprehension", "objectcomprehension", "setcomprehension"})
_AT_ONCE = 4
_OF_PACKAGE = ("package", "subpackages")


class Finding(NamedTuple):
    """What one rule of the lint has to say of one line."""

    line: int
    sentence: str
    remedy: str


class Call(NamedTuple):
    """A call or an operator: ``a < b`` is ``lt`` of two operands."""

    name: str
    operands: list[Node]
    line: int


class Known(Struct, frozen=True):
    """What is the same for all files."""

    builtins: frozenset[str]
    """What OPA's own functions and operators are called, up to the first dot."""
    registered: frozenset[str]
    """Tenants, purposes, aliases and the like in the registry in force."""
    forms: Mapping[str, "Root"]
    """Per entrypoint the rules as they have to be."""


class Root(Struct, frozen=True):
    """What a file says, without what stands in other files."""

    package: Node
    imports: list[Node]
    rules: list[Node]
    schemas: list[tuple[int, Node]]
    """Schemas in METADATA, with the line of the package or the rule below it."""


class Tree(Struct, frozen=True, eq=False):
    """One file of rules, and under their full names the rules of all."""

    path: str
    """Below the policies' folder."""
    line: int
    """Of the package."""
    package: Names
    """From ``data`` on."""
    imports: dict[str, list[Node]]
    rules: list[Node]
    everywhere: Mapping[Names, list[tuple["Tree", Node]]]
    root: Root
    known: Known


def read_trees(policies: Path, opa: Path, known: Known) -> list[Tree]:
    """All rules without their tests. They have to parse."""
    texts = {path: text.decode() for path, text in read_rules(policies).items()}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        roots = list(pool.map(lambda text: parse(opa, text), texts.values()))
    everywhere: dict[Names, list[tuple[Tree, Node]]] = {}
    trees = [_tree(path, root, everywhere, known) for path, root in zip(texts, roots, strict=True)]
    for tree in trees:
        for rule in tree.rules:
            everywhere.setdefault((*tree.package, rule["head"]["ref"][0]["value"]), []).append((tree, rule))
    return trees


@functools.lru_cache(maxsize=512)
def parse(opa: Path, text: str) -> Root:
    """Nothing that reads a tree changes it. Mutations parse one file anew, and find the others here.

    :raises msgspec.DecodeError: OPA does not parse it, or it holds what no JSON of ours can.
    :raises RecursionError: it is nested too deeply.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rule.rego"
        path.write_text(text, encoding="utf-8")
        out = run(opa, "parse", "--format", "json", "--json-include", "locations,-comments", str(path)).out
    whole: Node = msgspec.json.decode(out)
    package, rules = whole["package"], whole.get("rules") or []
    annotated = [(line(rule), said) for rule in rules for said in rule.get("annotations") or ()]
    annotated += [(line(package), said) for said in whole.get("annotations") or () if said["scope"] in _OF_PACKAGE]
    return Root(
        package=package,
        imports=whole.get("imports") or [],
        rules=[{name: part for name, part in rule.items() if name != "annotations"} for rule in rules],
        schemas=[(row, schema) for row, said in annotated for schema in said.get("schemas") or ()],
    )


def _tree(path: str, root: Root, everywhere: Mapping[Names, list[tuple[Tree, Node]]], known: Known) -> Tree:
    package = root.package
    paths = [(entry.get("alias"), entry["path"]["value"]) for entry in root.imports]
    return Tree(
        path=path,
        line=line(package),
        package=tuple(part["value"] for part in package["path"]),
        imports={alias or parts[-1]["value"]: parts for alias, parts in paths},
        rules=root.rules,
        everywhere=everywhere,
        root=root,
        known=known,
    )


def line(node: Node) -> int:
    """Where a node starts."""
    row: int = node["location"]["row"]
    return row


def nodes(node: Any) -> Iterator[Node]:
    """The node and all below it."""
    if isinstance(node, dict):
        yield node
        for name, child in node.items():
            if name != "location":
                yield from nodes(child)
    elif isinstance(node, list):
        for child in node:
            yield from nodes(child)


def call(tree: Tree, node: Node) -> Call | None:
    """The call that this node is, be it an expression or a term."""
    if not (parts := _call_parts(node)):
        return None
    operator, *operands = parts
    return Call(".".join(part["value"] for part in resolved(tree, operator)), operands, line(node))


def calls(tree: Tree, node: Any) -> Iterator[Call]:
    """All calls at and below a node."""
    return (found for below in nodes(node) if (found := call(tree, below)))


def refs(node: Any) -> Iterator[Node]:
    """All references at and below a node, those that name what is called excepted."""
    callees = called(node)
    return (below for below in nodes(node) if below.get("type") == "ref" and id(below) not in callees)


def called(node: Any) -> set[int]:
    """Ids of the references at and below a node that name what is called."""
    return {id(parts[0]) for below in nodes(node) if (parts := _call_parts(below))}


def resolved(tree: Tree, term: Node) -> list[Node]:
    """The steps of a reference or a variable, with an import at its head written out."""
    parts: list[Node] = term["value"] if term["type"] == "ref" else [term]
    if parts[0]["type"] != "var":
        return parts
    return [*tree.imports.get(parts[0]["value"], parts[:1]), *parts[1:]]


def names(steps: list[Node]) -> Names:
    """As in ("input", "sources", "*", "known"); a star stands for everything that is no literal string."""
    head, *rest = steps
    return (
        str(head["value"]) if head["type"] == "var" else "*",
        *(part["value"] if part["type"] == "string" else "*" for part in rest),
    )


def definitions(tree: Tree, steps: list[Node]) -> tuple[int, list[tuple[Tree, Node]]]:
    """The rules that a reference leads to, and how many of its steps that takes."""
    full = names(steps)
    local = [(1, (*tree.package, full[0]))] if full[0] not in ("data", "input") else []
    for taken, path in [*local, *((length, full[:length]) for length in range(len(full), 1, -1))]:
        if found := tree.everywhere.get(path):
            return taken, found
    return 0, []


def alternatives(rule: Node) -> Iterator[Node]:
    """The rule itself and whatever stands behind its ``else``."""
    yield rule
    if "else" in rule:
        yield from alternatives(rule["else"])


def key(term: Any) -> str:
    """The same text for the same term, wherever it stands."""
    return msgspec.json.encode(_bare(term), order="deterministic").decode()


def _bare(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _bare(child) for name, child in node.items() if name not in ("location", "index")}
    return [_bare(child) for child in node] if isinstance(node, list) else node


def _call_parts(node: Node) -> list[Node] | None:
    parts = node.get("terms") if "terms" in node else node.get("value") if node.get("type") == "call" else None
    return parts if isinstance(parts, list) else None
