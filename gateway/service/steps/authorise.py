"""May this principal ask this, from these sources, now? Current facts, and OPA's answer."""

from gateway.domain.errors import PolicyUnavailable
from gateway.domain.questions import AccessQuestion
from gateway.domain.refusal import Code, Refusal
from gateway.ports.clock import Clock
from gateway.ports.reads import Sources
from gateway.service.path import Access, Opening, Session
from gateway.service.policy_codes import access_codes


class Authorise:
    """An alias that the registry does not have is unknown before OPA is asked."""

    def __init__(self, sources: Sources, clock: Clock) -> None:
        self._sources = sources
        self._clock = clock

    async def __call__(self, session: Session, opening: Opening) -> Access | Refusal:
        principal = session.caller.principal
        snapshot, policy = session.active.snapshot, session.active.policy
        request = opening.request
        if request.model not in snapshot.releases:
            return Refusal(code=Code.UNKNOWN_MODEL, param="model")
        known = await self._sources.facts(request.sources)
        question = AccessQuestion(
            time_s=self._clock.now_us() // 1_000_000,
            tenant=principal.tenant,
            groups=principal.groups,
            roles=principal.roles,
            purpose=request.purpose or snapshot.tenants[principal.tenant].default_purpose,
            alias=request.model,
            sources=tuple(source.fact for source in known),
        )
        try:
            decided = await policy.access(question)
        except PolicyUnavailable:
            return Refusal(code=Code.POLICY_UNAVAILABLE)
        if decided.answer.allow is not True:
            return Refusal(
                code=Code.ACCESS_DENIED,
                policy_codes=access_codes(policy, decided.answer.failed),
                decisions=(decided.decision,),
            )
        return Access(question.purpose, decided.answer.privacy_class, known, decided.decision)
