"""Questions, answers and a policy that does as it is told, for the tests of the memo."""

import asyncio
import functools
import hashlib
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
from service_support import Recorded

from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    Decision,
    Failed,
    FailedCheck,
    OperateAnswer,
    OperateQuestion,
    ReplayAnswer,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
    VisibleAnswer,
    VisibleQuestion,
)
from gateway.domain.refusal import PolicyCode
from gateway.ports.policy import Decided
from gateway.service.memo import Memo

ACCESS = AccessQuestion(
    time_s=100, tenant="acme", groups=("staff",), roles=("generate",), purpose="drafting", alias="chat", sources=()
)
ROUTES = RoutesQuestion(
    time_s=100,
    tenant="acme",
    purpose="drafting",
    alias="chat",
    bundle="chat@1",
    privacy_class="internal",
    features=("chat",),
)
REPLAY = ReplayQuestion(
    time_s=100, tenant="acme", groups=("staff",), roles=("generate",), purpose="drafting", sources=()
)
VISIBLE = VisibleQuestion(time_s=100, tenant="acme", roles=("generate",))
OPERATE = OperateQuestion(tenant="acme", roles=("operator",), area="keys", deed="read")
QUESTIONS = {"access": ACCESS, "routes": ROUTES, "replay": REPLAY, "visible": VISIBLE, "operate": OPERATE}
YES = {
    "access": AccessAnswer(allow=True, privacy_class="internal", failed=Failed(request=(), source={})),
    "routes": RoutesAnswer(routes=("a",), failed={"a": (), "b": ("region",)}),
    "replay": ReplayAnswer(allow=True, failed=Failed(request=(), source={"0": ()})),
    "visible": VisibleAnswer(aliases=("chat",), failed=()),
    "operate": OperateAnswer(allow=True, failed=()),
}
NO = {
    "access": AccessAnswer(
        allow=False,
        privacy_class="",
        failed=Failed(request=("purpose",), source={"0": ("readable",), "1": ("readable", "fresh")}),
    ),
    "routes": RoutesAnswer(routes=(), failed={"a": ("region",), "b": ("region", "kind")}),
    "replay": ReplayAnswer(allow=False, failed=Failed(request=(), source={"0": ("readable",)})),
    "visible": VisibleAnswer(aliases=(), failed=("role",)),
    "operate": OperateAnswer(allow=False, failed=("administers",)),
}
CODES = {
    "access": ["request_purpose", "source_readable", "source_fresh"],
    "routes": ["route_kind", "route_region"],
    "replay": ["source_readable"],
    "visible": ["request_role"],
    "operate": ["request_administers"],
}


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


class Deciding:
    """A policy that writes down what it is asked, and waits, fails or denies as it is told."""

    revision = "sha256:r"
    is_up = True

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.answers = YES
        self.failing: Callable[[Any], Exception | None] = lambda _: None
        self.open = asyncio.Event()
        self.open.set()

    def __getattr__(self, entrypoint: str) -> Callable[[Any], Coroutine[Any, Any, Any]]:
        async def decide(question: Any) -> Decided[Any]:
            self.asked.append(question)
            await self.open.wait()
            if (error := self.failing(question)) is not None:
                raise error
            return Decided(self.answers[entrypoint], decision(entrypoint, question))

        return decide

    def explain(self, level: str, check: str) -> PolicyCode:
        return PolicyCode(code=f"{level}_{check}", remedy="Ask.")


def decision(entrypoint: str, question: Any) -> Decision:
    return Decision(
        id="of the policy",
        entrypoint=entrypoint,
        revision="sha256:r",
        question_digest=digest(question),
        failed=(FailedCheck(check="route/region", about="b", code="region_not_allowed", place="region.rego:9"),),
    )


def digest(question: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(question)).hexdigest()


class Fixture:
    def __init__(self, **how: int) -> None:
        self.policy = Deciding()
        self.events = Recorded()
        self.memo = Memo(self.policy, self.events, **how)

    async def ask(self, entrypoint: str, question: Any = None) -> Decided[Any]:
        asked = QUESTIONS[entrypoint] if question is None else question
        return await getattr(self.memo, entrypoint)(asked)

    @property
    def kept(self) -> int:
        return len(self.memo._kept)
