"""Counting with bytes: every string, every role, and the allowances of the profile."""

import asyncio
from typing import Any

import msgspec
import pytest

from adapters.tokens.counters import LocalCounter
from gateway.domain.message import Message, SystemMessage, TextPart, UserMessage
from gateway.domain.profile import Counter, Profile
from gateway.domain.request import Request
from gateway.testkit.fakes.transport import FakeCounter


class Named(msgspec.Struct):
    """What a counter reads of a profile."""

    counter: Counter


def count(*messages: Message, method: str = "bytes", per_message: int = 0, per_request: int = 0) -> int | None:
    named: Any = Named(Counter(method=method, per_message=per_message, per_request=per_request))
    profile: Profile = named
    return asyncio.run(LocalCounter().count(profile, Request(model="chat", messages=messages)))


def test_a_message_counts_its_role_and_its_bytes():
    assert count(UserMessage("abc")) == len("user") + 3


@pytest.mark.parametrize(("text", "size"), [("é", 2), ("你", 3), ("👩", 4), ("", 0), ("\u0000", 1)])
def test_text_counts_in_utf8(text: str, size: int):
    assert count(UserMessage(text)) == len("user") + size


def test_parts_count_like_text_and_the_line_breaks_between_them():
    parts = (TextPart(text="ab"), TextPart(text="é"), TextPart(text=""))
    assert count(UserMessage(parts)) == len("user") + 4 + 2


def test_the_allowances_count_per_message_and_once():
    two = (UserMessage("a"), SystemMessage("b"))
    assert count(*two, per_message=5, per_request=30) == len("user") + len("system") + 2 + 10 + 30


@pytest.mark.parametrize("method", ["tiktoken:cl100k_base", "tokenizers:a.json@sha256:" + "0" * 64])
def test_a_counter_that_is_not_here_counts_nothing(method: str):
    assert count(UserMessage("a"), method=method) is None


def test_text_that_has_no_utf8_cannot_be_counted():
    assert count(UserMessage("\ud83d")) is None


def test_the_fake_counts_what_it_was_told():
    request = Request(model="chat", messages=())
    unread: Any = None
    assert asyncio.run(FakeCounter(7).count(unread, request)) == 7
    assert asyncio.run(FakeCounter(None).count(unread, request)) is None
