"""Golden decisions: committed questions with their answers, asked before a revision may serve.

They belong to the registry beside them. One that names a tenant or bundle which the active registry does not
have cannot be asked of it; it is counted as skipped, and ``check_policies`` calls it a fault.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from adapters.policy.answers import Answer
from adapters.policy.golden_difference import Difference, differences, line_of
from gateway.domain.errors import PolicyUnavailable
from gateway.domain.fault import Fault
from gateway.domain.principal import SYSTEM_TENANT
from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    OperateAnswer,
    OperateQuestion,
    ReplayAnswer,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
    VisibleAnswer,
    VisibleQuestion,
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


class GoldenVisible(Struct, frozen=True, forbid_unknown_fields=True, tag_field="entrypoint", tag="visible"):
    title: str
    question: VisibleQuestion
    answer: VisibleAnswer


class GoldenOperate(Struct, frozen=True, forbid_unknown_fields=True, tag_field="entrypoint", tag="operate"):
    title: str
    question: OperateQuestion
    answer: OperateAnswer


Golden = GoldenAccess | GoldenRoutes | GoldenReplay | GoldenVisible | GoldenOperate
_MOST_TOLD = 4
"""Places of one file that differ; the others follow from these."""
_decode = msgspec.json.Decoder(Golden).decode


class Asked(Struct, frozen=True):
    """What became of the golden decisions. Skipped are those that name what the registry does not have."""

    right: int = 0
    skipped: tuple[Path, ...] = ()
    wrong: tuple[Fault, ...] = ()


async def ask(policy: Policy, policies: Path, snapshot: Snapshot) -> Asked:
    """Ask all that apply. A file that is none, and a question without an answer, are wrong too."""
    right, skipped, wrong = 0, [], []
    for path in sorted((policies / "golden").glob("*.json")):
        golden = read(path)
        if not isinstance(golden, Fault) and not _applies(golden, snapshot):
            skipped.append(path)
        elif fault := golden if isinstance(golden, Fault) else await _fault(policy, golden, path):
            wrong.append(fault)
        else:
            right += 1
    return Asked(right, tuple(skipped), tuple(wrong))


def read(path: Path) -> Golden | Fault:
    """The golden decision that a file holds, or what is wrong with it."""
    try:
        return _decode(path.read_bytes())
    except (msgspec.DecodeError, OSError, RecursionError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
        sentence = f"This is not a golden decision: {said}."
        return Fault(str(path), 0, "", sentence, "Compare it with the others.")


def _applies(golden: Golden, snapshot: Snapshot) -> bool:
    if golden.question.tenant not in (*snapshot.tenants, SYSTEM_TENANT):
        return False
    return not isinstance(golden, GoldenRoutes) or golden.question.bundle in snapshot.bundles


async def _fault(policy: Policy, golden: Golden, path: Path) -> Fault | None:
    try:
        answer = await _answer(policy, golden)
    except PolicyUnavailable as unavailable:
        sentence = f"Policy has no answer to this golden decision ({unavailable.reason})."
        return Fault(str(path), 0, "", sentence, "Mend the rules that answer it, and see that OPA keeps running.")
    found = differences(golden.answer, answer)
    return _otherwise(path, found) if found else None


def _otherwise(path: Path, found: list[Difference]) -> Fault:
    said = [f"{_pointer(place)} written {written}, now {now}" for place, written, now in found[:_MOST_TOLD]]
    return Fault(
        file=str(path),
        line=line_of(path.read_text(encoding="utf-8"), found[0].path),
        path=_pointer(found[0].path),
        sentence=f"Policy now decides this golden decision otherwise: {'; '.join(said)}.",
        remedy="Mend the rules or the registry, or change the file together with them.",
    )


def _pointer(path: tuple[str | int, ...]) -> str:
    return "".join(f"/{step}" for step in path)


async def _answer(policy: Policy, golden: Golden) -> Answer:
    match golden:
        case GoldenAccess(question=question):
            return (await policy.access(question)).answer
        case GoldenRoutes(question=question):
            return (await policy.routes(question)).answer
        case GoldenReplay(question=question):
            return (await policy.replay(question)).answer
        case GoldenVisible(question=question):
            return (await policy.visible(question)).answer
        case GoldenOperate(question=question):
            return (await policy.operate(question)).answer
