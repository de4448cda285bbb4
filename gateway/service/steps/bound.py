"""Hold the request to a profile's envelope, counted with that profile's own counter (promise G8)."""

from gateway.domain.budget import reserve
from gateway.domain.money import tariff
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
        for profile in routes.candidates:
            fitted = await self._fit(profile, request, (access.decision, routes.decision))
            if isinstance(fitted, Bounded):
                return fitted
            refusals.append(fitted)
        return refusals[0]

    async def _fit(self, profile: Profile, request: Request, decisions: tuple[Decision, ...]) -> Bounded | Refusal:
        cap = profile.max_output if request.max_output is None else request.max_output
        if cap > profile.max_output:
            return Refusal(
                code=Code.OUTPUT_EXCEEDS_PROFILE,
                param="max_tokens",
                facts={"limit": profile.max_output, "asked": cap},
                decisions=decisions,
            )
        count = await self._counter.count(profile, request)
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
