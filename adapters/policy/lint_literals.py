"""Lint of literals: no rule is about one tenant, purpose, alias or whatever else the registry lists."""

from collections.abc import Iterator

from adapters.policy.lint_tree import Finding, Node, Tree, call, line, names, nodes, refs, resolved
from adapters.policy.metadata import LEVELS
from gateway.domain.principal import SYSTEM_TENANT
from gateway.domain.snapshot import Snapshot

_CALLERS = frozenset({"alias", "bundle", "purpose", "tenant"})
"""Fields of a question that name an entry of the registry."""
_LITERALS = frozenset({"boolean", "null", "number", "string", "templatestring"})
_LISTS = frozenset({"array", "set"})
_BUILT_IN = ("data", "gateway", "request", "operator_active")
_CHECKS = ("data", "gateway", "checks")
_CHECK = 4
"""Steps of data.gateway.route.region."""


def registered(snapshot: Snapshot) -> frozenset[str]:
    """All that a rule could make an exception for: tenants, purposes, aliases, profiles, bundles and so on."""
    return frozenset(
        {
            *snapshot.tenants,
            *snapshot.purposes,
            *snapshot.releases,
            *snapshot.profiles,
            *snapshot.bundles,
            *(name for profile in snapshot.profiles.values() for name in (profile.provider, profile.region)),
            *(name for tenant in snapshot.tenants.values() for name in (*tenant.providers, *tenant.regions)),
            *(alias for tenant in snapshot.tenants.values() for alias in tenant.aliases),
            *(
                group
                for tenant in snapshot.tenants.values()
                for account in tenant.service_accounts
                for group in account.groups
            ),
        }
    )


def no_names(tree: Tree) -> Iterator[Finding]:
    """An exception for one tenant passes every test that asks for another. A step of a reference is no name of an
    entry: there the schemas allow none.
    """
    checks = {path[_CHECK - 1] for path in tree.everywhere if len(path) > _CHECK and path[2] in LEVELS}
    allowed = checks if tree.package == _CHECKS else set()
    for rule in tree.rules:
        steps = {id(step) for node in nodes(rule) if node.get("type") == "ref" for step in node["value"][1:]}
        literals = (node for node in nodes(rule) if node.get("type") == "string" and id(node) not in steps)
        for node in literals:
            if node["value"] in tree.known.registered - allowed:
                remedy = "Say in the registry what is special about it, and read that."
                yield Finding(line(node), "The rule names an entry of the registry.", remedy)
        yield from _uncompared(tree, rule)


def _uncompared(tree: Tree, rule: Node) -> Iterator[Finding]:
    """Uses of input.tenant and the like that are neither a key nor a comparison with what is no literal."""
    keys = {id(step) for node in nodes(rule) if node.get("type") == "ref" for step in node["value"][1:]}
    compared = {id(reference) for node in nodes(rule) for reference in _compared(tree, node)}
    for reference in refs(rule):
        path = names(resolved(tree, reference))
        if path == ("input",):
            yield Finding(line(reference), "The question is used as a whole.", "Read the fields that matter.")
        elif path[0] == "input" and path[1] in _CALLERS and id(reference) not in keys | compared:
            sentence = f"{'.'.join(path)} is neither a key nor compared with a field."
            remedy = "Look it up in data.registry, or compare it with what stands there."
            yield Finding(line(reference), sentence, remedy)


def _compared(tree: Tree, node: Node) -> Iterator[Node]:
    found = call(tree, node)
    match found.name if found else "", found.operands if found else []:
        case "is_string", [one]:
            yield one
        case "internal.member_2", [one, many] if not _has_literal(many):
            yield one
        case "equal", [one, other]:
            for side, against in ((one, other), (other, one)):
                if not _has_literal(against) or _is_built_in(tree, side, against):
                    yield from side["value"] if side["type"] in _LISTS else [side]


def _has_literal(term: Node) -> bool:
    """Steps of references are looked at elsewhere."""
    steps = {id(step) for node in nodes(term) if node.get("type") == "ref" for step in node["value"]}
    return any(node.get("type") in _LITERALS and id(node) not in steps for node in nodes(term))


def _is_built_in(tree: Tree, side: Node, against: Node) -> bool:
    """``input.tenant == "system"`` in the one check that knows the built-in operator."""
    is_tenant = side["type"] == "ref" and names(resolved(tree, side)) == ("input", "tenant")
    return tree.package == _BUILT_IN and is_tenant and bool(against["value"] == SYSTEM_TENANT)
