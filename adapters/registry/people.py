"""Are two names one person's? Two spellings are, and so are two names that look alike.

A guess on the careful side, with the few letters that pass for others in print: a false alarm costs a middle name in
full, a miss lets one person approve twice. It sees names and no people: nicknames, other middle names and people who
do not exist are for whoever reviews.
"""

import unicodedata

_APOSTROPHES = dict.fromkeys(map(ord, "'\u2019\u02bc\u02bb"))
_BETWEEN = frozenset(" ,.-\u2010\u00b7\u30fb")
_LATIN_LETTERS = frozenset("æœøđðþłħŋıəŧƙɓɗƴɛɔ")
"""Letters of people's names that are no a to z with an accent. Others, such as phonetic ones, imitate these."""
_CAPITALS = str.maketrans("ΝΗΥΧΡΜ", "nhyxpm")
"""Capitals that look like another letter than their small form does."""
_LOOKS_LIKE = str.maketrans(
    {
        # Within Latin, after case folding.
        "0": "o", "1": "l", "|": "l", "i": "l", "ı": "l", "ɑ": "a", "ɡ": "g", "ƙ": "k", "ø": "o", "ł": "l", "đ": "d",
        "ð": "d", "ħ": "h", "ŧ": "t", "ɓ": "b", "ɗ": "d", "ƴ": "y", "ŋ": "n", "þ": "p", "ɛ": "e", "ə": "e", "ɔ": "o",
        "æ": "ae", "œ": "oe",
        # Cyrillic
        "а": "a", "в": "b", "е": "e", "ѕ": "s", "і": "l", "ј": "j", "к": "k", "м": "m", "н": "h", "о": "o", "р": "p",
        "с": "c", "т": "t", "у": "y", "х": "x", "һ": "h", "ԁ": "d", "ԛ": "q", "ԝ": "w", "ӏ": "l", "г": "r", "ь": "b",
        "п": "n", "и": "u", "ѵ": "v", "ғ": "f", "қ": "k", "ҝ": "k", "ҫ": "c", "ө": "o", "ү": "y", "ұ": "y", "ҳ": "x",
        "ӕ": "ae", "ԍ": "g", "ԏ": "t", "ш": "w",
        # Greek
        "α": "a", "β": "b", "ε": "e", "η": "n", "ι": "l", "κ": "k", "μ": "u", "ν": "v", "ο": "o", "ρ": "p", "τ": "t",
        "υ": "u", "χ": "x", "ω": "w", "ζ": "z", "γ": "y", "σ": "o", "ϲ": "c", "ϳ": "j",
    }
)  # fmt: skip
_JAPANESE = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})
_SCRIPTS = _JAPANESE | {
    "ARABIC", "ARMENIAN", "BENGALI", "CYRILLIC", "DEVANAGARI", "ETHIOPIC", "GEORGIAN", "GREEK", "GUJARATI",
    "GURMUKHI", "HANGUL", "HEBREW", "KANNADA", "KHMER", "LAO", "LATIN", "MALAYALAM", "MYANMAR", "ORIYA", "SINHALA",
    "TAMIL", "TELUGU", "THAI", "TIBETAN",
}  # fmt: skip
"""Scripts of living people, without those whose letters imitate Latin capitals as a whole, such as Lisu."""
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lo"})


def objection(name: str) -> tuple[str, str] | None:
    """Why a text cannot stand for a person: a sentence and a remedy; None where it can."""
    composed = unicodedata.normalize("NFKC", name)
    letters = [char for char in composed if _is_letter(char)]
    if not all(char in _BETWEEN or ord(char) in _APOSTROPHES or unicodedata.category(char)[0] in "LM" for char in name):
        sentence = "The name holds more than a name."
        return sentence, "Write the name alone: letters, blanks, hyphens, apostrophes, full stops and commas."
    if len(letters) < 2:
        return "This is no person's name.", "Write the name in full."
    scripts = {_script(char) for char in letters}
    if len(scripts) > 1 and not scripts <= _JAPANESE:
        return (
            "The name mixes letters of several scripts.",
            "Type it again in one script: a letter may only look like another.",
        )
    if not scripts <= _SCRIPTS or not all(map(_is_of_names, letters)):
        return (
            "The name holds a letter that is in no name and looks like one that is.",
            "Type it again, with the letters of a name.",
        )
    return None


def spellings(name: str) -> frozenset[str]:
    """What stays the same however the name is spelled; two names that share one of these are one person's.

    Without case, accents, signs and initials, whichever of two like letters, in any order of the words or as one word.
    """
    bare = _without_marks(_without_marks(name).translate(_CAPITALS).casefold())
    skeleton = bare.translate(_APOSTROPHES).translate(_LOOKS_LIKE)
    parted = "".join(char if _is_letter(char) else " " for char in skeleton)
    parts = parted.replace("rn", "m").replace("vv", "w").split()
    words = [part for part in parts if len(part) > 1 or not part.isascii()] or parts
    return frozenset({_turned("".join(words)), _turned("".join(sorted(set(words))))})


def _turned(word: str) -> str:
    """The first by the alphabet of all the words that begin within this one: of okaforkim and kimokafor the same."""
    return min((word[i:] + word[:i] for i in range(len(word))), default="")


def _without_marks(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def _is_letter(char: str) -> bool:
    """Letters, and the vowel signs that other scripts write beside them; accents and enclosing marks are none."""
    category = unicodedata.category(char)
    return category in _LETTERS or (category[0] == "M" and not unicodedata.combining(char))


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").split(" ")[0]


def _is_of_names(letter: str) -> bool:
    """Whether a letter is one that people's names are written with. For scripts other than Latin all are."""
    if _script(letter) != "LATIN":
        return True
    return all(char.isascii() or char in _LATIN_LETTERS for char in _without_marks(letter.casefold()))
