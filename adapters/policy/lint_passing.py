"""Lint of the checks: how one passes, and how what failed is derived from it."""

from collections.abc import Iterator

from adapters.policy.lint_tree import Finding, Node, Tree, call, line, names, nodes, refs, resolved
from adapters.policy.metadata import LEVELS

_WRITTEN = {
    "request": "pass if ...",
    "source": "pass contains i if ...",
    "route": "pass contains id if ...",
}
_PASS = 4
"""Where `pass` stands in data.gateway.route.region.pass."""


def pass_form(tree: Tree) -> Iterator[Finding]:
    """A request check written as a set is truthy when it is empty, and a pass without conditions is none."""
    if not (level := level_of(tree)):
        return
    remedy = f"Write `{_WRITTEN[level]}`, and nothing else of that name."
    passing = [rule for rule in tree.rules if rule["head"]["ref"][0]["value"] == "pass"]
    if not passing:
        yield Finding(tree.line, f"This {level} check has no `pass`.", remedy)
    for rule in passing:
        if not _is_written(level, rule):
            yield Finding(line(rule), f"A {level} check passes in another way.", remedy)


def by_difference(tree: Tree) -> Iterator[Finding]:
    """``failed contains name if not ...`` forgets a check that is not there; a set difference does not."""
    allowed = {id(found) for below in nodes(tree.rules) for found in _subtracted(tree, below)}
    for reference in refs(tree.rules):
        steps = names(resolved(tree, reference))
        if steps[:2] != ("data", "gateway") or steps[2:3] == () or steps[2] not in LEVELS:
            continue
        if steps[: len(tree.package)] != tree.package and id(reference) not in allowed:
            compared = "== true" if steps[2] == "request" else "== the key"
            remedy = f"Write `needed - {{name | some name in needed; gateway.{steps[2]}[name].pass ... {compared}}}`."
            yield Finding(line(reference), "What a check says is used in another way than by set difference.", remedy)


def level_of(tree: Tree) -> str:
    """The level of the check that this file is; empty where it is none."""
    return tree.package[2] if len(tree.package) > 3 and tree.package[2] in LEVELS else ""


def _is_written(level: str, rule: Node) -> bool:
    head = rule["head"]
    conditions = [part for part in rule["body"] if not part.get("generated")]
    if rule.get("default") or "else" in rule or "args" in head or len(head["ref"]) > 1 or not conditions:
        return False
    if level == "request":
        return "key" not in head and head["value"].get("location") is None
    return "key" in head and "value" not in head and head["key"]["type"] == "var"


def _subtracted(tree: Tree, node: Node) -> Iterator[Node]:
    """References to checks in ``needed - {name | ...; gateway.request[name].pass == true}``."""
    found = call(tree, node)
    if not found or found.name != "minus" or found.operands[1]["type"] != "setcomprehension":
        return
    for part in found.operands[1]["value"]["body"]:
        compared = call(tree, part)
        if compared and compared.name == "equal" and not part.get("negated") and not part.get("with"):
            for one, other in (compared.operands, compared.operands[::-1]):
                if one["type"] == "ref" and _says_passed(resolved(tree, one), other):
                    yield one


def _says_passed(steps: list[Node], other: Node) -> bool:
    if len(steps) <= _PASS or steps[_PASS]["value"] != "pass":
        return False
    if steps[2]["value"] == "request":
        return len(steps) == _PASS + 1 and other["type"] == "boolean" and other["value"] is True
    is_key = len(steps) == _PASS + 2 and other["type"] == steps[-1]["type"] == "var"
    return is_key and bool(other["value"] == steps[-1]["value"])
