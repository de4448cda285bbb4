"""The questions whose decisions are measured alone. All are allowed: the usual answer, and the dearest one."""

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any

from msgspec import Struct

from gateway.bench.children import BenchFault
from gateway.bench.many_profiles import TENANT, alias
from gateway.domain.errors import PolicyUnavailable
from gateway.domain.questions import AccessQuestion, RoutesQuestion
from gateway.domain.source import SourceFact
from gateway.ports.policy import Policy

NOW_S = int(datetime.fromisoformat("2026-12-01T00:00:00+00:00").timestamp())
"""Fixed, so that no approval of the example runs out under the bench."""
CONFIRMED_S = NOW_S - 3_600


class Asked(Struct, frozen=True):
    """A question with its name."""

    name: str
    ask: Callable[[Policy, int], Coroutine[Any, Any, bool]]
    """Asks it so many seconds after NOW_S. False: no decision. Raises BenchFault if it is not allowed in full."""


def access(sources: int) -> Asked:
    """``access`` with so many cited sources."""
    name = f"access, {sources} source{'' if sources == 1 else 's'}"
    facts = tuple(_fact(f"revision-{number}") for number in range(sources))
    purpose = "answers" if sources else "drafting"

    async def ask(policy: Policy, after_s: int) -> bool:
        question = AccessQuestion(
            time_s=NOW_S + after_s,
            tenant=TENANT,
            groups=("staff",),
            roles=("generate",),
            purpose=purpose,
            alias=alias(1),
            sources=facts,
        )
        try:
            answer = (await policy.access(question)).answer
        except PolicyUnavailable:
            return False
        if not answer.allow:
            raise BenchFault(f"{name}: denied: {answer.failed}")
        return True

    return Asked(name, ask)


def routes(candidates: int) -> Asked:
    """``routes`` over a bundle with so many candidates."""
    name = f"routes, {candidates} candidate{'' if candidates == 1 else 's'}"

    async def ask(policy: Policy, after_s: int) -> bool:
        question = RoutesQuestion(
            time_s=NOW_S + after_s,
            tenant=TENANT,
            purpose="drafting",
            alias=alias(candidates),
            bundle=f"{alias(candidates)}@1",
            privacy_class="internal",
            features=("chat",),
        )
        try:
            answer = (await policy.routes(question)).answer
        except PolicyUnavailable:
            return False
        if len(answer.routes) != candidates:
            raise BenchFault(f"{name}: {len(answer.routes)} are eligible, and {answer.failed} failed.")
        return True

    return Asked(name, ask)


def _fact(revision: str) -> SourceFact:
    return SourceFact(
        known=True,
        cited=revision,
        revision=revision,
        tenant=TENANT,
        groups=("staff",),
        privacy_class="internal",
        released_s=0,
        withdrawn=False,
        as_of_s=CONFIRMED_S,
    )
