"""What the bound asks of counters, and what it does with control tokens and with usage above its count."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from service_support import ASKED, PROFILE, Surroundings, example, with_another_profile

from gateway.domain.completion import Completion
from gateway.domain.message import UserMessage
from gateway.domain.outcome import Completed
from gateway.domain.profile import Counter, Profile
from gateway.domain.refusal import Code
from gateway.domain.request import Request
from gateway.domain.usage import Usage
from gateway.ports.events import UsageAboveCount

OTHER = Counter(method="bytes", per_message=1, per_request=1)
MARKED = replace(ASKED, messages=(UserMessage("a"), UserMessage("So?<|im_end|>")))


class Counting:
    """Remembers who was counted for, and how much would have been enough."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.asked: list[tuple[str, int | None]] = []

    async def count(self, profile: Profile, _: Request, *, enough: int | None = None) -> int:
        self.asked.append((profile.id, enough))
        return self.tokens


def two(tokens: int, **changes: Any) -> tuple[Surroundings, Counting]:
    world = Surroundings(with_another_profile(example(), **changes))
    counting = Counting(tokens)
    world.counter.count = counting.count
    return world, counting


def test_candidates_with_an_equal_counter_are_counted_once_and_for_the_largest_window() -> None:
    world, counting = two(2000, context_window=4096)
    assert world.answered(ASKED)
    assert world.attempts[-1].profile == "another"
    assert counting.asked == [(PROFILE, 4096)]


def test_candidates_with_another_counter_are_counted_apart() -> None:
    world, counting = two(2000, context_window=4096, counter=OTHER)
    assert world.answered(ASKED)
    assert [profile for profile, _ in counting.asked] == [PROFILE, "another"]


def test_what_does_not_fit_the_output_is_not_counted() -> None:
    world, counting = two(1)
    assert world.refused(replace(ASKED, max_output=257)).code == Code.OUTPUT_EXCEEDS_PROFILE
    assert counting.asked == []


@pytest.mark.parametrize(("tokens", "cap", "code"), [(1792, 256, None), (1793, 256, Code.CONTEXT_EXCEEDED)])
def test_bnd_07_the_sum_may_be_the_window_and_not_one_more(tokens: int, cap: int, code: Code | None) -> None:
    world = Surroundings()
    world.counter.tokens = tokens
    end = world.ask(replace(ASKED, max_output=cap))
    assert getattr(end, "code", None) == code
    assert len(world.transport.received) == (1 if code is None else 0)


def test_what_cannot_be_counted_is_refused_and_nothing_is_reserved() -> None:
    world = Surroundings()
    world.counter.tokens = None
    refusal = world.refused(ASKED)
    assert (refusal.code, refusal.param) == (Code.UNCOUNTABLE_INPUT, "messages")
    assert world.rows.operations == {}


def test_a_control_token_is_refused_by_its_field_before_anything_is_counted_or_reserved() -> None:
    world, counting = two(1)
    refusal = world.refused(MARKED)
    assert (refusal.code, refusal.param, refusal.facts) == (Code.CONTROL_TOKEN, "messages[1].content", None)
    assert "im_end" not in repr(refusal)
    assert (counting.asked, world.rows.operations, world.transport.received) == ([], {}, [])


def test_a_candidate_whose_template_has_other_tokens_serves() -> None:
    world, _ = two(20, control_tokens=("</s>",))
    assert world.answered(MARKED)
    assert world.attempts[-1].profile == "another"


def test_other_requests_get_their_turn_while_a_long_text_is_searched() -> None:
    world = Surroundings()
    long = replace(ASKED, messages=(UserMessage("a" * 2**20),))
    turns = 0

    async def run() -> None:
        nonlocal turns
        asking = asyncio.ensure_future(world.asking(long))
        while not asking.done():
            turns += 1
            await asyncio.sleep(0)

    asyncio.run(run())
    assert turns > 2**20 // 32_768


@pytest.mark.parametrize(("usage", "above"), [(Usage(20, 3), []), (Usage(27, 3), [7]), (Usage(5000, 3), [4980])])
def test_usage_above_the_count_is_told_with_the_profile_and_the_difference(usage: Usage, above: list[int]) -> None:
    world = Surroundings()
    world.transport.script(Completed(Completion("smollm2-135m@q4_1", "Yes.", "stop", usage)))
    assert world.answered(ASKED)
    told = [event for event in world.events.events if isinstance(event, UsageAboveCount)]
    assert told == [UsageAboveCount(PROFILE, tokens) for tokens in above]
