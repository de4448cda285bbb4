"""Keys that were found, kept until a change of keys is committed."""

from gateway.ports.reads import Key

MOST_KEPT = 4_096


class Remembered:
    """The keys of one generation, which ends with the next change of keys.

    Whoever reads takes a generation *before* it reads, looks into it, and puts what it has read into the same one.
    The writer's thread begins the next generation after COMMIT and before anybody is told of it. So a read that
    began before that COMMIT, however late it ends, puts what it has found into a generation that nobody looks into
    any more, and whoever was told of a change, or asks after that, takes a generation that began after its COMMIT.

    That needs no lock. Taking and replacing ``now`` is one assignment each, and a generation is changed by single
    calls of a dict, which are atomic. It does not matter which of two readers puts a key: in one generation both
    have read the same, or the generation is about to end.
    """

    def __init__(self) -> None:
        self.now: dict[bytes, Key] = {}

    def forget(self) -> None:
        """Begin the next generation. Called from the writer's thread."""
        self.now = {}


def keep(generation: dict[bytes, Key], credential_hash: bytes, key: Key) -> None:
    """Put what was read, which is a key: what is unknown is not kept, or anybody could fill it."""
    if len(generation) >= MOST_KEPT:
        generation.clear()
    generation[credential_hash] = key
