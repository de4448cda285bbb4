"""The cost worksheet: what is read, and its figures in words. It gives no verdict: no sum can say what to buy."""

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from msgspec.structs import replace

from gateway.domain.worksheets import entered, measured
from gateway.domain.worksheets.cost.fields import COUNTED, FIELDS, HOURLY, OWN, PRICES
from gateway.domain.worksheets.cost.figures import CostPlan, figures
from gateway.domain.worksheets.cost.sums import Hosted, Outcomes, SelfHosted
from gateway.domain.worksheets.cost.words import assumed, left_out
from gateway.domain.worksheets.fields import Entries, Field
from gateway.domain.worksheets.sheet import Sheet

MOST_REPLICAS = 10**6
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)
_MEASURABLE = entered.measurable(FIELDS)


def sheet(texts: Mapping[str, str]) -> Sheet:
    """The worksheet of what was entered, defaults for the rest.

    :raises EntriesRefused: with every fault, each naming its field.
    """
    entries = Entries(FIELDS, texts)
    rests_on = measured.read_measured(entries, _MEASURABLE)
    plan = read(entries)
    entries.close()
    return Sheet(
        worksheet="cost",
        figures=figures(plan, rests_on),
        tables=(entered.table(entries, _shown(entries, plan), rests_on),),
        assumed=assumed(entries, plan),
        left_out=left_out(entries),
    )


def read(entries: Entries) -> CostPlan:
    """The plan. Faults are noted in ``entries``; with any of them it means nothing."""
    is_hosted, is_own = any(map(entries.has, PRICES)), any(map(entries.has, OWN))
    if not is_hosted and not is_own:
        entries.refuse("", "Nothing has a price.", "Enter input_price and output_price, or device_hour.")
    return CostPlan(
        currency=_currency(entries),
        hosted=_hosted(entries) if is_hosted else None,
        own=_own(entries) if is_own else None,
    )


def _shown(entries: Entries, plan: CostPlan) -> dict[str, Field]:
    """The numbers of the ways that have a price, with the currency in their units."""
    shown = {}
    for name, field in _MEASURABLE.items():
        if (plan.own if name in OWN else plan.hosted) is not None:
            per = f" per {entries.text('per_tokens')} tokens" if name in PRICES else ""
            shown[name] = replace(field, unit=field.unit.replace("currency", plan.currency) + per)
    return shown


def _currency(entries: Entries) -> str:
    text = entries.text("currency")
    if not text:
        entries.refuse("currency", "It is missing.", "Enter three capitals, such as EUR.")
    elif not _CURRENCY.fullmatch(text):
        entries.refuse("currency", "This is no currency of ISO 4217.", "Enter three capitals, such as EUR.")
    return text


def _hosted(entries: Entries) -> Hosted:
    unit = int(entries.choice("per_tokens"))
    prices = {name: Fraction(entries.decimal(_priced(entries, name))) / unit for name in PRICES}
    return Hosted(
        input_tokens=Fraction(entries.decimal("input_tokens")),
        cached_input_tokens=Fraction(entries.decimal("cached_input_tokens")),
        output_tokens=Fraction(entries.decimal("output_tokens")),
        reasoning_tokens=Fraction(entries.decimal("reasoning_tokens")),
        **prices,
        paid_per_success=_paid_per_success(entries),
    )


def _priced(entries: Entries, name: str) -> str:
    """The field whose price counts: cached input without one costs what input does, and reasoning what output does."""
    stands_for = {"cached_input_price": "input_price", "reasoning_price": "output_price"}
    return name if entries.has(name) else stands_for.get(name, name)


def _paid_per_success(entries: Entries) -> Fraction | None:
    counted = [name for name in COUNTED if entries.has(name)]
    if counted:
        for name in ("success_rate", "retries"):
            if entries.has(name):
                entries.refuse(name, "The counted attempts say this already.", "Leave it out, or leave out the counts.")
        counts = {name: Fraction(entries.count(name, least=0) if entries.has(name) else 0) for name in COUNTED}
        outcomes = Outcomes(**counts)
        return outcomes.paid / outcomes.completed if outcomes.completed else None
    succeed = _share(entries, "success_rate") if entries.has("success_rate") else Fraction(1)
    return (1 + Fraction(entries.decimal("retries"))) / succeed if succeed else None


def _own(entries: Entries) -> SelfHosted:
    return SelfHosted(
        replicas=entries.count("replicas", most=MOST_REPLICAS),
        headroom_replicas=_or_none_entered(entries, "headroom_replicas"),
        devices_per_replica=entries.count("devices_per_replica", most=MOST_REPLICAS),
        device_hour=Fraction(entries.decimal("device_hour")),
        other_hour=sum((_amount(entries, name) for name in HOURLY), Fraction(0)),
        requests_per_s=Fraction(entries.decimal("requests_per_s")) if entries.has("requests_per_s") else None,
        utilisation=_share(entries, "utilisation") if entries.has("utilisation") else None,
        variable_per_request=_amount(entries, "variable_per_request"),
        success_rate=_share(entries, "self_hosted_success_rate")
        if entries.has("self_hosted_success_rate")
        else Fraction(1),
    )


def _or_none_entered(entries: Entries, name: str) -> int:
    return entries.count(name, least=0, most=MOST_REPLICAS) if entries.has(name) else 0


def _amount(entries: Entries, name: str) -> Fraction:
    return Fraction(entries.decimal(name)) if entries.has(name) else Fraction(0)


def _share(entries: Entries, name: str) -> Fraction:
    return Fraction(entries.decimal(name, most=Decimal(1)))
