"""Are two names one person's? Two spellings are, and so are two names that look alike.

A guess on the careful side, with the few letters that pass for others in print: a false alarm costs a middle name in
full, a miss lets one person approve twice.
"""

import unicodedata

_LOOKS_LIKE = str.maketrans(
    {
        # Within Latin, after case folding.
        "0": "o", "1": "l", "|": "l", "i": "l", "ı": "l", "ɑ": "a", "ɡ": "g", "ƙ": "k", "ø": "o", "ł": "l",
        # Cyrillic
        "а": "a", "в": "b", "е": "e", "ѕ": "s", "і": "l", "ј": "j", "к": "k", "м": "m", "н": "h", "о": "o", "р": "p",
        "с": "c", "т": "t", "у": "y", "х": "x", "һ": "h", "ԁ": "d", "ԛ": "q", "ԝ": "w", "ӏ": "l", "г": "r", "ь": "b",
        # Greek
        "α": "a", "β": "b", "ε": "e", "η": "n", "ι": "l", "κ": "k", "μ": "u", "ν": "v", "ο": "o", "ρ": "p", "τ": "t",
        "υ": "u", "χ": "x", "ω": "w", "ζ": "z",
    }
)  # fmt: skip
_JAPANESE = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})


def person(name: str) -> str:
    """What stays the same however the name is spelled: without case, accents, blanks, and which of two like letters."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    bare = "".join(char for char in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(char))
    return " ".join(bare.translate(_LOOKS_LIKE).replace("rn", "m").replace("vv", "w").split())


def mixes_scripts(name: str) -> bool:
    """Whether letters of several scripts stand in one name, as in a Latin name with one Cyrillic letter."""
    letters = [char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) in _LETTERS]
    scripts = {unicodedata.name(char, "").split(" ")[0] for char in letters}
    return len(scripts) > 1 and not scripts <= _JAPANESE


_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lo"})
