"""Which checks are required, and what the METADATA above each one's package says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from adapters.policy.command import run
from gateway.domain.fault import Fault
from gateway.domain.refusal import PolicyCode

LEVELS = ("request", "source", "route")
FIELDS = ("title", "description", "custom.code", "custom.remedy", "custom.owner")


class Check(NamedTuple):
    """A check's name: request/purpose, for example."""

    level: str
    name: str

    def __str__(self) -> str:
        return f"{self.level}/{self.name}"


class Documented(Struct, frozen=True):
    """What stands above a check, and where."""

    line: int
    place: str
    """File and line, such as gateway/route/region/region.rego:8; in a bundle below its root."""
    missing: tuple[str, ...]
    """Those of FIELDS that are absent or empty."""
    code: PolicyCode
    shares_code: tuple[str, ...]
    """Checks, such as source/readable, with the same code, each with a reason why they are not to be told apart."""


class _OfRequest(Struct, frozen=True, forbid_unknown_fields=True):
    request: tuple[str, ...]


class _Levels(Struct, frozen=True, forbid_unknown_fields=True):
    request: tuple[str, ...]
    source: tuple[str, ...]


class _Required(Struct, frozen=True, forbid_unknown_fields=True):
    """``data.gateway.checks.required`` as the rules write it."""

    access: _Levels
    operate: _OfRequest
    replay: _Levels
    routes: dict[str, tuple[str, ...]]
    visible: _OfRequest


def required(opa: Path, rules: Path) -> frozenset[Check] | None:
    """All checks that some question requires. None: the list cannot be evaluated, or has another shape."""
    finished = run(opa, "eval", "--bundle", str(rules), "--format", "raw", "data.gateway.checks.required")
    try:
        found = msgspec.json.decode(finished.out, type=_Required)
    except msgspec.DecodeError:
        return None
    of_request = (found.access, found.operate, found.replay, found.visible)
    return frozenset(
        {Check("request", name) for level in of_request for name in level.request}
        | {Check("source", name) for level in (found.access, found.replay) for name in level.source}
        | {Check("route", name) for names in found.routes.values() for name in names}
    )


def documented(opa: Path, rules: Path) -> dict[Check, Documented]:
    """All checks below ``rules`` (a bundle or a folder) that carry METADATA."""
    found = msgspec.json.decode(run(opa, "inspect", "--annotations", "--format", "json", str(rules)).out)
    return {
        check: _documented(entry)
        for entry in found.get("annotations", ())
        if (check := _check(entry)) and entry["annotations"].get("scope") == "package"
    }


def incomplete(policies: Path, check: Check, described: Documented) -> Iterator[Fault]:
    """A fault for each field that METADATA lacks."""
    file = policies / "gateway" / check.level / check.name / f"{check.name}.rego"
    for field in described.missing:
        sentence = f"{field} is missing in METADATA."
        yield Fault(str(file), described.line, "", sentence, "Write it as the other checks have it.")


def _check(entry: dict[str, Any]) -> Check | None:
    match [part["value"] for part in entry["path"]]:
        case ["data", "gateway", level, name] if level in LEVELS:
            return Check(level, name)
    return None


def _documented(entry: dict[str, Any]) -> Documented:
    said = entry["annotations"]
    values = said | {f"custom.{name}": value for name, value in said.get("custom", {}).items()}
    shared = values.get("custom.shares_code")
    return Documented(
        line=entry["location"]["row"],
        place=f"{entry['location']['file']}:{entry['location']['row']}",
        missing=tuple(field for field in FIELDS if not values.get(field)),
        code=PolicyCode(code=str(values.get("custom.code", "")), remedy=str(values.get("custom.remedy", ""))),
        shares_code=tuple(name for name, reason in shared.items() if reason) if isinstance(shared, dict) else (),
    )
