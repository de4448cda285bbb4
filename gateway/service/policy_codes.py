"""The checks that failed, as a caller may see them: codes and remedies, his own sources by index only."""

from gateway.domain.questions import (
    AccessAnswer,
    Failed,
    OperateAnswer,
    ReplayAnswer,
    RoutesAnswer,
    VisibleAnswer,
)
from gateway.domain.refusal import PolicyCode
from gateway.ports.policy import Policy


def request_codes(policy: Policy, failed: Failed) -> tuple[PolicyCode, ...]:
    """Codes of the checks on the request itself."""
    return _codes_of(policy, failed.request)


def access_codes(policy: Policy, failed: Failed) -> tuple[PolicyCode, ...]:
    """Codes of the request, then those of each of the caller's sources that may not be used.

    Policy gives a source that does not exist, one of another revision and one that may not be read the same
    code, so that nobody learns which sources exist.
    """
    sources = {
        PolicyCode(code=code.code, remedy=code.remedy, source=int(index)): None
        for index, checks in sorted(failed.source.items(), key=lambda item: int(item[0]))
        for code in (policy.explain("source", check) for check in sorted(checks))
    }
    return request_codes(policy, failed) + tuple(sources)


def route_codes(policy: Policy, answer: RoutesAnswer) -> tuple[PolicyCode, ...]:
    """Codes of the checks that any profile failed, without the profiles' names."""
    checks = sorted({check for failed in answer.failed.values() for check in failed})
    return tuple(policy.explain("route", check) for check in checks)


def denied_codes(
    policy: Policy, answer: AccessAnswer | RoutesAnswer | ReplayAnswer | VisibleAnswer | OperateAnswer
) -> tuple[str, ...]:
    """Each code for which policy said no, once; none where it said yes. Of routes only where none is left."""
    match answer:
        case RoutesAnswer(routes=routes):
            codes = () if routes else route_codes(policy, answer)
        case AccessAnswer(allow=allow, failed=failed) | ReplayAnswer(allow=allow, failed=failed):
            codes = () if allow is True else access_codes(policy, failed)
        case OperateAnswer(allow=allow, failed=checks):
            codes = () if allow is True else _codes_of(policy, checks)
        case VisibleAnswer(failed=checks):
            codes = _codes_of(policy, checks)
    return tuple(dict.fromkeys(code.code for code in codes))


def _codes_of(policy: Policy, checks: tuple[str, ...]) -> tuple[PolicyCode, ...]:
    return tuple(policy.explain("request", check) for check in sorted(checks))
