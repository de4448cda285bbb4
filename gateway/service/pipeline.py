"""The path of a request (design, section 3), and nothing else.

authenticate, look up, authorise, select, bound, reserve (T1), execute (T2, one call), persist (T3), hand over.
"""

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.domain.grant import FreshGrant
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.ports.clock import Clock
from gateway.ports.events import Events
from gateway.ports.ledger import Ledger, RefusalRecord
from gateway.service.path import Again, Arrival, Asked, Opening, Session
from gateway.service.stage_times import StageTimes
from gateway.service.steps.authenticate import Authenticate
from gateway.service.steps.authorise import Authorise
from gateway.service.steps.bound import Bound
from gateway.service.steps.execute import Execute
from gateway.service.steps.hand_over import HandOver
from gateway.service.steps.look_up import LookUp
from gateway.service.steps.persist import Persist
from gateway.service.steps.reserve import Reserve
from gateway.service.steps.select import Select

CHANGES_UNDERWAY = 1
"""How often T1 may find registry, credential, sources or readiness changed before the request is given up."""
WALKS = 6
"""Walks of one request at most: every look up after a lost race finds the winner, so two are usual."""


class Pipeline:
    """The steps, in their order."""

    def __init__(
        self,
        *,
        authenticate: Authenticate,
        look_up: LookUp,
        authorise: Authorise,
        select: Select,
        bound: Bound,
        reserve: Reserve,
        execute: Execute,
        persist: Persist,
        hand_over: HandOver,
        ledger: Ledger,
        clock: Clock,
        events: Events,
    ) -> None:
        self.authenticate = authenticate
        self.look_up = look_up
        self.authorise = authorise
        self.select = select
        self.bound = bound
        self.reserve = reserve
        self.execute = execute
        self.persist = persist
        self.hand_over = hand_over
        self._ledger = ledger
        self._clock = clock
        self._events = events

    async def run(self, arrival: Arrival) -> Answer | Refusal:
        """Walk the path; T1 may send the request back to look up, and once to authenticate."""
        if isinstance(stranger := await self.authenticate(arrival.credential), Refusal):
            return stranger
        if isinstance(asked := await arrival.read(), Refusal):
            return asked
        # Once more: a body may take seconds, and whatever was revoked or reloaded meanwhile counts.
        if isinstance(session := await self.authenticate(arrival.credential), Refusal):
            return session
        changes = 0
        for _ in range(WALKS):
            times = StageTimes(self._clock)
            end = await self._walk(arrival.credential, session, asked, times)
            self._events.emit(times.seen())
            if not isinstance(end, Again):
                return end
            if end.start == "authenticate":
                changes += 1
                if changes > CHANGES_UNDERWAY:
                    break
                if isinstance(session := await self.authenticate(arrival.credential), Refusal):
                    return session
        return await self._recorded(Refusal(code=Code.NOT_STARTED), session)

    async def _walk(
        self, credential: str | None, session: Session, asked: Asked, times: StageTimes
    ) -> Answer | Refusal | Again:
        if not isinstance(opening := await times.of("look_up", self.look_up(session, asked)), Opening):
            return opening
        if isinstance(access := await times.of("authorise", self.authorise(session, opening)), Refusal):
            return await self._recorded(access, session)
        if isinstance(routes := await times.of("select", self.select(session, opening, access)), Refusal):
            return await self._recorded(routes, session)
        if isinstance(bounded := await times.of("count", self.bound(routes, access, asked.request)), Refusal):
            return await self._recorded(bounded, session)
        grant = await times.of("reserve", self.reserve(session, opening, access, routes, bounded))
        if isinstance(grant, Refusal):
            return await self._recorded(grant, session)
        if not isinstance(grant, FreshGrant):
            return grant
        if isinstance(outcome := await times.of("engine", self.execute(grant, asked.request)), Refusal):
            return outcome
        times.engine(grant.profile, outcome)
        if isinstance(answer := await times.of("persist", self.persist(session, routes, grant, outcome)), Refusal):
            return answer
        return await times.of("hand_over", self.hand_over(credential, session, access, answer))

    async def _recorded(self, refusal: Refusal, session: Session) -> Refusal:
        """From authorise on a refusal leaves one row; one that cannot leave it is 503, whatever it was."""
        record = RefusalRecord(
            caller=session.caller,
            code=refusal.code,
            policy_codes=tuple(code.code for code in refusal.policy_codes),
            operation_id=refusal.operation_id,
            decisions=refusal.decisions,
        )
        try:
            await self._ledger.refuse(record)
        except (LedgerUnavailable, LedgerUncertain):
            # An unknown stays one: 503 would promise that nothing happened.
            return refusal if refusal.code is Code.OUTCOME_UNKNOWN else Refusal(code=Code.LEDGER_UNAVAILABLE)
        return refusal
