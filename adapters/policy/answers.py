"""Is a well-formed answer one that sound rules can give? If not, it counts as none, whatever it allows.

Nothing is decided here: an answer that contradicts itself is refused, and none is ever improved.
"""

from collections.abc import Container, Iterable

from adapters.policy.metadata import Check
from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    Failed,
    ReplayAnswer,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
)

Question = AccessQuestion | RoutesQuestion | ReplayQuestion
Answer = AccessAnswer | RoutesAnswer | ReplayAnswer


def coherent(question: Question, answer: Answer, known: Container[Check]) -> bool:
    """Allowed and nothing failed, or denied with a check that has a code; every cited source accounted for."""
    match answer:
        case RoutesAnswer(routes=routes, failed=failed):
            passed = [profile for profile, names in failed.items() if not names]
            return sorted(routes) == sorted(passed) and _all_known("route", failed.values(), known)
        case AccessAnswer(allow=allow, privacy_class=privacy_class, failed=failed):
            return allow == bool(privacy_class) and _fits(question, allow, failed, known)
        case ReplayAnswer(allow=allow, failed=failed):
            return _fits(question, allow, failed, known)


def _fits(question: Question, allow: bool, failed: Failed, known: Container[Check]) -> bool:
    if isinstance(question, RoutesQuestion):
        return False
    return (
        allow == (not failed.request and not any(failed.source.values()))
        and failed.source.keys() == {str(index) for index in range(len(question.sources))}
        and _all_known("request", [failed.request], known)
        and _all_known("source", failed.source.values(), known)
    )


def _all_known(level: str, failed: Iterable[tuple[str, ...]], known: Container[Check]) -> bool:
    return all(Check(level, name) in known for names in failed for name in names)
