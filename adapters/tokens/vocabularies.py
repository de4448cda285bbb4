"""Vocabularies that the profiles of a registry name. They load at a start or a reload, never within a request."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from adapters.tokens.vocabulary import Missing, Vocabulary


class ByteVocabulary:
    """An upper bound without any file: a token of a byte-level vocabulary stands for at least one byte."""

    inline_bytes = 2**62

    def count(self, texts: Sequence[str], enough: int | None) -> int:  # noqa: ARG002 - counting all costs nothing
        return sum(len(text) if text.isascii() else len(text.encode()) for text in texts)


class Vocabularies:
    """By the method of a profile's counter, in which a digest stands, so that one is never another's."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._loaded: dict[str, Vocabulary] = {"bytes": ByteVocabulary()}

    def of(self, method: str) -> Vocabulary | None:
        """None: it was not loaded."""
        return self._loaded.get(method)

    def load(self, methods: Iterable[str]) -> dict[str, Missing]:
        """Load what is not loaded yet, and say what cannot be. What was loaded before stays: a request may still be
        pinned to an earlier registry. Takes about a second each; reads files, and nothing but files."""
        missing: dict[str, Missing] = {}
        for method in sorted(set(methods) - self._loaded.keys()):
            found = _load(method, self._folder)
            if isinstance(found, Missing):
                missing[method] = found
            else:
                self._loaded[method] = found
        return missing


def _load(method: str, folder: Path | None) -> Vocabulary | Missing:
    library, _, name = method.partition(":")
    if library == "tiktoken":
        from adapters.tokens import tiktoken_vocabulary  # heavy, and for few registries only

        return tiktoken_vocabulary.load(name, folder)
    from adapters.tokens import tokenizers_vocabulary

    file, _, digest = name.partition("@sha256:")
    return tokenizers_vocabulary.load(file, digest, folder)
