"""Lint of names: none is taken from OPA, none leads out of the package, and none hides what it stands for."""

from collections.abc import Iterator

from adapters.policy.lint_tree import Finding, Names, Node, Tree, called, line, names, nodes, resolved
from adapters.policy.metadata import LEVELS

_GATEWAY = ("data", "gateway")
_CHECKS = (*_GATEWAY, "checks")
_PASS = 4
"""Where `pass` stands in data.gateway.route[name].pass."""
_SCHEMAS = [("input", ["schema", "input"]), ("data.registry", ["schema", "registry"])]


def no_shadowing(tree: Tree) -> Iterator[Finding]:
    """A rule named ``equal`` is what every ``==`` of its package calls."""
    remedy = "Take a name that is none of OPA's functions or operators."
    callees = called(tree.rules)
    operators = {id(node["value"][0]) for node in nodes(tree.rules) if id(node) in callees}
    for node in nodes(tree.rules):
        if node.get("type") == "var" and node["value"] in tree.known.builtins and id(node) not in operators:
            yield Finding(line(node), f"`{node['value']}` is the name of a function or operator of OPA.", remedy)
    for entry in tree.root.imports:
        if (name := _imported(entry)) in tree.known.builtins:
            yield Finding(line(entry["path"]), f"`{name}` is the name of a function or operator of OPA.", remedy)


def plain_heads(tree: Tree) -> Iterator[Finding]:
    """``route.serves.pass contains id`` in one package is a rule of another."""
    for rule in tree.rules:
        _, *steps = rule["head"]["ref"]
        if len(steps) > 1 or any(step["type"] != "var" for step in steps):
            sentence = "The head of this rule has several steps, and may lead into another package."
            yield Finding(line(rule), sentence, "Write a name alone, or `name[key]` with a variable.")


def plain_imports(tree: Tree) -> Iterator[Finding]:
    """What ``checks.passed`` means has to be seen where it stands, by whoever knows the packages."""
    packages = _packages(tree)
    for entry in tree.root.imports:
        path = names(entry["path"]["value"])
        if path not in packages or entry.get("alias", path[-1]) != path[-1]:
            remedy = "Import packages of data.gateway alone, each under its own name."
            yield Finding(line(entry["path"]), "An import does not show what it stands for.", remedy)
    for rule in tree.rules:
        if (name := rule["head"]["ref"][0]["value"]) in tree.imports:
            yield Finding(line(rule), f"The rule {name} is named as an import.", "Give it a name of its own.")


def known_data(tree: Tree) -> Iterator[Finding]:
    """A rule that looks at other data sees whether it is under test, and may then be another."""
    packages = _packages(tree)
    heads = {id(node["value"][0]) for node in nodes(tree.rules) if node.get("type") == "ref"}
    for node in nodes(tree.rules):
        if node.get("type") == "ref" or (
            node.get("type") == "var" and node["value"] in tree.imports and id(node) not in heads
        ):
            steps = resolved(tree, node)
            if steps[0]["value"] == "data" and not _is_known(tree, steps, packages):
                remedy = "Write out data.registry or a rule of data.gateway."
                yield Finding(line(node), "This leads to other data than the registry and the rules.", remedy)


def schemas_stay(tree: Tree) -> Iterator[Finding]:
    """A schema nearer to a rule replaces the gateway's, and no misspelt field is noticed any more."""
    found = [(".".join(_parts(schema["path"])), _parts(schema.get("schema", []))) for _, schema in tree.root.schemas]
    if tree.package == _GATEWAY and found == _SCHEMAS and {row for row, _ in tree.root.schemas} == {tree.line}:
        return
    for row, _ in tree.root.schemas:
        yield Finding(row, "METADATA replaces the schemas.", "Leave `schemas` to gateway.rego, with its two entries.")


def _is_known(tree: Tree, steps: list[Node], packages: set[Names]) -> bool:
    full = names(steps)
    if full[1:2] == ("registry",):
        return True
    if tree.package == _CHECKS and full[:2] == _GATEWAY and full[2:3] and full[2] in LEVELS and len(full) > _PASS:
        return steps[3]["type"] == "var" and full[_PASS] == "pass"  # the set differences that `by-difference` wants
    written = full[: full.index("*")] if "*" in full else full
    if any(written[:length] in tree.everywhere for length in range(len(written) + 1)):
        return True
    return full == written and full[:2] == _GATEWAY and full not in packages  # a dangling reference, told elsewhere


def _packages(tree: Tree) -> set[Names]:
    """All packages that have rules, and those that they lie in, from data.gateway on."""
    return {path[:length] for path in tree.everywhere for length in range(2, len(path))}


def _imported(entry: Node) -> str:
    return str(entry.get("alias") or entry["path"]["value"][-1]["value"])


def _parts(steps: list[Node]) -> list[str]:
    return [str(step["value"]) for step in steps]
