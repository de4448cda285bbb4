"""The lint of the rules. Every rule of it was a way to write a policy that allows what it seems to deny."""

from collections.abc import Callable, Iterator
from pathlib import Path

from adapters.policy import (
    lint_entrypoints,
    lint_form,
    lint_literals,
    lint_names,
    lint_passing,
    lint_reads,
    lint_values,
)
from adapters.policy.capabilities import builtins
from adapters.policy.lint_tree import Finding, Known, Tree, read_trees
from gateway.domain.fault import Fault

RULES: dict[str, Callable[[Tree], Iterator[Finding]]] = {
    "by-difference": lint_passing.by_difference,
    "default-false": lint_form.default_false,
    "entrypoint-form": lint_entrypoints.entrypoint_form,
    "every-reads-no-field": lint_reads.every_reads_no_field,
    "fields-are-named": lint_reads.fields_are_named,
    "known-data": lint_names.known_data,
    "no-bare-values": lint_form.no_bare_values,
    "no-else": lint_form.no_else,
    "no-names": lint_literals.no_names,
    "no-not": lint_form.no_not,
    "no-shadowing": lint_names.no_shadowing,
    "no-with": lint_form.no_with,
    "not-named-as-tests": lint_form.not_named_as_tests,
    "nothing-feeds-max": lint_values.nothing_feeds_max,
    "nothing-found": lint_form.nothing_found,
    "parameters-have-no-fields": lint_reads.parameters_have_no_fields,
    "pass-form": lint_passing.pass_form,
    "pinned-lists": lint_values.pinned_lists,
    "pinned-numbers": lint_values.pinned_numbers,
    "plain-heads": lint_names.plain_heads,
    "plain-imports": lint_names.plain_imports,
    "same-types": lint_values.same_types,
    "schemas-stay": lint_names.schemas_stay,
    "types-are-kept": lint_reads.types_are_kept,
}
"""By the name that a fault carries; docs/policy-guide.md has the reason of each."""


def lint(policies: Path, opa: Path, registered: frozenset[str]) -> list[Fault]:
    """Faults of the rules without their tests. They have to compile.

    :param registered: names of the registry in force, which no rule may make an exception for.
    """
    known = Known(builtins(opa), registered, lint_entrypoints.forms(opa))
    found = {
        Fault(str(policies / tree.path), row, "", f"{name}: {sentence}", remedy)
        for tree in read_trees(policies, opa, known)
        for name, rule in RULES.items()
        for row, sentence, remedy in rule(tree)
    }
    return sorted(found)
