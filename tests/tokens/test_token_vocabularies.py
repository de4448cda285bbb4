"""Vocabularies come from files on this machine, by their digests, and from nowhere else."""

import hashlib
import shutil
import socket
import sys
from pathlib import Path

import pytest
import tiktoken_ext.openai_public as published
from tokenizers import Tokenizer
from vocabulary_support import count, litellm_files, tokenizer_json

from adapters.tokens import Vocabularies, tiktoken_vocabulary
from adapters.tokens.tiktoken_vocabulary import ENCODINGS
from adapters.tokens.vocabularies import Missing

ROLE = 1
"""Tokens of "user" in each of these vocabularies."""


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("something was looked up or connected to")

    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)


@pytest.fixture
def without_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiktoken_vocabulary, "package_folder", lambda _: None)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "o200k_harmony", "p50k_base"])
def test_litellms_files_are_found_without_importing_it_and_nothing_is_fetched(name: str):
    vocabularies = Vocabularies()
    assert vocabularies.load([f"tiktoken:{name}"]) == {}
    assert count(vocabularies, f"tiktoken:{name}", "hello world") == ROLE + 2


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        # The counts that OpenAI's cookbook on counting tokens prints.
        ("p50k_base", "antidisestablishmentarianism", 5),
        ("cl100k_base", "antidisestablishmentarianism", 6),
        ("o200k_base", "antidisestablishmentarianism", 6),
        ("p50k_base", "2 + 2 = 4", 5),
        ("cl100k_base", "2 + 2 = 4", 7),
        ("o200k_base", "2 + 2 = 4", 7),
        ("p50k_base", "お誕生日おめでとう", 14),
        ("cl100k_base", "お誕生日おめでとう", 9),
        ("o200k_base", "お誕生日おめでとう", 8),
    ],
)
def test_counts_are_those_that_the_provider_publishes(name: str, text: str, tokens: int):
    vocabularies = Vocabularies()
    vocabularies.load([f"tiktoken:{name}"])
    assert count(vocabularies, f"tiktoken:{name}", text) == ROLE + tokens


@pytest.mark.parametrize("name", ENCODINGS)
def test_digests_and_patterns_are_tiktokens_own(name: str, monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, str | None]] = []

    def ranks(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        asked.append((url, expected_hash))
        return {}

    monkeypatch.setattr(published, "load_tiktoken_bpe", ranks)
    described = published.ENCODING_CONSTRUCTORS[name]()
    ours = ENCODINGS[name]
    assert described["pat_str"] == ours.pattern
    assert asked == [(tiktoken_vocabulary._PUBLISHED_AT.format(ours.file), ours.digest)]


@pytest.mark.usefixtures("no_network", "without_litellm")
def test_a_file_of_the_folder_is_taken_under_its_own_name_and_only_with_its_digest(tmp_path: Path):
    method = "tiktoken:cl100k_base"
    assert "No file" in Vocabularies(tmp_path).load([method])[method].sentence
    original = litellm_files() / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
    file = tmp_path / "cl100k_base.tiktoken"
    file.write_bytes(original.read_bytes() + b"IQ== 100256\n")
    assert "cl100k_base.tiktoken" in Vocabularies(tmp_path).load([method])[method].remedy
    shutil.copy(original, file)
    vocabularies = Vocabularies(tmp_path)
    assert vocabularies.load([method]) == {}
    assert count(vocabularies, method, "hello world") == ROLE + 2


def test_an_encoding_that_does_not_exist_is_told_with_those_that_do():
    missing = Vocabularies().load(["tiktoken:gpt5_base"])["tiktoken:gpt5_base"]
    assert "o200k_base" in missing.remedy


def test_a_special_token_in_a_text_counts_as_its_characters_and_raises_nothing():
    vocabularies = Vocabularies()
    vocabularies.load(["tiktoken:cl100k_base"])
    counted = count(vocabularies, "tiktoken:cl100k_base", "<|endoftext|>")
    assert counted is not None
    assert counted > ROLE + 1


def test_a_tokenizer_of_the_folder_counts_and_is_held_to_its_digest(tmp_path: Path):
    method = tokenizer_json(tmp_path)
    vocabularies = Vocabularies(tmp_path)
    assert vocabularies.load([method]) == {}
    own = Tokenizer.from_file(str(tmp_path / "small.json"))
    expected = sum(len(own.encode(text).ids) for text in ("user", "the quick fox: é"))
    assert count(vocabularies, method, "the quick fox: é") == expected
    other = method[:-1] + ("0" if method[-1] != "0" else "1")
    assert "another digest" in Vocabularies(tmp_path).load([other])[other].sentence
    assert "not found" in Vocabularies(tmp_path / "no").load([method])[method].sentence
    assert "not found" in Vocabularies().load([method])[method].sentence


def test_a_special_token_of_a_tokenizer_counts_as_its_characters(tmp_path: Path):
    method = tokenizer_json(tmp_path)
    vocabularies = Vocabularies(tmp_path)
    vocabularies.load([method])
    assert count(vocabularies, method, "<|im_end|>") > count(vocabularies, method, "") + 1


def test_a_tokenizer_that_says_to_cut_long_texts_counts_them_whole(tmp_path: Path):
    cut = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    method = tokenizer_json(tmp_path, truncation=cut)
    vocabularies = Vocabularies(tmp_path)
    vocabularies.load([method])
    assert count(vocabularies, method, "the " * 50) > 50


def test_a_file_that_is_no_tokenizer_is_told(tmp_path: Path):
    (tmp_path / "x.json").write_bytes(b"{}")
    method = f"tokenizers:x.json@sha256:{hashlib.sha256(b'{}').hexdigest()}"
    assert "no tokenizer.json" in Vocabularies(tmp_path).load([method])[method].sentence


def test_without_the_extra_its_absence_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    method = tokenizer_json(tmp_path)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    missing = Vocabularies(tmp_path).load([method])[method]
    assert missing == Missing(
        "The package tokenizers is not installed.",
        "Run: pip install --require-hashes -r requirements/hosted.txt, which has it.",
    )


def test_what_is_loaded_once_is_not_built_again():
    first, second = Vocabularies(), Vocabularies()
    first.load(["tiktoken:cl100k_base"])
    second.load(["tiktoken:cl100k_base", "bytes"])
    assert first.of("tiktoken:cl100k_base") is second.of("tiktoken:cl100k_base")
