"""Is what the bundles hold what was approved, by the right people, for long enough?"""

import datetime as dt
import unicodedata
from collections.abc import Iterator

from adapters.registry.coherence import repeated
from adapters.registry.document import Path
from adapters.registry.draft import Draft, Entry
from gateway.domain.bundle import Bundle
from gateway.domain.fault import Fault
from gateway.domain.profile import Approval
from gateway.domain.registry import digest_of


def approvals(draft: Draft) -> Iterator[Fault]:
    """Faults of the bundles' contents and approvals, whatever the time is."""
    for bundle in draft.bundles.values():
        yield from repeated(bundle, "profiles", [profile.id for profile in bundle.value.profiles])
        yield from _contents(draft, bundle)
        yield from _people(bundle)
        for path, covering in _covering(draft, bundle):
            if not covering:
                sentence = "The profile is not approved for the bundle's privacy class."
                remedy = "Approve the profile for that class or a stricter one, or lower the bundle's class."
                yield bundle.fault(path, sentence, remedy)


def expiries(draft: Draft, at_us: int) -> Iterator[Fault]:
    """What of the released bundles has run out at a time. A bundle without a pointer serves nobody."""
    released = set(draft.releases.value.releases.values()) if draft.releases else set()
    for id, bundle in draft.bundles.items():
        if id not in released:
            continue
        if _instant_us(bundle.value.expires) <= at_us:
            sentence = "The released bundle has expired."
            yield bundle.fault(("expires",), sentence, "Evaluate and approve it again, as a new version.")
        for path, covering in _covering(draft, bundle):
            if covering and all(_instant_us(approval.until) <= at_us for approval in covering):
                sentence = "The profile's approval for the bundle's privacy class has expired."
                yield bundle.fault(path, sentence, "Renew the approval in the profile, and approve a new bundle.")


def _contents(draft: Draft, bundle: Entry[Bundle]) -> Iterator[Fault]:
    for index, member in enumerate(bundle.value.profiles):
        if (profile := draft.profiles.get(member.id)) is None:
            continue
        if (current := digest_of(profile.value)) != member.digest:
            sentence = "The profile has changed since approval."
            remedy = f"Approve it as it is now, in a new version of the bundle, with the digest {current}."
            yield bundle.fault(("profiles", index, "digest"), sentence, remedy)


def _people(bundle: Entry[Bundle]) -> Iterator[Fault]:
    author = _person(bundle.value.author)
    seen: set[str] = set()
    for index, approval in enumerate(bundle.value.approvals):
        person = _person(approval.by)
        if person == author:
            sentence = "The author approves their own bundle."
            yield bundle.fault(("approvals", index, "by"), sentence, "Let two other people approve it.")
        elif person in seen:
            sentence = "One person approves twice."
            yield bundle.fault(("approvals", index, "by"), sentence, "Let a second person approve it.")
        seen.add(person)


def _covering(draft: Draft, bundle: Entry[Bundle]) -> Iterator[tuple[Path, list[Approval]]]:
    """For each profile of the bundle its approvals for the bundle's class or a stricter one."""
    if draft.privacy is None:
        return
    ranks = {name: rank for rank, name in enumerate(draft.privacy.value.classes)}
    if (needed := ranks.get(bundle.value.privacy_class)) is None:
        return
    for index, member in enumerate(bundle.value.profiles):
        if (profile := draft.profiles.get(member.id)) is not None:
            granted = profile.value.approvals
            yield ("profiles", index, "id"), [a for a in granted if ranks.get(a.privacy_class, -1) >= needed]


def _person(name: str) -> str:
    """Two spellings of one name are one person."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def _instant_us(text: str) -> int:
    return int(dt.datetime.fromisoformat(text).timestamp()) * 1_000_000
