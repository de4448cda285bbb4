"""Policy: decided by OPA, never in Python."""

from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    Decision,
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

A_co = TypeVar("A_co", covariant=True)


class Decided(Struct, Generic[A_co], frozen=True):
    """An answer, and what the audit keeps of how it came about."""

    answer: A_co
    decision: Decision


class Policy(Protocol):
    """One revision of rules and registry. Every method raises PolicyUnavailable, and answers nothing else."""

    @property
    def revision(self) -> str:
        """Digest of rules, registry and OPA's version. Every answer was checked to carry it."""

    @property
    def is_up(self) -> bool:
        """Whether OPA answered lately. False says that requests would be refused."""

    async def access(self, question: AccessQuestion) -> Decided[AccessAnswer]: ...

    async def routes(self, question: RoutesQuestion) -> Decided[RoutesAnswer]: ...

    async def replay(self, question: ReplayQuestion) -> Decided[ReplayAnswer]: ...

    async def visible(self, question: VisibleQuestion) -> Decided[VisibleAnswer]: ...

    async def operate(self, question: OperateQuestion) -> Decided[OperateAnswer]: ...

    def explain(self, level: str, check: str) -> PolicyCode:
        """Code and remedy of a check, from its METADATA. ``level`` is request, source or route."""
