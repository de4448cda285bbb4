"""Runs OPA's own commands: check, test, inspect, version. Never from a request."""

import subprocess
from pathlib import Path

import msgspec
from msgspec import Struct

from gateway.domain.fault import Fault

_LIMIT_S = 60
_REMEDY = "Mend the rule, and run the policy check again."


class Finished(Struct, frozen=True):
    """How a command ended."""

    code: int
    out: str
    err: str


class _Location(Struct, frozen=True):
    file: str = ""
    row: int = 0


class _Error(Struct, frozen=True):
    message: str
    code: str
    location: _Location = _Location()


class _Errors(Struct, frozen=True):
    errors: tuple[_Error, ...]


def run(opa: Path, *args: str, cwd: Path | None = None, stdin: bytes = b"") -> Finished:
    """Run ``opa`` with an empty environment.

    :raises OSError: it cannot be started.
    :raises subprocess.TimeoutExpired: it took longer than a minute.
    """
    done = subprocess.run(  # noqa: S603  the program is an accepted OPA, the arguments are ours
        [opa, *args], cwd=cwd, env={}, input=stdin, capture_output=True, check=False, timeout=_LIMIT_S
    )
    return Finished(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def compiled(policies: Path, opa: Path, allowed: Path) -> list[Fault]:
    """Faults of ``opa check`` with the schemas in policies/schemas and the capabilities in ``allowed``."""
    options = ("--strict", "--format", "json", "--schema", "schemas", "--capabilities", str(allowed))
    return faults(run(opa, "check", *options, "gateway", cwd=policies), policies)


def faults(finished: Finished, policies: Path) -> list[Fault]:
    """Faults of a command that was run with ``--format json`` and relative to ``policies``."""
    if finished.code == 0:
        return []
    try:
        found = msgspec.json.decode(finished.out or finished.err, type=_Errors).errors
    except msgspec.DecodeError:
        return [Fault(str(policies), 0, "", f"OPA refused: {_first_line(finished)}", _REMEDY)]
    return [
        Fault(
            file=str(policies / error.location.file) if error.location.file else str(policies),
            line=error.location.row,
            path="",
            sentence=f"{error.code}: {error.message.splitlines()[0].rstrip('.')}.",
            remedy=_REMEDY,
        )
        for error in found
    ]


def _first_line(finished: Finished) -> str:
    lines = (finished.err or finished.out).strip().splitlines()
    return lines[0] if lines else f"exit status {finished.code}."
