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
_VLLM = Errors(
    not_executed=(
        # Its two queue limits, and nothing else of it, answer so; other 503s, and a 500, may come after work.
        ErrorRule(
            status=503,
            code="Service Unavailable",
            busy=True,
            source="vLLM 0.32, check_admission: refused before it is queued (engine contract E2)",
        ),
        *_SELF_HOSTED.not_executed,
    )
)
_OPENAI = Errors(
    not_executed=(
        ErrorRule(status=400, source="OpenAI, error codes: the request was malformed or missing parameters"),
        ErrorRule(status=403, source="OpenAI, error codes: country, region or project not supported"),
        ErrorRule(status=413, source="HTTP: the body was larger than is read"),
        ErrorRule(status=422, source="OpenAI, error codes: the request could not be processed as it is"),
        # Nothing that waiting mends: somebody has to pay.
        ErrorRule(
            status=429, code="insufficient_quota", source="OpenAI, error codes: credits or monthly spend used up"
        ),
        *_UNLISTED,
    )
)
# A complete 400 of these two is an end: no answer will come, and no work goes on. Whether any was done it does not
# tell, so it costs the whole reservation. It must not be unknown: whoever asks can bring one about, and would take a
# slot from everybody until an operator looks at it.
_AZURE = Errors(
    # 408 may be charged or not: unlisted, so unknown.
    not_executed=_UNLISTED,
    charged=(
        ErrorRule(
            status=400,
            code="content_filter",
            source="Azure OpenAI, content filtering: a filtered prompt is charged, and so may a completion be",
        ),
        ErrorRule(
            status=400,
            code="context_length_exceeded",
            source="Azure OpenAI, manage costs: a 400 due to an input limit may be charged",
        ),
        ErrorRule(status=400, source="Azure OpenAI, manage costs: a 400 may be charged; its codes do not tell which"),
    ),
)
_ANTHROPIC = Errors(
    # Nor is 529 among them, of which its documentation says no more than that the API is overloaded.
    not_executed=(
        ErrorRule(status=403, code="permission_error", source="Anthropic, errors: the key may not use this"),
        ErrorRule(status=413, source="Anthropic, errors: returned before the request reaches the API's servers"),
        *_UNLISTED,
    ),
    charged=(
        ErrorRule(
            status=400,
            code="invalid_request_error",
            source="Anthropic, errors: the request was refused, or after work its answer (content filtering policy)",
        ),
    ),
)
FAMILY: Mapping[Adapter, Errors] = {
    "llama_cpp": _SELF_HOSTED,
    "vllm": _VLLM,
    "openai": _OPENAI,
    "azure": _AZURE,
    "anthropic": _ANTHROPIC,
}


def listed(
    profile: Profile, status: int, codes: frozenset[str]
) -> tuple[Literal["not_executed", "charged"], ErrorRule] | None:
    """The rule for a complete error, or None: then it is not known whether anything was executed.

    Within a list of lists the rules that name a code come before those for any code, so that a profile can
    list 400 as "not executed" and one code of it as "charged".
    """
    for errors in (profile.errors, FAMILY[profile.adapter]):
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
