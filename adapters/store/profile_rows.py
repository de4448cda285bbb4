"""A mark of a profile, as it is read from its row and written into it."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from gateway.domain.profile_state import Mark, Shortfall


def mark_from(row: Sequence[Any]) -> Mark:
    """A mark from a whole row of ``profile_mark``."""
    profile, kind, profile_digest, reason, who, since_us, dispatch_id, promised, reported = row
    return Mark(
        profile=profile,
        kind=kind,
        profile_digest=profile_digest,
        reason=reason,
        who=who,
        since_us=since_us,
        dispatch_id=dispatch_id,
        shortfall=None if promised is None else Shortfall(promised, reported),
    )


def row_of(mark: Mark) -> dict[str, Any]:
    """The columns of a mark."""
    shortfall = mark.shortfall
    columns = {name: value for name, value in asdict(mark).items() if name != "shortfall"}
    return columns | {
        "promised": None if shortfall is None else shortfall.promised,
        "reported": None if shortfall is None else shortfall.reported,
    }
