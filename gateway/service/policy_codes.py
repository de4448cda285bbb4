"""The checks that failed, as a caller may see them: codes and remedies, his own sources by index only."""

from gateway.domain.questions import Failed, RoutesAnswer
from gateway.domain.refusal import PolicyCode
from gateway.ports.policy import Policy


def request_codes(policy: Policy, failed: Failed) -> tuple[PolicyCode, ...]:
    """Codes of the checks on the request itself."""
    return tuple(policy.explain("request", check) for check in sorted(failed.request))


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
