"""The model aliases that a principal may use. Another tenant's are answered like those that never were."""

from datetime import UTC, datetime

from msgspec import Struct

from gateway.domain.errors import PolicyUnavailable
from gateway.domain.questions import VisibleQuestion
from gateway.domain.refusal import Code, Refusal
from gateway.domain.snapshot import Snapshot
from gateway.ports.clock import Clock
from gateway.service.path import Session


class Model(Struct, frozen=True):
    """An alias, and when the bundle that it stands for was evaluated (seconds UTC, midnight of that day)."""

    alias: str
    evaluated_s: int


class Visible:
    """Asks policy ``visible``."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def __call__(self, session: Session) -> tuple[Model, ...] | Refusal:
        """In alphabetical order; none for whoever generates nothing."""
        principal, snapshot = session.caller.principal, session.active.snapshot
        if principal.tenant not in snapshot.tenants:
            # The built-in operator belongs to no tenant of the registry, so there is nothing to ask policy about.
            return Refusal(code=Code.NOT_A_TENANT_PRINCIPAL)
        question = VisibleQuestion(
            time_s=self._clock.now_us() // 1_000_000, tenant=principal.tenant, roles=principal.roles
        )
        try:
            decided = await session.active.policy.visible(question)
        except PolicyUnavailable:
            return Refusal(code=Code.POLICY_UNAVAILABLE)
        if not set(decided.answer.aliases) <= set(snapshot.releases):
            # An alias that nobody released is a policy that cannot be believed (promise G10).
            return Refusal(code=Code.POLICY_UNAVAILABLE, decisions=(decided.decision,))
        return tuple(Model(alias, _evaluated_s(snapshot, alias)) for alias in decided.answer.aliases)

    async def one(self, session: Session, alias: str) -> Model | Refusal:
        """One of those, or ``unknown_model``."""
        if isinstance(models := await self(session), Refusal):
            return models
        found = [model for model in models if model.alias == alias]
        return found[0] if found else Refusal(code=Code.UNKNOWN_MODEL, param="model")


def _evaluated_s(snapshot: Snapshot, alias: str) -> int:
    evaluation = snapshot.bundles[snapshot.releases[alias]].evaluation
    return int(datetime.fromisoformat(evaluation.date).replace(tzinfo=UTC).timestamp())
