"""Hugging Face vocabularies: a tokenizer.json in the folder, by its digest. Needs the extra ``tokenizers``."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.tokens.vocabulary import Missing, Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_built: dict[str, "TokenizersVocabulary"] = {}
"""By digest."""


class TokenizersVocabulary:
    """Counts with one tokenizer.json. A special token in a text counts as the characters that it is written in."""

    inline_bytes = 2_000

    def __init__(self, tokenizer: "Tokenizer") -> None:
        # A file may tell to cut what is long, and then everything long would count the same.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer

    def count(self, texts: Sequence[str], enough: int | None) -> int:  # noqa: ARG002 - it takes a text whole
        """See Vocabulary.count. Only a batch lets go of the interpreter; ``encode`` holds it for seconds."""
        return sum(map(len, self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)))


def load(file: str, digest: str, folder: Path | None) -> Vocabulary | Missing:
    """The vocabulary of a file in the folder, if it has the digest."""
    # Threads of the library's own would compete with the event loop, and it warns of every child process.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return Missing(
            "The package tokenizers is not installed.",
            "Run: pip install --require-hashes -r requirements/hosted.txt, which has it.",
        )
    path = folder / file if folder else None
    if path is None or not path.is_file():
        return Missing("The file of this counter was not found.", "Put it into the folder GATEWAY_VOCABULARIES.")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        return Missing(
            "The file of this counter has another digest.",
            "Put the approved file into the folder GATEWAY_VOCABULARIES, or approve this one.",
        )
    if digest not in _built:
        try:
            tokenizer = Tokenizer.from_buffer(content)
        except Exception:  # noqa: BLE001 - the library raises nothing narrower
            return Missing("The file of this counter is no tokenizer.json.", "Take the file of the model's publisher.")
        _built[digest] = TokenizersVocabulary(tokenizer)
    return _built[digest]
