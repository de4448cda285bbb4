"""Is what the bundles hold what was approved, by the right people, for long enough?"""

from collections.abc import Iterator

from adapters.registry.coherence import repeated
from adapters.registry.document import Path
from adapters.registry.draft import Draft, Entry
from adapters.registry.people import objection, spellings
from gateway.domain.bundle import Bundle, approved_digest
from gateway.domain.fault import Fault
from gateway.domain.profile import Approval
from gateway.domain.registry import digest_of


def approvals(draft: Draft) -> Iterator[Fault]:
    """Faults of the bundles' contents and approvals, whatever the time is."""
    for bundle in draft.bundles.values():
        yield from repeated(bundle, "profiles", [profile.id for profile in bundle.value.profiles])
        changed = list(_contents(draft, bundle))
        # The digest to approve depends on the profiles' digests, which come first.
        yield from changed or _outdated(bundle)
        yield from _people(bundle)
        for path, granted in covering(draft, bundle):
            if not granted:
                sentence = "The profile is not approved for the bundle's privacy class."
                remedy = "Approve the profile for that class or a stricter one, or lower the bundle's class."
                yield bundle.fault(path, sentence, remedy)


def _contents(draft: Draft, bundle: Entry[Bundle]) -> Iterator[Fault]:
    for index, member in enumerate(bundle.value.profiles):
        if (profile := draft.profiles.get(member.id)) is None:
            continue
        if (current := digest_of(profile.value)) != member.digest:
            sentence = "The profile has changed since approval."
            remedy = f"Approve it as it is now, in a new version of the bundle, with the digest {current}."
            yield bundle.fault(("profiles", index, "digest"), sentence, remedy)


def _outdated(bundle: Entry[Bundle]) -> Iterator[Fault]:
    current = approved_digest(bundle.value)
    for index, approval in enumerate(bundle.value.approvals):
        if approval.digest != current:
            sentence = "The bundle has changed since this approval."
            remedy = f"Let the person approve it as it is now, with the digest {current}."
            yield bundle.fault(("approvals", index, "digest"), sentence, remedy)


def _people(bundle: Entry[Bundle]) -> Iterator[Fault]:
    names: list[tuple[Path, str]] = [(("author",), bundle.value.author)]
    names += [(("approvals", index, "by"), approval.by) for index, approval in enumerate(bundle.value.approvals)]
    for path, name in names:
        if (found := objection(name)) is not None:
            yield bundle.fault(path, *found)
    author = spellings(bundle.value.author)
    seen: set[str] = set()
    for index, approval in enumerate(bundle.value.approvals):
        approver = spellings(approval.by)
        if approver & author:
            sentence = "The author approves their own bundle."
            yield bundle.fault(("approvals", index, "by"), sentence, "Let two other people approve it.")
        elif approver & seen:
            sentence = "One person approves twice."
            yield bundle.fault(("approvals", index, "by"), sentence, "Let a second person approve it.")
        seen |= approver


def covering(draft: Draft, bundle: Entry[Bundle]) -> Iterator[tuple[Path, list[Approval]]]:
    """For each profile of the bundle its approvals for the bundle's class or a stricter one."""
    if draft.privacy is None:
        return
    ranks = {asked.id: rank for rank, asked in enumerate(draft.privacy.value.classes)}
    if (needed := ranks.get(bundle.value.privacy_class)) is None:
        return
    for index, member in enumerate(bundle.value.profiles):
        if (profile := draft.profiles.get(member.id)) is not None:
            granted = profile.value.approvals
            yield ("profiles", index, "id"), [a for a in granted if ranks.get(a.privacy_class, -1) >= needed]
