"""Lint of comparisons: Rego orders everything (null < booleans < numbers < strings), and forgets what is missing."""

from collections.abc import Iterator

from adapters.policy.lint_tree import COMPREHENSIONS, Call, Finding, Node, Tree, call, calls, definitions, key, resolved
from adapters.policy.lint_types import Scope

_ORDERS = frozenset({"lt", "lte", "gt", "gte"})
_GIVES_NUMBER = frozenset(
    {"abs", "ceil", "count", "div", "floor", "minus", "mul", "plus", "product", "rem", "round", "sum", "to_number"}
)
_JSON_TYPES = {"number": ("integer", "number"), "string": ("string",), "boolean": ("boolean",), "null": ()}
_DEEPEST = 16


def pinned_numbers(tree: Tree) -> Iterator[Finding]:
    """``null <= 5`` and ``"never" > 5`` hold."""
    for rule in tree.rules:
        yield from _unpinned(tree, rule, frozenset())


def pinned_lists(tree: Tree) -> Iterator[Finding]:
    """``count`` of a string or an object is a number too: 0 of 0 sources have passed."""
    for rule in tree.rules:
        pinned = {key(found.operands[0]) for found in calls(tree, rule) if found.name == "is_array"}
        for found in calls(tree, rule):
            if found.name == "count" and found.operands[0]["type"] in ("ref", "var"):
                (operand,) = found.operands
                if resolved(tree, operand)[0]["value"] == "input" and key(operand) not in pinned:
                    remedy = "Say `is_array` of it in the same rule."
                    yield Finding(found.line, "What is counted may be no list.", remedy)


def same_types(tree: Tree) -> Iterator[Finding]:
    """A number is never equal to a string, and always unequal."""
    for rule in tree.rules:
        scope = Scope(tree, rule)
        for name, operands, row in calls(tree, rule):
            if name in ("equal", "eq", "neq"):
                for literal, other in (operands, operands[::-1]):
                    wanted = _JSON_TYPES.get(literal["type"])
                    if wanted is not None and any(found["type"] not in wanted for found in scope.types(other)):
                        yield Finding(row, "The two are never of one type.", "Compare with a value that the field has.")


def nothing_feeds_max(tree: Tree) -> Iterator[Finding]:
    """A misspelt or missing class is left out of a comprehension, and the highest of the rest is too low."""
    for rule in tree.rules:
        for name, operands, row in calls(tree, rule):
            if name in ("max", "min") and _gathers(tree, rule, operands[0], 0):
                sentence = f"A comprehension feeds `{name}`, and what is missing is left out of it."
                yield Finding(row, sentence, "Look ranks up, and compare each with each.")


def _unpinned(tree: Tree, node: Node, outer: frozenset[str]) -> Iterator[Finding]:
    """Comparisons of a rule or a comprehension, then those of the bodies in it."""
    found, inner = _level(tree, node)
    pinned = outer | {key(one.operands[0]) for one, negated in found if one.name == "is_number" and not negated}
    bindings = [one.operands for one, _ in found if one.name in ("assign", "eq")]
    for _ in bindings:
        for sides in bindings:
            if any(_is_number(tree, side, pinned) for side in sides):
                pinned |= {key(side) for side in sides}
    for one, _ in found:
        if one.name in _ORDERS and not all(_is_number(tree, operand, pinned) for operand in one.operands):
            yield Finding(one.line, "What is compared may be no number.", "Say `is_number` of it in the same body.")
    for body in inner:
        yield from _unpinned(tree, body, pinned)


def _level(tree: Tree, root: Node) -> tuple[list[tuple[Call, bool]], list[Node]]:
    """Calls of one body, with whether they are negated, and the comprehensions and ``every``s in it."""
    found: list[tuple[Call, bool]] = []
    inner: list[Node] = []

    def look(node: object, negated: bool) -> None:
        if isinstance(node, list):
            for child in node:
                look(child, negated)
        elif isinstance(node, dict):
            if node is not root and (node.get("type") in COMPREHENSIONS or "domain" in node):
                inner.append(node)
                return
            negated = negated or bool(node.get("negated"))
            if one := call(tree, node):
                found.append((one, negated))
            for name, child in node.items():
                if name == "else":
                    inner.append(child)
                elif name != "location":
                    look(child, negated)

    look(root, False)
    return found, inner


def _is_number(tree: Tree, operand: Node, pinned: frozenset[str]) -> bool:
    if operand["type"] == "number" or key(operand) in pinned:
        return True
    found = call(tree, operand)
    return found is not None and found.name in _GIVES_NUMBER


def _gathers(tree: Tree, rule: Node, term: Node, depth: int) -> bool:
    """Whether a term is, or holds, something gathered; through variables, rules and functions too."""
    if depth > _DEEPEST or term["type"] in COMPREHENSIONS:
        return term["type"] in COMPREHENSIONS
    if term["type"] in ("array", "set"):
        return any(_gathers(tree, rule, part, depth + 1) for part in term["value"])
    found = call(tree, term)
    if found and any(_gathers(tree, rule, operand, depth + 1) for operand in found.operands):
        return True
    if term["type"] == "var":
        bound = (one.operands for one in calls(tree, rule) if one.name in ("assign", "eq"))
        values = [two for one, two in bound if key(one) == key(term)]
        if any(_gathers(tree, rule, value, depth + 1) for value in values):
            return True
    steps = resolved(tree, term["value"][0] if found else term) if found or term["type"] in ("ref", "var") else []
    taken, rules = definitions(tree, steps) if steps else (0, [])
    return any(_gathered_by(other, one, len(steps) - taken, depth) for other, one in rules)


def _gathered_by(tree: Tree, rule: Node, steps: int, depth: int) -> bool:
    head = rule["head"]
    if not steps and "args" not in head and ("key" in head or len(head["ref"]) > 1):
        return True
    return "value" in head and _gathers(tree, rule, head["value"], depth + 1)
