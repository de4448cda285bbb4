"""Lint of the form: what holds where something is missing, and what no rule may say."""

from collections.abc import Iterator
from typing import Any

from adapters.policy.lint_tree import (
    COMPREHENSIONS,
    Finding,
    Node,
    Tree,
    alternatives,
    call,
    definitions,
    line,
    nodes,
    resolved,
)

_ALLOWING = frozenset({"allow", "_allow", "pass"})


def no_not(tree: Tree) -> Iterator[Finding]:
    """``not`` holds where a field is missing."""
    for node in nodes(tree.rules):
        if node.get("negated"):
            yield Finding(line(node), "`not` holds where something is missing.", "Write what has to be true.")


def nothing_found(tree: Tree) -> Iterator[Finding]:
    """A list of offenders is empty where the field that makes an offender is missing."""
    for rule in tree.rules:
        bound = dict(_bound(tree, rule))
        for node in nodes(rule):
            found = call(tree, node)
            if found and found.name in ("equal", "eq", "lt", "lte", "gt", "gte"):
                sides = [bound.get(side["value"], side) if side["type"] == "var" else side for side in found.operands]
                if any(_is_nothing(side) for side in sides) and any(_is_search(tree, side, bound) for side in sides):
                    sentence = "That nothing is found holds where a field is missing."
                    yield Finding(found.line, sentence, "Count those that pass, and compare with all.")


def no_bare_values(tree: Tree) -> Iterator[Finding]:
    """Everything but ``false`` is true where it stands alone: an empty set, a list, the word "false"."""
    for node in nodes(tree.rules):
        term = node.get("terms")
        if isinstance(term, dict) and term.get("type") in ("ref", "var"):
            steps = resolved(tree, term)
            taken, rules = definitions(tree, steps)
            if not rules or not all(_is_condition(rule, len(steps) - taken) for _, rule in rules):
                yield Finding(line(node), "A value stands alone as if it were a condition.", "Write `== true`.")


def default_false(tree: Tree) -> Iterator[Finding]:
    """A default holds wherever something is missing."""
    for rule in tree.rules:
        name, value = rule["head"]["ref"][0]["value"], rule["head"].get("value", {})
        given = value.get("value")
        if rule.get("default") and (given is True or (name in _ALLOWING and given is not False)):
            yield Finding(line(rule), "The default allows.", "Make it false, and write when it is true.")


def no_else(tree: Tree) -> Iterator[Finding]:
    """What stands behind ``else`` holds where something before it is missing."""
    for rule in tree.rules:
        for other in list(alternatives(rule))[1:]:
            yield Finding(line(other), "`else` holds where something is missing.", "Write rules that stand alone.")


def no_with(tree: Tree) -> Iterator[Finding]:
    """Rules that replace the question or the registry decide about another one."""
    for node in nodes(tree.rules):
        for replaced in node.get("with") or ():
            yield Finding(line(replaced), "`with` decides about another question.", "Leave it to the tests.")


def not_named_as_tests(tree: Tree) -> Iterator[Finding]:
    """A package of rules named as tests are would be taken for one of them."""
    if tree.package[-1].endswith("_test"):
        yield Finding(tree.line, "This package of rules is named as a test.", "Give it a name that does not end so.")


def _is_condition(rule: Node, steps: int) -> bool:
    """A rule that is true or undefined, or an element of a set."""
    head = rule["head"]
    if "key" in head:
        return steps == 1
    return steps == 0 and head.get("value", {}).get("type") == "boolean" and len(head["ref"]) == 1


def _bound(tree: Tree, rule: Node) -> Iterator[tuple[str, Node]]:
    for node in nodes(rule):
        found = call(tree, node)
        if found and found.name in ("assign", "eq") and found.operands[0]["type"] == "var":
            yield found.operands[0]["value"], found.operands[1]


def _is_nothing(term: Node) -> bool:
    value: Any = term["value"]
    if term["type"] == "number":
        return bool(value <= 1)
    return (term["type"] in ("array", "object", "set") and value == []) or (
        term["type"] == "call" and [part["value"] for part in value[0]["value"]] == ["set"]
    )


def _is_search(tree: Tree, term: Node, bound: dict[str, Node]) -> bool:
    """A comprehension, or the count of one."""
    found = call(tree, term)
    if found and found.name == "count":
        (term,) = found.operands
        term = bound.get(term["value"], term) if term["type"] == "var" else term
    return term["type"] in COMPREHENSIONS
