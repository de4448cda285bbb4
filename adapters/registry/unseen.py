"""Characters that nobody sees: with one of them two names that look alike differ, and one person counts as two."""

import re

# Those of Unicode's Default_Ignorable_Code_Point that count as printable, and the empty Braille pattern.
_BLANK = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def has_unseen(text: str) -> bool:
    """Whether a text holds controls, formats, blanks other than the space, or the like. Line ends are none of them."""
    return not text.replace("\n", "").isprintable() or _BLANK.search(text) is not None
