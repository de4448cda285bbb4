"""tiktoken's encodings, from files that are there already. tiktoken itself would fetch what it does not find.

Digests and patterns are those of ``tiktoken_ext.openai_public`` (a test compares them), whose functions fetch.
"""

import binascii
import hashlib
import itertools
from collections.abc import Sequence
from pathlib import Path

import tiktoken
from msgspec import Struct

from adapters.tokens.pieces import LONGEST, pieces
from adapters.tokens.vocabulary import Missing, Vocabulary, package_folder

_WORDS = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"


class Encoding(Struct, frozen=True):
    """What an encoding is made of: its file, by digest, and the pattern that cuts a text into words."""

    file: str
    digest: str
    pattern: str


_R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_O200K = Encoding(
    "o200k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "|".join(
        (
            _WORDS + r"*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _ENDING,
            _WORDS + r"+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _ENDING,
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
)
ENCODINGS = {
    "r50k_base": Encoding("r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930", _R50K),
    "p50k_base": Encoding("p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069", _R50K),
    "cl100k_base": Encoding(
        "cl100k_base",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    "o200k_base": _O200K,
    "o200k_harmony": _O200K,
}
"""Harmony differs in its special tokens alone, and those are never counted as such."""

_PUBLISHED_AT = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
"""Never fetched: tiktoken's cache, and litellm's copy of it, name a file by the SHA-1 of its address."""
_built: dict[str, "TiktokenVocabulary"] = {}
"""By digest and pattern; they take a hundred megabytes each, so one process has one."""


class TiktokenVocabulary:
    """Counts with one encoding. A special token in a text counts as the characters that it is written in."""

    inline_bytes = 16_000

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encode = encoding.encode_ordinary

    def count(self, texts: Sequence[str], enough: int | None) -> int:
        """See Vocabulary.count. Work is bounded by ``enough``, not by the text: what follows counts by its bytes."""
        total = 0
        for piece in itertools.chain.from_iterable(map(pieces, texts)):
            is_enough = enough is not None and total > enough
            total += len(piece.encode()) if is_enough or len(piece) > LONGEST else len(self._encode(piece))
        return total


def load(name: str, folder: Path | None) -> Vocabulary | Missing:
    """The encoding, from the folder or from what litellm brings along."""
    encoding = ENCODINGS.get(name)
    if encoding is None:
        return Missing("There is no such encoding.", f"Name one of these: {', '.join(ENCODINGS)}.")
    content = _read(encoding, folder)
    if content is None:
        return Missing(
            "No file of this encoding was found, or another one under its name.",
            f"Put {encoding.file}.tiktoken, with the SHA-256 {encoding.digest}, into the folder GATEWAY_VOCABULARIES; "
            "docs/registry.md says where it comes from.",
        )
    key = encoding.digest + encoding.pattern
    if key not in _built:
        words = content.split()
        ranks = dict(zip(map(binascii.a2b_base64, words[::2]), map(int, words[1::2]), strict=True))
        built = tiktoken.Encoding(name, pat_str=encoding.pattern, mergeable_ranks=ranks, special_tokens={})
        _built[key] = TiktokenVocabulary(built)
    return _built[key]


def _read(encoding: Encoding, folder: Path | None) -> bytes | None:
    """The first file that has the encoding's digest."""
    hashed = hashlib.sha1(_PUBLISHED_AT.format(encoding.file).encode(), usedforsecurity=False).hexdigest()
    litellm = package_folder("litellm")
    places = [folder / f"{encoding.file}.tiktoken", folder / hashed] if folder else []
    places += [litellm / "litellm_core_utils" / "tokenizers" / hashed] if litellm else []
    for place in places:
        if place.is_file() and hashlib.sha256(content := place.read_bytes()).hexdigest() == encoding.digest:
            return content
    return None
