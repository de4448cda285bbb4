"""Reads the arithmetic that a figure tells, and computes it again."""

import re
from fractions import Fraction

_WORDS = re.compile(r"\b(sequences|tokens|cells|blocks|ranks|bits|B)\b")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def computed(how: str) -> Fraction:
    """What ``8,000,000,000 x 16 bits / 8`` comes to. What stands after a semicolon is a remark."""
    arithmetic = _WORDS.sub("", how.partition(";")[0]).replace(" x ", " * ")
    arithmetic = _NUMBER.sub(lambda found: f'Fraction("{found[0].replace(",", "")}")', arithmetic)
    result = eval(arithmetic, {"__builtins__": {}, "Fraction": Fraction})
    assert isinstance(result, Fraction), how
    return result
