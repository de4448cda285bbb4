"""What is known today about a source that a request cites, and how the directory of sources is changed."""

from msgspec import Struct
from msgspec.structs import replace

from gateway.domain.request import SourceRef

MOST_GROUPS = 256
"""Groups that one source is open to at most, all grants together: every decision about it carries them all."""


class SourceFact(Struct, frozen=True, kw_only=True):
    """A row of the directory of sources, beside the revision that the request cited.

    A source without a row is a fact with ``known`` false, which policy forbids.
    """

    known: bool
    cited: str
    """The revision that the request names."""
    revision: str
    """The revision that is in force."""
    tenant: str
    groups: tuple[str, ...]
    privacy_class: str
    released_s: int
    """End of the embargo, seconds UTC."""
    withdrawn: bool
    as_of_s: int
    """When somebody last confirmed all of this, seconds UTC. Facts that are too old count for nothing."""


class KnownSource(Struct, frozen=True):
    """A fact with the version of its row, which T1 compares again."""

    ref: SourceRef
    fact: SourceFact
    version: int
    """0 for a source without a row."""


class Source(Struct, frozen=True, kw_only=True):
    """A row of the directory, as administrators see it."""

    id: str
    tenant: str
    groups: tuple[str, ...]
    """In alphabetical order."""
    privacy_class: str
    revision: str
    released_s: int
    withdrawn: bool
    as_of_s: int
    version: int


class GrantSource(Struct, frozen=True, kw_only=True):
    """Register a source, or confirm it and open it to more groups. Groups add up; all the rest becomes this."""

    id: str
    tenant: str
    groups: tuple[str, ...]
    privacy_class: str
    revision: str
    released_s: int
    as_of_s: int


class RevokeSource(Struct, frozen=True, kw_only=True):
    """Close a source to groups. ``as_of_s`` stays: nothing else about it was confirmed."""

    id: str
    groups: tuple[str, ...]
    """Empty: all of them."""


class WithdrawSource(Struct, frozen=True, kw_only=True):
    """Take a revision back for good, for everybody. Only a grant of another revision makes the source current again."""

    id: str


SourceAct = GrantSource | RevokeSource | WithdrawSource


class NoSuchSource(Struct, frozen=True):
    """The directory has no source of this id."""


class OtherTenantsSource(Struct, frozen=True):
    """A grant names another tenant than the one that the source belongs to."""


class WithdrawnRevision(Struct, frozen=True):
    """A grant names a revision that was withdrawn at any time."""


class TooManyGroups(Struct, frozen=True):
    """With this grant the source would be open to more than ``MOST_GROUPS`` groups."""


SourceActResult = Source | NoSuchSource | OtherTenantsSource | WithdrawnRevision | TooManyGroups


def changed(row: Source | None, act: SourceAct, *, is_taken_back: bool) -> SourceActResult:
    """The row after an act, one version on, or why the directory refuses the act.

    What is withdrawn stays as it is when it is withdrawn again: the same row, at the same version.

    :param is_taken_back: whether the revision that a grant names was ever withdrawn.
    """
    if isinstance(act, GrantSource):
        return _granted(row, act, is_taken_back=is_taken_back)
    if row is None:
        return NoSuchSource()
    if isinstance(act, RevokeSource):
        left = tuple(group for group in row.groups if act.groups and group not in act.groups)
        return replace(row, groups=left, version=row.version + 1)
    return row if row.withdrawn else replace(row, withdrawn=True, version=row.version + 1)


def _granted(row: Source | None, act: GrantSource, *, is_taken_back: bool) -> SourceActResult:
    if row is not None and row.tenant != act.tenant:
        return OtherTenantsSource()
    if is_taken_back:
        return WithdrawnRevision()
    groups = {*act.groups, *(row.groups if row else ())}
    if len(groups) > MOST_GROUPS:
        return TooManyGroups()
    return Source(
        id=act.id,
        tenant=act.tenant,
        groups=tuple(sorted(groups)),
        privacy_class=act.privacy_class,
        revision=act.revision,
        released_s=act.released_s,
        withdrawn=False,
        as_of_s=act.as_of_s,
        version=row.version + 1 if row else 1,
    )


def unknown_source(ref: SourceRef) -> KnownSource:
    """The fact for a source that the directory does not hold."""
    fact = SourceFact(
        known=False,
        cited=ref.revision,
        revision="",
        tenant="",
        groups=(),
        privacy_class="",
        released_s=0,
        withdrawn=True,
        as_of_s=0,
    )
    return KnownSource(ref=ref, fact=fact, version=0)
