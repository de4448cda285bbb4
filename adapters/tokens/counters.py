"""Counting a request's input with the counter that its profile names. Always local (promise G2)."""

from gateway.domain.message import ImagePart, Message, parts_of, role_of
from gateway.domain.profile import Profile
from gateway.domain.request import Request

PART_SEPARATOR = 1
"""Engines join the text parts of a message, llama.cpp with a line break."""


class LocalCounter:
    """Implements Counter. ``bytes`` is an upper bound: a byte-level token stands for at least one byte."""

    async def count(self, profile: Profile, request: Request) -> int | None:
        """See Counter.count. None also for a counter that this process does not have."""
        counter = profile.counter
        if counter.method != "bytes":
            return None
        try:
            size = sum(_bytes(message) for message in request.messages)
        except UnicodeEncodeError:  # a lone surrogate has no UTF-8
            return None
        return size + counter.per_message * len(request.messages) + counter.per_request


def _bytes(message: Message) -> int:
    texts = tuple(part.text for part in parts_of(message) if not isinstance(part, ImagePart))
    return len(role_of(message)) + sum(map(_utf8, texts)) + PART_SEPARATOR * (len(texts) - 1)


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
