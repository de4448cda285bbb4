"""A mark of a profile, as it is read from its row."""

from collections.abc import Sequence
from typing import Any

from gateway.domain.profile_state import Mark


def mark_from(row: Sequence[Any]) -> Mark:
    """A mark from a whole row of ``profile_mark``."""
    profile, kind, profile_digest, reason, who, since_us, dispatch_id = row
    return Mark(
        profile=profile,
        kind=kind,
        profile_digest=profile_digest,
        reason=reason,
        who=who,
        since_us=since_us,
        dispatch_id=dispatch_id,
    )
