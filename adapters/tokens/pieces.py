"""Cutting a long text where every encoding of tiktoken cuts it too, so that the pieces count as much as the whole.

tiktoken takes a text as one call. A million spaces end that call with a panic, which no handler of errors catches, and
whatever it does it does to the end. Pieces bound both.
"""

import re
from collections.abc import Iterator

PIECE = 8_192
"""Characters after which the next sure cut is taken."""
LONGEST = 32_768
"""Characters. A longer piece holds no place where it may be cut, as no text that somebody wrote does; it counts by its
bytes."""

# The patterns put no word across these: a space behind what is not white, a line break behind a letter or a digit, and
# Chinese or Japanese punctuation behind a letter. (Marks are left out: for cl100k they are punctuation.)
_CUT = re.compile(r"(?<=\S) |(?<=[A-Za-z0-9\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3])[\n。，、！？；：]")


def pieces(text: str, piece: int = PIECE) -> Iterator[str]:
    """The text in order and without loss, cut at sure places alone."""
    start = 0
    while len(text) - start > piece and (cut := _cut_behind(text, start + piece, piece)) is not None:
        yield text[start:cut]
        start = cut
    yield text[start:] if start else text


def _cut_behind(text: str, at: int, stride: int) -> int | None:
    """The first sure place from here on. Searched in strides, because a search holds the interpreter."""
    for begin in range(at, len(text), stride):
        if (found := _CUT.search(text, begin, begin + stride)) is not None:
            return found.start()
    return None
