"""Error answers whose meaning is known: the profile's own lists first, then those of its adapter's family."""

from collections.abc import Iterable, Mapping
from typing import Literal

from gateway.domain.profile import Adapter, ErrorRule, Errors, Profile

_UNLISTED = (
    ErrorRule(status=401, source="HTTP: the credential was refused"),
    ErrorRule(status=404, source="HTTP: no such model or path"),
    ErrorRule(status=429, busy=True, source="HTTP: too many requests"),
)
_SELF_HOSTED = Errors(
    not_executed=(
        ErrorRule(status=400, source="llama.cpp and vLLM check a request before they queue it (engine contract E2)"),
        *_UNLISTED,
    )
)
FAMILY: Mapping[Adapter, Errors] = {"llama_cpp": _SELF_HOSTED, "vllm": _SELF_HOSTED}
_OTHERS = Errors(not_executed=_UNLISTED)


def listed(
    profile: Profile, status: int, codes: frozenset[str]
) -> tuple[Literal["not_executed", "charged"], ErrorRule] | None:
    """The rule for a complete error, or None: then it is not known whether anything was executed.

    Within a list of lists the rules that name a code come before those for any code, so that a profile can
    list 400 as "not executed" and one code of it as "charged".
    """
    for errors in (profile.errors, FAMILY.get(profile.adapter, _OTHERS)):
        for any_code in (False, True):
            if rule := _first(errors.not_executed, status, codes, any_code=any_code):
                return "not_executed", rule
            if rule := _first(errors.charged, status, codes, any_code=any_code):
                return "charged", rule
    return None


def _first(rules: Iterable[ErrorRule], status: int, codes: frozenset[str], *, any_code: bool) -> ErrorRule | None:
    for rule in rules:
        if rule.status == status and (rule.code is None if any_code else rule.code in codes):
            return rule
    return None
