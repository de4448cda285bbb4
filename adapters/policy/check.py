"""What a pull request with a policy has to pass: ``gateway policy check``, and a part of ``make check``."""

import asyncio
import shlex
import tempfile
from pathlib import Path

from adapters.policy import golden
from adapters.policy.capabilities import capabilities
from adapters.policy.check_fields import outdated_schemas, uncaught_typos, unread_fields
from adapters.policy.check_folders import faulty_checks
from adapters.policy.check_golden import missing_golden_decisions
from adapters.policy.check_layout import dangling_references, misplaced_files
from adapters.policy.check_legible import illegible, or_fault
from adapters.policy.check_structs import optional_fields
from adapters.policy.check_tests import failed_tests
from adapters.policy.codes import outdated_codes
from adapters.policy.command import compiled, run
from adapters.policy.lint import lint
from adapters.policy.lint_literals import registered
from adapters.policy.modules import read_modules
from adapters.policy.mutation_list import faulty_mutations
from adapters.policy.opa import start_unproved
from adapters.policy.strays import strays
from gateway.domain.fault import Fault
from gateway.domain.snapshot import Snapshot
from gateway.ports.events import Event


def check_policies(policies: Path, opa: Path, snapshot: Snapshot) -> list[Fault]:
    """All faults of the rules; an empty list is a pass. Not to be called inside an event loop.

    Strays, and rules that do not compile, hide what else is wrong, so their faults are told alone. A check that is
    misplaced or not required makes tests and golden decisions fail that are right, so those are left out then.

    :raises StartRefused: OPA itself does not start.
    """
    if not (policies / "gateway").is_dir():
        sentence = "This folder does not hold the policies." if policies.is_dir() else "There is no such folder."
        remedy = "Name the folder of gateway/*.rego in GATEWAY_POLICIES; by default it is policies, where you are."
        return [Fault(str(policies), 0, "", sentence, remedy)]
    if found := strays(policies) or optional_fields():
        return found
    return or_fault(policies, lambda: _faults(policies, opa, snapshot), lambda fault: [fault])


def _faults(policies: Path, opa: Path, snapshot: Snapshot) -> list[Fault]:
    with tempfile.TemporaryDirectory() as folder:
        allowed = Path(folder) / "capabilities.json"
        allowed.write_bytes(capabilities(opa))
        if found := compiled(policies, opa, allowed) or illegible(policies, opa):
            return found
        modules = read_modules(policies, opa)
        layout = [*misplaced_files(policies, opa), *faulty_checks(policies, opa)]
        faults = [
            *unformatted(policies, opa),
            *lint(policies, opa, registered(snapshot)),
            *layout,
            *dangling_references(policies, modules),
            *outdated_schemas(policies),
            *uncaught_typos(policies, opa, allowed),
            *missing_golden_decisions(policies),
        ]
        if not layout:
            faults += outdated_codes(policies, opa)
            faults += faulty_mutations(policies)
            faults += unread_fields(policies, opa, modules)
            faults += failed_tests(policies, opa)
            faults += wrong_golden_decisions(policies, opa, snapshot)
        return faults


def unformatted(policies: Path, opa: Path) -> list[Fault]:
    """Files that ``opa fmt`` would change."""
    listed = run(opa, "fmt", "--list", str(policies / "gateway")).out.splitlines()
    remedy = f'Run: "$(gateway opa install)" fmt --write {shlex.quote(str(policies / "gateway"))}'
    return [Fault(path, 0, "", "The file is not formatted.", remedy) for path in listed if path]


def wrong_golden_decisions(policies: Path, opa: Path, snapshot: Snapshot) -> list[Fault]:
    """Golden decisions that come out otherwise, or that this registry cannot be asked.

    :raises StartRefused: OPA does not start.
    """
    asked = asyncio.run(_ask_golden(policies, opa, snapshot))
    stale = "The golden decision names a tenant or a bundle that the registry does not have."
    remedy = "Write it for what the registry has, or delete it."
    return [*asked.wrong, *(Fault(str(path), 0, "", stale, remedy) for path in asked.skipped)]


class _Silent:
    def emit(self, event: Event) -> None: ...


async def _ask_golden(policies: Path, opa: Path, snapshot: Snapshot) -> golden.Asked:
    policy = await start_unproved(snapshot=snapshot, policies=policies, opa=opa, events=_Silent())
    try:
        return await golden.ask(policy, policies, snapshot)
    finally:
        await policy.close()
