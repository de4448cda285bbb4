"""Control tokens of a chat template in the text of a request: a model would read them as the start of another turn.

Engines take them literally: case, width and composition of the characters count, and a profile lists each spelling
that its vocabulary has. So they are searched for literally too.
"""

import functools
import re
from collections.abc import Iterator

from gateway.domain.request import Request
from gateway.domain.texts import read_by_the_model

WINDOW = 32_768
"""Characters that are searched at once: at the very worst within ten milliseconds."""


def first_with_a_token(tokens: tuple[str, ...], request: Request) -> Iterator[str | None]:
    """The field of the first text with one of the tokens, as the last item. Each None before it is a place to pause.

    It names the field only: the text is the caller's, and the token could be part of a longer secret.
    """
    if not tokens:
        return
    pattern, longest = _compiled(tokens)
    searched = 0
    for field, text in read_by_the_model(request):
        for start in range(0, len(text), WINDOW):
            if pattern.search(text, start, start + WINDOW + longest):
                yield field
                return
            searched += min(WINDOW, len(text) - start)
            if searched >= WINDOW:
                searched = 0
                yield None


@functools.lru_cache(maxsize=256)
def _compiled(tokens: tuple[str, ...]) -> tuple[re.Pattern[str], int]:
    """One pattern for all, with those together that begin alike, so that most characters are looked at once."""
    heads: dict[str, list[str]] = {}
    for token in sorted(tokens):
        heads.setdefault(token[0], []).append(re.escape(token[1:]))
    groups = (f"{re.escape(head)}(?:{'|'.join(rest)})" for head, rest in heads.items())
    return re.compile("|".join(groups)), max(map(len, tokens))
