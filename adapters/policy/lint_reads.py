"""Lint of what ``opa check --schema`` does not look at: a misspelt field there would be undefined, unnoticed."""

from collections.abc import Iterator

from adapters.policy.lint_tree import Finding, Node, Tree, calls, line, names, nodes, refs, resolved
from adapters.policy.lint_types import Scope, holds_struct, is_struct

_KEEPS_TYPES = frozenset({"assign", "count", "eq", "equal", "internal.member_2", "internal.member_3", "neq"})
_ITERATES = frozenset({"internal.member_2", "internal.member_3"})


def every_reads_no_field(tree: Tree) -> Iterator[Finding]:
    """Over nothing ``every`` is true, and OPA does not know the type of its variables."""
    for node in nodes(tree.rules):
        if "domain" in node and "body" in node:
            for reference in refs(node["body"]):
                steps = names(resolved(tree, reference))
                if len(steps) > 1 and steps[:2] != ("data", "gateway"):
                    sentence = "The body of `every` reads a field."
                    yield Finding(line(reference), sentence, "Count those that pass, and compare with all.")


def parameters_have_no_fields(tree: Tree) -> Iterator[Finding]:
    """OPA does not know what a function is called with."""
    for rule in tree.rules:
        unknown = {node["value"] for node in nodes(rule["head"].get("args", [])) if node.get("type") == "var"}
        unknown |= {name for name in _reached(tree, rule, unknown) if not name.startswith("$")}
        for reference in refs(rule):
            head, *rest = reference["value"]
            if head["type"] == "var" and head["value"] in unknown and any(part["type"] == "string" for part in rest):
                sentence = f"A field of the parameter {head['value']} is read, and OPA would not notice a misspelt one."
                yield Finding(line(reference), sentence, "Pass the key, and read from input or data.registry.")


def types_are_kept(tree: Tree) -> Iterator[Finding]:
    """What a function gives back has no schema any more, and a path in a string never had one."""
    for rule in tree.rules:
        scope = Scope(tree, rule)
        for name, operands, row in calls(tree, rule):
            if name in _KEEPS_TYPES or name.startswith("is_"):
                continue
            if any(holds_struct(found) for operand in operands for found in scope.types(operand)):
                sentence = f"`{name}` is given fields that OPA would not look at."
                yield Finding(row, sentence, "Read the field itself from input or data.registry.")


def fields_are_named(tree: Tree) -> Iterator[Finding]:
    """With a variable where a field's name belongs, OPA is content if any field fits, and often if none does."""
    for rule in tree.rules:
        scope = Scope(tree, rule)
        for reference in refs(rule):
            if any(step["type"] != "string" for step, _ in scope.structs(reference)):
                yield Finding(line(reference), "The name of a field is a variable.", "Write the field's name.")
        for name, operands, row in calls(tree, rule):
            if name in _ITERATES and any(map(is_struct, scope.types(operands[-1]))):
                yield Finding(row, "Fields are looked through as if they were a list.", "Write the field's name.")


def _reached(tree: Tree, rule: Node, known: set[str]) -> set[str]:
    """Variables that are bound to a part of what is in ``known``."""
    known = set(known)
    while True:
        before = len(known)
        for name, operands, _ in calls(tree, rule):
            if name in ("assign", "eq"):
                pairs = [(operands[0], operands[1]), (operands[1], operands[0])]
            elif name in _ITERATES:
                pairs = [(operands[-2], operands[-1])]
            else:
                continue
            for bound, source in pairs:
                if bound["type"] == "var" and _heads(source) & known:
                    known.add(bound["value"])
        if len(known) == before:
            return known


def _heads(term: Node) -> set[str]:
    if term["type"] == "var":
        return {term["value"]}
    return _heads(term["value"][0]) if term["type"] == "ref" else set()
