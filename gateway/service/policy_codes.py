"""The checks that failed, as a caller may see them: codes and remedies, his own sources by index only."""

from gateway.domain.questions import Failed, RoutesAnswer
from gateway.domain.refusal import PolicyCode
from gateway.ports.policy import Policy

MISSING_SOURCE_CODE = "source_forbidden"
"""One code for every way in which a source may not be read, so that nobody learns which sources exist."""


def request_codes(policy: Policy, failed: Failed) -> tuple[PolicyCode, ...]:
    """Codes of the checks on the request itself."""
    return tuple(policy.explain("request", check) for check in sorted(failed.request))


def access_codes(policy: Policy, failed: Failed) -> tuple[PolicyCode, ...]:
    """Codes of the request, then one for each of the caller's sources that may not be used."""
    sources = tuple(
        PolicyCode(
            code=MISSING_SOURCE_CODE,
            remedy="Drop the source, or ask its owner for access.",
            source=int(index),
        )
        for index, checks in sorted(failed.source.items(), key=lambda item: int(item[0]))
        if checks
    )
    return request_codes(policy, failed) + sources


def route_codes(policy: Policy, answer: RoutesAnswer) -> tuple[PolicyCode, ...]:
    """Codes of the checks that any profile failed, without the profiles' names."""
    checks = sorted({check for failed in answer.failed.values() for check in failed})
    return tuple(policy.explain("route", check) for check in checks)
