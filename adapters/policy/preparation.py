"""Before a bundle is served: is it sound, and is every required check documented?"""

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from adapters.policy.capabilities import capabilities
from adapters.policy.command import faults, run
from adapters.policy.metadata import Check, Documented, documented, incomplete, required
from gateway.domain.errors import StartRefused

_REMEDY = "Run: gateway policy check"


def prepare(tarball: bytes, target: Path, policies: Path, opa: Path) -> Mapping[Check, Documented]:
    """Write the bundle to ``target``; what METADATA says of every required check.

    :raises StartRefused: a rule is faulty, calls what it may not, or is not documented; with file and line. Or OPA
        does not come to an end with them, or says what cannot be read.
    """
    try:
        return _prepared(tarball, target, policies, opa)
    except subprocess.TimeoutExpired as error:
        raise StartRefused(f"opa {error.cmd[1]} takes longer than {error.timeout:.0f} s. {_REMEDY}") from None
    except (msgspec.DecodeError, RecursionError):
        raise StartRefused(f"What OPA says of the rules in {policies} cannot be read. {_REMEDY}") from None


def _prepared(tarball: bytes, target: Path, policies: Path, opa: Path) -> Mapping[Check, Documented]:
    target.write_bytes(tarball)
    with tempfile.TemporaryDirectory() as folder:
        allowed = Path(folder) / "capabilities.json"
        allowed.write_bytes(capabilities(opa))
        arguments = ("--strict", "--format", "json", "--capabilities", str(allowed), "--bundle", str(target))
        found = faults(run(opa, "check", *arguments), policies)
    if found:
        raise StartRefused("\n".join(str(fault) for fault in found), tuple(found))
    checks = documented(opa, target)
    if (needed := required(opa, target)) is None:
        raise StartRefused(f"The list of required checks is not as the gateway reads it. {_REMEDY}")
    for check in sorted(needed):
        if check not in checks:
            raise StartRefused(f"There is no check {check} with METADATA. {_REMEDY}")
        if lacking := list(incomplete(policies, check, checks[check])):
            raise StartRefused("\n".join(str(fault) for fault in lacking), tuple(lacking))
    return checks
