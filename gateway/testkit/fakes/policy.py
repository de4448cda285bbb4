"""A policy that says what a scenario wants. It decides nothing: the rules are Rego, and OPA's alone."""

import hashlib
from collections.abc import Mapping
from typing import TypeVar

import msgspec
from uuid_utils import uuid7

from gateway.domain.errors import PolicyUnavailable
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
from gateway.domain.snapshot import Snapshot
from gateway.ports.policy import Decided

A = TypeVar("A")
Question = AccessQuestion | RoutesQuestion | ReplayQuestion | VisibleQuestion | OperateQuestion
NOTHING_FAILED = Failed(request=(), source={})
_PLACE = "scripted.rego:1"


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
        self.operate_denied = False
        """Nobody may administer anything."""
        self.administrators = frozenset({"operator", "auditor"})
        """Roles of those who may, else."""
        self.asked: list[Question] = []

    @property
    def is_up(self) -> bool:
        return self.away is None

    async def access(self, question: AccessQuestion) -> Decided[AccessAnswer]:
        allow = self._passes()
        class_ = self._snapshot.tenants[question.tenant].privacy_class if allow else ""
        return self._decided("access", question, AccessAnswer(allow, class_, self.failed), self._explained(self.failed))

    async def routes(self, question: RoutesQuestion) -> Decided[RoutesAnswer]:
        approved = tuple(profile.id for profile in self._snapshot.bundles[question.bundle].profiles)
        routes = approved if self.routes_override is None else self.routes_override
        return self._decided("routes", question, RoutesAnswer(routes, dict.fromkeys(approved, ())))

    async def replay(self, question: ReplayQuestion) -> Decided[ReplayAnswer]:
        answer = ReplayAnswer(self._passes(), self.failed)
        return self._decided("replay", question, answer, self._explained(self.failed))

    async def visible(self, question: VisibleQuestion) -> Decided[VisibleAnswer]:
        failed = self.failed.request
        aliases = () if failed else self._snapshot.tenants[question.tenant].aliases
        answer = VisibleAnswer(tuple(sorted(set(aliases) & self._snapshot.releases.keys())), failed)
        return self._decided("visible", question, answer, self._explained(Failed(failed, {})))

    async def operate(self, question: OperateQuestion) -> Decided[OperateAnswer]:
        is_one = not self.operate_denied and not self.administrators.isdisjoint(question.roles)
        failed = () if is_one else ("administers",)
        answer = OperateAnswer(not failed, failed)
        return self._decided("operate", question, answer, self._explained(Failed(failed, {})))

    def explain(self, level: str, check: str) -> PolicyCode:
        return PolicyCode(code=f"{level}_{check}", remedy="Ask whoever wrote the scenario.")

    def _explained(self, failed: Failed) -> tuple[FailedCheck, ...]:
        by_level: Mapping[str, Mapping[str, tuple[str, ...]]] = {
            "request": {"": failed.request},
            "source": failed.source,
        }
        return tuple(
            FailedCheck(check=f"{level}/{name}", about=about, code=self.explain(level, name).code, place=_PLACE)
            for level, subjects in by_level.items()
            for about, names in subjects.items()
            for name in names
        )

    def _passes(self) -> bool:
        return not self.failed.request and not any(self.failed.source.values())

    def _decided(
        self, entrypoint: str, question: Question, answer: A, failed: tuple[FailedCheck, ...] = ()
    ) -> Decided[A]:
        self.asked.append(question)
        if self.away is not None:
            raise PolicyUnavailable(self.away)
        digest = hashlib.sha256(msgspec.json.encode(question, order="deterministic")).hexdigest()
        decision = Decision(
            id=str(uuid7()),
            entrypoint=entrypoint,
            revision=self.revision,
            question_digest=digest,
            failed=failed,
        )
        return Decided(answer, decision)
