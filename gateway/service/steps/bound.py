"""Hold the request to a profile's envelope, counted with that profile's own counter (promise G8)."""

import asyncio

from gateway.domain.budget import reserve
from gateway.domain.control_tokens import first_with_a_token
from gateway.domain.money import tariff
from gateway.domain.profile import Counter as Counting
from gateway.domain.profile import Profile
from gateway.domain.questions import Decision
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request
from gateway.ports.counter import Counter
from gateway.service.path import Access, Bounded, Routes


class Bound:
    """The first candidate that fits serves; if none does, the first one's reason is told."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter

    async def __call__(self, routes: Routes, access: Access, request: Request) -> Bounded | Refusal:
        refusals: list[Refusal] = []
        enough = max(profile.context_window for profile in routes.candidates)
        measured = Measured(self._counter, request, enough)
        for profile in routes.candidates:
            fitted = await _fit(profile, measured, (access.decision, routes.decision))
            if isinstance(fitted, Bounded):
                return fitted
            refusals.append(fitted)
        return refusals[0]


class Measured:
    """What is known of one request. What candidates have in common is found out once."""

    def __init__(self, counter: Counter, request: Request, enough: int) -> None:
        self.request = request
        self._counter = counter
        self._enough = enough
        self._tokens: dict[Counting, int | None] = {}
        self._fields: dict[tuple[str, ...], str | None] = {}

    async def tokens(self, profile: Profile) -> int | None:
        """The input, counted as this profile counts."""
        if profile.counter not in self._tokens:
            count = await self._counter.count(profile, self.request, enough=self._enough)
            self._tokens[profile.counter] = count
        return self._tokens[profile.counter]

    async def field_with_a_control_token(self, profile: Profile) -> str | None:
        """Of this profile's template. Others get their turn while a long text is searched."""
        tokens = profile.control_tokens
        if tokens not in self._fields:
            self._fields[tokens] = None
            for field in first_with_a_token(tokens, self.request):
                self._fields[tokens] = field
                if field is None:
                    await asyncio.sleep(0)
        return self._fields[tokens]


async def _fit(profile: Profile, measured: Measured, decisions: tuple[Decision, ...]) -> Bounded | Refusal:
    request = measured.request
    cap = profile.max_output if request.max_output is None else request.max_output
    if cap > profile.max_output:
        return Refusal(
            code=Code.OUTPUT_EXCEEDS_PROFILE,
            param="max_tokens",
            facts={"limit": profile.max_output, "asked": cap},
            decisions=decisions,
        )
    if (field := await measured.field_with_a_control_token(profile)) is not None:
        return Refusal(code=Code.CONTROL_TOKEN, param=field, decisions=decisions)
    count = await measured.tokens(profile)
    if count is None:
        return Refusal(code=Code.UNCOUNTABLE_INPUT, param="messages", decisions=decisions)
    if count + cap > profile.context_window:
        return Refusal(
            code=Code.CONTEXT_EXCEEDED,
            param="messages",
            facts={"limit": profile.context_window, "input": count, "output": cap},
            decisions=decisions,
        )
    return Bounded(profile, reserve(count, cap, tariff(profile.prices)))
