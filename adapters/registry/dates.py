"""What time does to a registry: days that have not come, and what has run out.

Days are days in UTC, and what counts for so many days counts from the beginning of its day, as in policy.
"""

import datetime as dt
from collections.abc import Iterator

from adapters.registry.approvals import covering
from adapters.registry.document import Path
from adapters.registry.draft import Draft, Entry
from gateway.domain.bundle import Bundle
from gateway.domain.capacity import MeasuredCapacity
from gateway.domain.fault import Fault

LONGEST_PRICES_DAYS = 400
"""Prices that nobody has compared for longer are told."""
_DAY_US = 86_400 * 1_000_000


def not_yet(draft: Draft, at_us: int) -> Iterator[Fault]:
    """Faults of what bundles and profiles say has happened, and cannot have at that time or in that order."""
    for bundle in draft.bundles.values():
        evaluated = bundle.value.evaluation.date
        days: list[tuple[Path, str]] = [(("evaluation", "date"), evaluated)]
        days += [(("approvals", i, "date"), approval.date) for i, approval in enumerate(bundle.value.approvals)]
        for path, day in days:
            if _is_to_come(day, at_us):
                yield bundle.fault(path, "This day has not come yet.", "Write the day on which it happened, in UTC.")
            elif day < evaluated and not _is_to_come(evaluated, at_us):
                sentence = "The approval is older than the evaluation."
                yield bundle.fault(path, sentence, "Approve what was evaluated, after its evaluation.")
    for profile in draft.profiles.values():
        engine = profile.value.engine
        measured = engine.capacity if engine else None
        if isinstance(measured, MeasuredCapacity) and _is_to_come(measured.date, at_us):
            remedy = "Write the day on which it was measured, in UTC."
            yield profile.fault(("engine", "capacity", "date"), "This day has not come yet.", remedy)


def expiries(draft: Draft, at_us: int) -> Iterator[Fault]:
    """What of the released bundles has run out at a time. A bundle without a pointer serves nobody."""
    released = set(draft.releases.value.releases.values()) if draft.releases else set()
    bundles = [bundle for id, bundle in draft.bundles.items() if id in released]
    for bundle in bundles:
        if instant_us(bundle.value.expires) <= at_us:
            sentence = "The released bundle has expired."
            yield bundle.fault(("expires",), sentence, "Evaluate and approve it again, as a new version.")
        yield from _evaluation(draft, bundle, at_us)
        for path, approvals in covering(draft, bundle):
            if approvals and all(instant_us(approval.until) <= at_us for approval in approvals):
                sentence = "The profile's approval for the bundle's privacy class has expired."
                yield bundle.fault(path, sentence, "Renew the approval in the profile, and approve a new bundle.")
    yield from _prices(draft, {member.id for bundle in bundles for member in bundle.value.profiles}, at_us)


def instant_us(text: str) -> int:
    """An instant, or the begin of a day in UTC, in microseconds since 1970."""
    moment = dt.datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()) * 1_000_000


def _evaluation(draft: Draft, bundle: Entry[Bundle], at_us: int) -> Iterator[Fault]:
    listed = draft.privacy.value.classes if draft.privacy else ()
    for asked in listed:
        longest_us = asked.longest_evaluation_days * _DAY_US
        if asked.id == bundle.value.privacy_class and at_us - instant_us(bundle.value.evaluation.date) >= longest_us:
            sentence = "The evaluation is older than longest_evaluation_days of the bundle's class."
            yield bundle.fault(("evaluation", "date"), sentence, "Evaluate and approve it again, as a new version.")


def _prices(draft: Draft, serving: set[str], at_us: int) -> Iterator[Fault]:
    for profile in (draft.profiles[id] for id in sorted(serving & draft.profiles.keys())):
        checked = profile.value.prices.checked
        path = ("prices", "checked")
        if _is_to_come(checked, at_us):
            remedy = "Write the day on which the prices were compared, in UTC."
            yield profile.fault(path, "This day has not come yet.", remedy)
        elif at_us - instant_us(checked) >= LONGEST_PRICES_DAYS * _DAY_US:
            sentence = f"Nobody has compared these prices for {LONGEST_PRICES_DAYS} days."
            remedy = "Compare them with the provider's price list, and approve the profile with the new day."
            yield profile.fault(path, sentence, remedy)


def _is_to_come(day: str, at_us: int) -> bool:
    return instant_us(day) > at_us
