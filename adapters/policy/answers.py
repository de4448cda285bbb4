"""Is a well-formed answer one that sound rules can give? If not, it counts as none, whatever it allows.

Nothing is decided here: an answer that contradicts itself is refused, and none is ever improved.
"""

from collections.abc import Container, Iterator, Mapping

from adapters.policy.metadata import Check, Documented
from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    Failed,
    FailedCheck,
    OperateAnswer,
    OperateQuestion,
    ReplayAnswer,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
    VisibleAnswer,
    VisibleQuestion,
)

Question = AccessQuestion | RoutesQuestion | ReplayQuestion | VisibleQuestion | OperateQuestion
Answer = AccessAnswer | RoutesAnswer | ReplayAnswer | VisibleAnswer | OperateAnswer


def coherent(question: Question, answer: Answer, known: Container[Check], classes: Container[str]) -> bool:
    """Allowed and nothing failed, or denied with a check that has a code; every cited source accounted for.

    :param known: checks that an answer may name.
    :param classes: privacy classes of the registry, one of which an admitted request needs.
    """
    if any(check not in known for check, _ in _failures(answer)):
        return False
    match answer:
        case RoutesAnswer(routes=routes, failed=failed):
            return sorted(routes) == sorted(profile for profile, names in failed.items() if not names)
        case AccessAnswer(allow=allow, privacy_class=privacy_class, failed=failed):
            is_class = privacy_class in classes if allow else privacy_class == ""
            return is_class and _fits(question, allow, failed)
        case ReplayAnswer(allow=allow, failed=failed):
            return _fits(question, allow, failed)
        case VisibleAnswer(aliases=aliases, failed=names):
            return list(aliases) == sorted(set(aliases)) and not (aliases and names)
        case OperateAnswer(allow=allow, failed=names):
            return allow == (not names)


def explained(answer: Answer, known: Mapping[Check, Documented]) -> tuple[FailedCheck, ...]:
    """What failed, with code and place. The answer has to be coherent."""
    return tuple(
        FailedCheck(check=str(check), about=about, code=known[check].code.code, place=known[check].place)
        for check, about in _failures(answer)
    )


def _failures(answer: Answer) -> Iterator[tuple[Check, str]]:
    """Each check that did not pass, with the index of the source or the profile that it is about."""
    match answer:
        case RoutesAnswer(failed=failed):
            yield from ((Check("route", name), profile) for profile, names in failed.items() for name in names)
        case AccessAnswer(failed=failed) | ReplayAnswer(failed=failed):
            yield from ((Check("request", name), "") for name in failed.request)
            yield from ((Check("source", name), index) for index, names in failed.source.items() for name in names)
        case VisibleAnswer(failed=names) | OperateAnswer(failed=names):
            yield from ((Check("request", name), "") for name in names)


def _fits(question: Question, allow: bool, failed: Failed) -> bool:
    return (
        isinstance(question, AccessQuestion | ReplayQuestion)
        and allow == (not failed.request and not any(failed.source.values()))
        and failed.source.keys() == {str(index) for index in range(len(question.sources))}
    )
