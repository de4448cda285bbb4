"""What a decision of policy failed on, for those who look after policy. Callers get codes and remedies alone."""

from gateway.domain.refusal import Code, Refusal
from gateway.ports.reads import Decisions, RecordedDecision
from gateway.service.administer import Permit


class Explain:
    """Reads the audit: the rules in force may be others by now, and the question itself is kept nowhere."""

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions

    async def __call__(self, permit: Permit, decision_id: str) -> RecordedDecision | Refusal:
        permit.actor("policy", "read")
        return await self._decisions.find(decision_id) or Refusal(code=Code.UNKNOWN_DECISION)
