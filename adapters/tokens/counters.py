"""Counting a request's input with the counter that its profile names. Always local (promise G2)."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from adapters.tokens.vocabularies import Vocabularies
from gateway.domain.profile import Profile
from gateway.domain.request import Request
from gateway.domain.texts import countable

THREADS = 2
"""Long texts that are counted at once, off the event loop; others wait. Both libraries let go of the interpreter."""


class LocalCounter:
    """Implements Counter."""

    def __init__(self, vocabularies: Vocabularies | None = None) -> None:
        self._vocabularies = vocabularies or Vocabularies()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="count")

    async def count(self, profile: Profile, request: Request, *, enough: int | None = None) -> int | None:
        """See Counter.count. None for images without a bound, and for text that is not Unicode.

        A vocabulary is loaded before a registry that names it is in force, so None for want of one is a fault of the
        program, and refuses.
        """
        counter = profile.counter
        vocabulary = self._vocabularies.of(counter.method)
        if vocabulary is None:
            return None
        try:
            parts = countable(request)
            size = sum(len(text) if text.isascii() else len(text.encode()) for text in parts.texts)
        except UnicodeEncodeError:  # a lone surrogate has no UTF-8
            return None
        if parts.images and counter.per_image is None:
            return None
        if size <= vocabulary.inline_bytes:
            tokens = vocabulary.count(parts.texts, enough)
        else:
            loop = asyncio.get_running_loop()
            tokens = await loop.run_in_executor(self._pool, vocabulary.count, parts.texts, enough)
        return (
            tokens
            + parts.joints
            + counter.per_request
            + counter.per_message * parts.messages
            + counter.per_tool * parts.tools
            + (counter.per_image or 0) * parts.images
        )

    def close(self) -> None:
        """End the threads. A count that still runs ends first; nothing waits for it."""
        self._pool.shutdown(wait=False, cancel_futures=True)
