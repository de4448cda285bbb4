"""What is known today about a source that a request cites."""

from msgspec import Struct

from gateway.domain.request import SourceRef


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


class KnownSource(Struct, frozen=True):
    """A fact with the version of its row, which T1 compares again."""

    ref: SourceRef
    fact: SourceFact
    version: int
    """0 for a source without a row."""


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
    )
    return KnownSource(ref=ref, fact=fact, version=0)
