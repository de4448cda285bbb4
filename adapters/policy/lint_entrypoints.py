"""Lint of the entrypoints: each gives what the checks say, and has no way to leave a failed one out."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from adapters.policy.lint_tree import Finding, Node, Root, Tree, key, line, parse

_DENIED = "default _allow := false"
_SHOWN = "import data.gateway.checks"
_WRITTEN: Mapping[str, tuple[str, ...]] = {
    "access": (
        _SHOWN,
        "import data.gateway.privacy",
        'answer := {"allow": _allow, "privacy_class": _class, "failed": checks.shown.access}',
        _DENIED,
        "_allow if checks.passed.access",
        'default _class := ""',
        "_class := privacy.required if _allow",
    ),
    "operate": (
        _SHOWN,
        'answer := {"allow": _allow, "failed": checks.request.operate}',
        _DENIED,
        "_allow if checks.passed.operate",
    ),
    "replay": (
        _SHOWN,
        'answer := {"allow": _allow, "failed": checks.shown.replay}',
        _DENIED,
        "_allow if checks.passed.replay",
    ),
    "routes": (
        _SHOWN,
        'answer := {"routes": [id | some id in checks.candidates; checks.route[id] == set()], '
        '"failed": {id: checks.route[id] | some id in checks.candidates}}',
    ),
    "visible": (
        _SHOWN,
        'answer := {"aliases": _aliases, "failed": checks.request.visible}',
        "default _aliases := []",
        "_aliases := sort(_current) if checks.passed.visible",
    ),
}
"""Imports and rules. A package may have others beside them, under other names."""


def forms(opa: Path) -> dict[str, Root]:
    """The same as OPA parses it."""
    return {name: parse(opa, "\n\n".join((f"package {name}", *parts))) for name, parts in _WRITTEN.items()}


def entrypoint_form(tree: Tree) -> Iterator[Finding]:
    """``{"allow": true}``, or other checks under the name of the checks, waives what failed."""
    form = tree.known.forms.get(tree.package[-1])
    if form is None or tree.package[:-1] != ("data", "gateway"):
        return
    wanted = {key(rule): text for rule, text in zip(form.rules, _rules(tree.package[-1]), strict=True)}
    for entry in form.imports:
        path = entry["path"]["value"]
        if key(tree.imports.get(path[-1]["value"], [])) != key(path):
            name = ".".join(step["value"] for step in path)
            yield Finding(tree.line, "This entrypoint does not read the checks.", f"Write: import {name}")
    names = {_name(rule) for rule in form.rules}
    found = {key(rule) for rule in tree.rules}
    for rule in tree.rules:
        if _name(rule) in names and key(rule) not in wanted:
            texts = "; and: ".join(wanted[key(other)] for other in form.rules if _name(other) == _name(rule))
            yield Finding(line(rule), "This entrypoint gives another answer than the checks.", f"Write: {texts}")
    for wanting, text in wanted.items():
        if wanting not in found:
            yield Finding(tree.line, "This entrypoint lacks a rule.", f"Write: {text}")


def _rules(name: str) -> list[str]:
    return [text for text in _WRITTEN[name] if not text.startswith("import ")]


def _name(rule: Node) -> str:
    return str(rule["head"]["ref"][0]["value"])
