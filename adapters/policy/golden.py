"""Golden decisions: committed questions with their answers, asked before a revision may serve.

They belong to the registry beside them. One that names a tenant or bundle which the active registry does not
have cannot be asked of it; it is counted as skipped, and ``check_policies`` calls it a fault.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from gateway.domain.errors import StartRefused
from gateway.domain.fault import Fault
from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    ReplayAnswer,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
)
from gateway.domain.snapshot import Snapshot
from gateway.ports.policy import Policy


class GoldenAccess(Struct, frozen=True, forbid_unknown_fields=True, tag_field="entrypoint", tag="access"):
    title: str
    question: AccessQuestion
    answer: AccessAnswer


class GoldenRoutes(Struct, frozen=True, forbid_unknown_fields=True, tag_field="entrypoint", tag="routes"):
    title: str
    question: RoutesQuestion
    answer: RoutesAnswer


class GoldenReplay(Struct, frozen=True, forbid_unknown_fields=True, tag_field="entrypoint", tag="replay"):
    title: str
    question: ReplayQuestion
    answer: ReplayAnswer


Golden = GoldenAccess | GoldenRoutes | GoldenReplay
_decode = msgspec.json.Decoder(Golden).decode


class Asked(Struct, frozen=True):
    """What became of the golden decisions. Skipped are those that name what the registry does not have."""

    right: int = 0
    skipped: tuple[Path, ...] = ()
    wrong: tuple[Fault, ...] = ()


def read(policies: Path) -> dict[Path, Golden]:
    """All golden decisions, by their file.

    :raises StartRefused: a file is not a golden decision.
    """
    found: dict[Path, Golden] = {}
    for path in sorted((policies / "golden").glob("*.json")):
        try:
            found[path] = _decode(path.read_bytes())
        except msgspec.DecodeError as error:
            raise StartRefused(f"{path}: This is not a golden decision: {error}. Compare it with the others.") from None
    return found


async def ask(policy: Policy, policies: Path, snapshot: Snapshot) -> Asked:
    """Ask all that apply.

    :raises StartRefused: a file is not a golden decision.
    :raises PolicyUnavailable: there was no answer.
    """
    decisions = read(policies)
    asked = {path: golden for path, golden in decisions.items() if _applies(golden, snapshot)}
    wrong = [path for path, golden in asked.items() if await _answer(policy, golden) != golden.answer]
    return Asked(
        right=len(asked) - len(wrong),
        skipped=tuple(path for path in decisions if path not in asked),
        wrong=tuple(_otherwise(path) for path in wrong),
    )


def _applies(golden: Golden, snapshot: Snapshot) -> bool:
    if golden.question.tenant not in snapshot.tenants:
        return False
    return not isinstance(golden, GoldenRoutes) or golden.question.bundle in snapshot.bundles


def _otherwise(path: Path) -> Fault:
    return Fault(
        file=str(path),
        line=0,
        path="",
        sentence="Policy now decides this golden decision otherwise.",
        remedy="Mend the rules or the registry, or change the file together with them.",
    )


async def _answer(policy: Policy, golden: Golden) -> AccessAnswer | RoutesAnswer | ReplayAnswer:
    match golden:
        case GoldenAccess(question=question):
            return (await policy.access(question)).answer
        case GoldenRoutes(question=question):
            return (await policy.routes(question)).answer
        case GoldenReplay(question=question):
            return (await policy.replay(question)).answer
