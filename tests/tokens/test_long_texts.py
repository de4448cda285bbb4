"""Long texts: cut without a difference, bounded in work, and off the event loop."""

import asyncio
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vocabulary_support import count, counted, tokenizer_json

from adapters.tokens import LocalCounter, Vocabularies, tiktoken_vocabulary
from adapters.tokens.pieces import LONGEST, pieces

NAMES = ("p50k_base", "cl100k_base", "o200k_base")
MIB = 2**20
ENGLISH = "The quick brown fox jumps over the lazy dog. It was, 1234 times, said! \n"
NASTY = st.text(st.sampled_from(list(" \n\r\t  \x1c/'’sStL1²٣aéß你ん゛゙カ゚。，！?.-_´̈́‍👩한")), min_size=0, max_size=60)


@pytest.fixture(scope="module")
def vocabularies() -> Vocabularies:
    vocabularies = Vocabularies()
    assert vocabularies.load(f"tiktoken:{name}" for name in NAMES) == {}
    return vocabularies


def encode(vocabularies: Vocabularies, name: str):  # type: ignore[no-untyped-def] # the library's own type
    vocabulary = vocabularies.of(f"tiktoken:{name}")
    assert isinstance(vocabulary, tiktoken_vocabulary.TiktokenVocabulary)
    return vocabulary._encode


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=400, deadline=None)
@given(text=NASTY, piece=st.integers(1, 8))
def test_pieces_are_the_text_and_count_as_much_as_the_whole(
    vocabularies: Vocabularies, name: str, text: str, piece: int
):
    cut = list(pieces(text, piece))
    tokens = encode(vocabularies, name)
    assert "".join(cut) == text
    assert [token for part in cut for token in tokens(part)] == tokens(text)


@pytest.mark.parametrize("name", NAMES)
def test_a_long_text_counts_exactly_what_it_counts_at_once(vocabularies: Vocabularies, name: str):
    text = ENGLISH * 1000
    tokens = encode(vocabularies, name)
    assert len(list(pieces(text))) > 5
    assert count(vocabularies, f"tiktoken:{name}", text) == len(tokens("user")) + len(tokens(text))


@pytest.mark.parametrize("letter", ["a", " ", "\n", "!", "你", "ab", "\u0301", "1", " \t", "\r\n"])
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_a_mebibyte_of_one_letter_is_counted_above_and_soon(vocabularies: Vocabularies, name: str, letter: str):
    text = letter * (MIB // len(letter))
    began = time.process_time()
    total = count(vocabularies, f"tiktoken:{name}", text)
    assert time.process_time() - began < 1.0
    part = text[:LONGEST]
    assert total is not None
    assert total >= len(encode(vocabularies, name)(part)) * len(text) // len(part)
    assert total <= len(text.encode()) + 1


def test_work_ends_with_what_is_enough_and_the_rest_counts_by_its_bytes(vocabularies: Vocabularies):
    text = ENGLISH * (MIB // len(ENGLISH))
    exact = count(vocabularies, "tiktoken:cl100k_base", text)
    rough = count(vocabularies, "tiktoken:cl100k_base", text, enough=10_000)
    assert exact is not None
    assert rough is not None
    assert 10_000 < exact < rough <= len(text)
    assert count(vocabularies, "tiktoken:cl100k_base", text, enough=exact) == exact


def turns_while_counting(counter: LocalCounter, method: str, text: str) -> int:
    """How often the event loop came round while the text was counted."""

    async def run() -> int:
        turns, counting = 0, asyncio.create_task(counted(counter, method, text))
        while not counting.done():
            turns += 1
            await asyncio.sleep(0.001)
        assert await counting
        return turns

    return asyncio.run(run())


@pytest.mark.parametrize("method", ["tiktoken:o200k_base", "tokenizers"])
def test_the_loop_goes_on_while_a_long_text_is_counted(vocabularies: Vocabularies, method: str, tmp_path: Path):
    if method == "tokenizers":
        method = tokenizer_json(tmp_path)
        vocabularies = Vocabularies(tmp_path)
        vocabularies.load([method])
    counter = LocalCounter(vocabularies)
    try:
        size = MIB if method.startswith("tiktoken") else MIB // 4  # a quarter takes it longer
        turns = turns_while_counting(counter, method, ENGLISH * (size // len(ENGLISH)))
    finally:
        counter.close()
    # Counted on the loop, or in a thread that holds the interpreter, it is two or three. Turns and not seconds: how
    # late a turn is depends on what else the machine does.
    assert turns > 5
