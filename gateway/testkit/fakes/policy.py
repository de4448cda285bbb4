"""A policy that says what a scenario wants. It decides nothing: the rules are Rego, and OPA's alone."""

import hashlib
from typing import TypeVar

import msgspec

from gateway.domain.errors import PolicyUnavailable
from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    Decision,
    Failed,
    ReplayAnswer,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
)
from gateway.domain.refusal import PolicyCode
from gateway.domain.snapshot import Snapshot
from gateway.ports.policy import Decided

A = TypeVar("A")
NOTHING_FAILED = Failed(request=(), source={})


class ScriptedPolicy:
    """Allows, with the bundle's profiles in their order, unless told otherwise."""

    def __init__(self, snapshot: Snapshot, revision: str = "sha256:scripted") -> None:
        self.revision = revision
        self._snapshot = snapshot
        self.away: str | None = None
        """Reason with which every decision fails."""
        self.failed = NOTHING_FAILED
        """Checks of the request and of sources that do not pass."""
        self.routes_override: tuple[str, ...] | None = None
        self.asked: list[AccessQuestion | RoutesQuestion | ReplayQuestion] = []

    @property
    def is_up(self) -> bool:
        return self.away is None

    async def access(self, question: AccessQuestion) -> Decided[AccessAnswer]:
        allow = self._passes()
        class_ = self._snapshot.tenants[question.tenant].privacy_class if allow else ""
        return self._decided("access", question, AccessAnswer(allow, class_, self.failed))

    async def routes(self, question: RoutesQuestion) -> Decided[RoutesAnswer]:
        approved = tuple(profile.id for profile in self._snapshot.bundles[question.bundle].profiles)
        routes = approved if self.routes_override is None else self.routes_override
        return self._decided("routes", question, RoutesAnswer(routes, dict.fromkeys(approved, ())))

    async def replay(self, question: ReplayQuestion) -> Decided[ReplayAnswer]:
        return self._decided("replay", question, ReplayAnswer(self._passes(), self.failed))

    def explain(self, level: str, check: str) -> PolicyCode:
        return PolicyCode(code=f"{level}_{check}", remedy="Ask whoever wrote the scenario.")

    def _passes(self) -> bool:
        return not self.failed.request and not any(self.failed.source.values())

    def _decided(
        self, entrypoint: str, question: AccessQuestion | RoutesQuestion | ReplayQuestion, answer: A
    ) -> Decided[A]:
        self.asked.append(question)
        if self.away is not None:
            raise PolicyUnavailable(self.away)
        digest = hashlib.sha256(msgspec.json.encode(question, order="deterministic")).hexdigest()
        decision = Decision(
            id=f"decision-{len(self.asked)}", entrypoint=entrypoint, revision=self.revision, question_digest=digest
        )
        return Decided(answer, decision)
