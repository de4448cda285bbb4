"""The figures of the cost worksheet."""

from fractions import Fraction

from msgspec import Struct

from gateway.domain.worksheets import decimals
from gateway.domain.worksheets.cost import break_even
from gateway.domain.worksheets.cost.sums import SECONDS_PER_HOUR, Hosted, SelfHosted
from gateway.domain.worksheets.measured import Measured
from gateway.domain.worksheets.sheet import Figure

_PLACES = 2
"""Of an amount, at least."""
_NO_HOSTED = "not known: no price of a hosted request was entered"
_NO_OWN = "not known: no price of a device was entered"


class CostPlan(Struct, frozen=True, kw_only=True):
    """What is entered. At least one of the two ways has a price."""

    currency: str
    hosted: Hosted | None
    own: SelfHosted | None


def figures(plan: CostPlan, rests_on: Measured) -> dict[str, Figure]:
    """All of them, always under the same ids; one that is not defined says why."""
    return {**_hosted(plan), **_own(plan, rests_on), **_break_even(plan)}


def _hosted(plan: CostPlan) -> dict[str, Figure]:
    hosted = plan.hosted
    per_success, none = (hosted.per_success, "undefined: nothing succeeded") if hosted else (None, _NO_HOSTED)
    paid = hosted.paid_per_success if hosted else None
    return {
        "hosted_per_request": _amount(
            plan,
            "Hosted, per request",
            hosted.per_request if hosted else None,
            _NO_HOSTED,
            _hosted_arithmetic(hosted) if hosted else "",
        ),
        "hosted_per_success": _amount(
            plan,
            "Hosted, per successful request",
            per_success,
            none,
            f"per request x {decimals.significant(paid, 6)} paid requests for each success" if paid else "",
        ),
    }


def _hosted_arithmetic(hosted: Hosted) -> str:
    parts = (
        (hosted.input_tokens, hosted.input_price),
        (hosted.cached_input_tokens, hosted.cached_input_price),
        (hosted.output_tokens, hosted.output_price),
        (hosted.reasoning_tokens, hosted.reasoning_price),
    )
    return " + ".join(f"{decimals.text(tokens)} x {decimals.text(price)}" for tokens, price in parts if tokens)


def _own(plan: CostPlan, rests_on: Measured) -> dict[str, Figure]:
    own = plan.own
    basis, measurement = rests_on.basis("variable_per_request")
    served = own.served_per_hour if own else None
    return {
        "self_hosted_per_hour": _amount(
            plan,
            "Self-hosted, per hour",
            own.per_hour if own else None,
            _NO_OWN,
            f"({own.replicas} + {own.headroom_replicas}) x {own.devices_per_replica} x {decimals.text(own.device_hour)}"
            f" + {decimals.text(own.other_hour)}"
            if own
            else "",
            per="/h",
        ),
        "served_per_hour": Figure(
            label="Served per hour",
            value=None if served is None else decimals.text(served),
            unit="requests/h",
            shown=_why_undefined(own) if served is None else f"{decimals.significant(served)} requests/h",
            basis="arithmetic",
            how="" if served is None else _served_arithmetic(own),
        ),
        "variable_per_request": Figure(
            label="Self-hosted, variable per request",
            value=decimals.text(own.variable_per_request) if own else None,
            unit=plan.currency,
            shown=_shown(own.variable_per_request, plan.currency) if own else _NO_OWN,
            basis=basis,
            measured=measurement,
        ),
        "self_hosted_per_request": _amount(
            plan,
            "Self-hosted, per request",
            own.per_request if own else None,
            _why_undefined(own),
            f"per hour / ({_served_arithmetic(own)}) + variable" if own and own.per_request is not None else "",
        ),
        "self_hosted_per_success": _amount(
            plan,
            "Self-hosted, per successful approved request",
            own.per_success if own else None,
            "undefined: nothing succeeded" if own and own.per_request is not None else _why_undefined(own),
            f"per request / {decimals.text(own.success_rate)}" if own and own.per_success is not None else "",
        ),
    }


def _served_arithmetic(own: SelfHosted | None) -> str:
    if own is None or own.requests_per_s is None or own.utilisation is None:
        return ""
    rate, share = decimals.text(own.requests_per_s), decimals.text(own.utilisation)
    return f"{SECONDS_PER_HOUR} x {own.replicas} x {rate} x {share}"


def _why_undefined(own: SelfHosted | None) -> str:
    """Why nothing is known of one request of one's own."""
    if own is None:
        return _NO_OWN
    if own.requests_per_s is None:
        return "not known: requests per second of a busy replica were not entered"
    if own.utilisation is None:
        return "not known: utilisation was not entered"
    if not own.utilisation:
        return "undefined: utilisation is zero"
    return "undefined: requests per second are zero"


def _break_even(plan: CostPlan) -> dict[str, Figure]:
    hosted, own = plan.hosted, plan.own
    none = _NO_HOSTED if hosted is None else _NO_OWN
    rate = share = None
    rate_how = share_how = ""
    if hosted and own:
        rate, share = break_even.rate(hosted, own), break_even.utilisation(hosted, own)
        none = "none: a hosted request costs no more than the variable part of a self-hosted one"
        rate_how = "self-hosted per hour / (hosted per request - variable)" if rate is not None else ""
        if own.requests_per_s is not None:
            per_second = decimals.text(own.requests_per_s)
            share_how = f"break-even rate / ({SECONDS_PER_HOUR} x {own.replicas} x {per_second})"
    return {
        "break_even_rate": Figure(
            label="Break-even rate",
            value=None if rate is None else decimals.text(rate),
            unit="requests/h",
            shown=none if rate is None else f"{decimals.significant(rate)} requests/h",
            basis="arithmetic",
            how=rate_how,
        ),
        "break_even_utilisation": Figure(
            label="Break-even utilisation",
            value=None if share is None else decimals.text(share),
            unit="",
            shown=(none if rate is None else _why_undefined(own)) if share is None else _share(share),
            basis="arithmetic",
            how=share_how if share is not None else "",
        ),
    }


def _share(share: Fraction) -> str:
    shown = f"{decimals.significant(100 * share)} %"
    return f"{shown}, above 100 %: these replicas cannot serve so many" if share > 1 else shown


def _amount(plan: CostPlan, label: str, value: Fraction | None, none: str, how: str, *, per: str = "") -> Figure:
    unit = plan.currency + per
    return Figure(
        label=label,
        value=None if value is None else decimals.text(value),
        unit=unit,
        shown=none if value is None else _shown(value, unit),
        basis="arithmetic",
        how=how,
    )


def _shown(value: Fraction, unit: str) -> str:
    return f"{decimals.significant(value, least_places=_PLACES)} {unit}"
