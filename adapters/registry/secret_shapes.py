"""Does a text look like a secret? Registries hold references to secrets; a pasted one must not get further.

A guess by shape, on the careful side: a false alarm costs one renamed id, a miss puts a key into version control.
"""

import math
import re
from collections import Counter

_KNOWN = re.compile(
    r"""
    (?<![A-Za-z0-9]) sk- (?=[A-Za-z0-9_-]*[0-9A-Z]) [A-Za-z0-9_-]{8,}   # OpenAI, Anthropic and those who copied them
    | (?i:\bbearer\s+\S{8,} | \bbasic\s+[A-Za-z0-9+/=]{12,})              # an Authorization header
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b                                       # AWS
    | \bAIza[0-9A-Za-z_-]{30,}                                            # Google
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,}       # GitHub
    | \bhf_[A-Za-z0-9]{20,}                                               # Hugging Face
    | \bxox[abeprs]-[A-Za-z0-9-]{10,}                                     # Slack
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}                           # a JSON Web Token
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----
    """,
    re.VERBOSE,
)
_RUN = re.compile(r"[A-Za-z0-9]{20,}")
_LEAST_BITS = 3.0
"""Bits per character. Random hexadecimal digits have 3.3 and more at 20 characters, words with a number less."""


def has_known_shape(text: str) -> bool:
    """Whether the text contains a token in the form of a well-known issuer."""
    return _KNOWN.search(text) is not None


def is_dense(text: str) -> bool:
    """Whether the text contains a long run of letters and digits as only a generator writes it."""
    return any(_mixed(run) and _bits(run) >= _LEAST_BITS for run in _RUN.findall(text))


def _mixed(run: str) -> bool:
    return any(c.isdigit() for c in run) and any(c.isalpha() for c in run)


def _bits(run: str) -> float:
    return -sum(n / len(run) * math.log2(n / len(run)) for n in Counter(run).values())
