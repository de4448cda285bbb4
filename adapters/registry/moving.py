"""Is a name one that its owner points to something else now and then, such as ``latest``?"""

import re

_MOVING = frozenset({"current", "develop", "head", "latest", "main", "master", "nightly", "tip", "trunk"})
"""Moving as any part of a name."""
_OFTEN = frozenset({"canary", "default", "dev", "edge", "preview", "stable"})
"""Models are called so too (FLUX.1-dev, canary-1b, stable-code-3b): moving where nothing else is said."""
_SAYS_NOTHING = frozenset({"branch", "build", "channel", "image", "release", "version"})
_MOVING_AT_THE_END = _OFTEN - {"dev"}
_DATED = re.compile(r"[0-9]{4}|-[0-9]{2}-[0-9]{2}")
"""``gpt-4-0125-preview`` does not move."""


def is_moving(name: str) -> bool:
    """Whether a model's or a revision's name can come to mean something else."""
    segments = [re.split(r"[-_.+]", segment) for segment in re.split(r"[/:@]", name.casefold())]
    if any(not _MOVING.isdisjoint(parts) for parts in segments):
        return True
    last = segments[-1]
    said = set(last) - _SAYS_NOTHING
    return said <= _OFTEN or (last[-1] in _MOVING_AT_THE_END and not _DATED.search(name))
