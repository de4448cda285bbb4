"""Is what the bundles hold what was approved, by the right people, for long enough?"""

from collections.abc import Iterator

from adapters.registry.coherence import repeated
from adapters.registry.document import Path
from adapters.registry.draft import Draft, Entry
from adapters.registry.people import mixes_scripts, person
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


def _people(bundle: Entry[Bundle]) -> Iterator[Fault]:
    names: list[tuple[Path, str]] = [(("author",), bundle.value.author)]
    names += [(("approvals", index, "by"), approval.by) for index, approval in enumerate(bundle.value.approvals)]
    for path, name in names:
        if mixes_scripts(name):
            sentence = "The name mixes letters of several scripts."
            yield bundle.fault(path, sentence, "Type it again in one script: a letter may only look like another.")
    author = person(bundle.value.author)
    seen: set[str] = set()
    for index, approval in enumerate(bundle.value.approvals):
        approver = person(approval.by)
        if approver == author:
            sentence = "The author approves their own bundle."
            yield bundle.fault(("approvals", index, "by"), sentence, "Let two other people approve it.")
        elif approver in seen:
            sentence = "One person approves twice."
            yield bundle.fault(("approvals", index, "by"), sentence, "Let a second person approve it.")
        seen.add(approver)


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
