"""The documentation says what the program does."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import msgspec
import pytest

from gateway.cli.main import gateway
from gateway.domain.refusal import Code
from gateway.settings import PREFIX, Settings

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_TERM = re.compile(r"^- \*\*([^*]+)\*\*: .*?(?:\*Not: (.*)\.\*)?$", re.MULTILINE)


def _pages(texts: Mapping[str, str]) -> dict[str, str]:
    """What a user reads: the pages at the top and in docs/, without the decisions on record."""
    return {name: text for name, text in texts.items() if re.fullmatch(r"[A-Z]+\.md|docs/[\w-]+\.md", name)}


def _commands(text: str) -> Iterator[list[str]]:
    """Words of each command that a page shows, in a code block or between backticks."""
    snippets = [*_INLINE.findall(_FENCE.sub("", text)), *"\n".join(_FENCE.findall(text)).splitlines()]
    for snippet in snippets:
        words = re.sub(r"^\s*\$?\s*(?:\w+=\S+\s+)*(?:\S*/bin/)?", "", snippet).split()
        if words and words[0] in {"make", "gateway"}:
            yield words


def test_every_make_target_that_a_page_shows_exists(texts: Mapping[str, str]) -> None:
    targets = set(re.findall(r"^([a-z-]+):", texts["Makefile"], re.MULTILINE))
    shown = {
        (page, words[1])
        for page, text in _pages(texts).items()
        for words in _commands(text)
        if words[0] == "make" and len(words) > 1 and re.fullmatch("[a-z][a-z-]*", words[1])
    }
    assert sorted((page, target) for page, target in shown if target not in targets) == []


def test_every_gateway_command_that_a_page_shows_exists(texts: Mapping[str, str]) -> None:
    unknown = [
        f"{page}: {' '.join(words)}"
        for page, text in _pages(texts).items()
        for words in _commands(text)
        if words[0] == "gateway" and not _exists(words[1:])
    ]
    assert unknown == []


def _exists(words: list[str]) -> bool:
    command: click.Command = gateway
    for word in words:
        if not isinstance(command, click.Group) or word.startswith("-"):
            break
        if word not in command.commands:
            return False
        command = command.commands[word]
    return True


@pytest.mark.parametrize(
    ("line", "exists"),
    [("gateway serve", True), ("gateway check --at 2026-12-01T00:00:00Z", True), ("gateway nonsense", False)],
)
def test_a_command_that_does_not_exist_is_found(line: str, exists: bool) -> None:
    (words,) = _commands(f"```sh\n$ GATEWAY_DATA=x .venv/bin/{line}\n```")
    assert _exists(words[1:]) is exists


def test_every_refusal_code_stands_in_the_interface_page(texts: Mapping[str, str]) -> None:
    page = texts.get("docs/api.md", "")
    assert page, "docs/api.md is missing: it lists every refusal code."
    assert [code.value for code in Code if f"`{code.value}`" not in page] == []


def test_every_setting_stands_in_a_page(texts: Mapping[str, str]) -> None:
    pages = "\n".join(_pages(texts).values())
    names = [PREFIX + field.name.upper() for field in msgspec.structs.fields(Settings)]
    assert [name for name in names if not re.search(rf"\b{name}\b", pages)] == []


def test_every_link_between_pages_leads_somewhere(root: Path, texts: Mapping[str, str]) -> None:
    dead = [
        f"{name}: {target}"
        for name, text in texts.items()
        if name.endswith(".md")
        for target in _LINK.findall(_FENCE.sub("", text))
        if not ((root / name).parent / target).exists()
    ]
    assert dead == []


def _glossary(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Terms, each with the words that must not stand for it."""
    return {
        term: [word.strip() for word in (words or "").split(",") if word.strip()]
        for term, words in _TERM.findall(texts["docs/glossary.md"])
    }


def test_every_term_of_the_glossary_is_used(texts: Mapping[str, str]) -> None:
    terms = _glossary(texts)
    assert len(terms) > 40
    used = "\n".join(text for name, text in texts.items() if name != "docs/glossary.md").lower()
    assert [term for term in terms if not re.search(rf"\b{term}s?\b", used)] == []


AZURES = "/openai/deployments/"
"""Stands in its addresses."""
LITELLMS = '"model list": '
"""A key of the configuration of LiteLLM Proxy, which the bench starts beside the gateway."""


def test_the_packages_use_no_other_word_for_a_term_of_the_glossary(texts: Mapping[str, str]) -> None:
    words = {word: term for term, others in _glossary(texts).items() for word in others}
    assert len(words) > 40
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})s?\b", re.IGNORECASE)
    found = [
        f"{name}:{number}: {match.group()}"
        for name, text in texts.items()
        if name.startswith(("gateway/", "adapters/"))
        for number, line in enumerate(text.splitlines(), 1)
        for match in pattern.finditer(line.replace("_", " ").replace(AZURES, "").replace(LITELLMS, ""))
    ]
    assert found == [], "docs/glossary.md has the word to use instead."
