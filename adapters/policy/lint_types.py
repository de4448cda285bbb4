"""What the schemas say of a term: as far as ``opa check`` knows it, so that the lint sees where it knows no more."""

import functools
from collections.abc import Iterator
from typing import Any

import msgspec

from adapters.policy import schemas
from adapters.policy.lint_tree import Node, Tree, calls, definitions, resolved

Type = dict[str, Any]
"""A part of a schema. Of several types that a variable may have, any one is looked at."""
_BINDINGS = frozenset({"assign", "eq"})
_DEEPEST = 8
"""Variables that are bound to variables that are bound to variables."""


class Scope:
    """The variables of one rule."""

    def __init__(self, tree: Tree, rule: Node, depth: int = 0) -> None:
        self._tree = tree
        self._depth = depth
        self._types: dict[str, list[Type]] = {}
        found = list(calls(tree, rule))
        for _ in range(_DEEPEST):
            known = sum(map(len, self._types.values()))
            for name, operands, _ in found:
                if name in _BINDINGS:
                    self._bind(operands[0], self.types(operands[1]))
                    self._bind(operands[1], self.types(operands[0]))
                elif name in ("internal.member_2", "internal.member_3"):
                    self._bind(operands[-2], [inner for outer in self.types(operands[-1]) for inner in _items(outer)])
            if sum(map(len, self._types.values())) == known:
                break

    def types(self, term: Node) -> list[Type]:
        """All that a term may be; empty where the schemas do not say."""
        if term["type"] not in ("ref", "var"):
            return []
        steps = resolved(self._tree, term)
        taken, found = self._roots(steps)
        for step in steps[taken:]:
            found = [inner for outer in found for inner in _inner(outer, step)]
        return found

    def structs(self, term: Node) -> Iterator[tuple[Node, Type]]:
        """Steps of a reference that lead into a struct, with its type."""
        steps = resolved(self._tree, term)
        taken, found = self._roots(steps)
        for step in steps[taken:]:
            for outer in found:
                if is_struct(outer):
                    yield step, outer
            found = [inner for outer in found for inner in _inner(outer, step)]

    def _bind(self, term: Node, types: list[Type]) -> None:
        if term["type"] == "var":
            known = self._types.setdefault(term["value"], [])
            known.extend(new for new in types if new not in known)

    def _roots(self, steps: list[Node]) -> tuple[int, list[Type]]:
        match [step["value"] for step in steps[:2]]:
            case ["input", *_]:
                return 1, [_schemas()["input.json"]]
            case ["data", "registry"]:
                return 2, [_schemas()["registry.json"]]
        if steps[0]["type"] != "var":
            return 0, []
        if known := self._types.get(steps[0]["value"]):
            return 1, known
        taken, rules = definitions(self._tree, steps)
        values = [(tree, rule, rule["head"].get("value")) for tree, rule in rules if _is_plain(rule)]
        if self._depth >= _DEEPEST:
            return 0, []
        return taken, [
            found for tree, rule, value in values if value for found in Scope(tree, rule, self._depth + 1).types(value)
        ]


def is_struct(schema: Type) -> bool:
    """Fields with names; a map has one that stands for all."""
    return "properties" in schema and "_" not in schema["properties"]


def holds_struct(schema: Type) -> bool:
    """Whether a misspelt field somewhere below would be noticed."""
    return is_struct(schema) or any(holds_struct(inner) for inner in _items(schema))


@functools.cache
def _schemas() -> dict[str, Type]:
    return {name: msgspec.json.decode(text) for name, text in schemas.generate().items()}


def _items(schema: Type) -> list[Type]:
    if schema["type"] == "array":
        return [schema["items"]]
    return [schema["properties"]["_"]] if schema["type"] == "object" and not is_struct(schema) else []


def _inner(schema: Type, step: Node) -> list[Type]:
    if not is_struct(schema):
        return _items(schema)
    field = schema["properties"].get(step["value"]) if step["type"] == "string" else None
    return [field] if field else []


def _is_plain(rule: Node) -> bool:
    """A rule with one value: neither a set nor a map nor a function."""
    head = rule["head"]
    return "key" not in head and "args" not in head and len(head["ref"]) == 1
