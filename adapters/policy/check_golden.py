"""Golden decisions: for each entrypoint one that allows and one that denies, or no start would show anything."""

from collections.abc import Iterator
from pathlib import Path

from adapters.policy.golden import Golden, GoldenRoutes, GoldenVisible, read
from adapters.policy.schemas import QUESTIONS
from gateway.domain.fault import Fault


def missing_golden_decisions(policies: Path) -> list[Fault]:
    """Entrypoints without an allowed or without a denied decision. Files that are none are told elsewhere."""
    folder = policies / "golden"
    found = [golden for path in sorted(folder.glob("*.json")) if not isinstance(golden := read(path), Fault)]
    said = {(str(golden.__struct_config__.tag), allowed) for golden in found for allowed in _said(golden)}
    return [
        Fault(
            file=str(folder),
            line=0,
            path="",
            sentence=f"No golden decision of {entrypoint} {'allows' if allowed else 'denies'}.",
            remedy="Write one: a question at a fixed time, and its answer.",
        )
        for entrypoint in QUESTIONS
        for allowed in (True, False)
        if (entrypoint, allowed) not in said
    ]


def _said(golden: Golden) -> Iterator[bool]:
    """Whether it allows, whether it denies. One of the routes may do both."""
    match golden:
        case GoldenRoutes(answer=answer):
            yield from ({True} if answer.routes else set()) | ({False} if any(answer.failed.values()) else set())
        case GoldenVisible(answer=answer):
            yield from ({True} if answer.aliases else set()) | ({False} if answer.failed else set())
        case _:
            yield golden.answer.allow
