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


def read_trees(policies: Path, opa: Path) -> list[Tree]:
    """All rules without their tests. They have to parse."""
    texts = {path: text.decode() for path, text in read_rules(policies).items()}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        parsed = list(pool.map(lambda text: _parsed(opa, text), texts.values()))
    everywhere: dict[Names, list[tuple[Tree, Node]]] = {}
    trees = [_tree(path, root, everywhere) for path, root in zip(texts, parsed, strict=True)]
    for tree in trees:
        for rule in tree.rules:
            everywhere.setdefault((*tree.package, rule["head"]["ref"][0]["value"]), []).append((tree, rule))
    return trees


@functools.lru_cache(maxsize=512)
def _parsed(opa: Path, text: str) -> Node:
    """Nothing that reads a tree changes it. Mutations parse one file anew, and find the others here."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rule.rego"
        path.write_text(text, encoding="utf-8")
        out = run(opa, "parse", "--format", "json", "--json-include", "locations,-comments", str(path)).out
    root: Node = msgspec.json.decode(out)
    return root


def _tree(path: str, root: Node, everywhere: Mapping[Names, list[tuple[Tree, Node]]]) -> Tree:
    package = root["package"]
    paths = [(entry.get("alias"), entry["path"]["value"]) for entry in root.get("imports") or ()]
    return Tree(
        path=path,
        line=line(package),
        package=tuple(part["value"] for part in package["path"]),
        imports={alias or parts[-1]["value"]: parts for alias, parts in paths},
        rules=root.get("rules") or [],
        everywhere=everywhere,
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
    called = {id(parts[0]) for below in nodes(node) if (parts := _call_parts(below))}
    return (below for below in nodes(node) if below.get("type") == "ref" and id(below) not in called)


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
