"""Vocabularies that are on this machine, and counting with them."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

from adapters.tokens import LocalCounter, Vocabularies
from adapters.tokens.vocabulary import package_folder
from gateway.domain.message import UserMessage
from gateway.domain.profile import Counter, Profile
from gateway.domain.request import Request


class Named:
    """What a counter reads of a profile."""

    def __init__(self, method: str) -> None:
        self.counter = Counter(method=method, per_message=0, per_request=0)


def litellm_files() -> Path:
    """The vocabularies that litellm brings along."""
    litellm = package_folder("litellm")
    assert litellm is not None
    return litellm / "litellm_core_utils" / "tokenizers"


def tokenizer_json(folder: Path, **changes: Any) -> str:
    """A small byte-level vocabulary in the folder, and the counter that names it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["the quick brown fox", "the lazy dog"], trainer)
    described = json.loads(tokenizer.to_str()) | changes
    content = json.dumps(described).encode()
    (folder / "small.json").write_bytes(content)
    return f"tokenizers:small.json@sha256:{hashlib.sha256(content).hexdigest()}"


async def counted(counter: LocalCounter, method: str, *texts: str, enough: int | None = None) -> int | None:
    """Tokens of the texts; the role is taken off again."""
    named: Any = Named(method)
    profile: Profile = named
    request = Request(model="chat", messages=tuple(UserMessage(text) for text in texts))
    return await counter.count(profile, request, enough=enough)


def count(vocabularies: Vocabularies, method: str, text: str, *, enough: int | None = None) -> int | None:
    counter = LocalCounter(vocabularies)
    try:
        return asyncio.run(counted(counter, method, text, enough=enough))
    finally:
        counter.close()
