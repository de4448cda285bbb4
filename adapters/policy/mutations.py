"""``gateway policy mutate``: each mutation is made in a copy, and the policy check has to notice it."""

import functools
import re
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from adapters.policy.capabilities import capabilities
from adapters.policy.check import wrong_golden_decisions
from adapters.policy.check_folders import faulty_checks
from adapters.policy.check_layout import dangling_references, misplaced_files
from adapters.policy.check_legible import illegible, or_fault
from adapters.policy.check_tests import failing_tests
from adapters.policy.command import compiled
from adapters.policy.lint import lint
from adapters.policy.lint_literals import registered
from adapters.policy.modules import read_modules
from adapters.policy.mutation_list import LIST, Listed, apply, read_mutations
from adapters.policy.strays import strays
from gateway.domain.fault import Fault
from gateway.domain.snapshot import Snapshot

_AT_ONCE = 2
_SURVIVED = ""
_NO_REGO = "no Rego"
_SHOW_NOTHING = frozenset({_SURVIVED, _NO_REGO})
_NO_RULE = re.compile("rego_parse_error|rego_unsafe_var_error|rego_compile_error")


class Outcome(NamedTuple):
    """What became of a mutation."""

    name: str
    caught_by: str
    """A stage of the check; empty where it survived."""


def mutate(policies: Path, opa: Path, snapshot: Snapshot, only: str = "") -> tuple[list[Outcome], list[Fault]]:
    """What caught each mutation; and a fault for each that survives, does not apply, or is missing.

    With ``only`` that one is made, of those that apply.

    Not to be called inside an event loop.

    :raises StartRefused: OPA itself does not start.
    """
    if found := strays(policies):
        return [], found
    return or_fault(policies, lambda: _mutate(policies, opa, snapshot, only), lambda fault: ([], [fault]))


def _mutate(policies: Path, opa: Path, snapshot: Snapshot, only: str) -> tuple[list[Outcome], list[Fault]]:
    if found := illegible(policies, opa):
        return [], found
    listed, faults = read_mutations(policies)
    listed = [entry for entry in listed if only in ("", entry.mutation.name)]
    with tempfile.TemporaryDirectory() as folder:
        allowed = Path(folder) / "capabilities.json"
        allowed.write_bytes(capabilities(opa))
        if stage := next(_caught(policies, opa, allowed, snapshot, ""), _SURVIVED):
            sentence = f"The policies have faults already (found by {stage}), so no mutation would show anything."
            return [], [Fault(str(policies), 0, "", sentence, "Run: gateway policy check")]

        def try_out(entry: Listed) -> Outcome:
            with tempfile.TemporaryDirectory() as own:
                copy = apply(entry.mutation, policies, own)
                caught = next(_caught(copy, opa, allowed, snapshot, entry.mutation.file), _SURVIVED)
                return Outcome(entry.mutation.name, caught)

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            outcomes = list(pool.map(try_out, listed))
    worthless = (
        _worthless(policies / LIST, entry, outcome)
        for entry, outcome in zip(listed, outcomes, strict=True)
        if outcome.caught_by in _SHOW_NOTHING
    )
    return outcomes, [*faults, *worthless]


def _worthless(path: Path, entry: Listed, outcome: Outcome) -> Fault:
    if outcome.caught_by == _NO_REGO:
        sentence = f"The mutation {entry.mutation.name} is no Rego, so that it shows nothing."
        return Fault(str(path), entry.line, "", sentence, "Mend its new text.")
    sentence = f"Nothing catches the mutation {entry.mutation.name}: {entry.mutation.loosens.rstrip('.')}."
    return Fault(str(path), entry.line, "", sentence, "Write the test that does.")


def _caught(policies: Path, opa: Path, allowed: Path, snapshot: Snapshot, changed: str) -> Iterator[str]:
    """Stages that find a fault, cheapest first; the caller takes the first and the others are never run.

    A test beside the rule takes a tenth of the time of the others, and notices most.
    """
    beside = Path(changed).with_name(f"{Path(changed).stem}_test.rego").as_posix() if changed else ""
    own = beside if (policies / beside).is_file() else ""
    compilation = functools.cache(lambda: compiled(policies, opa, allowed))
    stages: dict[str, Callable[[], list[Fault]]] = {
        "its own tests": lambda: failing_tests(policies, opa, own) if own else [],
        _NO_REGO: lambda: [fault for fault in compilation() if _NO_RULE.match(fault.sentence)],
        "compilation": compilation,
        "lint": lambda: lint(policies, opa, registered(snapshot)),
        "layout": lambda: [
            *misplaced_files(policies, opa),
            *dangling_references(policies, read_modules(policies, opa)),
        ],
        "required checks": lambda: faulty_checks(policies, opa),
        "tests": lambda: failing_tests(policies, opa),
        "golden decisions": lambda: wrong_golden_decisions(policies, opa, snapshot),
    }
    return (name for name, stage in stages.items() if stage())
